package io.saucr.core;

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

    /**
     * R: how many recovered voters must answer. Never less than 1: nobody recovers from nothing.
     */
    public int recoveryQuorum() {
        return Math.max(1, voters.size() - bareMajority());
    }

    /**
     * How many recovered voters must answer one that lost its disk (R26): n - B + 1. A durable ack
     * of the lost disk counted together with those of at least B - 1 others; among the n - 1
     * others, any n - B + 1 include one of these.
     */
    public int lostDiskQuorum() {
        return voters.size() - bareMajority() + 1;
    }

    /** B: the smallest majority. */
    public int bareMajority() {
        return voters.size() / 2 + 1;
    }
}
