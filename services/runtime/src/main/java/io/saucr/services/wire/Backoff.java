package io.saucr.services.wire;

import java.time.Duration;
import java.util.Random;

/**
 * How long to wait before the next attempt to connect: twice as long after each that failed, up to
 * a limit, of which a random part is taken off, so that many who lost the same peer do not come
 * back at once. Not thread-safe.
 */
final class Backoff {

    private final long minMillis;
    private final long maxMillis;
    private final Random random;
    private long nextMillis;

    Backoff(Duration min, Duration max, Random random) {
        this.minMillis = min.toMillis();
        this.maxMillis = max.toMillis();
        this.random = random;
        this.nextMillis = minMillis;
    }

    /** Between half of the wait that is due and all of it. */
    long nextMillis() {
        long wait = nextMillis;
        nextMillis = Math.min(2 * wait, maxMillis);
        return wait - random.nextLong(wait / 2 + 1);
    }

    /** A connection held. */
    void reset() {
        nextMillis = minMillis;
    }
}
