package io.saucr.services.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A long way to a port of this machine: what is sent to its own port arrives there after a delay,
 * and so does what comes back. Order stays, throughput is not limited. Its threads are daemons.
 */
final class Relay implements AutoCloseable {

    private final ServerSocket listening;
    private final int to;
    private final long delayNanos;

    /** Bytes, and when they arrive; no bytes are the end. */
    private record Due(long at, ByteBuffer bytes) {}

    /**
     * Listens on a free port of loopback.
     *
     * @param to the port behind it
     * @param delay of each way
     */
    Relay(int to, Duration delay) throws IOException {
        this.to = to;
        delayNanos = delay.toNanos();
        listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    int port() {
        return listening.getLocalPort();
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "relay");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket from = listening.accept();
                daemon(() -> connect(from));
            } catch (IOException e) {
                // It was closed, or the caller has closed its end.
            }
        }
    }

    private void connect(Socket from) {
        try {
            Socket behind = new Socket(InetAddress.getLoopbackAddress(), to);
            from.setTcpNoDelay(true);
            behind.setTcpNoDelay(true);
            pass(from, behind);
            pass(behind, from);
        } catch (IOException e) {
            // Nobody is there: that is what the caller is to see.
            close(from);
        }
    }

    private void pass(Socket from, Socket to) throws IOException {
        BlockingQueue<Due> way = new LinkedBlockingQueue<>();
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        daemon(
                () -> {
                    byte[] buffer = new byte[65_536];
                    try {
                        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                            ByteBuffer bytes = ByteBuffer.wrap(Arrays.copyOf(buffer, read));
                            way.add(new Due(System.nanoTime() + delayNanos, bytes));
                        }
                    } catch (IOException e) {
                        // The end of a connection, as an orderly one.
                    }
                    way.add(new Due(System.nanoTime() + delayNanos, ByteBuffer.allocate(0)));
                });
        daemon(
                () -> {
                    try {
                        while (true) {
                            Due due = way.take();
                            long wait = due.at() - System.nanoTime();
                            if (wait > 0) {
                                Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
                            }
                            if (!due.bytes().hasRemaining()) {
                                break;
                            }
                            out.write(due.bytes().array());
                        }
                    } catch (IOException | InterruptedException e) {
                        // The other end is closed: so is this one.
                    }
                    close(from);
                    close(to);
                });
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is of no use any more, closed or not.
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
    }
}
