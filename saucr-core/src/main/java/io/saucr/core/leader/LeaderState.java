package io.saucr.core.leader;

import io.saucr.core.Mode;
import io.saucr.core.leader.LeaderDecisions.Closing;
import io.saucr.core.leader.LeaderDecisions.Turn;
import io.saucr.core.leader.LeaderDecisions.Why;
import io.saucr.core.leader.ModeController.Decision;
import io.saucr.core.leader.ModeController.Pin;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.CommitRule;
import io.saucr.core.quorum.Quorums;
import io.saucr.core.quorum.View;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;

/**
 * All that a leader decides in its epoch; the shell around it has the packets, the threads and the
 * clock, and the model checker and the simulator stand in the shell's place. Owns who is connected
 * (R21, R2), the acks that count ({@link CommitRule}: R3, R4), the mode with its pins and its drain
 * ({@link ModeController}: R5 to R7), when a view is sealed (R23), who is alive ({@link
 * FailureDetector}: R9, H11) and who acks in time ({@link AckProgress}: R24), which process is
 * behind a connection ({@link IncarnationFence}: R20), and the syncs that wait ({@link ReadIndex}:
 * R22).
 *
 * <p>Guarantees to the shell: a proposal is fast only while more than a bare majority of voters
 * answers and acks in time, all of whom are members of the newest sealed view (R23), so none of
 * them is without SAUCR (H12) or still synchronising (H5), while no pin is set, and after F disks
 * had everything before; whatever takes that away is followed by a no-op that makes it durable.
 *
 * <table>
 * <caption>Events, and what may come of them</caption>
 * <tr><th>event</th><th>decisions</th></tr>
 * <tr><td>{@link #connected}</td><td>close the earlier connection, turn slow</td></tr>
 * <tr><td>{@link #forwarded}</td><td>greet</td></tr>
 * <tr><td>{@link #disconnected}</td><td>turn slow</td></tr>
 * <tr><td>{@link #restarted}</td><td>close the earlier process's connection, turn slow</td></tr>
 * <tr><td>{@link #reconfigure}, {@link #pin}</td><td>turn slow</td></tr>
 * <tr><td>{@link #propose}, {@link #proposeNoop}</td><td>the tag that goes with it, or none; a
 * view that a no-op seals</td></tr>
 * <tr><td>{@link #handedToLog}, {@link #logWaited}</td><td>none</td></tr>
 * <tr><td>{@link #acked}, {@link #ackedByLeader}</td><td>commit through a zxid</td></tr>
 * <tr><td>{@link #committed}</td><td>slow is durable</td></tr>
 * <tr><td>{@link #settled}</td><td>answer syncs, ask, turn fast, a no-op</td></tr>
 * <tr><td>{@link #drain}</td><td>turn fast, the drain is over</td></tr>
 * <tr><td>{@link #sync}, {@link #stillFollowing}</td><td>answer syncs, ask</td></tr>
 * <tr><td>{@link #round}</td><td>ping, ask, turn, a no-op, close, step down</td></tr>
 * </table>
 *
 * <p>What comes of an event is in {@link #decisions()} when the method returns, unless the method
 * returns it. Not thread-safe: owned by the leader's lock, but for {@link
 * FollowerConnection#heard}. Times are monotonic nanoseconds. Nothing is allocated for a proposal
 * or an ack.
 *
 * @param <C> what the leader's shell reads and writes
 * @param <S> a sync
 */
public final class LeaderState<C, S> {
    private final long self;
    private final FailureDetector detector;
    private final long confirmationNanos;
    private final long diskTimeoutNanos;
    private final CommitRule rule;
    private final ModeController controller;
    private final ReadIndex<S> syncs;
    private final Predicate<Set<Long>> majority;
    private final IncarnationFence fence = new IncarnationFence();
    private final LeaderDecisions<C, S> decisions = new LeaderDecisions<>();

