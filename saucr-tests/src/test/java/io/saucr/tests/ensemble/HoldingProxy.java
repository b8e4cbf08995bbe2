package io.saucr.tests.ensemble;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A cable between a server and a port of another one. Each direction can be held: what is sent then
 * stays in the cable, and is delivered when the direction is released, even if the sender has died
 * since; the end of the sender's connection is hidden. Thread-safe.
 */
final class HoldingProxy implements AutoCloseable {
    /** As seen from the server that connects. */
    enum Direction {
        OUT,
        BACK
    }

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final int target;
    private final ServerSocket listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());

    // Guarded by this.
    private final List<Socket> sockets = new ArrayList<>();
    private final Set<Direction> held = EnumSet.noneOf(Direction.class);
    private final Map<Direction, Long> left = new EnumMap<>(Direction.class);
    private final Map<Direction, List<Delivery>> waiting = new EnumMap<>(Direction.class);

    private static final class Delivery {
        final OutputStream to;
        final byte[] bytes;

        Delivery(OutputStream to, byte[] bytes) {
            this.to = to;
            this.bytes = bytes;
        }
    }

    /**
     * @param target port of loopback
     */
    HoldingProxy(int target) throws IOException {
        this.target = target;
        for (Direction direction : Direction.values()) {
            waiting.put(direction, new ArrayList<>());
        }
        daemon("accept", this::accept);
    }

    private void daemon(String what, Runnable work) {
        Thread thread = new Thread(work, "cable to " + target + ", " + what);
        thread.setDaemon(true);
        thread.start();
    }

    /** The port to connect to. */
    int port() {
        return listener.getLocalPort();
    }

    synchronized void hold(Direction direction) {
        held.add(direction);
    }

    /** Holds the direction as soon as that many bytes have passed. */
    synchronized void holdAfter(Direction direction, long bytes) {
        left.put(direction, bytes);
    }

    /** Whether any bytes are held. */
    synchronized boolean full() {
        return waiting.values().stream().anyMatch(deliveries -> !deliveries.isEmpty());
    }

    /** Delivers the held bytes, in their order, before anything newer. */
    synchronized void release(Direction direction) {
        held.remove(direction);
        left.remove(direction);
        waiting.get(direction).forEach(HoldingProxy::deliver);
        waiting.get(direction).clear();
    }

    /** Whether these bytes are held now. */
    synchronized boolean holds(Direction direction, byte[] wanted) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        waiting.get(direction).forEach(delivery -> all.writeBytes(delivery.bytes));
        byte[] bytes = all.toByteArray();
        for (int from = 0; from + wanted.length <= bytes.length; from++) {
            int same = 0;
            while (same < wanted.length && bytes[from + same] == wanted[same]) {
                same++;
            }
            if (same == wanted.length) {
                return true;
            }
        }
        return false;
    }

    /** Refuses new connections; those that exist stay. */
    void refuse() throws IOException {
        listener.close();
    }

    private void accept() {
        try {
            while (true) {
                connect(listener.accept());
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    /** Waits until the target listens, because a refusal would make the server give up. */
    private Socket reached() throws IOException {
        while (true) {
            try {
                return new Socket(InetAddress.getLoopbackAddress(), target);
            } catch (ConnectException e) {
                if (listener.isClosed()) {
                    throw e;
                }
                LockSupport.parkNanos(RETRY_NANOS);
            }
        }
    }

    private void connect(Socket near) throws IOException {
        Socket far = reached();
        near.setTcpNoDelay(true);
        far.setTcpNoDelay(true);
        synchronized (this) {
            sockets.addAll(List.of(near, far));
        }
        daemon("out", () -> pump(near, far, Direction.OUT));
        daemon("back", () -> pump(far, near, Direction.BACK));
    }

    private void pump(Socket from, Socket to, Direction direction) {
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] buffer = new byte[BUFFER_BYTES];
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                pass(new Delivery(out, Arrays.copyOf(buffer, length)), direction);
            }
        } catch (IOException e) {
            // A reset ends the connection, too.
        }
        end(to, direction);
    }

    private synchronized void end(Socket to, Direction direction) {
        if (!held.contains(direction)) {
            try {
                to.close();
            } catch (IOException e) {
                // Closed already.
            }
        }
    }

    private synchronized void pass(Delivery delivery, Direction direction) {
        Long passing =
                left.computeIfPresent(direction, (d, bytes) -> bytes - delivery.bytes.length);
        if (passing != null && passing < 0) {
            held.add(direction);
        }
        if (held.contains(direction)) {
            waiting.get(direction).add(delivery);
        } else {
            deliver(delivery);
        }
    }

    private static void deliver(Delivery delivery) {
        try {
            delivery.to.write(delivery.bytes);
        } catch (IOException e) {
            // The other side has hung up.
        }
    }

    /** Ends every connection, drops what is held, and refuses new connections. */
    synchronized void cut() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        cut();
    }
}
