package io.saucr.tool;

import java.time.Duration;

/** Durations as people read them. */
final class Durations {
    private Durations() {}

    /** For messages: 5 s, 500 ms. */
    static String readable(Duration duration) {
        long millis = duration.toMillis();
        return millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
    }
}
