package org.apache.zookeeper.server.quorum;

import io.saucr.core.RecoveryMessage;
import io.saucr.core.RecoveryWire;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.quorum.auth.QuorumAuthLearner;
import org.apache.zookeeper.server.quorum.auth.QuorumAuthServer;

/**
 * The election channel, which also carries recovery messages (R18), and which lets no vote in or
 * out while this server recovers (R15). The newest vote of each other server is kept until then:
 * whoever sent it may not repeat it for a minute. Called by any thread.
 */
final class SaucrCnxManager extends QuorumCnxManager {
    private static final long LEAST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Where recovery messages go, and whether votes may pass. */
    interface Recovery {
        /** A recovery message has come in; must return soon. */
        void received(long from, ByteBuffer message);

        /** A vote has come in that is not heard before this server has recovered. */
        void held(long from, ByteBuffer vote);

        /** Whether this server must neither vote nor hear votes. */
        boolean recovering();
    }

    private final Recovery recovery;

    /** The newest votes that came in while recovering. Guarded by itself. */
    private final Map<Long, Message> heldVotes = new HashMap<>();

    /** Of servers without a connection: when the next attempt is due. */
    private final ConcurrentHashMap<Long, Attempt> attempts = new ConcurrentHashMap<>();

    /** A connection was tried; the next time is {@code waitNanos} later. */
    private record Attempt(long at, long waitNanos) {}

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
        view.keySet().forEach(this::queueTo);
    }

    @Override
    public void addToRecvQueue(Message message) {
        ByteBuffer packet = message.buffer.duplicate();
        packet.clear();
        if (RecoveryWire.isRecoveryMessage(packet)) {
            recovery.received(message.sid, packet);
        } else if (!held(message)) {
            super.addToRecvQueue(message);
        }
    }

    private boolean held(Message message) {
        synchronized (heldVotes) {
            if (!recovery.recovering()) {
                return false;
            }
            recovery.held(message.sid, message.buffer);
            if (self.viewContains(message.sid)) {
                heldVotes.put(message.sid, message);
            }
            return true;
        }
    }

    /** The recovery is over: the votes that came in meanwhile are heard now. */
    void releaseVotes() {
        synchronized (heldVotes) {
            heldVotes.values().forEach(super::addToRecvQueue);
            heldVotes.clear();
        }
    }

    @Override
    public void toSend(Long sid, ByteBuffer packet) {
        if (!recovery.recovering()) {
            queueTo(sid);
            super.toSend(sid, packet);
        }
    }

    /**
     * Sends a recovery message; it may get lost, like everything on this channel. A server that
     * cannot be reached is tried less and less often, at last every two seconds, whatever is sent
     * to it; a connection that it opens itself is used at once.
     */
    void send(long sid, RecoveryMessage message) {
        queueTo(sid).offer(RecoveryWire.encode(message));
        if (senderWorkerMap.containsKey(sid)) {
            attempts.remove(sid);
        } else if (attemptIsDue(sid)) {
            connectOne(sid);
        }
    }

    /** Two threads at once may both find it due; then the second one finds it under way. */
    private boolean attemptIsDue(long sid) {
        long now = System.nanoTime();
        Attempt last = attempts.get(sid);
        if (last != null && now - last.at < last.waitNanos) {
            return false;
        }
        long wait =
                last == null ? LEAST_WAIT_NANOS : Math.min(2 * last.waitNanos, LONGEST_WAIT_NANOS);
        attempts.put(sid, new Attempt(now, wait));
        return true;
    }

    /** Servers that were not in the view at the start may have one of ZooKeeper's queues. */
    private BlockingQueue<ByteBuffer> queueTo(long sid) {
        return queueSendMap.compute(
                sid,
                (key, queue) ->
                        queue instanceof NewestOfEachKind
                                ? queue
                                : new NewestOfEachKind(sid, lastMessageSent, queue));
    }
}
