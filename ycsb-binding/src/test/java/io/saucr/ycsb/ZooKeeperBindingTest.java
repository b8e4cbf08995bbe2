package io.saucr.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/** The binding against a real server. */
@Tag("slow")
@SuppressWarnings("JdkObsolete") // YCSB's Vector
class ZooKeeperBindingTest {
    @TempDir static Path work;

    private static Ensemble ensemble;
    private static int tables;

    private final List<ZooKeeperBinding> open = new ArrayList<>();

    @BeforeAll
    static void startServers() throws Exception {
        ensemble = Ensemble.of(Distribution.stock(), work).voters(3).build();
        ensemble.start();
        ensemble.awaitServing(Duration.ofSeconds(90));
    }

    @AfterAll
    static void stopServers() {
        ensemble.close();
    }

    @AfterEach
    void closeSessions() throws Exception {
        for (ZooKeeperBinding binding : open) {
            binding.cleanup();
        }
    }

    /** The same for all, so that what one writes the next one reads. */
    private static String server() {
        return ensemble.server(1).address().client();
    }

    private static Properties properties(String... more) {
        Properties properties = new Properties();
        properties.setProperty("zookeeper.connectString", server());
        properties.setProperty("fieldcount", "2");
        for (int i = 0; i < more.length; i += 2) {
            properties.setProperty(more[i], more[i + 1]);
        }
        return properties;
    }

    private ZooKeeperBinding open(Properties properties) throws DBException {
        ZooKeeperBinding binding = new ZooKeeperBinding();
        binding.setProperties(properties);
        binding.init();
        open.add(binding);
        return binding;
    }

    private static String table() {
        return "table" + tables++;
    }

