package io.saucr.services;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * One message being taken. All that a turn does, and all that it changes in the state, becomes
 * final together or never happened (K3); nothing of it leaves before (K2, K4). Of use until its
 * handler returns and on its handler's thread alone: anywhere else each method throws {@link
 * IllegalStateException}.
 *
 * <p>In a query the methods that change something throw {@link IllegalStateException}.
 */
public interface Turn {

    /**
     * Sends a message to a service, this one included: exactly once, in the order of sending to
     * that service. It never waits and never fails because the other is away; if the other is lost
     * for good, the message comes back as {@link Returned} (K15).
     *
     * @param service its name
     * @param message of a type that may be sent
     * @return tells this message in {@link #acked}; may be kept in the state
     * @throws IllegalArgumentException where the type may not be sent or the message is larger than
     *     allowed; the turn continues without it
     */
    Sent send(String service, Object message);

    /**
     * Asks a service: sends it the message as {@link #send} does, and keeps the continuation in the
     * state until the answer is there. That is taken by {@link Handlers#answer}, in a turn of its
     * own, also after crashes and takeovers; where none comes, {@link Handlers#unanswered} hears
     * why.
     *
     * @param service its name
     * @param message of a type that may be sent
     * @param continuation of a type that has an answer handler
     * @return tells this message in {@link #acked}
     * @throws IllegalArgumentException as {@link #send} does, and where no answer handler takes the
     *     continuation
     */
    <A> Sent ask(String service, Asks<A> message, Continuation<A> continuation);

    /**
     * Asks a service, and waits no longer than this for its answer: one that comes later is
     * dropped.
     *
     * @param within from {@link #now} on, as {@link #after} takes it
     */
    <A> Sent ask(String service, Asks<A> message, Continuation<A> continuation, Duration within);

    /** Whether the turn in which the receiver consumed the message is final there (K5). */
    boolean acked(Sent sent);

    /**
     * Answers the one that sent the message of this turn: a service gets the answer as a message, a
     * client as what its call returns.
     *
     * @throws IllegalStateException where nobody waits, as with timers, or was answered before, or
     *     {@link #detach} was called
     * @throws IllegalArgumentException where the message {@link Asks} for another type
     */
    void reply(Object answer);

    /**
     * Leaves the answer to a later turn, which gives it by {@link #reply(Caller, Object)}.
     *
     * @return who waits; may be kept in the state
     * @throws IllegalStateException where {@link #reply(Object)} would throw it
     */
    Caller detach();

    /**
     * Answers the one that sent the message of an earlier turn. A client that asked with a birth of
     * its own gets it also after its restart; one without, while it is still connected. A
     * generation that is lost gets nothing, and neither does the one that has its name now (K11).
     *
     * @throws IllegalArgumentException where that caller was answered, or is not one of this
     *     service
     */
    void reply(Caller caller, Object answer);

    /**
     * Gives this service a message later. Timers are part of the state: they outlive crashes, and
     * one whose time passed meanwhile goes off at the start (K16).
     *
     * @param delay from {@link #now} on, not negative, at most 36,500 days
     * @param message of a type with a message handler
     * @return tells the timer in {@link #cancel}; may be kept in the state
     */
    Timer after(Duration delay, Object message);

    /**
     * Cancels a timer.
     *
     * @return false where it went off or was cancelled before
     */
    boolean cancel(Timer timer);

    /**
     * Asks for a call to the world, made by the {@link Handlers#output} handler of its type once
     * this turn is final (K17).
     *
     * @throws IllegalArgumentException where no such handler is there
     */
    void output(Object call);

    /**
     * Writes to the ensemble, each exactly once and after this turn is final.
     *
     * @throws IllegalStateException where the service has no ensemble, or a name that no once
     *     client can have
     */
    EnsembleWrites ensemble();

    /**
     * The time, the same for a whole turn. It never goes back, not across crashes either, and is
     * near the wall clock (K16). Of handlers that run in parallel it is the time of the first run,
     * and may go back from one sender to another (P4).
     */
    Instant now();

    /**
     * Random numbers. Nothing is executed again after a crash, so they may decide anything. A
     * handler that runs again in parallel draws the same ones (P4).
     */
    RandomGenerator random();

    /**
     * The service or client whose message this is, by the name that it proved or gave; empty for
     * timers, answers to outputs, notices and clients without a name.
     */
    Optional<String> sender();
}
