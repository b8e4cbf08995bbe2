package io.saucr.core.quorum;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/**
 * Decides when a proposal of one leader's epoch commits (R3, R4), given who was sent it (R2), who
 * acked it over which connection (R21, R20), in which mode it was proposed, and which view was
 * sealed before it (R23): only members who were sent the seal over the same connection count
 * towards F, so each of them has synced the seal before it acks the entry.
 *
 * <p>Guarantees to the leader: {@link #committableThrough()} never passes an entry that has neither
 * F acks of itself by members of the view over the connections into which it was first put, nor B
 * durable acks at or after it. An ack over a connection that is no longer a server's current one is
 * ignored.
 *
 * <p>Not thread-safe: owned by the leader's lock. Allocates only when the number of outstanding
 * entries passes its highest value so far. Not final, so that the model can put one in its place
 * that breaks a rule.
 */
public class CommitRule {
    /** The connection number of the leader to itself; it never breaks. */
    public static final long SELF = 0;

    private static final long NO_CONNECTION = -1;
    private static final int MAX_SERVERS = 64;

    /** Slots that only voters may take, no matter which other servers connect. */
    private static final int SLOTS_FOR_VOTERS = 16;

    private static final int MODE_RUNS = 64;

    /** A power of two; grows to what is outstanding at most. */
    private static final int INITIAL_RING = 64;

    private final long self;

    // One slot per voter and per server that is connected; other slots are used again.
    private final long[] sids = new long[MAX_SERVERS];
    private final long[] connections = new long[MAX_SERVERS];
    private final long[] durableThrough = new long[MAX_SERVERS];
    private int slots;
    private long lastConnection = SELF;

    // Bit masks over slots.
    private long joined;
    private long stock;

    /** Who is connected, but has not been heard for so long that no view should need it (R23). */
    private long silent;

    private long voters;
    private long pendingVoters;

    /** Members of the newest seal's view; 0 before the first seal. */
    private long view;

    /** Those of them whose connection is still the one that the seal was put into. */
    private long sealed;

    // Outstanding entries: consecutive zxids from `first`, in a ring.
    private long[] members = new long[INITIAL_RING];
    private long[] acks = new long[INITIAL_RING];
    private long[] configuration = new long[INITIAL_RING];
    private long[] nextConfiguration = new long[INITIAL_RING];
    private int head;
    private int outstanding;
    private long lastProposed;

    // The mode of a zxid, also after its commit: an ack that arrives late still tells of a disk.
    private final long[] runStart = new long[MODE_RUNS];
    private final Mode[] runMode = new Mode[MODE_RUNS];
    private int runs;

    private long lastSlow;

    /**
     * @param self the leader's sid
     * @param voters sids of the current configuration's voters, at most 64
     */
    public CommitRule(long self, Collection<Long> voters) {
        this.self = self;
        this.voters = mask(voters);
        int slot = slotOf(self);
        connections[slot] = SELF;
        joined = 1L << slot;
    }

    /**
     * The epoch is known. Connections may be older than that, proposals not.
     *
     * @param zxid the zxid before the epoch's first proposal (counter 0)
     */
    public void startEpoch(long zxid) {
        if (lastProposed != 0) {
            throw new IllegalStateException("the epoch started at " + Zxid.toString(lastProposed));
        }
        lastProposed = zxid;
        lastSlow = zxid;
    }

