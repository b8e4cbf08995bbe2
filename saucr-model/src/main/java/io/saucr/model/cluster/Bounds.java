package io.saucr.model.cluster;

/**
 * How much may happen in a {@link ModelCluster}, each number counted over all servers; the cluster
 * offers no step that would exceed one. Other steps follow from these and need no bound.
 *
 * @param entries what clients write
 * @param noops no-ops that the leader proposes
 * @param elections leaders
 * @param crashes losses of power: what is not synced is lost
 * @param suspicions turns to slow mode because followers are late
 * @param confirmations turns to fast mode, or no-ops that prepare one
 * @param disconnects connections that break while both ends are alive, and leaders that step down
 * @param forces fsyncs by a flush
 * @param syncs syncs that clients ask for
 * @param kills processes that die while their machine continues (R25)
 * @param lostDisks disks that are lost with everything on them (R26)
 * @param pins orders of operators to stay slow (R10)
 * @param drains times that proposals are held back (R5)
 * @param misses heartbeats of one follower that are missed (R6, R9)
 * @param pauses times that a leader's process stands still (H11)
 * @param partialCrashes whether a crash may also leave a part of what was not synced
 * @param killsWhileJoining whether a process may also die while it logs its leader's history
 */
public record Bounds(
        int entries,
        int noops,
        int elections,
        int crashes,
        int suspicions,
        int confirmations,
        int disconnects,
        int forces,
        int syncs,
        int kills,
        int lostDisks,
        int pins,
        int drains,
        int misses,
        int pauses,
        boolean partialCrashes,
        boolean killsWhileJoining) {

    /** No bounds but the cluster's capacity. */
    public static Bounds none() {
        int most = Integer.MAX_VALUE;
        return new Bounds(
                most, most, most, most, most, most, most, most, most, most, most, most, most, most,
                most, true, true);
    }
}
