package io.saucr.crash.fault;

import java.time.Duration;

/**
 * When servers lost power.
 *
 * @param began {@link System#nanoTime} when the first one lost its network
 * @param ended {@link System#nanoTime} when nothing ran any more
 */
public record PowerCut(long began, long ended) {
    /** From the first one's loss to the last one's. */
    public Duration width() {
        return Duration.ofNanos(ended - began);
    }
}