    private final List<FollowerConnection<C>> connections = new ArrayList<>();
    private final List<FollowerConnection<C>> forwarding = new ArrayList<>();
    private ReplicationSet set;
    private ProposalTag tag;
    private long lastProposed;
    private long lastCommitted;
    private int voters;

    // R24: who acks in time, this server's own log included, and how long entries wait to commit.
    private final AckProgress progress;
    private final AckProgress.Peer own;
    private final AckProgress.Peer commits;

    private final Heartbeats<C> heartbeats;
    private final ViewSealing views;

    private long lastQuestion;
    private long lastConfirmation;

    private boolean ownDiskLate;
    private long ownDiskLateSince;

    private boolean draining;
    private long drainStarted;

    // When the mode turned to slow, until that is durable; the last fast entry before it.
    private boolean slowNotDurable;
    private long slowSince;
    private long lastFast;

    /**
     * The leader is elected; its epoch is not known yet.
     *
     * @param self the leader's sid
     * @param diskTimeoutNanos how long a log may be late before its server is left out (R24)
     * @param settledNanos for how long the voters that are sent to must have stayed the same before
     *     fast mode is left for the seal of their view (R23); 0 lets no seal wait for anything
     * @param rule of this leader's epoch, which has not started
     * @param controller for as many voters
     * @param majority whether these servers include a majority of the voters, of both
     *     configurations while one replaces the other; non-voters do not count (R22)
     */
    public LeaderState(
            long self,
            FailureDetector detector,
            long diskTimeoutNanos,
            long settledNanos,
            CommitRule rule,
            ModeController controller,
            ReadIndex<S> syncs,
            Predicate<Set<Long>> majority,
            long now) {
        this.self = self;
        this.detector = detector;
        this.confirmationNanos = confirmationNanos(detector);
        this.diskTimeoutNanos = diskTimeoutNanos;
        this.rule = rule;
        this.controller = controller;
        this.syncs = syncs;
        this.majority = majority;
        this.voters = rule.voters();
        this.progress = new AckProgress(detector.ackBoundNanos());
        this.own = progress.addOwnLog();
        this.commits = progress.add();
        this.heartbeats = new Heartbeats<>(detector, rule, progress, connections, decisions, now);
        this.views = new ViewSealing(rule, detector, confirmationNanos, settledNanos, now);
        this.lastQuestion = now;
        this.lastConfirmation = now;
    }

    /** How often promptness is looked at, and the first backoff of fast mode. */
    public static long confirmationNanos(FailureDetector detector) {
        return Math.min(detector.intervalNanos(), detector.toleranceNanos());
    }

    /** What has to be done since it was last cleared. */
    public LeaderDecisions<C, S> decisions() {
        return decisions;
    }

    // ---- Followers come and go (R2, R21) ----

    /**
     * The epoch is known. Connections may be older than that, proposals not.
     *
     * @param newSet the leader alone
     * @param zxid the zxid before the epoch's first proposal
     */
    public void startEpoch(ReplicationSet newSet, long zxid, long now) {
        rule.startEpoch(zxid);
        progress.startEpoch(zxid, now);
        set = newSet;
        lastProposed = zxid;
        lastCommitted = zxid;
    }

    /** Whether the epoch is known. */
    public boolean started() {
        return set != null;
    }

    /**
     * A follower's connection is accepted; it replaces an earlier one (R21).
     *
     * @param situationAware whether it announced SAUCR (H12)
     * @param nonce of its process, {@link IncarnationFence#UNKNOWN} if it announced none (R20)
     */
    public FollowerConnection<C> connected(
            C endpoint, long sid, boolean situationAware, long nonce, long now) {
        FollowerConnection<C> earlier = connectionOf(sid);
        if (earlier != null) {
            disconnected(earlier, now);
            decisions.closings.add(new Closing<>(earlier, Why.REPLACED, 0));
        }
        long number = rule.connect(sid, situationAware);
        fence.connected(sid, number, nonce);
        FollowerConnection<C> connection =
                new FollowerConnection<>(
                        endpoint, sid, number, situationAware, detector.limitNanos(), now);
        connections.add(connection);
        return connection;
    }

