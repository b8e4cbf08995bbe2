package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.ensemble.LoopbackHosting.Disk;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Many nodes, many sessions and the largest transactions, in fast mode, while a follower and then
 * the leader crash. {@code -Dsaucr.tests.znodes=1000000} makes as many nodes as an operator may
 * have.
 */
@NeedsCompiler
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LargeDataIT {
    private static final int NODES = Integer.getInteger("saucr.tests.znodes", 100_000);
    private static final int SESSIONS = Math.min(NODES / 50, 10_000);
    private static final int AT_A_TIME = 100;
    private static final int OPERATIONS = 500;
    private static final int SESSION_MILLIS = 600_000;

    /** The default of jute.maxbuffer, in bytes. */
    private static final int LARGEST_PACKET = 0xfffff;

    /**
     * What a request that sets data has besides path and data: two numbers, two lengths, the
     * version.
     */
    private static final int SET_DATA_BYTES = 5 * Integer.BYTES;

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        int megabytes = 256 + NODES / 400;
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("large-data", 3)
                                .jvmFlag("-Xmx" + megabytes + "m")
                                .set("tickTime", "2000")
                                .set("maxSessionTimeout", Integer.toString(SESSION_MILLIS))
                                // Garbage collection of such a heap may take that long.
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.missedHeartbeatsBeforeElection", "5")
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("saucr.idleFlush", "1h")
                                .disk(Disk.SHIM_WITH_JOURNAL));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    private interface Check {
        void run() throws Exception;
    }

    /** A follower and then the leader lose power in fast mode, and both recover. */
    private static void survivesCrashes(Check check) throws Exception {
        int leader = ensemble.awaitFast();
        int follower = ensemble.followers().get(0);
        for (int victim : new int[] {follower, leader}) {
            LocalTime before = ensemble.losePowerInFastMode(victim);
            long start = System.nanoTime();
            ensemble.awaitServing();
            check.run();
            ensemble.restart(victim);
            ensemble.awaitServing();
            assertThat(ensemble.log(victim, before, "Recovered through")).isNotEmpty();
            ensemble.awaitFast();
            System.out.println(
                    "server "
                            + victim
                            + " was back and all were fast "
                            + Duration.ofNanos(System.nanoTime() - start).toMillis()
                            + " ms after its death");
        }
        check.run();
    }

    @Tag("long")
    @Test
    @Order(1)
    void transactionsUpToTheLimitAndNoneAboveIt() throws Exception {
        String path = "/limit";
        int most = LARGEST_PACKET - SET_DATA_BYTES - path.length();
        byte[] data = new byte[most];
        new Random(3).nextBytes(data);
        ZKClientConfig wide = new ZKClientConfig();
        wide.setProperty(ZKClientConfig.JUTE_MAXBUFFER, Integer.toString(2 * LARGEST_PACKET));
        ensemble.awaitFast();
        for (int id : ensemble.all()) {
            String address = ensemble.server(id).address().client();
            try (Client client = Client.connected(address, SESSION_MILLIS, wide)) {
                if (client.exists(path, false) == null) {
                    client.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                }
                client.setData(path, data, -1);
                assertThatThrownBy(() -> client.setData(path, new byte[most + 1], -1))
                        .isInstanceOf(KeeperException.ConnectionLossException.class);
                SaucrEnsemble.await("what was written", () -> shows(client, path, data));
            }
        }
        survivesCrashes(
                () -> {
                    for (int id : ensemble.running()) {
                        String address = ensemble.server(id).address().client();
                        try (Client client = Client.connected(address, SESSION_MILLIS, wide)) {
                            assertThat(shows(client, path, data)).isTrue();
                        }
                    }
                });
    }

    /** False while the client has no connection. */
    private static boolean shows(Client client, String path, byte[] data) throws Exception {
        try {
            client.sync(path, (code, synced, context) -> {}, null);
            assertThat(client.getData(path, false, null)).isEqualTo(data);
            return true;
        } catch (KeeperException.ConnectionLossException e) {
            return false;
        }
    }

    @Tag("long")
    @Test
    @Order(2)
    void manyNodesAndSessions() throws Exception {
        ensemble.awaitFast();
        long start = System.nanoTime();
        List<RawSession> sessions = new ArrayList<>();
        try (Client client = ensemble.connectFor(SESSION_MILLIS)) {
            client.create("/sessions", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            for (int from = 0; from < NODES; from += OPERATIONS) {
                String parent = "/p" + from;
                List<Op> operations = new ArrayList<>();
                operations.add(create(parent));
                for (int node = 1; node < OPERATIONS; node++) {
                    operations.add(create(parent + "/n" + node));
                }
                client.multi(operations);
            }
            while (sessions.size() < SESSIONS) {
                sessions.addAll(moreSessions(sessions.size()));
            }
        }
        System.out.println(
                NODES
                        + " nodes and "
                        + SESSIONS
                        + " sessions in "
                        + Duration.ofNanos(System.nanoTime() - start).toMillis()
                        + " ms");
        try {
            survivesCrashes(LargeDataIT::assertNothingMissing);
            int alive = 0;
            for (int i = 0; i < SESSIONS; i++) {
                sessions.get(i).move(ensemble.server(1 + (i + 1) % 3).address().clientPort());
                if (i % AT_A_TIME == AT_A_TIME - 1) {
                    for (RawSession session : sessions.subList(i + 1 - AT_A_TIME, i + 1)) {
                        alive += session.awaitSession() == 0 ? 0 : 1;
                    }
                }
            }
            assertThat(alive).as("sessions that go on at another server").isEqualTo(SESSIONS);
        } finally {
            for (RawSession session : sessions) {
                session.close();
            }
        }
    }

    private static List<RawSession> moreSessions(int from) throws Exception {
        List<RawSession> sessions = new ArrayList<>();
        for (int i = 0; i < AT_A_TIME; i++) {
            int port = ensemble.server(1 + i % 3).address().clientPort();
            sessions.add(RawSession.ask(port, SESSION_MILLIS));
        }
        for (int i = 0; i < AT_A_TIME; i++) {
            assertThat(sessions.get(i).awaitSession()).isNotZero();
            sessions.get(i).createEphemeral("/sessions/s" + (from + i));
        }
        for (RawSession session : sessions) {
            assertThat(session.awaitAnswer()).isZero();
        }
        return sessions;
    }

    private static Op create(String path) {
        return Op.create(path, new byte[50], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    private static void assertNothingMissing() {
        // A follower may be behind the one that answered.
        for (int id : ensemble.running()) {
            SaucrEnsemble.await(
                    "nodes of server " + id,
                    () -> ensemble.metric(id, "zk_znode_count") >= NODES + SESSIONS);
            SaucrEnsemble.await(
                    "ephemeral nodes of server " + id,
                    () -> ensemble.metric(id, "zk_ephemerals_count") == SESSIONS);
        }
    }
}
