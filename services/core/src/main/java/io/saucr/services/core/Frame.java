package io.saucr.services.core;

import io.saucr.services.core.speculation.Vertex;
import java.util.Optional;

/** What two ends of a link tell each other. Immutable. */
public sealed interface Frame {

    /** How far an end has come with a pair of births (K11). What it says is forced. */
    enum PairState {
        /** Not on its disk. */
        NEW,
        /** On its disk; it has neither sent nor consumed anything in it. */
        OPENED,
        /** On both disks; numbers may have been given and consumed. */
        KNOWN
    }

    /**
     * Who one is, and what one knows of the pair with the other end. The first on a link, sent
     * again when the pair's state changes. What is said of the pair counts only where {@code to} is
     * the receiver's birth.
     *
     * @param name of the service or client
     * @param from its birth and start; lower numbers than before, and equal ones with another
     *     nonce, are rejected
     * @param to the other's birth, where it is known
     * @param pair of {@code from}'s birth and {@code to}
     * @param sent the last number that it gave, and under which of its starts
     * @param acked the last of its messages that the other acked, and under which start of the
     *     other
     * @param consumed the last of the other's messages that it consumed, and under which start of
     *     the other that came
     */
    record Hello(
            String name,
            Incarnation from,
            Optional<Birth> to,
            PairState pair,
            Count sent,
            Count acked,
            Count consumed)
            implements Frame {}

    /**
     * A message of the pair.
     *
     * @param number from 1, without gaps
     * @param answers the number of the receiver's message that this one answers or refuses; 0 where
     *     it does neither
     * @param refusal why the receiver's message was parked (K12); it comes back as the body
     * @param body what is sent
     */
    record Msg(long number, long answers, Optional<String> refusal, Body body) implements Frame {}

    /**
     * A message between members of a group (D2).
     *
     * @param of the version of its turn, of which nobody but the sender knows whether it is on disk
     */
    record Tagged(Vertex of, Msg message) implements Frame {}

    /**
     * Every message up to this number was consumed by a turn that is forced (K5).
     *
     * @param number 0 where nothing was consumed yet
     * @param credit how many messages behind that number the receiver takes now
     */
    record Ack(long number, int credit) implements Frame {}

    /**
     * A request without a number was not carried out.
     *
     * @param request of {@link Ask}
     * @param reason for people
     */
    record Refused(long request, String reason) implements Frame {}

    /**
     * The pair of births is over, as its other end does not know it, or declared the birth gone
     * (K11, K15).
     *
     * @param birth the one of the two that is lost
     */
    record Gone(Birth birth) implements Frame {}

    /**
     * A request of an outside client that needs no birth: a query, or a message that is consumed at
     * most once.
     *
     * @param request the client's own number, for the answer
     */
    record Ask(long request, Body body) implements Frame {}

    /**
     * The answer to a request without a number.
     *
     * @param request of {@link Ask}
     * @param body empty where the turn gave no answer
     */
    record Answer(long request, Optional<Body> body) implements Frame {}

    /**
     * The reply to an outside client's request, before the head covers its turn (C7). Nothing is
     * consumed by that: where the request has a number, message and ack follow once it is covered.
     *
     * @param request of {@link Ask}, or the number of the client's message
     * @param mark what it shows; lost with that
     */
    record Early(long request, Mark mark, Body body) implements Frame {}

    /**
     * The first that a service with standbys says to an outside client: who saw more of an epoch
     * than survived learns it before any other reply (C11).
     */
    record Past(Epochs epochs) implements Frame {}

    /**
     * The first that an outside client without a birth says where it was told early what may be
     * lost (C11): it asks nothing before it has heard {@link Past}.
     *
     * @param newest of what it was told
     */
    record Seen(Mark newest) implements Frame {}

    /**
     * All turns of this epoch up to this one are covered: replies to requests without a number that
     * left early stand.
     */
    record Covered(Mark upTo) implements Frame {}
}
