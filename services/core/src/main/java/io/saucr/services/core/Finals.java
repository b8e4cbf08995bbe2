package io.saucr.services.core;

/**
 * How far what a service did can be told, by who hears it. What leaves to outside is never undone
 * (K4); members of a group hear earlier what only they take back. Immutable.
 *
 * @param outside every turn up to this one is final
 * @param group every turn up to this one may be heard by members of the service's group; not less
 *     than {@code outside}
 * @param reads this start was primary after every read up to this one was asked for (C8)
 */
public record Finals(long outside, long group, long reads) {

    /** Nothing yet. */
    public static final Finals NONE = new Finals(0, 0, 0);

    public Finals {
        if (outside > group) {
            throw new IllegalArgumentException(
                    "turn " + outside + " is final, and members hear only up to " + group);
        }
    }

    /** Turns that are final for everybody. */
    public static Finals turns(long turn) {
        return new Finals(turn, turn, 0);
    }

    /** Reads that are proven. */
    public static Finals reads(long read) {
        return new Finals(0, 0, read);
    }

    /** The further of both, each for itself. */
    public Finals and(Finals other) {
        return new Finals(
                Math.max(outside, other.outside),
                Math.max(group, other.group),
                Math.max(reads, other.reads));
    }
}
