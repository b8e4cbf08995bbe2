package io.saucr.model.checker;

import java.util.Arrays;

/**
 * The fingerprints of all states that were seen, and for each state the one that it was first
 * reached from. A state's number never changes.
 *
 * <p>Keeps 74 bits of a fingerprint: 64 are stored, and 10 choose one of {@value #STRIPES} parts,
 * each with a lock of its own. Among a hundred million states, the probability that two have the
 * same 74 bits is about 1 in 4 million; the second one would not be explored. Takes about 25 bytes
 * per state. Thread-safe.
 */
final class StateSet {
    static final int NONE = -1;

    private static final int STRIPE_BITS = 10;
    private static final int STRIPES = 1 << STRIPE_BITS;
    private static final int MOST = Integer.MAX_VALUE >> STRIPE_BITS;

    private final Stripe[] stripes = new Stripe[STRIPES];

    StateSet() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    /**
     * Adds a state.
     *
     * @param parent the number of the one that it was reached from
     * @return its number, or {@link #NONE} if it was there
     */
    int add(Fingerprint of, int parent) {
        int which = stripe(of);
        Stripe stripe = stripes[which];
        synchronized (stripe) {
            int slot = stripe.slot(of.high, (int) of.low);
            if (stripe.table[slot] != 0) {
                return NONE;
            }
            return number(stripe.add(slot, of.high, (int) of.low, parent), which);
        }
    }

    /** The number of a state, or {@link #NONE}. */
    int find(Fingerprint of) {
        int which = stripe(of);
        Stripe stripe = stripes[which];
        synchronized (stripe) {
            int there = stripe.table[stripe.slot(of.high, (int) of.low)];
            return there == 0 ? NONE : number(there - 1, which);
        }
    }

    /** The number of the state that this one was first reached from. */
    int parent(int state) {
        Stripe stripe = stripes[state & (STRIPES - 1)];
        synchronized (stripe) {
            return stripe.parents[state >> STRIPE_BITS];
        }
    }

    /** How many states there are; exact when nobody adds. */
    long size() {
        long size = 0;
        for (Stripe stripe : stripes) {
            synchronized (stripe) {
                size += stripe.size;
            }
        }
        return size;
    }

    private static int number(int position, int stripe) {
        return (position << STRIPE_BITS) | stripe;
    }

    private static int stripe(Fingerprint of) {
        return (int) (of.low >>> (Long.SIZE - STRIPE_BITS));
    }

    /** A hash table of positions in arrays that grow. */
    private static final class Stripe {
        /** Positions plus one; 0 is free. */
        private int[] table = new int[16];

        private long[] keys = new long[8];
        private int[] hashes = new int[8];
        private int[] parents = new int[8];
        private int size;

        private int slot(long key, int hash) {
            int mask = table.length - 1;
            int slot = hash & mask;
            while (table[slot] != 0 && keys[table[slot] - 1] != key) {
                slot = (slot + 1) & mask;
            }
            return slot;
        }

        private int add(int slot, long key, int hash, int parent) {
            if (size == MOST) {
                throw new IllegalStateException("more states than can be numbered");
            }
            if (size == keys.length) {
                int larger = size + (size >> 2);
                keys = Arrays.copyOf(keys, larger);
                hashes = Arrays.copyOf(hashes, larger);
                parents = Arrays.copyOf(parents, larger);
            }
            keys[size] = key;
            hashes[size] = hash;
            parents[size] = parent;
            table[slot] = ++size;
            if (size > table.length / 3 * 2) {
                grow();
            }
            return size - 1;
        }

        private void grow() {
            int[] larger = new int[table.length * 2];
            int mask = larger.length - 1;
            for (int i = 0; i < size; i++) {
                int slot = hashes[i] & mask;
                while (larger[slot] != 0) {
                    slot = (slot + 1) & mask;
                }
                larger[slot] = i + 1;
            }
            table = larger;
        }
    }
}
