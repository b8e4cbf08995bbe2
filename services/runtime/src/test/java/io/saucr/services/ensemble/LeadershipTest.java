package io.saucr.services.ensemble;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Leaderships of one service at a real server, which stops, forgets sessions and is written to by
 * others.
 */
class LeadershipTest {

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

    private Leadership leadership(String path, long confirmed, Incarnation... known) {
        return leadership(Duration.ofSeconds(10), path, confirmed, known);
    }

    private Leadership leadership(
            Duration timeout, String path, long confirmed, Incarnation... known) {
        return leadership("127.0.0.1:" + (7000 + known.length), timeout, path, confirmed, known);
    }

    private Leadership leadership(
            String address, Duration timeout, String path, long confirmed, Incarnation... known) {
        return new Leadership(
                new ServicePath(
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
        try (Leadership leadership = leadership("/apps/bank", 0, FIRST)) {
            leadership.take();
            assertThat(holder()).isEqualTo(FIRST);
            await().untilAsserted(() -> assertThat(address()).isEqualTo("127.0.0.1:7001"));
        }
        await().untilAsserted(() -> assertThat(address()).isEqualTo("NONODE"));
        assertThat(holder()).isEqualTo(FIRST);
    }

    @Test
    void aStartAfterADeathReplacesTheAddressThatIsLeft() throws Exception {
        Leadership dead = leadership("/apps/bank", 0, FIRST);
        dead.take();
        await().untilAsserted(() -> assertThat(address()).isEqualTo("127.0.0.1:7001"));

        try (Leadership next = leadership("/apps/bank", 1, FIRST, SECOND)) {
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
            Leadership dead = leadership(address, timeout, "/apps/bank", 0, FIRST);
            dead.take();
            await().untilAsserted(() -> assertThat(address()).isEqualTo(address));

            Leadership elsewhere = leadership("/apps/bank", 1, FIRST, SECOND);
            assertThatThrownBy(elsewhere::take)
                    .isInstanceOf(Leadership.RefusedException.class)
                    .hasMessageContaining("runs at " + address);
            try (Leadership next = leadership(address, timeout, "/apps/bank", 1, FIRST, SECOND)) {
                next.take();
                assertThat(holder()).isEqualTo(SECOND);
            }
            dead.close();
        }
    }

    @Test
    void aCopyThatWasStartedTwiceIsRefused() throws Exception {
        try (Leadership original = leadership("/apps/bank", 0, FIRST)) {
            original.take();
            Leadership copy = leadership("/apps/bank", 0, new Incarnation(BIRTH, 1, 11));
            assertThatThrownBy(copy::take)
                    .isInstanceOf(Leadership.RefusedException.class)
                    .hasMessageContaining("old copy or a twin");
            assertThat(holder()).isEqualTo(FIRST);
        }
    }

    @Test
    void aHeadThatIsGoneIsNotMadeAnew() throws Exception {
        try (Leadership leadership = leadership("/apps/bank", 0, FIRST)) {
            leadership.take();
            reader.delete("/apps/bank/head", -1);
            await().untilAsserted(() -> assertThat(lost).hasSize(1));
        }
        assertThatThrownBy(() -> leadership("/apps/bank", 1, FIRST, SECOND).take())
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
        assertThatThrownBy(() -> leadership("/svc", 0, FIRST).take())
                .hasMessageContaining("the head of /svc can't be read: it says \"other\"")
                .hasMessageContaining("Nothing was changed");
        assertThat(new String(reader.getData("/svc/head", false, null), UTF_8)).isEqualTo("other");
    }

    @Test
    void aStartWaitsForTheEnsemble() throws Exception {
        server.stop();
        try (Leadership leadership = leadership("/apps/bank", 0, FIRST)) {
            CompletableFuture<Void> took =
                    CompletableFuture.runAsync(
                            () -> {
                                try {
                                    leadership.take();
                                } catch (Leadership.RefusedException | InterruptedException e) {
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
        try (Leadership leadership = leadership("/apps/bank", 0, FIRST)) {
            leadership.take();
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
        try (Leadership leadership = leadership(Duration.ofSeconds(1), "/apps/bank", 0, FIRST)) {
            leadership.take();
            await().untilAsserted(() -> assertThat(address()).isEqualTo("127.0.0.1:7001"));
            server.stop();
            server.startEmpty();
            await().untilAsserted(() -> assertThat(lost).hasSize(1));
            assertThat(lost.get(0)).contains("the head of /apps/bank is missing");
        }
    }

    @Test
    void whoIsNotAllowedToReadTheHeadIsTold() throws Exception {
        reader.addAuthInfo("digest", "eu:secret".getBytes(UTF_8));
        reader.create("/closed", new byte[0], ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        assertThatThrownBy(() -> leadership("/closed", 0, FIRST).take())
                .hasMessageContaining(server.connect() + " refused: ")
                .hasMessageContaining("NoAuth for /closed");
    }

    @Test
    void aPathThatIsNoneIsRefused() {
        assertThatThrownBy(() -> leadership("bank", 0, FIRST)).hasMessageContaining("not \"bank\"");
        assertThatThrownBy(() -> leadership("/", 0, FIRST)).hasMessageContaining("not \"/\"");
    }

    @Test
    void anOfficeThatIsClosedWhileItWaitsEndsTheWait() throws Exception {
        server.stop();
        Leadership leadership = leadership("/apps/bank", 0, FIRST);
        CompletableFuture<Throwable> ended =
                CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                leadership.take();
                                return null;
                            } catch (Leadership.RefusedException | InterruptedException e) {
                                return e;
                            }
                        });
        leadership.close();
        assertThat(ended.get()).hasMessageContaining("closed before it had the head");
    }

    private long owner(String path) throws Exception {
        return reader.exists(path + "/at", false).getEphemeralOwner();
    }

    private void awaitAddresses() {
        await().ignoreExceptions()
                .untilAsserted(
                        () -> assertThat(owner("/apps/bank")).isEqualTo(owner("/apps/shop")));
    }

    @Test
    void theServicesOfAProcessShareASession() throws Exception {
        Leadership bank = leadership("/apps/bank", 0, FIRST);
        try (Leadership shop = leadership("/apps/shop", 0, FIRST)) {
            bank.take();
            shop.take();
            awaitAddresses();
            // The reader's, and theirs.
            assertThat(server.sessions()).isEqualTo(2);
            long session = owner("/apps/shop");

            bank.close();
            await().untilAsserted(() -> assertThat(address()).isEqualTo("NONODE"));
            assertThat(owner("/apps/shop")).isEqualTo(session);
        }
        await().untilAsserted(() -> assertThat(server.sessions()).isEqualTo(1));
        assertThat(lost).isEmpty();
    }

    @Test
    void whenTheSharedSessionExpiresEachServiceKeepsItsHead() throws Exception {
        try (Leadership bank = leadership("/apps/bank", 0, FIRST);
                Leadership shop = leadership("/apps/shop", 0, FIRST)) {
            bank.take();
            shop.take();
            awaitAddresses();
            long before = owner("/apps/bank");

            server.expire(before);
            await().ignoreExceptions()
                    .untilAsserted(() -> assertThat(owner("/apps/bank")).isNotEqualTo(before));
            awaitAddresses();
            assertThat(lost).isEmpty();
            assertThat(holder()).isEqualTo(FIRST);
        }
    }

    @Test
    void whoLosesItsHeadLeavesTheOthersOfItsSessionAlone() throws Exception {
        Leadership bank = leadership("/apps/bank", 0, FIRST);
        try (Leadership shop = leadership("/apps/shop", 0, FIRST)) {
            bank.take();
            shop.take();
            awaitAddresses();
            long session = owner("/apps/shop");

            // Another process takes the bank, and its address with it.
            Head other = new Head(SECOND, Optional.empty());
            List<OpResult> unused =
                    reader.multi(
                            List.of(
                                    Op.setData("/apps/bank/head", other.encode(), -1),
                                    Op.delete("/apps/bank/at", -1),
                                    Op.create(
                                            "/apps/bank/at",
                                            "elsewhere:1".getBytes(UTF_8),
                                            ZooDefs.Ids.OPEN_ACL_UNSAFE,
                                            CreateMode.EPHEMERAL)));
            await().untilAsserted(() -> assertThat(lost).hasSize(1));
            bank.close();
            try (Leadership third = leadership("/apps/third", 0, FIRST)) {
                // Behind whatever the bank's end asked for, as the session is the same.
                third.take();
            }
            assertThat(address()).isEqualTo("elsewhere:1");
            assertThat(owner("/apps/shop")).isEqualTo(session);
            assertThat(lost).hasSize(1);
        }
    }
}