    /**
     * Whether proposals may be sent to the server: to any voter, and to a limited number of others.
     */
    public boolean admits(long sid) {
        return rule.voter(sid) || set.admits(sid);
    }

    /** Every proposal from now on is put into the connection. */
    public void forwarded(FollowerConnection<C> connection) {
        if (connection.situationAware()) {
            // Before UPTODATE: a follower that was not told by then takes its leader for one of
            // Apache's.
            decisions.greetings.add(connection);
            connection.toldOfHeartbeats = true;
        }
        forwarding.add(connection);
        connection.joined = true;
        set.join(connection.sid());
        // H6: the next proposal says it to everyone, the newcomer too.
        tag = null;
    }

    /**
     * The follower says that it keeps views: it writes the view of a seal into its marker before it
     * acks it (R23). It says so before it acks UPTODATE, or it never counts towards F.
     */
    public void keepsViews(FollowerConnection<C> connection) {
        if (!connection.synced) {
            connection.keepsViews = connection.situationAware();
        }
    }

    /** The follower has acked UPTODATE. A second call changes nothing. */
    public void synced(FollowerConnection<C> connection, long now) {
        if (connection.synced) {
            return;
        }
        connection.synced = true;
        if (connection.situationAware()) {
            connection.acks = progress.add();
        }
        if (connection.keepsViews) {
            // H5: what it was sent before UPTODATE it took for slow, so that its markers do not say
            // "fast" and its map on disk may lack what these entries taught it.
            rule.join(connection.sid(), connection.number());
            views.changed(connection, now);
        }
    }

    /** The connection is gone. Ignored if it was gone before. */
    public void disconnected(FollowerConnection<C> connection, long now) {
        if (!connections.remove(connection)) {
            return;
        }
        long sid = connection.sid();
        fence.disconnected(sid, connection.number());
        progress.remove(connection.acks);
        rule.disconnect(sid, connection.number());
        if (connection.joined) {
            forwarding.remove(connection);
            set.leave(sid);
        }
        views.changed(connection, now);
        // So an entry that can no longer get F acks of members does not wait for them (R6).
        if (promptVoters(now) <= bareMajority()) {
            act(controller.tooFewPrompt(now), now, SwitchReason.GONE, sid);
        }
    }

    /**
     * The server recovers as process {@code nonce}: what an earlier one acked must not count any
     * more (R20).
     */
    public void restarted(long sid, long nonce, long now) {
        OptionalLong stale = fence.restarted(sid, nonce);
        FollowerConnection<C> earlier = connectionOf(sid);
        if (earlier != null) {
            if (stale.isEmpty()) {
                return;
            }
            disconnected(earlier, now);
            decisions.closings.add(new Closing<>(earlier, Why.RESTARTED, 0));
        }
        rule.restarted(sid);
    }

    private FollowerConnection<C> connectionOf(long sid) {
        for (int i = 0; i < connections.size(); i++) {
            if (connections.get(i).sid() == sid) {
                return connections.get(i);
            }
        }
        return null;
    }

    /** Everyone who is connected. */
    public List<FollowerConnection<C>> connections() {
        return Collections.unmodifiableList(connections);
    }

    /** How many connections every proposal is put into. */
    public int forwardings() {
        return forwarding.size();
    }

    /** One of the connections that every proposal is put into. */
    public C forwarding(int i) {
        return forwarding.get(i).endpoint();
    }

    // ---- Proposals (R1, R2, R7) ----

    /**
     * The entry is put into every connection that is forwarded to.
     *
     * @return the tag that goes with it, null if the last one is still true (R1)
     */
    public ProposalTag propose(long zxid, long now) {
        Mode mode = controller.mode();
        ProposalTag next = set.propose(zxid, mode);
        rule.propose(zxid, mode);
        return proposed(zxid, next, now);
    }

