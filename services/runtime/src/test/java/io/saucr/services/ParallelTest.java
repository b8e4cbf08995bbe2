package io.saucr.services;

import static io.saucr.services.once.PatientWaits.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Handlers in lanes, on threads, with schedules that are forced. */
class ParallelTest {

    @TempDir private Path temp;

    private final CyclicBarrier both = new CyclicBarrier(2);
    private final CountDownLatch secondDone = new CountDownLatch(1);
    private final CountDownLatch hanging = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicInteger again = new AtomicInteger();
    private final AtomicInteger constructed = new AtomicInteger();
    private final List<AutoCloseable> open = new ArrayList<>();

    /** Meets another one in its handler. */
    public record Meet(String key) implements Asks<Met> {}

    /** When, by the turn, and as which of that key. */
    public record Met(long millis, long random, int number) {}

    /** The first one runs until the second one has. */
    public record Enter(int number) implements Asks<Entered> {}

    /** Done. */
    public record Entered() {}

    /** What came in. */
    public record Order() implements Query<Ordered> {}

    /** In this order. */
    public record Ordered(List<Integer> numbers) {}

    /** Its handler throws. */
    public record Fail() implements Asks<Entered> {}

    /** Its handler runs until it is released. */
    public record Hang() implements Asks<Entered> {}

    /** Its handler asks whether what it sent is acknowledged. */
    public record Ack() implements Asks<Entered> {}

    /** Its handler answers another request, which waits. */
    public record Wait() implements Asks<Entered> {}

    /** Answers it. */
    public record Release() implements Asks<Entered> {}

    private final class Club implements Service {
        private final MapState<String, Integer> met;
        private final ListState<Integer> entered;
        private final ValueState<Caller> waiting;

