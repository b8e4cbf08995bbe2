package io.saucr.services.core.replay;

/**
 * What becomes of a member whose state differs from the primary's (X14): it stores segments,
 * replays none, and does not become primary, until it has loaded a snapshot of the primary that has
 * all of the request that differed. So no request is replayed twice, and a handler that differs
 * each time does not differ again at the same request. A snapshot of its own is of no use: nobody
 * knows since when its state differs.
 *
 * <p>The member's thread. Times are milliseconds of any clock that does not go back.
 */
public final class Quarantine {

    static final long ASK_MILLIS = 1000;
    static final long MOST_PAUSE_MILLIS = 60_000;

    private String difference = "";
    private long from;
    private long askMillis;
    private long pauseMillis;
    private long count;

    /** Whether the member may replay segments, and become primary. */
    public boolean isOver() {
        return difference.isEmpty();
    }

    /** What differs, for people; empty text if nothing does. */
    public String difference() {
        return difference;
    }

    /** How often this member differed, since its start. */
    public long count() {
        return count;
    }

    /** As of this segment a snapshot is of use, or of a later one. */
    public long from() {
        return from;
    }

    /**
     * The replay of a request differs.
     *
     * @param what request and event, for people
     * @param segment a segment in which the request has begun; it is open behind no quiet cut of
     *     that segment or a later one
     */
    public void diverged(String what, long segment, long nowMillis) {
        difference = what;
        from = segment;
        count++;
        askMillis = nowMillis + pauseMillis;
        // Each snapshot holds requests back for a moment: one member must not do that all the time.
        pauseMillis = Math.min(pauseMillis == 0 ? ASK_MILLIS : 2 * pauseMillis, MOST_PAUSE_MILLIS);
    }

    /** Whether the member asks the primary for a snapshot now. */
    public boolean asks(long nowMillis) {
        boolean asks = !isOver() && nowMillis >= askMillis;
        if (asks) {
            askMillis = nowMillis + ASK_MILLIS;
        }
        return asks;
    }

    /** A snapshot of the primary is this member's newest one, as of a segment. */
    public void loaded(long segment) {
        if (segment >= from) {
            difference = "";
        }
    }
}
