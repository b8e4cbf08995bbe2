package io.saucr.services.core.replay;

/**
 * Decides when the primary begins no requests, so that a quiet cut comes about: snapshots are kept
 * there, as a half request can not be in one (X13). It is due after 64 MB of trace, or a minute if
 * anything happened. If requests are still open after a second, requests begin again, and the next
 * attempt comes later. Times are milliseconds of any clock that does not go back. Turn thread.
 */
public final class QuietCuts {

    static final long BYTES = 64L << 20;
    static final long MILLIS = 60_000;
    static final long DRAIN_MILLIS = 1000;
    static final long MOST_PAUSE_MILLIS = 60_000;

    private long bytes;
    private long sinceMillis;
    private boolean asked;
    private boolean drains;
    private long changesMillis;
    private long pauseMillis = DRAIN_MILLIS;

    /** Starts at a cut of that time. */
    public QuietCuts(long nowMillis) {
        sinceMillis = nowMillis;
        changesMillis = nowMillis;
    }

    /** So many bytes were cut. */
    public void recorded(long more) {
        bytes += more;
    }

    /** One is due now, whatever happened. */
    public void ask() {
        asked = true;
    }

    /** Whether requests may begin now. */
    public boolean mayBegin(long nowMillis) {
        if (drains && nowMillis - changesMillis >= DRAIN_MILLIS) {
            drains = false;
            changesMillis = nowMillis + pauseMillis;
            pauseMillis = Math.min(2 * pauseMillis, MOST_PAUSE_MILLIS);
        } else if (!drains && nowMillis >= changesMillis && isDue(nowMillis)) {
            drains = true;
            changesMillis = nowMillis;
        }
        return !drains;
    }

    private boolean isDue(long nowMillis) {
        return asked || bytes >= BYTES || (bytes > 0 && nowMillis - sinceMillis >= MILLIS);
    }

    /** Whether it waits for requests to end. */
    public boolean drains() {
        return drains;
    }

    /** There was a quiet cut ({@link Recording#restartQuietly}). */
    public void cutQuietly(long nowMillis) {
        bytes = 0;
        asked = false;
        sinceMillis = nowMillis;
        changesMillis = nowMillis;
        drains = false;
        pauseMillis = DRAIN_MILLIS;
    }
}
