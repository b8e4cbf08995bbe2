package io.saucr.services;

/**
 * A question that changes nothing, and which type answers it:
 *
 * <pre>{@code
 * record Balance(String owner) implements Query<Cents> {}
 * CompletableFuture<Cents> cents = client.ask(new Balance("ann"));
 * }</pre>
 *
 * <p>A {@linkplain Handlers#query query handler} answers it; {@link Handlers#message} refuses its
 * type. So a client asks it again on its own where the service dies before it answers, while a
 * message without a birth fails then, as nobody knows whether it was consumed. A turn sends no
 * query.
 *
 * @param <A> the answer: a record, or a sealed interface of the records that it may be
 */
public interface Query<A> extends Asks<A> {}
