package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.DataLoss;
import io.saucr.services.EnsembleOutcome;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ensemble.TestServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Turns of a service with standbys write to the ensemble, each write once (E1 to E9, C7, C17). */
class StandbyWritesTest {

    /** Writes to the ensemble, so often in one turn. */
    public record Write(int times) {}

    public record Written() {}

    /** Asks for what the ensemble refuses. */
    record WriteInVain() {}

    public record Ask() {}

    public record Told(long happened, long refused, long unknown) {}

    public static final class Writer implements Service {

        private final MapState<String, Long> told;

        Writer(State state) {
            told = state.map("told", String.class, Long.class);
        }

        private long count(String what) {
            return told.getOrDefault(what, 0L);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Write.class,
                    (write, turn) -> {
                        for (int i = 0; i < write.times(); i++) {
                            turn.ensemble().setData("/counter", new byte[0], -1);
                        }
                        turn.ensemble().createSequential("/counter/n-", new byte[0]);
                        turn.reply(new Written());
                    });
            on.message(
                    WriteInVain.class,
                    (write, turn) -> {
                        turn.ensemble().delete("/nowhere", -1);
                        turn.reply(new Written());
                    });
            on.message(
                    EnsembleOutcome.class,
                    (outcome, turn) -> {
                        String what =
                                outcome.unknown()
                                        ? "unknown"
                                        : outcome.happened() ? "happened" : "refused";
                        told.put(what, count(what) + 1);
                    });
            on.query(
                    Ask.class,
                    (ask, turn) -> new Told(count("happened"), count("refused"), count("unknown")));
        }
    }

    @TempDir Path work;

    private TestServer server;
    private ZooKeeper zooKeeper;

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
        CountDownLatch connected = new CountDownLatch(1);
        zooKeeper =
                new ZooKeeper(
                        server.connect(),
                        4_000,
                        event -> {
                            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        assertThat(connected.await(30, SECONDS)).isTrue();
        String unused =
                zooKeeper.create(
                        "/counter",
                        new byte[0],
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT);
    }

    @AfterEach
    void stop() throws Exception {
        zooKeeper.close();
        server.close();
    }

    private Services place(String folder) {
        return Services.at(server.connect() + "/apps/writer")
                .folder(work.resolve(folder))
                .listen(new Address("127.0.0.1", 0))
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private RunningService run(String folder) throws Exception {
        return place(folder).run(Writer::new, Protection.standby());
    }

    private static void write(Client client, int times) throws Exception {
        assertThat(client.ask(new Write(times), Written.class).get(30, SECONDS)).isNotNull();
    }

    private static Told told(Client client) throws Exception {
        return client.ask(new Ask(), Told.class).get(30, SECONDS);
    }

    private void awaitTold(Client client, Told what) {
        await().untilAsserted(() -> assertThat(told(client)).isEqualTo(what));
    }

    /** How often the node was written, and how many children it has. */
    private void assertWritten(int times, int children) throws Exception {
        assertThat(zooKeeper.exists("/counter", false).getVersion()).isEqualTo(times);
        assertThat(zooKeeper.getChildren("/counter", false)).hasSize(children);
    }

    private String marker() throws Exception {
        return zooKeeper.getChildren("/once/apps.writer", false).get(0);
    }

    @Test
    void whatATurnWritesHappensOnceAndItsOutcomeIsTold() throws Exception {
        try (RunningService one = run("one");
                Client client = place("client").client()) {
            write(client, 3);
            assertThat(client.ask(new WriteInVain(), Written.class).get()).isNotNull();
            awaitTold(client, new Told(4, 1, 0));
            assertWritten(3, 1);
            await().until(() -> one.status().outputs() == 0);
        }
    }

    @Test
    void whoTakesOverGoesOnWithNumbersAndMarker() throws Exception {
        RunningService one = run("one");
        try (Client client = place("client").client("asker")) {
            write(client, 2);
            awaitTold(client, new Told(3, 0, 0));
            String before = marker();
            try (RunningService two = run("two")) {
                await().until(() -> one.status().member().followers().size() == 1);
                // Under way while the office is handed over.
                for (int i = 0; i < 20; i++) {
                    write(client, 1);
                }
                one.close();
                assertThat(two.status().member().role()).isEqualTo("primary");
                write(client, 1);
                awaitTold(client, new Told(45, 0, 0));
                assertWritten(23, 22);
                assertThat(marker()).isNotEqualTo(before).startsWith("m-2-");
            }
        }
    }

    @Test
    void aMemberThatRestartsGoesOnWithItsBase() throws Exception {
        try (Client client = place("client").client("asker")) {
            for (int start = 1; start <= 3; start++) {
                try (RunningService one =
                        place("one").foldBytes(1024).run(Writer::new, Protection.standby())) {
                    for (int i = 0; i < 10; i++) {
                        write(client, 1);
                    }
                    awaitTold(client, new Told(start * 20L, 0, 0));
                    assertThat(one.status().member().epoch()).isEqualTo(start);
                }
            }
            assertWritten(30, 30);
        }
    }

    /** A once client alone would refuse them. */
    @Test
    void asManyWritesMayBeOpenAsTheServiceHas() throws Exception {
        try (RunningService one = run("one");
                Client client = place("client").client()) {
            write(client, 10_050);
            awaitTold(client, new Told(10_051, 0, 0));
            assertWritten(10_050, 1);
            await().until(() -> one.status().outputs() == 0);
        }
    }

    @Test
    void writesFollowTheCheckpointsWhereRepliesDoNotWait() throws Exception {
        Protection.Standby late = Protection.standby().every(Duration.ofMillis(50));
        try (RunningService one = place("one").run(Writer::new, late);
                Client client = place("client").client()) {
            write(client, 1);
            awaitTold(client, new Told(2, 0, 0));
            assertWritten(1, 1);
            await().until(() -> one.status().outputs() == 0);
        }
    }

    @Test
    void aNewGenerationReplacesTheMarkerAndBeginsWithNumberOne() throws Exception {
        try (Client client = place("client").client("asker", work.resolve("client"))) {
            RunningService one = run("one");
            write(client, 1);
            awaitTold(client, new Told(2, 0, 0));
            try (RunningService two = run("two")) {
                await().until(() -> one.status().member().followers().size() == 1);
                write(client, 1);
                awaitTold(client, new Told(4, 0, 0));
                await().until(
                                () ->
                                        two.status().member().stored()
                                                == one.status().member().segment());
            }
            await().until(() -> one.status().member().followers().isEmpty());
            write(client, 5);
            awaitTold(client, new Told(10, 0, 0));
            one.close();
            Files.move(work.resolve("one"), work.resolve("lost"));

            DataLoss order = place("two").dataLoss();
            String birth = order.give(order.token().orElseThrow());
            try (RunningService two = run("two")) {
                assertThat(two.status().generation()).isEqualTo(birth);
                // What it does not remember stays done.
                try (Client another = place("another").client("another")) {
                    write(another, 1);
                    awaitTold(another, new Told(6, 0, 0));
                }
                assertWritten(8, 4);
                assertThat(
                                new String(
                                        zooKeeper.getData(
                                                "/once/apps.writer/" + marker(), false, null),
                                        StandardCharsets.UTF_8))
                        .contains(birth);
            }
        }
    }

    @Test
    void aWriteIsAskedForAgainByWhoTakesOver() throws Exception {
        RunningService one = run("one");
        try (Client client = place("client").client("asker");
                RunningService two = run("two")) {
            await().until(() -> one.status().member().followers().size() == 1);
            CompletableFuture<Written> unused = client.ask(new Write(200), Written.class);
            await().until(() -> one.status().outputs() > 0 || told(client).happened() > 0);
            one.close();
            awaitTold(client, new Told(201, 0, 0));
            assertWritten(200, 1);
            assertThat(two.status().outputs()).isZero();
        }
    }
}
