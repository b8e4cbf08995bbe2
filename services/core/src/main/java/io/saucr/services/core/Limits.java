package io.saucr.services.core;

/**
 * Limits and settings of a service's core. Immutable.
 *
 * @param window how many messages of one sender are held, from 1 to 65,536
 * @param attempts how often a message is attempted before it becomes a dead letter, from 1 to 1,000
 *     (K12)
 * @param deadLetters whether the channel continues once its message has had its attempts; if not,
 *     it waits for an operator
 * @param firstRetryMillis how long a channel pauses after the first attempt, doubled with each
 * @param lastRetryMillis the longest of these pauses
 * @param outsideRequests how many requests without a number wait for their turn, from 1
 * @param outsideSilenceMillis after which a silent outside client is forgotten (K11)
 * @param outboxMessages so many messages at most that one peer has not acked are in memory, from 1;
 *     those behind them are in a file (K13)
 * @param outboxBytes so many bytes of them at most, from 1 KiB, and four times as many of all
 *     peers; a larger message comes alone
 */
public record Limits(
        int window,
        int attempts,
        boolean deadLetters,
        long firstRetryMillis,
        long lastRetryMillis,
        int outsideRequests,
        long outsideSilenceMillis,
        int outboxMessages,
        long outboxBytes) {

    private static final long DAY_MILLIS = 24L * 60 * 60 * 1000;

    public Limits {
        check("window", window, 1, 65_536);
        check("attempts", attempts, 1, 1_000);
        check("firstRetryMillis", firstRetryMillis, 0, DAY_MILLIS);
        check("lastRetryMillis", lastRetryMillis, firstRetryMillis, DAY_MILLIS);
        check("outsideRequests", outsideRequests, 1, 1_000_000);
        check("outsideSilenceMillis", outsideSilenceMillis, 1_000, 36_500 * DAY_MILLIS);
        check("outboxMessages", outboxMessages, 1, 1_000_000);
        check("outboxBytes", outboxBytes, 1 << 10, 1L << 40);
    }

    /** With 1,024 messages of 4 MiB of each peer in memory. */
    public Limits(
            int window,
            int attempts,
            boolean deadLetters,
            long firstRetryMillis,
            long lastRetryMillis,
            int outsideRequests,
            long outsideSilenceMillis) {
        this(
                window,
                attempts,
                deadLetters,
                firstRetryMillis,
                lastRetryMillis,
                outsideRequests,
                outsideSilenceMillis,
                1_024,
                4L << 20);
    }

    /** These with an outbox in memory of another size. */
    public Limits outbox(int messages, long bytes) {
        return new Limits(
                window,
                attempts,
                deadLetters,
                firstRetryMillis,
                lastRetryMillis,
                outsideRequests,
                outsideSilenceMillis,
                messages,
                bytes);
    }

    /** The defaults. */
    public static Limits standard() {
        return new Limits(256, 5, true, 100, 60_000, 1_024, 30 * DAY_MILLIS);
    }

    private static void check(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    name + " is from " + least + " to " + most + ", not " + value);
        }
    }
}
