package io.saucr.services.core.once;

/** What a {@link MarkerChain} asks of the code that drives it, in the order in which it says so. */
public sealed interface Step {

    /**
     * Read parent and markers of the client, after a sync, on a connection of its own session;
     * again until it is answered, as its outcome has no effect. Then {@link MarkerChain#read}.
     */
    record Read() implements Step {}

    /**
     * Make the client's parent, and what is above it, where missing; then {@link MarkerChain#read}
     * of a new look.
     */
    record MakeParent() implements Step {}

    /**
     * Send one multi (E3): set the parent's data on this version, delete the old marker on its
     * version where there is one, create the new one. Whatever becomes of it, {@link
     * MarkerChain#read} follows with a new look.
     *
     * @param parentVersion of the parent's data as it was read
     * @param old name of the marker to delete, or null for the first
     * @param oldVersion of its data as it was read
     * @param name of the new marker, never used before
     * @param content of the new marker, and the parent's data
     */
    record Replace(
            int parentVersion, String old, int oldVersion, String name, MarkerContent content)
            implements Step {}

    /**
     * Send one multi (E2): set the marker's data on this version, then the operations, in their
     * order. Multis are sent in the order of these steps, on one session. Then {@link
     * MarkerChain#answered}, in the same order.
     *
     * @param request numbered from 1, one more each time
     * @param marker its name
     * @param version that its data must have
     * @param content that it gets
     * @param first number of the first operation; greater than {@code last} for a write of the
     *     marker alone
     * @param last number of the last operation
     */
    record Send(
            long request, String marker, int version, MarkerContent content, long first, long last)
            implements Step {}

    /**
     * Find the child that a sequential create made, by its czxid, after a sync (E6); then {@link
     * MarkerChain#found}.
     *
     * @param number of the operation
     * @param czxid of the child
     */
    record Find(long number, long czxid) implements Step {}

    /**
     * An operation is decided, once and for all. When that is forced, or told for good: {@link
     * MarkerChain#confirmed}.
     *
     * @param number of the operation
     * @param outcome what became of it
     */
    record Report(long number, Outcome outcome) implements Step {}

    /**
     * The client has to stop for ever: continuing could lose or repeat an operation. Nothing was
     * written.
     *
     * @param reason for a person: what was found, what was expected, what to do
     */
    record Stop(String reason) implements Step {}

    /** What became of an operation. */
    sealed interface Outcome {

        /**
         * It happened, and this request's answer said so.
         *
         * @param request whose answer has the results
         * @param index of the operation in that request, from 0
         */
        record Done(long request, int index) implements Outcome {}

        /** It happened; only the marker says so, so there is no Stat (E10). */
        record Happened() implements Outcome {}

        /**
         * A sequential create happened, and its child was found.
         *
         * @param name of the child
         */
        record Created(String name) implements Outcome {}

        /**
         * A sequential create happened; its child no longer exists, and its name is not known (E6).
         */
        record CreatedNameUnknown() implements Outcome {}

        /**
         * It did not happen and never will (E4).
         *
         * @param code of the error, as ZooKeeper numbers them; {@link MarkerChain#GAVE_UP} where it
         *     was given up
         */
        record Refused(int code) implements Outcome {}
    }
}
