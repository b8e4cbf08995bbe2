package io.saucr.model.cluster;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.leader.LeaderState;
import io.saucr.core.leader.ModeController;
import io.saucr.core.leader.ReadIndex;
import io.saucr.core.leader.ReplicationSet;
import io.saucr.core.log.LleKnowledge;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogDurability;
import io.saucr.core.log.Markers;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.CommitRule;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import java.util.ArrayDeque;
import java.util.Arrays;

/** One server of a {@link ModelCluster}: its disk, its log's buffer, and what its role needs. */
final class Server {
    enum Role {
        DOWN,
        RECOVERING,
        LOOKING,
        FOLLOWING,
        LEADING
    }

    static final int NOWHERE = -1;

    static final byte FAST = 0;
    static final byte SLOW = 1;
    static final byte FAST_TO_BE_FORCED = 2;
    static final byte SEAL = 3;

    final int index;
    final long sid;

    Role role = Role.LOOKING;

    /** How often the process has started, and its nonce (R18a). */
    long incarnation = 1;

    /**
     * Whether it lost power in fast mode, or its disk, and has not recovered since: ghost, for S3.
     */
    boolean unrecovered;

    /** Whether its disk was lost and what was lost is not there again (R26). */
    boolean lost;

    // ---- Disk, all of it forced but for the log behind `forced` ----

    /**
     * Whether the page cache is known to hold whatever the markers' fast period has acked: no power
     * was lost since (R25). True while the server is recovered, false while it recovers.
     */
    boolean proven = true;

    long[] log;

    /** Entries in the log: on disk, in the page cache, or in the process's buffer. */
    int length;

    /** How many of them are in the page cache at least, and so outlive the process (R25). */
    int written;

    /** How many of them are on disk. */
    int forced;

    long currentEpoch;
    long acceptedEpoch;
    long fastSwitch;
    long latestOnDisk;
    LleMap mapOnDisk = LleMap.empty();

    /** That of the newest seal that it forced before it acked it (R23). */
    View ownView = View.FIRST;

    // ---- The log's owner; null while down or recovering ----

    LogDurability durability;
    LleKnowledge knowledge;

    /** How many entries of the log may have been acked. */
    int acked;

    /** How the entries that are not acked were appended: see {@link #FAST} and what follows it. */
    byte[] appendedAs;

    /** What a flush has forced and not yet marked, or {@link #NOWHERE}. */
    int flushed = NOWHERE;

    /**
     * The last entry that it says it has, if that is not in its log: only a broken H14 sets it.
     * Else 0.
     */
    long claimed;

    // ---- What it is sent (a follower), or has proposed (a leader), on top of the history before
    // ----

    long[] queue;
    ProposalTag[] queueTags;

    /** What the entries that are seals seal, null for the others (R23). */
    View[] queueViews;

    int queueLength;

    /** The next position of the queue that the log takes. */
    int queueNext;

    /** The tag that proposals without one refer to. */
    ProposalTag announced;

    // ---- A follower ----

    int leader = NOWHERE;

    /**
     * The leader's end of its connection; null when that is closed, or when it follows no leader.
     */
    Link link;

    boolean loggedInitialHistory;
    boolean upToDate;

    /** How much of the queue comes before NEWLEADER. */
    int initialHistory;

    /** How much of the queue comes before UPTODATE, {@link #NOWHERE} before that is sent. */
    int upToDateAt = NOWHERE;

    // ---- A leader ----

    int term;
    boolean established;
    int newLeaderAcks;
    int epochStart;
    int committed;
    boolean noopOwed;

    /** Whether an operator forbids fast mode: ghost, read only by invariants and the codec. */
    boolean pinned;

    /** Whether a pause of its process has changed its mode: ghost. */
    boolean turnedByPause;

    /** Its own clock, which no other server sees. */
    long now;

    LeaderState<Link, ClientSync> state;
    final Link[] links;

    // What its state is made of.
    CommitRule count;
    ReplicationSet set;
    ModeController controller;

    /** What answers its clients' syncs, and what that has been told. */
    ReadIndex<ClientSync> syncs;

    /** The syncs that wait, in order. */
    final ArrayDeque<ClientSync> waiting = new ArrayDeque<>();

    /** The number of the newest question. */
    long asked;

    /** The newest question that each server has answered. */
    final long[] answered;

    /**
     * A sync that waits.
     *
     * @param question the first one that serves it
     * @param acknowledged how many entries had been committed anywhere when it came in
     */
    record ClientSync(long lastProposed, long question, int acknowledged) {}

    // ---- A recovering server ----

    Recovery recovery;

    Server(int index, int servers, int capacity) {
        this.index = index;
        this.sid = index + 1L;
        log = new long[capacity];
        appendedAs = new byte[capacity];
        queue = new long[capacity];
        queueTags = new ProposalTag[capacity];
        queueViews = new View[capacity];
        links = new Link[servers];
        answered = new long[servers];
        for (int i = 0; i < servers; i++) {
            links[i] = new Link();
        }
    }

    boolean recovered() {
        return role == Role.LOOKING || role == Role.FOLLOWING || role == Role.LEADING;
    }

