package io.saucr.tool;

import java.time.Duration;

/** The end of one question's patience. Immutable; the clock is monotonic. */
final class Deadline {
    private final Duration patience;
    private final long endNanos;

    private Deadline(Duration patience) {
        this.patience = patience;
        this.endNanos = System.nanoTime() + patience.toNanos();
    }

    static Deadline in(Duration patience) {
        return new Deadline(patience);
    }

    /** How long it was from the beginning. */
    Duration patience() {
        return patience;
    }

    boolean hasPassed() {
        return endNanos - System.nanoTime() <= 0;
    }

    /** Milliseconds that are left, at least 1: to sockets 0 means for ever. */
    int millisLeft() {
        return (int) Math.max(1, (endNanos - System.nanoTime()) / 1_000_000);
    }
}
