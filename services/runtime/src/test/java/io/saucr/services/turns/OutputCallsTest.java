package io.saucr.services.turns;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Handlers.OutputHandler;
import io.saucr.services.core.Body;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** K17: calls to the world are made until they return, always with their id. */
class OutputCallsTest {

    private record Charge(int cents) {}

    private record Charged(int cents) {}

    private final NamedTypes types = new NamedTypes();
    private final List<String> seen = new ArrayList<>();
    private final List<Long> delaysMillis = new ArrayList<>();
    private final List<Runnable> waiting = new ArrayList<>();

    /** Notes what is scheduled; the test runs it. */
    private final ScheduledThreadPoolExecutor executor =
            new ScheduledThreadPoolExecutor(1) {
                @Override
                public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
                    if (isShutdown()) {
                        return super.schedule(task, delay, unit);
                    }
                    delaysMillis.add(unit.toMillis(delay));
                    waiting.add(task);
                    return null;
                }

                @Override
                public <V> ScheduledFuture<V> schedule(
                        Callable<V> task, long delay, TimeUnit unit) {
                    throw new AssertionError("not used");
                }
            };

    @AfterEach
    void end() {
        executor.shutdownNow();
    }

    private OutputCalls calls(OutputHandler<Charge> handler) {
        OutputCalls calls =
                new OutputCalls(
                        "orders",
                        executor,
                        (number, answer) ->
                                seen.add(
                                        number
                                                + " "
                                                + answer.map(body -> body.type()).orElse("-")));
        calls.serve(maker(handler));
        return calls;
    }

    private OutputCalls.Maker maker(OutputHandler<Charge> handler) {
        HandlerTable handlers = HandlerTable.of(on -> on.output(Charge.class, handler), types);
        return new OutputCalls.Maker() {
            @Override
            public boolean makes(String type) {
                return handlers.output(type).isPresent();
            }

            @Override
            public Optional<Body> callOnce(String id, Body call) throws Exception {
                return OutputCalls.once(
                        handlers, types, id, call, handlers.output(call.type()).orElseThrow());
            }
        };
    }

    private Optional<Runnable> next() {
        return waiting.isEmpty() ? Optional.empty() : Optional.of(waiting.remove(0));
    }

    private Body charge(int cents) {
        return new Body("Charge", types.encode(new Charge(cents)));
    }

    @Test
    void anAnswerBecomesAMessage() {
        OutputCalls calls =
                calls(
                        (charge, id) -> {
                            seen.add(id + " " + charge.cents());
                            return charge.cents() == 1 ? new Charged(1) : null;
                        });
        calls.call(7, "b-7", charge(1));
        calls.call(8, "b-8", charge(2));
        assertThat(seen).isEmpty();
        next().orElseThrow().run();
        next().orElseThrow().run();
        assertThat(seen).containsExactly("b-7 1", "7 Charged", "b-8 2", "8 -");
        assertThat(next()).isEmpty();
    }

    @Test
    void whatFailsIsTriedAgainWithTheSameIdEverMoreRarely() {
        int[] failures = {14};
        OutputCalls calls =
                calls(
                        (charge, id) -> {
                            seen.add(id);
                            if (failures[0]-- > 0) {
                                throw new java.io.IOException("away");
                            }
                            return null;
                        });
        calls.call(7, "b-7", charge(1));
        for (int attempt = 0; attempt < 15; attempt++) {
            next().orElseThrow().run();
        }
        assertThat(next()).isEmpty();
        assertThat(seen).hasSize(16).endsWith("7 -");
        assertThat(seen.subList(0, 15)).containsOnly("b-7");
        assertThat(delaysMillis)
                .startsWith(0L, 100L, 200L, 400L)
                .endsWith(51_200L, 60_000L, 60_000L, 60_000L, 60_000L);
    }

    @Test
    void anAnswerThatCannotBeSentCountsAsAFailure() {
        OutputCalls calls = calls((charge, id) -> "text");
        calls.call(7, "b-7", charge(1));
        next().orElseThrow().run();
        assertThat(seen).isEmpty();
        assertThat(waiting).hasSize(1);
    }

    @Test
    void withoutItsHandlerACallWaitsForAnotherStart() {
        OutputCalls calls = calls((charge, id) -> null);
        calls.call(7, "b-7", new Body("Refund", new byte[0]));
        assertThat(waiting).isEmpty();
    }

    @Test
    void whatIsUnderWayGoesOnWhereAnotherLifeFindsItOpen() {
        OutputCalls calls =
                calls(
                        (charge, id) -> {
                            throw new java.io.IOException("away");
                        });
        calls.call(7, "b-7", charge(1));
        next().orElseThrow().run();
        calls.serve(
                maker(
                        (charge, id) -> {
                            seen.add(id + " of the next life");
                            return null;
                        }));
        calls.call(7, "b-7", charge(1));
        assertThat(waiting).hasSize(1);
        next().orElseThrow().run();
        assertThat(seen).containsExactly("b-7 of the next life", "7 -");
        // Its result was not taken, as that turn was undone: it is asked for again (K17).
        calls.call(7, "b-7", charge(1));
        next().orElseThrow().run();
        assertThat(seen).endsWith("b-7 of the next life", "7 -").hasSize(4);
    }

    @Test
    void afterTheEndACallIsLeftToTheNextStart() {
        OutputCalls calls = calls((charge, id) -> null);
        executor.shutdown();
        calls.call(7, "b-7", charge(1));
        assertThat(waiting).isEmpty();
        assertThat(seen).isEmpty();
    }
}
