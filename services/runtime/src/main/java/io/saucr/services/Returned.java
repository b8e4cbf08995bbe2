package io.saucr.services;

/**
 * A message of this service that came back, for {@link Handlers#returned}: its receiver put it
 * aside, as its handler failed again and again (K12); or is lost for good, or this service has a
 * new birth, and then it will never be known whether it was consumed (K11, K15); or nobody had that
 * name, and a person gave it up. Immutable.
 *
 * @param sent which message
 * @param message what was sent
 * @param perhapsConsumed false where the receiver certainly did not consume it
 * @param reason for people
 */
public record Returned<M>(Sent sent, M message, boolean perhapsConsumed, String reason) {}
