package io.saucr.services.core.replay;

/** Bounds what is recorded and not final, and how far followers are behind (X16). */
public final class FlowControl {

    static final long MOST_BYTES = 8L << 20;
    static final long MOST_MILLIS_BEHIND = 1000;
    static final int MOST_QUIET_CUTS_BEHIND = 2;

    private FlowControl() {}

    /**
     * Whether the primary begins requests.
     *
     * @param bytesNotFinal of the trace and of messages that are recorded and not named
     * @param fastestMillisBehind how far the replay of the fastest follower is behind the trace, in
     *     milliseconds of the primary's time; 0 without followers
     */
    public static boolean mayBegin(long bytesNotFinal, long fastestMillisBehind) {
        return bytesNotFinal < MOST_BYTES && isWarm(fastestMillisBehind);
    }

    /** Whether a follower may become primary: it has little left to replay. */
    public static boolean isWarm(long millisBehind) {
        return millisBehind <= MOST_MILLIS_BEHIND;
    }

    /** Whether a follower loads a snapshot rather than replay so many quiet cuts. */
    public static boolean loadsSnapshot(int quietCutsBehind) {
        return quietCutsBehind >= MOST_QUIET_CUTS_BEHIND;
    }
}
