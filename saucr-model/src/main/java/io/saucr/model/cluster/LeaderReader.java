package io.saucr.model.cluster;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.leader.ModeController.Decision;
import io.saucr.core.leader.ModeController.Pin;
import io.saucr.core.leader.ReplicationSet;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.CommitRule;
import io.saucr.core.quorum.View;
import io.saucr.model.cluster.Server.ClientSync;

/**
 * Restores a leader of a {@link ModelCluster}: makes its commit rule, replication set and
 * confirmation of reads anew, and tells them what still matters of what the old ones were told.
 */
@SuppressWarnings("EnumOrdinal") // a code lives as long as the process
final class LeaderReader {
    private final int n;
    private final StateInput in;

    LeaderReader(int servers, StateInput in) {
        n = servers;
        this.in = in;
    }

    void read(ModelCluster w, Server s, StateReader reader) {
        s.term = in.number();
        int flags = in.number();
        s.established = (flags & 1) != 0;
        s.noopOwed = (flags & 2) != 0;
        s.pinned = (flags & 4) != 0;
        boolean draining = (flags & 8) != 0;
        s.turnedByPause = (flags & 16) != 0;
        s.newLeaderAcks = in.number();
        s.epochStart = in.number();
        s.committed = in.number();
        reader.readQueue(s);
        Mode[] modes = new Mode[s.queueLength];
        for (int i = s.epochStart; i < s.queueLength; i++) {
            modes[i] = in.number() == Mode.FAST.ordinal() ? Mode.FAST : Mode.SLOW;
        }
        boolean fast = in.number() == Mode.FAST.ordinal();
        int tagState = in.number();
        LleMap others = in.map();
        w.leaderSteps.beginEpoch(s);
        if (fast && s.controller.promptness(n, true, false, true, 0) != Decision.TURN_FAST) {
            throw new IllegalStateException("the leader does not switch to fast mode");
        }
        if (draining) {
            s.controller.promptness(n, false, true, true, 0);
        }
        if (s.pinned && !w.broken.contains(BrokenRule.R10_PIN_FORGOTTEN)) {
            s.controller.pin(Pin.OPERATOR, 0);
        }
        long[] durable = new long[n];
        for (int j = 0; j < n; j++) {
            readLink(s.links[j]);
            durable[j] = in.zxid();
        }
        w.leaderSteps.resume(s, restoreSet(s, others, tagState), newestView(s));
        if (s.count instanceof LooseCommitRule loose) {
            loose.read(in, s, modes, durable);
        } else {
            restoreCount(s, modes, durable);
        }
        for (int j = 0; j < n; j++) {
            Link link = s.links[j];
            if (link.open) {
                link.known =
                        s.state.adopt(
                                link,
                                j + 1L,
                                link.connection,
                                link.incarnation,
                                link.synced(),
                                s.now);
                if (link.silent) {
                    link.known.heard(s.now - LeaderSteps.LONG_AGO);
                }
            }
        }
        readSyncs(s);
    }

    /** Tells a new read confirmation what the old one was told, in the same order. */
    private void readSyncs(Server s) {
        s.asked = in.number();
        int waiting = in.number();
        long asked = 0;
        for (int i = 0; i < waiting; i++) {
            long lastProposed = in.zxid();
            ClientSync sync = new ClientSync(lastProposed, 1L + in.number(), in.number());
            while (asked + 1 < sync.question()) {
                asked = s.syncs.ask();
            }
            s.waiting.add(sync);
            s.syncs.add(sync, lastProposed);
        }
        while (asked < s.asked) {
            asked = s.syncs.ask();
        }
        for (int j = 0; j < n; j++) {
            Link link = s.links[j];
            s.answered[j] = in.number();
            s.syncs.answered(j + 1L, s.answered[j]);
            link.asked = in.number();
            link.question = in.number();
            link.answer = in.number();
        }
    }

    private void readLink(Link link) {
        link.close();
        link.open = in.number() != 0;
        if (!link.open) {
            return;
        }
        link.incarnation = in.number();
        link.joinedAt = in.number();
        link.countsFrom = in.optional();
        int acks = in.number();
        link.newLeaderAck = acks & 3;
        link.upToDateAck = acks >> 2 & 3;
        link.silent = (acks & 16) != 0;
        link.acksRead = in.number();
        link.acksSent = in.number();
        link.notices = in.number();
        for (int k = 0; k < link.notices; k++) {
            link.noticeServer[k] = in.number();
            link.noticeIncarnation[k] = in.number();
            link.noticeBefore[k] = in.number();
        }
    }

    /** Returns the tag of the last proposal. */
    private ProposalTag restoreSet(Server s, LleMap others, int tagState) {
        s.set = new ReplicationSet(s.sid, others, Zxid.of(s.acceptedEpoch, 0));
        for (int j = 0; j < n; j++) {
            if (s.links[j].open && s.links[j].joinedAt < s.queueLength) {
                s.set.join(j + 1L);
            }
        }
        boolean proposed = s.queueLength > s.epochStart;
        long last = proposed ? Entry.zxid(s.queue[s.queueLength - 1]) : Zxid.NONE;
        if (proposed) {
            s.set.propose(last, Mode.SLOW);
        }
        for (int j = 0; j < n; j++) {
            if (s.links[j].open) {
                s.set.join(j + 1L);
            }
        }
        return tagState == 0
                ? null
                : s.set.propose(last, tagState == 1 + Mode.FAST.ordinal() ? Mode.FAST : Mode.SLOW);
    }

    /** Of this term; null before the first seal. */
    private static View newestView(Server s) {
        for (int i = s.queueLength - 1; i >= s.epochStart; i--) {
            if (s.queueViews[i] != null) {
                return s.queueViews[i];
            }
        }
        return null;
    }

    /** Tells a new commit rule everything that still matters of what the old one was told. */
    private void restoreCount(Server s, Mode[] modes, long[] durable) {
        for (int j = 0; j < n; j++) {
            Link link = s.links[j];
            if (link.open || (durable[j] != Zxid.NONE && j != s.index)) {
                link.connection = s.count.connect(j + 1L, true);
            }
        }
        for (int i = s.epochStart; i <= s.queueLength; i++) {
            for (int j = 0; j < n; j++) {
                Link link = s.links[j];
                if (link.open && link.countsFrom == i) {
                    s.count.join(j + 1L, link.connection);
                }
            }
            if (i < s.queueLength) {
                s.count.propose(Entry.zxid(s.queue[i]), modes[i]);
                if (s.queueViews[i] != null) {
                    s.count.resume(s.queueViews[i]);
                }
            }
        }
        for (int i = s.epochStart; i < s.acked; i++) {
            s.count.ack(s.sid, CommitRule.SELF, Entry.zxid(s.log[i]));
        }
        for (int j = 0; j < n; j++) {
            Link link = s.links[j];
            if (link.open) {
                for (int i = Math.max(s.epochStart, link.joinedAt); i < link.acksRead; i++) {
                    s.count.ack(j + 1L, link.connection, Entry.zxid(s.queue[i]));
                }
            }
            if (durable[j] != Zxid.NONE && j != s.index) {
                s.count.ack(j + 1L, link.connection, durable[j]);
            }
        }
        if (s.committed > s.epochStart) {
            s.count.committed(Entry.zxid(s.queue[s.committed - 1]));
        }
        for (int j = 0; j < n; j++) {
            Link link = s.links[j];
            if (!link.open && durable[j] != Zxid.NONE && j != s.index) {
                s.count.disconnect(j + 1L, link.connection);
            }
        }
    }
}
