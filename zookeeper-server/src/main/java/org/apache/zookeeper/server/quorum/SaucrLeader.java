package org.apache.zookeeper.server.quorum;

import io.saucr.core.AckProgress;
import io.saucr.core.CommitRule;
import io.saucr.core.FailureDetector;
import io.saucr.core.IncarnationFence;
import io.saucr.core.Mode;
import io.saucr.core.ModeController;
import io.saucr.core.ModeController.Decision;
import io.saucr.core.ModeController.Pin;
import io.saucr.core.ProposalTag;
import io.saucr.core.Quorums;
import io.saucr.core.ReadIndex;
import io.saucr.core.ReplicationSet;
import io.saucr.server.CriticalThread;
import io.saucr.server.FlushCause;
import io.saucr.server.ReplicationMetrics;
import io.saucr.server.SaucrSettings;
import io.saucr.server.VoterView;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.zookeeper.DeleteContainerRequest;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;
import org.apache.zookeeper.server.quorum.QuorumPeer.LearnerType;
import org.apache.zookeeper.server.quorum.SyncedLearnerTracker.QuorumVerifierAcksetPair;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A leader that replicates situation-aware: it tags proposals (R1, R2), counts acks per connection
 * (R3, R4, R21), chooses the mode (R5 to R7), watches its followers (R9) and everybody's acks
 * (R24), and answers syncs (R22).
 *
 * <p>Everything that decides is guarded by this leader's monitor, the lock that ZooKeeper's own
 * leader proposes and counts acks under. Learners are removed by threads that must not wait for it;
 * they leave a note in {@code removed}, which is read first thing whenever the lock is taken.
 */
final class SaucrLeader extends Leader {
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

    /** Tells a follower that its leader sends heartbeats, before the first proposal does. */
    private static final List<Id> HEARTBEAT_INFO = List.of(new Id(SCHEME, ""));

    /**
     * No node ever has this path, so its deletion as a container changes nothing: the no-op of R5
     * and R6.
     */
    private static final String NOOP_PATH = "/zookeeper/saucr-noop";

    /** However long the heartbeat interval is, clients wait no longer for a drain. */
    private static final long LONGEST_DRAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LOW_BITS = 0xffffffffL;

    private final SaucrQuorumPeer peer;
    private final SaucrTxnLog log;
    private final ReplicationMetrics metrics;
    private final FailureDetector detector;
    private final long confirmationNanos;
    private final long diskTimeoutNanos;
    private final Thread heartbeats;
    private volatile boolean stopped;

    /** The thread in {@link #lead}. */
    private volatile Thread leading;

    /** When ZooKeeper's own loop last pinged everyone, which it does twice a tick. */
    private volatile long tickPings = System.nanoTime();

    private final ConcurrentHashMap<LearnerHandler, Link> links = new ConcurrentHashMap<>();
    private final Queue<LearnerHandler> removed = new ConcurrentLinkedQueue<>();

    // Guarded by this.
    private LearnerHandler[] forwarding = new LearnerHandler[0];
    private final CommitRule rule;
    private final IncarnationFence fence = new IncarnationFence();
    private final ModeController controller;
    private QuorumVerifier configuration;
    private List<Long> voters;
    private ReplicationSet set;
    private ProposalTag tag;
    private final ReadIndex<LearnerSyncRequest> syncs;
    private long lastQuestion;
    private long lastConfirmation;
    private long lastBroadcast;

    // R24: who acks in time, this server's own log among them; how long entries wait.
    private final AckProgress progress;
    private final AckProgress.Peer own;
    private final AckProgress.Peer commits;

    /** Since when this server's own disk has been late; 0 if it is in time. */
    private long ownDiskLateSince;

    /** When the heartbeat thread meant to look again, or what was made up for since (H11). */
    private long awakeThrough = System.nanoTime();

    // The heartbeat thread.
    private boolean steppingDown;
    private final List<LearnerHandler> hopeless = new ArrayList<>();

    // For the metrics, 0 for none: when the drain that is under way began; when the mode turned to
    // slow, until that is durable; the last fast entry before it.
    private long drainStarted;
    private long slowSince;
    private long lastFast;

    /** One connection of a follower. */
    private static final class Link {
        final LearnerHandler handler;
        final long sid;
        final long connection;
        final boolean situationAware;

