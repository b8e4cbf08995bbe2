package io.saucr.model.cluster;

import io.saucr.core.Zxid;
import io.saucr.core.recovery.Bytes;

/**
 * An entry of a log as one long: the zxid, and in the upper bits which leader proposed it (leaders
 * count from 1 in the order of their elections). So two entries with the same zxid and another
 * content, which must never exist, are different longs.
 */
final class Entry {
    private static final int LEADER_SHIFT = 48;
    private static final int EPOCH_LIMIT = 1 << (LEADER_SHIFT - 32);
    private static final long ZXID_MASK = (1L << LEADER_SHIFT) - 1;

    private Entry() {}

    static long of(long zxid, int leader) {
        if (Zxid.epoch(zxid) >= EPOCH_LIMIT || leader >= 1 << 15) {
            throw new IllegalStateException("too many leaders: " + leader);
        }
        return (long) leader << LEADER_SHIFT | zxid;
    }

    static long zxid(long entry) {
        return entry & ZXID_MASK;
    }

    static int leader(long entry) {
        return (int) (entry >>> LEADER_SHIFT);
    }

    static String toString(long entry) {
        long zxid = zxid(entry);
        return Zxid.epoch(zxid) + "." + Zxid.counter(zxid);
    }

    /** An entry's transaction says who proposed it. */
    static Bytes transaction(long entry) {
        int leader = leader(entry);
        return Bytes.wrap(new byte[] {(byte) (leader >> 8), (byte) leader});
    }

    static int leader(Bytes transaction) {
        byte[] bytes = transaction.toArray();
        return (bytes[0] & 0xff) << 8 | (bytes[1] & 0xff);
    }
}
