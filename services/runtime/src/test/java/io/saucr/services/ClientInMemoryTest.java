package io.saucr.services;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Limits;
import io.saucr.services.ensemble.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client with a birth in memory: exactly once, in order, for as long as its process lives. */
class ClientInMemoryTest {

    private static final int SEGMENT_BYTES = 1 << 20;

    @TempDir private Path temp;

    private final List<AutoCloseable> open = new ArrayList<>();
    private TestServer server;

    /** A number, and as many bytes beside it as wished. */
    public record Add(int number, String filler) {}

    /** All numbers in the order in which they came. */
    public record Numbers(List<Integer> all) {}

    /** Which numbers there are. */
    public record Ask() {}

    /** How many there were with this one. */
    public record Added(int number, int count) {}

    private static final class Row implements Service {

        private final ListState<Integer> numbers;

        Row(State state) {
            numbers = state.list("numbers", Integer.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Add.class,
                    (add, turn) -> {
                        numbers.add(add.number());
                        turn.reply(new Added(add.number(), numbers.size()));
                    });
            on.query(
                    Ask.class,
                    (ask, turn) -> {
                        List<Integer> all = new ArrayList<>();
                        numbers.forEach(all::add);
                        return new Numbers(all);
                    });
        }
    }

    @BeforeEach
    void startServer() {
        server = new TestServer(temp.resolve("zookeeper"));
    }

    @AfterEach
    void closeAll() throws Exception {
        Collections.reverse(open);
        for (AutoCloseable each : open) {
            each.close();
        }
        server.close();
    }

    private Services at(String folder) {
        return Services.at(server.connect() + "/apps/row")
                .folder(temp.resolve(folder))
                .segmentBytes(SEGMENT_BYTES);
    }

    private RunningService run(Services services) throws Exception {
        RunningService running = services.run(Row::new, Protection.local());
        open.add(running);
        return running;
    }

    private Client client(Services services) throws Exception {
        Client client = services.client("caller");
        open.add(client);
        return client;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(30, SECONDS);
    }

    private static CompletableFuture<Added> add(Client client, int number, String filler) {
        return client.ask(new Add(number, filler), Added.class);
    }

    private static List<Integer> numbers(Client client) throws Exception {
        return get(client.ask(new Ask(), Numbers.class)).all();
    }

    @Test
    void callsUnderWayGoOnWhenTheServiceEndsAndMoves() throws Exception {
        RunningService first = run(at("row"));
        Client client = client(at("nowhere"));
        get(add(client, 0, ""));
        List<CompletableFuture<Added>> calls = new ArrayList<>();
        for (int number = 1; number <= 500; number++) {
            calls.add(add(client, number, ""));
            if (number == 250) {
                get(calls.get(100));
                first.close();
                Files.move(temp.resolve("row"), temp.resolve("moved"));
            }
        }
        assertThat(calls.get(499)).isNotDone();
        RunningService second = run(at("moved"));
        assertThat(second.address()).isNotEqualTo(first.address());
        List<Integer> expected = new ArrayList<>(List.of(0));
        for (int number = 1; number <= 500; number++) {
            assertThat(get(calls.get(number - 1))).isEqualTo(new Added(number, number + 1));
            expected.add(number);
        }
        assertThat(numbers(client)).isEqualTo(expected);
        // Neither its own folder nor another one: nothing is written.
        assertThat(temp.resolve("nowhere")).doesNotExist();
    }

    @Test
    void twoOfOneNameAreTwo() throws Exception {
        run(at("row"));
        Client one = client(at("row"));
        Client two = client(at("row"));
        get(add(one, 1, ""));
        assertThat(get(add(two, 2, "")).count()).isEqualTo(2);
        assertThat(get(add(one, 3, "")).count()).isEqualTo(3);
    }

    @Test
    void whatWaitsIsBoundedByMemory() throws Exception {
        Client client = client(at("row").limits(Limits.standard().outbox(10, 64 << 10)));
        String filler = "x".repeat(20_000);
        List<CompletableFuture<Added>> waiting = new ArrayList<>();
        for (int number = 1; number <= 3; number++) {
            waiting.add(add(client, number, filler));
        }
        assertThatThrownBy(() -> get(add(client, 4, filler)))
                .hasMessageContainingAll("what waits for row", "65536 bytes", "outboxBytes");
        // Small ones have room yet, more of them than a peer of a service may have in memory.
        for (int number = 4; number <= 14; number++) {
            waiting.add(add(client, number, ""));
        }
        run(at("row"));
        for (int number = 1; number <= 14; number++) {
            assertThat(get(waiting.get(number - 1))).isEqualTo(new Added(number, number));
        }
        assertThat(get(add(client, 15, filler)).count()).isEqualTo(15);
    }

    @Test
    void anotherServiceOfThatNameGetsNothing() throws Exception {
        RunningService first = run(at("row"));
        Client client = client(at("row"));
        get(add(client, 1, ""));
        first.close();
        CompletableFuture<Added> waits = add(client, 2, "");
        ZooKeeper zooKeeper = new ZooKeeper(server.connect(), 30_000, event -> {});
        ZKUtil.deleteRecursive(zooKeeper, "/apps/row");
        zooKeeper.close();
        run(at("another"));
        assertThatThrownBy(() -> get(waits))
                .hasMessageContainingAll("another row", "open another one");
        assertThatThrownBy(() -> get(add(client, 3, ""))).hasMessageContaining("another row");
        Client other = client(at("another"));
        assertThat(numbers(other)).isEmpty();
    }

    @Test
    void whoClosesItIsToldWhatIsNotKnown() throws Exception {
        Client client = at("row").client("caller");
        CompletableFuture<Added> waits = add(client, 1, "");
        client.close();
        assertThatThrownBy(() -> get(waits)).hasMessageContaining("perhaps consumed");
        assertThatThrownBy(() -> at("row").client("a#b"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
