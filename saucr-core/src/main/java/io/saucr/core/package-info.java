/**
 * The protocol as decisions: no I/O, no threads, no clock. Here is what all four packages need:
 * zxids, modes, and the reader of their texts.
 *
 * <p>Each package may use those before it: {@code quorum}, {@code log}, then {@code leader} and
 * {@code recovery}, which do not know each other. {@code config} stands apart.
 */
package io.saucr.core;
