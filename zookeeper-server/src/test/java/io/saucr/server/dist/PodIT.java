package io.saucr.server.dist;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The size of an ensemble as the chart of {@code packaging/kubernetes} changes it: the commands of
 * its containers and of its Jobs with real servers, while a client writes and processes are killed.
 */
@Tag("trial")
class PodIT {
    private static final Duration LONG = Duration.ofMinutes(3);

    @TempDir static Path unpacked;
    private static Path home;

    @TempDir Path folder;

    @BeforeAll
    static void unpack() throws Exception {
        home = Scripts.unpackWithClassArchive(unpacked);
    }

    /** Creates nodes one after the other, on whichever server, and notes the acknowledged ones. */
    private static final class Writer implements AutoCloseable {
        private static final long PAUSE_NANOS = 5_000_000;

        private final ConcurrentSkipListSet<Integer> acked = new ConcurrentSkipListSet<>();
        private final ExecutorService thread = Executors.newSingleThreadExecutor();
        private final Future<?> written;
        private volatile boolean stops;

        Writer(String servers) throws Exception {
            ZooKeeper client = new ZooKeeper(servers, 20_000, event -> {});
            written =
                    thread.submit(
                            () -> {
                                try {
                                    for (int number = 0; !stops; number++) {
                                        write(client, number);
                                        // The heap of a server is small.
                                        LockSupport.parkNanos(PAUSE_NANOS);
                                    }
                                } finally {
                                    client.close();
                                }
                                return null;
                            });
        }

        private void write(ZooKeeper client, int number) throws Exception {
            try {
                client.create("/n" + number, null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                acked.add(number);
            } catch (KeeperException.ConnectionLossException unknown) {
                // Neither acknowledged nor refused.
            }
        }

        /** Waits until so many more are acknowledged. */
        void awaitMore(int count) {
            int before = acked.size();
            await().atMost(LONG).until(() -> written.isDone() || acked.size() >= before + count);
            assertThat(written).isNotDone();
        }

        /** Asserts that a server has every node that was acknowledged before. */
        void assertAllIn(String server) throws Exception {
            TreeSet<Integer> before = new TreeSet<>(acked);
            ZooKeeper client = new ZooKeeper(server, 20_000, event -> {});
            try {
                await().atMost(LONG)
                        .ignoreExceptionsInstanceOf(KeeperException.class)
                        .until(
                                () -> {
                                    client.sync("/", (code, path, context) -> {}, null);
                                    return client.exists("/", false) != null;
                                });
                TreeSet<Integer> found = new TreeSet<>();
                client.getChildren("/", false).stream()
                        .filter(name -> name.matches("n\\d+"))
                        .forEach(name -> found.add(Integer.parseInt(name.substring(1))));
                before.removeAll(found);
                assertThat(before).as("lost of " + acked.size() + " on " + server).isEmpty();
            } finally {
                client.close();
            }
        }

        @Override
        public void close() {
            stops = true;
            thread.shutdown();
            try {
                written.get();
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError("the client that writes", e);
            }
        }
    }

    private static int leader(Pods pods, int servers) {
        int[] leader = new int[1];
        await().atMost(LONG)
                .until(
                        () ->
                                IntStream.rangeClosed(1, servers)
                                        .filter(id -> pods.role(id).equals("leader"))
                                        .peek(id -> leader[0] = id)
                                        .findFirst()
                                        .isPresent());
        return leader[0];
    }

    private static void awaitReady(Pods pods, int... ids) {
        for (int id : ids) {
            await().atMost(LONG).until(() -> pods.ask(id, readiness()) == 200);
        }
    }

    private static String readiness() throws Exception {
        return ManifestsTest.path("readinessProbe");
    }

    private static void assertVoters(Pods pods, int... voters) throws Exception {
        Scripts.Result list = pods.exec(1, "pod.sh", "saucr", "member", "list");
        assertThat(
                        list.output()
                                .lines()
                                .filter(line -> line.matches("\\d+ .*"))
                                .map(line -> line.split(" +"))
                                .map(row -> row[0] + " " + row[1]))
                .as(list.output())
                .containsExactlyElementsOf(
                        IntStream.of(voters).mapToObj(id -> id + " voter").toList());
    }

