package io.saucr.services.core;

/**
 * A connection between two ends, as the shell names it. Immutable.
 *
 * @param id never used twice by a process
 * @param peer the name that the other end proved, or gave where nothing proves it
 * @param outside whether the other end is an outside client, which nobody believes what it says
 *     about this service (K14); decided by this end
 */
public record Link(long id, String peer, boolean outside) {}
