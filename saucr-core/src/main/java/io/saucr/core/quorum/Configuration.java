package io.saucr.core.quorum;

import java.util.List;

/**
 * An ensemble's configuration as far as recovery needs it (R16). Immutable.
 *
 * @param version ZooKeeper's configuration version, higher is newer
 * @param voters server ids, ascending, each once
 */
public record Configuration(long version, List<Long> voters) {
    /** A configuration has at most this many voters. */
    public static final int MAX_VOTERS = 255;

    public Configuration {
        voters = voters.stream().sorted().distinct().toList();
        if (voters.isEmpty() || voters.size() > MAX_VOTERS) {
            throw new IllegalArgumentException(
                    "a configuration has 1 to " + MAX_VOTERS + " voters, not " + voters.size());
        }
    }

    /** R: how many recovered voters must answer. */
    public int recoveryQuorum() {
        return Quorums.recoveryQuorum(voters.size());
    }

    /** How many recovered voters must answer one that lost its disk (R26). */
    public int lostDiskQuorum() {
        return Quorums.lostDiskQuorum(voters.size());
    }

    /** B: the smallest majority. */
    public int bareMajority() {
        return Quorums.bareMajority(voters.size());
    }
}
