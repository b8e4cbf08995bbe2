package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.net.Socket;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.SelectorBatch;
import org.apache.zookeeper.server.ServerArchive;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An observer that handles what one read brings as one batch. It acknowledges nothing and decides
 * nothing: its packets are those of ZooKeeper's.
 *
 * <p>Packets are read by the peer's main thread alone.
 */
final class SaucrObserver extends Observer {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrObserver.class);

    private final SaucrObserverServer server;
    private final SaucrTxnLog log;
    private final Runnable flush = this::flushToLeader;

    /** Null for TLS, and before there is one. */
    private volatile LeaderConnection connection;

    SaucrObserver(QuorumPeer self, SaucrObserverServer zk, SaucrTxnLog log) {
        super(self, zk);
        this.server = zk;
        this.log = log;
    }

    /** An observer's log has what is committed; nothing that a leader said of modes applies. */
    @Override
    void observeLeader() throws Exception {
        log.forgetTags();
        try {
            super.observeLeader();
        } finally {
            server.endOfBatch();
        }
    }

    @Override
    protected void connectToLeader(MultipleAddresses addresses, String host) throws IOException {
        super.connectToLeader(addresses, host);
        if (sock instanceof PeerSocket socket) {
            // Nothing was read yet.
            leaderIs = new ServerArchive(socket.getInputStream());
            connection = new LeaderConnection(socket);
        }
    }

    /**
     * Writes to the leader must not hold up the threads that make them, however slow it is; TLS
     * may.
     */
    @Override
    protected Socket createSocket() throws X509Exception, IOException {
        if (self.isSslQuorum()) {
            return super.createSocket();
        }
        PeerSocket socket = new PeerSocket();
        socket.setSoTimeout(self.tickTime * self.initLimit);
        socket.beforeReading(server::endOfBatch);
        return socket;
    }

    @Override
    void request(Request request) throws IOException {
        LeaderConnection to = connection;
        if (to == null || getAsyncSending() || request.isThrottled()) {
            super.request(request);
            return;
        }
        messageTracker.trackSent(Leader.REQUEST);
        to.write(request);
        writePacketNow(null, true);
    }

    /** What a selecting thread has to send goes out with the rest of its round. */
    @Override
    void writePacketNow(QuorumPacket packet, boolean flushes) throws IOException {
        boolean now = flushes && !SelectorBatch.putOff(flush);
        LeaderConnection to = connection;
        if (to == null) {
            super.writePacketNow(packet, now);
            return;
        }
        if (packet != null) {
            messageTracker.trackSent(packet.getType());
            to.write(packet);
        }
        if (now) {
            to.flush();
        }
    }

    private void flushToLeader() {
        LeaderConnection to = connection;
        try {
            if (to == null) {
                super.writePacketNow(null, true);
            } else {
                to.flush();
            }
        } catch (IOException e) {
            LOG.warn("Cannot send to the leader, closing the connection", e);
            closeSocket();
        }
    }

    @Override
    void readPacket(QuorumPacket packet) throws IOException {
        // The packet object is used again, and reading does not clear fields that the next packet
        // lacks.
        packet.setAuthinfo(null);
        super.readPacket(packet);
        if (packet.getType() == Leader.UPTODATE && sock instanceof PeerSocket leader) {
            leader.neverWait();
        }
    }

    /** The log gets the bytes of the packet, so that they need not be made again. */
    @Override
    protected void processPacket(QuorumPacket packet) throws Exception {
        if (packet.getType() == Leader.INFORM && server.logs()) {
            log.proposed(packet.getZxid(), packet.getData());
        }
        super.processPacket(packet);
    }
}
