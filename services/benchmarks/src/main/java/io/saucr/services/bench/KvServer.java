package io.saucr.services.bench;

import com.esotericsoftware.kryo.kryo5.Kryo;
import com.esotericsoftware.kryo.kryo5.Serializer;
import com.esotericsoftware.kryo.kryo5.io.Input;
import com.esotericsoftware.kryo.kryo5.io.Output;
import io.saucr.services.Address;
import io.saucr.services.Bytes;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.client.InMemory;
import io.saucr.services.turns.Engine;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A server process of the key/value store, protected in one way or not at all. It says {@code at}
 * and its address once it runs, and {@code mark} and some numbers for each line that it is sent; it
 * ends when that stream does.
 */
final class KvServer {

    /** Between two checkpoints, as in section 5.2. */
    static final Duration EVERY = Duration.ofMillis(200);

    private static final Address ANY_PORT = new Address("127.0.0.1", 0);

    /** How a process is protected. */
    enum Role {
        /** Nothing is kept. */
        BARE,
        /** All is written every 200 ms, while the map is locked. */
        SNAPSHOT,
        /** {@link Protection#local}. */
        LOCAL,
        /** {@link Protection#standby}. */
        SYNC,
        /** The same, fast. */
        FAST,
        /** The same, with a checkpoint every 200 ms. */
        ASYNC
    }

    /**
     * What has been written so far.
     *
     * @param checkpoints how many; of a member, the newest segment
     * @param bytes of all of them together; 0 where that is found in its folder
     */
    record Mark(long checkpoints, long bytes) {}

    private KvServer() {}

    /**
     * Serves.
     *
     * @param arguments role, folder, and for one with standbys servers and path of the service
     */
    public static void main(String[] arguments) throws Exception {
        Role role = Role.valueOf(arguments[0]);
        Path folder = Path.of(arguments[1]);
        switch (role) {
            case BARE -> serve(bare(KvService.in(new HashMap<>())), () -> new Mark(0, 0));
            case SNAPSHOT -> {
                Map<String, Bytes> values = new HashMap<>();
                Address at = bare(KvService.locked(values));
                AtomicReference<Mark> mark = new AtomicReference<>(new Mark(0, 0));
                Thread thread = new Thread(() -> snapshots(values, folder, mark), "snapshots");
                thread.setDaemon(true);
                thread.start();
                serve(at, mark::get);
            }
            case LOCAL -> {
                RunningService running =
                        Services.without(KvService.NAME, Map.of())
                                .folder(folder)
                                .listen(ANY_PORT)
                                .onHalt(Halt.process())
                                .run(KvService::in, Protection.local());
                serve(running.address(), () -> new Mark(0, 0));
            }
            default -> {
                RunningService running =
                        Services.at(arguments[2])
                                .folder(folder)
                                .listen(ANY_PORT)
                                .onHalt(Halt.process())
                                .run(KvService::in, protection(role));
                awaitRole(running);
                serve(running.address(), () -> new Mark(running.status().member().segment(), 0));
            }
        }
    }

    static Protection.Standby protection(Role role) {
        return switch (role) {
            case FAST -> Protection.standby().fast();
            case ASYNC -> Protection.standby().every(EVERY);
            default -> Protection.standby();
        };
    }

    /** Until it answers clients, or follows who does. */
    static void awaitRole(RunningService running) throws InterruptedException {
        while (running.address().port() == 0
                && !running.status().member().role().equals("standby")) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    /** A service with the library's connections and turns, but without what protects. */
    static Engine bare(String name, Function<State, ? extends Service> constructor)
            throws IOException {
        SecureRandom random = new SecureRandom();
        return Engine.open(
                Place.without(name, Map.of()).withListen(ANY_PORT),
                constructor,
                new InMemory(random),
                random,
                why -> Halt.process().halt(why.reason(), why.cause()));
    }

    private static Address bare(KvService service) throws IOException {
        Engine engine = bare(KvService.NAME, state -> service);
        Address at = engine.listen();
        engine.begin();
        return at;
    }

    private static void serve(Address at, Supplier<Mark> mark) throws Exception {
        System.out.println("at " + at);
        TalkingProcess.answer(
                () -> {
                    Mark now = mark.get();
                    return "mark " + now.checkpoints() + " " + now.bytes();
                });
    }

    /** Writes all, again and again, and replaces the file; it ends with the process. */
    private static void snapshots(
            Map<String, Bytes> values, Path folder, AtomicReference<Mark> mark) {
        Kryo kryo = new Kryo();
        kryo.register(HashMap.class);
        kryo.register(
                Bytes.class,
                new Serializer<Bytes>() {
                    @Override
                    public void write(Kryo of, Output out, Bytes value) {
                        out.writeInt(value.size(), true);
                        out.writeBytes(value.toArray());
                    }

                    @Override
                    public Bytes read(Kryo of, Input in, Class<? extends Bytes> type) {
                        return Bytes.of(in.readBytes(in.readInt(true)));
                    }
                });
        Output out = new Output(1 << 20, -1);
        try {
            Files.createDirectories(folder);
            while (true) {
                long begun = System.nanoTime();
                out.reset();
                synchronized (values) {
                    kryo.writeObject(out, values);
                }
                write(folder, ByteBuffer.wrap(out.getBuffer(), 0, out.position()));
                int bytes = out.position();
                mark.updateAndGet(it -> new Mark(it.checkpoints() + 1, it.bytes() + bytes));
                long left = EVERY.toNanos() - (System.nanoTime() - begun);
                TimeUnit.NANOSECONDS.sleep(Math.max(0, left));
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void write(Path folder, ByteBuffer bytes) throws IOException {
        Path beside = folder.resolve("snapshot.new");
        try (FileChannel file =
                FileChannel.open(
                        beside,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING)) {
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
            file.force(false);
        }
        Files.move(beside, folder.resolve("snapshot"), StandardCopyOption.ATOMIC_MOVE);
    }
}
