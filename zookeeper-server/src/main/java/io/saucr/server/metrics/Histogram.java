package io.saucr.server.metrics;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Counts {@code long} values in buckets. Each value from -256 to 255 has a bucket of its own.
 * Beyond that a bucket is at most 1/128 of its values wide, so its middle is within 0.4 % of each
 * of them.
 *
 * <p>Counts only go up. {@link #record} takes no lock and never waits. It allocates only when a
 * stripe meets an octave of values for the first time. Thread-safe.
 */
final class Histogram {
    private static final int BITS = 7;

    /** Buckets in a page. Each octave of values has a page, and the values below 128 have one. */
    private static final int PAGE = 1 << BITS;

    /** For the values from 0 up; the values below 0 have as many. */
    private static final int PAGES = Long.SIZE - BITS;

    /** Threads on different processors mostly count in different stripes. */
    private static final int STRIPES =
            Math.min(8, Integer.highestOneBit(Runtime.getRuntime().availableProcessors() * 2 - 1));

    private final AtomicReferenceArray<AtomicLongArray> pages =
            new AtomicReferenceArray<>(STRIPES * 2 * PAGES);

    void record(long value) {
        int bucket = bucket(value);
        int stripe = (int) Thread.currentThread().getId() & (STRIPES - 1);
        page(stripe, bucket >> BITS).getAndIncrement(bucket & (PAGE - 1));
    }

    /** The buckets of negative values are the complements of those of the values' complements. */
    private static int bucket(long value) {
        long sign = value >> (Long.SIZE - 1);
        long magnitude = value ^ sign;
        int octave = Long.SIZE - BITS - Long.numberOfLeadingZeros(magnitude | (PAGE - 1));
        int place = (int) (magnitude >>> Math.max(0, octave - 1)) & (PAGE - 1);
        return ((octave << BITS) | place) ^ (int) sign;
    }

    private static double middle(int bucket) {
        if (bucket < 0) {
            return -1 - middle(~bucket);
        }
        int width = Math.max(0, (bucket >> BITS) - 1);
        long least = bucket < PAGE ? bucket : (long) (PAGE | (bucket & (PAGE - 1))) << width;
        return (double) (least + ((1L << width) >> 1));
    }

    private AtomicLongArray page(int stripe, int number) {
        int index = index(stripe, number);
        AtomicLongArray page = pages.get(index);
        if (page == null) {
            pages.compareAndSet(index, null, new AtomicLongArray(PAGE));
            page = pages.get(index);
        }
        return page;
    }

    private static int index(int stripe, int page) {
        return (2 * stripe + 1) * PAGES + page;
    }

    /** All that was counted before this call; a value that is recorded meanwhile may be missing. */
    Counts counts() {
        int[] buckets = new int[PAGE];
        long[] counts = new long[PAGE];
        int filled = 0;
        long[] total = new long[PAGE];
        for (int page = -PAGES; page < PAGES; page++) {
            addTo(total, page);
            for (int i = 0; i < PAGE; i++) {
                if (total[i] > 0) {
                    if (filled == buckets.length) {
                        buckets = Arrays.copyOf(buckets, 2 * filled);
                        counts = Arrays.copyOf(counts, 2 * filled);
                    }
                    buckets[filled] = (page << BITS) | i;
                    counts[filled++] = total[i];
                    total[i] = 0;
                }
            }
        }
        return new Counts(Arrays.copyOf(buckets, filled), Arrays.copyOf(counts, filled));
    }

    private void addTo(long[] total, int page) {
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            AtomicLongArray counted = pages.get(index(stripe, page));
            if (counted != null) {
                for (int i = 0; i < PAGE; i++) {
                    total[i] += counted.get(i);
                }
            }
        }
    }

    /** Buckets in the order of their values, and how many values each has. Immutable. */
    static final class Counts {
        static final Counts NONE = new Counts(new int[0], new long[0]);

        private final int[] buckets;
        private final long[] counts;

        private Counts(int[] buckets, long[] counts) {
            this.buckets = buckets;
            this.counts = counts;
        }

        long total() {
            return Arrays.stream(counts).sum();
        }

        /**
         * What was counted between then and now.
         *
         * @param earlier counts of the same histogram
         */
        Counts since(Counts earlier) {
            long[] difference = counts.clone();
            for (int i = 0, j = 0; j < earlier.buckets.length; i++) {
                if (buckets[i] == earlier.buckets[j]) {
                    difference[i] -= earlier.counts[j++];
                }
            }
            return new Counts(buckets, difference);
        }

        /**
         * The middle of the bucket of the smallest value that this fraction of all values does not
         * exceed; NaN without values.
         */
        double quantile(double fraction) {
            long rank = Math.max(1, (long) Math.ceil(fraction * total()));
            for (int i = 0; i < counts.length; i++) {
                rank -= counts[i];
                if (rank <= 0) {
                    return middle(buckets[i]);
                }
            }
            return Double.NaN;
        }
    }
}
