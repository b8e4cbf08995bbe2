package org.apache.zookeeper.server.quorum;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Counts messages that were refused, so that whoever sends many of them does not fill the log: a
 * line is due for a sender's first one, then at most once a minute, and says how many there were
 * since the line before. Senders beyond {@value #SENDERS} share one line.
 *
 * <p>Thread-safe.
 */
final class RefusedMessages {
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
     * @return how many to tell of in a line that is due now; 0 if none is
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
