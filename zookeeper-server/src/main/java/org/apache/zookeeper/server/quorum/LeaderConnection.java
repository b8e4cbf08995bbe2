package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.util.List;
import org.apache.jute.OutputArchive;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.Encoder;
import org.apache.zookeeper.server.Request;

/**
 * What a learner writes to its leader. Of ZooKeeper's streams each copies what a client has sent;
 * here a large request is not copied.
 *
 * <p>Any thread; packets leave in the order of the calls.
 */
final class LeaderConnection {
    private static final int REQUEST_HEADER_BYTES = Long.BYTES + Integer.BYTES + Integer.BYTES;
    private static final byte[] NO_PAYLOAD = {};

    private final PeerSocket socket;

    /** Guarded by this. */
    private final Encoder encoder = new Encoder();

    LeaderConnection(PeerSocket socket) {
        this.socket = socket;
    }

    /** It leaves with the next {@link #flush}. */
    synchronized void write(QuorumPacket packet) throws IOException {
        encoder.clear();
        encoder.add(packet, "packet");
        socket.write(encoder);
    }

    /** The same of a REQUEST: what a client has sent. */
    void write(Request request) throws IOException {
        byte[] bytes = request.readRequestBytes();
        byte[] payload = bytes == null ? NO_PAYLOAD : bytes;
        synchronized (this) {
            encoder.clear();
            encode(request, payload);
            socket.write(encoder);
            // It must not hold the payload.
            encoder.clear();
        }
    }

    private void encode(Request request, byte[] payload) throws IOException {
        OutputArchive archive = encoder.archive();
        archive.writeInt(Leader.REQUEST, "type");
        archive.writeLong(-1, "zxid");
        archive.writeInt(REQUEST_HEADER_BYTES + payload.length, "data");
        archive.writeLong(request.sessionId, "session");
        archive.writeInt(request.cxid, "cxid");
        archive.writeInt(request.type, "type");
        encoder.addBytes(payload);
        List<Id> authInfo = request.authInfo;
        archive.startVector(authInfo, "authinfo");
        if (authInfo != null) {
            for (Id each : authInfo) {
                archive.writeRecord(each, "id");
            }
        }
        archive.endVector(authInfo, "authinfo");
    }

    void flush() throws IOException {
        socket.getOutputStream().flush();
    }
}