    /**
     * A server's connection is accepted (R21): every ack counted from it for uncommitted entries is
     * void.
     *
     * @param situationAware whether the server announced SAUCR; if not, all its acks are durable,
     *     and none counts towards F (H12)
     * @return the number of the new connection, unique in this epoch
     * @throws IllegalArgumentException if the server is the leader itself
     * @throws IllegalStateException if too many servers are connected that are no voters
     */
    public long connect(long sid, boolean situationAware) {
        if (sid == self) {
            throw new IllegalArgumentException("server " + sid + " is the leader itself");
        }
        if (find(sid) < 0 && freeSlots() <= SLOTS_FOR_VOTERS) {
            throw new IllegalStateException(
                    "server " + sid + " is no voter, and too many others are none either");
        }
        int slot = slotOf(sid);
        leaveEverySet(slot);
        durableThrough[slot] = 0;
        if (situationAware) {
            stock &= ~(1L << slot);
        } else {
            stock |= 1L << slot;
        }
        connections[slot] = ++lastConnection;
        silent &= ~(1L << slot);
        return lastConnection;
    }

    /**
     * From the next seal on the acks of new proposals over this connection count towards F (R23):
     * each is put into it (R2), and the server has acked UPTODATE, so that it treats as fast what
     * is fast (H5). A server that takes a fast entry for slow acks it without a marker that says
     * "fast", and may forget in a crash what the entry taught it of the others. Ignored if the
     * connection is not the current one.
     */
    public void join(long sid, long connection) {
        int slot = find(sid);
        if (slot >= 0 && connections[slot] == connection) {
            joined |= 1L << slot;
        }
    }

    /**
     * The connection is lost: its server leaves the set of every uncommitted entry (R2). Ignored if
     * it is not the current one.
     */
    public void disconnect(long sid, long connection) {
        int slot = find(sid);
        if (slot < 0 || sid == self || connections[slot] != connection) {
            return;
        }
        connections[slot] = NO_CONNECTION;
        leaveEverySet(slot);
    }

    /**
     * The server's process that acked so far is dead, and its successor may lack what it acked
     * (R20): its connection is lost, and every ack counted from it for uncommitted entries is void,
     * durable ones, too.
     */
    public void restarted(long sid) {
        int slot = find(sid);
        if (slot < 0 || sid == self) {
            return;
        }
        connections[slot] = NO_CONNECTION;
        durableThrough[slot] = 0;
        leaveEverySet(slot);
    }

    /**
     * A proposal is put into the queue of every joined connection (R1, R2).
     *
     * @param zxid one more than the last
     * @throws IllegalStateException if the zxid is not the next, or a fast entry is proposed while
     *     a reconfiguration is pending (R7)
     */
    public void propose(long zxid, Mode mode) {
        if (zxid != lastProposed + 1) {
            throw new IllegalStateException(
                    "proposal %s does not follow %s"
                            .formatted(Zxid.toString(zxid), Zxid.toString(lastProposed)));
        }
        if (mode == Mode.FAST && pendingVoters != 0) {
            throw new IllegalStateException(
                    "fast proposal " + Zxid.toString(zxid) + " while a reconfiguration is pending");
        }
        if (outstanding == members.length) {
            grow();
        }
        int i = index(outstanding);
        members[i] = counting(joined, view, sealed);
        acks[i] = 0;
        configuration[i] = voters;
        nextConfiguration[i] = pendingVoters;
        outstanding++;
        lastProposed = zxid;
        if (runs == 0 || runMode[runs - 1] != mode) {
            startRun(zxid, mode);
        }
        if (mode == Mode.SLOW) {
            lastSlow = zxid;
        }
    }

    /**
     * Whose acks of an entry that is proposed now count towards F, as bits (R23).
     *
     * @param connected who has joined
     * @param members of the newest seal's view
     * @param whoGotTheSeal the members who are connected as they were then
     */
    protected long counting(long connected, long members, long whoGotTheSeal) {
        return whoGotTheSeal;
    }

    /**
     * Says whether a server that is connected is silent: then the next seal's view is one without
     * it (R23). Its acks count as before until that is sealed.
     *
     * @return whether that is news
     */
    public boolean silent(long sid, boolean isSilent) {
        int slot = find(sid);
        if (slot < 0 || ((silent >>> slot & 1) != 0) == isSilent) {
            return false;
        }
        silent ^= 1L << slot;
        return true;
    }

