package io.saucr.model.cluster;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.SourceAnswer;
import io.saucr.core.recovery.RecoveryMessage.Unavailable;
import io.saucr.model.cluster.Server.ClientSync;
import io.saucr.model.cluster.Server.Role;

/**
 * Writes the state of a {@link ModelCluster} as bytes, its servers in a {@link ServerOrder}; {@link
 * StateReader} reads them.
 */
@SuppressWarnings("EnumOrdinal") // a code lives as long as the process
final class StateWriter {
    private static final int USED_UP = 255;

    private final int n;
    private final ServerOrder order;
    private final boolean answersAreLost;
    private byte[] bytes = new byte[0];
    private int at;

    StateWriter(int servers, ServerOrder order, boolean answersAreLost) {
        n = servers;
        this.order = order;
        this.answersAreLost = answersAreLost;
    }

    /** Writes the state and returns how many bytes it takes. */
    int write(ModelCluster cluster, byte[] out) {
        bytes = out;
        at = 0;
        writeCluster(cluster);
        for (int i = 0; i < n; i++) {
            writeServer(cluster, cluster.servers[order.serverAt(i)]);
        }
        return at;
    }

    private void number(int value) {
        if (value < 0 || value > 255) {
            throw new IllegalStateException(value + " does not fit into a byte");
        }
        bytes[at++] = (byte) value;
    }

    private void optional(int value) {
        number(value + 1);
    }

    private void zxid(long zxid) {
        long epoch = Zxid.epoch(zxid);
        long counter = Zxid.counter(zxid);
        if (epoch > 31 || counter > 63) {
            throw new IllegalStateException(Zxid.toString(zxid) + " is too large to be encoded");
        }
        int code = (int) (epoch << 6 | counter);
        bytes[at++] = (byte) (code >> 8);
        bytes[at++] = (byte) code;
    }

    private void entry(long entry) {
        int leader = Entry.leader(entry);
        if (leader > 31) {
            throw new IllegalStateException("leader " + leader + " is too large to be encoded");
        }
        zxid(Entry.zxid(entry));
        bytes[at - 2] |= (byte) (leader << 3);
    }

    private void map(LleMap map) {
        for (int i = 0; i < n; i++) {
            zxid(map.get(order.serverAt(i) + 1L));
        }
    }

    private void tag(ProposalTag tag) {
        if (tag == null) {
            number(0);
            return;
        }
        int members = 0;
        for (int i = 0; i < n; i++) {
            if (tag.hasMember(order.serverAt(i) + 1L)) {
                members |= 1 << i;
            }
        }
        number(members);
        number(tag.mode().ordinal());
        map(tag.others());
    }

    /** 0 if there is no view. */
    private void members(View view) {
        servers(view == null ? 0 : mask(view));
    }

    /** The members as bits. */
    static int mask(View view) {
        int members = 0;
        for (int i = 0; i < view.members().size(); i++) {
            members |= 1 << (view.members().get(i) - 1);
        }
        return members;
    }

    void servers(int mask) {
        int written = 0;
        for (int i = 0; i < n; i++) {
            written |= (mask >> order.serverAt(i) & 1) << i;
        }
        number(written);
    }

    private void writeCluster(ModelCluster w) {
        // What is left of a bound does not matter when nobody can use it any more.
        boolean led = w.elections < w.bounds.elections();
        boolean fast = false;
        for (Server s : w.servers) {
            led |= s.leads();
            fast |= s.leads() && s.controller.mode() == Mode.FAST;
        }
        fast |= led && w.confirmations < w.bounds.confirmations();
        number(led ? w.entries : USED_UP);
        number(led ? w.noops : USED_UP);
        number(w.elections);
        number(w.crashes);
        number(fast ? w.suspicions : USED_UP);
        number(led ? w.confirmations : USED_UP);
        number(w.disconnects);
        number(w.forces);
        number(led ? w.syncs : USED_UP);
        number(w.kills);
        number(w.lostDisks);
        number(led ? w.pins : USED_UP);
        number(led ? w.drains : USED_UP);
        number(led ? w.misses : USED_UP);
        number(led ? w.pauses : USED_UP);
        number(w.terms);
        AcknowledgedHistory history = w.history;
        number(history.length());
        for (int i = 0; i < history.length(); i++) {
            entry(history.get(i));
            number((int) history.epoch(i));
            servers(history.acks(i));
        }
    }

