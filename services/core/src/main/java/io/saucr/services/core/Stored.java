package io.saucr.services.core;

/**
 * A message beyond its peer's window, which lies in a file and not in the heap (K13). Immutable.
 *
 * @param stream the file's number; all its messages are for one peer, and their counts rise
 * @param peer for whom it is
 * @param count its place in all messages to that peer
 */
public record Stored(long stream, String peer, long count, Change.Unacked message) {}
