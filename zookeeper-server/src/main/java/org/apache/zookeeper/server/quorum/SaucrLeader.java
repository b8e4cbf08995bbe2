package org.apache.zookeeper.server.quorum;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.leader.FailureDetector;
import io.saucr.core.leader.FollowerConnection;
import io.saucr.core.leader.HandOver;
import io.saucr.core.leader.HandOver.Outcome;
import io.saucr.core.leader.IncarnationFence;
import io.saucr.core.leader.LeaderDecisions;
import io.saucr.core.leader.LeaderDecisions.Closing;
import io.saucr.core.leader.LeaderDecisions.Turn;
import io.saucr.core.leader.LeaderDecisions.Why;
import io.saucr.core.leader.LeaderState;
import io.saucr.core.leader.ModeController;
import io.saucr.core.leader.ReadIndex;
import io.saucr.core.leader.ReplicationSet;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.CommitRule;
import io.saucr.core.quorum.View;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.ReplicationMetrics;
import io.saucr.server.metrics.VoterView;
import io.saucr.server.requests.AckTimes;
import io.saucr.server.requests.RequestWatch;
import io.saucr.server.requests.SlowRequest;
import io.saucr.server.runtime.CriticalThread;
import io.saucr.server.runtime.FlushCause;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.DeleteContainerRequest;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.Encoder;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;
import org.apache.zookeeper.server.quorum.QuorumPeer.LearnerType;
import org.apache.zookeeper.server.quorum.SyncedLearnerTracker.QuorumVerifierAcksetPair;
import org.apache.zookeeper.server.quorum.auth.QuorumAuthServer;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A leader that replicates situation-aware: what {@link LeaderState} decides is carried out here,
 * with ZooKeeper's packets, threads and clock. Tags go out with proposals (R1), commits are
 * ZooKeeper's, heartbeats have a thread of their own (R9, H8).
 *
 * <p>This leader's monitor guards the state: the lock that ZooKeeper's own leader proposes and
 * counts acks under. The thread that tells the state of an event carries out what it has decided
 * before the monitor is free again; only connections are closed later, because that may take time.
 * Learners are removed by threads that must not wait for the monitor; they leave a note in {@code
 * removed}, which is read first thing whenever it is taken.
 */
