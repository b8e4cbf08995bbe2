package io.saucr.bench.result;

import java.util.Map;

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
public record EnsembleUsage(
        ProcessUsage servers,
        ProcessUsage leader,
        long forces,
        long logForces,
        double forceSeconds,
        long fastCommits,
        long slowCommits,
        long modeSwitches,
        long flushes) {

    /**
     * @param leaderSays the leader's answer to {@code mntr}
     */
    public static EnsembleUsage of(
            ProcessUsage servers,
            ProcessUsage leader,
            long forces,
            long logForces,
            double forceSeconds,
            Map<String, String> leaderSays,
            long flushes) {
        return new EnsembleUsage(
                servers,
                leader,
                forces,
                logForces,
                forceSeconds,
                number(leaderSays, "zk_saucr_fast_commits"),
                number(leaderSays, "zk_saucr_slow_commits"),
                number(leaderSays, "zk_saucr_mode_switches"),
                flushes);
    }

    /** A whole number from an answer to {@code mntr}, 0 if it is not there. */
    public static long number(Map<String, String> table, String key) {
        return (long) Double.parseDouble(table.getOrDefault(key, "0"));
    }

    /** What was used since an earlier reading. */
    public EnsembleUsage since(EnsembleUsage earlier) {
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
