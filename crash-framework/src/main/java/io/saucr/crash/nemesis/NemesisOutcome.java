package io.saucr.crash.nemesis;

import java.util.List;

/**
 * One run of clients under faults. Written to JSON as it stands.
 *
 * @param faults the kinds that were drawn from
 * @param reason why, where the verdict is not LINEARIZABLE
 * @param evidence of a violation: of each register that has one, what does not fit, in words
 * @param ok calls that took effect
 * @param failed calls that took none
 * @param unknown calls without an answer
 * @param configurations that the checker looked at
 * @param checkMillis that it took
 * @param injected faults and their ends, in order
 * @param refusals servers that ended by themselves, or did not serve for long after a fault
 * @param history file name below {@code histories/}
 */
public record NemesisOutcome(
        String system,
        String version,
        int servers,
        long seed,
        long seconds,
        String faults,
        String backend,
        Verdict verdict,
        String reason,
        List<String> evidence,
        int registers,
        long ok,
        long failed,
        long unknown,
        long configurations,
        long checkMillis,
        long millis,
        List<Injected> injected,
        List<Refusal> refusals,
        String history) {
    public NemesisOutcome {
        // Older outcomes have none.
        refusals = refusals == null ? List.of() : List.copyOf(refusals);
    }

    /** What is said of a run. */
    public enum Verdict {
        LINEARIZABLE,
        /** The system lost or reordered something. */
        NOT_LINEARIZABLE,
        /** The checker gave up. */
        UNKNOWN,
        /** Nothing wrong was seen, but the ensemble did not come back after the last fault. */
        UNAVAILABLE
    }

    /**
     * @param millis since the servers were made
     * @param fault as the history names it
     */
    public record Injected(long millis, String fault, List<Integer> servers) {}

    /**
     * A server that did not serve although nobody kept it from serving.
     *
     * @param millis as those of {@link Injected}
     * @param why what the server itself says
     */
    public record Refusal(long millis, int server, String why) {}

    /** Distinguishes outcomes of one campaign. */
    public String key() {
        return key(system, servers, seed, seconds, faults);
    }

    static String key(String system, int servers, long seed, long seconds, String faults) {
        return system + " " + servers + " seed " + seed + " " + seconds + " s " + faults;
    }
}
