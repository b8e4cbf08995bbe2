package io.saucr.services.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.client.PlainClient;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.ForwardingDisk;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.Term;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A time in office begins in steps, and ends while the process goes on. */
class TermTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir private Path temp;

    private final AtomicInteger begun = new AtomicInteger();
    private final CountDownLatch released = new CountDownLatch(1);
    private final CountDownLatch forces = new CountDownLatch(1);
    private final List<String> halted = Collections.synchronizedList(new ArrayList<>());
    private final List<AutoCloseable> open = new ArrayList<>();
    private volatile boolean holdsForces;

    /** One more. */
    public record Count() {}

    /** A turn that lasts until it is released. */
    public record Hang() {}

    /** How many there were. */
    public record Counted(int count) {}

    private final class Counter implements Service {

        private final ValueState<Counted> counted;

        Counter(State state) {
            counted = state.value("counted", Counted.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Count.class,
                    (count, turn) -> {
                        Counted now = new Counted(counted.orElse(new Counted(0)).count() + 1);
                        counted.update(now);
                        turn.reply(now);
                        begun.incrementAndGet();
                    });
            on.message(
                    Hang.class,
                    (hang, turn) -> {
                        begun.incrementAndGet();
                        released.await();
                    });
        }
    }

    private final class HeldDisk extends ForwardingDisk {

        HeldDisk() {
            super(Disk.local());
        }

        @Override
        protected void beforeForce() {
            if (holdsForces) {
                try {
                    forces.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    @AfterEach
    void closeAll() throws Exception {
        released.countDown();
        forces.countDown();
        Collections.reverse(open);
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private Place place() {
        return Place.without("counter", Map.of()).withFolder(temp.resolve("counter"));
    }

    private OwnDisk disk() throws IOException {
        OwnDisk disk =
                OwnDisk.open(
                        new HeldDisk(),
                        temp.resolve("counter"),
                        "counter",
                        ForceMode.always(),
                        new SecureRandom());
        open.add(disk);
        return disk;
    }

    private Term term(Place place, Guard guard) throws IOException {
        return Term.open(
                place,
                Counter::new,
                guard,
                new SecureRandom(),
                (reason, cause) -> halted.add(reason));
    }

    private Term begun(OwnDisk disk) throws IOException {
        Term term = term(place(), disk);
        term.listen();
        term.begin();
        return term;
    }

    private Client client(Address of) throws IOException {
        Client client = new PlainClient(Place.without("counter", Map.of("counter", of)));
        open.add(client);
        return client;
    }

    @Test
    void itEndsWhileTurnsRunAndTheNextOneGoesOnAtTheSamePort() throws Exception {
        OwnDisk disk = disk();
        Term first = begun(disk);
        Client client = client(first.address());
        List<CompletableFuture<Counted>> calls = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            calls.add(client.ask(new Count(), Counted.class));
        }
        await().until(() -> begun.get() > 100);
        assertThat(first.end(PATIENCE)).isTrue();
        disk.close();
        int turns = begun.get();

        Term second = term(place().withListen(first.address()), disk());
        assertThat(second.listen()).isEqualTo(first.address());
        second.begin();
        int now =
                client(second.address())
                        .ask(new Count(), Counted.class)
                        .get(20, TimeUnit.SECONDS)
                        .count();
        // What was answered is there, and nothing is that was not run.
        int answered =
                calls.stream()
                        .filter(it -> it.isDone() && !it.isCompletedExceptionally())
                        .mapToInt(it -> it.join().count())
                        .max()
                        .orElse(0);
        assertThat(now).isGreaterThan(answered);
        assertThat(turns).isGreaterThanOrEqualTo(answered);
        assertThat(second.end(PATIENCE)).isTrue();
        assertThat(halted).isEmpty();
    }

    @Test
    void aTurnThatDoesNotEndIsTold() throws Exception {
        Term term = begun(disk());
        CompletableFuture<Void> hangs = client(term.address()).send(new Hang());
        await().until(() -> begun.get() == 1);
        assertThat(term.end(Duration.ofMillis(50))).isFalse();
        // All else has ended, or does without waiting for the turn.
        assertThatThrownBy(() -> hangs.get(20, TimeUnit.SECONDS)).hasMessageContaining("unknown");
        released.countDown();
        assertThat(term.end(PATIENCE)).isTrue();
        assertThat(halted).isEmpty();
    }

    /** R24: what waits outside of a handler is told apart from a handler that takes long. */
    @Test
    void howLongItsThreadIsStuckIsTold() throws Exception {
        Term term = begun(disk());
        await().until(() -> term.blockedMillis() == 0 && term.handlerMillis() == 0);
        CountDownLatch mended = new CountDownLatch(1);
        term.post(
                () -> {
                    try {
                        mended.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
        await().until(() -> term.blockedMillis() >= 50);
        assertThat(term.handlerMillis()).isZero();
        mended.countDown();
        await().until(() -> term.blockedMillis() == 0);
        CompletableFuture<Void> hangs = client(term.address()).send(new Hang());
        await().until(() -> term.handlerMillis() >= 50);
        assertThat(term.blockedMillis()).isZero();
        released.countDown();
        hangs.get(20, TimeUnit.SECONDS);
        await().until(() -> term.blockedMillis() == 0 && term.handlerMillis() == 0);
    }

    @Test
    void whatIsNotFinalStaysUnsaid() throws Exception {
        Term term = begun(disk());
        Client client = client(term.address());
        assertThat(client.ask(new Count(), Counted.class).get(20, TimeUnit.SECONDS).count())
                .isEqualTo(1);
        holdsForces = true;
        CompletableFuture<Counted> call = client.ask(new Count(), Counted.class);
        await().until(() -> begun.get() == 2);
        assertThat(term.end(PATIENCE)).isTrue();
        forces.countDown();
        assertThatThrownBy(() -> call.get(20, TimeUnit.SECONDS)).hasMessageContaining("unknown");
        assertThat(halted).isEmpty();
    }

    @Test
    void whenTheOfficeIsLostItSaysSoOnceAndAnswersNobody() throws Exception {
        Term term = begun(disk());
        term.lost("another took the head");
        term.lost("another took the head");
        assertThat(halted).containsExactly("another took the head");
        assertThatThrownBy(term::status)
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("another took the head");
        CompletableFuture<Void> call = client(term.address()).send(new Count());
        assertThat(term.end(PATIENCE)).isTrue();
        assertThat(begun).hasValue(0);
        assertThat(call).isNotCompleted();
    }

    @Test
    void whoAsksWhileItEndsIsToldSo() throws Exception {
        Term term = begun(disk());
        CompletableFuture<Void> hangs = client(term.address()).send(new Hang());
        await().until(() -> begun.get() == 1);
        CompletableFuture<Object> order =
                CompletableFuture.supplyAsync(
                        () -> {
                            term.resume("somebody");
                            return null;
                        });
        assertThat(term.end(Duration.ofMillis(50))).isFalse();
        assertThatThrownBy(() -> order.get(5, TimeUnit.SECONDS))
                .hasMessageContaining("its term has ended");
        assertThatThrownBy(term::status).hasMessageContaining("its term has ended");
        assertThat(hangs.isDone() && !hangs.isCompletedExceptionally()).isFalse();
    }

    @Test
    void stepsThatComeTooEarlyOrTooLateAreRefused() throws Exception {
        Term term = term(place(), disk());
        assertThatThrownBy(term::begin).hasMessageContaining("begins once it listens");
        term.listen();
        assertThatThrownBy(term::listen).hasMessageContaining("listens once");
        assertThat(term.end(PATIENCE)).isTrue();
        assertThatThrownBy(term::begin).isInstanceOf(IllegalStateException.class);
        assertThat(term.end(PATIENCE)).isTrue();
    }

    @Test
    void aTermThatCannotListenCanBeEnded() throws Exception {
        Term first = begun(disk());
        OwnDisk other =
                OwnDisk.open(
                        Disk.local(),
                        temp.resolve("other"),
                        "counter",
                        ForceMode.always(),
                        new SecureRandom());
        open.add(other);
        Term second = term(place().withListen(first.address()), other);
        assertThatThrownBy(second::listen).isInstanceOf(IOException.class);
        assertThat(second.end(PATIENCE)).isTrue();
        assertThat(first.end(PATIENCE)).isTrue();
    }
}