    /**
     * Whether the voters that may count towards F are others than the newest seal's members, or one
     * of them has connected since (R23). False while a reconfiguration is pending, and while fewer
     * than a bare majority have joined and are not silent: they could not seal a view.
     */
    public boolean sealDue() {
        long connected = mayCount();
        return pendingVoters == 0
                && Long.bitCount(connected) >= bareMajority(voters)
                && (connected != view || connected != sealed);
    }

    /** Whether every member of the newest seal's view is still there, connected as it was then. */
    public boolean viewIsWhole() {
        return view == sealed && (view & silent) == 0;
    }

    /**
     * As {@link #propose} of a slow entry, which seals the view of all who have joined and are not
     * silent (R23).
     *
     * @throws IllegalStateException if no seal is due
     */
    public View proposeSeal(long zxid) {
        if (!sealDue()) {
            throw new IllegalStateException("no seal is due at " + Zxid.toString(zxid));
        }
        propose(zxid, Mode.SLOW);
        view = mayCount();
        sealed = view;
        return new View(zxid, Long.bitCount(voters), sidsOf(view));
    }

    private long mayCount() {
        return joined & voters & ~stock & ~silent;
    }

    /** A new configuration has no view before it is sealed (R7, R23). */
    private void forgetView() {
        view = 0;
        sealed = 0;
    }

    /** Whether the server is a member of the newest seal's view, over the same connection. */
    public boolean sealed(long sid) {
        int slot = find(sid);
        return slot >= 0 && (sealed & (1L << slot)) != 0;
    }

    /**
     * A server says that it has the entry: in its log if the entry is fast, on its disk if it is
     * slow (R3). Acks over other than the current connection, and of entries that were never
     * proposed, are ignored.
     */
    public void ack(long sid, long connection, long zxid) {
        int slot = find(sid);
        if (slot < 0 || connections[slot] != connection || zxid > lastProposed) {
            return;
        }
        boolean durable = (stock & (1L << slot)) != 0 || modeOf(zxid) == Mode.SLOW;
        if (durable && zxid > durableThrough[slot]) {
            durableThrough[slot] = zxid;
        }
        long offset = zxid - first();
        if (offset >= 0) {
            int i = index((int) offset);
            acks[i] |= members[i] & ~stock & (1L << slot);
        }
    }

    /**
     * The highest zxid such that it and all before it may commit (R4); the last committed one if
     * there is none.
     */
    public long committableThrough() {
        int n = 0;
        while (n < outstanding && committable(n)) {
            n++;
        }
        return first() + n - 1;
    }

    /** The leader has committed everything up to the zxid. */
    public void committed(long zxid) {
        long n = zxid - first() + 1;
        if (n < 0 || n > outstanding) {
            throw new IllegalStateException(
                    "commit of " + Zxid.toString(zxid) + " is not outstanding");
        }
        head = index((int) n);
        outstanding -= (int) n;
    }

    /**
     * The configuration is another than the leader's epoch began with, and no reconfiguration is
     * pending.
     */
    public void voters(Collection<Long> sidsOfVoters) {
        if (pendingVoters != 0) {
            throw new IllegalStateException("a reconfiguration is pending");
        }
        voters = mask(sidsOfVoters);
        forgetView();
    }

    /**
     * Until {@link #activate()}, what is proposed from now on commits in both configurations (R7).
     */
    public void reconfigure(Collection<Long> nextVoters) {
        pendingVoters = mask(nextVoters);
    }

    /** The reconfiguration has committed. */
    public void activate() {
        if (pendingVoters == 0) {
            throw new IllegalStateException("no reconfiguration is pending");
        }
        voters = pendingVoters;
        pendingVoters = 0;
        forgetView();
    }

    /**
     * Whether a reconfiguration was proposed and has not committed: everything is slow meanwhile
     * (R7).
     */
    public boolean reconfiguring() {
        return pendingVoters != 0;
    }