    @SuppressWarnings("ReferenceEquality") // the same tag object means the same bytes
    private ProposalTag proposed(long zxid, ProposalTag next, long now) {
        progress.proposed(zxid, now);
        lastProposed = zxid;
        if (next == tag) {
            return null;
        }
        tag = next;
        return next;
    }

    /**
     * As {@link #propose}, of a no-op: it seals the view of those who count from now on, if a seal
     * is due and the mode is slow (R23). Then {@link #view} is its view.
     *
     * @return the tag that goes with it, null if the last one is still true (R1)
     */
    public ProposalTag proposeNoop(long zxid, long now) {
        views.noopComes();
        if (controller.mode() == Mode.FAST) {
            return propose(zxid, now);
        }
        noteSilence(now);
        if (!sealDue()) {
            return propose(zxid, now);
        }
        ProposalTag next = set.propose(zxid, Mode.SLOW);
        views.seal(zxid);
        return proposed(zxid, next, now);
    }

    /** The view of the newest seal of this term (R23); null before the first. */
    public View view() {
        return views.view();
    }

    /** Something was put into every connection that is forwarded to. */
    public void sent(long now) {
        heartbeats.sent(now);
    }

    /** The configuration is another than before, and no reconfiguration is under way. */
    public void configured(Collection<Long> sidsOfVoters, long now) {
        rule.voters(sidsOfVoters);
        countVoters();
        views.changed(now);
    }

    private void countVoters() {
        voters = rule.voters();
        controller.voters(voters);
    }

    /** A reconfiguration is about to be proposed: slow until it is committed (R7). */
    public void reconfigure(Collection<Long> nextVoters, long now) {
        act(controller.pin(Pin.RECONFIGURATION, now), now, SwitchReason.RECONFIGURATION, 0);
        rule.reconfigure(nextVoters);
    }

    /** Whether a reconfiguration was proposed and has not committed. */
    public boolean reconfiguring() {
        return rule.reconfiguring();
    }

    /** An operator forbids fast mode. */
    public void pin(String reason, long now) {
        act(controller.pin(Pin.OPERATOR, now), now, reason);
    }

    /** An operator allows fast mode again. */
    public void unpin() {
        controller.unpin(Pin.OPERATOR);
    }

    // ---- Acks (R3, R4) ----

    /**
     * A follower has acked an entry.
     *
     * @return what may be committed: every entry up to this zxid
     */
    public long acked(FollowerConnection<C> connection, long zxid, long now) {
        return acked(connection.sid(), connection.number(), connection.acks, zxid, now);
    }

    /** This server's own log has acked an entry. As for {@link #acked}. */
    public long ackedByLeader(long zxid, long now) {
        return acked(self, CommitRule.SELF, own, zxid, now);
    }

    private long acked(long sid, long number, AckProgress.Peer acker, long zxid, long now) {
        heartbeats.excuseSleep(now);
        if (acker != null) {
            acker.acked(zxid, now);
        }
        rule.ack(sid, number, zxid);
        return rule.committableThrough();
    }

    /**
     * This server's own log has everything up to the zxid to write: its time counts from now on
     * (R24).
     */
    public void handedToLog(long zxid, long now) {
        own.handed(zxid, now);
    }

    /**
     * Whether this server's own log looks late: then it matters for how long its thread had no
     * processor, see {@link #logWaited}.
     */
    public boolean ownLogLooksLate(long now) {
        return own.owedFor(now) > detector.ackBoundNanos();
    }

    /**
     * The thread that writes this server's own log was ready to run, and had no processor, for so
     * long since it was last told: that is no delay of the disk (R24).
     *
     * @param nanos at least 0
     */
    public void logWaited(long nanos, long now) {
        own.excused(nanos, now);
    }

