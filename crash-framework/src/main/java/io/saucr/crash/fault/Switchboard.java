package io.saucr.crash.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BiPredicate;

/**
 * The network between servers on loopback: a TCP proxy for each pair of a server that connects and
 * a port of another. A connection between two servers of which {@code reaches} says no stands
 * still: nothing is passed on, not even its end, until they reach each other again. New connections
 * between them are not taken by the proxy; {@link #deadEnd} is a port at which they hang as they
 * would without a network.
 *
 * <p>All sockets belong to one thread of its own; the public methods may be called by any thread
 * and return when what they ask for is in force.
 */
final class Switchboard implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 * 1024;

    private final Selector selector = Selector.open();
    private final Map<List<Integer>, ServerSocketChannel> listeners = new HashMap<>();
    private final List<Line> lines = new ArrayList<>();
    private final ConcurrentLinkedQueue<FutureTask<?>> requests = new ConcurrentLinkedQueue<>();
    private final ServerSocket deadEnd;
    private final List<Socket> fillers = new ArrayList<>();
    private final Thread thread = new Thread(this::run, "switchboard");
    private BiPredicate<Integer, Integer> reaches = (from, to) -> true;
    private volatile boolean closed;

    /** One server's way to one port of another. */
    private record Way(int from, int to, int port) {}

    /** One connection through the proxy; two pipes. */
    private final class Line {
        final Way way;
        final SocketChannel near;
        final SocketChannel far;
        final Pipe out;
        final Pipe back;

        Line(Way way, SocketChannel near, SocketChannel far) throws IOException {
            this.way = way;
            this.near = near;
            this.far = far;
            near.configureBlocking(false);
            far.configureBlocking(false);
            near.setOption(StandardSocketOptions.TCP_NODELAY, true);
            far.setOption(StandardSocketOptions.TCP_NODELAY, true);
            out = new Pipe(near, far);
            back = new Pipe(far, near);
            near.register(selector, 0, this);
            far.register(selector, 0, this);
        }

        boolean open() {
            return reaches.test(way.from(), way.to()) && reaches.test(way.to(), way.from());
        }

        void pump() {
            if (!open()) {
                interest(near, 0);
                interest(far, 0);
                return;
            }
            try {
                out.pump();
                back.pump();
                if (out.ended && back.ended) {
                    close(false);
                    return;
                }
                interest(near, out.wantsRead() | back.wantsWrite());
                interest(far, back.wantsRead() | out.wantsWrite());
            } catch (IOException e) {
                close(true);
            }
        }

        private void interest(SocketChannel channel, int operations) {
            SelectionKey key = channel.keyFor(selector);
            if (key != null && key.isValid()) {
                key.interestOps(operations);
            }
        }

        /** Closes both ends of the connection, with a reset or in an orderly way. */
        void close(boolean reset) {
            for (SocketChannel channel : List.of(near, far)) {
                try {
                    if (reset) {
                        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                    }
                    channel.close();
                } catch (IOException e) {
                    // Closed already.
                }
            }
            lines.remove(this);
        }
    }

    private static final class Pipe {
        final SocketChannel source;
        final SocketChannel sink;
        final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        boolean sourceEnded;
        boolean ended;

        Pipe(SocketChannel source, SocketChannel sink) {
            this.source = source;
            this.sink = sink;
        }

        void pump() throws IOException {
            while (!ended) {
                if (!sourceEnded && buffer.hasRemaining() && source.read(buffer) < 0) {
                    sourceEnded = true;
                }
                buffer.flip();
                boolean moved = sink.write(buffer) > 0;
                buffer.compact();
                if (sourceEnded && buffer.position() == 0) {
                    sink.shutdownOutput();
                    ended = true;
                }
                if (!moved) {
                    return;
                }
            }
        }

        int wantsRead() {
            return !sourceEnded && buffer.hasRemaining() ? SelectionKey.OP_READ : 0;
        }

        int wantsWrite() {
            return buffer.position() > 0 ? SelectionKey.OP_WRITE : 0;
        }
    }

    Switchboard() throws IOException {
        deadEnd = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        // A full backlog: further connections get no answer.
        for (int i = 0; i < 4; i++) {
            Socket filler = new Socket();
            fillers.add(filler);
            try {
                filler.connect(deadEnd.getLocalSocketAddress(), 50);
            } catch (IOException e) {
                break;
            }
        }
        thread.setDaemon(true);
        thread.start();
    }

    /** A port that takes no connection and refuses none. */
    int deadEnd() {
        return deadEnd.getLocalPort();
    }

    /** The port through which server {@code from} reaches a port of server {@code to}. */
    int port(int from, int to, int port) throws IOException {
        return call(
                () -> {
                    ServerSocketChannel listener = listeners.get(List.of(from, port));
                    if (listener == null) {
                        listener = ServerSocketChannel.open();
                        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                        listener.configureBlocking(false);
                        listener.register(
                                selector, SelectionKey.OP_ACCEPT, new Way(from, to, port));
                        listeners.put(List.of(from, port), listener);
                    }
                    return ((InetSocketAddress) listener.getLocalAddress()).getPort();
                });
    }

    /** From now on bytes flow between two servers only where this says yes in both directions. */
    void reaches(BiPredicate<Integer, Integer> now) throws IOException {
        call(
                () -> {
                    reaches = now;
                    List.copyOf(lines).forEach(Line::pump);
                    return null;
                });
    }

    /** Resets the connections of a server, as it does when it is back without knowing of them. */
    void reset(int server) throws IOException {
        call(
                () -> {
                    for (Line line : List.copyOf(lines)) {
                        if (line.way.from() == server || line.way.to() == server) {
                            line.close(true);
                        }
                    }
                    return null;
                });
    }

    private interface Request<T> {
        T run() throws IOException;
    }

    private <T> T call(Request<T> request) throws IOException {
        FutureTask<T> task = new FutureTask<>(request::run);
        requests.add(task);
        selector.wakeup();
        try {
            return task.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
    }

    private void run() {
        try {
            while (!closed) {
                selector.select();
                for (FutureTask<?> task = requests.poll(); task != null; task = requests.poll()) {
                    task.run();
                }
                for (SelectionKey key : selector.selectedKeys()) {
                    try {
                        if (key.attachment() instanceof Line line) {
                            line.pump();
                        } else if (key.isAcceptable()) {
                            accept((ServerSocketChannel) key.channel(), (Way) key.attachment());
                        }
                    } catch (CancelledKeyException e) {
                        // The other side of the same line has just closed it.
                    }
                }
                selector.selectedKeys().clear();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the network between the servers broke", e);
        }
    }

    private void accept(ServerSocketChannel listener, Way way) throws IOException {
        SocketChannel near = listener.accept();
        if (near == null) {
            return;
        }
        SocketChannel far = SocketChannel.open();
        try {
            // On loopback a connection is made or refused at once.
            far.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), way.port()));
            Line line = new Line(way, near, far);
            lines.add(line);
            line.pump();
        } catch (IOException e) {
            near.setOption(StandardSocketOptions.SO_LINGER, 0);
            near.close();
            far.close();
        }
    }

    @Override
    public void close() throws IOException {
        call(
                () -> {
                    List.copyOf(lines).forEach(line -> line.close(true));
                    for (ServerSocketChannel listener : listeners.values()) {
                        listener.close();
                    }
                    closed = true;
                    return null;
                });
        selector.wakeup();
        deadEnd.close();
        for (Socket filler : fillers) {
            filler.close();
        }
    }
}
