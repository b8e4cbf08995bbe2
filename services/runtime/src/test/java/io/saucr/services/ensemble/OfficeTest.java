package io.saucr.services.ensemble;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.head.Head;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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

/**
 * Offices of one service at a real server, which stops, forgets sessions and is written to by
 * others.
 */
class OfficeTest {

    private static final Birth BIRTH = new Birth(1, 1);
    private static final Incarnation FIRST = new Incarnation(BIRTH, 1, 10);
    private static final Incarnation SECOND = new Incarnation(BIRTH, 2, 20);

    @TempDir private Path data;

    private final List<String> lost = new CopyOnWriteArrayList<>();
    private TestServer server;
    private ZooKeeper reader;

    @BeforeEach
    void startServer() throws Exception {
        server = new TestServer(data);
        reader = new ZooKeeper(server.connect(), 30_000, event -> {});
    }

    @AfterEach
    void stopServer() throws Exception {
        reader.close(1_000);
        server.close();
    }

    private Office office(String path, long confirmed, Incarnation... known) {
        return office(Duration.ofSeconds(10), path, confirmed, known);
    }

    private Office office(Duration timeout, String path, long confirmed, Incarnation... known) {
        return office("127.0.0.1:" + (7000 + known.length), timeout, path, confirmed, known);
    }

    private Office office(
            String address, Duration timeout, String path, long confirmed, Incarnation... known) {
        return new Office(
                new Office.Place(
                        server.connect(),
                        path,
                        Optional.of(address),
                        timeout,
                        Optional.empty(),
                        ZooDefs.Ids.OPEN_ACL_UNSAFE),
                known[known.length - 1],
                List.of(known),
                confirmed,
                Optional.empty(),
                lost::add);
    }

    private Incarnation holder() throws Exception {
        return Head.decode(reader.getData("/apps/bank/head", false, null)).holder();
    }

    private String address() throws InterruptedException {
        try {
            return new String(reader.getData("/apps/bank/at", false, null), UTF_8);
        } catch (KeeperException e) {
            return e.code().name();
        }
    }

    @Test
    void theFirstStartMakesTheHeadAndSaysWhereItIs() throws Exception {
        try (Office office = office("/apps/bank", 0, FIRST)) {
            office.take();
            assertThat(holder()).isEqualTo(FIRST);
            await().untilAsserted(() -> assertThat(address()).isEqualTo("127.0.0.1:7001"));
        }
        await().untilAsserted(() -> assertThat(address()).isEqualTo("NONODE"));
        assertThat(holder()).isEqualTo(FIRST);
    }

    @Test
    void aStartAfterADeathReplacesTheAddressThatIsLeft() throws Exception {
        Office dead = office("/apps/bank", 0, FIRST);
        dead.take();
        await().untilAsserted(() -> assertThat(address()).isEqualTo("127.0.0.1:7001"));

        try (Office next = office("/apps/bank", 1, FIRST, SECOND)) {
            next.take();
            await().untilAsserted(() -> assertThat(address()).isEqualTo("127.0.0.1:7002"));
            assertThat(holder()).isEqualTo(SECOND);
            await().untilAsserted(() -> assertThat(lost).hasSize(1));
            assertThat(lost.get(0)).contains("/apps/bank was taken by incarnation 2");
        }
    }

    /** As a service does that always listens at the same port, killed a moment ago. */
    @Test
    void aStartAtTheAddressOfTheLastOneIsNotTakenForAnother() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            String address = "127.0.0.1:" + socket.getLocalPort();
            Duration timeout = Duration.ofSeconds(10);
            Office dead = office(address, timeout, "/apps/bank", 0, FIRST);
            dead.take();
            await().untilAsserted(() -> assertThat(address()).isEqualTo(address));