    /**
     * The next sync that must be answered before this entry is committed; null if there is none.
     */
    public S nextSyncBefore(long zxid) {
        return syncs.size() == 0 ? null : syncs.nextBefore(zxid);
    }

    /** The leader has committed everything up to the zxid. */
    public void committed(long zxid, long now) {
        rule.committed(zxid);
        lastCommitted = zxid;
        if (slowNotDurable && zxid > lastFast) {
            decisions.slowDurableNanos = Math.max(1, now - slowSince);
            slowNotDurable = false;
        }
    }

    /** The reconfiguration has committed (R7): the new voters have no view yet (R23). */
    public void reconfigured(long now) {
        rule.activate();
        countVoters();
        controller.unpin(Pin.RECONFIGURATION);
        views.changed(now);
    }

    /** Called after each ack, once everything that it allows to commit is committed. */
    public void settled(long now) {
        commits.acked(lastCommitted, now);
        if (syncs.size() > 0) {
            // Their answers may have come before the commit.
            answerSyncs(now);
        }
        // In slow mode every ack may be the one that shows that fast mode is safe (R5).
        if (controller.mode() == Mode.SLOW) {
            if (controller.draining()) {
                drain(now);
            } else if (!sealing(now) && now - lastConfirmation >= confirmationNanos) {
                confirm(now);
            }
        }
    }

    /** Looks at a drain that is under way: see {@link #draining()}. */
    public void drain(long now) {
        act(controller.drain(onDisks(now), now), now, SwitchReason.DRAINED, lastProposed);
    }

    /** Whether proposals are held back until a decision says that the drain is over (R5). */
    public boolean draining() {
        return controller.draining();
    }

    /** When a drain that is under way gives up. */
    public long drainEnds() {
        return controller.drainEnds();
    }

    private void confirm(long now) {
        lastConfirmation = now;
        // R5 needs the leader's own disk, too.
        int prompt = own.inTime(now) ? promptVoters(now) : 0;
        act(
                controller.promptness(
                        prompt,
                        onDisks(now),
                        !rule.slowEntriesCommitted(),
                        nearlyOnDisks(now),
                        now),
                now,
                SwitchReason.PROMPT,
                prompt);
    }

    /**
     * Whether fast mode could begin: F members of the view have the last slow entry on disk (R5),
     * and F of them, maybe others, are prompt.
     */
    private boolean onDisks(long now) {
        return rule.lastSlowOnFastQuorumOfDisks() && promptMembers(now) > bareMajority();
    }

    private boolean nearlyOnDisks(long now) {
        return rule.onFastQuorumOfDisks(progress.recent()) && promptMembers(now) > bareMajority();
    }

    // ---- Views (R23) ----

    /**
     * Asks for a seal if one is due and its time has come. In slow mode that is at once when a
     * member of the view is gone; who came may be followed by others, or find that the no-op of R5
     * is due anyway. In fast mode it costs a turn of the mode, so the set has to be settled first.
     *
     * @return whether a seal is due and asked for: whatever waits for F disks waits for it, too
     */
    private boolean sealing(long now) {
        noteSilence(now);
        if (!sealDue() || controller.draining()) {
            return false;
        }
        if (controller.mode() == Mode.FAST) {
            if (!views.settled(now)) {
                return false;
            }
            act(controller.reseal(now), now, SwitchReason.VIEW, voters);
            return true;
        }
        if (views.underWay(now)) {
            return true;
        }
        if (views.tooSoon(now)) {
            return false;
        }
        askForNoop(now);
        return true;
    }

    /** Takes note of who is silent by now: that counts as gone (R23). */
    public void noteSilence(long now) {
        views.noteSilence(connections, now);
    }

    /**
     * Whether the voters that count, or would if a seal said so, are others than the newest seal's
     * members (R23), by the silence that was taken note of.
     */
    public boolean sealDue() {
        return views.due();
    }

