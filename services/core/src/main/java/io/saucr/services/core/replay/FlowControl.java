package io.saucr.services.core.replay;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Bounds what is recorded and not final, and keeps one follower warm: no request begins while the
 * fastest follower is more than a second behind (X16). A follower counts from when it was less than
 * that behind, until its link ends, it is silent, or it replays no more: so neither a slow follower
 * nor one that catches up holds requests back.
 *
 * <p>One thread. Times are milliseconds of any clock of the primary that does not go back.
 */
public final class FlowControl {

    static final long MOST_BYTES = 8L << 20;
    static final long MOST_MILLIS_BEHIND = 1000;

    /** So many segments are remembered: those of minutes. */
    static final int MOST_NAMED = 100_000;

    /** Up to which segment each follower that counts has replayed. */
    private final Map<String, Long> warm = new HashMap<>();

    /** When the head named a segment: all that were named behind {@link #known}. */
    private final TreeMap<Long, Long> named = new TreeMap<>();

    /** Of a follower that has not replayed this segment nobody knows how far it is behind. */
    private long known;

    /**
     * Of a primary that begins.
     *
     * @param segment the newest that was named before, at a time that is not known
     */
    public FlowControl(long segment) {
        known = segment;
    }

    /**
     * Whether the primary begins requests.
     *
     * @param bytesNotFinal of the trace and of messages that are recorded and not named
     * @param fastestMillisBehind as {@link #fastestMillisBehind} says
     */
    public static boolean mayBegin(long bytesNotFinal, long fastestMillisBehind) {
        return bytesNotFinal < MOST_BYTES && isWarm(fastestMillisBehind);
    }

    /** Whether a follower may become primary: it has little left to replay. */
    public static boolean isWarm(long millisBehind) {
        return millisBehind <= MOST_MILLIS_BEHIND;
    }

    /** The head names a segment; numbers rise. */
    public void named(long segment, long nowMillis) {
        named.put(segment, nowMillis);
        if (named.size() > MOST_NAMED) {
            known = named.pollFirstEntry().getKey();
        }
    }

    /**
     * A follower says how far it is.
     *
     * @param segment the newest that it has replayed to its end; 0 while it replays nothing
     */
    public void replayed(String follower, long segment, long nowMillis) {
        if (segment == 0) {
            warm.remove(follower);
        } else if (warm.containsKey(follower)
                || (segment >= known && isWarm(millisBehind(segment, nowMillis)))) {
            warm.put(follower, segment);
        }
        forget();
    }

    /** The link of a follower ended, or it says nothing. */
    public void silent(String follower) {
        warm.remove(follower);
    }

    /** How far the replay of the fastest follower that counts is behind; 0 without one. */
    public long fastestMillisBehind(long nowMillis) {
        return warm.values().stream().mapToLong(it -> millisBehind(it, nowMillis)).min().orElse(0);
    }

    private long millisBehind(long segment, long nowMillis) {
        Map.Entry<Long, Long> next = named.higherEntry(segment);
        return next == null ? 0 : nowMillis - next.getValue();
    }

    /** What all that count have replayed says nothing. */
    private void forget() {
        long all = warm.values().stream().mapToLong(it -> it).min().orElse(0);
        named.headMap(all, true).clear();
        known = Math.max(known, all);
    }
}
