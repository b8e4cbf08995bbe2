package io.saucr.services.core.replay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What is known of a lock, a read-write lock, or a stripe of a collection since the last barrier:
 * how often it was acquired exclusively, and which releases the next acquisition comes after.
 * Accessed only while it is held; each lane that holds it shared writes to its own slots alone.
 */
public final class Resource {

    /** A release. {@code known} is what its lane knew, itself included. */
    @SuppressWarnings("ArrayRecordComponent") // Compared by identity.
    record Release(int lane, int clock, int[] known) {

        @Override
        public String toString() {
            return lane + "@" + clock + Arrays.toString(known);
        }
    }

    private final int number;
    private final Release[] shared;
    private int version;
    private Release exclusive;

    private Resource(int number, int lanes) {
        if (number < 0 || number >= TraceFormat.MOST_RESOURCES) {
            throw new IllegalArgumentException(
                    "resources are numbered from 0 to "
                            + (TraceFormat.MOST_RESOURCES - 1)
                            + ", not "
                            + number);
        }
        this.number = number;
        shared = new Release[lanes + 1];
    }

    /** A lock or a stripe, which is never shared. */
    public static Resource lock(int number) {
        return new Resource(number, -1);
    }

    /**
     * A read-write lock.
     *
     * @param lanes that there are, without the turn thread
     */
    public static Resource readWriteLock(int number, int lanes) {
        return new Resource(number, lanes);
    }

    /** Its number, in the order of declaration (X19). */
    public int number() {
        return number;
    }

    /** How often it was acquired exclusively since the last barrier. */
    public int version() {
        return version;
    }

    /** A barrier: nothing before it needs an edge (X8). Whether it is held does not change. */
    public void restart() {
        version = 0;
        exclusive = null;
        for (int lane = 0; lane < shared.length; lane++) {
            shared[lane] = null;
        }
    }

    /** Releases that an acquisition comes after. */
    List<Release> before(boolean sharing) {
        List<Release> before = new ArrayList<>();
        if (exclusive != null) {
            before.add(exclusive);
        }
        if (!sharing) {
            for (Release each : shared) {
                if (each != null) {
                    before.add(each);
                }
            }
        }
        return before;
    }

    void acquired(boolean sharing) {
        if (!sharing) {
            version++;
        }
    }

    void released(boolean sharing, Release release) {
        if (sharing) {
            shared[release.lane()] = release;
        } else {
            // Each shared release since the exclusive one before is known to this lane.
            exclusive = release;
            for (int lane = 0; lane < shared.length; lane++) {
                shared[lane] = null;
            }
        }
    }

    /** The state, for messages and models. */
    @Override
    public String toString() {
        return number + "v" + version + exclusive + Arrays.toString(shared);
    }
}
