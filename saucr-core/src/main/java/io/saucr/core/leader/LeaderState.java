package io.saucr.core.leader;

import io.saucr.core.Mode;
import io.saucr.core.leader.LeaderDecisions.Closing;
import io.saucr.core.leader.LeaderDecisions.Why;
import io.saucr.core.leader.ModeController.Pin;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.CommitRule;
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
 * (R21, R2) and the tag of a proposal (R1). Its parts decide the rest: the acks that count ({@link
 * CommitRule}: R3, R4), the mode with its pins and its drain ({@link ModeSwitches}: R5 to R7), when
 * a view is sealed ({@link ViewSealing}: R23), who is alive ({@link Heartbeats}: R9, H11) and
 * responsive ({@link ResponsiveVoters}), whose disk is late ({@link LateDisks}: R24), which process
 * is behind a connection ({@link IncarnationFence}: R20), and the syncs that wait ({@link
 * ReadIndexRounds}: R22).
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
    private final CommitRule rule;
    private final ModeController controller;
    private final ReadIndex<S> syncs;
    private final IncarnationFence fence = new IncarnationFence();
    private final LeaderDecisions<C, S> decisions = new LeaderDecisions<>();

    private final List<FollowerConnection<C>> connections = new ArrayList<>();
    private final List<FollowerConnection<C>> forwarding = new ArrayList<>();
    private ReplicationSet set;
    private ProposalTag tag;
    private long lastCommitted;

    // R24: who acks in time, this server's own log included, and how long entries wait to commit.
    private final AckProgress progress;
    private final AckProgress.Peer own;
    private final AckProgress.Peer commits;

    private final Heartbeats<C> heartbeats;
    private final ResponsiveVoters<C> voters;
    private final ViewSealing views;
    private final ModeSwitches switches;
    private final ReadIndexRounds<C, S> questions;
    private final LateDisks<C> lateDisks;

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
        this.rule = rule;
        this.controller = controller;
        this.syncs = syncs;
        this.progress = new AckProgress(detector.ackBoundNanos());
        this.own = progress.addOwnLog();
        this.commits = progress.add();
        this.heartbeats = new Heartbeats<>(detector, rule, progress, connections, decisions, now);
        this.voters = new ResponsiveVoters<>(self, rule, controller, heartbeats, own, connections);
        this.views = new ViewSealing(rule, detector, connections, settledNanos, now);
        this.switches =
                new ModeSwitches(
                        detector,
                        rule,
                        controller,
                        progress,
                        own,
                        commits,
                        voters,
                        views,
                        decisions,
                        now);
        this.questions =
                new ReadIndexRounds<>(detector, rule, syncs, majority, connections, decisions, now);
        this.lateDisks =
                new LateDisks<>(
                        detector,
                        diskTimeoutNanos,
                        progress,
                        own,
                        commits,
                        voters,
                        connections,
                        decisions);
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
        switches.proposed(zxid);
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
        FollowerConnection<C> earlier = FollowerConnection.of(sid, connections);
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

    /** The connection is lost. Ignored if it was lost before. */
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
        switches.gone(sid, now);
    }

    /**
     * The server recovers as process {@code nonce}: what an earlier one acked must not count any
     * more (R20).
     */
    public void restarted(long sid, long nonce, long now) {
        OptionalLong stale = fence.restarted(sid, nonce);
        FollowerConnection<C> earlier = FollowerConnection.of(sid, connections);
        if (earlier != null) {
            if (stale.isEmpty()) {
                return;
            }
            disconnected(earlier, now);
            decisions.closings.add(new Closing<>(earlier, Why.RESTARTED, 0));
        }
        rule.restarted(sid);
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
        switches.proposed(zxid);
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
        views.noteSilence(now);
        if (!views.due()) {
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
        controller.voters(rule.voters());
    }

    /** A reconfiguration is about to be proposed: slow until it is committed (R7). */
    public void reconfigure(Collection<Long> nextVoters, long now) {
        switches.reconfigure(now);
        rule.reconfigure(nextVoters);
    }

    /** Whether a reconfiguration was proposed and has not committed. */
    public boolean reconfiguring() {
        return rule.reconfiguring();
    }

    /** An operator forbids fast mode. */
    public void pin(String reason, long now) {
        switches.pin(reason, now);
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
        switches.committed(zxid, now);
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
            questions.answer(lastCommitted, now);
        }
        switches.settled(now);
    }

    /** Looks at a drain that is under way: see {@link #draining()}. */
    public void drain(long now) {
        switches.drain(now);
    }

    /** Whether proposals are held back until a decision says that the drain is over (R5). */
    public boolean draining() {
        return controller.draining();
    }

    /** When a drain that is under way gives up. */
    public long drainEnds() {
        return controller.drainEnds();
    }

    /** Whether everything is committed, and the follower has acked it as it is connected now. */
    boolean hasEverything(FollowerConnection<C> follower) {
        long last = switches.lastProposed();
        return lastCommitted == last && connections.contains(follower) && follower.acks.has(last);
    }

    // ---- Views (R23) ----

    /** Takes note of who is silent by now: that counts as gone (R23). */
    public void noteSilence(long now) {
        views.noteSilence(now);
    }

    /**
     * Whether the voters that count, or would if a seal said so, are others than the newest seal's
     * members (R23), by the silence that was taken note of.
     */
    public boolean sealDue() {
        return views.due();
    }

    // ---- Syncs (R22) ----

    /** A client asks for a sync: it has its place among the proposals. */
    public void sync(S sync, long now) {
        syncs.add(sync, switches.lastProposed());
        questions.answer(lastCommitted, now);
    }

    /** A follower answers a question. */
    public void stillFollowing(FollowerConnection<C> connection, long question, long now) {
        if (rule.voter(connection.sid())) {
            syncs.answered(connection.sid(), question);
            questions.answer(lastCommitted, now);
        }
    }

    /** How many syncs wait. */
    public int waitingSyncs() {
        return syncs.size();
    }

    /** Asks who follows: an answer may be lost with its connection. */
    public void ask(long now) {
        questions.ask(now);
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
        questions.askAgain(switches.lastProposed(), now);
        switches.round(now);
        lateDisks.closeHopeless(now);
        lateDisks.considerSteppingDown(controller.mode(), switches, diskSilenceNanos, now);
        long earliest = now + detector.intervalNanos() / 8;
        return heartbeats.sleepUntil(heartbeats.nextSuspicion(Math.max(next, earliest), now));
    }

    // ---- For a model that continues from any state ----

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
        lastCommitted = newLastCommitted;
        switches.resume(newLastProposed, now);
    }

    /**
     * A connection that the commit rule and the set know already. It replaces an earlier one of the
     * same server without a report that this is lost.
     */
    public FollowerConnection<C> adopt(
            C endpoint, long sid, long number, long nonce, boolean isSynced, long now) {
        FollowerConnection<C> earlier = FollowerConnection.of(sid, connections);
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
        return voters.counts(connection);
    }

    /** Whether the follower is in the view of the newest seal, as it is connected now (R23). */
    public boolean inView(FollowerConnection<C> connection) {
        return rule.sealed(connection.sid());
    }

    /** Whether the follower was heard in time and acks in time (R24). */
    public boolean answersInTime(FollowerConnection<C> connection, long now) {
        return voters.answersInTime(connection, now);
    }

    /**
     * Voters whose acks count towards F and come in time, and who answer heartbeats. In slow mode
     * also those whose acks count from the next seal on (R23).
     */
    public int promptVoters(long now) {
        return voters.count(now);
    }

    /** Whether the follower was heard in time, whatever it has acked (R9). */
    public boolean heard(FollowerConnection<C> connection, long now) {
        return heartbeats.heard(connection, now);
    }
}
