package io.saucr.bench.result;

/**
 * What an ensemble did in one step of a timeline. Immutable.
 *
 * @param seconds the step's end, from the beginning of the timeline
 * @param throughput operations per second within the step
 * @param mode of the leader at the step's end: fast, slow, or - if it has no mode or there is no
 *     leader
 * @param servers that ran at the step's end
 */
public record TimelinePoint(
        String configuration,
        int round,
        double seconds,
        double throughput,
        String mode,
        int servers)
        implements Sample {}
