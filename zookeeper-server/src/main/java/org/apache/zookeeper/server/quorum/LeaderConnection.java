package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.util.List;
import org.apache.jute.OutputArchive;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.Encoder;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.SelectorBatch;
import org.apache.zookeeper.server.ServerArchive;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of a follower or an observer to its leader. ZooKeeper's streams copy what a client
 * has sent; here a large request is not copied. What a selecting thread sends leaves with the rest
 * of its round.
 *
 * <p>Packets are written by any thread, and leave in the order of the calls. A thread that writes
 * never waits for the leader once the learner is synchronised.
 */
final class LeaderConnection {
    private static final Logger LOG = LoggerFactory.getLogger(LeaderConnection.class);

    private static final int REQUEST_HEADER_BYTES = Long.BYTES + Integer.BYTES + Integer.BYTES;
    private static final byte[] NO_PAYLOAD = {};

    private final Learner learner;
    private final PeerSocket.BeforeReading endOfBatch;
    private final Runnable flush = this::flushOrClose;

    /** Null before the learner has connected; nothing is written before. */
    private volatile PeerSocket socket;

    /** Guarded by this. */
    private final Encoder encoder = new Encoder();

    /**
     * @param endOfBatch called by the thread that reads, before it waits for the leader
     */
    LeaderConnection(Learner learner, PeerSocket.BeforeReading endOfBatch) {
        this.learner = learner;
        this.endOfBatch = endOfBatch;
    }

    /** One that the learner may connect with; with several addresses it tries several. */
    PeerSocket createSocket() throws IOException {
        QuorumPeer self = learner.self;
        PeerSocket made =
                new PeerSocket(self.isSslQuorum() ? new PeerTls(self.getX509Util(), false) : null);
        made.setSoTimeout(self.tickTime * self.initLimit);
        made.beforeReading(endOfBatch);
        return made;
    }

    /** The learner has connected, and has read nothing yet. */
    void connected() throws IOException {
        socket = (PeerSocket) learner.sock;
        learner.leaderIs = new ServerArchive(socket.getInputStream());
    }

    /** The learner serves clients: a thread that writes must not wait from now on. */
    void synchronised() throws IOException {
        socket.neverWait();
    }

    /** What a client has sent. */
    void request(Request request) throws IOException {
        learner.messageTracker.trackSent(Leader.REQUEST);
        write(request);
        writeNow(null, true);
    }

    /** As {@link Learner#writePacketNow}. */
    void writeNow(QuorumPacket packet, boolean flushes) throws IOException {
        boolean now = flushes && !SelectorBatch.putOff(flush);
        if (packet != null) {
            learner.messageTracker.trackSent(packet.getType());
            write(packet);
        }
        if (now) {
            socket.getOutputStream().flush();
        }
    }

    private void flushOrClose() {
        try {
            socket.getOutputStream().flush();
        } catch (IOException e) {
            LOG.warn("Cannot send to the leader, closing the connection", e);
            learner.closeSocket();
        }
    }

    private synchronized void write(QuorumPacket packet) throws IOException {
        encoder.clear();
        encoder.add(packet, "packet");
        socket.write(encoder);
    }

    private void write(Request request) throws IOException {
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
}
