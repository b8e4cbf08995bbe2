package io.saucr.services.members;

import io.saucr.services.Address;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Passes on the bytes of connections until it cuts or holds them up, each after a random number of
 * bytes. Threads of its own.
 */
final class Proxy implements AutoCloseable {

    private final ServerSocket accepting;
    private final Address to;

    /** Under the lock, as all below. */
    private final Random random;

    private final List<Socket> sockets = new ArrayList<>();
    private boolean calm;
    private int cuts;
    private int stalls;

    Proxy(Address to, Random random) throws IOException {
        this.accepting = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        this.to = to;
        this.random = random;
        start(this::accept);
    }

    Address address() {
        return new Address("127.0.0.1", accepting.getLocalPort());
    }

    /** Passes everything on from now on. */
    synchronized void calm() {
        calm = true;
    }

    synchronized int cuts() {
        return cuts;
    }

    synchronized int stalls() {
        return stalls;
    }

    private static void start(Runnable run) {
        Thread thread = new Thread(run, "proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!accepting.isClosed()) {
            try {
                Socket from = accepting.accept();
                Socket onwards = new Socket(InetAddress.getByName(to.host()), to.port());
                synchronized (this) {
                    sockets.add(from);
                    sockets.add(onwards);
                }
                start(() -> copy(from, onwards));
                start(() -> copy(onwards, from));
            } catch (IOException e) {
                // This has been closed: the loop ends.
            }
        }
    }

    private synchronized long bytesUntilCut() {
        // Often within a hello, a heartbeat or the first piece, often far within a segment.
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(200);
            case 1 -> random.nextInt(200_000);
            default -> random.nextInt(20_000_000);
        };
    }

    private void copy(Socket from, Socket onwards) {
        byte[] bytes = new byte[50_000];
        long left = bytesUntilCut();
        try (from;
                onwards) {
            InputStream in = from.getInputStream();
            OutputStream out = onwards.getOutputStream();
            while (true) {
                int read = in.read(bytes);
                if (read < 0) {
                    return;
                }
                if (left <= read && !isCalm()) {
                    out.write(bytes, 0, (int) left);
                    if (cutOrStall(from, onwards)) {
                        return;
                    }
                    out.write(bytes, (int) left, (int) (read - left));
                    left = bytesUntilCut();
                } else {
                    out.write(bytes, 0, read);
                    left -= Math.min(left, read);
                }
            }
        } catch (IOException e) {
            // The other direction was cut, or either member closed.
            return;
        }
    }

    private synchronized boolean isCalm() {
        return calm;
    }

    /** Whether it was a cut: with an end or a reset, at either side first. */
    private boolean cutOrStall(Socket from, Socket onwards) throws IOException {
        int what;
        synchronized (this) {
            what = random.nextInt(5);
            if (what == 4) {
                stalls++;
            } else {
                cuts++;
            }
        }
        switch (what) {
            case 0 -> from.setSoLinger(true, 0);
            case 1 -> onwards.setSoLinger(true, 0);
            case 2 -> onwards.shutdownOutput();
            case 3 -> from.close();
            default -> {
                stall();
                return false;
            }
        }
        return true;
    }

    private static void stall() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws IOException {
        accepting.close();
        synchronized (this) {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }
}
