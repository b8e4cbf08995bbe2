package io.saucr.bench;

/**
 * What an ensemble's running servers have used so far. Immutable.
 *
 * @param leader the leader's part of {@code servers}
 * @param forces of all kinds of files
 * @param logForces of transaction logs
 * @param forceSeconds time spent in forces
 * @param fastCommits what the leader counted, 0 if it has no modes
 * @param slowCommits what the leader counted, 0 if it has no modes
 * @param modeSwitches what the leader counted, 0 if it has no modes
 * @param flushes of all servers because somebody was silent or left, 0 if they have no modes
 */
record EnsembleUsage(
        ProcessUsage servers,
        ProcessUsage leader,
        long forces,
        long logForces,
        double forceSeconds,
        long fastCommits,
        long slowCommits,
        long modeSwitches,
        long flushes) {

    EnsembleUsage since(EnsembleUsage earlier) {
        return new EnsembleUsage(
                servers.since(earlier.servers),
                leader.since(earlier.leader),
                forces - earlier.forces,
                logForces - earlier.logForces,
                forceSeconds - earlier.forceSeconds,
                fastCommits - earlier.fastCommits,
                slowCommits - earlier.slowCommits,
                modeSwitches - earlier.modeSwitches,
                flushes - earlier.flushes);
    }

    /** The mode of the commits counted here: fast, slow, mixed, or - if there were none. */
    String mode() {
        if (fastCommits > 0 && slowCommits > 0) {
            return "mixed";
        }
        if (fastCommits > 0) {
            return "fast";
        }
        return slowCommits > 0 ? "slow" : "-";
    }
}
