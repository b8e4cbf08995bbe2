package io.saucr.core.leader;

import java.util.function.Supplier;

/** Why the mode switches, for the log and for operators. */
enum SwitchReason {
    PROMPT,
    TOO_FEW_PROMPT,
    ACKS_LATE,
    GONE,
    ENTRY_WAITS,
    DISK_SILENT,
    DRAINED,
    RECONFIGURATION,
    VIEW;

    /**
     * Says it in words.
     *
     * @param number what belongs to it: a number of voters, a server, or a time in nanoseconds
     * @param voters how many there are
     * @param missing who is missing, for reasons that somebody is
     */
    String text(long number, int voters, Supplier<String> missing) {
        return switch (this) {
            case PROMPT -> prompt(number, voters);
            case TOO_FEW_PROMPT, ACKS_LATE -> "only " + prompt(number, voters) + missing.get();
            case GONE -> "the connection of server " + number + " is lost";
            case ENTRY_WAITS -> "an entry has waited for " + millis(number) + " ms" + missing.get();
            case DISK_SILENT -> "the leader's disk has not answered for " + millis(number) + " ms";
            case DRAINED -> "the last slow entry is on disk";
            case RECONFIGURATION -> "a reconfiguration is proposed";
            case VIEW -> "other servers follow than in the sealed view";
        };
    }

    private static String prompt(long number, int voters) {
        return number + " of " + voters + " voters are responsive";
    }

    private static long millis(long nanos) {
        return nanos / 1_000_000;
    }
}