    private void writeServer(ModelCluster w, Server s) {
        number(s.role.ordinal());
        // The proof matters only for a server that is down and has acked fast entries.
        boolean proven = s.role == Role.DOWN && s.proven && s.markersSayFast();
        number((s.unrecovered ? 1 : 0) | (proven ? 2 : 0) | (s.lost ? 4 : 0));
        number(order.rank(s.index, s.incarnation));
        number(s.length);
        number(s.written);
        number(s.forced);
        for (int i = 0; i < s.length; i++) {
            entry(s.log[i]);
        }
        number((int) s.currentEpoch);
        number((int) s.acceptedEpoch);
        zxid(s.markersSayFast() ? s.fastSwitch : Zxid.NONE);
        zxid(s.latestOnDisk);
        map(s.mapOnDisk);
        zxid(s.ownView.seal());
        members(s.ownView);
        if (s.recovered()) {
            writeLogOwner(s);
        }
        switch (s.role) {
            case FOLLOWING -> writeFollower(w, s);
            case LEADING -> writeLeader(w, s);
            case RECOVERING -> writeRecovery(s.recovery);
            case DOWN, LOOKING -> {}
        }
    }

    private void writeLogOwner(Server s) {
        number(s.acked);
        for (int i = s.acked; i < s.length; i++) {
            number(s.appendedAs[i]);
        }
        optional(s.flushed);
        zxid(s.claimed);
        zxid(s.durability.claimsOnDisk() ? Zxid.NONE : s.durability.fastSwitch());
        zxid(s.durability.latestOnDisk());
        for (int i = 0; i < n; i++) {
            zxid(s.knowledge.get(order.serverAt(i) + 1L));
        }
    }

    /** Which tags may still be read: by the log, or by who connects to this leader. */
    static int firstTag(Server s) {
        return s.leads() ? Math.min(s.queueNext, Math.max(s.epochStart, s.committed)) : s.queueNext;
    }

    /**
     * From where on it matters which entries are seals: not acked ones do, and at a leader the
     * newest one before what is not committed, and those that a server which connects is sent.
     */
    private static int firstView(Server s) {
        int first = Math.min(s.acked, s.queueNext);
        if (s.leads()) {
            int seal = Math.min(s.queueLength, Math.max(s.epochStart, s.committed)) - 1;
            while (seal >= s.epochStart && s.queueViews[seal] == null) {
                seal--;
            }
            first = Math.min(first, Math.max(seal, s.epochStart));
        }
        return first;
    }

    private void writeQueue(Server s) {
        number(s.queueNext);
        number(s.queueLength);
        for (int i = 0; i < s.queueLength; i++) {
            entry(s.queue[i]);
        }
        for (int i = firstTag(s); i < s.queueLength; i++) {
            tag(s.queueTags[i]);
        }
        int first = firstView(s);
        number(first);
        for (int i = first; i < s.queueLength; i++) {
            members(s.queueViews[i]);
        }
        tag(s.announced);
    }

    private void writeFollower(ModelCluster w, Server s) {
        number((s.loggedInitialHistory ? 1 : 0) | (s.upToDate ? 2 : 0));
        number(s.initialHistory);
        optional(s.upToDateAt);
        writeQueue(s);
        optional(w.attached(s.index) ? order.placeOf(s.leader) : -1);
    }

    private void writeLeader(ModelCluster w, Server s) {
        number(s.term);
        number(
                (s.established ? 1 : 0)
                        | (s.noopOwed ? 2 : 0)
                        | (s.pinned ? 4 : 0)
                        | (s.state.draining() ? 8 : 0)
                        | (s.turnedByPause ? 16 : 0));
        int acks = 0;
        for (int i = 0; i < n; i++) {
            acks |= (s.newLeaderAcks >> order.serverAt(i) & 1) << i;
        }
        number(acks);
        number(s.epochStart);
        number(s.committed);
        writeQueue(s);
        for (int i = s.epochStart; i < s.queueLength; i++) {
            number(s.count.mode(Entry.zxid(s.queue[i])).ordinal());
        }
        number(s.controller.mode().ordinal());
        number(tagState(s));
        map(s.set.others());
        for (int i = 0; i < n; i++) {
            int j = order.serverAt(i);
            writeLink(s.links[j], j);
            zxid(s.count.durableThrough(j + 1L));
        }
        if (s.count instanceof LooseCommitRule loose) {
            loose.write(this);
        }
        writeSyncs(w, s);
    }

