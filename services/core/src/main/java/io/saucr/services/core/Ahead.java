package io.saucr.services.core;

/**
 * An input before its turn, and the channel on which it waits. Equal to the one of the same input
 * that is asked for later.
 */
public record Ahead(String channel, Input input) {}
