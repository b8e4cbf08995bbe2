package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.LoopbackHosting.Disk;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.Test;

/**
 * What operators leave beside a server's data, copies of its own files above all, is no data: it is
 * never read, never removed, and never a reason to stop. DataFolderTest has the names.
 */
class BesideDataIT {
    private static final int LAST = 3;
    private static final int WRITES = 30;

    /** The order of a folder is not known: one of them comes behind the file that it is made of. */
    private static final List<String> SUFFIXES = List.of(".bak", ".old", ".orig", ".save", "~");

    @Test
    void copiesOfLogsAreNotReplayed() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describe("copied-logs", 3))) {
            try (Client client = ensemble.connect()) {
                client.create("/value", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                client.setData("/value", bytes("old"), -1);
                client.create("/deleted", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
            List<Path> copies = new ArrayList<>();
            for (int id : ensemble.all()) {
                // Also of a server that was behind: then it has written them.
                try (Client client = ensemble.connect(id)) {
                    client.sync("/", (code, path, context) -> {}, null);
                    assertThat(client.exists("/deleted", false)).isNotNull();
                }
                copies.addAll(copied(ensemble.logFiles(id)));
            }
            try (Client client = ensemble.connect()) {
                client.setData("/value", bytes("new"), -1);
                client.delete("/deleted", -1);
            }
            Map<Path, String> before = described(copies);
            for (Runnable end :
                    List.<Runnable>of(() -> terminate(ensemble), () -> ensemble.kill(1, 2, LAST))) {
                end.run();
                ensemble.restart(1, 2, LAST);
                ensemble.awaitServing();
                for (int id : ensemble.all()) {
                    try (Client client = ensemble.connect(id)) {
                        client.sync("/", (code, path, context) -> {}, null);
                        assertThat(client.getData("/value", false, null))
                                .as("server %d", id)
                                .isEqualTo(bytes("new"));
                        assertThat(client.exists("/deleted", false)).isNull();
                    }
                }
                assertThat(described(copies)).isEqualTo(before);
            }
        }
    }

    private static void terminate(SaucrEnsemble ensemble) {
        try {
            ensemble.terminate(1, 2, LAST);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** As a follower that gets a snapshot, and as one that lost its log. */
    @Test
    void aFolderNamedLikeASnapshotStopsNoServerAndStays() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describe("folder-like-a-snapshot", 3))) {
            ensemble.terminate(LAST);
            for (int id : List.of(1, 2)) {
                ensemble.terminate(id);
                ensemble.server(id).configure("forceSnapshotSync", "true");
            }
            ensemble.restart(1, 2);
            ensemble.awaitServing();
            List<AckedWrites> writes = new ArrayList<>();
            writes.add(AckedWrites.written(ensemble.connect(), "/missed", 1, WRITES));
            Map<Path, String> foreign = foreign(ensemble);

            LocalTime joined = SaucrEnsemble.now();
            ensemble.restart(LAST);
            ensemble.awaitServing();
            assertThat(ensemble.log(LAST, joined, "Getting a snapshot from leader")).isNotEmpty();
            writes.add(AckedWrites.written(ensemble.connect(), "/joined", 1, WRITES));
            assertThat(described(foreign.keySet())).isEqualTo(foreign);

            writes.add(ensemble.writeAndDie());
            for (Path log : ensemble.logFiles(LAST)) {
                if (Files.isRegularFile(log) && !foreign.containsKey(log)) {
                    Files.delete(log);
                }
            }
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(1, 2, LAST);
            ensemble.awaitServing();
            assertThat(ensemble.log(LAST, restarted, "Recovered through")).isNotEmpty();
            for (AckedWrites each : writes) {
                each.assertAllOnEachOf(ensemble);
            }
            assertThat(described(foreign.keySet())).isEqualTo(foreign);
        }
    }

    /** A snapshot replaces everything that is the server's; then all end, and it loses power. */
    @Test
    @NeedsCompiler
    void aRecoveryByASnapshotLeavesThemAndSoDoesAPowerCut() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("recovered-beside", 3)
                                .set("snapCount", "100")
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("saucr.idleFlush", "1h")
                                .disk(Disk.SHIM_WITH_JOURNAL))) {
            ensemble.awaitFast();
            List<AckedWrites> writes = new ArrayList<>();
            writes.add(AckedWrites.written(ensemble.connect(), "/before", 4, WRITES));
            ensemble.losePowerInFastMode(LAST);
            ensemble.awaitServing();
            writes.add(AckedWrites.beyondTheLogs(ensemble, "/after", 1, 2));
            Map<Path, String> foreign = foreign(ensemble);
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(LAST);
            ensemble.awaitServing();
            assertThat(ensemble.log(LAST, restarted, "Replacing log and snapshots")).isNotEmpty();
            assertThat(described(foreign.keySet())).isEqualTo(foreign);

            ensemble.killAtOneInstant(1, 2, LAST);
            ensemble.shim(LAST).losePower(false);
            ensemble.restart(1, 2, LAST);
            ensemble.awaitServing();
            for (AckedWrites each : writes) {
                each.assertAllOnEachOf(ensemble);
            }
            assertThat(described(foreign.keySet())).isEqualTo(foreign);
        }
    }

    private static Map<Path, String> foreign(SaucrEnsemble ensemble) throws IOException {
        Path version = ensemble.server(LAST).dataDirectory().resolve("version-2");
        List<Path> all = new ArrayList<>(copied(ensemble.logFiles(LAST)));
        all.addAll(copied(ensemble.snapshots(LAST)));
        for (String name :
                List.of(
                        "snapshot.20261128",
                        "log.20261128",
                        "snapshot.ffffffffff.gz",
                        "saucr.snapshot.5",
                        "saucr.staging.old",
                        "saucr.replacement.old")) {
            Path folder = Files.createDirectory(version.resolve(name));
            all.add(Files.writeString(folder.resolve("copy"), "mine"));
        }
        return described(all);
    }

    private static List<Path> copied(List<Path> files) throws IOException {
        List<Path> copies = new ArrayList<>();
        for (Path file : files) {
            for (String suffix : SUFFIXES) {
                copies.add(Files.copy(file, file.resolveSibling(file.getFileName() + suffix)));
            }
        }
        return copies;
    }

    private static Map<Path, String> described(Iterable<Path> files) throws IOException {
        Map<Path, String> found = new TreeMap<>();
        for (Path file : files) {
            found.put(file, Files.size(file) + " " + Files.getLastModifiedTime(file));
        }
        return found;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
