package io.saucr.services.core;

/**
 * What a reply shows that left before it was covered (C7): it is lost with that turn of that epoch.
 * Immutable.
 */
public record Mark(long epoch, long turn) {}
