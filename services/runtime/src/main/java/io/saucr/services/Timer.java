package io.saucr.services;

/**
 * A timer that a turn set, for {@link Turn#cancel}. May be kept in the state. Immutable.
 *
 * @param id never used twice by a service
 */
public record Timer(long id) {}
