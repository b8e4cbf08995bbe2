package io.saucr.bench.result;

import org.HdrHistogram.Histogram;

/** Slices for tests. */
public final class Slices {
    private Slices() {}

    /** One in which every operation took the same time. */
    public static Slice slice(String configuration, Case measured, int round, double throughput) {
        Histogram latencies = new Histogram(3);
        latencies.recordValue(1500);
        return Slice.of(
                configuration,
                measured,
                round,
                new LoadResult((long) throughput, 0, "a, \"b\"", 1, latencies),
                new EnsembleUsage(
                        new ProcessUsage(1, 1 << 20, 10),
                        new ProcessUsage(0.5, 0, 0),
                        3,
                        2,
                        0.03,
                        5,
                        0,
                        0,
                        0),
                ProcessUsage.NONE,
                4096,
                77);
    }
}
