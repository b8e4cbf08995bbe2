package io.saucr.services.journal;

import java.time.Duration;

/**
 * When a journal forces what was appended. In each mode one force covers every turn that was
 * appended before it began. Immutable.
 */
public sealed interface ForceMode {

    /** As soon as the disk is free. */
    record Always() implements ForceMode {}

    /**
     * A while after the first turn that waits, so that more turns share a force.
     *
     * @param delay how long a turn waits for others, more than nothing and at most a second
     */
    record Group(Duration delay) implements ForceMode {
        public Group {
            if (delay.isNegative()
                    || delay.isZero()
                    || delay.compareTo(Duration.ofSeconds(1)) > 0) {
                throw new IllegalArgumentException(
                        "turns wait for others more than 0 and at most 1 s, not " + delay);
            }
        }
    }

    /**
     * Never while a segment is being filled: the operating system writes when it likes. A turn
     * counts as soon as it is written, which outlives the process, but not a power cut: then turns
     * that were reported may be gone. Full segments and bases are forced as in the other modes.
     */
    record Os() implements ForceMode {}

    /** Force as soon as the disk is free. */
    static ForceMode always() {
        return new Always();
    }

    /** Force a while after the first turn that waits. */
    static ForceMode group(Duration delay) {
        return new Group(delay);
    }

    /** Leave it to the operating system. */
    static ForceMode os() {
        return new Os();
    }
}
