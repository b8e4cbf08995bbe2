package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.LoopbackHosting.Disk;
import io.saucr.ensemble.ServerAddress;
import io.saucr.tests.ensemble.ToolProcess.Said;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.TxnLog.TxnIterator;
import org.apache.zookeeper.txn.CreateSessionTxn;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code bin/saucr backup --every} of three servers under random writes, while servers are killed,
 * and what {@code backup restore} makes of it.
 */
@Tag("trial")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class BackupArchiveIT {
    private static final int VOTERS = 3;
    private static final int POINTS = 8;
    private static final int WRITES_OF_A_PHASE = 300;
    private static final int NAMES = 40;
    private static final long SEED = new Random().nextLong();

    @TempDir static Path folder;

    private static final Random RANDOM = new Random(SEED);
    private static LoopbackHosting hosting;
    private static SaucrEnsemble ensemble;
    private static Path archive;

    /** In addition to those of each run of the tool. */
    private static final Map<String, String> variables = new HashMap<>();

    /** The last point that was restored into the ensemble, with what its log says of it. */
    private static long restored;

    private static Map<String, String> expected;

    @BeforeAll
    static void start() throws Exception {
        archive = folder.resolve("archive");
        hosting = new LoopbackHosting(SaucrEnsemble.folder("archive"), VOTERS, Disk.PLAIN);
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("archive", VOTERS)
                                .hosting(hosting)
                                .set("admin.enableServer", "true")
                                .set("admin.serverAddress", "127.0.0.1")
                                .set("admin.rateLimiterIntervalInMS", "0")
                                .set("snapCount", "400"));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    private static ProcessBuilder tool(String... arguments) throws IOException {
        return tool(ensemble.all(), arguments);
    }

    private static ProcessBuilder tool(Collection<Integer> endpoints, String... arguments)
            throws IOException {
        ProcessBuilder builder =
                ToolProcess.builder(
                        folder,
                        of(endpoints, address -> address.client()),
                        of(endpoints, address -> address.clientHost() + ":" + address.adminPort()),
                        arguments);
        builder.environment().putAll(variables);
        return builder;
    }

    private static String of(
            Collection<Integer> endpoints, Function<ServerAddress, String> address) {
        return endpoints.stream()
                .map(id -> address.apply(hosting.address(id)))
                .collect(Collectors.joining(","));
    }

    private static Said run(String... arguments) throws Exception {
        return run(ensemble.all(), arguments);
    }

    private static Said run(Collection<Integer> endpoints, String... arguments) throws Exception {
        return ToolProcess.run(List.of(tool(endpoints, arguments)), SaucrEnsemble.PATIENCE).get(0);
    }

    // ---- The archive ----

    private static List<String> archived(String pattern) throws IOException {
        if (!Files.exists(archive)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(archive)) {
            return files.map(file -> archive.relativize(file).toString())
                    .filter(name -> name.matches(pattern))
                    .sorted()
                    .toList();
        }
    }

    private static List<String> fulls() throws IOException {
        return archived("history-[^/]*/full-[^/]*/backup.json");
    }

    /** The last zxid that it has. */
    private static long end() throws IOException {
        return archived("history-[^/]*/log-.*gz").stream()
                .mapToLong(name -> Long.parseLong(name.split("-")[3], 16))
                .max()
                .orElse(0);
    }

    // ---- The writes ----

    /** Writes of all kinds at random, some of which are refused. Clients come and go. */
    private static void write(int writes) throws Exception {
        Client client = ensemble.connect();
        try {
            for (int i = 0; i < writes; i++) {
                if (RANDOM.nextInt(60) == 0) {
                    if (RANDOM.nextBoolean()) {
                        client.vanish();
                    } else {
                        client.close();
                    }
                    client = ensemble.connect();
                }
                try {
                    writeOne(client);
                } catch (KeeperException.SessionExpiredException
                        | KeeperException.ConnectionLossException e) {
                    client.close();
                    client = ensemble.connect();
                } catch (KeeperException e) {
                    // Refused, as some must be: that is an entry of the log, too, or none.
                }
            }
        } finally {
            client.close();
        }
    }

    private static String path() {
        return "/n" + RANDOM.nextInt(NAMES);
    }

    private static byte[] value() {
        byte[] value = new byte[RANDOM.nextInt(300)];
        RANDOM.nextBytes(value);
        return value;
    }

    private static void writeOne(Client client) throws Exception {
        switch (RANDOM.nextInt(10)) {
            case 0, 1 -> client.setData(path(), value(), -1);
            case 2, 3 -> client.create(path(), value(), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            case 4 ->
                    client.create(
                            path() + "/e", value(), Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            case 5 ->
                    client.create(
                            path() + "/s",
                            value(),
                            Ids.OPEN_ACL_UNSAFE,
                            CreateMode.PERSISTENT_SEQUENTIAL);
            case 6 -> client.delete(path(), -1);
            case 7 ->
                    client.setACL(
                            path(),
                            RANDOM.nextBoolean() ? Ids.OPEN_ACL_UNSAFE : Ids.READ_ACL_UNSAFE,
                            -1);
            case 8 ->
                    client.multi(
                            List.of(
                                    Op.create(
                                            "/m" + RANDOM.nextInt(NAMES),
                                            value(),
                                            Ids.OPEN_ACL_UNSAFE,
                                            CreateMode.PERSISTENT),
                                    Op.setData(path(), value(), -1)));
            default ->
                    client.multi(
                            List.of(
                                    Op.check(path(), -1),
                                    Op.delete("/m" + RANDOM.nextInt(NAMES), -1)));
        }
    }

    // ---- What a tree has ----

    private static Map<String, String> content(DataTree tree, Map<Long, Integer> sessions) {
        Map<String, String> content = new TreeMap<>();
        add(tree, "", content);
        // No entry of the log: each server writes its own configuration there when it starts.
        content.remove("/zookeeper/config");
        content.put("sessions", new TreeMap<>(sessions).toString());
        content.put("digest", Long.toHexString(tree.getTreeDigest()));
        return content;
    }

    private static void add(DataTree tree, String path, Map<String, String> content) {
        DataNode node = tree.getNode(path);
        SortedSet<String> children;
        synchronized (node) {
            Stat stat = new Stat();
            node.copyStat(stat);
            content.put(
                    path,
                    "%s %s %s"
                            .formatted(
                                    node.getData() == null
                                            ? "none"
                                            : new String(
                                                    node.getData(), StandardCharsets.ISO_8859_1),
                                    tree.getACL(node),
                                    stat.toString().replace("\n", "")));
            children = new TreeSet<>(node.getChildren());
        }
        children.forEach(child -> add(tree, path + "/" + child, content));
    }

    /** Of a data folder, as a server loads it. */
    private static Map<String, String> loaded(Path data, long through) throws IOException {
        DataTree tree = new DataTree();
        Map<Long, Integer> sessions = new HashMap<>();
        FileTxnSnapLog files = new FileTxnSnapLog(data.toFile(), data.toFile());
        try {
            assertThat(files.restore(tree, sessions, (header, txn, digest) -> {}))
                    .isEqualTo(through);
        } finally {
            files.close();
        }
        return content(tree, sessions);
    }

    // ---- The tests ----

    @Test
    @Order(1)
    void randomPointsAreWhatTheLogSays() throws Exception {
        ProcessBuilder builder =
                tool("backup", "--to", archive.toString(), "--every=3s", "--log-every=1s");
        Process backup = builder.start();
        try {
            write(WRITES_OF_A_PHASE);
            SaucrEnsemble.await("a full backup", () -> fulls().size() >= 1);
            int leader = ensemble.leader();
            ensemble.kill(leader);
            write(WRITES_OF_A_PHASE);
            ensemble.restart(leader);
            // As it is, in the middle of whatever it does. The next process continues.
            backup.destroyForcibly().waitFor();
            backup = builder.start();
            write(WRITES_OF_A_PHASE);
            int follower = ensemble.followers().get(0);
            ensemble.terminate(follower);
            write(WRITES_OF_A_PHASE);
            ensemble.restart(follower);
            SaucrEnsemble.await("three full backups", () -> fulls().size() >= 3);
            write(WRITES_OF_A_PHASE);
            long last;
            try (Client client = ensemble.connect()) {
                Stat stat = new Stat();
                client.create(
                        "/last", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT, stat);
                last = stat.getCzxid();
            }
            SaucrEnsemble.await("the last write in the archive", () -> end() >= last);
        } finally {
            backup.destroy();
            assertThat(backup.waitFor(1, TimeUnit.MINUTES)).isTrue();
        }
        assertThat(archived("history-[^/]*"))
                .as(Files.readString(builder.redirectError().file().toPath()))
                .hasSize(1);
        ensemble.terminate(1, 2, 3);
        compare();
    }

    /** Of a server that was never down: the others may have got a snapshot when they came back. */
    private static Path wholeLog() throws IOException {
        for (int id : ensemble.all()) {
            Path own = ensemble.server(id).dataDirectory().resolve("version-2");
            try (TxnIterator log = new FileTxnLog(own.toFile()).read(0)) {
                if (log.getHeader().getZxid() == 0x1_0000_0001L) {
                    return own;
                }
            }
        }
        throw new AssertionError("no server has its log from the first entry on");
    }

    /** Restores points, and replays a server's own log from its first entry. */
    private static void compare() throws Exception {
        long oldest = Long.parseLong(fulls().get(0).split("-")[3], 16);
        List<Long> all = new ArrayList<>();
        Path own = wholeLog();
        try (TxnIterator log = new FileTxnLog(own.toFile()).read(0)) {
            do {
                all.add(log.getHeader().getZxid());
            } while (log.next());
        }
        long end = end();
        List<Long> candidates = all.stream().filter(zxid -> zxid >= oldest && zxid <= end).toList();
        assertThat(candidates).hasSizeGreaterThan(2 * WRITES_OF_A_PHASE);
        TreeSet<Long> points = new TreeSet<>(List.of(oldest, end));
        while (points.size() < POINTS + 2) {
            points.add(candidates.get(RANDOM.nextInt(candidates.size())));
        }
        restored = List.copyOf(points).get(RANDOM.nextInt(points.size()));
        System.out.println(
                "seed %d, %d entries, %d full backups, points %s"
                        .formatted(SEED, candidates.size(), fulls().size(), points));

        long live = 0;
        DataTree tree = new DataTree();
        Map<Long, Integer> sessions = new HashMap<>();
        try (TxnIterator log = new FileTxnLog(own.toFile()).read(0)) {
            do {
                long zxid = log.getHeader().getZxid();
                if (log.getHeader().getType() == OpCode.createSession) {
                    sessions.put(
                            log.getHeader().getClientId(),
                            ((CreateSessionTxn) log.getTxn()).getTimeOut());
                } else if (log.getHeader().getType() == OpCode.closeSession) {
                    sessions.remove(log.getHeader().getClientId());
                }
                tree.processTxn(log.getHeader(), log.getTxn(), null);
                // Refused writes have none, and change nothing.
                if (log.getDigest() != null) {
                    live = log.getDigest().getTreeDigest();
                }
                if (points.contains(zxid)) {
                    Path data = Files.createDirectory(folder.resolve("at-" + zxid));
                    Said said =
                            run(
                                    "backup",
                                    "restore",
                                    archive.toString(),
                                    "--to-zxid=0x" + Long.toHexString(zxid),
                                    "--data-dir=" + data,
                                    "-o",
                                    "json");
                    String seed = "seed " + SEED + ", " + said;
                    assertThat(said.exitCode()).as(seed).isZero();
                    JsonNode json = said.json();
                    // What the leader of that time calculated, and what comes of its log.
                    assertThat(json.path("digest").asText())
                            .as(seed)
                            .isEqualTo(Long.toHexString(live))
                            .isEqualTo(Long.toHexString(tree.getTreeDigest()));
                    assertThat(loaded(data, zxid)).as(seed).isEqualTo(content(tree, sessions));
                    if (zxid == restored) {
                        expected = content(tree, sessions);
                    }
                    BuiltDistribution.deleteTree(data);
                }
            } while (log.next());
        }
    }

    @Test
    @Order(2)
    void anEnsembleStartsFromAPointAndItsBackupsBeginANewHistory() throws Exception {
        for (int id : ensemble.all()) {
            Path data = ensemble.server(id).dataDirectory();
            BuiltDistribution.deleteTree(data.resolve("version-2"));
            Said said =
                    run(
                            "backup",
                            "restore",
                            archive.toString(),
                            "--to-zxid=0x" + Long.toHexString(restored),
                            "--data-dir=" + data);
            assertThat(said.exitCode()).as(said.toString()).isZero();
            assertThat(said.out()).startsWith("Restored 0x" + Long.toHexString(restored));
        }
        ensemble.restart(1, 2, 3);
        ensemble.awaitServing();
        try (Client client = ensemble.connect()) {
            client.sync("/");
            for (Map.Entry<String, String> node : expected.entrySet()) {
                if (!node.getKey().matches("/[nm].*") || node.getKey().endsWith("/e")) {
                    continue;
                }
                Stat stat = new Stat();
                byte[] data = client.getData(node.getKey(), false, stat);
                assertThat(node.getValue())
                        .startsWith(new String(data, StandardCharsets.ISO_8859_1) + " ");
                assertThat(stat.getMzxid()).isLessThanOrEqualTo(restored);
            }
            client.create("/after", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
        ensemble.awaitFast();
        boolean lacksEntries = restored < end();
        Said said = run("backup", "--to", archive.toString(), "--every=1h", "--once");
        assertThat(said.exitCode()).as(said.toString()).isZero();
        if (lacksEntries) {
            assertThat(said.err()).contains("A new history begins with a full backup");
        }
        assertThat(archived("history-[^/]*")).hasSize(lacksEntries ? 2 : 1);
    }

    /** It came back with a snapshot, and lacks what another one has that is down just then. */
    @Test
    @Order(3)
    void aServerThatLacksTheEndBeginsNoHistory() throws Exception {
        archive = folder.resolve("archive-of-some");
        String[] round = {"backup", "--to", archive.toString(), "--every=1h", "--once"};
        write(20);
        assertThat(run(round).exitCode()).isZero();
        int empty = ensemble.followers().get(0);
        int down = ensemble.followers().get(1);
        ensemble.terminate(empty);
        BuiltDistribution.deleteTree(ensemble.server(empty).dataDirectory().resolve("version-2"));
        // More than snapCount: it gets a snapshot that is newer than the end of the archive.
        write(3 * WRITES_OF_A_PHASE);
        ensemble.restart(empty);
        ensemble.awaitServing();
        ensemble.terminate(down);
        List<String> before = archived(".*");
        for (String[] options :
                List.of(round, new String[] {"backup", "--to", archive.toString()})) {
            Said said = run(List.of(empty, down), options);
            assertThat(said.exitCode()).as(said.toString()).isEqualTo(1);
            assertThat(said.err())
                    .contains("no new history is begun")
                    .contains(
                            "Without an answer of "
                                    + hosting.address(down).client()
                                    + ", which may have that entry");
            assertThat(archived(".*")).isEqualTo(before);
        }
        ensemble.restart(down);
        ensemble.awaitServing();
        // The second endpoint alone continues the archive. Once the archive has its log, either
        // server may give the backup.
        Said said = run(List.of(empty, down), "backup", "--to", archive.toString());
        assertThat(said.exitCode()).as(said.toString()).isZero();
        assertThat(archived("history-[^/]*")).hasSize(1);
        assertThat(fulls()).hasSize(2);
    }

    /** Needs the ensemble of the test before, and the packages of {@link S3Server}. */
    @Tag("long")
    @Test
    @Order(4)
    void anArchiveInS3() throws Exception {
        String place = "s3://backups/zookeeper/orders";
        String[] round = {"backup", "--to", place, "--every=1h", "--once"};
        try (S3Server server = S3Server.start(folder.resolve("s3.log"), "backups")) {
            variables.putAll(server.environment());
            Said said = run("backup", "--to", place, "--keep=7d");
            assertThat(said.exitCode()).as(said.toString()).isZero();
            write(WRITES_OF_A_PHASE);
            said = run(round);
            assertThat(said.exitCode()).as(said.toString()).isZero();
            assertThat(said.out() + said.err()).isEmpty();

            JsonNode status = run("backup", "status", place, "-o", "json").json();
            assertThat(status.path("problems")).isEmpty();
            assertThat(status.path("histories")).hasSize(1);
            long through = Long.decode(status.path("histories").get(0).path("to").asText());
            said = run("backup", "verify", place);
            assertThat(said.exitCode()).as(said.toString()).isZero();
            assertThat(said.out())
                    .startsWith("Verified 0x" + Long.toHexString(through))
                    .contains("as the ensemble had");
            Path data = Files.createDirectory(folder.resolve("from-s3"));
            said = run("backup", "restore", place, "--data-dir=" + data);
            assertThat(said.exitCode()).as(said.toString()).isZero();
            assertThat(loaded(data, through)).containsKey("sessions");
        }
        Said unreachable = run(round);
        assertThat(unreachable.exitCode()).isEqualTo(1);
        assertThat(unreachable.err())
                .contains("saucr: " + place + ": Unable to execute HTTP request");
    }
}