    private static Map<String, ByteIterator> fields(String... namesAndValues) {
        Map<String, ByteIterator> fields = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put(namesAndValues[i], new StringByteIterator(namesAndValues[i + 1]));
        }
        return fields;
    }

    private static Map<String, String> text(Map<String, ByteIterator> fields) {
        Map<String, String> text = new HashMap<>();
        fields.forEach(
                (name, value) ->
                        text.put(name, new String(value.toArray(), StandardCharsets.UTF_8)));
        return text;
    }

    @Test
    void aRecordFromItsInsertToItsDeletion() throws Exception {
        String table = table();
        ZooKeeperBinding db = open(properties("table", table));
        assertThat(db.insert(table, "user1", fields("a", "1", "b", "2"))).isEqualTo(Status.OK);
        assertThat(db.insert(table, "user1", fields("a", "1"))).isEqualTo(Status.UNEXPECTED_STATE);

        Map<String, ByteIterator> read = new HashMap<>();
        assertThat(db.read(table, "user1", null, read)).isEqualTo(Status.OK);
        assertThat(text(read)).isEqualTo(Map.of("a", "1", "b", "2"));

        assertThat(db.update(table, "user1", fields("b", "new"))).isEqualTo(Status.OK);
        read.clear();
        db.read(table, "user1", Set.of("b"), read);
        assertThat(text(read)).isEqualTo(Map.of("b", "new"));

        assertThat(db.update(table, "user1", fields("a", "x", "b", "y"))).isEqualTo(Status.OK);
        read.clear();
        db.read(table, "user1", null, read);
        assertThat(text(read)).isEqualTo(Map.of("a", "x", "b", "y"));

        assertThat(db.delete(table, "user1")).isEqualTo(Status.OK);
        assertThat(db.delete(table, "user1")).isEqualTo(Status.NOT_FOUND);
        assertThat(db.read(table, "user1", null, read)).isEqualTo(Status.NOT_FOUND);
        assertThat(db.update(table, "user1", fields("a", "x", "b", "y")))
                .isEqualTo(Status.NOT_FOUND);
        assertThat(db.read(table, "a/b", null, read)).isEqualTo(Status.BAD_REQUEST);
    }

    @Test
    void scansGoByTheOrderOfKeys() throws Exception {
        String table = table();
        ZooKeeperBinding db = open(properties("table", table));
        for (String key : List.of("k3", "k1", "k5", "k2", "k4")) {
            db.insert(table, key, fields("name", key, "other", "x"));
        }
        Vector<HashMap<String, ByteIterator>> found = new Vector<>();
        assertThat(db.scan(table, "k2", 3, Set.of("name"), found)).isEqualTo(Status.OK);
        assertThat(found.stream().map(ZooKeeperBindingTest::text))
                .containsExactly(Map.of("name", "k2"), Map.of("name", "k3"), Map.of("name", "k4"));
        found.clear();
        assertThat(db.scan(table, "k9", 3, null, found)).isEqualTo(Status.OK);
        assertThat(found).isEmpty();
    }

    @Test
    void updatesOfDifferentFieldsDoNotUndoEachOther() throws Exception {
        String table = table();
        ZooKeeperBinding first = open(properties("table", table));
        ZooKeeperBinding second = open(properties("table", table));
        first.insert(table, "k", fields("a", "0", "b", "0"));
        int times = 50;
        Thread other =
                new Thread(
                        () -> {
                            for (int i = 1; i <= times; i++) {
                                second.update(table, "k", fields("b", Integer.toString(i)));
                            }
                        });
        other.start();
        for (int i = 1; i <= times; i++) {
            assertThat(first.update(table, "k", fields("a", Integer.toString(i))))
                    .isEqualTo(Status.OK);
        }
        other.join();
        Map<String, ByteIterator> read = new HashMap<>();
        first.read(table, "k", null, read);
        assertThat(text(read)).isEqualTo(Map.of("a", "" + times, "b", "" + times));
    }

    @Test
    void asynchronousWritesAreAllThereAfterTheCleanup() throws Exception {
        String table = table();
        Properties properties = properties("table", table, "zookeeper.asyncDepth", "16");
        ZooKeeperBinding db = new ZooKeeperBinding();
        db.setProperties(properties);
        db.init();
        for (int i = 0; i < 200; i++) {
            assertThat(db.insert(table, "k" + i, fields("a", "1", "b", "2")))
                    .isEqualTo(Status.BATCHED_OK);
        }
        db.cleanup();
        ZooKeeperBinding reader = open(properties);
        Vector<HashMap<String, ByteIterator>> found = new Vector<>();
        assertThat(reader.scan(table, "k", 1000, null, found)).isEqualTo(Status.OK);
        assertThat(found).hasSize(200);
    }

    @Test
    void anAsynchronousWriteThatFailsIsNotForgotten() throws Exception {
        String table = table();
        ZooKeeperBinding db = new ZooKeeperBinding();
        db.setProperties(properties("table", table, "zookeeper.asyncDepth", "4"));
        db.init();
        assertThat(db.delete(table, "missing")).isEqualTo(Status.BATCHED_OK);
        assertThatThrownBy(db::cleanup)
                .isInstanceOf(DBException.class)
                .hasMessageContaining("1 asynchronous writes failed, the last with NONODE");
    }

    @Test
    void aChrootIsMadeAndCredentialsKeepOthersOut() throws Exception {
        String table = table();
        ZooKeeperBinding mine =
                open(
                        properties(
                                "table", table,
                                "zookeeper.chroot", "/deep/inside",
                                "zookeeper.auth", "digest:me:secret"));
        assertThat(mine.insert(table, "k", fields("a", "1"))).isEqualTo(Status.OK);
        ZooKeeperBinding other =
                open(properties("table", table, "zookeeper.chroot", "/deep/inside"));
        assertThat(other.read(table, "k", null, new HashMap<>())).isEqualTo(Status.FORBIDDEN);
        ZooKeeper plain = new ZooKeeper(server(), 10_000, event -> {});
        try {
            assertThatThrownBy(() -> plain.getData("/deep/inside/" + table + "/k", false, null))
                    .isInstanceOf(KeeperException.NoAuthException.class);
        } finally {
            plain.close();
        }
    }

    @Test
    void aNodeThatIsNoRecordIsAnUnexpectedState() throws Exception {
        String table = table();
        ZooKeeperBinding db = open(properties("table", table));
        db.insert(table, "k", fields("a", "1", "b", "2"));
        ZooKeeper plain = new ZooKeeper(server(), 10_000, event -> {});
        try {
            plain.setData("/" + table + "/k", new byte[] {9, 9}, -1);
        } finally {
            plain.close();
        }
        assertThat(db.read(table, "k", null, new HashMap<>())).isEqualTo(Status.UNEXPECTED_STATE);
    }

    @Test
    void withoutAServerTheStartFailsInTime() {
        ZooKeeperBinding db = new ZooKeeperBinding();
        db.setProperties(
                properties(
                        "zookeeper.connectString", "127.0.0.1:1",
                        "zookeeper.connectTimeout", "300"));
        assertThatThrownBy(db::init)
                .isInstanceOf(DBException.class)
                .hasMessageContaining("no ZooKeeper server of 127.0.0.1:1 answered within 300 ms");
    }

    /** YCSB's own workload class drives the binding with the files that we ship. */
    @Test
    void everyWorkloadFileRuns() throws Exception {
        for (String file :
                List.of(
                        "load",
                        "workloada",
                        "workloadb",
                        "workloadc",
                        "workloadd",
                        "workloade",
                        "workloadf")) {
            String table = table();
            Properties properties = new Properties();
            try (InputStream in = new FileInputStream("../workloads/" + file)) {
                properties.load(in);
            }
            properties.putAll(properties("table", table));
            properties.setProperty("fieldcount", "1");
            properties.setProperty("recordcount", "20");
            properties.setProperty("dataintegrity", "true");
            properties.setProperty("fieldlengthdistribution", "constant");
            Measurements.setProperties(properties);
            CoreWorkload workload = new CoreWorkload();
            workload.init(properties);
            ZooKeeperBinding db = open(properties);
            Object state = workload.initThread(properties, 0, 1);
            for (int i = 0; i < 20; i++) {
                assertThat(workload.doInsert(db, state)).as(file).isTrue();
            }
            for (int i = 0; i < 30; i++) {
                assertThat(workload.doTransaction(db, state)).as(file).isTrue();
            }
            Vector<HashMap<String, ByteIterator>> found = new Vector<>();
            db.scan(table, "user", 1000, null, found);
            assertThat(found).as(file).hasSizeGreaterThanOrEqualTo(20);
            assertThat(found.get(0).get("field0").bytesLeft()).isEqualTo(1024);
        }
    }
}