    /** The no-op is the seal, too, if one is due. */
    private void askForNoop(long now) {
        decisions.noop = true;
        noteSilence(now);
        if (sealDue()) {
            views.asked(now);
        }
    }

    // ---- Turns of the mode (R5, R6) ----

    private void act(Decision decision, long now, SwitchReason reason, long number) {
        act(
                decision,
                now,
                decision == Decision.NONE
                        ? ""
                        : reason.text(number, voters, () -> whoIsMissing(now)));
    }

    private void act(Decision decision, long now, String reason) {
        switch (decision) {
            case NONE -> {}
            case TURN_FAST ->
                    decisions.turns.add(
                            new Turn(
                                    Mode.FAST,
                                    reason,
                                    lastProposed,
                                    draining ? now - drainStarted : 0));
            case TURN_SLOW -> {
                decisions.turns.add(new Turn(Mode.SLOW, reason, lastProposed, 0));
                slowNotDurable = true;
                slowSince = now;
                lastFast = lastProposed;
                askForNoop(now);
            }
            case PROPOSE_NOOP -> askForNoop(now);
        }
        if (draining && !controller.draining()) {
            draining = false;
            decisions.drainOver = true;
        } else if (controller.draining() && !draining) {
            draining = true;
            drainStarted = now;
        }
    }

    /** Who it was, and for how long; and whether it was this process, rather (H11). */
    private String whoIsMissing(long now) {
        MissingVoters missing = new MissingVoters();
        missing.ownLog(own, now);
        for (long sid : rule.voterSids()) {
            FollowerConnection<C> follower = connectionOf(sid);
            if (follower != null) {
                missing.connected(follower, counts(follower, true), heard(follower, now), now);
            } else if (sid != self) {
                missing.notConnected(sid);
            }
        }
        return missing.text(heartbeats.ownPauses(), now);
    }

    // ---- Syncs (R22) ----

    /** A client asks for a sync: it has its place among the proposals. */
    public void sync(S sync, long now) {
        syncs.add(sync, lastProposed);
        answerSyncs(now);
    }

    /** A follower answers a question. */
    public void stillFollowing(FollowerConnection<C> connection, long question, long now) {
        if (rule.voter(connection.sid())) {
            syncs.answered(connection.sid(), question);
            answerSyncs(now);
        }
    }

    /** How many syncs wait. */
    public int waitingSyncs() {
        return syncs.size();
    }

    private void answerSyncs(long now) {
        for (S sync = syncs.next(lastCommitted, majority);
                sync != null;
                sync = syncs.next(lastCommitted, majority)) {
            decisions.answers.add(sync);
        }
        if (syncs.questionDue()) {
            ask(now);
        }
    }

