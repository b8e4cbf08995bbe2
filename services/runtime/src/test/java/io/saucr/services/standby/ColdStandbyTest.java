package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForwardingDisk;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A standby that has all segments on its disk, and reads its state still. */
class ColdStandbyTest {

    private static final Duration PATIENCE = Duration.ofSeconds(25);

    /** More than a member reads in a moment. */
    private static final int ENTRIES = 20;

    private static final int ENTRY_BYTES = 1 << 20;

    /** While it is closed, who comes to it waits, and says so. */
    private record Gate(CountDownLatch entered, CountDownLatch open) {

        Gate() {
            this(new CountDownLatch(1), new CountDownLatch(1));
        }

        static void pass(AtomicReference<Gate> gate) {
            Gate closed = gate.get();
            if (closed != null) {
                closed.entered.countDown();
                try {
                    closed.open.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** Before a value is made. */
    private static final AtomicReference<Gate> VALUES = new AtomicReference<>();

    record Put(long key, int bytes) {}

    record Done(long entries) {}

    record Value(String text) {
        Value {
            Gate.pass(VALUES);
        }
    }

    static final class Large implements Service {

        private final MapState<Long, Value> values;

        Large(State state) {
            values = state.map("values", Long.class, Value.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Put.class,
                    (put, turn) -> {
                        values.put(put.key(), new Value("x".repeat(put.bytes())));
                        turn.reply(new Done(values.size()));
                    });
        }
    }

    @TempDir private Path work;

    private Services place(String server, String folder) {
        return Services.at(server + "/large")
                .folder(work.resolve(folder))
                .listen(new Address("127.0.0.1", 0));
    }

    /** Nobody would be answered by it: all are answered by the primary until its state is read. */
    @Test
    void aHandoverWaitsForAStandbyThatReadsItsState() throws Exception {
        Gate reading = new Gate();
        try (TestServer server = new TestServer(Files.createDirectories(work.resolve("server")));
                RunningService one =
                        place(server.connect(), "one").run(Large::new, Protection.standby());
                Client client = Services.at(server.connect() + "/large").client("asker")) {
            for (int key = 0; key < ENTRIES; key++) {
                assertThat(get(put(client, key, ENTRY_BYTES)).entries()).isEqualTo(key + 1);
            }
            VALUES.set(reading);
            RunningService two =
                    place(server.connect(), "two").run(Large::new, Protection.standby());
            try {
                assertThat(reading.entered.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
                VALUES.set(null);
                String member = two.status().member().member();
                await().atMost(PATIENCE)
                        .until(
                                () ->
                                        one.status().member().followers().getOrDefault(member, 0L)
                                                >= ENTRIES);
                // Said by name, where it does not come to an end.
                assertThatThrownBy(() -> one.handOver(Optional.of(member)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(
                                "member "
                                        + member
                                        + " is not ready to take over: it reads its state still");
                CompletableFuture<Void> handed =
                        CompletableFuture.runAsync(() -> one.handOver(Optional.empty()));
                assertThat(get(put(client, ENTRIES, 1))).isEqualTo(new Done(ENTRIES + 1));
                assertThat(handed).isNotDone();
                assertThat(one.status().member().role()).isEqualTo("primary");
                reading.open.countDown();
                assertThat(get(handed)).isNull();
                assertThat(get(put(client, ENTRIES + 1, 1))).isEqualTo(new Done(ENTRIES + 2));
                assertThat(two.status().member().role()).isEqualTo("primary");
            } finally {
                VALUES.set(null);
                reading.open.countDown();
                two.close();
            }
        }
    }

    /**
     * It could write the head, and would let all wait until its state is read; until then whoever
     * is suspected may go on.
     */
    @Test
    void aStandbyThatReadsItsStateStillDoesNotTakeTheOffice() throws Exception {
        AtomicReference<Gate> disk = new AtomicReference<>();
        Gate reading = new Gate();
        Gate hanging = new Gate();
        try (TestServer server = new TestServer(Files.createDirectories(work.resolve("server")));
                Watching session = new Watching(server.connect())) {
            String place = server.connect() + "/large";
            Disk hangs =
                    new ForwardingDisk(Disk.local()) {
                        @Override
                        protected void beforeForce() {
                            Gate.pass(disk);
                        }
                    };
            RunningService one =
                    StandbyService.start(
                            hangs,
                            Place.at(place, Optional.empty())
                                    .withFolder(work.resolve("one"))
                                    .withListen(new Address("127.0.0.1", 0)),
                            Large::new,
                            Protection.standby(),
                            (reason, cause) -> {});
            try (Client client = Services.at(place).client("asker")) {
                for (int key = 0; key < ENTRIES; key++) {
                    assertThat(get(put(client, key, ENTRY_BYTES)).entries()).isEqualTo(key + 1);
                }
                VALUES.set(reading);
                try (RunningService two =
                        place(server.connect(), "two").run(Large::new, Protection.standby())) {
                    await().atMost(PATIENCE).until(() -> two.status().member().stored() >= ENTRIES);
                    assertThat(reading.entered.await(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                            .isTrue();
                    // Whoever came waits on; the primary's own values pass.
                    VALUES.set(null);
                    int before = session.looks();
                    disk.set(hanging);
                    CompletableFuture<Done> waits = put(client, ENTRIES, 1);
                    await().atMost(PATIENCE).until(() -> session.looks() >= before + 3);
                    assertThat(two.status().member().role()).isEqualTo("standby");
                    assertThat(two.status().member().epoch()).isEqualTo(1);
                    reading.open.countDown();
                    assertThat(get(waits)).isEqualTo(new Done(ENTRIES + 1));
                    assertThat(two.status().member().role()).isEqualTo("primary");
                    hanging.open.countDown();
                }
            } finally {
                VALUES.set(null);
                reading.open.countDown();
                hanging.open.countDown();
                one.close();
            }
        }
    }

    private static CompletableFuture<Done> put(Client client, long key, int bytes) {
        return client.ask(new Put(key, bytes), Done.class);
    }

    private static <T> T get(CompletableFuture<T> call) throws Exception {
        return call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Sees what is beside the head. */
    private record Watching(ZooKeeper session) implements AutoCloseable {

        Watching(String servers) throws IOException {
            this(new ZooKeeper(servers, 10_000, event -> {}));
        }

        /** How often a standby doubted that the primary lives. */
        int looks() throws Exception {
            Stat stat = session.exists("/large/challenge", false);
            return stat == null ? 0 : stat.getVersion();
        }

        @Override
        public void close() throws IOException {
            try {
                session.close();
            } catch (InterruptedException e) {
                throw new InterruptedIOException();
            }
        }
    }
}
