package io.saucr.services.turns;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Random numbers of a handler that may run more than once: each run draws the same ones (P4). One
 * thread at a time.
 */
final class DrawnNumbers implements RandomGenerator {

    private final RandomGenerator source;
    private final List<Long> drawn = new ArrayList<>();
    private int at;

    DrawnNumbers(RandomGenerator source) {
        this.source = source;
    }

    /** The handler runs from its beginning. */
    void again() {
        at = 0;
    }

    @Override
    public long nextLong() {
        if (at == drawn.size()) {
            drawn.add(source.nextLong());
        }
        return drawn.get(at++);
    }
}