    /**
     * Whether F members of the view, the leader among them, have everything up to the last slow
     * entry on disk (R5, R23), and nothing fast was proposed after it: a leader that has switched
     * slow and proposes its no-op later (R6) must not be fast again before, else an entry that can
     * no longer get F acks, and all behind it, would wait for ever.
     */
    public boolean lastSlowOnFastQuorumOfDisks() {
        if (lastProposed != lastSlow) {
            return false;
        }
        return onFastQuorumOfDisks(lastSlow);
    }

    /**
     * Whether F members of the view, the leader among them, have said to have everything up to the
     * zxid on disk.
     */
    public boolean onFastQuorumOfDisks(long zxid) {
        long durable = durable(counting(joined, view, sealed) & voters, zxid);
        return (durable & (1L << find(self))) != 0 && Long.bitCount(durable) >= fastQuorum(voters);
    }

    /** Whether every slow entry that was proposed has been committed. */
    public boolean slowEntriesCommitted() {
        return lastSlow < first();
    }

    /** How many entries are proposed and not committed. */
    public int outstanding() {
        return outstanding;
    }

    /** Whether the sid is a voter of the current configuration. */
    public boolean voter(long sid) {
        int slot = find(sid);
        return slot >= 0 && (voters & (1L << slot)) != 0;
    }

    /** The voters of the current configuration, in ascending order. */
    public List<Long> voterSids() {
        return sidsOf(voters);
    }

    /** Number of voters in the current configuration. */
    public int voters() {
        return Long.bitCount(voters);
    }

    /**
     * Whether the server's acks count for the outstanding entry, of itself or durably at or after
     * it.
     */
    public boolean supports(long sid, long zxid) {
        return ackedItself(sid, zxid) || durableThrough(sid) >= zxid;
    }

    /** Whether the server's ack of the outstanding entry itself counts towards F. */
    public boolean ackedItself(long sid, long zxid) {
        int slot = find(sid);
        long offset = zxid - first();
        if (slot < 0 || offset < 0 || offset >= outstanding) {
            return false;
        }
        int i = index((int) offset);
        return (members[i] & acks[i] & (1L << slot)) != 0;
    }

    /**
     * The last entry of this epoch that the server has said to have on its disk, over a connection
     * that was not replaced since; {@link Zxid#NONE} if there is none.
     */
    public long durableThrough(long sid) {
        int slot = find(sid);
        return slot < 0 ? Zxid.NONE : durableThrough[slot];
    }

    /** The mode that the zxid was proposed with; FAST if that was forgotten. */
    public Mode mode(long zxid) {
        return modeOf(zxid);
    }

    private boolean committable(int n) {
        int i = index(n);
        long zxid = first() + n;
        long itself = members[i] & acks[i];
        return hasQuorum(configuration[i], itself, zxid)
                && (nextConfiguration[i] == 0 || hasQuorum(nextConfiguration[i], itself, zxid));
    }

    private boolean hasQuorum(long of, long itself, long zxid) {
        return Long.bitCount(itself & of) >= fastQuorum(of)
                || Long.bitCount(durable(of, zxid)) >= bareMajority(of);
    }

    private long durable(long of, long zxid) {
        long result = 0;
        for (int slot = 0; slot < slots; slot++) {
            if (durableThrough[slot] >= zxid) {
                result |= 1L << slot;
            }
        }
        return result & of;
    }

    /**
     * Continues after this seal, which was proposed just now: for a model that starts from any
     * state (see {@code LeaderState#resume}). Members that have not joined are lost.
     */
    public void resume(View sealedBefore) {
        view = mask(sealedBefore.members());
        sealed = view & mayCount();
    }

    private static int bareMajority(long of) {
        return Quorums.bareMajority(Long.bitCount(of));
    }

    private static int fastQuorum(long of) {
        return Quorums.fastQuorum(Long.bitCount(of));
    }

