package org.apache.zookeeper.server.persistence;

import static org.apache.zookeeper.server.persistence.Transactions.zxids;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.StartAssessment.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.persistence.PowerCutDisk.PowerCut;
import org.apache.zookeeper.server.persistence.PowerCutDisk.Unforced;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An operator finds a server that crashed while it recovered, after it had decided to replace its
 * history by one copied from elsewhere; log and snapshots lie in different directories. What counts
 * is the copied history, whatever an operator does and wherever a power cut interrupts it (R17,
 * R19).
 */
class StoppedServerTest {
    private static final long LAST = Zxid.of(2, 6);
    private static final long SNAPSHOT = Zxid.of(2, 3);
    private static final View VIEW = new View(Zxid.of(1, 1), 3, List.of(1L, 3L));

    @TempDir Path folder;

    private final Random random = new Random(5);
    private Path found;
    private int directories;

    @BeforeEach
    void aServerWithAPendingReplacement() throws IOException {
        found = directory();
        Path snapshots = Files.createDirectories(found.resolve("data/version-2"));
        Files.writeString(found.resolve("data/myid"), "1\n");
        Path logs = Files.createDirectories(found.resolve("log/version-2"));
        snapshot(new DataTree(), snapshots.resolve("snapshot.0"));
        Files.writeString(snapshots.resolve(RecoveryStore.CURRENT_EPOCH), "1");
        Files.writeString(snapshots.resolve(RecoveryStore.ACCEPTED_EPOCH), "1");
        Transactions.writeFile(logs, zxids(1, 1, 4));
        Transactions.writeFile(logs, zxids(1, 5, 9));
        MarkerStore markers = new MarkerStore(logs);
        markers.writeLatestOnDisk(Zxid.of(1, 2), LleMap.empty().with(1, Zxid.of(1, 9)), VIEW);
        markers.writeFastSwitch(Zxid.of(1, 3));

        Path staging = Files.createDirectories(logs.resolve("saucr.staging"));
        DataTree tree = new DataTree();
        for (long zxid : zxids(2, 1, 3)) {
            Request request = Transactions.create(zxid);
            tree.processTxn(request.getHdr(), request.getTxn());
        }
        snapshot(tree, staging.resolve("snapshot." + Long.toHexString(SNAPSHOT)));
        Transactions.writeFile(staging, zxids(2, 4, 6));
        CopiedHistory.decide(logs, 2);
    }

    private static void snapshot(DataTree tree, Path file) throws IOException {
        new FileSnap(file.getParent().toFile())
                .serialize(tree, new ConcurrentHashMap<>(), file.toFile(), false);
    }

    private Path directory() throws IOException {
        return Files.createDirectories(folder.resolve(Integer.toString(directories++)));
    }

    private static StoppedServer server(Path root) throws IOException {
        return new StoppedServer(root.resolve("data"), root.resolve("log"), Optional.empty());
    }

    /** Names and sizes of all files. */
    private static Map<String, Long> files(Path root) throws IOException {
        Map<String, Long> sizes = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                sizes.put(root.relativize(file).toString(), Files.size(file));
            }
        }
        return sizes;
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(file, target);
                }
            }
        }
    }

    @Test
    void inspectSaysWhatTheReplacementHolds() throws IOException {
        Map<String, Long> before = files(found);
        StoppedServer.Findings findings = server(found).inspect();
        assertThat(findings.markers().crashedInFastMode()).isTrue();
        assertThat(findings.lastLogged()).isEqualTo(LAST);
        assertThat(findings.snapshot()).isEqualTo(SNAPSHOT);
        assertThat(findings.currentEpoch()).isEqualTo(2);
        assertThat(findings.acceptedEpoch()).isEqualTo(2);
        assertThat(findings.damage()).contains("about to replace this one");
        assertThat(files(found)).isEqualTo(before);
    }

    @Test
    void acceptLossCarriesTheReplacementThroughWhereverThePowerIsCut() throws IOException {
        boolean cut = true;
        int operation = 0;
        for (; cut; operation++) {
            Path data = directory();
            copy(found, data);
            PowerCutDisk disk = new PowerCutDisk(data);
            disk.cutBefore(operation);
            String where = "not cut";
            cut = false;
            try {
                server(disk.root()).acceptLoss();
            } catch (PowerCut e) {
                cut = true;
                where = e.getMessage();
            }
            for (Unforced files : Unforced.values()) {
                for (Unforced names : Unforced.values()) {
                    Path after = directory();
                    disk.afterPowerCut(after, files, names, random);
                    assertAccepted(where + ", files " + files + ", names " + names, after, cut);
                }
            }
        }
        assertThat(operation).as("operations").isGreaterThan(15);
    }

    /** What the next start finds is complete, so that it does not ask for the same once more. */
    @ParameterizedTest
    @ValueSource(strings = {RecoveryStore.ACCEPTED_EPOCH, RecoveryStore.CURRENT_EPOCH})
    void theLossOfAnEpochFileIsAcceptedOnce(String name) throws IOException {
        server(found).acceptLoss();
        Path snapshots = found.resolve("data/version-2");
        Files.delete(snapshots.resolve(name));
        assertThat(server(found).inspect().assessment().verdict()).isEqualTo(Verdict.DISK_LOST);
        server(found).acceptLoss();
        StoppedServer.Findings findings = server(found).inspect();
        assertThat(findings.assessment().verdict()).isEqualTo(Verdict.COMPLETE);
        assertThat(findings.currentEpoch()).isEqualTo(2);
        assertThat(findings.acceptedEpoch()).isEqualTo(2);
    }

    private static void assertAccepted(String what, Path root, boolean mayBeUnfinished)
            throws IOException {
        StoppedServer.Findings halfway = server(root).inspect();
        assertThat(halfway.lastLogged()).as(what).isEqualTo(LAST);
        assertThat(halfway.currentEpoch()).as(what).isEqualTo(2);
        if (halfway.markers().crashedInFastMode()) {
            assertThat(mayBeUnfinished).as(what).isTrue();
            server(root).acceptLoss();
        }
        StoppedServer.Findings findings = server(root).inspect();
        assertThat(findings.markers().crashedInFastMode()).as(what).isFalse();
        assertThat(findings.markers().latestOnDisk()).as(what).isEqualTo(LAST);
        assertThat(findings.markers().lleMap().get(1)).as(what).isEqualTo(Zxid.of(1, 9));
        assertThat(findings.markers().view()).as(what).isEqualTo(VIEW);
        assertThat(findings.lastLogged()).as(what).isEqualTo(LAST);
        assertThat(findings.snapshot()).as(what).isEqualTo(SNAPSHOT);
        assertThat(findings.damage()).as(what).isEqualTo("none");
        assertThat(findings.currentEpoch()).as(what).isEqualTo(2);
        assertThat(findings.acceptedEpoch()).as(what).isEqualTo(2);
        assertThat(files(root).keySet())
                .as(what)
                .contains("log/version-2/log.200000004", "data/version-2/snapshot.200000003")
                .doesNotContain("log/version-2/log.100000001", "data/version-2/snapshot.0")
                .noneMatch(name -> name.contains("saucr.replacement"));
    }
}