        Club(State state) {
            met = state.map("met", String.class, Integer.class);
            entered = state.list("entered", Integer.class);
            waiting = state.value("waiting", Caller.class);
            constructed.incrementAndGet();
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Meet.class,
                    (meet, turn) -> {
                        int before = met.getOrDefault(meet.key(), 0);
                        long random = turn.random().nextLong();
                        if (runs.incrementAndGet() <= 2) {
                            both.await(60, SECONDS);
                        }
                        met.put(meet.key(), before + 1);
                        turn.reply(new Met(turn.now().toEpochMilli(), random, before + 1));
                    });
            on.message(
                    Enter.class,
                    (enter, turn) -> {
                        if (enter.number() == 1) {
                            secondDone.await(60, SECONDS);
                        }
                        entered.add(enter.number());
                        turn.reply(new Entered());
                        if (enter.number() == 2) {
                            secondDone.countDown();
                        }
                    });
            on.query(
                    Order.class,
                    (order, turn) -> {
                        List<Integer> all = new ArrayList<>();
                        entered.forEach(all::add);
                        return new Ordered(all);
                    });
            on.message(
                    Fail.class,
                    (fail, turn) -> {
                        entered.add(-1);
                        throw new IllegalStateException("this one fails");
                    });
            on.message(
                    Hang.class,
                    (hang, turn) -> {
                        hanging.countDown();
                        released.await();
                        turn.reply(new Entered());
                    });
            on.message(
                    Ack.class,
                    (ack, turn) -> {
                        turn.acked(turn.send("club", new Fail()));
                        turn.reply(new Entered());
                    });
            on.message(Wait.class, (wait, turn) -> waiting.update(turn.detach()));
            on.message(
                    Release.class,
                    (release, turn) -> {
                        turn.reply(waiting.value(), new Entered());
                        if (runs.incrementAndGet() <= 2) {
                            both.await(60, SECONDS);
                        }
                        turn.reply(new Entered());
                    });
        }
    }

    private RunningService run(int lanes) throws Exception {
        RunningService service =
                Services.without("club", Map.of())
                        .folder(temp.resolve("club"))
                        .run(Club::new, Protection.local().parallel(lanes));
        open.add(service);
        service.measure(
                new Measures() {
                    @Override
                    public void ran(long nanos) {}

                    @Override
                    public void failed() {}

                    @Override
                    public void again() {
                        again.incrementAndGet();
                    }

                    @Override
                    public void becameFinal(long nanos) {}

                    @Override
                    public void forced(long nanos) {}
                });
        return service;
    }

    private Client client(RunningService service) throws Exception {
        Client client = Services.without("club", Map.of("club", service.address())).client();
        open.add(client);
        return client;
    }

    @AfterEach
    void close() throws Exception {
        released.countDown();
        for (int last = open.size() - 1; last >= 0; last--) {
            open.get(last).close();
        }
    }

    @Test
    void p1HandlersThatDoNotMeetRunAtTheSameTime() throws Exception {
        RunningService service = run(2);
        // Answers carry whole milliseconds.
        Instant before = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        CompletableFuture<Met> one = client(service).ask(new Meet("one"));
        CompletableFuture<Met> other = client(service).ask(new Meet("other"));
        assertThat(one.get(60, SECONDS).number()).isEqualTo(1);
        assertThat(other.get(60, SECONDS).number()).isEqualTo(1);
        assertThat(Instant.ofEpochMilli(one.get().millis())).isBetween(before, Instant.now());
        assertThat(again).hasValue(0);
        assertThat(runs).hasValue(2);
        // The service itself, and one object in each lane.
        assertThat(constructed).hasValue(3);
    }

    /** The same where messages have numbers. */
    @Test
    void p1HandlersOfNumberedMessagesRunAtTheSameTimeAndOnce() throws Exception {
        RunningService service = run(2);
        List<CompletableFuture<Met>> met = new ArrayList<>();
        for (String name : List.of("one", "other")) {
            Client client =
                    Services.without("club", Map.of("club", service.address())).client(name);
            open.add(client);
            met.add(client.ask(new Meet(name)));
        }
        for (CompletableFuture<Met> each : met) {
            assertThat(each.get(60, SECONDS).number()).isEqualTo(1);
        }
        assertThat(again).hasValue(0);
        assertThat(runs).hasValue(2);
    }

    @Test
    void p1AHandlerThatReadWhatHasChangedRunsAgain() throws Exception {
        RunningService service = run(2);
        CompletableFuture<Met> one = client(service).ask(new Meet("same"));
        CompletableFuture<Met> other = client(service).ask(new Meet("same"));
        List<Met> met = List.of(one.get(60, SECONDS), other.get(60, SECONDS));
        assertThat(met).extracting(Met::number).containsExactlyInAnyOrder(1, 2);
        assertThat(again).hasValue(1);
        assertThat(runs).hasValue(3);
    }

    @Test
    void p1TurnsAreCommittedInTheOrderInWhichTheyCame() throws Exception {
        RunningService service = run(2);
        Client client = client(service);
        CompletableFuture<Entered> one = client.ask(new Enter(1));
        CompletableFuture<Entered> other = client.ask(new Enter(2));
        // It sees all that its client asked for before it.
        CompletableFuture<Ordered> order = client.ask(new Order());
        assertThat(order.get(60, SECONDS).numbers()).containsExactly(1, 2);
        one.get(60, SECONDS);
        other.get(60, SECONDS);
        assertThat(again).hasValue(0);
    }

    @Test
    void aHandlerThatThrowsLeavesNothing() throws Exception {
        RunningService service = run(2);
        Client client = client(service);
        CompletableFuture<Entered> failed = client.ask(new Fail());
        assertThatThrownBy(() -> failed.get(60, SECONDS)).hasMessageContaining("this one fails");
        assertThat(client.ask(new Order()).get(60, SECONDS).numbers()).isEmpty();
    }

    @Test
    void p3TwoTurnsThatAnswerTheSameRequestDoSoOnce() throws Exception {
        RunningService service = run(2);
        CompletableFuture<Entered> waits = client(service).ask(new Wait());
        await().until(() -> service.status().turn() >= 1);
        CompletableFuture<Entered> one = client(service).ask(new Release());
        CompletableFuture<Entered> other = client(service).ask(new Release());
        one.get(60, SECONDS);
        other.get(60, SECONDS);
        waits.get(60, SECONDS);
        // Nothing of the state has changed, but the request waits no longer.
        assertThat(again).hasValue(1);
    }

    @Test
    void p4AMessageHasNoNumber() throws Exception {
        CompletableFuture<Entered> acked = client(run(2)).ask(new Ack());
        assertThatThrownBy(() -> acked.get(60, SECONDS))
                .hasMessageContaining("has no number, as turns of club run in parallel");
    }

    @Test
    void aHandlerThatRunsInALaneIsWaitedFor() throws Exception {
        RunningService service = run(1);
        CompletableFuture<Entered> unused = client(service).ask(new Hang());
        assertThat(hanging.await(60, SECONDS)).isTrue();
        // The turn thread goes on meanwhile.
        assertThat(service.status().turn()).isZero();
        CompletableFuture<Void> closed = CompletableFuture.runAsync(service::close);
        released.countDown();
        closed.get(60, SECONDS);
    }

    @Test
    void badNumbersOfLanesAreRefused() {
        for (int lanes : new int[] {-1, 0, 65}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Protection.local().parallel(lanes))
                    .withMessageContaining("takes 1 to 64 lanes, not " + lanes);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Protection.standby().parallel(lanes))
                    .withMessageContaining("takes 1 to 64 lanes, not " + lanes);
        }
        assertThat(Protection.standby().parallel(4).copies(3).fast().strict().lanes()).isEqualTo(4);
    }
}
