package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.net.Socket;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;

/**
 * An observer that handles what one read brings as one batch. It acknowledges nothing and decides
 * nothing: its packets are those of ZooKeeper's.
 *
 * <p>Packets are read by the peer's main thread alone.
 */
final class SaucrObserver extends Observer {
    private final SaucrObserverServer server;
    private final SaucrTxnLog log;
    private final LeaderConnection connection;

    SaucrObserver(QuorumPeer self, SaucrObserverServer zk, SaucrTxnLog log) {
        super(self, zk);
        this.server = zk;
        this.log = log;
        this.connection = new LeaderConnection(this, zk::endOfBatch);
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
        connection.connected();
    }

    @Override
    protected Socket createSocket() throws IOException {
        return connection.createSocket();
    }

    @Override
    void request(Request request) throws IOException {
        if (getAsyncSending() || request.isThrottled()) {
            super.request(request);
        } else {
            connection.request(request);
        }
    }

    @Override
    void writePacketNow(QuorumPacket packet, boolean flushes) throws IOException {
        connection.writeNow(packet, flushes);
    }

    @Override
    void readPacket(QuorumPacket packet) throws IOException {
        // The packet object is used again, and reading does not clear fields that the next packet
        // lacks.
        packet.setAuthinfo(null);
        super.readPacket(packet);
        if (packet.getType() == Leader.UPTODATE) {
            connection.synchronised();
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
