package io.saucr.services.examples.auction;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.Sent;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.Timer;
import io.saucr.services.ValueState;
import io.saucr.services.core.Body;
import io.saucr.services.examples.PlainHandlers;
import io.saucr.services.examples.PlainMap;
import io.saucr.services.examples.PlainTurn;
import io.saucr.services.state.Codec;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/**
 * The same services as they are often built: a message is handled, state and outbox are written to
 * disk, then the sender gets its answer; who gets none sends again. Each write is forced and
 * complete, so nothing is lost. But a message can be handled twice, if the process dies before its
 * sender has the answer. Only for the comparison; it offers what the auction needs.
 */
final class PlainService implements AutoCloseable {

    private final Path file;
    private final Map<String, Integer> ports;
    private final Codec codec = new Codec();
    private final Map<String, StoredMap<?, ?>> maps = new LinkedHashMap<>();
    private final PlainHandlers handlers = new PlainHandlers(codec);
    private final List<Letter> outbox = new ArrayList<>();
    private final List<Alarm> alarms = new ArrayList<>();
    private final HttpServer server;
    private final ExecutorService threads =
            Executors.newCachedThreadPool(
                    task -> {
                        Thread thread = new Thread(task, "plain");
                        thread.setDaemon(true);
                        return thread;
                    });

    private record Letter(String to, Body message) {}

    private record Alarm(long dueMillis, Body message) {}

