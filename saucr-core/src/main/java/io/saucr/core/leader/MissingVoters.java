package io.saucr.core.leader;

import java.util.ArrayList;
import java.util.List;

/**
 * Which voters fast mode lacks, and what each of them did or did not do, in the words of a log
 * line. Made when the mode switches, never for a proposal.
 */
final class MissingVoters {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final List<String> parts = new ArrayList<>();
    private int heard;
    private int silent;
    private long longestSilence;

    /** The server is no follower of this leader. */
    void notConnected(long sid) {
        parts.add("server " + sid + " is not connected");
    }

    /**
     * A follower's connection stands.
     *
     * @param counts whether it would count if it was responsive
     * @param heardInTime whether its last sign of life is recent enough
     */
    void connected(FollowerConnection<?> follower, boolean counts, boolean heardInTime, long now) {
        heard += heardInTime ? 1 : 0;
        silent += heardInTime ? 0 : 1;
        String server = "server " + follower.sid();
        if (!heardInTime) {
            longestSilence = Math.max(longestSilence, follower.silentNanos(now));
            parts.add(server + " was silent for " + millis(follower.silentNanos(now)));
        } else if (!follower.synced()) {
            parts.add(server + " still synchronises");
        } else if (!counts) {
            parts.add(server + " is not in the sealed view");
        } else if (!follower.acksInTime(now)) {
            parts.add(server + " " + late(follower.acks, now));
        }
    }

    /** This leader's own log. */
    void ownLog(AckProgress.Peer own, long now) {
        if (!own.inTime(now)) {
            parts.add("this leader's own log " + late(own, now));
        }
    }

    private static String late(AckProgress.Peer acks, long now) {
        return acks.owedFor(now) > 0
                ? "has acknowledged nothing for " + millis(acks.owedFor(now))
                : "acknowledged too late";
    }

    /**
     * What stands behind "only 2 of 3 voters are responsive".
     *
     * @param pauses of this process: the reason for a silence may be its own
     */
    String text(PauseDetector pauses, long now) {
        String missing = parts.isEmpty() ? "" : ": " + String.join(", ", parts);
        long pause = silent > 0 ? pauses.since(now - longestSilence) : 0;
        if (pause > 0) {
            return "%s; meanwhile this leader itself stood still for at least %s"
                    .formatted(missing, millis(pause));
        }
        return heard == 0 && silent > 1
                ? missing + "; nobody was heard, so look at this leader's machine and network"
                : missing;
    }

    private static String millis(long nanos) {
        return nanos / NANOS_PER_MILLI + " ms";
    }
}
