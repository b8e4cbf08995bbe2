package io.saucr.services.core.standby;

import io.saucr.services.core.Birth;

/**
 * A birth that an operator ended, as segments that the head named are lost (C17). Immutable.
 *
 * @param birth that was replaced
 * @param upTo the newest of its segments that counts; all behind it was given up
 */
public record Replaced(Birth birth, SegmentId upTo) {}
