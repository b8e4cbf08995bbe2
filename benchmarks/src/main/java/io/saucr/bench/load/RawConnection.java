package io.saucr.bench.load;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.proto.ConnectRequest;
import org.apache.zookeeper.proto.ConnectResponse;
import org.apache.zookeeper.proto.ReplyHeader;

/**
 * A connection of a session without ZooKeeper's client, which takes two threads each, and waits up
 * to a second before it connects again. Used by one thread.
 */
final class RawConnection implements AutoCloseable {
    private static final int PASSWORD_BYTES = 16;

    private final SocketChannel channel = SocketChannel.open();
    private DataInputStream in;

    RawConnection() throws IOException {}

    /** A session that can be continued on another connection. Immutable. */
    static final class Session {
        static final Session NEW = new Session(0, new byte[PASSWORD_BYTES]);

        private final long id;
        private final byte[] password;

        private Session(long id, byte[] password) {
            this.id = id;
            this.password = password;
        }
    }

    /**
     * Connects, and begins or continues a session.
     *
     * @param address {@code HOST:PORT}
     * @param sessionMillis its timeout
     * @param limitMillis for the connection, and for each answer
     * @throws IOException if that fails, or if the server gives no session, for example because the
     *     one to continue has expired
     */
    Session open(String address, Session session, int sessionMillis, int limitMillis)
            throws IOException {
        int colon = address.lastIndexOf(':');
        Socket socket = channel.socket();
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(limitMillis);
        socket.connect(
                new InetSocketAddress(
                        address.substring(0, colon),
                        Integer.parseInt(address.substring(colon + 1))),
                limitMillis);
        send(channel, new ConnectRequest(0, 0, sessionMillis, session.id, session.password, false));
        // Unbuffered: what comes after an answer may be another reader's.
        in = new DataInputStream(socket.getInputStream());
        ConnectResponse connected = new ConnectResponse();
        answer(connected);
        if (connected.getTimeOut() <= 0) {
            throw new IOException(address + " gives no session");
        }
        return new Session(connected.getSessionId(), connected.getPasswd());
    }

    SocketChannel channel() {
        return channel;
    }

    void send(Record... records) throws IOException {
        send(channel, records);
    }

    /** Sends one packet. */
    static void send(SocketChannel channel, Record... records) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryOutputArchive archive = BinaryOutputArchive.getArchive(bytes);
        for (Record each : records) {
            each.serialize(archive, "");
        }
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(frame);
        out.writeInt(bytes.size());
        bytes.writeTo(out);
        ByteBuffer buffer = ByteBuffer.wrap(frame.toByteArray());
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    /**
     * Waits for an answer.
     *
     * @param response read if the server reports no error; null if nobody wants it
     */
    void answer(ReplyHeader header, Record response) throws IOException {
        BinaryInputArchive archive = packet();
        header.deserialize(archive, "");
        if (header.getErr() == 0 && response != null) {
            response.deserialize(archive, "");
        }
    }

    /** Waits for one packet, and reads the record that it begins with. */
    void answer(Record record) throws IOException {
        record.deserialize(packet(), "");
    }

    private BinaryInputArchive packet() throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return BinaryInputArchive.getArchive(new ByteArrayInputStream(bytes));
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
