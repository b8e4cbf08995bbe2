package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.tests.ensemble.HoldingProxy.Direction;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import net.bytebuddy.implementation.FixedValue;
import net.bytebuddy.implementation.MethodCall;
import net.bytebuddy.implementation.StubMethod;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A server was synchronised by a snapshot and has no log. It leads, logs a proposal that reaches
 * nobody, and dies; the other two go on without it. When it returns, the new leader sends a TRUNC
 * to a zxid that only its snapshot covers. The proposal was never committed, so nobody may serve
 * it, not even after a restart of all. It creates an ephemeral node of a session that lives on, and
 * no server may go on counting it as that session's (H15).
 *
 * <p>The same scenarios are run with servers that truncate as Apache's do, and with some that keep
 * newer snapshots. They serve what was never committed.
 */
@NeedsCompiler
class TruncationIT {
    private static final int LOW = 1;
    private static final int NEXT_LEADER = 2;
    private static final int LEADER = CabledEnsemble.LEADER;
    private static final int SESSION_MILLIS = 600_000;
    private static final int WRITES = 30;
    private static final int BEGINNING_BYTES = 4096;
    private static final String PATH = "/never-committed";

    private static final String LOG = "org.apache.zookeeper.server.persistence.SaucrTxnLog";
    private static final String LEADER_SERVER =
            "org.apache.zookeeper.server.quorum.SaucrLeaderServer";
    private static final String FILES = "org.apache.zookeeper.server.persistence.RawLog";

    /** Whether the server takes a snapshot that has the proposal before it returns. */
    private enum Meanwhile {
        NOTHING,
        SNAPSHOT
    }

    /**
     * Which servers show the node, or count an ephemeral one: after the server has returned, and
     * after a restart of all.
     */
    private record Served(List<Integer> atFirst, List<Integer> afterRestart) {}

    private static final Served BY_NOBODY = new Served(List.of(), List.of());

    @Tag("long")
    @Test
    void truncToWhatOnlyASnapshotHoldsKeepsNothingOfWhatFollows() throws Exception {
        assertThat(tell("trunc-to-snapshot", BuiltDistribution.servers(), Meanwhile.NOTHING))
                .isEqualTo(BY_NOBODY);
    }

    @Tag("long")
    @Test
    void apachesTruncateKeepsTheNextEntry() throws Exception {
        Distribution apaches =
                BuiltDistribution.changed(
                        "trunc-as-apache",
                        LOG,
                        "truncate",
                        MethodCall.invoke(FileTxnLog.class.getMethod("truncate", long.class))
                                .onMethodCall(
                                        MethodCall.construct(
                                                        FileTxnLog.class.getConstructor(File.class))
                                                .withMethodCall(
                                                        MethodCall.invoke(
                                                                        Path.class.getMethod(
                                                                                "toFile"))
                                                                .onField("directory")))
                                .withAllArguments());
        assertThat(tell("trunc-as-apache", apaches, Meanwhile.NOTHING).atFirst()).contains(LEADER);
    }

    @Test
    void noSnapshotSurvivesThatIsNewerThanWhatIsTruncatedTo() throws Exception {
        assertThat(tell("trunc-snapshot", snapshotsWhenElected(), Meanwhile.SNAPSHOT))
                .isEqualTo(BY_NOBODY);
    }

    @Tag("long")
    @Test
    void aNewerSnapshotThatStaysIsServed() throws Exception {
        Distribution keeping =
                BuiltDistribution.changed(
                        "trunc-snapshot-kept",
                        snapshotsWhenElected(),
                        FILES,
                        "removeSnapshotsAfter",
                        StubMethod.INSTANCE);
        assertThat(tell("trunc-snapshot-kept", keeping, Meanwhile.SNAPSHOT).atFirst())
                .contains(LEADER);
    }

    /** It may take itself for connected to a server that has just died. */
    private static boolean isServed(Client client) throws KeeperException, InterruptedException {
        try {
            return client.exists("/", false) != null;
        } catch (KeeperException.ConnectionLossException e) {
            return false;
        }
    }

    /** As Apache's leaders, whose data a server may go on with, and those of older versions. */
    private static Distribution snapshotsWhenElected() throws IOException {
        return BuiltDistribution.changed(
                "trunc-snapshots", LEADER_SERVER, "diskHasTree", FixedValue.value(false));
    }

