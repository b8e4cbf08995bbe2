package io.saucr.services.ensemble;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names at a real server, which stops and forgets sessions. */
class NamesTest {

    @TempDir private Path data;

    private final List<String> told = new CopyOnWriteArrayList<>();
    private TestServer server;
    private ZooKeeper writer;
    private Names names;

    @BeforeEach
    void startServer() throws Exception {
        server = new TestServer(data);
        writer = new ZooKeeper(server.connect(), 30_000, event -> {});
        names = new Names(server.connect(), Duration.ofSeconds(10), Optional.empty());
    }

    @AfterEach
    void stopServer() throws Exception {
        names.close();
        writer.close(1_000);
        server.close();
    }

    private void create(String path, String content) throws Exception {
        writer.create(
                path, content.getBytes(UTF_8), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    private void awaitTold(String... expected) {
        await().untilAsserted(() -> assertThat(told).containsExactly(expected));
    }

    @Test
    void everyChangeIsToldFromThePathThatIsNotThereYet() throws Exception {
        names.follow("/bank", address -> told.add(address.orElse("nobody")));
        awaitTold("nobody");

        create("/bank", "");
        create("/bank/at", "127.0.0.1:7001");
        awaitTold("nobody", "127.0.0.1:7001");

        writer.setData("/bank/at", "127.0.0.1:7002".getBytes(UTF_8), -1);
        awaitTold("nobody", "127.0.0.1:7001", "127.0.0.1:7002");

        writer.delete("/bank/at", -1);
        awaitTold("nobody", "127.0.0.1:7001", "127.0.0.1:7002", "nobody");
    }

    @Test
    void whoRegistersTheSameAddressAnewIsTold() throws Exception {
        create("/bank", "");
        create("/bank/at", "127.0.0.1:7001");
        names.follow("/bank", address -> told.add(address.orElse("nobody")));
        awaitTold("127.0.0.1:7001");

        // As an office does: nobody sees it go.
        List<OpResult> unused =
                writer.multi(
                        List.of(
                                Op.delete("/bank/at", -1),
                                Op.create(
                                        "/bank/at",
                                        "127.0.0.1:7001".getBytes(UTF_8),
                                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                                        CreateMode.PERSISTENT)));
        awaitTold("127.0.0.1:7001", "127.0.0.1:7001");
        // A look for another reason tells nothing.
        server.stop();
        server.start();
        await().ignoreExceptions()
                .until(
                        () ->
                                writer.setData("/bank/at", "127.0.0.1:7002".getBytes(UTF_8), -1)
                                        != null);
        awaitTold("127.0.0.1:7001", "127.0.0.1:7001", "127.0.0.1:7002");
    }

    @Test
    void aZnodeWithoutContentIsAnAddressOfNoUse() throws Exception {
        create("/bank", "");
        String unused =
                writer.create("/bank/at", null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        names.follow("/bank", address -> told.add(address.orElse("nobody")));
        awaitTold("");
    }

    @Test
    void theAddressKnownLastStaysWhileTheEnsembleIsAway() throws Exception {
        create("/bank", "");
        create("/bank/at", "127.0.0.1:7001");
        names.follow("/bank", address -> told.add(address.orElse("nobody")));
        awaitTold("127.0.0.1:7001");

        server.stop();
        server.start();
        await().ignoreExceptions()
                .until(
                        () ->
                                writer.setData("/bank/at", "127.0.0.1:7002".getBytes(UTF_8), -1)
                                        != null);
        awaitTold("127.0.0.1:7001", "127.0.0.1:7002");
    }

    @Test
    void anEnsembleFromBeforeIsAskedWithAnotherSession() throws Exception {
        create("/bank", "");
        create("/bank/at", "127.0.0.1:7001");
        Names impatient = new Names(server.connect(), Duration.ofSeconds(1), Optional.empty());
        impatient.follow("/bank", address -> told.add(address.orElse("nobody")));
        awaitTold("127.0.0.1:7001");

        server.stop();
        server.startEmpty();
        awaitTold("127.0.0.1:7001", "nobody");
        impatient.close();
    }

    @Test
    void aSessionThatExpiresIsOpenedAgain() throws Exception {
        create("/bank", "");
        create("/bank/at", "127.0.0.1:7001");
        names.follow("/bank", address -> told.add(address.orElse("nobody")));
        awaitTold("127.0.0.1:7001");

        server.expireAllBut(writer.getSessionId());
        writer.setData("/bank/at", "127.0.0.1:7002".getBytes(UTF_8), -1);
        awaitTold("127.0.0.1:7001", "127.0.0.1:7002");
    }

    @Test
    void severalMayFollowOneName() throws Exception {
        create("/bank", "");
        create("/bank/at", "127.0.0.1:7001");
        names.follow("/bank", address -> told.add("a " + address.orElse("nobody")));
        awaitTold("a 127.0.0.1:7001");
        names.follow("/bank", address -> told.add("b " + address.orElse("nobody")));
        awaitTold("a 127.0.0.1:7001", "b 127.0.0.1:7001");
    }

    @Test
    void allOfAProcessShareASessionAndWhoIsClosedHearsNothing() throws Exception {
        create("/bank", "");
        create("/bank/at", "127.0.0.1:7001");
        names.follow("/bank", address -> told.add("a " + address.orElse("nobody")));
        awaitTold("a 127.0.0.1:7001");
        try (Names other = new Names(server.connect(), Duration.ofSeconds(10), Optional.empty())) {
            other.follow("/bank", address -> told.add("b " + address.orElse("nobody")));
            awaitTold("a 127.0.0.1:7001", "b 127.0.0.1:7001");
            // The writer's, and theirs.
            assertThat(server.sessions()).isEqualTo(2);
        }
        writer.setData("/bank/at", "127.0.0.1:7002".getBytes(UTF_8), -1);
        awaitTold("a 127.0.0.1:7001", "b 127.0.0.1:7001", "a 127.0.0.1:7002");
        names.close();
        await().untilAsserted(() -> assertThat(server.sessions()).isEqualTo(1));
    }
}
