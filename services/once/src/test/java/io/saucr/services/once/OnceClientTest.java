package io.saucr.services.once;

import static io.saucr.services.once.PatientWaits.await;
import static io.saucr.services.once.Settled.settled;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Once clients at a real server, which stops, forgets sessions and is written to by others. */
class OnceClientTest {

    private static final byte[] DATA = "data".getBytes(UTF_8);

    @TempDir private Path temporary;

    private final List<String> stops = new CopyOnWriteArrayList<>();
    private TestServer server;
    private ZooKeeper reader;

    @BeforeEach
    void startServer() throws Exception {
        server = new TestServer(temporary.resolve("server"));
        reader = new ZooKeeper(server.connect(), 30_000, event -> {});
    }

    @AfterEach
    void stopServer() throws Exception {
        reader.close(1_000);
        server.close();
    }

    private static long filesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.count();
        }
    }

    private OnceClient.Builder builder() {
        return OnceClient.at(server.connect() + "/app").name("bank").onStop(stops::add);
    }

    private OnceClient.Builder onFolder() {
        return builder().folder(temporary.resolve("folder"));
    }

    private int version(String path) throws Exception {
        return reader.exists(path, false).getVersion();
    }

    private String marker() throws Exception {
        List<String> markers = reader.getChildren("/app/once/bank", false);
        assertThat(markers).hasSize(1);
        return "/app/once/bank/" + markers.get(0);
    }

    @Test
    void writesHappenBelowTheChroot() throws Exception {
        try (OnceClient client = builder().open()) {
            client.create("/accounts", DATA);
            client.setData("/accounts", "more".getBytes(UTF_8), 0);
            client.multi(List.of(Op.check("/accounts", 1), Op.setData("/accounts", DATA, 1)));
            assertThat(version("/app/accounts")).isEqualTo(2);
            client.delete("/accounts", 2);
            assertThat(reader.exists("/app/accounts", false)).isNull();
        }
    }

    @Test
    void manyAreUnderWayAndHappenInOrder() throws Exception {
        try (OnceClient client = onFolder().open()) {
            client.create("/n", DATA);
            List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                outcomes.add(client.submit(Operation.setData("/n", DATA, i)));
            }
            for (int i = 0; i < 500; i++) {
                assertThat(settled(outcomes.get(i)).happened()).isTrue();
                assertThat(settled(outcomes.get(i)).number()).isEqualTo(i + 2);
            }
            assertThat(version("/app/n")).isEqualTo(500);
        }
    }

    @Test
    void aRefusalIsToldAndWhatFollowsHappens() throws Exception {
        try (OnceClient client = onFolder().open()) {
            List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                outcomes.add(client.submit(Operation.create("/n" + i, DATA)));
                outcomes.add(client.submit(Operation.delete("/missing", -1)));
            }
            for (int i = 0; i < 20; i++) {
                assertThat(settled(outcomes.get(2 * i)).happened()).isTrue();
                assertThat(settled(outcomes.get(2 * i + 1)).refusal())
                        .contains(KeeperException.Code.NONODE);
            }
            assertThatThrownBy(() -> client.create("/n1", DATA))
                    .isInstanceOf(KeeperException.NodeExistsException.class)
                    .hasMessageContaining("/n1");
        }
    }

    @Test
    void aSequentialCreateTellsItsName() throws Exception {
        try (OnceClient client = builder().open()) {
            assertThat(client.createSequential("/q-", DATA)).contains("/q-0000000001");
            assertThat(client.createSequential("/q-", DATA)).contains("/q-0000000002");
        }
    }

    @Test
    void aServerThatGoesAndComesCostsNothing() throws Exception {
        try (OnceClient client = onFolder().open()) {
            client.create("/n", DATA);
            List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                outcomes.add(client.submit(Operation.setData("/n", DATA, i)));
                if (i % 100 == 50) {
                    server.stop();
                    server.start();
                }
            }
            for (CompletableFuture<Outcome> outcome : outcomes) {
                assertThat(settled(outcome).happened()).isTrue();
            }
            await().ignoreExceptions()
                    .untilAsserted(() -> assertThat(version("/app/n")).isEqualTo(300));
        }
    }

    @Test
    void aSessionThatExpiresCostsNothing() throws Exception {
        try (OnceClient client = onFolder().open()) {
            client.create("/n", DATA);
            for (int i = 0; i < 2; i++) {
                server.expireAllBut(reader.getSessionId());
                client.setData("/n", DATA, i);
            }
            assertThat(version("/app/n")).isEqualTo(2);
        }
    }

    @Test
    void whatWasAcceptedBeforeACloseHappensAtTheNextStart() throws Exception {
        server.stop();
        OnceClient first = onFolder().open();
        CompletableFuture<Outcome> open = first.submit(Operation.create("/n", DATA));
        await().untilAsserted(() -> assertThat(first.recovered()).hasSize(1));
        first.close();
        assertThatThrownBy(() -> settled(open)).hasCauseInstanceOf(StoppedException.class);

        try (OnceClient second = onFolder().openOperations(1).open()) {
            // It counts as open.
            assertThatThrownBy(() -> second.submit(Operation.setData("/n", DATA, 9)))
                    .isInstanceOf(RejectedExecutionException.class)
                    .hasMessageContaining("client bank has 1 operations open");
            server.start();
            assertThat(settled(second.recovered().get(1L)).happened()).isTrue();
            assertThat(second.recovered()).isEmpty();
            // The reader may come back later.
            await().ignoreExceptions()
                    .untilAsserted(() -> assertThat(reader.exists("/app/n", false)).isNotNull());
        }
    }

    @Test
    void aKeyIsDoneOnce() throws Exception {
        try (OnceClient client = onFolder().open()) {
            CompletableFuture<Outcome> one =
                    client.submit("order-1", Operation.createSequential("/q-", DATA));
            CompletableFuture<Outcome> two =
                    client.submit("order-1", Operation.createSequential("/q-", DATA));
            assertThat(settled(one).created()).isEqualTo(settled(two).created()).isNotEmpty();
        }
        try (OnceClient client = onFolder().open()) {
            Outcome again =
                    settled(client.submit("order-1", Operation.createSequential("/q-", DATA)));
            assertThat(again.created()).contains("/q-0000000001");
        }
        assertThat(reader.getChildren("/app", false)).containsOnlyOnce("q-0000000001").hasSize(2);
    }

    @Test
    void aJournalThatHasGrownIsFolded() throws Exception {
        Path bases = temporary.resolve("folder").resolve("base");
        Path journal = temporary.resolve("folder").resolve("journal");
        byte[] large = new byte[200_000];
        try (OnceClient client = onFolder().open()) {
            settled(client.submit("first", Operation.create("/n", DATA)));
            for (int i = 0; filesIn(bases) == 0; i++) {
                client.setData("/n", large, i);
            }
            settled(client.submit("last", Operation.create("/m", DATA)));
            // What the base says need not be in the journal any more.
            await().untilAsserted(() -> assertThat(filesIn(journal)).isLessThan(10));
        }
        try (OnceClient client = onFolder().open()) {
            assertThat(settled(client.submit("first", Operation.create("/n", DATA))).number())
                    .isEqualTo(1);
            assertThat(settled(client.submit("last", Operation.create("/m", DATA))).happened())
                    .isTrue();
            client.create("/o", DATA);
        }
        assertThat(reader.getChildren("/app", false)).contains("n", "m", "o");
    }

    @Test
    void whatIsTooLargeHasNoNumber() throws Exception {
        try (OnceClient client = onFolder().open()) {
            assertThatThrownBy(() -> client.submit(Operation.create("/n", new byte[1 << 20])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Create /n has 10486")
                    .hasMessageContaining("jute.maxbuffer");
            client.create("/n", new byte[(1 << 20) - OnceClient.SHARE_BYTES - 200]);
        }
    }

    @Test
    void aMarkerThatIsGoneStopsTheClientForEver() throws Exception {
        try (OnceClient client = onFolder().open()) {
            client.create("/n", DATA);
            reader.delete(marker(), -1);
            CompletableFuture<Outcome> open = client.submit(Operation.setData("/n", DATA, 0));
            assertThatThrownBy(() -> settled(open))
                    .hasCauseInstanceOf(StoppedException.class)
                    .hasMessageContaining("the marker of client bank is missing")
                    .hasMessageContaining("after number 1");
            await().untilAsserted(() -> assertThat(stops).hasSize(1));
            assertThatThrownBy(() -> settled(client.submit(Operation.setData("/n", DATA, 0))))
                    .hasCauseInstanceOf(StoppedException.class);
        }
        try (OnceClient client = onFolder().open()) {
            await().untilAsserted(() -> assertThat(stops).hasSize(2));
            assertThat(client.submit(Operation.delete("/n", -1))).isCompletedExceptionally();
        }
        assertThat(reader.getChildren("/app/once/bank", false)).isEmpty();
        assertThat(version("/app/n")).isZero();
    }

    @Test
    void anOldMarkerStopsTheClient() throws Exception {
        byte[] old;
        try (OnceClient client = onFolder().open()) {
            client.create("/n", DATA);
            old = reader.getData(marker(), false, null);
            client.setData("/n", DATA, 0);
            reader.setData(marker(), old, -1);
            assertThatThrownBy(() -> client.setData("/n", DATA, 1))
                    .isInstanceOf(StoppedException.class)
                    .hasMessageContaining("went back: it says 1, but operation 2");
        }
    }

    @Test
    void aSecondClientOfTheNameIsRefused() throws Exception {
        try (OnceClient client = onFolder().open()) {
            client.create("/n", DATA);
            assertThatThrownBy(() -> onFolder().open())
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("in use by this process");
            try (OnceClient stranger = builder().open()) {
                assertThatThrownBy(() -> stranger.create("/m", DATA))
                        .isInstanceOf(StoppedException.class)
                        .hasMessageContaining("the name bank is taken");
            }
            client.setData("/n", DATA, 0);
        }
    }

    @Test
    void aMarkerThatIsNoneStopsTheClient() throws Exception {
        for (String path : List.of("/app", "/app/once", "/app/once/bank", "/app/once/bank/x")) {
            reader.create(path, DATA, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
        try (OnceClient client = onFolder().open()) {
            assertThatThrownBy(() -> client.create("/n", DATA))
                    .isInstanceOf(StoppedException.class)
                    .hasMessageContaining(
                            "a marker below /app/once/bank can't be read: it begins with \"data\"");
        }
    }

    @Test
    void whoMayNotWriteTheMarkerIsTold() throws Exception {
        reader.addAuthInfo("digest", "eu:secret".getBytes(UTF_8));
        reader.create("/app", DATA, ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        try (OnceClient client = builder().open()) {
            assertThatThrownBy(() -> client.create("/n", DATA))
                    .isInstanceOf(StoppedException.class)
                    .hasMessageContaining(server.connect() + " refuses to")
                    .hasMessageContaining("NoAuth");
        }
        try (OnceClient client =
                builder()
                        .credentials("digest", "eu:secret")
                        .acls(ZooDefs.Ids.CREATOR_ALL_ACL)
                        .open()) {
            client.create("/n", DATA);
        }
    }

    @Test
    void badInputIsRefusedBeforeAnythingIsSent() {
        assertThatThrownBy(() -> Operation.create("n", DATA))
                .hasMessageContaining("Path must start with /");
        assertThatThrownBy(() -> Operation.create("/n", null))
                .hasMessageContaining("/n: data may be empty, not null");
        assertThatThrownBy(
                        () ->
                                Operation.multi(
                                        List.of(
                                                Op.create(
                                                        "/e",
                                                        DATA,
                                                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                                                        CreateMode.EPHEMERAL))))
                .hasMessageContaining("/e: EPHEMERAL can't be created exactly once");
        assertThatThrownBy(() -> Operation.multi(List.of(Op.getData("/n"))))
                .hasMessageContaining("a read can't be");
        assertThatThrownBy(() -> Operation.multi(List.of()))
                .hasMessageContaining("one part or more");
        assertThatThrownBy(() -> OnceClient.at("zk1:2181").name("a/b"))
                .hasMessageContaining("not \"a/b\"");
        assertThatThrownBy(() -> OnceClient.at("zk1:2181").folder(Path.of("x")).open())
                .hasMessageContaining("has a name");
        assertThatThrownBy(() -> OnceClient.at("zk1:2181").sessionTimeout(Duration.ZERO))
                .hasMessageContaining("from 1 ms");
        assertThatThrownBy(() -> OnceClient.at("/x")).hasMessageContaining("no servers in");
    }

    @Test
    void moreThanMayBeOpenAreRefusedAtOnce() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (OnceClient client = onFolder().openOperations(2).open()) {
            // Who is told keeps the client's thread, so that nothing is decided meanwhile.
            CompletableFuture<Void> unused =
                    client.submit("a", Operation.create("/n", DATA))
                            .thenAccept(
                                    outcome -> {
                                        told.countDown();
                                        await().until(() -> goOn.getCount() == 0);
                                    });
            told.await();
            CompletableFuture<Outcome> second = client.submit(Operation.setData("/n", DATA, 0));
            CompletableFuture<Outcome> third = client.submit(Operation.setData("/n", DATA, 1));
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> client.submit(Operation.setData("/n", DATA, 9)))
                        .isInstanceOf(RejectedExecutionException.class)
                        .hasMessageContaining("client bank has 2 operations open")
                        .hasMessageContaining("openOperations");
            }
            goOn.countDown();
            assertThat(settled(second).number()).isEqualTo(2);
            assertThat(settled(third).number()).isEqualTo(3);
            // There is room again, also after keys that are known; refusals took no number.
            for (int i = 2; i < 6; i++) {
                assertThat(client.perform(Operation.setData("/n", DATA, i)).number())
                        .isEqualTo(i + 2);
                assertThat(settled(client.submit("a", Operation.create("/n", DATA))).number())
                        .isEqualTo(1);
            }
        }
        assertThatThrownBy(() -> builder().openOperations(0))
                .hasMessageContaining("from 1 to 1000000 operations may be open, not 0");
    }

    @Test
    void whatAnOutcomeTellsMayCloseAndSubmitButNotWait() throws Exception {
        OnceClient client = onFolder().open();
        CompletableFuture<Throwable> waited = new CompletableFuture<>();
        CompletableFuture<Outcome> second = new CompletableFuture<>();
        settled(
                client.submit(Operation.create("/n", DATA))
                        .thenAccept(
                                outcome -> {
                                    try {
                                        client.setData("/n", DATA, 0);
                                    } catch (Exception e) {
                                        waited.complete(e);
                                    }
                                    CompletableFuture<Void> unused =
                                            client.submit(Operation.setData("/n", DATA, 0))
                                                    .thenAccept(
                                                            done -> {
                                                                client.close();
                                                                second.complete(done);
                                                            });
                                }));
        assertThat(settled(waited))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("would wait for the thread that tells outcomes");
        assertThat(settled(second).happened()).isTrue();
        client.close();
    }

    @Test
    void closingEndsWhatIsOpen() throws Exception {
        server.stop();
        OnceClient client = builder().open();
        CompletableFuture<Outcome> open = client.submit(Operation.create("/n", DATA));
        client.close();
        assertThatThrownBy(() -> settled(open))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("the client was closed");
    }
}
