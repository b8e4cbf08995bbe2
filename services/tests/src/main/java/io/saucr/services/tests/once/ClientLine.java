package io.saucr.services.tests.once;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.MultiResponse;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.ConnectRequest;
import org.apache.zookeeper.proto.ConnectResponse;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.RequestHeader;

/**
 * The network between one client and the servers. It reads ZooKeeper's frames, asks about each
 * write what becomes of it, and does so. All other requests pass. What the client sends behind a
 * request that does not pass never reaches a server, unless it is held with it.
 *
 * <p>Thread-safe. Each connection has a thread for either direction; the fates are chosen and their
 * {@link Fate#then} runs on these, one at a time per connection.
 */
public final class ClientLine implements AutoCloseable {
    private static final int MOST_BYTES = 64 << 20;
    private static final int MOST_ATTEMPTS = 20;
    private static final int PING_XID = -2;
    private static final long PING_MILLIS = 200;

    private final String address;
    private final Function<Request, Fate> fates;
    private final List<ServerSocket> listeners = new ArrayList<>();
    private final List<Connection> connections = new CopyOnWriteArrayList<>();

    /**
     * @param servers a connect string without a chroot
     * @param fates asked about every write; called by several threads
     */
    ClientLine(String servers, Function<Request, Fate> fates) throws IOException {
        this("127.0.0.1", servers, fates);
    }

    /**
     * The same where the client is on another machine.
     *
     * @param address of this machine, as the client sees it
     */
    public ClientLine(String address, String servers, Function<Request, Fate> fates)
            throws IOException {
        this.address = address;
        this.fates = fates;
        for (String server : servers.split(",")) {
            int colon = server.lastIndexOf(':');
            String serverHost = server.substring(0, colon);
            int port = Integer.parseInt(server.substring(colon + 1));
            ServerSocket listener =
                    new ServerSocket(0, 64, new InetSocketAddress(address, 0).getAddress());
            listeners.add(listener);
            daemon("accept", () -> accept(listener, serverHost, port));
        }
    }

    /** What the client connects to, without a chroot. */
    public String connectString() {
        return listeners.stream()
                .map(listener -> address + ":" + listener.getLocalPort())
                .collect(Collectors.joining(","));
    }

    /** How many requests are held now. */
    public int held() {
        return connections.stream().mapToInt(Connection::heldNow).sum();
    }

    /**
     * Delivers what is held to the servers, and waits until they have answered all of it or have
     * ended the connections, which then end.
     *
     * @return the codes of the answers to the held writes, 0 for done; fewer than were held if a
     *     server ended a connection
     */
    public List<Integer> release() {
        List<Integer> codes = new ArrayList<>();
        for (Connection each : connections) {
            codes.addAll(each.release());
        }
        return codes;
    }

    @Override
    public void close() {
        for (ServerSocket listener : listeners) {
            closeQuietly(listener);
        }
        connections.forEach(Connection::end);
    }

    private void accept(ServerSocket listener, String host, int port) {
        while (!listener.isClosed()) {
            Socket client;
            try {
                client = listener.accept();
            } catch (IOException e) {
                return;
            }
            try {
                Socket server = new Socket(host, port);
                Connection connection = new Connection(client, server, host, port);
                connections.add(connection);
                daemon("to the server", connection::up);
                daemon("to the client", connection::down);
            } catch (IOException e) {
                closeQuietly(client); // The server is down, and the client shall see that.
            }
        }
    }

