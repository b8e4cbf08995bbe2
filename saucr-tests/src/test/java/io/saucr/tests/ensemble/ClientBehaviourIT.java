package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.StatsTrack;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.cli.SetQuotaCommand;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What Apache's server promises its clients also holds with SAUCR on, in fast mode and with an
 * observer.
 */
class ClientBehaviourIT {
    private static final int TICK_MILLIS = 500;
    private static final int SESSION_MILLIS = 3_000;
    private static final int VOTERS = 3;
    private static final int OBSERVER = 4;
    private static final byte[] DATA = "value".getBytes(StandardCharsets.UTF_8);

    private static SaucrEnsemble ensemble;
    private static int leader;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("client-behaviour", VOTERS)
                                .observers(1)
                                .set("tickTime", Integer.toString(TICK_MILLIS))
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("extendedTypesEnabled", "true")
                                .set("enforceQuota", "true")
                                .set("admin.enableServer", "true")
                                .jvmFlag("-Dznode.container.checkIntervalMs=500"));
        leader = ensemble.awaitFast();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    private static void create(ZooKeeper client, String path, CreateMode mode) throws Exception {
        client.create(path, DATA, Ids.OPEN_ACL_UNSAFE, mode);
    }

    private static void awaitGone(ZooKeeper client, String path) {
        SaucrEnsemble.await(path + " gone", () -> client.exists(path, false) == null);
    }

    // ---- Sessions ----

    @Test
    void h9ASessionExpiresByTicksAndNotByHeartbeats() throws Exception {
        int follower = ensemble.followers().get(0);
        try (Client watcher = ensemble.connect();
                Client vanishing = ensemble.connectFor(SESSION_MILLIS, follower)) {
            create(vanishing, "/vanishing", CreateMode.EPHEMERAL);
            watcher.sync("/vanishing", (code, path, context) -> {}, null);
            long start = System.nanoTime();
            vanishing.vanish();
            awaitGone(watcher, "/vanishing");
            Duration lived = Duration.ofNanos(System.nanoTime() - start);
            // The client may have been heard last a third of its timeout ago.
            assertThat(lived).isGreaterThan(Duration.ofMillis(SESSION_MILLIS / 2));
        }
    }

    @Test
    void ephemeralsGoWithTheirSessionAndStayWithAnyOther() throws Exception {
        try (Client other = ensemble.connect()) {
            try (Client one = ensemble.connect()) {
                create(one, "/ephemeral-one", CreateMode.EPHEMERAL);
                create(other, "/ephemeral-other", CreateMode.EPHEMERAL);
                assertThatThrownBy(() -> create(one, "/ephemeral-one/child", CreateMode.PERSISTENT))
                        .isInstanceOf(KeeperException.NoChildrenForEphemeralsException.class);
            }
            awaitGone(other, "/ephemeral-one");
            assertThat(other.exists("/ephemeral-other", false).getEphemeralOwner())
                    .isEqualTo(other.getSessionId());
        }
    }

    @Test
    void aSessionMovesToAnotherServerWithItsEphemerals() throws Exception {
        List<Integer> followers = ensemble.followers();
        try (Client client = ensemble.connect(followers.get(0));
                Client observer = ensemble.connect(OBSERVER)) {
            create(client, "/moving", CreateMode.EPHEMERAL);
            long session = client.getSessionId();
            ZooKeeper moved =
                    new ZooKeeper(
                            ensemble.server(leader).address().client(),
                            SESSION_MILLIS,
                            event -> {},
                            session,
                            client.getSessionPasswd());
            SaucrEnsemble.await("the move", () -> moved.getState().isConnected());
            moved.sync("/moving");
            assertThat(moved.getSessionId()).isEqualTo(session);
            assertThat(moved.exists("/moving", false).getEphemeralOwner()).isEqualTo(session);
            client.vanish();
            observer.sync("/moving");
            assertThat(observer.exists("/moving", false)).isNotNull();
            moved.close();
            awaitGone(observer, "/moving");
        }
    }

    // ---- Reads, writes, watches ----

    @Test
    void watchesFireOnceOnEveryKindOfServerAndPersistentOnesKeepFiring() throws Exception {
        for (int id : ensemble.all()) {
            String path = "/watched-" + id;
            BlockingQueue<WatchedEvent> events = new LinkedBlockingQueue<>();
            try (Client writer = ensemble.connect(leader);
                    Client client = ensemble.connect(id)) {
                assertThat(client.exists(path, events::add)).isNull();
                create(writer, path, CreateMode.PERSISTENT);
                assertThat(next(events)).isEqualTo(EventType.NodeCreated);
                client.getData(path, events::add, null);
                writer.setData(path, DATA, -1);
                assertThat(next(events)).isEqualTo(EventType.NodeDataChanged);
                client.getChildren(path, events::add);
                create(writer, path + "/child", CreateMode.PERSISTENT);
                assertThat(next(events)).isEqualTo(EventType.NodeChildrenChanged);
                client.addWatch(path, events::add, AddWatchMode.PERSISTENT_RECURSIVE);
                writer.setData(path + "/child", DATA, -1);
                assertThat(next(events)).isEqualTo(EventType.NodeDataChanged);
                writer.delete(path + "/child", -1);
                assertThat(next(events)).isEqualTo(EventType.NodeDeleted);
                assertThat(events).isEmpty();
            }
        }
    }

    private static EventType next(BlockingQueue<WatchedEvent> events) throws InterruptedException {
        WatchedEvent event = events.poll(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(event).isNotNull();
        return event.getType();
    }

    @Test
    void aMultiHappensWhollyOrNotAtAll() throws Exception {
        try (Client client = ensemble.connect();
                Client reader = ensemble.connect(OBSERVER)) {
            client.multi(
                    List.of(
                            Op.create("/multi", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                            Op.create("/multi/a", DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                            Op.setData("/multi", DATA, 0)));
            Stat a = client.exists("/multi/a", false);
            assertThat(client.exists("/multi", false).getMzxid()).isEqualTo(a.getCzxid());
            assertThatThrownBy(
                            () ->
                                    client.multi(
                                            List.of(
                                                    Op.delete("/multi/a", -1),
                                                    Op.check("/multi", 7))))
                    .isInstanceOf(KeeperException.BadVersionException.class);
            reader.sync("/multi", (code, path, context) -> {}, null);
            assertThat(reader.exists("/multi/a", false).getCzxid()).isEqualTo(a.getCzxid());
        }
    }

    @Test
    void versionsSequencesAndAclsAreKept() throws Exception {
        try (Client client = ensemble.connect();
                Client stranger = ensemble.connect()) {
            create(client, "/versions", CreateMode.PERSISTENT);
            assertThat(client.setData("/versions", DATA, 0).getVersion()).isEqualTo(1);
            assertThatThrownBy(() -> client.setData("/versions", DATA, 0))
                    .isInstanceOf(KeeperException.BadVersionException.class);
            for (int i = 0; i < 3; i++) {
                String created =
                        client.create(
                                "/versions/s-",
                                DATA,
                                Ids.OPEN_ACL_UNSAFE,
                                CreateMode.PERSISTENT_SEQUENTIAL);
                assertThat(created).isEqualTo("/versions/s-%010d", i);
            }
            client.addAuthInfo("digest", "user:secret".getBytes(StandardCharsets.UTF_8));
            client.create("/mine", DATA, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
            stranger.sync("/mine");
            assertThatThrownBy(() -> stranger.getData("/mine", false, null))
                    .isInstanceOf(KeeperException.NoAuthException.class);
            assertThat(client.getData("/mine", false, null)).isEqualTo(DATA);
        }
    }

    @Test
    void quotasAreEnforced() throws Exception {
        // The leader's counter is of what it has applied, and its own client is answered after
        // that.
        try (Client client = ensemble.connect(leader)) {
            create(client, "/quota", CreateMode.PERSISTENT);
            StatsTrack limit = new StatsTrack();
            limit.setCountHardLimit(3);
            assertThat(SetQuotaCommand.createQuota(client, "/quota", limit)).isTrue();
            create(client, "/quota/1", CreateMode.PERSISTENT);
            create(client, "/quota/2", CreateMode.PERSISTENT);
            assertThatThrownBy(() -> create(client, "/quota/3", CreateMode.PERSISTENT))
                    .isInstanceOf(KeeperException.QuotaExceededException.class);
        }
    }

    @Test
    void containersGoWhenEmptyAndTtlNodesWhenTheirTimeIsOver() throws Exception {
        try (Client client = ensemble.connect()) {
            create(client, "/container", CreateMode.CONTAINER);
            create(client, "/container/child", CreateMode.PERSISTENT);
            client.create(
                    "/ttl",
                    DATA,
                    Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT_WITH_TTL,
                    new Stat(),
                    700);
            awaitGone(client, "/ttl");
            assertThat(client.exists("/container", false)).isNotNull();
            client.delete("/container/child", -1);
            awaitGone(client, "/container");
        }
    }

    // ---- What operators ask ----

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ruok=imok",
                "srvr=Zookeeper version: 3.9.5",
                "srvr=SAUCR version: ",
                "stat=Clients:",
                "conf=clientPort=",
                "cons=",
                "envi=java.version",
                "isro=rw",
                "wchs=watching",
                "dump=Sessions",
                "mntr=zk_server_state",
                "dirs=datadir_size:",
                "srst=Server stats reset."
            })
    void fourLetterWords(String wordAndAnswer) {
        String word = wordAndAnswer.substring(0, 4);
        for (int id : ensemble.all()) {
            assertThat(ensemble.ask(id, word))
                    .as("%s of server %d", word, id)
                    .contains(wordAndAnswer.substring(5))
                    .isNotBlank();
        }
    }

    @Test
    void mntrTellsModeAndRecoveryStateOfEveryServer() throws Exception {
        for (int id : ensemble.all()) {
            Map<String, String> metrics = ensemble.mntr(id);
            assertThat(metrics)
                    .containsKeys(
                            "zk_saucr_mode",
                            "zk_saucr_mode_switches",
                            "zk_saucr_flushes",
                            "zk_saucr_fast_commits",
                            "zk_saucr_slow_commits",
                            "zk_saucr_prompt_voters",
                            "zk_saucr_on_disk")
                    .containsEntry("zk_saucr_recovery_state", "0")
                    .containsEntry("zk_saucr_version", BuiltDistribution.servers().version());
        }
    }

    @Test
    void theAdminServerAnswers() throws Exception {
        HttpClient http = HttpClient.newHttpClient();
        ObjectMapper json = new ObjectMapper();
        for (int id : ensemble.all()) {
            String base =
                    "http://127.0.0.1:" + ensemble.server(id).address().adminPort() + "/commands/";
            for (String command :
                    List.of("ruok", "monitor", "leader", "configuration", "stats", "saucr")) {
                HttpResponse<String> response =
                        http.send(
                                HttpRequest.newBuilder(URI.create(base + command)).build(),
                                HttpResponse.BodyHandlers.ofString());
                JsonNode answer = json.readTree(response.body());
                assertThat(response.statusCode()).as(command).isEqualTo(200);
                assertThat(answer.get("command").asText()).isEqualTo(command);
                assertThat(answer.get("error").isNull()).as(command).isTrue();
                if (command.equals("leader")) {
                    assertThat(answer.get("leader_id").asInt()).isEqualTo(leader);
                }
                if (command.equals("saucr")) {
                    assertThat(answer.get("server").asInt()).isEqualTo(id);
                    assertThat(answer.has("lleMap")).isTrue();
                    assertThat(answer.get("version").asText())
                            .isEqualTo(BuiltDistribution.servers().version());
                }
            }
        }
    }

    // ---- Observers ----

    @Test
    void anObserverServesClientsAndCountsForNothing() throws Exception {
        assertThat(ensemble.role(OBSERVER)).isEqualTo("observer");
        assertThat(ensemble.metric(leader, "zk_saucr_prompt_voters")).isEqualTo(VOTERS);
        long switches = ensemble.metric(leader, "zk_saucr_mode_switches");
        try (AckedWrites writes =
                new AckedWrites(ensemble.connect(OBSERVER), "/through-observer", 8)) {
            writes.awaitMore(200);
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
            ensemble.kill(OBSERVER);
            try (AckedWrites without = new AckedWrites(ensemble.connect(leader), "/without", 8)) {
                without.awaitMore(100);
                assertThat(ensemble.fast(leader)).isTrue();
                ensemble.restart(OBSERVER);
                ensemble.awaitServing();
                without.stop();
                try (Client reader = ensemble.connect(OBSERVER)) {
                    without.assertAllIn(reader);
                    writes.assertAllIn(reader);
                }
            }
            assertThat(ensemble.metric(leader, "zk_saucr_mode_switches")).isEqualTo(switches);
        }
    }

    @Test
    void aReadAfterSyncSeesWhatAnotherClientWrote() throws Exception {
        try (Client writer = ensemble.connect(leader)) {
            create(writer, "/synced", CreateMode.PERSISTENT);
            for (int id : ensemble.all()) {
                try (Client reader = ensemble.connect(id)) {
                    for (int i = 0; i < 20; i++) {
                        int version = writer.setData("/synced", DATA, -1).getVersion();
                        BlockingQueue<Integer> done = new LinkedBlockingQueue<>();
                        reader.sync("/synced", (code, path, context) -> done.add(code), null);
                        assertThat(done.poll(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                                .isEqualTo(Code.OK.intValue());
                        assertThat(reader.exists("/synced", false).getVersion())
                                .isGreaterThanOrEqualTo(version);
                    }
                }
            }
        }
    }
}
