package io.saucr.services.core.replay;

/** What is recorded of an event of a lane. Most events need no record. */
public sealed interface LaneRecord permits LaneRecord.Edge, LaneRecord.Choice {

    /** The event. */
    int clock();

    /**
     * The event happens after another one that its lane would not know otherwise.
     *
     * @param clock of the event
     * @param resource that the event acquires
     * @param version of the resource that it finds (X14)
     * @param sourceLane lane of the event before it
     * @param sourceClock clock of that event
     */
    record Edge(int clock, int resource, int version, int sourceLane, int sourceClock)
            implements LaneRecord {}

    /**
     * The event has a result that no order explains (X7).
     *
     * @param clock of the event
     * @param value of the choice, from 0; or {@link #KILLED_INSIDE} or {@link #KILLED_BEFORE}
     */
    record Choice(int clock, int value) implements LaneRecord {

        /**
         * The request is killed where its lane stands: inside the call of its last event, so no
         * code of the handler runs between that event and the error (X11).
         */
        public static final int KILLED_INSIDE = -1;

        /** The request is killed when it is about to do the event, after the code before it. */
        public static final int KILLED_BEFORE = -2;

        /** Whether the event is an error that ends the handler. */
        public boolean kills() {
            return value < 0;
        }
    }
}