    PlainService(
            String name,
            Path file,
            Map<String, Integer> ports,
            Function<State, ? extends Service> constructor)
            throws IOException {
        this.file = file;
        this.ports = ports;
        constructor.apply(new PlainState()).handlers(handlers);
        load();
        server =
                HttpServer.create(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), ports.get(name)),
                        50);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
        threads.execute(this::deliver);
        threads.execute(this::ring);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String type = exchange.getRequestURI().getPath().substring(1);
            byte[] body = exchange.getRequestBody().readAllBytes();
            String from = exchange.getRequestHeaders().getFirst("From");
            byte[] answer = take(type, body, from);
            exchange.sendResponseHeaders(200, answer.length == 0 ? -1 : answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    private synchronized byte[] take(String type, byte[] body, String from) {
        try {
            Object message = codec.decode(handlers.types.get(type), body);
            if (handlers.queries.containsKey(type)) {
                return codec.encode(handlers.queries.get(type).answer(message, new Taken(from)));
            }
            handlers.messages.get(type).take(message, new Taken(from));
            save();
            return new byte[0];
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void deliver() {
        while (!threads.isShutdown()) {
            Letter next;
            synchronized (this) {
                next = outbox.isEmpty() ? null : outbox.get(0);
            }
            if (next == null) {
                pause(2);
            } else if (PlainPost.post(ports.get(next.to()), next.message(), "service")
                    .isPresent()) {
                synchronized (this) {
                    // On disk with the next message, as one write for each would double them.
                    outbox.remove(0);
                }
            } else {
                pause(20);
            }
        }
    }

    private void ring() {
        while (!threads.isShutdown()) {
            long now = System.currentTimeMillis();
            synchronized (this) {
                for (Alarm alarm : List.copyOf(alarms)) {
                    if (alarm.dueMillis() <= now) {
                        alarms.remove(alarm);
                        byte[] unused = take(alarm.message().type(), alarm.message().bytes(), null);
                    }
                }
            }
            pause(5);
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- state and its file

    private void save() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (StoredMap<?, ?> map : maps.values()) {
            map.write(out);
        }
        out.writeInt(outbox.size());
        for (Letter letter : outbox) {
            out.writeUTF(letter.to());
            write(letter.message(), out);
        }
        out.writeInt(alarms.size());
        for (Alarm alarm : alarms) {
            out.writeLong(alarm.dueMillis());
            write(alarm.message(), out);
        }
        Path beside = file.resolveSibling(file.getFileName() + ".tmp");
        try (FileChannel channel =
                FileChannel.open(
                        beside,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer content = ByteBuffer.wrap(bytes.toByteArray());
            while (content.hasRemaining()) {
                int unused = channel.write(content);
            }
            channel.force(true);
        }
        Path unused = Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void write(Body message, DataOutputStream out) throws IOException {
        out.writeUTF(message.type());
        out.writeInt(message.bytes().length);
        out.write(message.bytes());
    }

    private static Body body(DataInputStream in) throws IOException {
        return new Body(in.readUTF(), in.readNBytes(in.readInt()));
    }

    private Body body(Object message) {
        return new Body(codec.name(message.getClass()), codec.encode(message));
    }

    private void load() throws IOException {
        if (!Files.exists(file)) {
            return;
        }
        try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
            for (StoredMap<?, ?> map : maps.values()) {
                map.read(in);
            }
            for (int left = in.readInt(); left > 0; left--) {
                outbox.add(new Letter(in.readUTF(), body(in)));
            }
            for (int left = in.readInt(); left > 0; left--) {
                alarms.add(new Alarm(in.readLong(), body(in)));
            }
        }
    }

    private final class PlainState implements State {

        @Override
        public <K, V> MapState<K, V> map(String name, Class<K> key, Class<V> value) {
            StoredMap<K, V> map = new StoredMap<>(codec, key, value);
            maps.put(name, map);
            return map;
        }

        @Override
        public <V> ListState<V> list(String name, Class<V> value) {
            throw new UnsupportedOperationException("the auction has no lists");
        }

        @Override
        public <V> ValueState<V> value(String name, Class<V> value) {
            throw new UnsupportedOperationException("the auction has no values");
        }

        @Override
        public void drop(String name) {
            throw new UnsupportedOperationException("the auction drops nothing");
        }
    }

    private static final class StoredMap<K, V> extends PlainMap<K, V> {

        private final Codec codec;
        private final Class<K> keys;
        private final Class<V> values;

        StoredMap(Codec codec, Class<K> keys, Class<V> values) {
            this.codec = codec;
            this.keys = keys;
            this.values = values;
        }

        void write(DataOutputStream out) throws IOException {
            out.writeInt(entries.size());
            for (Map.Entry<K, V> entry : entries.entrySet()) {
                for (Object each : List.of(entry.getKey(), entry.getValue())) {
                    byte[] bytes = codec.encode(each);
                    out.writeInt(bytes.length);
                    out.write(bytes);
                }
            }
        }

        void read(DataInputStream in) throws IOException {
            for (int left = in.readInt(); left > 0; left--) {
                K key = codec.decode(keys, in.readNBytes(in.readInt()));
                entries.put(key, codec.decode(values, in.readNBytes(in.readInt())));
            }
        }
    }

    // ---- turns

    private final class Taken extends PlainTurn {

        private final String from;

        Taken(String from) {
            this.from = from;
        }

        @Override
        public Sent send(String service, Object message) {
            outbox.add(new Letter(service, body(message)));
            return new Sent(service, outbox.size());
        }

        /** Answers of services are messages; who calls from outside is told by the response. */
        @Override
        public void reply(Object answer) {
            if ("service".equals(from)) {
                Sent unused = send(AuctionProcess.HOUSE, answer);
            }
        }

        @Override
        public Timer after(Duration delay, Object message) {
            alarms.add(new Alarm(System.currentTimeMillis() + delay.toMillis(), body(message)));
            return new Timer(alarms.size());
        }

        @Override
        public Optional<String> sender() {
            return Optional.ofNullable(from);
        }
    }

    /**
     * Runs one until it is killed.
     *
     * @param arguments which, the folder of its file, and the ports of house and bank
     */
    public static void main(String[] arguments) throws Exception {
        Map<String, Integer> ports =
                Map.of(
                        AuctionProcess.HOUSE, Integer.parseInt(arguments[2]),
                        AuctionProcess.BANK, Integer.parseInt(arguments[3]));
        Path folder = Files.createDirectories(Path.of(arguments[1]));
        PlainService running =
                new PlainService(
                        arguments[0],
                        folder.resolve(arguments[0]),
                        ports,
                        AuctionProcess.constructor(arguments[0]));
        // Its threads are daemons; this one never ends.
        Thread.currentThread().join();
        running.close();
    }
}
