package io.saucr.model.cluster;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.leader.FailureDetector;
import io.saucr.core.leader.FollowerConnection;
import io.saucr.core.leader.LeaderDecisions;
import io.saucr.core.leader.LeaderState;
import io.saucr.core.leader.ModeController;
import io.saucr.core.leader.ModeController.Pin;
import io.saucr.core.leader.ReadIndex;
import io.saucr.core.leader.ReplicationSet;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.CommitRule;
import io.saucr.core.quorum.View;
import io.saucr.model.cluster.Server.ClientSync;
import io.saucr.model.cluster.Server.Role;
import java.util.Set;

/**
 * What a leader does: it is elected, takes connections, proposes, reads acks and commits, and
 * forgets connections (R1, R2, R6, R20, R21, H5, H6).
 *
 * <p>Owned by its cluster's thread.
 */
final class LeaderSteps {
    /** One confirmation is enough: more of them only make fewer schedules possible. */
    private static final int CONFIRMATIONS = 1;

    /** So long that followers are silent or late only by steps that make them so. */
    private static final long INTERVAL = 1L << 50;

    /** Long enough for a follower to be sealed out (R23). */
    static final long LONG_AGO = 5 * INTERVAL;

    private static final long DISK_TIMEOUT = 1L << 55;

    /** A seal that is due waits for nothing: that only makes more schedules possible (R23). */
    private static final long SETTLED = 0;

    private static final FailureDetector DETECTOR = new FailureDetector(INTERVAL, 1);

    private final ModelCluster cluster;
    private final Server[] servers;
    private final int n;
    private final int bareMajority;
    private final Bounds bounds;
    private final Set<BrokenRule> broken;
    private final SyncSteps syncSteps;
    private final boolean r21;
    private final boolean h6;

    LeaderSteps(ModelCluster cluster, SyncSteps syncSteps) {
        this.cluster = cluster;
        servers = cluster.servers;
        n = cluster.n;
        bareMajority = cluster.bareMajority;
        bounds = cluster.bounds;
        broken = cluster.broken;
        this.syncSteps = syncSteps;
        r21 = cluster.broken.contains(BrokenRule.R21_OLD_CONNECTION_COUNTS);
        h6 = cluster.broken.contains(BrokenRule.H6_OLD_TAGS);
    }

    void elect(Server l, int mask) {
        cluster.terms++;
        long epoch = 0;
        for (int j = 0; j < n; j++) {
            if ((mask & 1 << j) != 0) {
                epoch = Math.max(epoch, servers[j].acceptedEpoch + 1);
            }
        }
        l.forgetRole();
        l.role = Role.LEADING;
        l.term = cluster.terms;
        l.acceptedEpoch = epoch;
        l.currentEpoch = epoch;
        for (int i = 0; i < l.length; i++) {
            l.enqueue(l.log[i], null, null);
        }
        l.queueNext = l.queueLength;
        l.epochStart = l.queueLength;
        l.newLeaderAcks = 1 << l.index;
        beginEpoch(l);
        for (int j = 0; j < n; j++) {
            if ((mask & 1 << j) != 0 && j != l.index) {
                connect(servers[j], l);
            }
        }
    }

    void beginEpoch(Server l) {
        long start = Zxid.of(l.acceptedEpoch, 0);
        l.count = newCount(l.sid, start);
        l.set = new ReplicationSet(l.sid, l.knowledge.snapshot(), start);
        l.controller = new ModeController(n, CONFIRMATIONS, 1, 0);
        l.syncs = new ReadIndex<>(l.sid);
        l.state =
                new LeaderState<>(
                        l.sid,
                        DETECTOR,
                        DISK_TIMEOUT,
                        SETTLED,
                        l.count,
                        l.controller,
                        l.syncs,
                        syncSteps::majority,
                        l.now);
        l.state.startEpoch(l.set, start, l.now);
        // It is awake from the first moment on (H11).
        round(l);
    }

    private CommitRule newCount(long sid, long epochStart) {
        boolean loose =
                broken.contains(BrokenRule.R2_REJOINED_IN_EVERY_SET)
                        || broken.contains(BrokenRule.R4_DURABLE_ACK_COUNTS_TOWARDS_F)
                        || r21;
        if (loose) {
            return new LooseCommitRule(sid, cluster.sids, epochStart, broken);
        }
        return broken.isEmpty()
                ? new CommitRule(sid, cluster.sids)
                : new LenientCommitRule(sid, cluster.sids, broken);
    }

