package io.saucr.services;

/**
 * What a service remembers of a question that it asked, for the turn that takes the answer:
 *
 * <pre>{@code
 * record Paying(String order) implements Continuation<Cents> {}
 * turn.ask("bank", new Balance("ann"), new Paying("o-17"));
 *
 * on.answer(Paying.class, (paying, cents, turn) -> ...);
 * on.unanswered(Paying.class, (paying, why, turn) -> ...);
 * }</pre>
 *
 * <p>It is a record of immutable parts, and a part of the service's state until the answer is
 * there.
 *
 * @param <A> the answer
 */
public interface Continuation<A> {}