    private static void fine(Scripts.Result result, String words) {
        assertThat(result.exitCode()).as(result.output()).isZero();
        assertThat(result.output()).contains(words);
    }

    /** The members of an earlier life go, an operator's copy of them stays. */
    @Test
    void aStartRemovesNoFileThatNoServerReads() throws Exception {
        try (Pods pods = new Pods(home, folder, "three")) {
            Path conf = Files.createDirectories(pods.data(1).resolve("conf"));
            List<String> earlier =
                    List.of("zoo.cfg.dynamic", "zoo.cfg.dynamic.next", "zoo.cfg.dynamic.10000000a");
            for (String name : earlier) {
                Files.writeString(conf.resolve(name), "server.9=127.0.0.1:1:2;3\n");
            }
            Path copy = Files.writeString(conf.resolve("zoo.cfg.dynamic.10000000a.bak"), "copy\n");
            Path other = Files.createDirectory(conf.resolve("zoo.cfg.dynamic.d"));
            pods.start(1);
            await().atMost(LONG).until(() -> Files.exists(conf.resolve("zoo.cfg")));
            assertThat(earlier).noneMatch(name -> Files.exists(conf.resolve(name)));
            assertThat(copy).hasContent("copy");
            assertThat(other).isDirectory();
        }
    }

    @Test
    void threeServersBecomeFiveAndThreeAgain() throws Exception {
        try (Pods pods = new Pods(home, folder, "three")) {
            for (int id = 1; id <= 3; id++) {
                pods.start(id);
            }
            awaitReady(pods, 1, 2, 3);
            assertThat(pods.ask(1, ManifestsTest.path("livenessProbe"))).isEqualTo(200);
            assertVoters(pods, 1, 2, 3);
            try (Writer writer = new Writer(pods.clients(5))) {
                growsWhileTheLeaderAndTheJobAreKilled(pods, writer);
                aVoterStartsAgainAsOne(pods, writer);
                shrinksAlthoughTheLeaderMustGo(pods, writer);
                aRemovedServerComesBack(pods, writer);
                aLostVolumeIsFilledByTheOthers(pods, writer);
                writer.awaitMore(20);
                for (int id = 1; id <= 4; id++) {
                    writer.assertAllIn(pods.host(id) + ":" + pods.port("2181"));
                }
            }
        }
    }

    private void growsWhileTheLeaderAndTheJobAreKilled(Pods pods, Writer writer) throws Exception {
        writer.awaitMore(20);
        pods.start(4);
        Process job = pods.job("first", "scale-up", 5);
        await().atMost(LONG)
                .until(() -> Files.readString(pods.output("first")).contains("4 is an observer"));
        Pods.end(job);
        assertThat(Files.readString(pods.output("first"))).doesNotContain("1 to 5 are voters");
        // Server 5 is not there yet: the Job waits for its pod.
        Process second = pods.job("second", "scale-up", 5);
        await().atMost(LONG)
                .until(() -> Files.readString(pods.output("second")).contains("4 is a voter"));
        await().atMost(LONG)
                .until(
                        () ->
                                Files.readString(pods.output("second"))
                                        .contains("waits for the pod of server 5"));
        int leader = leader(pods, 4);
        pods.kill(leader);
        pods.start(leader);
        pods.start(5);
        fine(pods.await(second, "second"), "servers 1 to 5 are voters");
        awaitReady(pods, 1, 2, 3, 4, 5);
        assertVoters(pods, 1, 2, 3, 4, 5);
        writer.awaitMore(20);
    }

    private void aVoterStartsAgainAsOne(Pods pods, Writer writer) throws Exception {
        assertThat(Files.readString(pods.output("pod-5"))).contains("it starts as an observer");
        pods.stop(5);
        pods.start(5);
        awaitReady(pods, 5);
        assertThat(Files.readString(pods.data(5).resolve("conf/zoo.cfg")))
                .doesNotContain("peerType");
        assertThat(pods.role(5)).isIn("follower", "leader");
        assertVoters(pods, 1, 2, 3, 4, 5);
        writer.awaitMore(20);
    }

