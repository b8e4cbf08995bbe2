package io.saucr.bench;

/**
 * How long something took once. Immutable.
 *
 * @param measure what took that time
 * @param configuration whose ensemble
 * @param round from 1; the configurations take turns in each
 * @param seconds greater than 0
 */
record TimeSample(String measure, String configuration, int round, double seconds) {}
