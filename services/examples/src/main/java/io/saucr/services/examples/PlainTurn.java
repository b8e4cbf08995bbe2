package io.saucr.services.examples;

import io.saucr.services.Asks;
import io.saucr.services.Caller;
import io.saucr.services.Continuation;
import io.saucr.services.EnsembleWrites;
import io.saucr.services.Sent;
import io.saucr.services.Timer;
import io.saucr.services.Turn;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;
import java.util.random.RandomGenerator;

/**
 * A turn of a service that nothing protects, for comparison: it offers what a subclass does, and
 * refuses all else.
 */
public abstract class PlainTurn implements Turn {

    private static final String NOT_HERE = "the plain form does not offer this";

    @Override
    public <A> Sent ask(String service, Asks<A> message, Continuation<A> continuation) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public <A> Sent ask(
            String service, Asks<A> message, Continuation<A> continuation, Duration within) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public boolean acked(Sent sent) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public Caller detach() {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public void reply(Caller caller, Object answer) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public Timer after(Duration delay, Object message) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public boolean cancel(Timer timer) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public void output(Object call) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public EnsembleWrites ensemble() {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public Instant now() {
        return Instant.now();
    }

    @Override
    public RandomGenerator random() {
        return new Random();
    }

    @Override
    public Optional<String> sender() {
        return Optional.empty();
    }
}
