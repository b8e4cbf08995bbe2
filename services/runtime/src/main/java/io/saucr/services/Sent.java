package io.saucr.services;

/**
 * A message that a turn sent, for {@link Turn#acked}. May be kept in the state. Immutable.
 *
 * @param service to whom
 * @param number counts this service's messages to that one, from 1; 0 where handlers run in
 *     parallel, as the commit gives it (P4)
 */
public record Sent(String service, long number) {}