    private static Served tell(String name, Distribution servers, Meanwhile meanwhile)
            throws Exception {
        try (SaucrEnsemble ensemble = CabledEnsemble.prepare(name, servers)) {
            List<AckedWrites> writes = new ArrayList<>();
            try (HoldingProxy cable = CabledEnsemble.cable(ensemble, NEXT_LEADER)) {
                ensemble.server(NEXT_LEADER).configure("forceSnapshotSync", "true");
                ensemble.restart(LOW, NEXT_LEADER);
                ensemble.awaitServing();
                try (Client client = ensemble.connectFor(SESSION_MILLIS)) {
                    writes.add(written(ensemble, "/before"));
                    stopSynchronisedBySnapshot(ensemble);
                    // A third server would be sent a snapshot, too, and would win with it.
                    ensemble.restart(NEXT_LEADER, LEADER);
                    ensemble.awaitServing();
                    assertThat(ensemble.leader()).isEqualTo(LEADER);
                    // The client keeps the session that it had; a new session would be the first
                    // entry.
                    SaucrEnsemble.await("the client", () -> isServed(client));
                    cable.hold(Direction.BACK);
                    CompletableFuture<Integer> answer =
                            CabledEnsemble.create(client, PATH, CreateMode.EPHEMERAL);
                    SaucrEnsemble.await("the proposal", () -> logged(ensemble));
                    assertThat(answer).isNotDone();
                    client.vanish();
                }
                if (meanwhile == Meanwhile.SNAPSHOT) {
                    leadOnceMore(ensemble);
                }
                ensemble.kill(LEADER);
            }
            ensemble.kill(NEXT_LEADER);
            ensemble.shim(NEXT_LEADER).detours(Map.of());
            ensemble.restart(LOW, NEXT_LEADER);
            ensemble.awaitServing();
            assertThat(ensemble.leader()).isEqualTo(NEXT_LEADER);
            LocalTime returned = SaucrEnsemble.now();
            ensemble.restart(LEADER);
            ensemble.awaitServing();
            assertThat(ensemble.log(LEADER, returned, "Truncating log to get in sync"))
                    .isNotEmpty();
            List<Integer> atFirst = serving(ensemble);
            writes.add(written(ensemble, "/after"));
            assertAll(ensemble, writes);

            Integer[] all = ensemble.all().toArray(Integer[]::new);
            ensemble.killAtOneInstant(all);
            ensemble.restart(all);
            ensemble.awaitServing();
            assertAll(ensemble, writes);
            return new Served(atFirst, serving(ensemble));
        }
    }

    /** The server that will lead has a snapshot, and no log at all, when all have stopped. */
    private static void stopSynchronisedBySnapshot(SaucrEnsemble ensemble) throws Exception {
        LocalTime started = SaucrEnsemble.now();
        ensemble.restart(LEADER);
        ensemble.awaitServing();
        assertThat(ensemble.log(LEADER, started, "Getting a snapshot from leader")).isNotEmpty();
        ensemble.terminate(LEADER, LOW, NEXT_LEADER);
        for (int id : ensemble.all()) {
            ensemble.server(id).configure("forceSnapshotSync", null);
        }
        assertThat(ensemble.logFiles(LEADER)).isEmpty();
    }

    /**
     * The server is elected with its proposal, and takes a snapshot of it before it hears that
     * anybody follows. The seal of its view, which it asks for as soon as it has acked the
     * proposal, is in the log by then or not.
     */
    private static void leadOnceMore(SaucrEnsemble ensemble) throws Exception {
        Path log = ensemble.logFiles(LEADER).get(0);
        ensemble.killAtOneInstant(LEADER, NEXT_LEADER);
        ensemble.restart(NEXT_LEADER, LEADER);
        SaucrEnsemble.await("the snapshot", () -> hasSnapshotFrom(log));
    }

    /** Whether the folder has a snapshot of the first entry of the log file, or of a later one. */
    private static boolean hasSnapshotFrom(Path log) throws IOException {
        try (Stream<Path> files = Files.list(log.getParent())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("snapshot."))
                    .anyMatch(name -> zxid(name) >= zxid(log.getFileName().toString()));
        }
    }

    private static long zxid(String name) {
        return Long.parseLong(name.substring(name.indexOf('.') + 1), 16);
    }

    /** Whether the proposal is the first entry of the only log file. */
    private static boolean logged(SaucrEnsemble ensemble) throws IOException {
        List<Path> logs = ensemble.logFiles(LEADER);
        if (logs.isEmpty()) {
            return false;
        }
        assertThat(logs).hasSize(1);
        try (InputStream in = Files.newInputStream(logs.get(0))) {
            byte[] beginning = in.readNBytes(BEGINNING_BYTES);
            return new String(beginning, StandardCharsets.ISO_8859_1).contains(PATH);
        }
    }

    private static AckedWrites written(SaucrEnsemble ensemble, String parent) throws Exception {
        return AckedWrites.written(ensemble.connect(), parent, 4, WRITES);
    }

    private static void assertAll(SaucrEnsemble ensemble, List<AckedWrites> writes)
            throws Exception {
        for (AckedWrites each : writes) {
            each.assertAllOnEachOf(ensemble);
        }
    }

    private static List<Integer> serving(SaucrEnsemble ensemble) throws Exception {
        List<Integer> serving = new ArrayList<>();
        for (int id : ensemble.all()) {
            try (Client reader = ensemble.connect(id)) {
                if (reader.exists(PATH, false) != null
                        || !"0".equals(ensemble.mntr(id).get("zk_ephemerals_count"))) {
                    serving.add(id);
                }
            }
        }
        return serving;
    }
}
