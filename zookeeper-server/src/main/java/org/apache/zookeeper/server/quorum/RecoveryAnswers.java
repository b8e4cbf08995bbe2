package org.apache.zookeeper.server.quorum;

import io.saucr.core.Zxid;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryMessage.LostAnswer;
import io.saucr.core.recovery.RecoveryMessage.LostQuery;
import io.saucr.core.recovery.RecoveryMessage.NoAnswer;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoverySource;
import io.saucr.core.recovery.RecoveryWire;
import io.saucr.server.runtime.CriticalThread;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.persistence.RunningHistory;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.server.quorum.QuorumPeer.ServerState;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a recovered voter answers to those that recover (R16 to R18, R20). One thread answers
 * everyone, and only each asker's newest question: an asker waits for one answer at a time, and
 * repeats its question when the answer is slow. So no outdated question is answered, and at most
 * {@link #ASKERS} askers wait; questions of others are dropped.
 */
final class RecoveryAnswers {
    private static final Logger LOG = LoggerFactory.getLogger(RecoveryAnswers.class);

    private static final int ASKERS = 64;

    /** No question is longer; a longer packet is dropped at once. */
    static final int LONGEST_QUESTION = 128;

    private static final long TIDY_SECONDS = 2;

    private final SaucrQuorumPeer peer;
    private final RecoveryChannel channel;
    private final SaucrTxnSnapLog txnSnapLog;
    private final RunningHistory history;
    private final RecoverySource source;
    private final LogRateLimiter malformed = new LogRateLimiter();
    private final LogRateLimiter unanswered = new LogRateLimiter();
    private final BlockingQueue<Long> askers = new ArrayBlockingQueue<>(ASKERS);

    /** The newest question of each server that is, or is about to be, in {@code askers}. */
    private final Map<Long, ByteBuffer> questions = new ConcurrentHashMap<>();

    private final Thread thread;
    private volatile boolean stopped;

    RecoveryAnswers(SaucrQuorumPeer peer, RecoveryChannel channel, SaucrTxnSnapLog txnSnapLog) {
        this.peer = peer;
        this.channel = channel;
        this.txnSnapLog = txnSnapLog;
        this.history = new RunningHistory(txnSnapLog);
        this.source = new RecoverySource(peer.getMyId(), RecoveryWire.MAX_PAYLOAD);
        this.thread =
                new CriticalThread(
                        "SaucrRecoveryAnswers:" + peer.getMyId(), this::run, () -> stopped);
    }

    void start() {
        thread.start();
    }

    /** Stops answering; the log may be closed. */
    void stop() {
        stopped = true;
        thread.interrupt();
    }

    /** Late answers to questions of this server's own recovery come here, too, and are dropped. */
    void received(long from, ByteBuffer packet) {
        if (packet.remaining() > LONGEST_QUESTION) {
            LOG.debug("{} bytes of server {} are no question", packet.remaining(), from);
            return;
        }
        if (questions.put(from, packet) == null && !askers.offer(from)) {
            questions.remove(from);
            LOG.debug("A question of server {} was dropped, {} are waiting", from, ASKERS);
        }
    }

    private void run() {
        try {
            long tidyAt = System.nanoTime();
            while (true) {
                Long from = askers.poll(TIDY_SECONDS, TimeUnit.SECONDS);
                ByteBuffer packet = from == null ? null : questions.remove(from);
                if (packet != null) {
                    answer(from, packet);
                }
                if (System.nanoTime() - tidyAt >= 0) {
                    channel.tidy();
                    tidyAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIDY_SECONDS);
                }
            }
        } catch (InterruptedException e) {
            LOG.debug("No recovery message is answered any more");
        }
    }

    private void answer(long from, ByteBuffer packet) {
        RecoveryMessage message;
        try {
            message = RecoveryWire.decode(packet);
        } catch (RuntimeException e) {
            long count = malformed.refused(from, System.nanoTime());
            if (count > 0) {
                LOG.warn(
                        "{} malformed recovery messages of server {} were dropped, the last one: {}",
                        count,
                        from,
                        e.getMessage());
            }
            return;
        }
        try {
            answer(from, message);
        } catch (IOException | RuntimeException e) {
            // The server that asked repeats the question; the next one may be answerable.
            long count = unanswered.refused(from, System.nanoTime());
            if (count > 0) {
                LOG.warn(
                        "{} recovery messages of server {} could not be answered, the last one:",
                        count,
                        from,
                        e);
            }
        }
    }

    private void answer(long from, RecoveryMessage message) throws IOException {
        boolean voter = peer.getQuorumVerifier().getVotingMembers().containsKey(peer.getMyId());
        if (message.sender() != from || from == peer.getMyId() || !voter) {
            return;
        }
        if (message instanceof LleQuery query) {
            answerQuery(query);
        } else if (message instanceof LostQuery query) {
            answerLost(query);
        } else {
            history.whileUntruncated(() -> answerRequest(message));
        }
    }

    /**
     * R20: a leader or follower first fences the asker's earlier process; only then it reads what
     * the asker may have logged.
     */
    private void answerQuery(LleQuery query) throws IOException {
        // R26: a server that has never been in an epoch knows nothing of what others logged.
        if (peer.getCurrentEpoch() > 0 && fence(query.sender(), query.nonce())) {
            channel.send(query.sender(), whatIsLogged(query.nonce(), query.withView()));
        }
    }

    /** R26: as a query; in addition the asker may have made promises that it has lost. */
    private void answerLost(LostQuery query) throws IOException {
        if (peer.getCurrentEpoch() <= 0 && txnSnapLog.log().lastAppended() == Zxid.NONE) {
            channel.send(query.sender(), new NoAnswer(query.nonce(), peer.getMyId(), true));
        } else if (peer.getPeerState() == ServerState.LEADING && !leads()) {
            // ZooKeeper's leader may hold the old process's ack of NEWLEADER, which nothing voids.
            // It is established soon, or gives up within initLimit; the question is repeated.
            LOG.debug("Server {} lost its disk; this leader answers once it leads", query.sender());
        } else if (fence(query.sender(), query.nonce())) {
            // After the fence: what this leader counted of the asker's old process is void now.
            boolean leads = leads();
            long acceptedEpoch = Math.max(peer.getAcceptedEpoch(), peer.getCurrentEpoch());
            channel.send(
                    query.sender(),
                    new LostAnswer(
                            query.nonce(),
                            peer.getMyId(),
                            query.round(),
                            leads,
                            acceptedEpoch,
                            whatIsLogged(query.nonce(), false)));
        }
    }

    /** Whether it leads, and its leadership is established. */
    private boolean leads() {
        return peer.getPeerState() == ServerState.LEADING
                && peer.getActiveServer() instanceof LeaderZooKeeperServer server
                && server.isRunning();
    }

    private LleAnswer whatIsLogged(long nonce, boolean withView) throws IOException {
        // Before what is logged: if the log is cut meanwhile, that shows (R23).
        View ownView = txnSnapLog.log().ownView();
        long currentEpoch = peer.getCurrentEpoch();
        SaucrTxnLog.Knowledge knowledge = txnSnapLog.log().knowledge();
        QuorumVerifier committed = peer.getQuorumVerifier();
        QuorumVerifier newest = peer.getLastSeenQuorumVerifier();
        Optional<Configuration> pending =
                newest != null && newest.getVersion() > committed.getVersion()
                        ? Optional.of(configuration(newest))
                        : Optional.empty();
        return new LleAnswer(
                nonce,
                peer.getMyId(),
                currentEpoch,
                knowledge.lastLogged(),
                knowledge.lleMap(),
                configuration(committed),
                pending,
                withView ? ownView.sealIn(knowledge.lastLogged()) : LleAnswer.NOT_ASKED);
    }

    private boolean fence(long sid, long nonce) throws IOException {
        ServerState state = peer.getPeerState();
        if (state == ServerState.LEADING && peer.leader instanceof SaucrLeader leader) {
            leader.restarted(sid, nonce);
            return true;
        }
        if (state == ServerState.FOLLOWING && peer.follower instanceof SaucrFollower follower) {
            return follower.tellLeader(sid, nonce);
        }
        return state == ServerState.LOOKING;
    }

    private void answerRequest(RecoveryMessage message) {
        if (message instanceof EpochEndsRequest request) {
            channel.send(request.sender(), source.answer(request, history));
        } else if (message instanceof EntriesRequest request) {
            channel.send(request.sender(), source.answer(request, history));
        } else if (message instanceof SnapshotRequest request) {
            channel.send(request.sender(), source.answer(request, history));
        }
    }

    static Configuration configuration(QuorumVerifier verifier) {
        return new Configuration(
                verifier.getVersion(), List.copyOf(verifier.getVotingMembers().keySet()));
    }
}
