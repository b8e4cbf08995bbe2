package io.saucr.services.once;

import static io.saucr.services.once.PatientWaits.await;
import static io.saucr.services.once.Settled.settled;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.once.Declarations.Standing;
import io.saucr.services.ensemble.TestServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** E7: declared ephemerals at a real server, across sessions, restarts and strangers. */
class OnceEphemeralsTest {

    private static final byte[] DATA = "10.0.0.7:9000".getBytes(UTF_8);
    private static final byte[] OTHER = "10.0.0.8:9000".getBytes(UTF_8);
    private static final String AT = "/app/at";

    @TempDir private Path temporary;

    private final List<String> stops = new CopyOnWriteArrayList<>();
    private final List<Standing> standings = new CopyOnWriteArrayList<>();
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

    private OnceClient open() throws Exception {
        return OnceClient.at(server.connect() + "/app")
                .name("bank")
                .folder(temporary.resolve("folder"))
                .sessionTimeout(Duration.ofSeconds(20))
                .onStop(stops::add)
                .onEphemeral((path, standing) -> standings.add(standing))
                .open();
    }

    /** Whose the node is; 0 where there is none. */
    private long owner() throws Exception {
        Stat stat = reader.exists(AT, false);
        return stat == null ? 0 : stat.getEphemeralOwner();
    }

