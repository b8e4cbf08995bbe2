package io.saucr.services.core;

import java.util.Optional;

/** What a turn takes (K1). Immutable. */
public sealed interface Input {

    /** What the handler gets. */
    Body body();

    /**
     * A message of a service, this one included, or of a client with a birth.
     *
     * @param peer says who waits for an answer, with the number
     * @param name of the sender
     * @param birth of the sender
     * @param number in the pair
     * @param answers the number of this service's message that it answers, in {@link
     *     ServiceCore#sentTo}'s counting; 0 where it answers none
     */
    record Message(String peer, String name, Birth birth, long number, long answers, Body body)
            implements Input {}

    /**
     * A message of this service that came back (K12, K15).
     *
     * @param service to which it was sent
     * @param number in {@link ServiceCore#sentTo}'s counting
     * @param perhapsConsumed false where it certainly was not
     */
    record Returned(String service, long number, boolean perhapsConsumed, String reason, Body body)
            implements Input {}

    /**
     * A timer went off.
     *
     * @param id as it was set
     */
    record Timer(long id, long dueMillis, Body body) implements Input {}

    /** What the service gives itself again and again; missed ones are skipped (K16). */
    record Repeat(long dueMillis, Body body) implements Input {}

    /**
     * The answer to an output (K17).
     *
     * @param output its number
     */
    record Result(long output, Body body) implements Input {}

    /**
     * A request of an outside client without a birth: consumed at most once. Where it is a query,
     * {@link ServiceCore#answered} ends it instead of a turn.
     *
     * @param caller says who waits for an answer, with the request's number
     * @param name that the client gave, where it gave one
     */
    record Outside(String caller, Optional<String> name, long request, Body body)
            implements Input {}
}