    void connect(Server s, Server l) {
        Link link = l.links[s.index];
        if (r21) {
            readAll(l, s);
        }
        FollowerConnection<Link> earlier = link.known;
        ProposalTag tag = l.state.tag();
        FollowerConnection<Link> connection =
                r21 && earlier != null
                        ? l.state.adopt(
                                link,
                                s.sid,
                                l.count.connect(s.sid, true),
                                s.incarnation,
                                false,
                                l.now)
                        : l.state.connected(link, s.sid, true, s.incarnation, l.now);
        carryOut(l);
        s.forgetRole();
        s.role = Role.FOLLOWING;
        s.acceptedEpoch = l.acceptedEpoch;
        s.leader = l.index;
        s.initialHistory = Math.max(l.epochStart, l.committed);
        s.copyQueue(l);
        s.queueNext = s.initialHistory;
        link.open(connection, s.incarnation, l.queueLength, s.initialHistory);
        link.attach(s);
        l.state.keepsViews(connection);
        if (broken.contains(BrokenRule.H5_COUNTS_BEFORE_UPTODATE)) {
            link.countsFrom = l.queueLength;
            l.count.join(s.sid, link.connection);
        }
        if (r21 && earlier != null) {
            resume(l, null, l.state.view());
        } else {
            l.state.forwarded(connection);
            carryOut(l);
        }
        if (h6 && tag != null) {
            resume(l, l.set.propose(lastProposed(l), tag.mode()), l.state.view());
        }
    }

    void resume(Server l, ProposalTag tag, View view) {
        l.state.resume(l.set, tag, view, lastProposed(l), lastCommitted(l), l.now);
    }

    /**
     * Time has moved, and no look at promptness comes of it: that is a step of its own, which the
     * bounds count.
     */
    private void goOnWithoutALook(Server l) {
        resume(l, l.state.tag(), l.state.view());
    }

    private static long lastCommitted(Server l) {
        return l.committed > l.epochStart
                ? Entry.zxid(l.queue[l.committed - 1])
                : Zxid.of(l.acceptedEpoch, 0);
    }

    static long lastProposed(Server l) {
        return l.queueLength > l.epochStart
                ? Entry.zxid(l.queue[l.queueLength - 1])
                : Zxid.of(l.acceptedEpoch, 0);
    }

    /** R21 broken: what the old connection still holds counts, too. */
    private void readAll(Server l, Server s) {
        Link link = l.links[s.index];
        if (!link.open) {
            return;
        }
        while (link.acksRead < link.acksSent) {
            l.count.ack(s.sid, link.connection, Entry.zxid(l.queue[link.acksRead++]));
        }
        commit(l, l.count.committableThrough());
    }

    void propose(Server l) {
        long zxid = nextZxid(l);
        send(l, zxid, l.state.propose(zxid, l.now), null);
    }

    /** It seals a view if one is due (R23). */
    void proposeNoop(Server l) {
        long zxid = nextZxid(l);
        ProposalTag attached = l.state.proposeNoop(zxid, l.now);
        View view = l.state.view();
        send(l, zxid, attached, view != null && view.seal() == zxid ? view : null);
    }

    private static long nextZxid(Server l) {
        return Zxid.of(l.acceptedEpoch, l.queueLength - l.epochStart + 1L);
    }

    private static void send(Server l, long zxid, ProposalTag attached, View sealed) {
        long entry = Entry.of(zxid, l.term);
        l.enqueue(entry, attached, sealed);
        l.state.handedToLog(zxid, l.now);
        requireEveryLinkIsForwardedTo(l);
        for (int i = 0; i < l.state.forwardings(); i++) {
            Server follower = l.state.forwarding(i).otherEnd;
            if (follower != null) {
                follower.enqueue(entry, attached, sealed);
            }
        }
        l.state.sent(l.now);
    }

    /** R2: an entry is put into every connection that is open, and into no other. */
    private static void requireEveryLinkIsForwardedTo(Server l) {
        int open = 0;
        for (Link link : l.links) {
            open += link.open ? 1 : 0;
        }
        int forwardings = l.state.forwardings();
        for (int i = 0; i < forwardings; i++) {
            if (!l.state.forwarding(i).open) {
                throw new IllegalStateException("a closed connection is forwarded to");
            }
        }
        if (forwardings != open) {
            throw new IllegalStateException(
                    forwardings + " connections are forwarded to, " + open + " are open");
        }
    }

    @SuppressWarnings("ReferenceEquality") // the same object means the same bytes, as in the server
    static boolean sameTag(ProposalTag a, ProposalTag b) {
        return a == b;
    }