            Office elsewhere = office("/apps/bank", 1, FIRST, SECOND);
            assertThatThrownBy(elsewhere::take)
                    .isInstanceOf(Office.RefusedException.class)
                    .hasMessageContaining("runs at " + address);
            try (Office next = office(address, timeout, "/apps/bank", 1, FIRST, SECOND)) {
                next.take();
                assertThat(holder()).isEqualTo(SECOND);
            }
            dead.close();
        }
    }

    @Test
    void aCopyThatWasStartedTwiceIsRefused() throws Exception {
        try (Office original = office("/apps/bank", 0, FIRST)) {
            original.take();
            Office copy = office("/apps/bank", 0, new Incarnation(BIRTH, 1, 11));
            assertThatThrownBy(copy::take)
                    .isInstanceOf(Office.RefusedException.class)
                    .hasMessageContaining("old copy or a twin");
            assertThat(holder()).isEqualTo(FIRST);
        }
    }

    @Test
    void aHeadThatIsGoneIsNotMadeAnew() throws Exception {
        try (Office office = office("/apps/bank", 0, FIRST)) {
            office.take();
            reader.delete("/apps/bank/head", -1);
            await().untilAsserted(() -> assertThat(lost).hasSize(1));
        }
        assertThatThrownBy(() -> office("/apps/bank", 1, FIRST, SECOND).take())
                .hasMessageContaining("Nothing is created anew");
        assertThat(reader.exists("/apps/bank/head", false)).isNull();
    }

    @Test
    void aHeadOfAnotherFormatIsLeftAlone() throws Exception {
        reader.create("/svc", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        reader.create(
                "/svc/head",
                "other".getBytes(UTF_8),
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                CreateMode.PERSISTENT);
        assertThatThrownBy(() -> office("/svc", 0, FIRST).take())
                .hasMessageContaining("the head of /svc can't be read: it says \"other\"")
                .hasMessageContaining("Nothing was changed");
        assertThat(new String(reader.getData("/svc/head", false, null), UTF_8)).isEqualTo("other");
    }

    @Test
    void aStartWaitsForTheEnsemble() throws Exception {
        server.stop();
        try (Office office = office("/apps/bank", 0, FIRST)) {
            CompletableFuture<Void> took =
                    CompletableFuture.runAsync(
                            () -> {
                                try {
                                    office.take();
                                } catch (Office.RefusedException | InterruptedException e) {
                                    throw new IllegalStateException(e);
                                }
                            });
            assertThat(took).isNotDone();
            server.start();
            took.join();
            // The reader may come back later.
            await().ignoreExceptions().untilAsserted(() -> assertThat(holder()).isEqualTo(FIRST));
        }
    }

    @Test
    void theHolderOutlivesTheEnsembleAndItsSession() throws Exception {
        try (Office office = office("/apps/bank", 0, FIRST)) {
            office.take();
            await().untilAsserted(() -> assertThat(address()).isEqualTo("127.0.0.1:7001"));

            server.stop();
            server.start();
            Stat before =
                    await().ignoreExceptions()
                            .until(() -> reader.exists("/apps/bank/at", false), s -> s != null);
            server.expire(before.getEphemeralOwner());

            await().ignoreExceptions()
                    .untilAsserted(
                            () ->
                                    assertThat(
                                                    reader.exists("/apps/bank/at", false)
                                                            .getEphemeralOwner())
                                            .isNotEqualTo(before.getEphemeralOwner()));
            assertThat(lost).isEmpty();
            assertThat(holder()).isEqualTo(FIRST);
        }
    }

    @Test
    void anEnsembleFromBeforeIsNoticed() throws Exception {
        try (Office office = office(Duration.ofSeconds(1), "/apps/bank", 0, FIRST)) {
            office.take();
            await().untilAsserted(() -> assertThat(address()).isEqualTo("127.0.0.1:7001"));
            server.stop();
            server.startEmpty();
            await().untilAsserted(() -> assertThat(lost).hasSize(1));
            assertThat(lost.get(0)).contains("the head of /apps/bank is gone");
        }
    }

    @Test
    void whoIsNotAllowedToReadTheHeadIsTold() throws Exception {
        reader.addAuthInfo("digest", "eu:secret".getBytes(UTF_8));
        reader.create("/closed", new byte[0], ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        assertThatThrownBy(() -> office("/closed", 0, FIRST).take())
                .hasMessageContaining(server.connect() + " refused: ")
                .hasMessageContaining("NoAuth for /closed");
    }

    @Test
    void aPathThatIsNoneIsRefused() {
        assertThatThrownBy(() -> office("bank", 0, FIRST)).hasMessageContaining("not \"bank\"");
        assertThatThrownBy(() -> office("/", 0, FIRST)).hasMessageContaining("not \"/\"");
    }

    @Test
    void anOfficeThatIsClosedWhileItWaitsEndsTheWait() throws Exception {
        server.stop();
        Office office = office("/apps/bank", 0, FIRST);
        CompletableFuture<Throwable> ended =
                CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                office.take();
                                return null;
                            } catch (Office.RefusedException | InterruptedException e) {
                                return e;
                            }
                        });
        office.close();
        assertThat(ended.get()).hasMessageContaining("closed before it had the head");
    }
}
