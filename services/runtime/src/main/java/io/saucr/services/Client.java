package io.saucr.services;

import java.util.concurrent.CompletableFuture;

/**
 * Calls one service from outside. It connects again by itself and follows the service where that
 * moves. Messages are consumed in the order of the calls; with a birth of its own each exactly
 * once, also across the service's crashes, without one at most once. Any thread, but not within a
 * turn of a service, where a call throws {@link IllegalStateException}: a service sends by {@link
 * Turn#send}.
 */
public interface Client extends AutoCloseable {

    /**
     * Sends a message that the service answers by {@link Turn#reply}, or a query.
     *
     * @param message of a type that may be sent
     * @param answer the type of the answer
     * @return the answer, once it is final; fails with {@link ServiceException} where the service
     *     refuses the message, or answers by another type, or the client is closed before
     */
    <A> CompletableFuture<A> ask(Object message, Class<A> answer);

    /**
     * Sends a message.
     *
     * @return done once the turn that consumed it is final; fails as {@link #ask} does
     */
    CompletableFuture<Void> send(Object message);

    /** Ends the connection; what waits fails. */
    @Override
    void close();
}