    void receive(Server l, Server from) {
        Link link = l.links[from.index];
        heard(l, link);
        if (link.newLeaderAck == Link.UNREAD) {
            link.newLeaderAck = Link.READ;
            l.newLeaderAcks |= 1 << from.index;
            if (l.established) {
                sendUpToDate(l, from);
            } else if (Integer.bitCount(l.newLeaderAcks) >= bareMajority) {
                establish(l);
            }
        } else if (link.upToDateAck == Link.UNREAD) {
            link.upToDateAck = Link.READ;
            // H5: from now on it treats as fast what is fast, and may count towards F.
            if (link.countsFrom == Server.NOWHERE) {
                link.countsFrom = l.queueLength;
            }
            l.state.synced(link.known, l.now);
        } else if (link.notices > 0 && link.noticeBefore[0] <= link.acksRead) {
            int restarted = link.noticeServer[0];
            long incarnation = link.noticeIncarnation[0];
            link.removeFirstNotice();
            fence(l, restarted, incarnation);
        } else {
            long zxid = Entry.zxid(l.queue[link.acksRead++]);
            commit(l, l.state.acked(link.known, zxid, l.now));
        }
    }

    private void establish(Server l) {
        l.established = true;
        l.committed = l.epochStart;
        cluster.history.serves(l.index, l.acceptedEpoch, l.queue, l.epochStart);
        for (int j = 0; j < n; j++) {
            if (l.links[j].open && l.links[j].newLeaderAck == Link.READ) {
                sendUpToDate(l, servers[j]);
            }
        }
    }

    private static void sendUpToDate(Server l, Server to) {
        if (isOtherEnd(l, to)) {
            to.upToDateAt = l.queueLength;
        }
    }

    /** This leader's own log has acked an entry. */
    void ackedByLeader(Server l, long zxid) {
        commit(l, l.state.ackedByLeader(zxid, l.now));
    }

    private void commit(Server l, long through) {
        if (l.established) {
            commitThrough(l, through);
        }
        l.state.settled(l.now);
        carryOut(l);
    }

    private void commitThrough(Server l, long through) {
        int from = l.committed;
        int to = l.epochStart + (int) Zxid.counter(through);
        if (to <= from) {
            return;
        }
        cluster.history.committed(l.index, l.acceptedEpoch, l.queue, from, to);
        for (int position = from; position < to; position++) {
            syncSteps.answerBefore(l, position);
            if (l.count.mode(Entry.zxid(l.queue[position])) == Mode.FAST) {
                cluster.fastCommits++;
            } else {
                cluster.slowCommits++;
            }
            cluster.history.counted(position, whoseAcksCount(l, position));
            cluster.committing(l, position);
        }
        l.committed = to;
        l.state.committed(through, l.now);
    }

    /** By whose acks an entry commits, as bits: F of itself, B durable ones, or both (R4). */
    private int whoseAcksCount(Server l, int position) {
        long zxid = Entry.zxid(l.queue[position]);
        int itself = 0;
        int durable = 0;
        for (Server s : servers) {
            itself |= l.count.ackedItself(s.sid, zxid) ? 1 << s.index : 0;
            durable |= l.count.durableThrough(s.sid) >= zxid ? 1 << s.index : 0;
        }
        return (Integer.bitCount(itself) >= cluster.fastQuorum ? itself : 0)
                | (Integer.bitCount(durable) >= bareMajority ? durable : 0);
    }

    /** The leader forgets a connection (R2, R6). */
    void drop(Server l, int follower) {
        Link link = l.links[follower];
        if (link.open) {
            l.state.disconnected(link.known, l.now);
            link.close();
            carryOut(l);
        }
    }

    void fence(Server l, int restarted, long incarnation) {
        l.state.restarted(restarted + 1L, incarnation, l.now);
        carryOut(l);
    }

    /** Does what the leader's state has decided, as the server's shell does. */
    void carryOut(Server l) {
        LeaderDecisions<Link, ClientSync> decisions = l.state.decisions();
        boolean noop = decisions.noop();
        for (int i = 0; i < decisions.turns().size(); i++) {
            if (decisions.turns().get(i).mode() == Mode.FAST) {
                cluster.turnsToFast++;
            } else {
                cluster.turnsToSlow++;
                noop &= !broken.contains(BrokenRule.R6_NO_NOOP);
            }
        }
        if (noop && l.established) {
            l.noopOwed = true;
        }
        for (int i = 0; i < decisions.answers().size(); i++) {
            syncSteps.answered(l, decisions.answers().get(i), l.committed);
        }
        if (decisions.question() != 0) {
            SyncSteps.ask(l, decisions.question(), decisions.asked());
        }
        for (int i = 0; i < decisions.closings().size(); i++) {
            decisions.closings().get(i).connection().endpoint().close();
        }
        decisions.clear();
    }