    private void leaveEverySet(int slot) {
        long bit = 1L << slot;
        joined &= ~bit;
        sealed &= ~bit;
        for (int n = 0; n < outstanding; n++) {
            int i = index(n);
            members[i] &= ~bit;
            acks[i] &= ~bit;
        }
    }

    private long first() {
        return lastProposed - outstanding + 1;
    }

    private int index(int offset) {
        return (head + offset) & (members.length - 1);
    }

    private void grow() {
        members = unrolled(members);
        acks = unrolled(acks);
        configuration = unrolled(configuration);
        nextConfiguration = unrolled(nextConfiguration);
        head = 0;
    }

    private long[] unrolled(long[] ring) {
        long[] result = new long[ring.length * 2];
        for (int n = 0; n < outstanding; n++) {
            result[n] = ring[(head + n) & (ring.length - 1)];
        }
        return result;
    }

    private void startRun(long zxid, Mode mode) {
        if (runs == MODE_RUNS) {
            System.arraycopy(runStart, 1, runStart, 0, MODE_RUNS - 1);
            System.arraycopy(runMode, 1, runMode, 0, MODE_RUNS - 1);
            runs--;
        }
        runStart[runs] = zxid;
        runMode[runs] = mode;
        runs++;
    }

    /** An entry too old for the recorded modes counts as fast: an ack then promises less. */
    private Mode modeOf(long zxid) {
        for (int run = runs - 1; run >= 0; run--) {
            if (zxid >= runStart[run]) {
                return runMode[run];
            }
        }
        return Mode.FAST;
    }

    private long mask(Collection<Long> sidsOfConfiguration) {
        long result = 0;
        for (long sid : sidsOfConfiguration) {
            result |= 1L << slotOf(sid, result);
        }
        return result;
    }

    /** In ascending order. */
    private List<Long> sidsOf(long slotsAsBits) {
        List<Long> result = new ArrayList<>();
        for (int slot = 0; slot < slots; slot++) {
            if ((slotsAsBits & (1L << slot)) != 0) {
                result.add(sids[slot]);
            }
        }
        Collections.sort(result);
        return result;
    }

    private int find(long sid) {
        for (int slot = 0; slot < slots; slot++) {
            if (sids[slot] == sid) {
                return slot;
            }
        }
        return -1;
    }

    private int slotOf(long sid) {
        return slotOf(sid, 0);
    }

    /**
     * @param taken slots that may not be assigned either, as bits
     */
    private int slotOf(long sid, long taken) {
        int slot = find(sid);
        if (slot >= 0) {
            return slot;
        }
        long unused = unusedSlots() & ~taken;
        if (unused != 0) {
            slot = Long.numberOfTrailingZeros(unused);
            sids[slot] = sid;
            durableThrough[slot] = 0;
            stock &= ~(1L << slot);
            return slot;
        }
        if (slots == MAX_SERVERS) {
            throw new IllegalStateException(
                    "more than %s servers at a time: %s does not fit next to %s"
                            .formatted(MAX_SERVERS, sid, Arrays.toString(sids)));
        }
        sids[slots] = sid;
        connections[slots] = NO_CONNECTION;
        return slots++;
    }

    private int freeSlots() {
        return MAX_SERVERS - slots + Long.bitCount(unusedSlots());
    }

    /** The slots of servers that are not connected and whose acks no outstanding entry needs. */
    private long unusedSlots() {
        long used = voters | pendingVoters | view;
        for (int n = 0; n < outstanding; n++) {
            int i = index(n);
            used |= configuration[i] | nextConfiguration[i];
        }
        for (int slot = 0; slot < slots; slot++) {
            if (connections[slot] != NO_CONNECTION) {
                used |= 1L << slot;
            }
        }
        return ~used & (slots == MAX_SERVERS ? -1L : (1L << slots) - 1);
    }
}
