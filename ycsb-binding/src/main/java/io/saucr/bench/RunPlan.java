package io.saucr.bench;

import java.time.Duration;
import java.util.List;

/**
 * What one run measures: every case with every configuration, in rounds. Immutable.
 *
 * @param title names the run in every result
 * @param voters servers of each ensemble
 * @param failedServers followers of each that are killed before the first round
 * @param cases what is measured of each configuration
 * @param valueBytes size of every value
 * @param records nodes that each load finds when it begins
 * @param warmUp load at the beginning of each slice that does not count
 * @param slice load that counts
 * @param compile load on each ensemble, before anything is delayed or killed, that lets its JVMs
 *     compile what is hot
 * @param rounds rounds to run at least
 * @param maxRounds rounds to stop after, even if the precision is not reached
 * @param precision half width of the confidence interval of every ratio of throughputs, as a part
 *     of the ratio, after which no further round is run; 0 if the rounds alone decide
 * @param jvmFlags of every server
 */
public record RunPlan(
        String title,
        List<Configuration> configurations,
        int voters,
        int failedServers,
        List<Case> cases,
        int valueBytes,
        int records,
        Duration warmUp,
        Duration slice,
        Duration compile,
        int rounds,
        int maxRounds,
        double precision,
        List<String> jvmFlags) {

    /** Checks what can be checked before anything is started. */
    public RunPlan {
        configurations = List.copyOf(configurations);
        cases = List.copyOf(cases);
        jvmFlags = List.copyOf(jvmFlags);
        require(!configurations.isEmpty(), "a run without a configuration");
        require(
                configurations.stream().map(Configuration::name).distinct().count()
                        == configurations.size(),
                "two configurations have the same name");
        require(voters >= 1 && voters <= 9, "1 to 9 servers, not " + voters);
        require(
                failedServers >= 0 && failedServers <= (voters - 1) / 2,
                failedServers + " failed of " + voters + " servers leave no majority");
        require(!cases.isEmpty(), "a run without a case");
        require(cases.stream().distinct().count() == cases.size(), "a case that is given twice");
        require(valueBytes >= 1 && valueBytes <= 1_000_000, "values of 1 to 1,000,000 bytes");
        require(records >= 1 && records <= 1_000_000, "1 to 1,000,000 records");
        require(!slice.isNegative() && !slice.isZero(), "a slice that is longer than nothing");
        require(rounds >= 1 && maxRounds >= rounds, "at least one round, and no more than allowed");
        require(precision >= 0 && precision < 1, "a precision between 0 and 1");
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new IllegalArgumentException("not possible: " + what);
        }
    }

    /** Slices in a round. */
    public int slicesPerRound() {
        return configurations.size() * cases.size();
    }
}
