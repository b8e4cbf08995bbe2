package io.saucr.services.group;

import io.saucr.services.core.Incarnation;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.Listing;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.wire.FrameFields;
import java.util.List;

/**
 * What a member of a group and its coordinator say to each other (D5 to D13). The member dials the
 * coordinator. Immutable.
 */
public sealed interface GroupFrame {

    /** What a member says to the coordinator. */
    sealed interface Up extends GroupFrame {}

    /** What the coordinator says to a member. */
    sealed interface Down extends GroupFrame {}

    /**
     * Who the sender is: the first on a link, in both directions.
     *
     * @param group path of the group in the ensemble
     * @param member name of the service
     * @param start of it
     */
    record Hello(String group, String member, Incarnation start) implements GroupFrame {}

    /** The sender lives. Sent by the link itself. */
    record Heartbeat() implements GroupFrame {}

    /**
     * Ends the link.
     *
     * @param reason for people; what is too long is cut
     */
    record Sorry(String reason) implements GroupFrame {}

    /**
     * All that the member has on disk (D9).
     *
     * @param starts whether it is a start that waits for a decision (D13)
     */
    record Lists(Listing listing, boolean starts) implements Up {

        public Lists {
            checkWorld(listing.world(), listing.versions());
            if (listing.base() < 0) {
                throw new IllegalArgumentException("a base is from 0, not " + listing.base());
            }
            checkOrder(listing.base(), listing.versions());
        }
    }

    /**
     * More is on disk (D5).
     *
     * @param world of all of them
     * @param versions in order, at least one
     */
    record Reports(long world, List<Sealed> versions) implements Up {

        public Reports {
            versions = List.copyOf(versions);
            checkWorld(world, versions);
            checkOrder(0, versions);
            if (versions.isEmpty()) {
                throw new IllegalArgumentException("nothing is reported");
            }
        }
    }

    /**
     * The member takes no turn any more (D13).
     *
     * @param version its newest
     */
    record Leaves(long version) implements Up {

        public Leaves {
            FrameFields.checkNumber("version", version, 0);
        }
    }

    /** The member passes to the world of a decision (D8). */
    record Decided(long epoch, Decision decision) implements Down {

        public Decided {
            FrameFields.checkNumber("epoch", epoch, 1);
            FrameFields.checkNumber("world", decision.world(), 1);
        }
    }

    /** A member that had left continues in this world (D13). */
    record Admitted(long epoch, Decision decision) implements Down {

        public Admitted {
            FrameFields.checkNumber("epoch", epoch, 1);
            FrameFields.checkNumber("world", decision.world(), 1);
        }
    }

    /** These versions are final in a world (D6). */
    record Boundary(long epoch, long world, VersionVector versions) implements Down {

        public Boundary {
            FrameFields.checkNumber("epoch", epoch, 1);
            FrameFields.checkNumber("world", world, 1);
        }
    }

    /** The head notes that the member has left (D13). */
    record Left(long epoch) implements Down {

        public Left {
            FrameFields.checkNumber("epoch", epoch, 1);
        }
    }

    /**
     * The member must not continue (D15).
     *
     * @param reason for people; what is too long is cut
     */
    record Refused(String reason) implements Down {}

    private static void checkWorld(long world, List<Sealed> versions) {
        FrameFields.checkNumber("world", world, 1);
        for (Sealed each : versions) {
            if (each.world() != world) {
                throw new IllegalArgumentException(each + " is listed in world " + world);
            }
        }
    }

    private static void checkOrder(long base, List<Sealed> versions) {
        long before = base;
        for (Sealed each : versions) {
            if (each.version() <= before) {
                throw new IllegalArgumentException(
                        "version " + each.version() + " is listed behind version " + before);
            }
            before = each.version();
        }
    }
}
