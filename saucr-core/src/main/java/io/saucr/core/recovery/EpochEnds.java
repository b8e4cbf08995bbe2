package io.saucr.core.recovery;

import io.saucr.core.Zxid;
import java.util.Arrays;

/**
 * Where a log ends in each epoch (R17). The epoch ends of two logs tell the longest history that
 * both share, without a look at the entries.
 *
 * <p>Why that is exact: one leader alone proposes in an epoch, counting from 1 without gaps, and a
 * server that logs its entry (e, c) has its whole earlier history and (e, 1) to (e, c - 1). So a
 * log holds a prefix of every epoch that it has entries of, the same zxid is the same entry with
 * the same past (S2), and the longest common prefix ends in the newest epoch that both logs have,
 * at the smaller of the two ends. Whatever is older than {@link #base()} is in a snapshot and no
 * longer known entry by entry. Of a log with a gap there are none: {@link #append} refuses.
 *
 * <p>Immutable.
 */
public final class EpochEnds {
    /** The most epochs that are kept. Older ones are dropped: the base moves up. */
    public static final int MAX_EPOCHS = 1024;

    /** The two logs share no position that both can be cut to. */
    public static final long NO_COMMON_PREFIX = -1;

    private final long base;

    /**
     * The last zxid of each epoch before the newest, ascending; the first may be the base itself.
     */
    private final long[] earlierEnds;

    private final long last;

    private EpochEnds(long base, long[] earlierEnds, long last) {
        this.base = base;
        this.earlierEnds = earlierEnds;
        this.last = last;
    }

    /**
     * The epoch ends of a log without entries after the snapshot {@code base}.
     *
     * @param base the zxid of the oldest snapshot from which the log can be replayed, {@link
     *     Zxid#NONE} if that is the empty one
     */
    public static EpochEnds startingAt(long base) {
        if (base < 0) {
            throw new IllegalArgumentException("negative zxid " + Zxid.toString(base));
        }
        return new EpochEnds(base, new long[0], base);
    }

    /**
     * The epoch ends that another server sent.
     *
     * @param ends what {@link #ends} returned
     * @throws IllegalArgumentException when no log has such epoch ends
     */
    public static EpochEnds of(long base, long[] ends) {
        if (ends.length == 0 || ends.length > MAX_EPOCHS) {
            throw new IllegalArgumentException(
                    "1 to " + MAX_EPOCHS + " epoch ends are expected, not " + ends.length);
        }
        if (base < 0 || ends[0] < base) {
            throw new IllegalArgumentException(
                    "epoch ends from %s cannot begin with %s"
                            .formatted(Zxid.toString(base), Zxid.toString(ends[0])));
        }
        for (int i = 1; i < ends.length; i++) {
            if (Zxid.epoch(ends[i]) <= Zxid.epoch(ends[i - 1]) || Zxid.counter(ends[i]) == 0) {
                throw new IllegalArgumentException(
                        "among epoch ends %s cannot follow %s"
                                .formatted(Zxid.toString(ends[i]), Zxid.toString(ends[i - 1])));
            }
        }
        return new EpochEnds(base, Arrays.copyOf(ends, ends.length - 1), ends[ends.length - 1]);
    }

    /** Entries up to here are only in a snapshot. */
    public long base() {
        return base;
    }

    /** The last logged zxid; the base when the log is empty. */
    public long last() {
        return last;
    }

    /** The last zxid of each epoch, ascending, not empty. */
    public long[] ends() {
        long[] ends = Arrays.copyOf(earlierEnds, earlierEnds.length + 1);
        ends[earlierEnds.length] = last;
        return ends;
    }

    /** Whether an entry can come next in a log without gaps. */
    public boolean followedBy(long zxid) {
        return Zxid.epoch(zxid) == Zxid.epoch(last)
                ? zxid == last + 1
                : zxid > last && Zxid.counter(zxid) == 1;
    }

    /**
     * These epoch ends with one more entry.
     *
     * @throws IllegalArgumentException when the entry leaves a gap, or is not after the last entry
     */
    public EpochEnds append(long zxid) {
        if (!followedBy(zxid)) {
            throw new IllegalArgumentException(
                    "the log ends with %s, %s cannot follow"
                            .formatted(Zxid.toString(last), Zxid.toString(zxid)));
        }
        if (Zxid.epoch(zxid) == Zxid.epoch(last)) {
            return new EpochEnds(base, earlierEnds, zxid);
        }
        long[] ends = ends();
        return ends.length < MAX_EPOCHS
                ? new EpochEnds(base, ends, zxid)
                : new EpochEnds(ends[0], Arrays.copyOfRange(ends, 1, ends.length), zxid);
    }

