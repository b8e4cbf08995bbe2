package io.saucr.bench;

/**
 * Something that was done to a server in a timeline. Immutable.
 *
 * @param seconds from the beginning of the timeline
 * @param what for people: which server is killed or returns
 */
record TimelineEvent(String configuration, int round, double seconds, String what) {}
