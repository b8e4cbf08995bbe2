package org.apache.zookeeper.server.quorum;

import io.saucr.core.RecoveryMessage;
import io.saucr.core.RecoveryWire;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.zookeeper.server.quorum.auth.QuorumAuthLearner;
import org.apache.zookeeper.server.quorum.auth.QuorumAuthServer;

/**
 * The election channel, which also carries recovery messages (R18), and which lets no vote in or
 * out while this server recovers (R15). Called by any thread.
 */
final class SaucrCnxManager extends QuorumCnxManager {

    /** Where recovery messages go, and whether votes may pass. */
    interface Recovery {
        /** A recovery message has come in; must return soon. */
        void received(long from, ByteBuffer message);

        /** Whether this server must neither vote nor hear votes. */
        boolean recovering();
    }

    private final Recovery recovery;

    SaucrCnxManager(
            QuorumPeer self,
            Map<Long, QuorumPeer.QuorumServer> view,
            QuorumAuthServer authServer,
            QuorumAuthLearner authLearner,
            int socketTimeout,
            Recovery recovery) {
        super(
                self,
                self.getMyId(),
                view,
                authServer,
                authLearner,
                socketTimeout,
                self.getQuorumListenOnAllIPs(),
                self.quorumCnxnThreadsSize,
                self.isQuorumSaslAuthEnabled());
        this.recovery = recovery;
    }

    @Override
    public void addToRecvQueue(Message message) {
        ByteBuffer packet = message.buffer.duplicate();
        packet.clear();
        if (RecoveryWire.isRecoveryMessage(packet)) {
            recovery.received(message.sid, packet);
        } else if (!recovery.recovering()) {
            super.addToRecvQueue(message);
        }
    }

    @Override
    public void toSend(Long sid, ByteBuffer packet) {
        if (!recovery.recovering()) {
            super.toSend(sid, packet);
        }
    }

    /** Sends a recovery message; it may get lost, like everything on this channel. */
    void send(long sid, RecoveryMessage message) {
        super.toSend(sid, RecoveryWire.encode(message));
    }
}
