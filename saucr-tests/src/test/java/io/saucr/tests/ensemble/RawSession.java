package io.saucr.tests.ensemble;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.ConnectRequest;
import org.apache.zookeeper.proto.ConnectResponse;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.RequestHeader;

/**
 * A client's session on one socket, without a thread of its own, so that a test can have thousands,
 * and send many requests before it waits for the first answer. It never pings; its timeout must be
 * longer than the test. Used by one thread.
 */
final class RawSession implements AutoCloseable {
    private final int sessionMillis;
    private long id;
    private byte[] password = new byte[16];
    private Socket socket;

    private RawSession(int sessionMillis) {
        this.sessionMillis = sessionMillis;
    }

    /** Asks the server with this port of loopback for a new session. */
    static RawSession ask(int port, int sessionMillis) throws IOException {
        RawSession session = new RawSession(sessionMillis);
        session.connect(port);
        return session;
    }

    /** Leaves its server without closing the session, and asks another server to continue it. */
    void move(int port) throws IOException {
        socket.close();
        connect(port);
    }

    private void connect(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        send(new ConnectRequest(0, 0, sessionMillis, id, password, false));
    }

    /**
     * Waits for the answer to {@link #ask} or {@link #move}.
     *
     * @return the number of the session, 0 if it has expired
     */
    long awaitSession() throws IOException {
        ConnectResponse response = new ConnectResponse();
        receive(response);
        id = response.getSessionId();
        password = response.getPasswd();
        return id;
    }

    /** Asks for a node that ends with the session. */
    void createEphemeral(String path) throws IOException {
        send(
                new RequestHeader(1, OpCode.create),
                new CreateRequest(
                        path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL.toFlag()));
    }

    /** Sends a request with its parameters. */
    void request(int type, Record parameters) throws IOException {
        send(new RequestHeader(1, type), parameters);
    }

    /** Sends a request that has only a header. */
    void request(int type) throws IOException {
        send(new RequestHeader(1, type));
    }

    /**
     * Waits for the answer to a request.
     *
     * @return its code, 0 for done
     */
    int awaitAnswer() throws IOException {
        ReplyHeader reply = new ReplyHeader();
        receive(reply);
        return reply.getErr();
    }

    private void send(Record... records) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (Record each : records) {
            each.serialize(BinaryOutputArchive.getArchive(bytes), "record");
        }
        ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + bytes.size());
        frame.putInt(bytes.size()).put(bytes.toByteArray());
        socket.getOutputStream().write(frame.array());
    }

    private void receive(Record answer) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        byte[] frame = new byte[in.readInt()];
        in.readFully(frame);
        answer.deserialize(
                BinaryInputArchive.getArchive(new ByteArrayInputStream(frame)), "answer");
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
