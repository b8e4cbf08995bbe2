package io.saucr.services.turns;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks whether the disk has room, and has turns take no inputs where it has not (K13). */
final class RoomWatch {

    private static final Logger LOG = LoggerFactory.getLogger(RoomWatch.class);

    private final Place place;
    private final Guard.Room room;
    private volatile boolean hadRoom = true;
    private volatile boolean wasScarce;

    RoomWatch(Place place, Guard.Room room) {
        this.place = place;
        this.room = room;
    }

    /** Says what the last look found; waits for no disk. */
    void say(Turns turns) {
        turns.room(hadRoom);
        turns.scarce(wasScarce);
    }

    /** Looks now. Any thread but that of turns. */
    synchronized void look(Turns turns) {
        try {
            boolean isThere = room.isThere();
            turns.room(isThere);
            boolean scarce = room.isScarce();
            turns.scarce(scarce);
            if (scarce != wasScarce) {
                wasScarce = scarce;
                LOG.warn(
                        "{}: the disk of {} has {}: inputs of clients {}",
                        place.name(),
                        place.folder(),
                        scarce ? "little room" : "room again",
                        scarce ? "wait" : "are taken");
            }
            if (isThere != hadRoom) {
                hadRoom = isThere;
                if (isThere) {
                    LOG.info("{}: the disk has room again; inputs are taken", place.name());
                } else {
                    LOG.warn(
                            "{}: the disk of {} has no room but a reserve: no inputs are taken,"
                                    + " acks and folding continue. Make room",
                            place.name(),
                            place.folder());
                }
            }
        } catch (IOException | RuntimeException e) {
            LOG.warn("{}: the room on the disk of {} is unknown", place.name(), place.folder(), e);
        }
    }
}
