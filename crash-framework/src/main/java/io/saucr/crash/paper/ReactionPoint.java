package io.saucr.crash.paper;

/**
 * What one failure of all servers left. Written to JSON as it stands.
 *
 * @param order leader first or followers first
 * @param gapMillis between failures, as planned
 * @param measuredGapMillis as it was, on average; more on a machine with too much to do
 * @param safe servers whose disk held everything that they had acknowledged
 * @param needed as many must be safe, or the ensemble cannot serve again
 */
public record ReactionPoint(
        String version,
        int servers,
        long heartbeatMillis,
        String order,
        long gapMillis,
        double measuredGapMillis,
        int round,
        String backend,
        int safe,
        int needed) {
    /** Distinguishes points of one campaign. */
    public String key() {
        return servers + " " + heartbeatMillis + " " + order + " " + gapMillis + " " + round;
    }
}
