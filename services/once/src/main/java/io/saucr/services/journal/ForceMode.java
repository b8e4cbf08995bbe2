package io.saucr.services.journal;

import java.time.Duration;

/**
 * When a journal syncs what was appended. In each mode one fsync covers every turn that was
 * appended before it began. Immutable.
 */
public sealed interface ForceMode {

    /** Syncs as soon as the disk is free. */
    record Always() implements ForceMode {}

    /**
     * Syncs a while after the first turn that waits, so that more turns share an fsync.
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
     * Does not sync a segment while it is being filled: the operating system decides when it writes
     * it. A turn is final as soon as it is written. That survives a crash of the process. A power
     * cut, or a crash of the machine, silently loses turns that were answered. Full segments and
     * snapshots are synced as in the other modes.
     */
    record Os() implements ForceMode {}

    /** Syncs as soon as the disk is free. */
    static ForceMode always() {
        return new Always();
    }

    /** Syncs a while after the first turn that waits. */
    static ForceMode group(Duration delay) {
        return new Group(delay);
    }

    /** Leaves the fsync of turns to the operating system: a power cut may lose answered turns. */
    static ForceMode os() {
        return new Os();
    }
}