    /** Asks who follows: an answer may be lost with its connection. */
    public void ask(long now) {
        decisions.question = syncs.ask();
        decisions.asked.clear();
        lastQuestion = now;
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (each.synced && each.situationAware() && rule.voter(each.sid())) {
                decisions.asked.add(each);
                each.toldOfHeartbeats = true;
                each.pinged = now;
            }
        }
    }

    /**
     * Servers without SAUCR give no answers: another question, and an entry whose acks say the
     * same.
     */
    private void askAgain(long now) {
        if (now - lastQuestion >= detector.intervalNanos() && syncs.size() > 0) {
            ask(now);
            if (syncs.needsAnswers(lastProposed)) {
                decisions.noop = true;
            }
        }
    }

    // ---- Heartbeats (R9, R6, H11) ----

    /**
     * Time to look at everyone: who is to be pinged, who is silent, who is late.
     *
     * @param tickPings when everyone was last pinged by others than this class
     * @param diskSilenceNanos for how long this server's disk has not answered
     * @param serving whether clients are served
     * @return when to look again
     */
    public long round(long now, long tickPings, long diskSilenceNanos, boolean serving) {
        long next = heartbeats.round(tickPings, now);
        if (set == null || !serving) {
            return heartbeats.sleepUntil(now + detector.intervalNanos());
        }
        askAgain(now);
        boolean sealing = sealing(now);
        chooseMode(sealing, now);
        closeHopeless(now);
        considerSteppingDown(now, diskSilenceNanos);
        long earliest = now + detector.intervalNanos() / 8;
        return heartbeats.sleepUntil(heartbeats.nextSuspicion(Math.max(next, earliest), now));
    }

    private void chooseMode(boolean sealing, long now) {
        int prompt = promptVoters(now);
        boolean late = prompt <= bareMajority() && heardVoters(now) > bareMajority();
        if (controller.mode() == Mode.FAST) {
            if (commits.owedFor(now) > detector.ackBoundNanos()) {
                act(controller.overdue(now), now, SwitchReason.ENTRY_WAITS, commits.owedFor(now));
            } else if (late) {
                act(controller.overdue(now), now, SwitchReason.ACKS_LATE, prompt);
            } else if (prompt <= bareMajority()) {
                act(controller.silence(now), now, SwitchReason.TOO_FEW_PROMPT, prompt);
            }
            return;
        }
        if (prompt <= bareMajority()) {
            act(controller.tooFewPrompt(now), now, SwitchReason.TOO_FEW_PROMPT, prompt);
        } else if (!sealing && now - lastConfirmation >= confirmationNanos) {
            confirm(now);
        }
        if ((late || own.lateAndIdle()) && somebodyIsLateAndIdle()) {
            act(controller.probe(now), now, SwitchReason.PROMPT, prompt);
        }
    }

    // ---- Acks in time (R24) ----

    private boolean somebodyIsLateAndIdle() {
        if (own.lateAndIdle()) {
            return true;
        }
        for (int i = 0; i < connections.size(); i++) {
            AckProgress.Peer acks = connections.get(i).acks;
            if (acks != null && acks.lateAndIdle()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Proposals that a follower has not logged fill its memory. If the others commit without it,
     * its connection is closed; it connects again once its log has caught up.
     */
    private void closeHopeless(long now) {
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (!each.closing
                    && each.acks != null
                    && each.acks.owedFor(now) > diskTimeoutNanos
                    && commits.owedFor(now) <= detector.ackBoundNanos()) {
                each.closing = true;
                decisions.closings.add(
                        new Closing<>(each, Why.ACKS_TOO_LATE, each.acks.owedFor(now)));
            }
        }
    }

    /**
     * This leader steps down only if the others can elect a leader and commit without it: else
     * nobody would lead, or serve reads.
     */
    private void considerSteppingDown(long now, long diskSilenceNanos) {
        if (controller.mode() == Mode.FAST && diskSilenceNanos > diskTimeoutNanos) {
            // Slow entries show whose disks answer.
            act(controller.overdue(now), now, SwitchReason.DISK_SILENT, diskSilenceNanos);
        }
        if (own.inTime(now)) {
            ownDiskLate = false;
            return;
        }
        if (!ownDiskLate) {
            ownDiskLate = true;
            ownDiskLateSince = now - Math.max(own.owedFor(now), diskSilenceNanos);
        }
        if (now - ownDiskLateSince >= diskTimeoutNanos && othersOnDisk(now) >= bareMajority()) {
            decisions.stepDownNanos = Math.max(1, now - ownDiskLateSince);
        }
    }

    private int othersOnDisk(long now) {
        int count = 0;
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (each.synced
                    && rule.voter(each.sid())
                    && answersInTime(each, now)
                    && rule.durableThrough(each.sid()) >= progress.recent()) {
                count++;
            }
        }
        return count;
    }

    // ---- For a model that goes on from any state ----

    /**
     * Continues from this state, in which everybody's promptness was looked at just now. The
     * connections stay; a new state has only those that {@link #adopt} names.
     *
     * @param newView of the newest seal of this term, null before the first
     */
    public void resume(
            ReplicationSet newSet,
            ProposalTag newTag,
            View newView,
            long newLastProposed,
            long newLastCommitted,
            long now) {
        set = newSet;
        tag = newTag;
        views.resume(newView);
        lastProposed = newLastProposed;
        lastCommitted = newLastCommitted;
        lastConfirmation = now;
        draining = controller.draining();
    }

    /**
     * A connection that the commit rule and the set know already. It replaces an earlier one of the
     * same server without a report that this is gone.
     */
    public FollowerConnection<C> adopt(
            C endpoint, long sid, long number, long nonce, boolean isSynced, long now) {
        FollowerConnection<C> earlier = connectionOf(sid);
        if (earlier != null) {
            connections.remove(earlier);
            forwarding.remove(earlier);
            progress.remove(earlier.acks);
        }
        FollowerConnection<C> connection =
                new FollowerConnection<>(endpoint, sid, number, true, detector.limitNanos(), now);
        connection.joined = true;
        connection.toldOfHeartbeats = true;
        connection.keepsViews = true;
        connection.synced = isSynced;
        connection.acks = isSynced ? progress.add() : null;
        connections.add(connection);
        forwarding.add(connection);
        fence.connected(sid, number, nonce);
        return connection;
    }

    // ---- What others may know ----

    /** The tag that a proposal without one refers to; null if the next one has its own. */
    public ProposalTag tag() {
        return tag;
    }

    /** The mode that the next proposal gets. */
    public Mode mode() {
        return controller.mode();
    }

    /** The mode that the zxid was proposed with. */
    public Mode mode(long zxid) {
        return rule.mode(zxid);
    }

    /** Whether the server's acks count for the entry, which is not committed. */
    public boolean supports(long sid, long zxid) {
        return rule.supports(sid, zxid);
    }

    /** Whether the sid is a voter of the current configuration. */
    public boolean voter(long sid) {
        return rule.voter(sid);
    }

    /**
     * Whether the follower's acks count towards F if they come in time; see {@link #promptVoters}.
     */
    public boolean counts(FollowerConnection<C> connection) {
        return counts(connection, controller.mode() == Mode.FAST);
    }

    /** Whether the follower is in the view of the newest seal, as it is connected now (R23). */
    public boolean inView(FollowerConnection<C> connection) {
        return rule.sealed(connection.sid());
    }

    /** Whether the follower was heard in time and acks in time (R24). */
    public boolean answersInTime(FollowerConnection<C> connection, long now) {
        return heard(connection, now) && connection.acksInTime(now);
    }

    /**
     * Voters whose acks count towards F and come in time, and who answer heartbeats. In slow mode
     * also those whose acks count from the next seal on (R23).
     */
    public int promptVoters(long now) {
        return promptVoters(controller.mode() == Mode.FAST, now);
    }

    private int promptMembers(long now) {
        return promptVoters(true, now);
    }

    private int promptVoters(boolean members, long now) {
        int count = rule.voter(self) && own.inTime(now) ? 1 : 0;
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (counts(each, members) && answersInTime(each, now)) {
                count++;
            }
        }
        return count;
    }

    /** As {@link #promptVoters}, but those whose acks are late count, too. */
    private int heardVoters(long now) {
        boolean members = controller.mode() == Mode.FAST;
        int count = rule.voter(self) ? 1 : 0;
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (counts(each, members) && heard(each, now)) {
                count++;
            }
        }
        return count;
    }

    private boolean counts(FollowerConnection<C> connection, boolean asMember) {
        return connection.synced
                && connection.keepsViews
                && (asMember ? rule.sealed(connection.sid()) : rule.voter(connection.sid()));
    }

    /** Whether the follower was heard in time, whatever it has acked (R9). */
    public boolean heard(FollowerConnection<C> connection, long now) {
        return heartbeats.heard(connection, now);
    }

    private int bareMajority() {
        return Quorums.bareMajority(voters);
    }
}