    /** Questions count from the first one that can still serve a sync. */
    private void writeSyncs(ModelCluster w, Server s) {
        long first = w.syncSteps.firstThatMatters(s);
        number((int) (s.asked + 1 - first));
        number(s.waiting.size());
        for (ClientSync sync : s.waiting) {
            zxid(sync.lastProposed());
            number((int) (sync.question() - first));
            number(sync.acknowledged());
        }
        for (int i = 0; i < n; i++) {
            Link link = s.links[order.serverAt(i)];
            question(s.answered[order.serverAt(i)], first);
            question(link.asked, first);
            question(link.question, first);
            question(link.answer, first);
        }
    }

    private void question(long question, long first) {
        number(question < first ? 0 : (int) (question + 1 - first));
    }

    /** Whether the next proposal of one mode says nothing new. */
    private static int tagState(Server s) {
        ProposalTag tag = s.state.tag();
        if (tag == null || s.queueLength == s.epochStart) {
            return 0;
        }
        long last = Entry.zxid(s.queue[s.queueLength - 1]);
        ProposalTag next = s.set.propose(last, tag.mode());
        return LeaderSteps.sameTag(next, tag) ? 1 + tag.mode().ordinal() : 0;
    }

    private void writeLink(Link link, int follower) {
        if (!link.open) {
            number(0);
            return;
        }
        number(1);
        number(order.rank(follower, link.incarnation));
        number(link.joinedAt);
        optional(link.countsFrom);
        number(link.newLeaderAck | link.upToDateAck << 2 | (link.silent ? 16 : 0));
        number(link.acksRead);
        number(link.acksSent);
        number(link.notices);
        for (int k = 0; k < link.notices; k++) {
            number(order.placeOf(link.noticeServer[k]));
            number(order.rank(link.noticeServer[k], link.noticeIncarnation[k]));
            number(link.noticeBefore[k]);
        }
    }

    private void writeRecovery(Recovery recovery) {
        if (recovery.finish != null) {
            number(1);
            zxid(recovery.finish.lastLogged());
            number((int) recovery.finish.currentEpoch());
            zxid(recovery.finish.latestOnDisk());
            zxid(recovery.finish.fastSwitch());
            map(recovery.finish.lleMap());
            return;
        }
        number(0);
        number((int) recovery.onDisk.currentEpoch() + 1);
        optional(recovery.ledEpoch);
        servers(recovery.heard);
        epochEnds(recovery.onDisk.log());
        map(recovery.onDisk.markers().lleMap());
        for (int i = 0; i < n; i++) {
            underway(recovery, order.serverAt(i));
            answer(recovery, order.serverAt(i), recovery.received[order.serverAt(i)]);
        }
        number(recovery.epochEnds == null ? 0 : 1);
        if (recovery.epochEnds != null) {
            epochEnds(recovery.epochEnds.epochEnds());
        }
        sourceAnswer(recovery.sourceAnswer);
    }

    private void epochEnds(EpochEnds epochEnds) {
        long[] ends = epochEnds.ends();
        number(ends.length);
        for (long end : ends) {
            zxid(end);
        }
    }

    private void underway(Recovery recovery, int from) {
        LleAnswer answer = recovery.underway[from];
        if (answer == null || !recovery.asksForAnswers()) {
            number(0);
        } else if (answersAreLost) {
            number(1);
        } else {
            answer(recovery, from, answer);
        }
    }

    private void answer(Recovery recovery, int from, LleAnswer answer) {
        if (answer == null) {
            number(0);
            return;
        }
        number((int) answer.currentEpoch() + 1);
        number((int) recovery.promised[from]);
        zxid(answer.lastLogged());
        map(answer.lleMap());
        zxid(answer.ownView());
    }

    private void sourceAnswer(SourceAnswer answer) {
        if (answer == null) {
            number(0);
        } else if (answer instanceof EpochEndsAnswer a) {
            number(1);
            epochEnds(a.epochEnds());
        } else if (answer instanceof EntriesAnswer entries) {
            number(entries.end() ? 2 : 3);
            number(entries.entries().size());
            entries.entries()
                    .forEach(
                            each -> entry(Entry.of(each.zxid(), Entry.leader(each.transaction()))));
        } else if (answer instanceof Unavailable unavailable) {
            number(4 + unavailable.reason().ordinal());
        } else {
            throw new IllegalStateException("nobody answers that here: " + answer);
        }
    }
}
