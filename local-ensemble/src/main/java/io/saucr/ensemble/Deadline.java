package io.saucr.ensemble;

import java.time.Duration;
import java.util.function.Supplier;

/** A point in time after which waiting is an error. Immutable; the clock is monotonic. */
public final class Deadline {
    private static final long PAUSE_MILLIS = 20;

    private final long endNanos;

    private Deadline(long endNanos) {
        this.endNanos = endNanos;
    }

    public static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + time.toNanos());
    }

    public boolean hasPassed() {
        return System.nanoTime() - endNanos > 0;
    }

    /** The time that is left, at least 0. */
    public Duration left() {
        return Duration.ofNanos(Math.max(0, endNanos - System.nanoTime()));
    }

    /**
     * @throws EnsembleException with the message, if the time has passed
     */
    public void requireTimeLeft(Supplier<String> message) {
        if (hasPassed()) {
            throw new EnsembleException(message.get());
        }
    }

    /** Waits for a moment between two looks at a condition. */
    public void pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EnsembleException("interrupted", e);
        }
    }
}