    private void awaitOwnerOtherThan(long... others) {
        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(owner()).isNotZero().isNotIn(boxed(others)));
    }

    private static Object[] boxed(long... values) {
        return Arrays.stream(values).boxed().toArray();
    }

    private ZooKeeper stranger() throws Exception {
        ZooKeeper stranger = new ZooKeeper(server.connect(), 30_000, event -> {});
        stranger.create(AT, OTHER, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        return stranger;
    }

    @Test
    void itIsThereWhileDeclared() throws Exception {
        try (OnceClient client = open()) {
            settled(client.declareEphemeral("/at", DATA));
            assertThat(owner()).isNotZero();
            assertThat(reader.getData(AT, false, null)).isEqualTo(DATA);
            // The same again is nothing new.
            settled(client.declareEphemeral("/at", DATA));
            settled(client.withdraw("/at"));
            assertThat(reader.exists(AT, false)).isNull();
            // Told on a thread of its own, when the order is settled already.
            await().untilAsserted(
                            () ->
                                    assertThat(standings)
                                            .containsExactly(
                                                    new Standing.Held(), new Standing.Withdrawn()));
            assertThatThrownBy(() -> settled(client.withdraw("/at")))
                    .hasMessageContaining("/at is not declared");
        }
    }

    @Test
    void itIsMadeAgainInTheNextSession() throws Exception {
        try (OnceClient client = open()) {
            settled(client.declareEphemeral("/at", DATA));
            long first = owner();
            server.expireAllBut(reader.getSessionId());
            awaitOwnerOtherThan(first);
            client.create("/n", DATA);
        }
        // A client that ends takes it along.
        assertThat(reader.exists(AT, false)).isNull();
        assertThat(stops).isEmpty();
    }

    @Test
    void itIsMadeAgainAfterARestart() throws Exception {
        try (OnceClient client = open()) {
            settled(client.declareEphemeral("/at", DATA));
            settled(client.declareEphemeral("/gone", DATA));
            settled(client.withdraw("/gone"));
        }
        // As after a crash: an older session has it, which lives on for a while.
        ZooKeeper older = stranger();
        standings.clear();
        try (OnceClient client = open()) {
            // Behind what it does at its start.
            client.create("/n", DATA);
            CompletableFuture<Void> held = client.declareEphemeral("/at", DATA);
            CompletableFuture<Void> other = client.declareEphemeral("/other", DATA);
            settled(other);
            assertThat(owner()).isEqualTo(older.getSessionId());
            assertThat(held).isNotDone();
            server.expire(older.getSessionId());
            settled(held);
            assertThat(owner()).isNotZero().isNotEqualTo(older.getSessionId());
            assertThat(reader.getData(AT, false, null)).isEqualTo(DATA);
            assertThat(reader.exists("/app/gone", false)).isNull();
        }
        older.close();
    }

    @Test
    void aDeclarationOfAnEarlierStartNeedsNoOther() throws Exception {
        try (OnceClient client = open()) {
            settled(client.declareEphemeral("/at", DATA));
        }
        assertThat(owner()).isZero();
        try (OnceClient client = open()) {
            awaitOwnerOtherThan();
            assertThat(reader.getData(AT, false, null)).isEqualTo(DATA);
            settled(client.withdraw("/at"));
            assertThat(owner()).isZero();
        }
        try (OnceClient client = open()) {
            settled(client.declareEphemeral("/other", DATA));
            assertThat(owner()).isZero();
        }
    }

    @Test
    void otherDataTakeThePlaceOfTheOld() throws Exception {
        try (OnceClient client = open()) {
            settled(client.declareEphemeral("/at", DATA));
            settled(client.declareEphemeral("/at", OTHER));
            assertThat(reader.getData(AT, false, null)).isEqualTo(OTHER);
            // Given at once, the last one counts.
            CompletableFuture<Void> gone = client.withdraw("/at");
            CompletableFuture<Void> held = client.declareEphemeral("/at", DATA);
            settled(gone);
            settled(held);
            assertThat(reader.getData(AT, false, null)).isEqualTo(DATA);
        }
        try (OnceClient client = open()) {
            settled(client.declareEphemeral("/at", OTHER));
            assertThat(reader.getData(AT, false, null)).isEqualTo(OTHER);
        }
    }

    @Test
    void aStrangersIsWaitedOutAndNeverDeleted() throws Exception {
        try (OnceClient client = open()) {
            client.create("/n", DATA);
            ZooKeeper stranger = stranger();
            CompletableFuture<Void> first = client.declareEphemeral("/at", DATA);
            settled(client.withdraw("/at"));
            assertThatThrownBy(() -> settled(first)).hasMessageContaining("/at was withdrawn");
            assertThat(owner()).isEqualTo(stranger.getSessionId());
            CompletableFuture<Void> second = client.declareEphemeral("/at", DATA);
            stranger.close();
            settled(second);
            // What somebody else deletes is made again.
            reader.delete(AT, -1);
            awaitOwnerOtherThan();
        }
    }

    /** The parent's version is a condition: where it has moved, the marker is replaced first. */
    @Test
    void aCreateDependsOnTheParent() throws Exception {
        try (OnceClient client = open()) {
            client.create("/n", DATA);
            List<String> before = reader.getChildren("/app/once/bank", false);
            reader.setData("/app/once/bank", new byte[0], -1);
            settled(client.declareEphemeral("/at", DATA));
            assertThat(reader.getChildren("/app/once/bank", false)).hasSize(1).isNotEqualTo(before);
            client.setData("/n", DATA, 0);
        }
        assertThat(stops).isEmpty();
    }

    @Test
    void whatIsRefusedIsToldAndTriedAgain() throws Exception {
        try (OnceClient client = open()) {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> settled(client.declareEphemeral("/dir/at", DATA)))
                        .hasCauseInstanceOf(KeeperException.NoNodeException.class)
                        .hasMessageContaining("/dir/at");
            }
            client.create("/dir", DATA);
            settled(client.declareEphemeral("/dir/at", DATA));
            assertThat(reader.exists("/app/dir/at", false).getEphemeralOwner()).isNotZero();
            assertThatThrownBy(() -> settled(client.declareEphemeral("/dir", DATA)))
                    .hasCauseInstanceOf(KeeperException.NodeExistsException.class);
            settled(client.withdraw("/dir"));
            assertThat(reader.exists("/app/dir", false)).isNotNull();
        }
    }

    @Test
    void aServerThatGoesAndComesCostsNothing() throws Exception {
        try (OnceClient client = open()) {
            client.create("/n", DATA);
            server.stop();
            CompletableFuture<Void> held = client.declareEphemeral("/at", DATA);
            server.start();
            settled(held);
            client.setData("/n", DATA, 0);
            awaitOwnerOtherThan();
        }
        assertThat(stops).isEmpty();
    }

    /** Nothing is submitted, and the client notices all the same. */
    @Test
    void anEnsembleThatLostItsDataIsNoticed() throws Exception {
        try (OnceClient client = open()) {
            settled(client.declareEphemeral("/at", DATA));
            server.stop();
            server.startEmpty();
            await().untilAsserted(
                            () ->
                                    assertThat(stops)
                                            .singleElement()
                                            .asString()
                                            .contains("the marker of client bank is missing"));
            assertThatThrownBy(() -> settled(client.declareEphemeral("/at", OTHER)))
                    .hasCauseInstanceOf(StoppedException.class);
        }
    }

    @Test
    void whoWaitsIsToldThatTheClientEnds() throws Exception {
        CompletableFuture<Void> held;
        ZooKeeper stranger;
        try (OnceClient client = open()) {
            client.create("/n", DATA);
            stranger = stranger();
            held = client.declareEphemeral("/at", DATA);
            client.setData("/n", DATA, 0);
            assertThat(held).isNotDone();
        }
        stranger.close();
        assertThatThrownBy(() -> settled(held)).hasCauseInstanceOf(StoppedException.class);
    }

    @Test
    void badInputIsRefused() throws Exception {
        try (OnceClient client = open()) {
            assertThatThrownBy(() -> client.declareEphemeral("at", DATA))
                    .hasMessageContaining("Path must start with /");
            assertThatThrownBy(() -> client.declareEphemeral("/", DATA))
                    .hasMessageContaining("/ is there already");
            assertThatThrownBy(() -> client.declareEphemeral("/at", null))
                    .hasMessageContaining("/at: data may be empty, not null");
            assertThatThrownBy(() -> client.declareEphemeral("/at", DATA, List.of()))
                    .hasMessageContaining("/at: one ACL or more");
            assertThatThrownBy(() -> client.declareEphemeral("/once/bank/x", DATA))
                    .hasMessageContaining("nobody but the client itself writes below /once/bank");
            assertThatThrownBy(() -> client.declareEphemeral("/at", new byte[1 << 20]))
                    .hasMessageContaining("ephemeral /at has 10486")
                    .hasMessageContaining("jute.maxbuffer");
        }
    }
}