    private void shrinksAlthoughTheLeaderMustGo(Pods pods, Writer writer) throws Exception {
        await().atMost(LONG)
                .until(
                        () ->
                                leader(pods, 5) == 5
                                        || pods.exec(1, "pod.sh", "saucr", "move-leader", "5")
                                                        .exitCode()
                                                == 0);
        Process job = pods.job("third", "scale-down", 3);
        await().atMost(LONG)
                .until(() -> Files.readString(pods.output("third")).contains("5 is removed"));
        Pods.end(job);
        writer.awaitMore(20);
        // A follower dies in the middle: the change is refused or waits until it is back.
        Process second = pods.job("fourth", "scale-down", 3);
        int follower = leader(pods, 4) == 2 ? 3 : 2;
        pods.kill(follower);
        pods.start(follower);
        fine(pods.await(second, "fourth"), "no server above 3 is a member");
        assertVoters(pods, 1, 2, 3);
        assertThat(leader(pods, 5)).isLessThanOrEqualTo(3);
        pods.stop(4);
        pods.stop(5);
        awaitReady(pods, 1, 2, 3);
        writer.awaitMore(20);
    }

    private void aRemovedServerComesBack(Pods pods, Writer writer) throws Exception {
        pods.start(4);
        // ZooKeeper calls one that is no member a follower; it has no vote.
        awaitReady(pods, 4);
        assertVoters(pods, 1, 2, 3);
        // As by hand.
        fine(pods.exec(1, "pod.sh", "scale-up", "4"), "servers 1 to 4 are voters");
        assertVoters(pods, 1, 2, 3, 4);
        writer.awaitMore(20);
    }

    private void aLostVolumeIsFilledByTheOthers(Pods pods, Writer writer) throws Exception {
        pods.kill(2);
        writer.awaitMore(20);
        pods.loseVolume(2);
        pods.start(2);
        awaitReady(pods, 2);
        assertVoters(pods, 1, 2, 3, 4);
        assertThat(Files.readString(pods.output("pod-2")))
                .contains("server 2 of an ensemble that serves");
    }

    /** What a container of the chart has, but for what a test changes. */
    private EntryPoint alone(String config) throws Exception {
        Path password = Files.writeString(folder.resolve("password"), "secret\n");
        Path folderOfConfig = Files.createDirectories(folder.resolve("config"));
        Files.writeString(folderOfConfig.resolve("zoo.cfg"), config);
        return new EntryPoint(home, folder.resolve("pod"))
                .set("HOSTNAME", "zookeeper-0")
                .set("POD_MEMBER", "server.{id}=127.0.0.1{ordinal}:2888:3888")
                .set("POD_INITIAL_SERVERS", "3")
                .set("POD_ADMIN_PORT", Integer.toString(Scripts.freePort()))
                .set("POD_PATIENCE", "1")
                .set("POD_PASSWORD_FILE", password.toString())
                .set("POD_CONFIG", folderOfConfig.toString())
                .set("POD_DATA", folder.resolve("data").toString());
    }

