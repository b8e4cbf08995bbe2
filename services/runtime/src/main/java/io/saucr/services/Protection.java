package io.saucr.services;

import io.saucr.services.journal.ForceMode;
import java.util.Optional;

/** What a service survives, and so when a turn of it is final. Immutable. */
public sealed interface Protection {

    /**
     * A turn is final once its record is forced on this machine's disk. The service survives
     * crashes of its process and of its machine, not the loss of the disk.
     */
    static Local local() {
        return new Local(ForceMode.always());
    }

    /**
     * A turn is final once the head in the ensemble names a segment that holds it, which this
     * member and one more have forced. The service survives the loss of any member: another one,
     * which runs the same line, goes on within a second.
     */
    static Standby standby() {
        return new Standby(2, false, false, Optional.empty());
    }

    /**
     * Members.
     *
     * @param copies members that force a segment before its turns are final, from 1
     * @param stalls whether turns wait for that many members, however long
     * @param inMemory whether two members that have written a segment are enough while both answer
     * @param members where other members reach this one; empty for the host that the service
     *     listens at, at a port that the system chooses
     */
    record Standby(int copies, boolean stalls, boolean inMemory, Optional<Address> members)
            implements Protection {

        private static final int MOST_COPIES = 9;

        public Standby {
            if (copies < 1 || copies > MOST_COPIES) {
                throw new IllegalArgumentException(
                        "copies are from 1 to " + MOST_COPIES + ", not " + copies);
            }
            if (inMemory && copies < 2) {
                throw new IllegalArgumentException(
                        "fast() takes a standby for the disk, so there are 2 copies or more, not "
                                + copies);
            }
        }

        /** The same with another number of members that have each segment; preset 2. */
        public Standby copies(int other) {
            return new Standby(other, stalls, inMemory, members);
        }

        /**
         * The same, situation-aware (C15): a segment counts once two members have written it, and
         * is forced within 100 ms, while a standby answers promptly. The moment that the primary is
         * alone its own disk is forced first. What is final is lost only where all copies lose
         * their power within that time, and then never in silence: the service does not start, and
         * says which members had it.
         */
        public Standby fast() {
            return new Standby(copies, stalls, true, members);
        }

        /** The same, reached by other members at this address. */
        public Standby members(Address at) {
            return new Standby(copies, stalls, inMemory, Optional.of(at));
        }

        /**
         * The same, but with fewer members than copies asked for turns wait. Without it the primary
         * goes on alone, its own disk forced, and says so.
         */
        public Standby strict() {
            return new Standby(copies, true, inMemory, members);
        }
    }

    /**
     * Own disk.
     *
     * @param force when the disk is forced
     */
    record Local(ForceMode force) implements Protection {

        /** The same with another time of forcing. */
        public Local force(ForceMode other) {
            return new Local(other);
        }
    }
}