    /**
     * These epoch ends with every entry up to this one, which is of the newest epoch.
     *
     * @throws IllegalArgumentException when it is of another epoch, or not after the last entry
     */
    public EpochEnds through(long zxid) {
        if (Zxid.epoch(zxid) != Zxid.epoch(last) || zxid < last) {
            throw new IllegalArgumentException(
                    this + " does not reach " + Zxid.toString(zxid) + " within its last epoch");
        }
        return zxid == last ? this : new EpochEnds(base, earlierEnds, zxid);
    }

    /** Whether the zxid is in this history: as an entry, or as an epoch's beginning (counter 0). */
    public boolean contains(long zxid) {
        for (long end : ends()) {
            if (Zxid.epoch(end) == Zxid.epoch(zxid)) {
                return zxid <= end;
            }
        }
        return false;
    }

    /**
     * The last entry of this history, or its base, that is not after a zxid; {@link Zxid#NONE} if
     * all are. An epoch's beginning (counter 0) is no entry.
     */
    public long lastUpTo(long zxid) {
        long result = base <= zxid ? base : Zxid.NONE;
        for (long end : ends()) {
            if (Zxid.epoch(end) < Zxid.epoch(zxid)) {
                result = end;
            } else if (Zxid.epoch(end) == Zxid.epoch(zxid) && Zxid.counter(zxid) > 0) {
                return Math.min(end, zxid);
            }
        }
        return result;
    }

    /**
     * The end of the longest prefix that both logs share, if this one can be truncated to it and
     * the other one has everything after it.
     *
     * @return a zxid that both contain, or {@link #NO_COMMON_PREFIX}
     */
    public long commonPrefix(EpochEnds other) {
        long[] mine = ends();
        long[] theirs = other.ends();
        int i = mine.length - 1;
        int j = theirs.length - 1;
        while (i >= 0 && j >= 0) {
            if (Zxid.epoch(mine[i]) == Zxid.epoch(theirs[j])) {
                long common = Math.min(mine[i], theirs[j]);
                return common >= base && common >= other.base ? common : NO_COMMON_PREFIX;
            }
            if (mine[i] > theirs[j]) {
                i--;
            } else {
                j--;
            }
        }
        return NO_COMMON_PREFIX;
    }

    /**
     * The epoch ends of the log cut after an entry.
     *
     * @throws IllegalArgumentException when the log does not contain it, or only in its snapshot
     */
    public EpochEnds truncate(long zxid) {
        if (zxid < base || !contains(zxid)) {
            throw new IllegalArgumentException(
                    this + " cannot be truncated to " + Zxid.toString(zxid));
        }
        int kept = 0;
        while (kept < earlierEnds.length && Zxid.epoch(earlierEnds[kept]) < Zxid.epoch(zxid)) {
            kept++;
        }
        return new EpochEnds(base, Arrays.copyOf(earlierEnds, kept), zxid);
    }

    /**
     * The epoch ends of what is left when everything before an entry has been purged.
     *
     * @param first the oldest entry that can still be read, or any one before the base
     */
    public EpochEnds startingFrom(long first) {
        long[] ends = ends();
        int kept = 0;
        while (kept < ends.length - 1 && ends[kept] < first) {
            kept++;
        }
        long before = first - 1;
        if (Zxid.counter(first) == 1 && kept > 0) {
            // The first entry of its epoch follows the end of the one before.
            before = ends[--kept];
        }
        return before <= base
                ? this
                : new EpochEnds(
                        Math.min(before, last),
                        Arrays.copyOfRange(earlierEnds, kept, earlierEnds.length),
                        last);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EpochEnds that
                && base == that.base
                && last == that.last
                && Arrays.equals(earlierEnds, that.earlierEnds);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * Long.hashCode(base) + Long.hashCode(last)) + Arrays.hashCode(earlierEnds);
    }

    /** For humans: {@code after 0x0: 0x100000007, 0x300000002}. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder("after ").append(Zxid.toString(base)).append(':');
        for (long end : ends()) {
            out.append(' ').append(Zxid.toString(end));
        }
        return out.toString();
    }
}