    private void refused(EntryPoint pod, String words, String... command) throws Exception {
        Scripts.Result result = pod.run(command);
        assertThat(result.exitCode()).as(result.output()).isEqualTo(1);
        assertThat(result.output()).contains("pod: ", words);
        assertThat(folder.resolve("data")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "POD_MEMBER | server.4=a:2888:3888 | POD_MEMBER='server.4=a:2888:3888'",
                "POD_MEMBER | server.{id}=a:2888:3888 | {ordinal} in HOST",
                "POD_MEMBER | server.{id}=a-{ordinal}:2888:3888;2181 | port for clients are elsewhere",
                "POD_CLIENT_PORT | none | POD_CLIENT_PORT='none'",
                "POD_INITIAL_SERVERS | 2 | POD_INITIAL_SERVERS: '2' is no number of servers",
                "POD_INITIAL_SERVERS | many | allowed: 3 to 7",
                "POD_PATIENCE | 1h | POD_PATIENCE='1h'",
                "POD_PASSWORD_FILE | /nowhere | cannot read /nowhere",
                "POD_CONFIG | /nowhere | cannot read /nowhere/zoo.cfg",
                "POD_TLS_SECRET | /nowhere | cannot read /nowhere/tls.key",
                "HOSTNAME | zookeeper | ends with -NUMBER",
                "HOSTNAME | zookeeper-7 | would be server 8"
            })
    void aWrongVariableIsRefusedAndNothingIsWritten(String variable, String value, String words)
            throws Exception {
        refused(alone("dataDir=/data\n").set(variable, value), words, "pod.sh", "start");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "server.1=a:2888:3888",
                "dynamicConfigFile=/data/conf/zoo.cfg.dynamic",
                "peerType=observer"
            })
    void membersInTheConfigMapAreRefused(String line) throws Exception {
        refused(alone("dataDir=/data\n" + line + "\n"), "names members", "pod.sh", "start");
    }

    @ParameterizedTest
    @ValueSource(strings = {"one\ntwo\n", "\n", "with blanks\n", "gr\u00fcn\n"})
    void aPasswordThatTheAdminServerDoesNotTakeIsRefused(String password) throws Exception {
        EntryPoint pod = alone("dataDir=/data\n");
        Files.writeString(folder.resolve("password"), password);
        refused(pod, "must have one line", "pod.sh", "start");
    }

    /**
     * Processes live, no majority serves any more or the leader has none to hand over to: the
     * command says so while it waits, and how it has ended.
     *
     * @param answered paths that server 4 answers with 200; the leader is server 4
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/livez | no server reports who leads; ready are: none",
                "/livez /readyz /commands/leader | server 4 leads, and none of the servers 1 to 3 is ready"
            })
    void aScaleDownThatWaitsSaysForWhat(String answered, String reason) throws Exception {
        Path commands = Files.createDirectories(folder.resolve("commands"));
        Path saucr =
                Files.writeString(
                        commands.resolve("saucr"),
                        """
                        #!/bin/sh
                        for id in 1 2 3 4; do echo "$id voter yes host:1:2 -"; done
                        """);
        assertThat(saucr.toFile().setExecutable(true)).isTrue();
        HttpServer admin = HttpServer.create(new InetSocketAddress("127.0.0.13", 0), 0);
        admin.createContext(
                "/",
                exchange -> {
                    boolean fine =
                            List.of(answered.split(" "))
                                    .contains(exchange.getRequestURI().getPath());
                    byte[] body = "{\"leader_id\" : 4}".getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(fine ? 200 : 503, body.length);
                    exchange.getResponseBody().write(body);
                    exchange.close();
                });
        admin.start();
        try {
            EntryPoint pod =
                    alone("dataDir=/data\n")
                            .firstOnPath(commands)
                            .set("POD_ADMIN_PORT", Integer.toString(admin.getAddress().getPort()))
                            .set("POD_SAY_EVERY", "1")
                            .set("POD_PATIENCE", "5");
            Scripts.Result result = pod.run("pod.sh", "scale-down", "3");
            assertThat(result.exitCode()).as(result.output()).isEqualTo(1);
            assertThat(result.output())
                    .containsPattern("pod: waits since [1-4] s: " + reason)
                    .contains("pod: none of the servers 1 to 3 leads after 5 s\n  " + reason);
        } finally {
            admin.stop(0);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "begin | unknown command 'begin'",
                "start now | start takes no argument",
                "scale-up | takes one argument",
                "scale-up 2 | '2' is no number of servers",
                "scale-down five | 'five' is no number of servers",
                "saucr | takes a command",
                // Nothing listens at those addresses.
                "scale-up 3 | no majority of the servers served within 1 s",
                "scale-down 3 | no majority of the servers served within 1 s",
                "saucr member list | no server answers on 127.0.0.10 to 127.0.0.16"
            })
    void aWrongCommandIsRefused(String command, String words) throws Exception {
        refused(alone("dataDir=/data\n"), words, ("pod.sh " + command).split(" "));
    }
}
