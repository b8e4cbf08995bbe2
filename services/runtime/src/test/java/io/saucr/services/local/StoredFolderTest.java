package io.saucr.services.local;

import static io.saucr.services.once.PatientWaits.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.core.Limits;
import io.saucr.services.ensemble.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What version 0.1.0 stored for a service with {@code local()}, this one reads: {@code local-0.1.0}
 * among the resources of the tests, with the head and the service's folder. It holds a base and
 * turns above it, of this service after {@value #PUTS} puts and one message that failed, killed
 * while nobody took its messages for the sink. A release that writes another format adds a folder
 * of its own here, and leaves this one as it is.
 */
class StoredFolderTest {

    private static final int PUTS = 30;
    private static final Path STORED = Path.of("src/test/resources/local-0.1.0");

    record Put(String key, long value) {}

    record Was(long value) {}

    record Item(long value) {}

    record Tick(long value) {}

    record Fail() {}

    record Look() {}

    record Now(List<Long> all, long last) {}

    record Got(List<Long> items) {}

    static final class Ledger implements Service {

        private final MapState<String, Long> numbers;
        private final ListState<Long> all;
        private final ValueState<Long> last;

        Ledger(State state) {
            numbers = state.map("numbers", String.class, Long.class);
            all = state.list("all", Long.class);
            last = state.value("last", Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Put.class,
                    (put, turn) -> {
                        long was = numbers.getOrDefault(put.key(), 0L);
                        numbers.put(put.key(), put.value());
                        all.add(put.value());
                        last.update(put.value());
                        turn.send("sink", new Item(put.value()));
                        turn.after(Duration.ofDays(36_500), new Tick(put.value()));
                        turn.reply(new Was(was));
                    });
            on.message(Tick.class, (tick, turn) -> last.update(-tick.value()));
            on.message(
                    Fail.class,
                    (fail, turn) -> {
                        throw new IllegalArgumentException("it always fails");
                    });
            on.query(
                    Look.class,
                    (look, turn) -> {
                        List<Long> seen = new ArrayList<>();
                        all.iterator().forEachRemaining(seen::add);
                        return new Now(seen, last.value());
                    });
        }
    }

    static final class Sink implements Service {

        private final ListState<Long> items;

        Sink(State state) {
            items = state.list("items", Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Item.class, (item, turn) -> items.add(item.value()));
            on.query(
                    Look.class,
                    (look, turn) -> {
                        List<Long> seen = new ArrayList<>();
                        items.iterator().forEachRemaining(seen::add);
                        return new Got(seen);
                    });
        }
    }

    @TempDir Path work;

    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Services place(String name) {
        return Services.at(server.connect() + "/apps/" + name)
                .folder(work.resolve(name))
                .listen(new Address("127.0.0.1", 0))
                .limits(Limits.standard().outbox(8, 1 << 20))
                .segmentBytes(64 << 10)
                .foldBytes(2048)
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private void bring() throws IOException, InterruptedException {
        ZooKeeper hand = new ZooKeeper(server.connect(), 4_000, event -> {});
        try {
            for (String path : List.of("/apps", "/apps/ledger", "/apps/ledger/head")) {
                boolean head = path.endsWith("head");
                assertThat(
                                hand.create(
                                        path,
                                        head
                                                ? Files.readAllBytes(STORED.resolve("head"))
                                                : new byte[0],
                                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                                        CreateMode.PERSISTENT))
                        .isEqualTo(path);
            }
        } catch (KeeperException e) {
            throw new IOException(e);
        } finally {
            hand.close();
        }
        Path from = STORED.resolve("folder");
        try (Stream<Path> files = Files.walk(from)) {
            for (Path each : files.toList()) {
                Files.copy(each, work.resolve("ledger").resolve(from.relativize(each).toString()));
            }
        }
    }

    @Test
    void aFolderIsReadWithAllThatIsInIt() throws Exception {
        bring();
        List<Long> expected = new ArrayList<>(LongStream.rangeClosed(1, PUTS).boxed().toList());
        for (long start = 1; start <= 2; start++) {
            try (RunningService ledger = place("ledger").run(Ledger::new, Protection.local());
                    Client client = place("ledger").client()) {
                assertThat(ledger.status().deadLetters()).hasSize(1);
                assertThat(ledger.status().timers()).isEqualTo(expected.size());
                assertThat(ledger.status().bytesInFiles()).isPositive();
                assertThat(client.ask(new Look(), Now.class).get(30, SECONDS))
                        .isEqualTo(new Now(expected, expected.size()));
                long next = PUTS + start;
                assertThat(client.ask(new Put("k0", next), Was.class).get(30, SECONDS))
                        .isEqualTo(new Was(start == 1 ? PUTS : PUTS + 1));
                expected.add(next);
            }
        }
        try (RunningService ledger = place("ledger").run(Ledger::new, Protection.local());
                RunningService sink = place("sink").run(Sink::new, Protection.local());
                Client looks = place("sink").client()) {
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(
                            () ->
                                    assertThat(
                                                    looks.ask(new Look(), Got.class)
                                                            .get(30, SECONDS)
                                                            .items())
                                            .isEqualTo(expected));
            assertThat(ledger.status().turn()).isGreaterThan(PUTS);
            assertThat(sink.status().turn()).isPositive();
        }
    }
}
