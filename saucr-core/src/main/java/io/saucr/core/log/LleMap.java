package io.saucr.core.log;

import io.saucr.core.AsciiScanner;
import io.saucr.core.Zxid;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * For each server the last entry that it may have logged (LLE). A server that is not in the map has
 * {@link Zxid#NONE}. Values only ever grow: every operation keeps the larger one (R8).
 *
 * <p>Immutable, safe to share between threads.
 */
public final class LleMap {
    /** The most servers in one map. In practice ZooKeeper's server ids go up to 255. */
    public static final int MAX_SERVERS = 1024;

    /** An encoded map is never longer than this many characters. */
    public static final int MAX_ENCODED_LENGTH = MAX_SERVERS * (20 + 1 + 16 + 1);

    private static final LleMap EMPTY = new LleMap(new long[0], new long[0]);

    /** Ascending; parallel to {@link #zxids}. */
    private final long[] sids;

    /** All greater than zero. */
    private final long[] zxids;

    private LleMap(long[] sids, long[] zxids) {
        this.sids = sids;
        this.zxids = zxids;
    }

    /** Receives the servers in ascending order. */
    @FunctionalInterface
    public interface Visitor {
        /** Called once per server with its last logged entry, which is greater than zero. */
        void visit(long sid, long zxid);
    }

    /** The empty map. */
    public static LleMap empty() {
        return EMPTY;
    }

    /**
     * A map with the given values; those that are zero are left out.
     *
     * @throws IllegalArgumentException when a value is negative or there are more than {@link
     *     #MAX_SERVERS}
     */
    public static LleMap of(Map<Long, Long> values) {
        TreeMap<Long, Long> sorted = new TreeMap<>(values);
        sorted.values().removeIf(zxid -> zxid == 0);
        if (sorted.isEmpty()) {
            return EMPTY;
        }
        long[] sids = new long[sorted.size()];
        long[] zxids = new long[sorted.size()];
        int i = 0;
        for (Map.Entry<Long, Long> entry : sorted.entrySet()) {
            sids[i] = entry.getKey();
            zxids[i] = requireZxid(entry.getValue());
            i++;
        }
        return bounded(sids, zxids);
    }

    /**
     * The last entry that the server may have logged, {@link Zxid#NONE} when it is not in the map.
     */
    public long get(long sid) {
        int i = Arrays.binarySearch(sids, sid);
        return i < 0 ? Zxid.NONE : zxids[i];
    }

    /**
     * This map with the server's value raised to {@code zxid}; this very object when that changes
     * nothing.
     *
     * @throws IllegalArgumentException when the zxid is negative or the map is full
     */
    public LleMap with(long sid, long zxid) {
        requireZxid(zxid);
        int i = Arrays.binarySearch(sids, sid);
        if (i >= 0) {
            if (zxids[i] >= zxid) {
                return this;
            }
            long[] raised = zxids.clone();
            raised[i] = zxid;
            return new LleMap(sids, raised);
        }
        if (zxid == Zxid.NONE) {
            return this;
        }
        int at = -i - 1;
        long[] newSids = new long[sids.length + 1];
        long[] newZxids = new long[sids.length + 1];
        System.arraycopy(sids, 0, newSids, 0, at);
        System.arraycopy(zxids, 0, newZxids, 0, at);
        newSids[at] = sid;
        newZxids[at] = zxid;
        System.arraycopy(sids, at, newSids, at + 1, sids.length - at);
        System.arraycopy(zxids, at, newZxids, at + 1, sids.length - at);
        return bounded(newSids, newZxids);
    }

    /**
     * This map with the values of these servers raised to {@code zxid}.
     *
     * @param ascending server ids, in this order, without duplicates
     * @throws IllegalArgumentException when the zxid is negative or the map is full
     */
    LleMap with(long[] ascending, long zxid) {
        if (requireZxid(zxid) == Zxid.NONE) {
            return this;
        }
        long[] newSids = new long[sids.length + ascending.length];
        long[] newZxids = new long[newSids.length];
        int i = 0;
        int j = 0;
        int size = 0;
        while (i < sids.length || j < ascending.length) {
            boolean mine = i < sids.length && (j == ascending.length || sids[i] <= ascending[j]);
            boolean theirs = !mine || (j < ascending.length && sids[i] == ascending[j]);
            newSids[size] = mine ? sids[i] : ascending[j];
            newZxids[size++] = mine ? theirs ? Math.max(zxids[i], zxid) : zxids[i] : zxid;
            i += mine ? 1 : 0;
            j += theirs ? 1 : 0;
        }
        if (size < newSids.length) {
            newSids = Arrays.copyOf(newSids, size);
            newZxids = Arrays.copyOf(newZxids, size);
        }
        return bounded(newSids, newZxids);
    }

    /**
     * The larger value per server (R8). Returns this map or the other one when it already is the
     * result.
     *
     * @throws IllegalArgumentException when together they hold more than {@link #MAX_SERVERS}
     *     servers
     */
    public LleMap merge(LleMap other) {
        if (other.includedIn(this)) {
            return this;
        }
        if (includedIn(other)) {
            return other;
        }
        LleMap merged = this;
        for (int i = 0; i < other.sids.length; i++) {
            merged = merged.with(other.sids[i], other.zxids[i]);
        }
        return merged;
    }

    /** Whether no server's value here is larger than in the other map. */
    public boolean includedIn(LleMap other) {
        int j = 0;
        for (int i = 0; i < sids.length; i++) {
            while (j < other.sids.length && other.sids[j] < sids[i]) {
                j++;
            }
            if (j == other.sids.length || other.sids[j] != sids[i] || other.zxids[j] < zxids[i]) {
                return false;
            }
        }
        return true;
    }

    /** How many servers have a value. */
    public int size() {
        return sids.length;
    }

    /** The servers that have a value, ascending; a copy. */
    public long[] sids() {
        return sids.clone();
    }

    /** Shows every value to the visitor, in ascending order of servers. */
    public void forEach(Visitor visitor) {
        for (int i = 0; i < sids.length; i++) {
            visitor.visit(sids[i], zxids[i]);
        }
    }

    /**
     * ASCII form, {@code 1=100000005,2=1f}: server id in decimal, zxid in hex, ascending; "" when
     * empty.
     */
    public String encode() {
        StringBuilder out = new StringBuilder(sids.length * 16);
        for (int i = 0; i < sids.length; i++) {
            if (i > 0) {
                out.append(',');
            }
            out.append(sids[i]).append('=').append(Long.toHexString(zxids[i]));
        }
        return out.toString();
    }

    /**
     * Reads exactly what {@link #encode} writes.
     *
     * @throws IllegalArgumentException when the text is anything else, with what and at which
     *     character
     */
    public static LleMap decode(String text) {
        if (text.length() > MAX_ENCODED_LENGTH) {
            throw new IllegalArgumentException(
                    "LLE map of %s characters, at most %s are allowed"
                            .formatted(text.length(), MAX_ENCODED_LENGTH));
        }
        AsciiScanner in = new AsciiScanner("LLE map", text);
        LleMap map = decode(in);
        in.expectEnd();
        return map;
    }

    /** Reads a map up to the first character that cannot belong to it. */
    static LleMap decode(AsciiScanner in) {
        if (!in.atNumber()) {
            return EMPTY;
        }
        long[] sids = new long[8];
        long[] zxids = new long[8];
        int size = 0;
        do {
            int start = in.position();
            long sid = in.decimal("a server id");
            if (size > 0 && sid <= sids[size - 1]) {
                throw in.malformed(
                        start, "server ids above " + sids[size - 1] + ", ascending", "id " + sid);
            }
            in.expect('=');
            start = in.position();
            long zxid = in.hex("a zxid in hex");
            if (zxid == Zxid.NONE) {
                throw in.malformed(start, "a zxid greater than zero", "0");
            }
            if (size == MAX_SERVERS) {
                throw in.malformed(start, "at most " + MAX_SERVERS + " servers", "one more");
            }
            if (size == sids.length) {
                sids = Arrays.copyOf(sids, size * 2);
                zxids = Arrays.copyOf(zxids, size * 2);
            }
            sids[size] = sid;
            zxids[size] = zxid;
            size++;
        } while (in.accept(','));
        return new LleMap(Arrays.copyOf(sids, size), Arrays.copyOf(zxids, size));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LleMap that
                && Arrays.equals(sids, that.sids)
                && Arrays.equals(zxids, that.zxids);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(sids) + Arrays.hashCode(zxids);
    }

    /** For humans: {@code {1: 0x100000005, 2: 0x1f}}. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder("{");
        for (int i = 0; i < sids.length; i++) {
            if (i > 0) {
                out.append(", ");
            }
            out.append(sids[i]).append(": ").append(Zxid.toString(zxids[i]));
        }
        return out.append('}').toString();
    }

    private static LleMap bounded(long[] sids, long[] zxids) {
        if (sids.length > MAX_SERVERS) {
            throw new IllegalArgumentException(
                    "LLE map of %s servers, at most %s are allowed"
                            .formatted(sids.length, MAX_SERVERS));
        }
        return new LleMap(sids, zxids);
    }

    private static long requireZxid(long zxid) {
        if (zxid < 0) {
            throw new IllegalArgumentException("negative zxid " + Zxid.toString(zxid));
        }
        return zxid;
    }
}
