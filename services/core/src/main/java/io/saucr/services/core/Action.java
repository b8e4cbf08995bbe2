package io.saucr.services.core;

/** What the shell has to do now, in the order of the list. Immutable. */
public sealed interface Action {

    /** Append this turn of the core's own to the journal, as any other turn's. */
    record Append(Delta delta) implements Action {}

    /** Send. Lost with the link, if that breaks. */
    record Send(Link link, Frame frame) implements Action {}

    /** Close the link, and tell people why. */
    record Close(Link link, String reason) implements Action {}

    /** Messages wait for this service: make a link to it, and keep trying. */
    record Reach(String service) implements Action {}

    /**
     * Stop making links to this service, as its birth and this one have nothing to tell each other,
     * and tell people why. Where it is seen at another address, it may be made anew: try that.
     */
    record Leave(String service, String reason) implements Action {}

    /**
     * Make a call to the world, at least once (K17). Tell what it returned by {@link
     * ServiceCore#result}.
     *
     * @param output its number
     * @param id the same for each attempt and each start
     */
    record Call(long output, String id, Body body) implements Action {}

    /**
     * Read messages that were {@link ServiceCore#stored}, and give them to {@link
     * ServiceCore#fetched} (K13).
     *
     * @param after the messages behind this count, in their order
     * @param most so many at most
     * @param bytes of bodies, at most; but one message at least
     */
    record Fetch(long stream, long after, int most, long bytes) implements Action {}

    /** Nobody needs the messages of this stream up to this count any more: make room (K13). */
    record Release(long stream, long upTo) implements Action {}

    /**
     * Prove that this start is still primary, by what begins after this, and tell {@link
     * ServiceCore#proven} (C8). One proof serves all reads that were asked for when it began.
     *
     * @param read the newest that waits; asked for with each
     */
    record Prove(long read) implements Action {}

    /** Stop at once; nothing more may leave (K14). */
    record Halt(String reason) implements Action {}
}
