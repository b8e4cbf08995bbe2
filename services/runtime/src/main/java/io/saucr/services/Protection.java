package io.saucr.services;

import io.saucr.services.journal.ForceMode;

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
