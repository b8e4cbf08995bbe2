package io.saucr.services;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/**
 * Stands before a service and hands everything on, until it is frozen: then it still accepts, and
 * reads and ends nothing, as a process that was stopped or a link that was cut. Any thread.
 */
final class Freezer implements AutoCloseable {

    private static final int BUFFER_BYTES = 16 << 10;

    private final Address behind;
    private final ServerSocket listening;

    /** Under the lock, as the next. */
    private final List<Socket> sockets = new ArrayList<>();

    private boolean frozen;

    Freezer(Address behind) throws IOException {
        this.behind = behind;
        listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        thread(this::accept);
    }

    Address address() {
        return new Address("127.0.0.1", listening.getLocalPort());
    }

    synchronized void freeze() {
        frozen = true;
    }

    synchronized void thaw() {
        frozen = false;
        notifyAll();
    }

    private interface Task {
        void run() throws IOException, InterruptedException;
    }

    private static void thread(Task task) {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                task.run();
                            } catch (IOException | InterruptedException e) {
                                // One end went, and the other goes with it.
                            }
                        },
                        "freezer");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() throws IOException {
        while (true) {
            Socket front = listening.accept();
            keep(front);
            thread(() -> join(front));
        }
    }

    private void join(Socket front) throws IOException, InterruptedException {
        awaitThaw();
        Socket back = new Socket(behind.host(), behind.port());
        keep(back);
        thread(() -> copy(front, back));
        copy(back, front);
    }

    private synchronized void keep(Socket socket) {
        sockets.add(socket);
    }

    private synchronized void awaitThaw() throws InterruptedException {
        while (frozen) {
            wait();
        }
    }

    private void copy(Socket from, Socket to) throws IOException, InterruptedException {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] buffer = new byte[BUFFER_BYTES];
            while (true) {
                awaitThaw();
                int length = in.read(buffer);
                if (length < 0) {
                    return;
                }
                awaitThaw();
                out.write(buffer, 0, length);
            }
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        List<Socket> all;
        synchronized (this) {
            all = List.copyOf(sockets);
        }
        for (Socket socket : all) {
            socket.close();
        }
        thaw();
    }
}