    /**
     * Whether a look at promptness changes anything: asks for a seal, in fast mode at the cost of a
     * turn to slow mode (R23), or for a no-op, or turns to fast mode. One that begins a drain is a
     * step of its own.
     */
    boolean mayConfirm(Server l) {
        if (l.state.draining() || cluster.confirmations >= bounds.confirmations()) {
            return false;
        }
        if (sealDue(l)) {
            return l.controller.mode() == Mode.FAST || !l.noopOwed;
        }
        return l.controller.mode() == Mode.SLOW
                && !l.controller.pinned(Pin.OPERATOR)
                && prompt(l) > bareMajority
                && (l.count.lastSlowOnFastQuorumOfDisks()
                        || (l.count.slowEntriesCommitted() && !l.noopOwed));
    }

    private static boolean sealDue(Server l) {
        l.state.noteSilence(l.now);
        return l.state.sealDue();
    }

    int prompt(Server l) {
        return l.state.promptVoters(l.now);
    }

    static boolean isOtherEnd(Server l, Server s) {
        return l.links[s.index].otherEnd != null;
    }

    /** It is time for a look at promptness: turns the mode, or owes a no-op. */
    void confirm(Server l) {
        l.now += LeaderState.confirmationNanos(DETECTOR);
        round(l);
        // A seal that is asked for puts the look at promptness off: that is a step of its own, too.
        goOnWithoutALook(l);
    }

    /** A look at everyone after nobody was heard in time: turns to slow mode. */
    void suspect(Server l) {
        for (Link link : l.links) {
            if (link.open) {
                link.known.heard(l.now - LONG_AGO);
            }
        }
        round(l);
        for (Link link : l.links) {
            if (link.open && !link.silent) {
                link.known.heard(l.now);
            }
        }
    }

    private void round(Server l) {
        l.state.round(l.now, l.now, 0, true);
        carryOut(l);
    }

    // ---- Heartbeats of one follower, pins, drains, pauses (R5, R6, R10, H11) ----

    void pin(Server l) {
        l.pinned = true;
        l.state.pin("an operator asks", l.now);
        if (broken.contains(BrokenRule.R10_PIN_FORGOTTEN)) {
            l.state.unpin();
        }
        carryOut(l);
    }

    static void unpin(Server l) {
        l.pinned = false;
        l.state.unpin();
    }

    void miss(Server l, Server follower) {
        Link link = l.links[follower.index];
        link.silent = true;
        link.known.heard(l.now - LONG_AGO);
        if (broken.contains(BrokenRule.R27_UNREAD_COUNTS_WHENEVER_IT_CAME)
                && link.acksRead < link.acksSent) {
            link.known.heard(l.now);
        }
        if (!broken.contains(BrokenRule.R6_MISSED_HEARTBEAT_IGNORED)) {
            round(l);
        }
    }

    /** Something of the follower has come in. */
    static void heard(Server l, Link link) {
        link.silent = false;
        link.known.heard(l.now);
    }

    void endDrain(Server l) {
        l.now = Math.max(l.now, l.state.drainEnds());
        l.state.drain(l.now);
        carryOut(l);
        goOnWithoutALook(l);
    }

    /** It wakes up, looks at everyone, and then reads what has come in meanwhile. */
    void pause(Server l) {
        long wakes = l.now + LONG_AGO;
        if (broken.contains(BrokenRule.H11_PAUSE_IS_SILENCE)) {
            while (l.now < wakes) {
                l.now = l.state.round(l.now, l.now, 0, true);
            }
        }
        l.now = wakes;
        round(l);
        goOnWithoutALook(l);
        // Fast mode may have been left for a seal that was due anyway.
        l.turnedByPause |= l.controller.mode() == Mode.SLOW && !sealDue(l);
        for (Link link : l.links) {
            if (link.open) {
                heard(l, link);
            }
        }
    }

    /** Whether proposals may begin to wait for what is in flight. */
    boolean mayDrain(Server l) {
        return l.controller.mode() == Mode.SLOW
                && !l.state.draining()
                && !sealDue(l)
                && !l.controller.pinned(Pin.OPERATOR)
                && cluster.drains < bounds.drains()
                && prompt(l) > bareMajority
                && !l.count.lastSlowOnFastQuorumOfDisks()
                && !l.count.slowEntriesCommitted()
                && l.count.onFastQuorumOfDisks(Zxid.of(l.acceptedEpoch, 0));
    }
}