    private static void daemon(String what, Runnable work) {
        Thread thread = new Thread(work, "line, " + what);
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception e) {
            // It has ended, which is what was asked for.
        }
    }

    private static byte[] readFrame(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > MOST_BYTES) {
            throw new IOException("a frame of " + length + " bytes");
        }
        byte[] frame = new byte[length];
        in.readFully(frame);
        return frame;
    }

    private static byte[] withLength(byte[] frame) {
        return ByteBuffer.allocate(Integer.BYTES + frame.length)
                .putInt(frame.length)
                .put(frame)
                .array();
    }

    private static byte[] serialized(Record record) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        record.serialize(BinaryOutputArchive.getArchive(bytes), "record");
        return bytes.toByteArray();
    }

    /** One connection of the client, and ours to the server that it chose. */
    private final class Connection {
        private final Socket client;
        private final Socket server;
        private final String host;
        private final int port;
        private final DataInputStream fromClient;
        private final DataInputStream fromServer;
        private final DataOutputStream toClient;
        private final DataOutputStream toServer; // Written to under this lock.

        // Guarded by this.
        private ConnectResponse session;
        private Request awaited; // Whose answer has a fate of its own.
        private Fate fate = Fate.PASS; // Of that one, or of the connection.
        private final List<Request> held = new ArrayList<>();
        private final List<Integer> codes = new ArrayList<>(); // Of answers to held writes.
        private boolean heldAll; // The client's end was read.
        private boolean released;
        private boolean expiring;
        private boolean ended;

        Connection(Socket client, Socket server, String host, int port) throws IOException {
            this.client = client;
            this.server = server;
            this.host = host;
            this.port = port;
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            fromClient = new DataInputStream(client.getInputStream());
            fromServer = new DataInputStream(server.getInputStream());
            toClient = new DataOutputStream(client.getOutputStream());
            toServer = new DataOutputStream(server.getOutputStream());
        }

        /** From the client to the server. */
        void up() {
            try {
                forward(readFrame(fromClient)); // The first is no request: it asks for a session.
                while (true) {
                    Request request = new Request(readFrame(fromClient));
                    if (!request.isWrite()) {
                        forward(request.frame());
                    } else if (!meet(request, fates.apply(request))) {
                        return;
                    }
                }
            } catch (IOException e) {
                end();
            }
        }

        /**
         * @return whether the requests behind it are to be read
         */
        private boolean meet(Request request, Fate chosen) throws IOException {
            switch (chosen.kind()) {
                case PASS -> {
                    forward(request.frame());
                    return true;
                }
                case MUTE -> {
                    synchronized (this) {
                        fate = chosen;
                    }
                    chosen.then().run();
                    forward(request.frame());
                    return true;
                }
                case CUT_BEFORE -> {
                    chosen.then().run();
                    end();
                }
                case CUT_WITHIN -> {
                    byte[] whole = withLength(request.frame());
                    synchronized (this) {
                        toServer.write(whole, 0, whole.length / 2);
                    }
                    chosen.then().run();
                    end();
                }
                case EXPIRE_BEFORE -> {
                    expire();
                    chosen.then().run();
                    end();
                }
                case CUT_AFTER, CUT_WITHIN_ANSWER, EXPIRE_AFTER -> {
                    synchronized (this) {
                        awaited = request;
                        fate = chosen;
                    }
                    forward(request.frame());
                }
                case HOLD -> hold(request, chosen);
            }
            return false;
        }

        private synchronized void forward(byte[] frame) throws IOException {
            toServer.write(withLength(frame));
        }

        private void hold(Request first, Fate chosen) {
            synchronized (this) {
                fate = chosen;
                held.add(first);
            }
            daemon("pings", this::keepAlive);
            daemon(
                    "hold",
                    () -> {
                        chosen.then().run();
                        endForClient();
                    });
            try {
                while (true) {
                    Request next = new Request(readFrame(fromClient));
                    synchronized (this) {
                        if (next.type() == OpCode.closeSession) {
                            break; // The session is to outlive its client.
                        }
                        held.add(next);
                    }
                }
            } catch (IOException e) {
                // That was all the client sent.
            }
            closeQuietly(client);
            synchronized (this) {
                heldAll = true;
                notifyAll();
            }
        }

        /** It reads the end, but what it has written is read first. */
        private void endForClient() {
            try {
                client.shutdownOutput();
            } catch (IOException e) {
                // It has ended it itself.
            }
        }

        private void keepAlive() {
            byte[] ping =
                    ByteBuffer.allocate(2 * Integer.BYTES)
                            .putInt(PING_XID)
                            .putInt(OpCode.ping)
                            .array();
            synchronized (this) {
                try {
                    while (!ended) {
                        forward(ping);
                        wait(PING_MILLIS);
                    }
                } catch (IOException e) {
                    end();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        synchronized int heldNow() {
            return released || ended ? 0 : held.size();
        }

        synchronized List<Integer> release() {
            if (held.isEmpty() || released) {
                return List.of();
            }
            try {
                while (!heldAll) {
                    wait();
                }
                released = true;
                for (Request each : held) {
                    forward(each.frame());
                }
                long writes = held.stream().filter(Request::isWrite).count();
                while (!ended && codes.size() < writes) {
                    wait();
                }
            } catch (IOException e) {
                // The server has ended the connection.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            end();
            return List.copyOf(codes);
        }

        /** From the server to the client. */
        void down() {
            try {
                byte[] first = readFrame(fromServer);
                ConnectResponse response = new ConnectResponse();
                response.deserialize(
                        BinaryInputArchive.getArchive(new ByteArrayInputStream(first)), "response");
                synchronized (this) {
                    session = response;
                }
                toClient.write(withLength(first));
                while (true) {
                    byte[] answer = readFrame(fromServer);
                    Fate due = dueWith(answer);
                    switch (due.kind()) {
                        case PASS -> toClient.write(withLength(answer));
                        case CUT_AFTER -> due.then().run();
                        case CUT_WITHIN_ANSWER -> {
                            byte[] whole = withLength(answer);
                            toClient.write(whole, 0, whole.length / 2);
                            due.then().run();
                        }
                        case EXPIRE_AFTER -> {
                            expire();
                            due.then().run();
                        }
                        case HOLD -> note(answer);
                        case MUTE -> {}
                        case CUT_BEFORE, CUT_WITHIN, EXPIRE_BEFORE ->
                                throw new IllegalStateException("no answer is expected: " + due);
                    }
                    if (due.kind() == Fate.Kind.CUT_AFTER
                            || due.kind() == Fate.Kind.CUT_WITHIN_ANSWER
                            || due.kind() == Fate.Kind.EXPIRE_AFTER) {
                        end();
                        return;
                    }
                }
            } catch (IOException e) {
                awaitExpired();
                end();
            }
        }

        private synchronized Fate dueWith(byte[] answer) {
            if (awaited == null) {
                return fate; // Of the whole connection.
            }
            int xid = ByteBuffer.wrap(answer).getInt();
            return xid == awaited.xid() ? fate : Fate.PASS;
        }

        /** Requests that were sent before the held ones may be answered now, too. */
        private synchronized void note(byte[] answer) throws IOException {
            int xid = ByteBuffer.wrap(answer).getInt();
            for (Request each : held) {
                if (each.isWrite() && each.xid() == xid) {
                    codes.add(code(each, answer));
                    notifyAll();
                }
            }
        }

        /** The header of a multi's answer says nothing: why it was refused stands at one part. */
        private static int code(Request request, byte[] answer) throws IOException {
            BinaryInputArchive in = BinaryInputArchive.getArchive(new ByteArrayInputStream(answer));
            ReplyHeader header = new ReplyHeader();
            header.deserialize(in, "header");
            if (header.getErr() == 0 && request.type() == OpCode.multi) {
                MultiResponse parts = new MultiResponse();
                parts.deserialize(in, "parts");
                for (OpResult part : parts) {
                    if (part instanceof OpResult.ErrorResult error && error.getErr() != 0) {
                        return error.getErr();
                    }
                }
            }
            return header.getErr();
        }

        /** Ends the session by connections of its own, and returns once the server says so. */
        private void expire() throws IOException {
            ConnectRequest connect = new ConnectRequest();
            synchronized (this) {
                expiring = true;
                connect.setTimeOut(session.getTimeOut());
                connect.setSessionId(session.getSessionId());
                connect.setPasswd(session.getPasswd());
            }
            try {
                boolean over = false;
                for (int i = 0; i < MOST_ATTEMPTS && !over; i++) {
                    over = close(connect);
                }
                if (!over) {
                    throw new IOException("the session does not end");
                }
            } finally {
                synchronized (this) {
                    expiring = false;
                    notifyAll();
                }
            }
        }

        /**
         * @return whether the session had ended before
         */
        private boolean close(ConnectRequest connect) throws IOException {
            try (Socket socket = new Socket(host, port)) {
                DataInputStream in = new DataInputStream(socket.getInputStream());
                socket.getOutputStream().write(withLength(serialized(connect)));
                ConnectResponse response = new ConnectResponse();
                response.deserialize(
                        BinaryInputArchive.getArchive(new ByteArrayInputStream(readFrame(in))),
                        "response");
                if (response.getSessionId() == 0) {
                    return true;
                }
                socket.getOutputStream()
                        .write(withLength(serialized(new RequestHeader(1, OpCode.closeSession))));
                readFrame(in);
            } catch (EOFException e) {
                // The server ends the connection with the session, perhaps before its answer.
            }
            return false;
        }

        /** The server ends our connection as the session is taken over to be closed. */
        private synchronized void awaitExpired() {
            try {
                while (expiring) {
                    wait();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void end() {
            // Closed without the lock: a thread that holds it may be stuck in a write.
            closeQuietly(client);
            closeQuietly(server);
            synchronized (this) {
                ended = true;
                notifyAll();
            }
        }
    }
}
