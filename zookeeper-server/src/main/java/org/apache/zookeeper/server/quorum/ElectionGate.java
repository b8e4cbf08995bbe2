package org.apache.zookeeper.server.quorum;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Whether this server votes and hears votes. It does neither while it recovers (R15), nor when it
 * has left its role and its log is not flushed yet (R24): while its disk hangs it would tell
 * everyone of a role that it does not have any more, and nobody could be elected. Votes that come
 * in are heard later. Thread-safe.
 */
final class ElectionGate {
    /** How many shutdowns of a role are under way: a leader's may be begun by several threads. */
    private final AtomicInteger held = new AtomicInteger();

    private final Runnable hearVotes;
    private volatile boolean recovering;

    /**
     * @param hearVotes lets those in that came while the gate was closed
     */
    ElectionGate(Runnable hearVotes) {
        this.hearVotes = hearVotes;
    }

    boolean closed() {
        return recovering || held.get() > 0;
    }

    /** Closes it until as many {@link #release} follow. */
    void hold() {
        held.incrementAndGet();
    }

    /** The end of one {@link #hold}. */
    void release() {
        if (held.decrementAndGet() == 0 && !recovering) {
            hearVotes.run();
        }
    }

    boolean recovering() {
        return recovering;
    }

    /** The server recovers: it takes part in nothing. */
    void beginRecovery() {
        recovering = true;
    }

    /** The server has recovered. */
    void endRecovery() {
        recovering = false;
        hearVotes.run();
    }
}