final class SaucrLeader extends Leader implements InlineProposalProcessor.Proposer {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrLeader.class);

    /** Scheme of the {@code authinfo} entry in which SAUCR's own data travels (R1). */
    static final String SCHEME = "saucr";

    /**
     * Operation of a follower's REQUEST that says that a server has restarted (R20). No client can
     * send it.
     */
    static final int RESTART_NOTICE = -0x53415543;

    /**
     * Operation of a follower's REQUEST that answers a numbered heartbeat (R22): its session id is
     * the number. No client can send it.
     */
    static final int STILL_FOLLOWING = RESTART_NOTICE - 1;

    /**
     * Operation of a follower's REQUEST that says that it writes the view of a seal into its marker
     * before it acks it (R23). No client can send it.
     */
    static final int KEEPS_VIEWS = RESTART_NOTICE - 2;

    /**
     * Scheme of the second {@code authinfo} entry, which versions without R23 do not read: of a
     * seal its view, and of a greeting that this leader seals views.
     */
    static final String VIEW_SCHEME = "saucr-view";

    /**
     * Tells a follower that its leader sends heartbeats, before the first proposal does, and that
     * it seals views.
     */
    private static final List<Id> GREETING = List.of(new Id(SCHEME, ""), new Id(VIEW_SCHEME, ""));

    /**
     * For how long the same servers must follow before fast mode is left to seal their view: a
     * server that comes and goes costs no turns of the mode.
     */
    private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(5);

    /**
     * No node ever has this path, so its deletion as a container changes nothing: the no-op of R5
     * and R6.
     */
    private static final String NOOP_PATH = "/zookeeper/saucr-noop";

    /** However long the heartbeat interval is, clients wait no longer for a drain. */
    private static final long LONGEST_DRAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * Scheme of the second {@code authinfo} entry of the heartbeat with which a leader names the
     * next one (R28); versions without R28 do not read it.
     */
    static final String NEXT_SCHEME = "saucr-next";

    /** How soon it is noticed that everything is committed, when the leader hands over (R28). */
    private static final long HAND_OVER_LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    /** Followers that were asked to leave have left by then, or find their connections closed. */
    private static final long FOLLOWERS_LEAVE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** So many writes that wait are shown. */
    private static final int MOST_WAITING = 10;

    private static final long LOW_BITS = 0xffffffffL;

    private final SaucrQuorumPeer peer;
    private final SaucrTxnLog log;
    private final ReplicationMetrics metrics;
    private final RequestWatch watch;
    private final Thread heartbeats;
    private final LeaderPipeline pipeline;
    private volatile boolean stopped;

    /** The thread in {@link #lead}. */
    private volatile Thread leading;

    /** When ZooKeeper's own loop last pinged everyone, which it does twice a tick. */
    private volatile long tickPings = System.nanoTime();

    private final Queue<SaucrLearnerHandler> removed = new ConcurrentLinkedQueue<>();

    // Guarded by this.
    private final Encoder encoder = new Encoder();
    private final LeaderState<SaucrLearnerHandler, LearnerSyncRequest> state;
    private final LeaderDecisions<SaucrLearnerHandler, LearnerSyncRequest> decisions;
    private final HandOver<SaucrLearnerHandler> handOver = new HandOver<>();
    private final AckTimes acks;

    /** The newest write that was reported as slow before it was committed. */
    private long reportedWaiting;

    private QuorumVerifier configuration;

    /** What the state has decided to close, until the thread that told it of the event takes it. */
    private final List<Closing<SaucrLearnerHandler>> closings = new ArrayList<>();

    // The heartbeat thread.
    private long lateNanos;

    // The proposing thread.
    private boolean proposingNoop;

    SaucrLeader(
            SaucrQuorumPeer self,
            SaucrLeaderServer zk,
            SaucrTxnLog log,
            SaucrSettings settings,
            ReplicationMetrics metrics,
            RequestWatch watch)
            throws IOException {
        super(self, zk);
        this.peer = self;
        this.log = log;
        this.metrics = metrics;
        this.watch = watch;
        this.acks = new AckTimes(watch.stages());
        this.configuration = self.getQuorumVerifier();
        Set<Long> voters = configuration.getVotingMembers().keySet();
        FailureDetector detector =
                new FailureDetector(
                        settings.heartbeatInterval().toNanos(), settings.tolerance().toNanos());
        this.state =
                new LeaderState<>(
                        self.getMyId(),
                        detector,
                        settings.diskTimeout().toNanos(),
                        SETTLED_NANOS,
                        new CommitRule(self.getMyId(), voters),
                        new ModeController(
                                voters.size(),
                                settings.fastModeConfirmations(),
                                Math.min(detector.ackBoundNanos(), LONGEST_DRAIN_NANOS),
                                LeaderState.confirmationNanos(detector)),
                        new ReadIndex<>(self.getMyId()),
                        this::majority,
                        System.nanoTime());
        this.decisions = state.decisions();
        this.heartbeats =
                new CriticalThread(
                        "SaucrHeartbeats:" + self.getMyId(), this::sendHeartbeats, () -> stopped);
        this.pipeline = new LeaderPipeline(heartbeats, this::countOwn);
    }

    /** What leads through this leader's stages. */
    LeaderPipeline pipeline() {
        return pipeline;
    }

    @Override
    void lead() throws IOException, InterruptedException {
        log.forgetTags();
        leading = Thread.currentThread();
        metrics.leading(this::mode, this::promptVotersNow, this::followersNow);
        heartbeats.start();
        try {
            super.lead();
        } finally {
            stopHeartbeats();
            notLeading();
        }
    }

    /** From now on nobody interrupts this thread. */
    private synchronized void notLeading() {
        leading = null;
        if (Thread.interrupted()) {
            LOG.debug("The end of the term was asked for when it had come");
        }
    }

    @Override
    void shutdown(String reason) {
        stopHeartbeats();
        peer.votes().hold();
        try {
            super.shutdown(reason);
            // R10. If the disk hangs, this server waits here: it serves nobody any more, and holds
            // no lock that a status report needs.
            log.flushAndMark(FlushCause.ELECTION, "looking for a leader");
        } finally {
            peer.votes().release();
        }
    }

    private void stopHeartbeats() {
        stopped = true;
        metrics.notLeading();
        LockSupport.unpark(heartbeats);
    }

    /** Sockets that a batch can be written to at once. */
    @Override
    Optional<ServerSocket> createServerSocket(
            InetSocketAddress address, boolean portUnification, boolean sslQuorum) {
        try {
            PeerTls tls =
                    portUnification || sslQuorum
                            ? new PeerTls(self.getX509Util(), portUnification)
                            : null;
            ServerSocket socket = new PeerServerSocket(tls);
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(address.getHostString(), address.getPort()));
            return Optional.of(socket);
        } catch (IOException e) {
            LOG.error("Cannot listen for learners on {}", address, e);
            return Optional.empty();
        }
    }

    /** ZooKeeper would ask a learner in the thread that accepts: no other one could connect. */
    @Override
    public QuorumAuthServer getQuorumAuthServer() {
        return null;
    }

    /** What a learner's handler asks of it first. */
    QuorumAuthServer learnerAuthentication() {
        return super.getQuorumAuthServer();
    }

    // ---- Followers come and go (R2, R21) ----

    /** A learner may have logged in only after this leader's end, which closes all it knows. */
    @Override
    public void addLearnerHandler(LearnerHandler learner) {
        super.addLearnerHandler(learner);
        if (stopped) {
            learner.closeSocket();
        }
    }

    @Override
    public long getEpochToPropose(long sid, long lastAcceptedEpoch)
            throws InterruptedException, IOException {
        if (Thread.currentThread() instanceof SaucrLearnerHandler handler
                && handler.getLearnerType() == LearnerType.PARTICIPANT) {
            close(accept(handler));
        }
        return super.getEpochToPropose(sid, lastAcceptedEpoch);
    }

    /** R21: one live connection per server. Returns what is to be closed. */
    private synchronized List<Closing<SaucrLearnerHandler>> accept(SaucrLearnerHandler handler) {
        readRemovals();
        boolean situationAware = Incarnation.announcedBy(handler.getVersion());
        FollowerConnection<SaucrLearnerHandler> connection =
                state.connected(
                        handler,
                        handler.getSid(),
                        situationAware,
                        situationAware
                                ? Incarnation.of(handler.getVersion())
                                : IncarnationFence.UNKNOWN,
                        System.nanoTime());
        handler.connectionIs(connection);
        carryOut();
        return takeClosings();
    }

    @Override
    public synchronized long startForwarding(LearnerHandler handler, long lastSeenZxid) {
        readRemovals();
        startEpoch();
        FollowerConnection<SaucrLearnerHandler> connection =
                ((SaucrLearnerHandler) handler).connection();
        if (connection != null && !state.admits(connection.sid())) {
            throw new IllegalStateException(
                    "Server "
                            + connection.sid()
                            + " is in no configuration, and more such servers have been here than"
                            + " can be remembered");
        }
        long result = super.startForwarding(handler, lastSeenZxid);
        if (connection != null) {
            state.forwarded(connection);
            carryOut();
        }
        return result;
    }

    @Override
    public void removeLearnerHandler(LearnerHandler peer) {
        super.removeLearnerHandler(peer);
        pipeline.removed(peer);
        removed.add((SaucrLearnerHandler) peer);
        LockSupport.unpark(heartbeats);
    }

    private void readRemovals() {
        for (SaucrLearnerHandler gone = removed.poll(); gone != null; gone = removed.poll()) {
            FollowerConnection<SaucrLearnerHandler> connection = forget(gone);
            if (connection != null) {
                state.disconnected(connection, System.nanoTime());
                carryOut();
            }
        }
    }

    /** Returns null if it was forgotten before. */
    private static FollowerConnection<SaucrLearnerHandler> forget(SaucrLearnerHandler handler) {
        FollowerConnection<SaucrLearnerHandler> connection = handler.connection();
        handler.connectionIs(null);
        return connection;
    }

    private void startEpoch() {
        if (!state.started()) {
            state.startEpoch(
                    new ReplicationSet(self.getMyId(), log.lleMap(), lastProposed),
                    lastProposed,
                    System.nanoTime());
        }
    }

    /** The connection of the handler that this thread is, null if there is none. */
    private static FollowerConnection<SaucrLearnerHandler> ownConnection() {
        return Thread.currentThread() instanceof SaucrLearnerHandler handler
                ? handler.connection()
                : null;
    }

    // ---- Fencing (R20) ----

    /** A follower's notice comes in as a request, in the order of its acks. */
    @Override
    public void submitLearnerRequest(Request request) {
        switch (request.type) {
            case RESTART_NOTICE -> restarted(request.sessionId, request.cxid);
            case STILL_FOLLOWING -> stillFollowing(request.sessionId);
            case KEEPS_VIEWS -> keepsViews();
            default -> super.submitLearnerRequest(request);
        }
    }

    /**
     * The server recovers as process {@code nonce}: what an earlier one acked must not count any
     * more.
     */
    void restarted(long sid, long nonce) {
        List<Closing<SaucrLearnerHandler>> stale;
        synchronized (this) {
            readRemovals();
            state.restarted(sid, nonce, System.nanoTime());
            carryOut();
            stale = takeClosings();
        }
        close(stale);
    }

    /** It comes in before the ack of UPTODATE. */
    private synchronized void keepsViews() {
        readRemovals();
        FollowerConnection<SaucrLearnerHandler> connection = ownConnection();
        if (connection != null) {
            state.keepsViews(connection);
        }
    }

    // ---- The own log (R24) ----

    @Override
    public synchronized void handedToLog(long zxid) {
        state.handedToLog(zxid, System.nanoTime());
    }

    /** What this leader's own log acks. */
    private synchronized void countOwn(List<Request> entries) {
        long now = System.nanoTime();
        if (state.ownLogLooksLate(now)) {
            excuseOwnLog(now);
        }
        for (Request each : entries) {
            each.logLatency(ServerMetrics.getMetrics().PROPOSAL_ACK_CREATION_LATENCY);
            processAck(self.getMyId(), each.zxid, null);
        }
    }

    /** Where its thread had no processor, the log is not late. */
    private void excuseOwnLog(long now) {
        LeaderLog ownLog = pipeline.ownLog();
        if (ownLog != null) {
            state.logWaited(ownLog.waits().nanosSinceTold(), now);
        }
    }

    // ---- Proposals (R1, R2, R7, R23) ----

    /** By one thread at a time, and only after {@link #mayPropose}. */
    @Override
    public Proposal propose(Request request) throws XidRolloverException {
        if ((request.zxid & LOW_BITS) == LOW_BITS) {
            // Not by this thread: it may be one that the end of the server waits for.
            String reason = "the counter of this epoch's transactions is used up";
            new Thread(() -> shutdown(reason), "EpochEnds:" + self.getMyId()).start();
            throw new XidRolloverException(reason);
        }
        proposingNoop = request instanceof Noop;
        boolean done = false;
        try {
            Proposal proposal = super.propose(request);
            done = true;
            return proposal;
        } finally {
            if (!done) {
                neverCommitAgain();
            }
        }
    }

    /** What is proposed may be another thing than what was sent, and must not get into the tree. */
    private synchronized void neverCommitAgain() {
        allowedToCommit = false;
    }

    /** What this leader proposes itself; the view of a seal goes with it. */
    private static final class Noop extends Request {
        Noop() {
            super(
                    null,
                    0,
                    0,
                    OpCode.deleteContainer,
                    RequestRecord.fromRecord(new DeleteContainerRequest(NOOP_PATH)),
                    null);
        }
    }

    /**
     * While slow entries drain, the next proposal waits until its mode is decided; and while this
     * leader hands over (R28).
     */
    @Override
    public synchronized boolean mayPropose() {
        if (handOver.underWay()) {
            return false;
        }
        if (state.draining()) {
            state.drain(System.nanoTime());
            carryOut();
        }
        if (state.draining()) {
            // It looks again when the time is up; the thread that counts the last ack does before.
            LockSupport.unpark(heartbeats);
        }
        return !state.draining();
    }

    @Override
    void sendPacket(QuorumPacket packet) {
        synchronized (this) {
            long now = System.nanoTime();
            if (packet.getType() == PROPOSAL) {
                tag(packet, now);
            }
            boolean encoded = false;
            for (int i = 0; i < state.forwardings(); i++) {
                encoded |= queue(packet, state.forwarding(i), encoded, now);
            }
            state.sent(now);
        }
        pipeline.later();
    }

    /** As what goes to followers, and encoded once for all observers. */
    @Override
    synchronized void sendObserverPacket(QuorumPacket packet) {
        List<LearnerHandler> observers = getObservingLearners();
        if (observers.isEmpty()) {
            return;
        }
        long now = System.nanoTime();
        boolean encoded = false;
        for (LearnerHandler each : observers) {
            encoded |= queue(packet, (SaucrLearnerHandler) each, encoded, now);
        }
        pipeline.later();
    }

    /** Returns what the next call gets as {@code encoded}: {@link #encoder} has the packet. */
    private boolean queue(QuorumPacket packet, SaucrLearnerHandler to, boolean encoded, long now) {
        if (!encoded) {
            encoder.clear();
            encoder.add(packet, "packet");
        }
        to.queuePacket(packet, encoder, now);
        return true;
    }

    /**
     * R1: the tag goes with the first proposal that it is true of; those that follow without one
     * mean the same.
     */
    private void tag(QuorumPacket proposal, long now) {
        readRemovals();
        startEpoch();
        followConfiguration(now);
        long zxid = proposal.getZxid();
        ProposalTag tag = proposingNoop ? state.proposeNoop(zxid, now) : state.propose(zxid, now);
        if (tag != null) {
            log.announce(zxid, tag);
            proposal.setAuthinfo(List.of(new Id(SCHEME, tag.encode())));
        }
        View view = state.view();
        if (view != null && view.seal() == zxid) {
            log.announceSeal(view);
            proposal.setAuthinfo(
                    List.of(
                            new Id(SCHEME, state.tag().encode()),
                            new Id(VIEW_SCHEME, view.encode())));
            LOG.info("Sealed the view of servers {} at {}", view.members(), Zxid.toString(zxid));
        }
        log.proposed(zxid, proposal.getData());
        acks.proposed(zxid, now);
    }

    /**
     * R7: slow while a reconfiguration is pending; and the voters are always those of the current
     * configuration.
     */
    private void followConfiguration(long now) {
        if (state.reconfiguring()) {
            return;
        }
        QuorumVerifier current = self.getQuorumVerifier();
        QuorumVerifier newest = self.getLastSeenQuorumVerifier();
        if (current != configuration) {
            configuration = current;
            state.configured(current.getVotingMembers().keySet(), now);
        }
        if (newest != null && newest.getVersion() > current.getVersion()) {
            state.reconfigure(newest.getVotingMembers().keySet(), now);
            carryOut();
        }
    }

    /**
     * ZooKeeper asks before it proposes a reconfiguration, and refuses it by {@code
     * NewConfigNoQuorum} if the answer is no. Groups and weights have no fast quorum: what is not
     * allowed at the start is not allowed later either.
     */
    @Override
    public boolean isQuorumSynced(QuorumVerifier proposed) {
        if (!proposed.getClass().equals(QuorumMaj.class)) {
            LOG.warn(
                    "A reconfiguration is refused: saucr.enabled=true needs majority quorums;"
                            + " group.* and weight.* are not allowed with it");
            return false;
        }
        return super.isQuorumSynced(proposed);
    }

    /** An operator forbids fast mode, or allows it again. */
    synchronized void pinSlow(boolean pinned, String reason) {
        if (pinned) {
            state.pin(reason, System.nanoTime());
            carryOut();
        } else {
            state.unpin();
        }
    }

    // ---- Acks (R3, R4) ----

    /** What it commits is applied at the end of the batch, when the monitor is free. */
    @Override
    public synchronized void processAck(long sid, long zxid, SocketAddress followerAddr) {
        pipeline.counting();
        try {
            count(sid, zxid, followerAddr);
        } finally {
            pipeline.counted();
        }
    }

    private void count(long sid, long zxid, SocketAddress followerAddr) {
        FollowerConnection<SaucrLearnerHandler> connection = ownConnection();
        boolean own = sid == self.getMyId();
        if (!own && connection == null) {
            observerIsSynchronised(zxid);
            return;
        }
        readRemovals();
        if (!allowedToCommit || !state.started()) {
            return;
        }
        if ((zxid & LOW_BITS) == 0) {
            if (!own) {
                if (!connection.synced()
                        && connection.situationAware()
                        && !connection.keepsViews()) {
                    LOG.info(
                            "Server {} has a version that keeps no sealed views: it does not count"
                                    + " towards fast mode before it is upgraded",
                            sid);
                }
                if (!connection.synced()) {
                    connection.endpoint().synchronised();
                }
                state.synced(connection, System.nanoTime());
            }
            return;
        }
        if (!own) {
            connection.endpoint().acked(zxid);
        }
        traceAck(sid, zxid);
        long now = System.nanoTime();
        acks.acked(sid, zxid, now);
        commit(
                own ? state.ackedByLeader(zxid, now) : state.acked(connection, zxid, now),
                sid,
                followerAddr,
                now);
        state.settled(now);
        carryOut();
    }

    /** The one ack of an observer, that of UPTODATE, says so; it counts for nothing else. */
    private static void observerIsSynchronised(long zxid) {
        if ((zxid & LOW_BITS) == 0
                && Thread.currentThread() instanceof SaucrLearnerHandler handler
                && handler.getLearnerType() == LearnerType.OBSERVER) {
            handler.synchronised();
        }
    }

    private void traceAck(long sid, long zxid) {
        int frequency = getAckLoggingFrequency();
        if (frequency > 0 && zxid % frequency == 0) {
            Proposal proposal = outstandingProposals.get(zxid);
            if (proposal != null && proposal.request != null) {
                proposal.request.logLatency(
                        ServerMetrics.getMetrics().ACK_LATENCY, Long.toString(sid));
            }
        }
    }

    private void commit(long through, long completedBy, SocketAddress followerAddr, long now) {
        while (allowedToCommit && lastCommitted < through) {
            long zxid = lastCommitted + 1;
            for (LearnerSyncRequest sync = state.nextSyncBefore(zxid);
                    sync != null;
                    sync = state.nextSyncBefore(zxid)) {
                sendSync(sync);
            }
            Proposal proposal = outstandingProposals.get(zxid);
            tellSupporters(proposal, zxid);
            boolean reconfiguration = proposal.request.getHdr().getType() == OpCode.reconfig;
            metrics.committed(state.mode(zxid));
            acks.committed(zxid, now);
            if (watch.isSlow(proposal.request, now)) {
                watch.committed(write(proposal, zxid), completedBy, now);
            }
            if (!super.tryToCommit(proposal, zxid, followerAddr)) {
                throw new IllegalStateException(
                        "ZooKeeper does not commit 0x" + Long.toHexString(zxid));
            }
            state.committed(zxid, now);
            if (reconfiguration) {
                state.reconfigured(now);
            }
        }
    }

    private RequestWatch.Write write(Proposal proposal, long zxid) {
        Request request = proposal.request;
        return new RequestWatch.Write(
                request,
                zxid,
                request.getOwner() instanceof LearnerHandler learner ? learner.getSid() : 0,
                acks,
                state.mode(zxid),
                configuration.getVotingMembers().keySet());
    }

    /** The oldest writes that are not committed, if they are slow. */
    synchronized List<SlowRequest> waitingWrites() {
        long now = System.nanoTime();
        List<SlowRequest> result = new ArrayList<>();
        for (long zxid = lastCommitted + 1; result.size() < MOST_WAITING; zxid++) {
            Proposal proposal = outstandingProposals.get(zxid);
            if (proposal == null
                    || proposal.request == null
                    || !watch.isSlow(proposal.request, now)) {
                break;
            }
            result.add(watch.waiting(write(proposal, zxid), now));
        }
        return result;
    }

    /** The log names a write that waits while it waits: it may wait for ever. */
    private void reportWaiting(long now) {
        Proposal oldest = outstandingProposals.get(lastCommitted + 1);
        if (oldest != null
                && oldest.request != null
                && lastCommitted + 1 != reportedWaiting
                && watch.isSlow(oldest.request, now)) {
            reportedWaiting = lastCommitted + 1;
            watch.reportWaiting(watch.waiting(write(oldest, reportedWaiting), now));
        }
    }

    /**
     * ZooKeeper counts again, in the configurations that were known when the entry was proposed.
     */
    private void tellSupporters(Proposal proposal, long zxid) {
        for (QuorumVerifierAcksetPair pair : proposal.qvAcksetPairs) {
            for (Long voter : pair.getQuorumVerifier().getVotingMembers().keySet()) {
                if (state.supports(voter, zxid)) {
                    proposal.addAck(voter);
                }
            }
        }
    }

    // ---- What the state has decided ----

    /**
     * Carries out the decisions, under the monitor; what is to be closed waits in a list. Nothing
     * is done twice, even if something fails: a second answer to one sync would answer the next.
     */
    private void carryOut() {
        try {
            carryOutDecisions();
        } finally {
            decisions.clear();
        }
    }

    private void carryOutDecisions() {
        if (decisions.slowDurableNanos() > 0) {
            metrics.slowIsDurable(decisions.slowDurableNanos());
        }
        for (int i = 0; i < decisions.turns().size(); i++) {
            tell(decisions.turns().get(i));
        }
        if (decisions.drainOver() || !decisions.turns().isEmpty()) {
            // What waits for the end of a drain may be proposed now.
            pipeline.later();
        }
        if (decisions.noop()) {
            handOver.noopIsDue();
            submitNoop();
        }
        ping(decisions.greetings(), GREETING);
        ping(decisions.pings(), null);
        for (int i = 0; i < decisions.answers().size(); i++) {
            sendSync(decisions.answers().get(i));
        }
        if (decisions.question() != 0) {
            ping(decisions.asked(), List.of(new Id(SCHEME, Long.toString(decisions.question()))));
        }
        for (int i = 0; i < decisions.closings().size(); i++) {
            Closing<SaucrLearnerHandler> each = decisions.closings().get(i);
            if (each.why() != Why.ACKS_TOO_LATE) {
                // What still comes in is of a connection that is closed.
                forget(each.connection().endpoint());
            }
            closings.add(each);
        }
        if (decisions.stepDownNanos() > 0) {
            lateNanos = decisions.stepDownNanos();
        }
    }

    private void tell(Turn turn) {
        String after = Long.toHexString(turn.lastProposed());
        if (turn.mode() == Mode.FAST) {
            metrics.turnedFast(turn.reason(), turn.lastProposed(), turn.heldBackNanos());
            LOG.info("Switched to fast mode after 0x{}: {}", after, turn.reason());
        } else {
            metrics.turnedSlow(turn.reason(), turn.lastProposed());
            LOG.info("Switched to slow mode after 0x{}: {}", after, turn.reason());
        }
    }

    private void ping(List<FollowerConnection<SaucrLearnerHandler>> followers, List<Id> says) {
        for (int i = 0; i < followers.size(); i++) {
            followers
                    .get(i)
                    .endpoint()
                    .queuePacket(new QuorumPacket(PING, lastProposed, null, says));
        }
    }

    private List<Closing<SaucrLearnerHandler>> takeClosings() {
        List<Closing<SaucrLearnerHandler>> taken = List.copyOf(closings);
        closings.clear();
        return taken;
    }

    /** Closes connections. The caller holds no lock: it may take time. */
    private static void close(List<Closing<SaucrLearnerHandler>> connections) {
        for (Closing<SaucrLearnerHandler> each : connections) {
            long sid = each.connection().sid();
            switch (each.why()) {
                case REPLACED ->
                        LOG.info("Server {} has connected anew, closing its old connection", sid);
                case RESTARTED ->
                        LOG.info(
                                "Server {} has restarted, closing the connection of its earlier"
                                        + " process",
                                sid);
                case ACKS_TOO_LATE ->
                        LOG.warn(
                                "Server {} has not acknowledged for {} ms what others have:"
                                        + " closing its connection. Is its disk slow?",
                                sid,
                                TimeUnit.NANOSECONDS.toMillis(each.lateNanos()));
            }
            each.connection().endpoint().closeSocket();
        }
    }

    private void submitNoop() {
        if (zk.isRunning()) {
            zk.submitLearnerRequest(new Noop());
        }
    }

    // ---- Syncs (R22) ----

    /** In the thread that proposes, so that each sync has its place among the proposals. */
    @Override
    public synchronized void processSync(LearnerSyncRequest request) {
        if (request instanceof SaucrLeaderServer.OwnSync own) {
            own.enqueue();
        }
        state.sync(request, System.nanoTime());
        carryOut();
    }

    @Override
    public void sendSync(LearnerSyncRequest request) {
        if (request instanceof SaucrLeaderServer.OwnSync own) {
            own.answer();
        } else {
            super.sendSync(request);
        }
    }

    @Override
    public synchronized int getNumPendingSyncs() {
        return state.waitingSyncs();
    }

    private synchronized void stillFollowing(long question) {
        readRemovals();
        FollowerConnection<SaucrLearnerHandler> connection = ownConnection();
        if (connection != null) {
            state.stillFollowing(connection, question, System.nanoTime());
            carryOut();
        }
    }

    /** While a reconfiguration is under way a new leader may need either majority. */
    private boolean majority(Set<Long> sids) {
        QuorumVerifier newest = self.getLastSeenQuorumVerifier();
        return majority(self.getQuorumVerifier(), sids)
                && (newest == null || majority(newest, sids));
    }

    private static boolean majority(QuorumVerifier verifier, Set<Long> sids) {
        Set<Long> among = new HashSet<>(sids);
        among.retainAll(verifier.getVotingMembers().keySet());
        return verifier.containsQuorum(among);
    }

    // ---- Heartbeats (R9, R6) ----

    /**
     * ZooKeeper's handler asks this for every packet that it has read: any packet is a heartbeat
     * (R9).
     */
    @Override
    public int getTickOfNextAckDeadline() {
        FollowerConnection<SaucrLearnerHandler> connection = ownConnection();
        if (connection != null) {
            connection.heard(System.nanoTime());
        }
        return super.getTickOfNextAckDeadline();
    }

    /** In {@link #lead} everyone in this list is pinged next: that serves as a heartbeat (R9). */
    @Override
    public List<LearnerHandler> getLearners() {
        if (Thread.currentThread() == leading) {
            tickPings = System.nanoTime();
        }
        return super.getLearners();
    }

    private void sendHeartbeats() {
        List<Closing<SaucrLearnerHandler>> late = new ArrayList<>();
        while (!stopped) {
            long again = round(late);
            pipeline.afterRound();
            if (lateNanos > 0) {
                LOG.error(
                        "This server's log has been late for {} ms, and others' are not: stepping"
                                + " down. Is its disk slow or gone? It serves again when the disk"
                                + " does",
                        TimeUnit.NANOSECONDS.toMillis(lateNanos));
                leave("The disk of this server is late");
                return;
            }
            close(late);
            late.clear();
            long wait = again - System.nanoTime();
            if (wait > 0) {
                LockSupport.parkNanos(this, wait);
            }
        }
    }

    /** Returns when to look again, and adds the connections that are to be closed. */
    private synchronized long round(List<Closing<SaucrLearnerHandler>> late) {
        readRemovals();
        long now = System.nanoTime();
        for (FollowerConnection<SaucrLearnerHandler> each : state.connections()) {
            if (each.synced()) {
                each.looked(each.endpoint().unread(), now);
            }
        }
        excuseOwnLog(now);
        reportWaiting(now);
        long again = state.round(now, tickPings, log.diskSilence(now), zk.isRunning());
        if (state.draining()) {
            state.drain(now);
            again = state.draining() ? Math.min(again, state.drainEnds()) : again;
        }
        carryOut();
        late.addAll(takeClosings());
        return again;
    }

    /**
     * The learners learn it first, so that they elect another leader at once; then this server's
     * clients. The log comes last, and may never answer.
     */
    private void leave(String reason) {
        for (LearnerHandler handler : getLearners()) {
            handler.closeSocket();
        }
        shutdown(reason);
    }

    // ---- The end that an operator asks for (R28) ----

    /**
     * Stops proposing, waits until the next leader has everything, names it to all voters, and
     * leaves. The caller holds no lock.
     *
     * @param to the next leader, 0 to let it be chosen
     * @param limitNanos how long it may take until the next leader has everything
     * @return why this server leads on, one sentence; null if it does not
     */
    String handOver(long to, long limitNanos) {
        // Now, so that little is left to sync when everybody waits for it.
        log.flushAndMark(FlushCause.ELECTION, "handing over");
        synchronized (this) {
            readRemovals();
            if (stopped || !zk.isRunning()) {
                return "the leader does not serve";
            }
            String refusal = handOver.begin(state, to, limitNanos, System.nanoTime());
            if (refusal != null) {
                return refusal;
            }
        }
        pipeline.awaitProposals();
        Outcome outcome = lookAtHandOver();
        while (outcome == Outcome.WAIT) {
            LockSupport.parkNanos(this, HAND_OVER_LOOK_NANOS);
            outcome = lookAtHandOver();
        }
        // What waits may be proposed, or the name be sent.
        pipeline.afterRound();
        if (outcome == Outcome.GIVEN_UP) {
            return "the next leader has not acknowledged everything within "
                    + TimeUnit.NANOSECONDS.toMillis(limitNanos)
                    + " ms, or the mode had to switch; try again";
        }
        awaitDepartures();
        leave("Server " + handOver.to() + " is to lead next");
        endTerm();
        return null;
    }

    /** ZooKeeper's leader sleeps for half a tick before it notices; the others await its vote. */
    private synchronized void endTerm() {
        Thread sleeping = leading;
        if (sleeping != null) {
            sleeping.interrupt();
        }
    }

    private synchronized Outcome lookAtHandOver() {
        readRemovals();
        Outcome outcome = stopped ? Outcome.GIVEN_UP : handOver.look(state, System.nanoTime());
        if (outcome == Outcome.READY) {
            LOG.info("Handing over to server {}", handOver.to());
            peer.names(handOver.to());
            ping(
                    state.connections(),
                    List.of(new Id(SCHEME, ""), new Id(NEXT_SCHEME, Long.toString(handOver.to()))));
        }
        return outcome;
    }

    private void awaitDepartures() {
        long end = System.nanoTime() + FOLLOWERS_LEAVE_NANOS;
        while (System.nanoTime() - end < 0 && followersRemain()) {
            LockSupport.parkNanos(this, HAND_OVER_LOOK_NANOS);
        }
    }

    private synchronized boolean followersRemain() {
        readRemovals();
        // One that is still being synchronised does not read the name before its connection ends.
        return state.connections().stream().anyMatch(FollowerConnection::synced);
    }

    // ---- What others may know ----

    private synchronized Mode mode() {
        return state.mode();
    }

    private synchronized List<VoterView> followersNow() {
        long now = System.nanoTime();
        List<VoterView> views = new ArrayList<>();
        for (FollowerConnection<SaucrLearnerHandler> each : state.connections()) {
            views.add(
                    new VoterView(
                            each.sid(),
                            state.voter(each.sid()),
                            each.situationAware(),
                            each.synced(),
                            each.keepsViews(),
                            state.inView(each),
                            state.counts(each),
                            state.answersInTime(each, now),
                            state.heard(each, now),
                            TimeUnit.NANOSECONDS.toMillis(each.silentNanos(now))));
        }
        return views;
    }

    private synchronized int promptVotersNow() {
        return state.promptVoters(System.nanoTime());
    }
}
