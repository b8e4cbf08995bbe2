package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Observers show every acknowledged write and take writes, with a log of their own and without one,
 * whatever happens to them and to their leader; they are never waited for.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ObserversIT {
    private static final int VOTERS = 3;
    private static final int LOGGING = 4;
    private static final int WITHOUT_LOG = 5;
    private static final List<Integer> OBSERVERS = List.of(LOGGING, WITHOUT_LOG);
    private static final byte[] DATA = "value".getBytes(StandardCharsets.UTF_8);

    /** More than a leader keeps in memory for learners. */
    private static final int MANY_WRITES = 700;

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.prepare(
                        SaucrEnsemble.describe("observers", VOTERS)
                                .observers(OBSERVERS.size())
                                .set("localSessionsEnabled", "true")
                                .set("localSessionsUpgradingEnabled", "true")
                                // An observer that stands still is given up.
                                .set("syncLimit", "8")
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1"));
        ensemble.server(WITHOUT_LOG).configure("syncEnabled", "false");
        ensemble.restart(ensemble.all().toArray(Integer[]::new));
        ensemble.awaitServing();
        ensemble.awaitFast();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    private static void create(Client client, String path, CreateMode mode) throws Exception {
        client.create(path, DATA, Ids.OPEN_ACL_UNSAFE, mode);
    }

    private static void awaitShown(Client client, String path) {
        SaucrEnsemble.await(path, () -> client.exists(path, false) != null);
    }

    private static EventType next(BlockingQueue<WatchedEvent> events) throws InterruptedException {
        return events.poll(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS).getType();
    }

    @Test
    @Order(1)
    void anObserverTakesWritesAndShowsThem() throws Exception {
        for (int id : OBSERVERS) {
            String path = "/through-" + id;
            try (Client leaders = ensemble.connect(ensemble.leader());
                    Client client = ensemble.connect(id)) {
                create(client, path, CreateMode.PERSISTENT);
                assertThat(client.setData(path, DATA, 0).getVersion()).isEqualTo(1);
                assertThat(client.getData(path, false, null)).isEqualTo(DATA);
                leaders.setData(path, DATA, 1);
                client.sync(path);
                assertThat(client.exists(path, false).getVersion()).isEqualTo(2);
                client.multi(
                        List.of(
                                Op.check(path, 2),
                                Op.create(
                                        path + "/child",
                                        DATA,
                                        Ids.OPEN_ACL_UNSAFE,
                                        CreateMode.PERSISTENT),
                                Op.setData(path, DATA, 2)));
                BlockingQueue<WatchedEvent> events = new LinkedBlockingQueue<>();
                client.exists(path, events::add);
                leaders.setData(path, DATA, 3);
                assertThat(next(events)).isEqualTo(EventType.NodeDataChanged);
            }
        }
    }

    /** A session that only its observer knew becomes one of the ensemble. */
    @Test
    @Order(2)
    void anEphemeralNodeOfAnObserversClientGoesWithItsSession() throws Exception {
        for (int id : OBSERVERS) {
            String path = "/ephemeral-" + id;
            try (Client reader = ensemble.connect(ensemble.leader())) {
                try (Client client = ensemble.connect(id)) {
                    create(client, path, CreateMode.EPHEMERAL);
                    assertThat(reader.exists(path, false).getEphemeralOwner())
                            .isEqualTo(client.getSessionId());
                }
                SaucrEnsemble.await(path + " gone", () -> reader.exists(path, false) == null);
            }
        }
    }

    @Test
    @Order(3)
    void aKilledObserverComesBackWithWhatItHadLogged() throws Exception {
        try (AckedWrites writes =
                new AckedWrites(ensemble.connect(ensemble.leader()), "/killed", 8)) {
            writes.awaitMore(200);
            for (int id : OBSERVERS) {
                try (Client reader = ensemble.connect(id)) {
                    awaitShown(reader, "/killed");
                }
                ensemble.kill(id);
                writes.awaitMore(200);
                LocalTime returned = SaucrEnsemble.now();
                ensemble.restart(id);
                ensemble.awaitServing();
                assertThat(ensemble.role(id)).isEqualTo("observer");
                if (id == LOGGING) {
                    assertThat(ensemble.log(id, returned, "Getting a diff")).isNotEmpty();
                    assertThat(ensemble.log(id, returned, "Getting a snapshot")).isEmpty();
                }
                writes.awaitMore(100);
            }
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    @Test
    @Order(4)
    void anObserverThatStoodStillCatchesUp() throws Exception {
        for (boolean gone : List.of(false, true)) {
            try (AckedWrites writes =
                    new AckedWrites(
                            ensemble.connect(ensemble.leader()), "/stood-still-" + gone, 8)) {
                writes.awaitMore(100);
                int leader = ensemble.leader();
                LocalTime before = SaucrEnsemble.now();
                ensemble.pause(LOGGING, WITHOUT_LOG);
                writes.awaitMore(gone ? MANY_WRITES : 100);
                if (gone) {
                    SaucrEnsemble.await(
                            "the end of both connections",
                            () -> ensemble.log(leader, before, "GOODBYE").size() >= 2);
                }
                ensemble.resume(LOGGING, WITHOUT_LOG);
                writes.awaitMore(100);
                writes.stop();
                ensemble.awaitServing();
                writes.assertAllOnEachOf(ensemble);
                assertThat(ensemble.leader()).isEqualTo(leader);
            }
        }
    }

    @Test
    @Order(5)
    void writesThroughObserversGoOnWhenTheLeaderDies() throws Exception {
        int victim = ensemble.awaitFast();
        LocalTime before = SaucrEnsemble.now();
        List<AckedWrites> all = new ArrayList<>();
        try (AckedWrites first = new AckedWrites(ensemble.connect(LOGGING), "/one", 8);
                AckedWrites second = new AckedWrites(ensemble.connect(WITHOUT_LOG), "/other", 8)) {
            all.add(first);
            all.add(second);
            for (AckedWrites each : all) {
                each.awaitMore(100);
            }
            ensemble.kill(victim);
            ensemble.leader();
            for (AckedWrites each : all) {
                each.awaitMore(100);
            }
            ensemble.restart(victim);
            ensemble.awaitServing();
            for (AckedWrites each : all) {
                each.awaitMore(100);
                each.stop();
            }
            for (AckedWrites each : all) {
                each.assertAllOnEachOf(ensemble);
            }
            // It goes on with what it has in its memory, which is not on its disk.
            assertThat(ensemble.log(WITHOUT_LOG, before, "loading anew")).isEmpty();
        }
    }

    /** It follows a follower, which passes on what it gets. */
    @Test
    void anObserverOfAFollowerTakesWritesAndSyncs() throws Exception {
        int master = 1;
        int observer = VOTERS + 1;
        try (SaucrEnsemble own =
                SaucrEnsemble.prepare(
                        SaucrEnsemble.describe("observer-master", VOTERS).observers(1))) {
            // No other server opens it, and no server has a page.
            String port = Integer.toString(own.server(master).address().adminPort());
            own.server(master).configure("observerMasterPort", port);
            own.server(observer).configure("observerMasterPort", port);
            own.restart(2, VOTERS);
            own.awaitServing();
            own.restart(master, observer);
            own.awaitServing();
            SaucrEnsemble.await(
                    "an observer of the follower",
                    () -> own.metric(master, "zk_synced_observers") == 1);
            try (AckedWrites writes = new AckedWrites(own.connect(observer), "/master", 8);
                    Client leaders = own.connect(own.leader());
                    Client client = own.connect(observer)) {
                writes.awaitMore(200);
                create(leaders, "/synced", CreateMode.PERSISTENT);
                client.sync("/synced");
                assertThat(client.exists("/synced", false)).isNotNull();
                own.kill(observer);
                own.restart(observer);
                own.awaitServing();
                writes.awaitMore(200);
                writes.stop();
                writes.assertAllOnEachOf(own);
            }
        }
    }

    @Tag("long")
    @Test
    void withTlsAnObserverTakesWritesToo() throws Exception {
        Path folder = Files.createDirectories(SaucrEnsemble.folder("observers-tls-keys"));
        Path keys = Certificates.keys(folder.resolve("keys.p12"));
        Path trusted = Certificates.certificateOf(keys, folder.resolve("trusted.p12"));
        try (SaucrEnsemble secured =
                        SaucrEnsemble.start(
                                SaucrEnsemble.describe("observers-tls", VOTERS)
                                        .observers(1)
                                        .set("syncLimit", "40")
                                        .set("sslQuorum", "true")
                                        .set("ssl.quorum.keyStore.location", keys.toString())
                                        .set("ssl.quorum.keyStore.password", Certificates.PASSWORD)
                                        .set("ssl.quorum.trustStore.location", trusted.toString())
                                        .set(
                                                "ssl.quorum.trustStore.password",
                                                Certificates.PASSWORD));
                AckedWrites writes = new AckedWrites(secured.connect(LOGGING), "/secured", 8)) {
            writes.awaitMore(100);
            secured.kill(LOGGING);
            secured.restart(LOGGING);
            secured.awaitServing();
            writes.awaitMore(100);
            writes.stop();
            writes.assertAllOnEachOf(secured);
        }
    }

    /** H12: packets between observers and leaders are ZooKeeper's. */
    @Tag("long")
    @Test
    void h12ObserversOfEitherKindFollowLeadersOfEitherKind() throws Exception {
        for (boolean oursLead : List.of(true, false)) {
            var builder =
                    SaucrEnsemble.describe("observers-mixed-" + oursLead, VOTERS)
                            .observers(2)
                            .distribution(WITHOUT_LOG, Distribution.stock());
            for (int id = 1; id <= VOTERS && !oursLead; id++) {
                builder.distribution(id, Distribution.stock());
            }
            try (SaucrEnsemble mixed = SaucrEnsemble.start(builder);
                    AckedWrites ours = new AckedWrites(mixed.connect(LOGGING), "/ours", 8);
                    AckedWrites apaches =
                            new AckedWrites(mixed.connect(WITHOUT_LOG), "/apaches", 8)) {
                for (int round = 0; round < 2; round++) {
                    ours.awaitMore(100);
                    apaches.awaitMore(100);
                    int victim = round == 0 ? mixed.leader() : LOGGING;
                    mixed.kill(victim);
                    apaches.awaitMore(100);
                    mixed.restart(victim);
                    mixed.awaitServing();
                }
                ours.awaitMore(100);
                ours.stop();
                apaches.stop();
                ours.assertAllOnEachOf(mixed);
                apaches.assertAllOnEachOf(mixed);
            }
        }
    }
}
