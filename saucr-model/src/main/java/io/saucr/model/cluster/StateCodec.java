package io.saucr.model.cluster;

import io.saucr.core.CommitRule;
import io.saucr.core.Configuration;
import io.saucr.core.LleKnowledge;
import io.saucr.core.LleMap;
import io.saucr.core.LogDurability;
import io.saucr.core.LogOutline;
import io.saucr.core.Markers;
import io.saucr.core.Mode;
import io.saucr.core.ModeController.Decision;
import io.saucr.core.ProposalTag;
import io.saucr.core.RecoveryMessage.EntriesAnswer;
import io.saucr.core.RecoveryMessage.EntriesRequest;
import io.saucr.core.RecoveryMessage.LleAnswer;
import io.saucr.core.RecoveryMessage.OutlineAnswer;
import io.saucr.core.RecoveryMessage.OutlineRequest;
import io.saucr.core.RecoveryMessage.Reason;
import io.saucr.core.RecoveryMessage.SourceAnswer;
import io.saucr.core.RecoveryMessage.Unavailable;
import io.saucr.core.RecoveryProcedure.Finish;
import io.saucr.core.ReplicationSet;
import io.saucr.core.Zxid;
import io.saucr.model.cluster.Server.ClientSync;
import io.saucr.model.cluster.Server.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The state of a {@link ModelCluster} as a few hundred bytes, in which two states that differ in
 * the names of servers alone are (mostly) the same: servers stand in the order of what can be said
 * of them without naming them. Where that leaves a tie, the order is that of their names; then two
 * equal states may be told apart, which costs time and hides nothing.
 *
 * <p>The product's objects are not copied: what happened to them is told to new ones, in an order
 * that leads to the same decisions.
 *
 * <p>Not thread-safe. Epochs and leaders below 32, counters below 64: {@link #encode} refuses more.
 */
@SuppressWarnings("EnumOrdinal") // a code lives as long as the process
public final class StateCodec {
    /** No state takes more bytes. */
    public static final int MAX_BYTES = 4096;

    private static final int REMEMBERED_BITS = 10;
    private static final int REMEMBERED = 1 << REMEMBERED_BITS;
    private static final int ZXID_BITS = 11;
    private static final int USED_UP = 255;
    private static final long MIX = 0x9E3779B97F4A7C15L;
    private static final Role[] ROLES = Role.values();
    private static final Reason[] REASONS = Reason.values();

    private final int n;

    /** Which server stands at a place, and at which place a server stands. */
    private final int[] order;

    private final int[] place;
    private final long[] signature;
    private final long[] refined;

    /** Incarnations of a server that something refers to, as bits. */
    private final long[] incarnations;

    private final boolean answersAreLost;
    private final LleAnswer lost;

    // What was decoded last, by its bits: the same maps and tags come again and again.
    private final boolean remembers;
    private final long[] mapBits = new long[REMEMBERED];
    private final LleMap[] maps = new LleMap[REMEMBERED];
    private final long[] tagBits = new long[REMEMBERED];
    private final ProposalTag[] tags = new ProposalTag[REMEMBERED];

    private byte[] bytes = new byte[0];
    private int at;

    /** For clusters of this many servers. */
    public StateCodec(int servers) {
        this(servers, false);
    }

    /**
     * @param answersAreLost whether answers on their way to a recovering server are never received,
     *     so that it is enough to know that there were any (see {@link PartialOrderReduction})
     */
    public StateCodec(int servers, boolean answersAreLost) {
        n = servers;
        this.answersAreLost = answersAreLost;
        remembers = n * ZXID_BITS + n + 1 <= Long.SIZE;
        lost =
                new LleAnswer(
                        1,
                        1,
                        0,
                        Zxid.NONE,
                        LleMap.empty(),
                        new Configuration(0, List.of(1L)),
                        Optional.empty());
        order = new int[n];
        place = new int[n];
        signature = new long[n];
        refined = new long[n];
        incarnations = new long[n];
    }

    /**
     * The server that the last state encoded has at this place; decoded, it is the server there.
     */
    public int serverAt(int index) {
        return order[index];
    }

    /**
     * Writes the state.
     *
     * @param out at least {@link #MAX_BYTES} long
     * @return how many bytes were written
     */
    public int encode(ModelCluster cluster, byte[] out) {
        findOrder(cluster);
        findIncarnations(cluster);
        bytes = out;
        at = 0;
        writeCluster(cluster);
        for (int i = 0; i < n; i++) {
            writeServer(cluster, cluster.servers[order[i]]);
        }
        return at;
    }

    private static long mix(long value) {
        long z = value * MIX;
        z = (z ^ (z >>> 32)) * 0xD6E8FEB86659FD93L;
        return z ^ (z >>> 29);
    }

    // ---- The order of servers ----

    private void findOrder(ModelCluster cluster) {
        for (int i = 0; i < n; i++) {
            signature[i] = local(cluster.servers[i]);
        }
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < n; i++) {
                refined[i] = relational(cluster, cluster.servers[i]);
            }
            System.arraycopy(refined, 0, signature, 0, n);
        }
        sourcesFirst(cluster);
        for (int i = 0; i < n; i++) {
            int j = i;
            while (j > 0 && signature[order[j - 1]] > signature[i]) {
                order[j] = order[j - 1];
                j--;
            }
            order[j] = i;
        }
        for (int i = 0; i < n; i++) {
            place[order[i]] = i;
        }
    }

    /**
     * Of sources that are equally far a server asks the first: so the one that it asks comes before
     * them, and is the one that it asks after decoding, too.
     */
    private void sourcesFirst(ModelCluster cluster) {
        for (int i = 0; i < n; i++) {
            signature[i] &= Long.MAX_VALUE;
        }
        for (Server s : cluster.servers) {
            if (s.recovery != null && s.recovery.asksSource()) {
                signature[s.recovery.source] |= Long.MIN_VALUE;
            }
        }
    }

    private static long local(Server s) {
        long h = s.role.ordinal();
        h =
                mix(
                        h
                                ^ s.length
                                ^ (long) s.forced << 8
                                ^ (long) s.acked << 16
                                ^ (long) s.flushed << 24);
        h = mix(h ^ s.currentEpoch ^ s.acceptedEpoch << 8 ^ (long) s.queueLength << 16);
        h = mix(h ^ s.fastSwitch);
        h = mix(h ^ s.latestOnDisk);
        for (int i = 0; i < s.length; i++) {
            h = mix(h ^ s.log[i]);
        }
        h =
                mix(
                        h
                                ^ s.queueNext
                                ^ (long) s.initialHistory << 8
                                ^ (long) s.upToDateAt << 16
                                ^ (long) s.committed << 24
                                ^ (s.upToDate ? 1L << 40 : 0)
                                ^ (s.loggedInitialHistory ? 1L << 41 : 0)
                                ^ (s.established ? 1L << 42 : 0)
                                ^ (s.noopOwed ? 1L << 43 : 0)
                                ^ (s.unrecovered ? 1L << 44 : 0)
                                ^ (s.leads() && s.controller.mode() == Mode.FAST ? 1L << 45 : 0));
        h = mix(h ^ own(s));
        return h;
    }

    private static long own(Server s) {
        return s.knowledge == null ? s.mapOnDisk.get(s.sid) : s.knowledge.get(s.sid);
    }

    /** Mixes in what the server and each other one are to each other, in an order without names. */
    private long relational(ModelCluster cluster, Server s) {
        long sum = 0;
        for (int j = 0; j < n; j++) {
            if (j == s.index) {
                continue;
            }
            Server other = cluster.servers[j];
            sum += mix(signature[j] ^ mix(relation(s, other) ^ mix(relation(other, s))));
        }
        return mix(signature[s.index] ^ sum);
    }

    private static long relation(Server s, Server other) {
        long h = s.knowledge == null ? s.mapOnDisk.get(other.sid) : s.knowledge.get(other.sid);
        h = mix(h ^ s.mapOnDisk.get(other.sid) * 31);
        Link link = s.links[other.index];
        if (link.open) {
            h =
                    mix(
                            h
                                    ^ 1
                                    ^ (long) link.acksRead << 1
                                    ^ (long) link.acksSent << 8
                                    ^ (long) link.joinedAt << 16
                                    ^ (long) link.newLeaderAck << 24
                                    ^ (long) link.upToDateAck << 28
                                    ^ (long) link.notices << 32
                                    ^ (long) link.countsFrom << 40);
        }
        if (s.leads()) {
            h = mix(h ^ s.count.durableThrough(other.sid) * 7);
        }
        if (other.leads() && s.link != null && s.leader == other.index) {
            h = mix(h ^ 0x5555);
        }
        Recovery recovery = s.recovery;
        if (recovery != null && recovery.finish == null) {
            h =
                    mix(
                            h
                                    ^ (recovery.underway[other.index] != null ? 1 : 0)
                                    ^ (recovery.received[other.index] != null ? 2 : 0)
                                    ^ (recovery.source == other.index ? 4 : 0)
                                    ^ ((recovery.heard & 1 << other.index) != 0 ? 8 : 0));
        }
        return h;
    }

    private void findIncarnations(ModelCluster cluster) {
        for (int i = 0; i < n; i++) {
            incarnations[i] = 1L << cluster.servers[i].incarnation;
        }
        for (Server l : cluster.servers) {
            if (!l.leads()) {
                continue;
            }
            for (int j = 0; j < n; j++) {
                Link link = l.links[j];
                if (link.open) {
                    incarnations[j] |= 1L << link.incarnation;
                    for (int k = 0; k < link.notices; k++) {
                        incarnations[link.noticeServer[k]] |= 1L << link.noticeIncarnation[k];
                    }
                }
            }
        }
    }

    /** Incarnations keep their order and lose their distance. */
    private int rank(int server, long incarnation) {
        return Long.bitCount(incarnations[server] & ((1L << incarnation) - 1)) + 1;
    }

    // ---- Writing ----

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
            zxid(map.get(order[i] + 1L));
        }
    }

    private void tag(ProposalTag tag) {
        if (tag == null) {
            number(0);
            return;
        }
        int members = 0;
        for (int i = 0; i < n; i++) {
            if (tag.hasMember(order[i] + 1L)) {
                members |= 1 << i;
            }
        }
        number(members);
        number(tag.mode().ordinal());
        map(tag.others());
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
        number(w.terms);
        AcknowledgedHistory history = w.history;
        number(history.length());
        for (int i = 0; i < history.length(); i++) {
            entry(history.get(i));
            number((int) history.epoch(i));
        }
    }

    private void writeServer(ModelCluster w, Server s) {
        number(s.role.ordinal());
        // Who is recovered has nothing to prove, and who has not acked anything fast neither.
        boolean proven = s.role == Role.DOWN && s.proven && s.markersSayFast();
        number((s.unrecovered ? 1 : 0) | (proven ? 2 : 0) | (s.lost ? 4 : 0));
        number(rank(s.index, s.incarnation));
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
            zxid(s.knowledge.get(order[i] + 1L));
        }
    }

    /** Which tags may still be read: by the log, or by who connects to this leader. */
    private static int firstTag(Server s) {
        return s.leads() ? Math.min(s.queueNext, Math.max(s.epochStart, s.committed)) : s.queueNext;
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
        tag(s.announced);
    }

    private void writeFollower(ModelCluster w, Server s) {
        number((s.loggedInitialHistory ? 1 : 0) | (s.upToDate ? 2 : 0));
        number(s.initialHistory);
        optional(s.upToDateAt);
        writeQueue(s);
        optional(w.attached(s.index) ? place[s.leader] : -1);
    }

    private void writeLeader(ModelCluster w, Server s) {
        number(s.term);
        number((s.established ? 1 : 0) | (s.noopOwed ? 2 : 0));
        int acks = 0;
        for (int i = 0; i < n; i++) {
            acks |= (s.newLeaderAcks >> order[i] & 1) << i;
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
            int j = order[i];
            writeLink(s.links[j], j);
            zxid(s.count.durableThrough(j + 1L));
        }
        if (s.count instanceof LooseAckCount loose) {
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
            Link link = s.links[order[i]];
            question(s.answered[order[i]], first);
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
        if (s.tag == null || s.queueLength == s.epochStart) {
            return 0;
        }
        long last = Entry.zxid(s.queue[s.queueLength - 1]);
        ProposalTag next = s.set.propose(last, s.tag.mode());
        return LeaderSteps.sameTag(next, s.tag) ? 1 + s.tag.mode().ordinal() : 0;
    }

    private void writeLink(Link link, int follower) {
        if (!link.open) {
            number(0);
            return;
        }
        number(1);
        number(rank(follower, link.incarnation));
        number(link.joinedAt);
        optional(link.countsFrom);
        number(link.newLeaderAck | link.upToDateAck << 2);
        number(link.acksRead);
        number(link.acksSent);
        number(link.notices);
        for (int k = 0; k < link.notices; k++) {
            number(place[link.noticeServer[k]]);
            number(rank(link.noticeServer[k], link.noticeIncarnation[k]));
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
        outline(recovery.onDisk.log());
        map(recovery.onDisk.markers().lleMap());
        for (int i = 0; i < n; i++) {
            underway(recovery, order[i]);
            answer(recovery, order[i], recovery.received[order[i]]);
        }
        number(recovery.outline == null ? 0 : 1);
        if (recovery.outline != null) {
            outline(recovery.outline.outline());
        }
        sourceAnswer(recovery.sourceAnswer);
    }

    private void outline(LogOutline outline) {
        long[] ends = outline.ends();
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

    private LleAnswer readUnderway(ModelCluster w, Server asker, int from) {
        if (!answersAreLost) {
            return readAnswer(w, asker, from);
        }
        return readSmall() == 0 ? null : lost;
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
    }

    private void sourceAnswer(SourceAnswer answer) {
        if (answer == null) {
            number(0);
        } else if (answer instanceof OutlineAnswer outline) {
            number(1);
            outline(outline.outline());
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

    void servers(int mask) {
        int written = 0;
        for (int i = 0; i < n; i++) {
            written |= (mask >> order[i] & 1) << i;
        }
        number(written);
    }

    // ---- Reading ----

    /** Makes the cluster the one whose state was written; its servers stand at their places. */
    public void decode(ModelCluster cluster, byte[] in) {
        bytes = in;
        at = 0;
        for (int i = 0; i < n; i++) {
            order[i] = i;
            place[i] = i;
        }
        readCluster(cluster);
        for (int i = 0; i < n; i++) {
            readServer(cluster, cluster.servers[i]);
        }
        for (Server s : cluster.servers) {
            if (s.leader != Server.NOWHERE) {
                cluster.servers[s.leader].links[s.index].attach(s);
            }
        }
    }

    int readSmall() {
        return bytes[at++] & 0xff;
    }

    private int readOptional() {
        return readSmall() - 1;
    }

    private long readZxid() {
        int code = readSmall() << 8 | readSmall();
        return (long) (code >> 6 & 31) << 32 | (code & 63);
    }

    private long readEntry() {
        int leader = bytes[at] >> 3 & 31;
        return Entry.of(readZxid(), leader);
    }

    private LleMap readMap() {
        if (!remembers) {
            return newMap();
        }
        long bits = 0;
        for (int i = 0; i < n; i++) {
            bits = (bits << ZXID_BITS) | (readSmall() << 8) | readSmall();
        }
        if (bits == 0) {
            return LleMap.empty();
        }
        int slot = slot(bits);
        if (mapBits[slot] != bits) {
            at -= 2 * n;
            maps[slot] = newMap();
            mapBits[slot] = bits;
        }
        return maps[slot];
    }

    private LleMap newMap() {
        LleMap map = LleMap.empty();
        for (int i = 0; i < n; i++) {
            long zxid = readZxid();
            if (zxid != Zxid.NONE) {
                map = map.with(i + 1L, zxid);
            }
        }
        return map;
    }

    private static int slot(long bits) {
        return (int) ((bits * MIX) >>> (Long.SIZE - REMEMBERED_BITS));
    }

    private ProposalTag readTag() {
        int mask = readSmall();
        if (mask == 0) {
            return null;
        }
        int modeBit = readSmall();
        if (!remembers) {
            return newTag(mask, modeBit);
        }
        long bits = 0;
        for (int i = 0; i < n; i++) {
            bits = (bits << ZXID_BITS) | (readSmall() << 8) | readSmall();
        }
        bits = (((bits << n) | mask) << 1) | modeBit;
        int slot = slot(bits);
        if (tagBits[slot] != bits) {
            at -= 2 * n;
            tags[slot] = newTag(mask, modeBit);
            tagBits[slot] = bits;
        }
        return tags[slot];
    }

    private ProposalTag newTag(int mask, int modeBit) {
        Mode mode = modeBit == Mode.FAST.ordinal() ? Mode.FAST : Mode.SLOW;
        long[] members = new long[Integer.bitCount(mask)];
        int count = 0;
        for (int i = 0; i < n; i++) {
            if ((mask & 1 << i) != 0) {
                members[count++] = i + 1L;
            }
        }
        return ProposalTag.of(mode, members, readMap());
    }

    private void readCluster(ModelCluster w) {
        w.reset();
        w.entries = readSmall();
        w.noops = readSmall();
        w.elections = readSmall();
        w.crashes = readSmall();
        w.suspicions = readSmall();
        w.confirmations = readSmall();
        w.disconnects = readSmall();
        w.forces = readSmall();
        w.syncs = readSmall();
        w.kills = readSmall();
        w.lostDisks = readSmall();
        w.terms = readSmall();
        int length = readSmall();
        for (int i = 0; i < length; i++) {
            long entry = readEntry();
            w.history.restore(entry, readSmall());
        }
    }

    private void readServer(ModelCluster w, Server s) {
        s.role = ROLES[readSmall()];
        int flags = readSmall();
        s.unrecovered = (flags & 1) != 0;
        s.proven = s.recovered() || (flags & 2) != 0;
        s.lost = (flags & 4) != 0;
        s.incarnation = readSmall();
        int length = readSmall();
        s.written = readSmall();
        s.forced = readSmall();
        s.length = 0;
        for (int i = 0; i < length; i++) {
            s.append(readEntry());
        }
        s.currentEpoch = readSmall();
        s.acceptedEpoch = readSmall();
        s.fastSwitch = readZxid();
        s.latestOnDisk = readZxid();
        s.mapOnDisk = readMap();
        s.durability = null;
        s.knowledge = null;
        if (s.recovered()) {
            readLogOwner(s);
        }
        switch (s.role) {
            case FOLLOWING -> readFollower(s);
            case LEADING -> readLeader(w, s);
            case RECOVERING -> readRecovery(w, s);
            case DOWN -> {
                s.acked = s.length;
                s.flushed = Server.NOWHERE;
                s.claimed = 0;
            }
            case LOOKING -> {}
        }
    }

    private void readLogOwner(Server s) {
        s.acked = readSmall();
        for (int i = s.acked; i < s.length; i++) {
            s.appendedAs[i] = (byte) readSmall();
        }
        s.flushed = readOptional();
        s.claimed = readZxid();
        long fastSwitch = readZxid();
        long latestOnDisk = readZxid();
        boolean fast = fastSwitch > latestOnDisk;
        s.durability =
                new LogDurability(
                        new Markers(fast ? Zxid.NONE : fastSwitch, latestOnDisk, s.mapOnDisk));
        if (fast) {
            s.durability.markedFastSwitch(fastSwitch);
        }
        for (int i = s.acked; i < s.length; i++) {
            s.tellDurability(i);
        }
        s.knowledge = new LleKnowledge(readMap());
    }

    private void readQueue(Server s) {
        s.queueNext = readSmall();
        int length = readSmall();
        for (int i = 0; i < length; i++) {
            s.enqueue(readEntry(), null);
        }
        for (int i = firstTag(s); i < length; i++) {
            s.queueTags[i] = readTag();
        }
        s.announced = readTag();
    }

    private void readFollower(Server s) {
        int flags = readSmall();
        s.loggedInitialHistory = (flags & 1) != 0;
        s.upToDate = (flags & 2) != 0;
        s.initialHistory = readSmall();
        s.upToDateAt = readOptional();
        readQueue(s);
        s.leader = readOptional();
    }

    private void readLeader(ModelCluster w, Server s) {
        s.term = readSmall();
        int flags = readSmall();
        s.established = (flags & 1) != 0;
        s.noopOwed = (flags & 2) != 0;
        s.newLeaderAcks = readSmall();
        s.epochStart = readSmall();
        s.committed = readSmall();
        readQueue(s);
        Mode[] modes = new Mode[s.queueLength];
        for (int i = s.epochStart; i < s.queueLength; i++) {
            modes[i] = readSmall() == Mode.FAST.ordinal() ? Mode.FAST : Mode.SLOW;
        }
        boolean fast = readSmall() == Mode.FAST.ordinal();
        int tagState = readSmall();
        LleMap others = readMap();
        w.leaderSteps.beginEpoch(s);
        if (fast && s.controller.promptness(n, true, false, 0) != Decision.TURN_FAST) {
            throw new IllegalStateException("the leader does not turn to fast mode");
        }
        long[] durable = new long[n];
        for (int j = 0; j < n; j++) {
            readLink(s.links[j]);
            durable[j] = readZxid();
        }
        restoreSet(s, others, tagState);
        if (s.count instanceof LooseAckCount loose) {
            loose.read(this, s, modes, durable);
        } else {
            restoreCount(s, modes, durable);
        }
        for (int j = 0; j < n; j++) {
            if (s.links[j].open) {
                s.fence.connected(j + 1L, s.links[j].connection, s.links[j].incarnation);
            }
        }
        readSyncs(s);
    }

    /** Tells a new barrier what the old one was told, in the same order. */
    private void readSyncs(Server s) {
        s.asked = readSmall();
        int waiting = readSmall();
        long asked = 0;
        for (int i = 0; i < waiting; i++) {
            long lastProposed = readZxid();
            ClientSync sync = new ClientSync(lastProposed, 1L + readSmall(), readSmall());
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
            s.answered[j] = readSmall();
            s.syncs.answered(j + 1L, s.answered[j]);
            link.asked = readSmall();
            link.question = readSmall();
            link.answer = readSmall();
        }
    }

    private void readLink(Link link) {
        link.close();
        link.open = readSmall() != 0;
        if (!link.open) {
            return;
        }
        link.incarnation = readSmall();
        link.joinedAt = readSmall();
        link.countsFrom = readOptional();
        int acks = readSmall();
        link.newLeaderAck = acks & 3;
        link.upToDateAck = acks >> 2;
        link.acksRead = readSmall();
        link.acksSent = readSmall();
        link.notices = readSmall();
        for (int k = 0; k < link.notices; k++) {
            link.noticeServer[k] = readSmall();
            link.noticeIncarnation[k] = readSmall();
            link.noticeBefore[k] = readSmall();
        }
    }

    private void restoreSet(Server s, LleMap others, int tagState) {
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
        s.tag =
                tagState == 0
                        ? null
                        : s.set.propose(
                                last, tagState == 1 + Mode.FAST.ordinal() ? Mode.FAST : Mode.SLOW);
    }

    /** Tells a new commit rule everything that still matters of what the old one was told. */
    private void restoreCount(Server s, Mode[] modes, long[] durable) {
        for (int j = 0; j < n; j++) {
            Link link = s.links[j];
            if (link.open || (durable[j] != Zxid.NONE && j != s.index)) {
                link.connection = s.count.connect(j + 1L);
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

    private void readRecovery(ModelCluster w, Server s) {
        s.acked = s.length;
        s.flushed = Server.NOWHERE;
        s.claimed = 0;
        if (readSmall() == 1) {
            w.recoverySteps.query(s, s.mapOnDisk);
            long lastLogged = readZxid();
            long currentEpoch = readSmall();
            long latestOnDisk = readZxid();
            long fastSwitch = readZxid();
            s.recovery.finish =
                    new Finish(
                            lastLogged,
                            currentEpoch,
                            latestOnDisk,
                            readMap(),
                            fastSwitch,
                            currentEpoch,
                            false);
            return;
        }
        long currentEpoch = readSmall() - 1L;
        int ledEpoch = readOptional();
        int heard = readSmall();
        LogOutline log = readOutline();
        LleMap map = readMap();
        Recovery recovery =
                new Recovery(
                        s.sid,
                        s.incarnation,
                        currentEpoch,
                        log,
                        new Markers(s.fastSwitch, s.latestOnDisk, map),
                        w.voters,
                        s.lost,
                        w.broken.contains(BrokenRule.R26_NO_NEW_ROUND));
        s.recovery = recovery;
        recovery.ledEpoch = ledEpoch;
        recovery.heard = heard;
        for (int j = 0; j < n; j++) {
            recovery.underway[j] = readUnderway(w, s, j);
            LleAnswer received = readAnswer(w, s, j);
            if (received != null) {
                recovery.receive(j, received, recovery.promised[j]);
            }
        }
        if (readSmall() == 1) {
            long request = ((OutlineRequest) recovery.request).requestId();
            recovery.receive(
                    new OutlineAnswer(s.incarnation, recovery.source + 1L, request, readOutline()));
        }
        readSourceAnswer(s);
    }

    private LogOutline readOutline() {
        long[] ends = new long[readSmall()];
        for (int i = 0; i < ends.length; i++) {
            ends[i] = readZxid();
        }
        return ends.length == 1 && ends[0] == Zxid.NONE
                ? LogOutline.startingAt(Zxid.NONE)
                : LogOutline.of(Zxid.NONE, ends);
    }

    private LleAnswer readAnswer(ModelCluster w, Server asker, int from) {
        int epoch = readSmall() - 1;
        if (epoch < 0) {
            return null;
        }
        asker.recovery.promised[from] = readSmall();
        long last = readZxid();
        return new LleAnswer(
                asker.incarnation, from + 1L, epoch, last, readMap(), w.voters, Optional.empty());
    }

    private void readSourceAnswer(Server s) {
        int kind = readSmall();
        if (kind == 0) {
            return;
        }
        Recovery recovery = s.recovery;
        long source = recovery.source + 1L;
        long request =
                recovery.request instanceof OutlineRequest outline
                        ? outline.requestId()
                        : ((EntriesRequest) recovery.request).requestId();
        if (kind == 1) {
            recovery.sourceAnswer =
                    new OutlineAnswer(s.incarnation, source, request, readOutline());
        } else if (kind <= 3) {
            int count = readSmall();
            List<io.saucr.core.RecoveryMessage.Entry> entries = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                long entry = readEntry();
                entries.add(
                        new io.saucr.core.RecoveryMessage.Entry(
                                Entry.zxid(entry), Entry.transaction(entry)));
            }
            recovery.sourceAnswer =
                    new EntriesAnswer(s.incarnation, source, request, entries, kind == 2);
        } else {
            recovery.sourceAnswer =
                    new Unavailable(s.incarnation, source, request, REASONS[kind - 4]);
        }
    }
}
