package io.saucr.bench.load;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.proto.ConnectRequest;
import org.apache.zookeeper.proto.ConnectResponse;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.RequestHeader;

/**
 * Many sessions with ephemeral nodes, each a socket alone: as many clients of ZooKeeper's would
 * need two threads each. Used by one thread.
 */
public final class RawSessions implements AutoCloseable {
    private static final String ROOT = "/ephemerals";
    private static final int THREADS = 16;
    private static final int ANSWER_MILLIS = 30_000;
    private static final int PING_XID = -2;

    private final List<Socket> sockets = Collections.synchronizedList(new ArrayList<>());

    /**
     * Opens the sessions, and creates the nodes of each in one transaction.
     *
     * @param addresses {@code HOST:PORT} of servers, in turns
     * @param nodes of each session
     * @throws IOException if one is refused
     */
    public void open(List<String> addresses, int sessions, int nodes, int timeoutMillis)
            throws Exception {
        UpdateLoad.ensure(addresses.get(0), ROOT);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> opened = new ArrayList<>();
            for (int i = 0; i < sessions; i++) {
                int number = i;
                String address = addresses.get(i % addresses.size());
                opened.add(
                        threads.submit(
                                () -> {
                                    sockets.add(open(address, number, nodes, timeoutMillis));
                                    return null;
                                }));
            }
            for (Future<?> each : opened) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static Socket open(String address, int number, int nodes, int timeoutMillis)
            throws IOException {
        int colon = address.lastIndexOf(':');
        Socket socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(ANSWER_MILLIS);
        socket.connect(
                new InetSocketAddress(
                        address.substring(0, colon),
                        Integer.parseInt(address.substring(colon + 1))),
                ANSWER_MILLIS);
        send(socket, new ConnectRequest(0, 0, timeoutMillis, 0, new byte[16], false));
        DataInputStream in = new DataInputStream(socket.getInputStream());
        ConnectResponse connected = new ConnectResponse();
        answer(in, connected);
        if (connected.getTimeOut() <= 0) {
            throw new IOException(address + " gives no session");
        }
        MultiOperationRecord creates = new MultiOperationRecord();
        for (int i = 0; i < nodes; i++) {
            creates.add(
                    Op.create(
                            ROOT + "/s" + number + "-" + i,
                            new byte[0],
                            ZooDefs.Ids.OPEN_ACL_UNSAFE,
                            CreateMode.EPHEMERAL));
        }
        send(socket, new RequestHeader(1, ZooDefs.OpCode.multi), creates);
        ReplyHeader reply = new ReplyHeader();
        answer(in, reply);
        if (reply.getErr() != 0) {
            throw new IOException(address + " creates no ephemeral nodes: " + reply.getErr());
        }
        return socket;
    }

    private static void send(Socket socket, Record... records) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryOutputArchive archive = BinaryOutputArchive.getArchive(bytes);
        for (Record each : records) {
            each.serialize(archive, "");
        }
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(frame);
        out.writeInt(bytes.size());
        bytes.writeTo(out);
        socket.getOutputStream().write(frame.toByteArray());
    }

    private static void answer(DataInputStream in, Record record) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        record.deserialize(
                BinaryInputArchive.getArchive(new java.io.ByteArrayInputStream(bytes)), "");
    }

    /** All sessions are heard once more, and then never again: they expire together. */
    public void cut() throws IOException {
        for (Socket each : sockets) {
            send(each, new RequestHeader(PING_XID, ZooDefs.OpCode.ping));
        }
        close();
    }

    @Override
    public void close() {
        for (Socket each : sockets) {
            try {
                each.close();
            } catch (IOException e) {
                // It is given up anyway.
            }
        }
        sockets.clear();
    }
}
