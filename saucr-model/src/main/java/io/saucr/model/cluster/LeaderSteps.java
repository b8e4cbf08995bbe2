package io.saucr.model.cluster;

import io.saucr.core.IncarnationFence;
import io.saucr.core.Mode;
import io.saucr.core.ModeController;
import io.saucr.core.ModeController.Decision;
import io.saucr.core.ProposalTag;
import io.saucr.core.ReadIndex;
import io.saucr.core.ReplicationSet;
import io.saucr.core.Zxid;
import io.saucr.model.cluster.Server.Role;
import java.util.OptionalLong;
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
            l.enqueue(l.log[i], null);
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
        l.controller = new ModeController(n, CONFIRMATIONS, 1);
        l.fence = new IncarnationFence();
        l.syncs = new ReadIndex<>(l.sid);
    }

    private AckCount newCount(long sid, long epochStart) {
        boolean loose =
                broken.contains(BrokenRule.R2_REJOINED_IN_EVERY_SET)
                        || broken.contains(BrokenRule.R4_DURABLE_ACK_COUNTS_TOWARDS_F)
                        || r21;
        return loose
                ? new LooseAckCount(sid, n, epochStart, broken)
                : new ProductAckCount(sid, cluster.sids, epochStart);
    }

    void connect(Server s, Server l) {
        if (r21) {
            readAll(l, s);
        } else {
            drop(l, s.index);
        }
        s.forgetRole();
        s.role = Role.FOLLOWING;
        s.acceptedEpoch = l.acceptedEpoch;
        s.leader = l.index;
        s.initialHistory = Math.max(l.epochStart, l.committed);
        s.copyQueue(l);
        s.queueNext = s.initialHistory;
        long connection = l.count.connect(s.sid);
        l.fence.connected(s.sid, connection, s.incarnation);
        l.links[s.index].open(connection, s.incarnation, l.queueLength, s.initialHistory);
        l.links[s.index].attach(s);
        if (broken.contains(BrokenRule.H5_COUNTS_BEFORE_UPTODATE)) {
            count(l, s);
        }
        l.set.join(s.sid);
        // R1: the next proposal says it to everyone, the newcomer too.
        l.tag = h6 && l.tag != null ? l.set.propose(lastProposed(l), l.tag.mode()) : null;
    }

    static long lastProposed(Server l) {
        return l.queueLength > l.epochStart
                ? Entry.zxid(l.queue[l.queueLength - 1])
                : Zxid.of(l.acceptedEpoch, 0);
    }

    private static void count(Server l, Server s) {
        Link link = l.links[s.index];
        if (link.countsFrom == Server.NOWHERE) {
            link.countsFrom = l.queueLength;
            l.count.join(s.sid, link.connection);
        }
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
        commit(l);
    }

    void propose(Server l) {
        long zxid = Zxid.of(l.acceptedEpoch, l.queueLength - l.epochStart + 1L);
        Mode mode = l.controller.mode();
        ProposalTag next = l.set.propose(zxid, mode);
        l.count.propose(zxid, mode);
        ProposalTag attached = sameTag(next, l.tag) ? null : next;
        l.tag = next;
        long entry = Entry.of(zxid, l.term);
        l.enqueue(entry, attached);
        for (int j = 0; j < n; j++) {
            if (isOtherEnd(l, servers[j])) {
                servers[j].enqueue(entry, attached);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // the same object means the same bytes, as in the server
    static boolean sameTag(ProposalTag a, ProposalTag b) {
        return a == b;
    }

    void receive(Server l, Server from) {
        Link link = l.links[from.index];
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
            count(l, from);
        } else if (link.notices > 0 && link.noticeBefore[0] <= link.acksRead) {
            int restarted = link.noticeServer[0];
            long incarnation = link.noticeIncarnation[0];
            link.removeFirstNotice();
            fence(l, restarted, incarnation);
        } else {
            long zxid = Entry.zxid(l.queue[link.acksRead++]);
            l.count.ack(from.sid, link.connection, zxid);
            commit(l);
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

    void commit(Server l) {
        long through = l.count.committableThrough();
        int from = l.committed;
        int to = l.epochStart + (int) Zxid.counter(through);
        if (!l.established || to <= from) {
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
            cluster.committing(l, position);
        }
        l.committed = to;
        l.count.committed(through);
        syncSteps.answerSyncs(l);
    }

    /** As the server's leader forgets a connection (R2, R6). */
    void drop(Server l, int follower) {
        Link link = l.links[follower];
        if (!link.open) {
            return;
        }
        long sid = follower + 1L;
        l.fence.disconnected(sid, link.connection);
        boolean stuck = l.count.disconnect(sid, link.connection);
        l.set.leave(sid);
        link.close();
        if (stuck && !broken.contains(BrokenRule.R6_STUCK_ENTRY)) {
            act(l, l.controller.stuck());
        }
        if (prompt(l) <= bareMajority) {
            act(l, l.controller.tooFewPrompt(0));
        }
    }

    private void act(Server l, Decision decision) {
        if (decision == Decision.TURN_FAST) {
            cluster.turnsToFast++;
        } else if (decision == Decision.TURN_SLOW) {
            cluster.turnsToSlow++;
        }
        boolean owes =
                decision == Decision.PROPOSE_NOOP
                        || (decision == Decision.TURN_SLOW
                                && !broken.contains(BrokenRule.R6_NO_NOOP));
        if (owes && l.established) {
            l.noopOwed = true;
        }
    }

    void fence(Server l, int restarted, long incarnation) {
        long sid = restarted + 1L;
        OptionalLong stale = l.fence.restarted(sid, incarnation);
        if (l.links[restarted].open) {
            if (stale.isEmpty()) {
                return;
            }
            drop(l, restarted);
        }
        l.count.restarted(sid);
    }

    /**
     * DRAINING is left out: a leader that holds proposals back until the slow ones are on disk is
     * one to whom no client writes meanwhile.
     */
    boolean mayConfirm(Server l) {
        return l.controller.mode() == Mode.SLOW
                && cluster.confirmations < bounds.confirmations()
                && prompt(l) > bareMajority
                && (onDisks(l) || (l.count.slowEntriesCommitted() && !l.noopOwed));
    }

    private boolean onDisks(Server l) {
        return broken.contains(BrokenRule.R5_FAST_BEFORE_DISKS)
                || l.count.lastSlowOnFastQuorumOfDisks();
    }

    static int prompt(Server l) {
        int prompt = 1;
        for (Link link : l.links) {
            if (link.open && link.synced()) {
                prompt++;
            }
        }
        return prompt;
    }

    static boolean isOtherEnd(Server l, Server s) {
        return l.links[s.index].otherEnd != null;
    }

    /** Turns to fast mode, or owes a no-op that prepares it. */
    void confirm(Server l) {
        act(l, l.controller.promptness(prompt(l), onDisks(l), !l.count.slowEntriesCommitted(), 0));
    }

    /** Too few followers are prompt: turns to slow mode. */
    void suspect(Server l) {
        act(l, l.controller.tooFewPrompt(0));
    }
}
