package io.saucr.core;

/**
 * A transaction's identifier as ZooKeeper packs it: the epoch in the upper 32 bits, the counter in
 * the lower 32. Compared as a signed number, which is the order of history within one lineage. Zero
 * stands for "nothing yet".
 */
public final class Zxid {
    /** No transaction. */
    public static final long NONE = 0;

    private static final long COUNTER_MASK = 0xffffffffL;

    private Zxid() {}

    /**
     * Packs the two halves.
     *
     * @param epoch 0 to 2^31-1
     * @param counter 0 to 2^32-1
     * @throws IllegalArgumentException when one of them is out of range
     */
    public static long of(long epoch, long counter) {
        if (epoch < 0 || epoch > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("epoch out of range: " + epoch);
        }
        if (counter < 0 || counter > COUNTER_MASK) {
            throw new IllegalArgumentException("counter out of range: " + counter);
        }
        return epoch << 32 | counter;
    }

    /** The leader's term in which the transaction was proposed. */
    public static long epoch(long zxid) {
        return zxid >> 32;
    }

    /** The position within its epoch; the first transaction of an epoch has 1. */
    public static long counter(long zxid) {
        return zxid & COUNTER_MASK;
    }

    /** As ZooKeeper prints it: {@code 0x100000005}. */
    public static String toString(long zxid) {
        return "0x" + Long.toHexString(zxid);
    }
}
