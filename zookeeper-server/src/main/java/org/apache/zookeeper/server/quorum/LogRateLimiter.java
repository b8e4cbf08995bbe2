package org.apache.zookeeper.server.quorum;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Limits the lines that refused messages may write to the log, so that a sender of many does not
 * fill it. A sender's first message is logged; after that at most one line a minute is, with the
 * number of messages since the line before. Senders beyond the first {@value #SENDERS} share one
 * line.
 *
 * <p>Thread-safe.
 */
final class LogRateLimiter {
    private static final int SENDERS = 64;
    private static final long OTHERS = Long.MIN_VALUE;
    private static final long LINE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final class Sender {
        long lineAt;
        long since;
    }

    // this
    private final Map<Long, Sender> senders = new HashMap<>();

    /**
     * @param nanos the time, of a monotonic clock
     * @return if a line is due now, how many messages it reports; else 0
     */
    synchronized long refused(long sid, long nanos) {
        long key = senders.size() < SENDERS || senders.containsKey(sid) ? sid : OTHERS;
        Sender sender = senders.get(key);
        if (sender == null) {
            sender = new Sender();
            sender.lineAt = nanos;
            senders.put(key, sender);
        }
        sender.since++;
        if (nanos - sender.lineAt < 0) {
            return 0;
        }
        long count = sender.since;
        sender.since = 0;
        sender.lineAt = nanos + LINE_NANOS;
        return count;
    }
}