    boolean leads() {
        return role == Role.LEADING;
    }

    long lastLogged() {
        return length == 0 ? Zxid.NONE : Entry.zxid(log[length - 1]);
    }

    long lastWritten() {
        return written == 0 ? Zxid.NONE : Entry.zxid(log[written - 1]);
    }

    /** Whether it may have lost entries that it acked, or what it knew of others. */
    boolean mayHaveForgotten() {
        return lost || (markersSayFast() && !proven);
    }

    boolean markersSayFast() {
        return fastSwitch > latestOnDisk;
    }

    EpochEnds epochEnds() {
        return epochEnds(log, length);
    }

    static EpochEnds epochEnds(long[] entries, int length) {
        long[] ends = new long[length + 1];
        ends[0] = Zxid.NONE;
        int epochs = 1;
        for (int i = 0; i < length; i++) {
            long zxid = Entry.zxid(entries[i]);
            if (i + 1 == length || Zxid.epoch(Entry.zxid(entries[i + 1])) != Zxid.epoch(zxid)) {
                ends[epochs++] = zxid;
            }
        }
        return EpochEnds.of(Zxid.NONE, Arrays.copyOf(ends, epochs));
    }

    void ensureLog(int needed) {
        if (needed > log.length) {
            log = Arrays.copyOf(log, needed * 2);
            appendedAs = Arrays.copyOf(appendedAs, needed * 2);
        }
    }

    void append(long entry) {
        ensureLog(length + 1);
        log[length++] = entry;
    }

    void force() {
        forced = length;
        written = length;
    }

    void cut(int newLength) {
        length = newLength;
        written = Math.min(written, length);
        forced = Math.min(forced, length);
        acked = Math.min(acked, length);
        flushed = NOWHERE;
    }

    void enqueue(long entry, ProposalTag withTag, View sealed) {
        if (queueLength == queue.length) {
            queue = Arrays.copyOf(queue, queueLength * 2);
            queueTags = Arrays.copyOf(queueTags, queueLength * 2);
            queueViews = Arrays.copyOf(queueViews, queueLength * 2);
        }
        queue[queueLength] = entry;
        queueTags[queueLength] = withTag;
        queueViews[queueLength] = sealed;
        queueLength++;
    }

    void copyQueue(Server from) {
        if (queue.length < from.queueLength) {
            queue = new long[from.queue.length];
            queueTags = new ProposalTag[from.queue.length];
            queueViews = new View[from.queue.length];
        }
        System.arraycopy(from.queue, 0, queue, 0, from.queueLength);
        System.arraycopy(from.queueTags, 0, queueTags, 0, from.queueLength);
        System.arraycopy(from.queueViews, 0, queueViews, 0, from.queueLength);
        queueLength = from.queueLength;
    }

    /** Tells the log's owner of the entry at this position of the log. */
    void tellDurability(int position) {
        long zxid = Entry.zxid(log[position]);
        switch (appendedAs[position]) {
            case FAST -> durability.appended(zxid, Mode.FAST);
            case SLOW -> durability.appended(zxid, Mode.SLOW);
            case FAST_TO_BE_FORCED -> durability.appendedFastToBeForced(zxid);
            case SEAL -> durability.appendedSeal(zxid);
            default -> throw new IllegalStateException("appended as " + appendedAs[position]);
        }
    }

    /**
     * The own view once the entries up to this position of the log, exclusively, are on disk: what
     * a log holds that is not acked stands at the same positions of the queue.
     */
    View viewThrough(int end) {
        for (int i = end - 1; i >= acked; i--) {
            if (appendedAs[i] == SEAL) {
                return queueViews[i];
            }
        }
        return ownView;
    }

    /** Takes over its log as it is on its disk, once it is not recovering. */
    void open() {
        durability =
                new LogDurability(
                        new Markers(Math.min(fastSwitch, latestOnDisk), latestOnDisk, mapOnDisk));
        knowledge = new LleKnowledge(mapOnDisk);
        acked = length;
        proven = true;
        flushed = NOWHERE;
        claimed = 0;
    }

    /** Whether it follows somebody, and both ends of the connection are there. */
    boolean attached() {
        return link != null;
    }

    /** What the server says of its log when it votes, acks an epoch or joins (H14). */
    long claim() {
        return Math.max(claimed, lastLogged());
    }

    /** Leaves whatever role it had; the log and its owner stay. */
    void forgetRole() {
        queueLength = 0;
        queueNext = 0;
        announced = null;
        leader = NOWHERE;
        if (link != null) {
            link.otherEnd = null;
            link = null;
        }
        loggedInitialHistory = false;
        upToDate = false;
        initialHistory = 0;
        upToDateAt = NOWHERE;
        term = 0;
        established = false;
        newLeaderAcks = 0;
        epochStart = 0;
        committed = 0;
        noopOwed = false;
        pinned = false;
        turnedByPause = false;
        now = 0;
        count = null;
        set = null;
        controller = null;
        state = null;
        syncs = null;
        waiting.clear();
        asked = 0;
        Arrays.fill(answered, 0);
        for (Link link : links) {
            link.close();
        }
    }
}
