package io.saucr.services.core;

/**
 * What the clocks said.
 *
 * @param wallMillis since 1970; may jump
 * @param steadyMillis since any moment of this process; never goes back and does not jump
 */
public record Moment(long wallMillis, long steadyMillis) {}