        /** When a packet last came in; written by the handler's thread. */
        volatile long heard = System.nanoTime();

        /** Whether the follower has everything up to UPTODATE and may count as prompt (H5). */
        boolean synced;

        boolean joined;
        boolean toldOfHeartbeats;
        long pinged = heard;

        /** Whether its acks come in time (R24); null before it is synced, and of Apache's. */
        AckProgress.Peer acks;

        Link(LearnerHandler handler, long connection, boolean situationAware) {
            this.handler = handler;
            this.sid = handler.getSid();
            this.connection = connection;
            this.situationAware = situationAware;
        }

        boolean acksInTime(long now) {
            return acks == null || acks.inTime(now);
        }
    }

    SaucrLeader(
            SaucrQuorumPeer self,
            LeaderZooKeeperServer zk,
            SaucrTxnLog log,
            SaucrSettings settings,
            ReplicationMetrics metrics)
            throws IOException {
        super(self, zk);
        this.peer = self;
        this.log = log;
        this.metrics = metrics;
        this.detector =
                new FailureDetector(
                        settings.heartbeatInterval().toNanos(), settings.tolerance().toNanos());
        this.confirmationNanos = Math.min(detector.intervalNanos(), detector.toleranceNanos());
        this.configuration = self.getQuorumVerifier();
        this.voters = List.copyOf(configuration.getVotingMembers().keySet());
        this.rule = new CommitRule(self.getMyId(), voters);
        this.syncs = new ReadIndex<>(self.getMyId());
        this.diskTimeoutNanos = settings.diskTimeout().toNanos();
        this.progress = new AckProgress(detector.ackBoundNanos());
        this.own = progress.add();
        this.commits = progress.add();
        this.controller =
                new ModeController(
                        voters.size(),
                        settings.fastModeConfirmations(),
                        Math.min(detector.ackBoundNanos(), LONGEST_DRAIN_NANOS),
                        confirmationNanos);
        this.heartbeats =
                new CriticalThread(
                        "SaucrHeartbeats:" + self.getMyId(), this::sendHeartbeats, () -> stopped);
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
        }
    }

    @Override
    void shutdown(String reason) {
        stopHeartbeats();
        peer.holdVotes();
        try {
            super.shutdown(reason);
            // R10. If the disk hangs, here is where this server waits: it serves nobody any more,
            // and holds no lock that a status needs.
            log.flushAndMark(FlushCause.ELECTION, "looking for a leader");
        } finally {
            peer.releaseVotes();
        }
    }

    private void stopHeartbeats() {
        stopped = true;
        metrics.notLeading();
        LockSupport.unpark(heartbeats);
    }

    // ---- Followers come and go (R2, R21) ----

    @Override
    public long getEpochToPropose(long sid, long lastAcceptedEpoch)
            throws InterruptedException, IOException {
        if (Thread.currentThread() instanceof LearnerHandler handler
                && handler.getLearnerType() == LearnerType.PARTICIPANT) {
            for (LearnerHandler old : accept(handler)) {
                LOG.info("Server {} has connected anew, closing its old connection", sid);
                old.closeSocket();
            }
        }
        return super.getEpochToPropose(sid, lastAcceptedEpoch);
    }

    /** R21: one live connection per server. Returns those that the new one replaces. */
    private synchronized List<LearnerHandler> accept(LearnerHandler handler) {
        readRemovals();
        List<LearnerHandler> replaced = new ArrayList<>();
        for (Link link : links.values()) {
            if (link.sid == handler.getSid() && link.handler != handler) {
                replaced.add(link.handler);
            }
        }
        replaced.forEach(this::forget);
        boolean situationAware = Incarnation.announcedBy(handler.getVersion());
        long connection = rule.connect(handler.getSid(), situationAware);
        fence.connected(
                handler.getSid(),
                connection,
                situationAware ? Incarnation.of(handler.getVersion()) : IncarnationFence.UNKNOWN);
        links.put(handler, new Link(handler, connection, situationAware));
        return replaced;
    }

    @Override
    public synchronized long startForwarding(LearnerHandler handler, long lastSeenZxid) {
        readRemovals();
        startEpoch();
        Link link = links.get(handler);
        if (link != null && !rule.voter(link.sid) && !set.admits(link.sid)) {
            throw new IllegalStateException(
                    "Server "
                            + link.sid
                            + " is in no configuration, and more such servers have been here than"
                            + " can be remembered");
        }
        long result = super.startForwarding(handler, lastSeenZxid);
        if (link != null) {
            if (link.situationAware) {
                // Before UPTODATE: whoever has not got it by then follows a leader without SAUCR.
                handler.queuePacket(new QuorumPacket(PING, lastProposed, null, HEARTBEAT_INFO));
                link.toldOfHeartbeats = true;
            }
            forwarding = Arrays.copyOf(forwarding, forwarding.length + 1);
            forwarding[forwarding.length - 1] = handler;
            link.joined = true;
            set.join(link.sid);
            // The next proposal says it to everyone, the newcomer too.
            tag = null;
        }
        return result;
    }

    @Override
    public void removeLearnerHandler(LearnerHandler peer) {
        super.removeLearnerHandler(peer);
        removed.add(peer);
        LockSupport.unpark(heartbeats);
    }

    private void readRemovals() {
        for (LearnerHandler gone = removed.poll(); gone != null; gone = removed.poll()) {
            forget(gone);
        }
    }

    private void forget(LearnerHandler handler) {
        Link link = links.remove(handler);
        if (link == null) {
            return;
        }
        fence.disconnected(link.sid, link.connection);
        progress.remove(link.acks);
        boolean stuck = rule.disconnect(link.sid, link.connection);
        if (link.joined) {
            forwarding =
                    Arrays.stream(forwarding)
                            .filter(each -> each != handler)
                            .toArray(LearnerHandler[]::new);
            set.leave(link.sid);
        }
        if (stuck) {
            act(controller.stuck(), "an entry lost an acker that it needs, server " + link.sid);
        }
        if (promptVoters(System.nanoTime()) <= bareMajority()) {
            act(
                    controller.tooFewPrompt(System.nanoTime()),
                    "the connection of server " + link.sid + " is gone");
        }
    }

    private void startEpoch() {
        if (set == null) {
            rule.startEpoch(lastProposed);
            progress.startEpoch(lastProposed, System.nanoTime());
            set = new ReplicationSet(self.getMyId(), log.lleMap(), lastProposed);
        }
    }

    // ---- Fencing (R20) ----

    /** A follower's notice comes in as a request, in the order of its acks. */
    @Override
    public void submitLearnerRequest(Request request) {
        switch (request.type) {
            case RESTART_NOTICE -> restarted(request.sessionId, request.cxid);
            case STILL_FOLLOWING -> stillFollowing(request.sessionId);
            default -> super.submitLearnerRequest(request);
        }
    }

    /**
     * The server recovers as process {@code nonce}: what an earlier one acked must not count any
     * more.
     */
    void restarted(long sid, long nonce) {
        LearnerHandler dropped = fence(sid, nonce);
        if (dropped != null) {
            LOG.info("Server {} has restarted, closing the connection of its earlier process", sid);
            dropped.closeSocket();
        }
    }

    private synchronized LearnerHandler fence(long sid, long nonce) {
        readRemovals();
        OptionalLong stale = fence.restarted(sid, nonce);
        for (Link link : links.values()) {
            if (link.sid == sid) {
                if (stale.isEmpty()) {
                    return null;
                }
                // In this order: the one that takes the connection away learns what is stuck (R6).
                forget(link.handler);
                rule.restarted(sid);
                return link.handler;
            }
        }
        rule.restarted(sid);
        return null;
    }

    // ---- Proposals (R1, R2, R7) ----

    @Override
    public Proposal propose(Request request) throws XidRolloverException {
        awaitDrain();
        return super.propose(request);
    }

    /** While slow entries drain, the next proposal waits for the mode that it will have. */
    private synchronized void awaitDrain() {
        while (controller.draining() && !stopped) {
            long now = System.nanoTime();
            act(
                    controller.drain(rule.lastSlowOnFastQuorumOfDisks(), now),
                    "the last slow entry is on disk");
            if (controller.draining()) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(
                            this, Math.max(100_000, controller.drainEnds() - now));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }

    @Override
    void sendPacket(QuorumPacket packet) {
        synchronized (this) {
            long now = System.nanoTime();
            if (packet.getType() == PROPOSAL) {
                tag(packet, now);
            }
            for (LearnerHandler handler : forwarding) {
                handler.queuePacket(packet);
            }
            lastBroadcast = now;
        }
    }

    /**
     * R1: the tag goes with the first proposal that it is true of; those that follow without one
     * mean the same.
     */
    @SuppressWarnings("ReferenceEquality") // the same tag object means the same bytes
    private void tag(QuorumPacket proposal, long now) {
        readRemovals();
        startEpoch();
        followConfiguration();
        long zxid = proposal.getZxid();
        Mode mode = controller.mode();
        ProposalTag next = set.propose(zxid, mode);
        rule.propose(zxid, mode);
        progress.proposed(zxid, now);
        if (next != tag) {
            tag = next;
            log.announce(zxid, next);
            proposal.setAuthinfo(List.of(new Id(SCHEME, next.encode())));
        }
        log.proposed(zxid, proposal.getData());
    }

    /**
     * R7: slow while a reconfiguration is pending; and the voters are always those of the current
     * configuration.
     */
    private void followConfiguration() {
        QuorumVerifier current = self.getQuorumVerifier();
        QuorumVerifier newest = self.getLastSeenQuorumVerifier();
        if (!rule.reconfiguring()) {
            if (current != configuration) {
                configuration = current;
                voters = List.copyOf(current.getVotingMembers().keySet());
                rule.voters(voters);
                controller.voters(voters.size());
            }
            if (newest != null && newest.getVersion() > current.getVersion()) {
                act(controller.pin(Pin.RECONFIGURATION), "a reconfiguration is proposed");
                rule.reconfigure(newest.getVotingMembers().keySet());
            }
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
            act(controller.pin(Pin.OPERATOR), reason);
            notifyAll();
        } else {
            controller.unpin(Pin.OPERATOR);
        }
    }

    // ---- Acks (R3, R4) ----

    @Override
    public synchronized void processAck(long sid, long zxid, SocketAddress followerAddr) {
        Link link = null;
        if (sid != self.getMyId()) {
            link =
                    Thread.currentThread() instanceof LearnerHandler handler
                            ? links.get(handler)
                            : null;
            if (link == null) {
                return;
            }
        }
        readRemovals();
        if (!allowedToCommit || set == null) {
            return;
        }
        if ((zxid & LOW_BITS) == 0) {
            if (link != null && !link.synced) {
                link.synced = true;
                if (link.situationAware) {
                    link.acks = progress.add();
                }
                // H5: what it was sent before UPTODATE it took for slow, so that its markers do
                // not say "fast" and its map on disk may lack what these entries taught it.
                rule.join(sid, link.connection);
            }
            return;
        }
        traceAck(sid, zxid);
        long now = System.nanoTime();
        excuseSleep(now);
        AckProgress.Peer acker = link == null ? own : link.acks;
        if (acker != null) {
            acker.acked(zxid, now);
        }
        rule.ack(sid, link == null ? CommitRule.SELF : link.connection, zxid);
        commit(followerAddr);
        commits.acked(lastCommitted, now);
        if (syncs.size() > 0) {
            // Their answers may have come before the commit.
            answerSyncs();
        }
        considerFastMode(now);
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

    private void commit(SocketAddress followerAddr) {
        long through = rule.committableThrough();
        while (allowedToCommit && lastCommitted < through) {
            long zxid = lastCommitted + 1;
            answer(() -> syncs.nextBefore(zxid));
            Proposal proposal = outstandingProposals.get(zxid);
            tellSupporters(proposal, zxid);
            boolean reconfiguration = proposal.request.getHdr().getType() == OpCode.reconfig;
            metrics.committed(rule.mode(zxid));
            if (!super.tryToCommit(proposal, zxid, followerAddr)) {
                throw new IllegalStateException(
                        "ZooKeeper does not commit 0x" + Long.toHexString(zxid));
            }
            rule.committed(zxid);
            if (slowSince != 0 && zxid > lastFast) {
                metrics.slowIsDurable(System.nanoTime() - slowSince);
                slowSince = 0;
            }
            if (reconfiguration) {
                rule.activate();
                controller.unpin(Pin.RECONFIGURATION);
            }
        }
    }

    /**
     * ZooKeeper counts again, in the configurations that were known when the entry was proposed.
     */
    private void tellSupporters(Proposal proposal, long zxid) {
        for (QuorumVerifierAcksetPair pair : proposal.qvAcksetPairs) {
            for (Long voter : pair.getQuorumVerifier().getVotingMembers().keySet()) {
                if (rule.supports(voter, zxid)) {
                    proposal.addAck(voter);
                }
            }
        }
    }

    /** In slow mode every ack may be the one that shows that fast mode is safe (R5). */
    private void considerFastMode(long now) {
        if (controller.mode() == Mode.FAST) {
            return;
        }
        if (controller.draining()) {
            act(
                    controller.drain(rule.lastSlowOnFastQuorumOfDisks(), now),
                    "the last slow entry is on disk");
            if (!controller.draining()) {
                notifyAll();
            }
        } else if (now - lastConfirmation >= confirmationNanos) {
            confirm(now);
        }
    }

    private void confirm(long now) {
        lastConfirmation = now;
        // R5 needs the leader's own disk, too.
        int prompt = own.inTime(now) ? promptVoters(now) : 0;
        boolean onDisks = rule.lastSlowOnFastQuorumOfDisks();
        boolean inFlight = !rule.slowEntriesCommitted();
        boolean nearlyOnDisks = rule.onFastQuorumOfDisks(progress.recent());
        act(
                controller.promptness(prompt, onDisks, inFlight, nearlyOnDisks, now),
                prompt + " of " + voters.size() + " voters are prompt");
    }

    private void act(Decision decision, String reason) {
        long now = System.nanoTime();
        switch (decision) {
            case NONE -> {}
            case TURN_FAST -> {
                metrics.turnedFast(
                        reason, lastProposed, drainStarted == 0 ? 0 : now - drainStarted);
                LOG.info(
                        "Turned to fast mode after 0x{}: {}",
                        Long.toHexString(lastProposed),
                        reason);
            }
            case TURN_SLOW -> {
                metrics.turnedSlow(reason, lastProposed);
                slowSince = now;
                lastFast = lastProposed;
                LOG.info(
                        "Turned to slow mode after 0x{}: {}",
                        Long.toHexString(lastProposed),
                        reason);
                submitNoop();
            }
            case PROPOSE_NOOP -> submitNoop();
        }
        boolean drainEnded = drainStarted != 0 && !controller.draining();
        if (drainEnded) {
            drainStarted = 0;
        } else if (controller.draining() && drainStarted == 0) {
            drainStarted = now;
        }
        if (drainEnded || decision != Decision.NONE) {
            // Whoever waits for a drain looks again.
            notifyAll();
        }
    }

    private void submitNoop() {
        if (zk.isRunning()) {
            zk.submitLearnerRequest(
                    new Request(
                            null,
                            0,
                            0,
                            OpCode.deleteContainer,
                            RequestRecord.fromRecord(new DeleteContainerRequest(NOOP_PATH)),
                            null));
        }
    }

    // ---- Syncs (R22) ----

    /** In the thread that proposes, so that each sync has its place among the proposals. */
    @Override
    public synchronized void processSync(LearnerSyncRequest request) {
        if (request instanceof SaucrLeaderServer.OwnSync own) {
            own.enqueue();
        }
        syncs.add(request, lastProposed);
        answerSyncs();
    }

    private void answerSyncs() {
        answer(() -> syncs.next(lastCommitted, this::majority));
        if (syncs.questionDue()) {
            askWhoFollows();
        }
    }

    private void answer(Supplier<LearnerSyncRequest> next) {
        for (LearnerSyncRequest sync = next.get(); sync != null; sync = next.get()) {
            sendSync(sync);
        }
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
        return syncs.size();
    }

    private void askWhoFollows() {
        QuorumPacket question =
                new QuorumPacket(
                        PING,
                        lastProposed,
                        null,
                        List.of(new Id(SCHEME, Long.toString(syncs.ask()))));
        lastQuestion = System.nanoTime();
        for (Link link : links.values()) {
            if (link.synced && link.situationAware && rule.voter(link.sid)) {
                link.handler.queuePacket(question);
                link.toldOfHeartbeats = true;
                link.pinged = lastQuestion;
            }
        }
    }

    private synchronized void stillFollowing(long question) {
        readRemovals();
        Link link =
                Thread.currentThread() instanceof LearnerHandler handler
                        ? links.get(handler)
                        : null;
        if (link != null && rule.voter(link.sid)) {
            syncs.answered(link.sid, question);
            answerSyncs();
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

    /**
     * An answer may be lost with its connection, and servers without SAUCR give none: another
     * question, and an entry whose acks say the same.
     */
    private void askAgain(long now) {
        if (now - lastQuestion >= detector.intervalNanos() && syncs.size() > 0) {
            askWhoFollows();
            if (syncs.needsAnswers(lastProposed)) {
                submitNoop();
            }
        }
    }

    // ---- Heartbeats (R9, R6) ----

    /**
     * ZooKeeper's handler asks this for every packet that it has read: any packet is a heartbeat
     * (R9).
     */
    @Override
    public int getTickOfNextAckDeadline() {
        if (Thread.currentThread() instanceof LearnerHandler handler) {
            Link link = links.get(handler);
            if (link != null) {
                link.heard = System.nanoTime();
            }
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
        long planned = System.nanoTime();
        while (!stopped) {
            planned = round(planned);
            if (steppingDown) {
                leave();
                return;
            }
            hopeless.forEach(LearnerHandler::closeSocket);
            hopeless.clear();
            long wait = planned - System.nanoTime();
            if (wait > 0) {
                LockSupport.parkNanos(this, wait);
            }
        }
    }

    /** Pings who is due, looks at who is silent, and returns when to look again. */
    private synchronized long round(long planned) {
        readRemovals();
        long now = System.nanoTime();
        boolean overslept = detector.overslept(planned, now);
        excuseSleep(now);
        long next = now + detector.intervalNanos();
        for (Link link : links.values()) {
            if (!link.synced) {
                continue;
            }
            if (overslept) {
                // H11: nobody could be heard meanwhile; each has one tolerance to answer.
                link.heard = detector.heardBeforeSleep(link.heard, now);
            }
            if (link.toldOfHeartbeats) {
                link.pinged = Math.max(link.pinged, tickPings);
            }
            long sent = Math.max(lastBroadcast, link.pinged);
            if (detector.pingDue(link.heard, sent, link.pinged, now)) {
                link.pinged = now;
                sent = now;
                link.handler.queuePacket(
                        new QuorumPacket(
                                PING,
                                lastProposed,
                                null,
                                link.toldOfHeartbeats ? null : HEARTBEAT_INFO));
                link.toldOfHeartbeats = true;
            }
            next = Math.min(next, detector.pingAt(link.heard, sent, link.pinged));
            if (!detector.suspected(link.heard, now)) {
                next = Math.min(next, detector.suspectedAt(link.heard));
            }
        }
        if (set == null || !zk.isRunning()) {
            return now + detector.intervalNanos();
        }
        askAgain(now);
        chooseMode(now);
        closeHopeless(now);
        considerSteppingDown(now);
        long again = Math.max(next, now + detector.intervalNanos() / 8);
        awakeThrough = again;
        return again;
    }

    /** H11: while the whole process stood still, nobody's acks were late. */
    private void excuseSleep(long now) {
        if (detector.overslept(awakeThrough, now)) {
            progress.stoodStill(now - awakeThrough, now);
            awakeThrough = now;
        }
    }

    // ---- Acks in time (R24) ----

    private void chooseMode(long now) {
        int prompt = promptVoters(now);
        String reason = prompt + " of " + voters.size() + " voters are prompt";
        boolean late = prompt <= bareMajority() && heardVoters(now) > bareMajority();
        if (controller.mode() == Mode.FAST) {
            if (commits.owedFor(now) > detector.ackBoundNanos()) {
                act(
                        controller.overdue(now),
                        "an entry has waited for "
                                + TimeUnit.NANOSECONDS.toMillis(commits.owedFor(now))
                                + " ms");
            } else if (late) {
                act(controller.overdue(now), "only " + reason + ", others acknowledge too late");
            } else if (prompt <= bareMajority()) {
                act(controller.tooFewPrompt(now), "only " + reason);
            }
            return;
        }
        if (prompt <= bareMajority()) {
            act(controller.tooFewPrompt(now), "only " + reason);
        } else if (now - lastConfirmation >= confirmationNanos) {
            confirm(now);
        }
        if ((late || own.lateAndIdle()) && somebodyIsLateAndIdle()) {
            act(controller.probe(now), reason);
        }
    }

    private boolean somebodyIsLateAndIdle() {
        if (own.lateAndIdle()) {
            return true;
        }
        for (Link link : links.values()) {
            if (link.acks != null && link.acks.lateAndIdle()) {
                return true;
            }
        }
        return false;
    }

    /**
     * What a follower has not logged fills its memory. Others commit without it, so it is sent away
     * until it has done what it has.
     */
    private void closeHopeless(long now) {
        for (Link link : links.values()) {
            if (link.acks != null
                    && link.acks.owedFor(now) > diskTimeoutNanos
                    && commits.owedFor(now) <= detector.ackBoundNanos()) {
                LOG.warn(
                        "Server {} has not acknowledged for {} ms what others have: closing its"
                                + " connection. Is its disk slow?",
                        link.sid,
                        TimeUnit.NANOSECONDS.toMillis(link.acks.owedFor(now)));
                hopeless.add(link.handler);
            }
        }
    }

    /** Only for others who can do without this server: else nobody would lead, or serve reads. */
    private void considerSteppingDown(long now) {
        long silence = log.diskSilence(now);
        if (controller.mode() == Mode.FAST && silence > diskTimeoutNanos) {
            // Slow entries show whose disks answer.
            act(
                    controller.overdue(now),
                    "the leader's disk has not answered for "
                            + TimeUnit.NANOSECONDS.toMillis(silence)
                            + " ms");
        }
        if (own.inTime(now)) {
            ownDiskLateSince = 0;
            return;
        }
        if (ownDiskLateSince == 0) {
            ownDiskLateSince = now - Math.max(own.owedFor(now), silence);
        }
        if (now - ownDiskLateSince < diskTimeoutNanos || othersOnDisk(now) < bareMajority()) {
            return;
        }
        steppingDown = true;
        LOG.error(
                "This server's log has been late for {} ms, and others' are not: stepping down. Is"
                        + " its disk slow or gone? It serves again when the disk does",
                TimeUnit.NANOSECONDS.toMillis(now - ownDiskLateSince));
    }

    private int othersOnDisk(long now) {
        int count = 0;
        for (Link link : links.values()) {
            if (link.synced
                    && rule.voter(link.sid)
                    && heard(link, now)
                    && link.acksInTime(now)
                    && rule.durableThrough(link.sid) >= progress.recent()) {
                count++;
            }
        }
        return count;
    }

    /**
     * The followers learn it first, so that they elect another leader at once; then this server's
     * clients. The log comes last, and may never answer.
     */
    private void leave() {
        for (LearnerHandler handler : links.keySet()) {
            handler.closeSocket();
        }
        shutdown("The disk of this server is late");
    }

    private boolean heard(Link link, long now) {
        return !detector.suspected(link.heard, now);
    }

    /** Voters whose acks count towards F and who answer heartbeats, in time or not. */
    private int heardVoters(long now) {
        int count = rule.voter(self.getMyId()) ? 1 : 0;
        for (Link link : links.values()) {
            if (link.synced && link.situationAware && rule.voter(link.sid) && heard(link, now)) {
                count++;
            }
        }
        return count;
    }

    /** Of them, those whose acks come in time. */
    private int promptVoters(long now) {
        int count = rule.voter(self.getMyId()) && own.inTime(now) ? 1 : 0;
        for (Link link : links.values()) {
            if (link.synced
                    && link.situationAware
                    && rule.voter(link.sid)
                    && heard(link, now)
                    && link.acksInTime(now)) {
                count++;
            }
        }
        return count;
    }

    private int bareMajority() {
        return Quorums.bareMajority(voters.size());
    }

    // ---- What others may know ----

    private synchronized Mode mode() {
        return controller.mode();
    }

    private synchronized List<VoterView> followersNow() {
        long now = System.nanoTime();
        List<VoterView> views = new ArrayList<>();
        for (Link link : links.values()) {
            views.add(
                    new VoterView(
                            link.sid,
                            rule.voter(link.sid),
                            link.situationAware,
                            link.synced,
                            heard(link, now) && link.acksInTime(now),
                            TimeUnit.NANOSECONDS.toMillis(now - link.heard)));
        }
        return views;
    }

    private synchronized int promptVotersNow() {
        return promptVoters(System.nanoTime());
    }
}
