package io.saucr.services.core.speculation;

/** What a member's journal says of its versions. */
public sealed interface VersionRecord
        permits VersionRecord.Sealed, VersionRecord.Passed, VersionRecord.Bounded {

    /**
     * A version, with all of its turns (D5).
     *
     * @param world in which it was sealed
     * @param version its number
     * @param dependencies versions of other members in that world, which it must not survive
     */
    record Sealed(long world, long version, VersionVector dependencies) implements VersionRecord {

        public Sealed {
            if (world < 1 || version < 1) {
                throw new IllegalArgumentException("version " + version + " of world " + world);
            }
        }
    }

    /**
     * The group has announced that versions of the member are final (D6). A start lists none of
     * them, so what it lists is no longer than what was not final (D14).
     *
     * @param world in which that was announced
     * @param version the newest of them
     */
    record Bounded(long world, long version) implements VersionRecord {

        public Bounded {
            if (world < 1 || version < 1) {
                throw new IllegalArgumentException(
                        "final up to version " + version + " of world " + world);
            }
        }
    }

    /**
     * The member has passed to a world (D10). Records before it of versions above {@code kept} do
     * not count any more.
     *
     * @param cut the member's newest version that is final by the decision
     * @param kept the newest one that the member keeps; not less than the cut. Versions between
     *     both depend on nothing that can be undone
     */
    record Passed(long world, long cut, long kept) implements VersionRecord {

        public Passed {
            if (cut < 0 || kept < cut) {
                throw new IllegalArgumentException("cut " + cut + ", kept " + kept);
            }
        }
    }
}
