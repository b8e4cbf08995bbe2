package io.saucr.bench.result;

/**
 * Something that was done to a server in a timeline. Immutable.
 *
 * @param seconds from the beginning of the timeline
 * @param what for people: which server is killed or returns
 */
public record TimelineEvent(String configuration, int round, double seconds, String what) {}
