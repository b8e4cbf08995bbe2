package io.saucr.server.requests;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Counts requests by a key in bounded memory. A key may be in one set of {@value #WAYS} rows alone,
 * which its hash chooses. If the set is full, a new key replaces the one that has been counted
 * least, whose counts move to the rest; as in the algorithm "space-saving" it inherits that number
 * as its rank, so that a busy key stays however many rare ones come. So the counts of a row are
 * exact since it began, at most those of its key, and all counts together are exact.
 *
 * <p>Thread-safe; meant for one thread that counts and one that reads at the end, so that nobody
 * waits. Counting allocates nothing but the label of a new row.
 */
final class TopTable {
    static final int SETS = 128;
    static final int WAYS = 8;

    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    /**
     * Counts of one key.
     *
     * @param label as it was made; null for the rest
     */
    record Row(Object label, Counts counts) {}

    /** Not thread-safe. */
    static final class Counts {
        private long reads;
        private long writes;
        private long bytesRead;
        private long bytesWritten;
        private long sumMillis;
        private long maxMillis;

        void add(boolean write, int bytes, long millis) {
            if (write) {
                writes++;
                bytesWritten += bytes;
            } else {
                reads++;
                bytesRead += bytes;
            }
            sumMillis += millis;
            maxMillis = Math.max(maxMillis, millis);
        }

        void add(Counts other) {
            reads += other.reads;
            writes += other.writes;
            bytesRead += other.bytesRead;
            bytesWritten += other.bytesWritten;
            sumMillis += other.sumMillis;
            maxMillis = Math.max(maxMillis, other.maxMillis);
        }

        void clear() {
            reads = 0;
            writes = 0;
            bytesRead = 0;
            bytesWritten = 0;
            sumMillis = 0;
            maxMillis = 0;
        }

        long reads() {
            return reads;
        }

        long writes() {
            return writes;
        }

        long requests() {
            return reads + writes;
        }

        long bytesRead() {
            return bytesRead;
        }

        long bytesWritten() {
            return bytesWritten;
        }

        long sumMillis() {
            return sumMillis;
        }

        long maxMillis() {
            return maxMillis;
        }
    }

    // Guarded by this.
    private final long[] hashes = new long[SETS * WAYS];
    private final Object[] labels = new Object[SETS * WAYS];
    private final Counts[] counts = new Counts[SETS * WAYS];
    private final long[] ranks = new long[SETS * WAYS];
    private final Counts rest = new Counts();

    TopTable() {
        for (int i = 0; i < counts.length; i++) {
            counts[i] = new Counts();
        }
    }

    /**
     * Counts a request of a key that is a number.
     *
     * @param label makes that of a new row from the request; not null
     */
    synchronized <R> void add(
            long key, Function<R, Object> label, R request, boolean write, int bytes, long millis) {
        int row = row(key, null, 0);
        if (row < 0) {
            row = begin(~row, key, label.apply(request));
        }
        count(row, write, bytes, millis);
    }

    /** Counts a request of the key that the first characters of a text are. */
    synchronized void add(String text, int length, boolean write, int bytes, long millis) {
        long hash = 0;
        for (int i = 0; i < length; i++) {
            hash = hash * 31 + text.charAt(i);
        }
        int row = row(hash, text, length);
        if (row < 0) {
            row = begin(~row, hash, text.substring(0, length));
        }
        count(row, write, bytes, millis);
    }

    private void count(int row, boolean write, int bytes, long millis) {
        counts[row].add(write, bytes, millis);
        ranks[row]++;
    }

    /** The row of a key, or the complement of the one that it may have. */
    private int row(long hash, String text, int length) {
        int first = (int) ((hash * SPREAD) >>> (Long.SIZE - Integer.numberOfTrailingZeros(SETS)));
        first *= WAYS;
        int least = first;
        for (int i = first; i < first + WAYS; i++) {
            if (labels[i] == null) {
                return ~i;
            }
            if (hashes[i] == hash && (text == null || isPrefix(labels[i], text, length))) {
                return i;
            }
            if (ranks[i] < ranks[least]) {
                least = i;
            }
        }
        return ~least;
    }

    private static boolean isPrefix(Object label, String text, int length) {
        return label instanceof String prefix
                && prefix.length() == length
                && text.startsWith(prefix);
    }

    private int begin(int row, long hash, Object label) {
        rest.add(counts[row]);
        counts[row].clear();
        hashes[row] = hash;
        labels[row] = label;
        return row;
    }

    /** What was counted by key. */
    synchronized List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < labels.length; i++) {
            if (labels[i] != null) {
                rows.add(new Row(labels[i], copy(counts[i])));
            }
        }
        return rows;
    }

    /** What was counted of keys that were replaced. */
    synchronized Counts rest() {
        return copy(rest);
    }

    private static Counts copy(Counts counts) {
        Counts copy = new Counts();
        copy.add(counts);
        return copy;
    }
}
