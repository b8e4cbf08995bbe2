package io.saucr.server.metrics;

import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/**
 * The sum of numbers that many threads add, without a lock. It is exact as long as they are small;
 * large ones are added as doubles, so that the sum never overflows. Thread-safe.
 */
final class ExactSum {
    private final LongAdder small = new LongAdder();
    private final DoubleAdder large = new DoubleAdder();

    void add(long value) {
        if (value == (int) value) {
            small.add(value);
        } else {
            large.add((double) value);
        }
    }

    double get() {
        return (double) small.sum() + large.sum();
    }
}
