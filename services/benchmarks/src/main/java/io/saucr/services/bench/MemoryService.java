package io.saucr.services.bench;

import io.saucr.services.Caller;
import io.saucr.services.Sent;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.examples.PlainHandlers;
import io.saucr.services.examples.PlainTurn;
import io.saucr.services.state.Codec;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;

/**
 * Runs a service without any durability, for comparison: state is in memory, messages go by TCP in
 * the same encoding, numbers and acknowledgements there are none. One thread takes the turns. It
 * offers what the independent set needs, and ends with its process.
 */
final class MemoryService {

    private final Map<String, Integer> ports;
    private final Codec codec = new Codec();
    private final PlainHandlers handlers = new PlainHandlers(codec);
    private final Map<String, DataOutputStream> connections = new HashMap<>();
    private final Map<Long, DataOutputStream> callers = new HashMap<>();
    private final LinkedBlockingQueue<Input> inputs = new LinkedBlockingQueue<>();
    private long calls;

    /**
     * What a turn takes.
     *
     * @param message decoded
     * @param back where the caller hears its answer
     */
    private record Input(Object message, DataOutputStream back) {}

    private MemoryService(
            Map<String, Integer> ports, Function<State, ? extends Service> constructor) {
        this.ports = ports;
        constructor.apply(new MemoryState()).handlers(handlers);
    }

    /**
     * Runs a service until its process ends.
     *
     * @param name its own
     * @param ports where all services listen, by their names, on loopback
     */
    static void run(
            String name, Map<String, Integer> ports, Function<State, ? extends Service> constructor)
            throws Exception {
        MemoryService service = new MemoryService(ports, constructor);
        try (ServerSocket listening =
                new ServerSocket(ports.get(name), 50, InetAddress.getLoopbackAddress())) {
            daemon(() -> service.accept(listening));
            while (true) {
                Input input = service.inputs.take();
                service.handlers
                        .messages
                        .get(service.codec.name(input.message().getClass()))
                        .take(input.message(), service.new MemoryTurn(input.back()));
                if (service.inputs.isEmpty()) {
                    for (DataOutputStream each : service.connections.values()) {
                        each.flush();
                    }
                }
            }
        }
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "memory");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept(ServerSocket listening) {
        try {
            while (true) {
                Socket socket = listening.accept();
                socket.setTcpNoDelay(true);
                daemon(() -> read(socket));
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void read(Socket socket) {
        try (socket) {
            DataInputStream in =
                    new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            DataOutputStream back =
                    new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            while (true) {
                inputs.add(new Input(read(in, codec, handlers.types), back));
            }
        } catch (EOFException e) {
            // The other side has ended.
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** One message, as {@link #write} wrote it. */
    static Object read(DataInputStream in, Codec codec, Map<String, Class<?>> types)
            throws IOException {
        String type = in.readUTF();
        return codec.decode(types.get(type), in.readNBytes(in.readInt()));
    }

    /** One message. */
    static void write(DataOutputStream out, Codec codec, Object message) throws IOException {
        byte[] bytes = codec.encode(message);
        out.writeUTF(codec.name(message.getClass()));
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private DataOutputStream connection(String service) throws IOException {
        DataOutputStream known = connections.get(service);
        if (known == null) {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), ports.get(service));
            socket.setTcpNoDelay(true);
            known = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            connections.put(service, known);
        }
        return known;
    }

    private final class MemoryTurn extends PlainTurn {

        private final DataOutputStream back;

        MemoryTurn(DataOutputStream back) {
            this.back = back;
        }

        @Override
        public Sent send(String service, Object message) {
            try {
                write(connection(service), codec, message);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            return new Sent(service, 0);
        }

        @Override
        public void reply(Object answer) {
            answer(back, answer);
        }

        @Override
        public Caller detach() {
            calls++;
            callers.put(calls, back);
            return new Caller("caller", calls);
        }

        @Override
        public void reply(Caller caller, Object answer) {
            answer(callers.remove(caller.number()), answer);
        }

        private void answer(DataOutputStream to, Object answer) {
            try {
                write(to, codec, answer);
                to.flush();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
