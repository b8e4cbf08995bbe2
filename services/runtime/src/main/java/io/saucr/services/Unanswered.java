package io.saucr.services;

/**
 * Why a question has no answer, for {@link Handlers#unanswered}. Immutable.
 *
 * @param question which message
 * @param perhapsConsumed false where the receiver certainly did not consume it
 * @param reason for people
 */
public record Unanswered(Sent question, boolean perhapsConsumed, String reason) {}
