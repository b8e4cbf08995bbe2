package io.saucr.bench.result;

import org.HdrHistogram.Histogram;

/**
 * What the clients saw in one slice.
 *
 * @param operations that ended within the slice, without error
 * @param errors operations that failed, warm-up included
 * @param firstError the message of one of them, empty if there is none
 * @param seconds the slice's real length
 * @param latencies in microseconds: of those operations, or of those whose turn was in the slice;
 *     with the slice's begin and end as time stamps
 */
public record LoadResult(
        long operations, long errors, String firstError, double seconds, Histogram latencies) {
    /** Operations per second. */
    public double throughput() {
        return operations / seconds;
    }
}
