package io.saucr.services;

import java.util.concurrent.CompletableFuture;

/**
 * Calls one service from outside. It connects again on its own and follows the service where that
 * moves. Messages are consumed in the order of the calls; with a birth of its own each exactly
 * once, also across the service's crashes, without one at most once. Any thread, but not within a
 * turn of a service, where a call throws {@link IllegalStateException}: a service sends by {@link
 * Turn#send}.
 *
 * <p>A {@link Query} changes nothing: where the service dies before it answers, it is asked again,
 * by a client without a birth, too.
 *
 * <p>What follows an answer ({@link CompletableFuture#thenAccept} and the like) runs on one of a
 * few threads that all clients of the process share, at least eight. There it may wait for other
 * futures, also for answers of the same client; what blocks for long otherwise belongs on an
 * executor of its own ({@link CompletableFuture#thenAcceptAsync}).
 */
public interface Client extends AutoCloseable {

    /** Says what becomes of requests whose replies are lost. */
    interface LossHandler {

        /**
         * A reply that this client had is lost, as the service with standbys gives replies before
         * they are final ({@link Protection.Standby#every}), and a successor continues without that
         * turn. Told once for each reply, in the order of the requests, before any other reply of
         * the successor; until this returns nothing is sent to it and nothing of it is told. May
         * block, and call the client, but not wait for what it calls.
         *
         * @return whether the request is made again, in its old place among this client's requests
         */
        Lost.Decision lost(Lost reply);
    }

    /**
     * Sends a message that the service answers by {@link Turn#reply}, or a query.
     *
     * @param message of a type that may be sent
     * @param answer the type of the answer
     * @return the answer, once it is final, or at once where the service is asynchronous ({@link
     *     #onLost}); fails with {@link ServiceException} where the service refuses the message, or
     *     answers by another type, or the client is closed before
     */
    <A> CompletableFuture<A> ask(Object message, Class<A> answer);

    /**
     * Sends a message that says which type answers it, or such a query.
     *
     * @param message of a type that may be sent
     * @return as {@link #ask(Object, Class)}
     * @throws IllegalArgumentException where its class does not say the type
     */
    default <A> CompletableFuture<A> ask(Asks<A> message) {
        return ask(message, Asks.answerOf(message));
    }

    /**
     * Sends a message.
     *
     * @return done once the turn that consumed it is final; fails as {@link #ask} does
     */
    CompletableFuture<Void> send(Object message);

    /**
     * Has this handler decide what becomes of requests whose replies are lost, from now on. Without
     * one they are dropped, with an error in the log: of a service with {@link
     * Protection.Standby#every} a client that needs what it was told has a handler. A {@link #send}
     * is never lost: it is done once it is final.
     */
    void onLost(LossHandler handler);

    /** How many replies were lost so far that this client had. */
    long lostReplies();

    /**
     * Ends the connection; what waits fails. Of replies that may still be lost nobody is told any
     * more.
     */
    @Override
    void close();
}
