package io.saucr.services.local;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import io.saucr.services.turns.Engine;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Place;
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

/** An engine begins in steps, and ends while the process goes on. */
class EngineTest {

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

    private Engine engine(Place place, Guard guard) throws IOException {
        return Engine.open(
                place, Counter::new, guard, new SecureRandom(), why -> halted.add(why.reason()));
    }

    private Engine begun(OwnDisk disk) throws IOException {
        Engine engine = engine(place(), disk);
        engine.listen();
        engine.begin();
        return engine;
    }

    private Client client(Address of) throws IOException {
        Client client = new PlainClient(Place.without("counter", Map.of("counter", of)));
        open.add(client);
        return client;
    }

    @Test
    void itEndsWhileTurnsRunAndTheNextOneGoesOnAtTheSamePort() throws Exception {
        OwnDisk disk = disk();
        Engine first = begun(disk);
        Client client = client(first.address());
        List<CompletableFuture<Counted>> calls = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            calls.add(client.ask(new Count(), Counted.class));
        }
        await().until(() -> begun.get() > 100);
        assertThat(first.end(PATIENCE)).isTrue();
        disk.close();
        int turns = begun.get();

        Engine second = engine(place().withListen(first.address()), disk());
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
        Engine engine = begun(disk());
        CompletableFuture<Void> hangs = client(engine.address()).send(new Hang());
        await().until(() -> begun.get() == 1);
        assertThat(engine.end(Duration.ofMillis(50))).isFalse();
        // All else has ended, or does without waiting for the turn.
        assertThatThrownBy(() -> hangs.get(20, TimeUnit.SECONDS)).hasMessageContaining("unknown");
        released.countDown();
        assertThat(engine.end(PATIENCE)).isTrue();
        assertThat(halted).isEmpty();
    }

    /** R24: what waits outside of a handler is told apart from a handler that takes long. */
    @Test
    void howLongItsThreadIsStuckIsTold() throws Exception {
        Engine engine = begun(disk());
        await().until(() -> engine.blockedMillis() == 0 && engine.handlerMillis() == 0);
        CountDownLatch mended = new CountDownLatch(1);
        engine.post(
                () -> {
                    try {
                        mended.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
        await().until(() -> engine.blockedMillis() >= 50);
        assertThat(engine.handlerMillis()).isZero();
        mended.countDown();
        await().until(() -> engine.blockedMillis() == 0);
        CompletableFuture<Void> hangs = client(engine.address()).send(new Hang());
        await().until(() -> engine.handlerMillis() >= 50);
        assertThat(engine.blockedMillis()).isZero();
        released.countDown();
        hangs.get(20, TimeUnit.SECONDS);
        await().until(() -> engine.blockedMillis() == 0 && engine.handlerMillis() == 0);
    }

    @Test
    void whatIsNotFinalStaysUnsaid() throws Exception {
        Engine engine = begun(disk());
        Client client = client(engine.address());
        assertThat(client.ask(new Count(), Counted.class).get(20, TimeUnit.SECONDS).count())
                .isEqualTo(1);
        holdsForces = true;
        CompletableFuture<Counted> call = client.ask(new Count(), Counted.class);
        await().until(() -> begun.get() == 2);
        assertThat(engine.end(PATIENCE)).isTrue();
        forces.countDown();
        assertThatThrownBy(() -> call.get(20, TimeUnit.SECONDS)).hasMessageContaining("unknown");
        assertThat(halted).isEmpty();
    }

    @Test
    void whenItIsDeposedItSaysSoOnceAndAnswersNobody() throws Exception {
        Engine engine = begun(disk());
        engine.lost("another took the head");
        engine.lost("another took the head");
        assertThat(halted).containsExactly("another took the head");
        assertThatThrownBy(engine::status)
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("another took the head");
        CompletableFuture<Void> call = client(engine.address()).send(new Count());
        assertThat(engine.end(PATIENCE)).isTrue();
        assertThat(begun).hasValue(0);
        assertThat(call).isNotCompleted();
    }

    @Test
    void whoAsksWhileItEndsIsToldSo() throws Exception {
        Engine engine = begun(disk());
        CompletableFuture<Void> hangs = client(engine.address()).send(new Hang());
        await().until(() -> begun.get() == 1);
        CompletableFuture<Object> order =
                CompletableFuture.supplyAsync(
                        () -> {
                            engine.resume("somebody");
                            return null;
                        });
        assertThat(engine.end(Duration.ofMillis(50))).isFalse();
        assertThatThrownBy(() -> order.get(5, TimeUnit.SECONDS))
                .hasMessageContaining("it has ended");
        assertThatThrownBy(engine::status).hasMessageContaining("it has ended");
        assertThat(hangs.isDone() && !hangs.isCompletedExceptionally()).isFalse();
    }

    @Test
    void stepsThatComeTooEarlyOrTooLateAreRefused() throws Exception {
        Engine engine = engine(place(), disk());
        assertThatThrownBy(engine::begin).hasMessageContaining("begins once it listens");
        engine.listen();
        assertThatThrownBy(engine::listen).hasMessageContaining("listens once");
        assertThat(engine.end(PATIENCE)).isTrue();
        assertThatThrownBy(engine::begin).isInstanceOf(IllegalStateException.class);
        assertThat(engine.end(PATIENCE)).isTrue();
    }

    @Test
    void anEngineThatCannotListenCanBeEnded() throws Exception {
        Engine first = begun(disk());
        OwnDisk other =
                OwnDisk.open(
                        Disk.local(),
                        temp.resolve("other"),
                        "counter",
                        ForceMode.always(),
                        new SecureRandom());
        open.add(other);
        Engine second = engine(place().withListen(first.address()), other);
        assertThatThrownBy(second::listen).isInstanceOf(IOException.class);
        assertThat(second.end(PATIENCE)).isTrue();
        assertThat(first.end(PATIENCE)).isTrue();
    }
}
