package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryMessage.LostQuery;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A server knows what it should have (R26). All processes die in fast mode while clients write; one
 * server's disk is damaged or empty when they start again.
 */
@NeedsCompiler
class LostDiskIT {
    private static final int LOSER = 1;
    private static final int CRASHED = 2;
    private static final int OTHER = 3;
    private static final int WRITES = 50;

    /** How a disk is damaged, and what the server must say about it when it starts. */
    private record LostPart(Predicate<String> files, String words) {}

    private static final LostPart EVERYTHING = new LostPart(name -> true, "is empty");
    private static final LostPart LOG =
            new LostPart(name -> name.startsWith("log."), "and was synced through");

    @Test
    void r26AServerWithoutItsDiskOrItsLogComesBackWithEverything() throws Exception {
        comesBackWithEverything("lost-disk-or-log", List.of(EVERYTHING, LOG));
    }

    @Tag("long")
    @Test
    void r26WhateverIsGoneComesBackWithEverything() throws Exception {
        List<LostPart> parts =
                List.of(
                        new LostPart(
                                name -> name.startsWith("log.") || name.startsWith("saucr."),
                                "there is no marker in it"),
                        EVERYTHING,
                        new LostPart(name -> name.startsWith("saucr."), "there is no marker in it"),
                        new LostPart(
                                name -> name.startsWith("snapshot.") || name.endsWith("Epoch"),
                                "the epoch file is lost"),
                        LOG);
        comesBackWithEverything("lost-parts", parts);
    }

    private static void comesBackWithEverything(String name, List<LostPart> parts)
            throws Exception {
        try (SaucrEnsemble ensemble = start(name)) {
            List<AckedWrites> writes = new ArrayList<>();
            for (LostPart part : parts) {
                writes.add(ensemble.writeAndDie());
                delete(data(ensemble, LOSER), part.files);
                LocalTime restarted = SaucrEnsemble.now();
                ensemble.restart(LOSER, 2, 3);
                ensemble.awaitServing();
                assertThat(ensemble.log(LOSER, restarted, part.words)).isNotEmpty();
                assertThat(ensemble.log(LOSER, restarted, "Recovered through")).isNotEmpty();
                for (AckedWrites each : writes) {
                    each.assertAllOnEachOf(ensemble);
                }
            }
        }
    }

    /** A job that removes old files, for example. The server serves on, and says so. */
    @Test
    void aLogThatIsRemovedBelowARunningServerIsTold() throws Exception {
        try (SaucrEnsemble ensemble = start("removed-log")) {
            ensemble.awaitFast();
            AckedWrites before = AckedWrites.written(ensemble.connect(), "/before", 1, 50);
            delete(data(ensemble, LOSER), LOG.files);
            SaucrEnsemble.await(
                    "the alarm", () -> ensemble.metric(LOSER, "zk_saucr_log_removed") == 1);
            AckedWrites after = AckedWrites.written(ensemble.connect(), "/after", 1, 50);
            assertThat(ensemble.metric(LOSER, "zk_saucr_on_disk")).isZero();
            assertThat(ensemble.metric(2, "zk_saucr_log_removed")).isZero();

            ensemble.terminate(LOSER);
            ensemble.restart(LOSER);
            ensemble.awaitServing();
            assertThat(ensemble.metric(LOSER, "zk_saucr_log_removed")).isZero();
            for (AckedWrites each : List.of(before, after)) {
                each.assertAllOnEachOf(ensemble);
            }
        }
    }

    /**
     * A leader that is not established yet may hold an ack of NEWLEADER from a process whose disk
     * is lost since. So it must not answer a server that lost its disk.
     */
    @Test
    void r26ALeaderThatIsNotEstablishedDoesNotAnswer() throws Exception {
        Ensemble.Builder voters = SaucrEnsemble.describe("not-established", 3);
        try (SaucrEnsemble ensemble = SaucrEnsemble.start(voters.set("initLimit", "1000"))) {
            int other = 3;
            ensemble.kill(2);
            ensemble.kill(other);
            Socket socket =
                    new Socket(
                            InetAddress.getLoopbackAddress(),
                            ensemble.server(1).address().electionPort());
            try (ElectionPortPeer peer = new ElectionPortPeer(socket, other, greeted -> {})) {
                peer.elect(SaucrEnsemble.PATIENCE);
                LleQuery ofLostMemory = new LleQuery(2, other, false);
                LostQuery ofLostDisk = new LostQuery(2, other, 1);
                assertThat(peer.ask(ofLostMemory, SaucrEnsemble.PATIENCE)).isPresent();
                assertThat(peer.ask(ofLostDisk, Duration.ofSeconds(2))).isEmpty();
                assertThat(peer.ask(ofLostMemory, SaucrEnsemble.PATIENCE))
                        .get()
                        .isInstanceOf(LleAnswer.class);
            }
        }
    }

    /** One complete server of three is not enough beside one that lost its disk: nobody serves. */
    @Test
    void r26AnEmptyServerIsNoAnswer() throws Exception {
        try (SaucrEnsemble ensemble = start("lost-disk-and-down")) {
            AckedWrites writes = ensemble.writeAndDie();
            delete(data(ensemble, LOSER), name -> true);
            ensemble.restart(LOSER, 2);
            Map<String, String> waiting =
                    Map.of(
                            "zk_saucr_answers_needed", "2",
                            "zk_saucr_recovery_needed", "2",
                            "zk_saucr_recovery_answered", "[]",
                            "zk_saucr_recovery_uncounted", "[2]",
                            "zk_saucr_recovery_missing", "[3]");
            SaucrEnsemble.await(
                    "the complete server has been asked, and looks for a leader",
                    () ->
                            !ensemble.log(2, LocalTime.MIN, "its machine kept running").isEmpty()
                                    && ensemble.mntr(LOSER)
                                            .entrySet()
                                            .containsAll(waiting.entrySet()));
            assertThat(ensemble.role(2)).isNotIn("leader", "follower");
            ensemble.restart(3);
            ensemble.awaitServing();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    /** The one that lives has everything, and the one that lost its memory has to be there, too. */
    @Test
    void r26ACrashBesideALostDiskInFastMode() throws Exception {
        try (SaucrEnsemble ensemble = startWithJournal("lost-disk-and-crash-fast")) {
            AckedWrites writes =
                    new AckedWrites(ensemble.connect(ensemble.awaitFast()), "/writes", 16);
            try (writes) {
                writes.awaitMore(500);
                for (int id : ensemble.all()) {
                    ensemble.awaitMemoryAlone(id);
                }
                loseDiskAndPower(ensemble);
            }
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(LOSER);
            awaitWaitingForCrashed(ensemble);
            ensemble.restart(CRASHED);
            ensemble.awaitServing();
            assertThat(ensemble.log(LOSER, restarted, "Recovered through")).isNotEmpty();
            assertThat(ensemble.log(CRASHED, restarted, "Recovered through")).isNotEmpty();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    /**
     * A bare majority has the writes on disk. One of its disks is lost, the power of the other one
     * fails, and the third server, which has none of the writes, is back first: with an empty
     * server that votes it would be a majority.
     */
    @Tag("long")
    @Test
    void r26ACrashBesideALostDiskInSlowMode() throws Exception {
        try (SaucrEnsemble ensemble = startWithJournal("lost-disk-and-crash-slow")) {
            ensemble.kill(OTHER);
            ensemble.awaitServing();
            AckedWrites writes =
                    AckedWrites.written(ensemble.connect(LOSER, CRASHED), "/writes", 16, 300);
            loseDiskAndPower(ensemble);
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(LOSER, OTHER);
            awaitWaitingForCrashed(ensemble);
            ensemble.restart(CRASHED);
            ensemble.awaitServing();
            assertThat(ensemble.log(LOSER, restarted, "Recovered through")).isNotEmpty();
            assertThat(ensemble.log(CRASHED, restarted, "Recovered through"))
                    .as("what was acknowledged from disk is there")
                    .isEmpty();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    private static SaucrEnsemble startWithJournal(String name) throws Exception {
        return SaucrEnsemble.start(
                SaucrEnsemble.describeUnforced(name, 3).disk(Disk.SHIM_WITH_JOURNAL));
    }

    /** At one instant. */
    private static void loseDiskAndPower(SaucrEnsemble ensemble) throws IOException {
        ensemble.killAtOneInstant(LOSER, CRASHED);
        delete(data(ensemble, LOSER), name -> true);
        ensemble.shim(LOSER).replaced();
        ensemble.shim(CRASHED).losePower(false);
    }

    /** Nobody serves meanwhile, although two of three servers run. */
    private static void awaitWaitingForCrashed(SaucrEnsemble ensemble) {
        SaucrEnsemble.await(
                "the other server has been asked, and the one that crashed is waited for",
                () -> {
                    Map<String, String> said = ensemble.mntr(LOSER);
                    return said.getOrDefault("zk_saucr_recovery_uncounted", "")
                                    .equals("[" + OTHER + "]")
                            && said.get("zk_saucr_recovery_missing").equals("[" + CRASHED + "]");
                });
        assertThat(ensemble.role(OTHER)).isNotIn("leader", "follower");
    }

    /**
     * While every entry is forced the markers do not change, but the noted extent of the log does
     * (R26).
     */
    @Tag("long")
    @Test
    void r26ForcedWritesThatAreGoneAreNoticedInSlowMode() throws Exception {
        try (SaucrEnsemble ensemble = start("lost-end")) {
            AckedWrites writes = writeInSlowMode(ensemble);
            SaucrEnsemble.await(
                    "the extent", () -> ensemble.identity(LOSER).extent() >= writes.lastZxid());
            ensemble.killAtOneInstant(1, 2, 3);
            ensemble.cutLog(LOSER, 1_000);
            LocalTime restarted = SaucrEnsemble.now();
            awaitRecovered(ensemble, restarted, writes);
            assertThat(ensemble.log(LOSER, restarted, "and was synced through")).isNotEmpty();
        }
    }

    /**
     * Of a batch that was not forced yet, an earlier page may be missing although a later one is on
     * disk.
     */
    @Tag("long")
    @Test
    void r26APageThatIsGoneInTheMiddleOfTheLogIsNoticedInSlowMode() throws Exception {
        try (SaucrEnsemble ensemble = start("lost-page")) {
            AckedWrites writes = writeInSlowMode(ensemble);
            ensemble.killAtOneInstant(1, 2, 3);
            ensemble.zeroPageOfLog(LOSER, 10_000);
            awaitRecovered(ensemble, SaucrEnsemble.now(), writes);
        }
    }

    /**
     * Each start begins a log file; the files beside the one that is gone have no gap that their
     * entries tell of.
     */
    @Tag("long")
    @Test
    void r26ALogFileThatIsGoneWithTheEndOfAnEpochIsMissed() throws Exception {
        try (SaucrEnsemble ensemble = start("lost-epoch-end")) {
            List<AckedWrites> writes = new ArrayList<>();
            for (String epoch : List.of("/first", "/second", "/third")) {
                if (!writes.isEmpty()) {
                    ensemble.restart(1, 2, 3);
                    ensemble.awaitServing();
                }
                writes.add(AckedWrites.written(ensemble.connect(), epoch, 4, WRITES));
                ensemble.killAtOneInstant(1, 2, 3);
            }
            int loser = removeLastFileButOne(ensemble);
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(1, 2, 3);
            ensemble.awaitServing();
            assertThat(ensemble.log(loser, restarted, "a log file is missing")).isNotEmpty();
            assertThat(ensemble.log(loser, restarted, "Recovered through")).isNotEmpty();
            for (AckedWrites each : writes) {
                each.assertAllOnEachOf(ensemble);
            }
        }
    }

    /** Of a server that needs that file: what is before its newest snapshot is not read. */
    private static int removeLastFileButOne(SaucrEnsemble ensemble) throws IOException {
        for (int id : ensemble.all()) {
            List<Path> logs = sorted(data(ensemble, id), "log.");
            List<Path> snapshots = sorted(data(ensemble, id), "snapshot.");
            if (logs.size() < 3) {
                continue;
            }
            Path file = logs.get(logs.size() - 2);
            if (SaucrEnsemble.zxidOf(snapshots.get(snapshots.size() - 1))
                    < SaucrEnsemble.zxidOf(file)) {
                Files.delete(file);
                return id;
            }
        }
        throw new AssertionError("no server needs its last log file but one");
    }

    private static List<Path> sorted(Path folder, String prefix) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().startsWith(prefix))
                    .sorted(Comparator.comparingLong(SaucrEnsemble::zxidOf))
                    .toList();
        }
    }

    private static AckedWrites writeInSlowMode(SaucrEnsemble ensemble) throws Exception {
        ensemble.awaitFast();
        ensemble.pinSlow();
        return AckedWrites.written(ensemble.connect(), "/writes", 16, 300);
    }

    private static void awaitRecovered(
            SaucrEnsemble ensemble, LocalTime restarted, AckedWrites writes) throws Exception {
        ensemble.restart(LOSER, 2, 3);
        ensemble.awaitServing();
        assertThat(ensemble.log(LOSER, restarted, "Recovered through")).isNotEmpty();
        writes.assertAllOnEachOf(ensemble);
    }

    /** Two complete servers are too few to elect a leader, so all four have to be heard. */
    @Tag("long")
    @Test
    void r26TwoOfFourComeBackWithoutALeader() throws Exception {
        List<Integer> losers = List.of(LOSER, 3);
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describeUnforced("lost-two-of-four", 4))) {
            AckedWrites writes = ensemble.writeAndDie();
            for (int loser : losers) {
                delete(data(ensemble, loser), name -> true);
            }
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(LOSER, 2, 3, 4);
            for (int loser : losers) {
                SaucrEnsemble.await(
                        "server " + loser + " has recovered",
                        () ->
                                !ensemble.log(loser, restarted, "is empty").isEmpty()
                                        && !ensemble.log(loser, restarted, "Recovered through")
                                                .isEmpty());
            }
            ensemble.awaitServing();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    @Tag("long")
    @Test
    void r26AnotherServersFolderIsRefused() throws Exception {
        try (SaucrEnsemble ensemble = start("foreign-folder")) {
            ensemble.writeAndDie();
            Path mine = data(ensemble, LOSER);
            Path others = ensemble.server(2).dataDirectory().resolve("version-2");
            delete(mine, name -> true);
            try (Stream<Path> files = Files.list(others)) {
                for (Path file : files.toList()) {
                    Files.copy(file, mine.resolve(file.getFileName()));
                }
            }
            ensemble.restart(LOSER);
            SaucrEnsemble.await(
                    "the start is refused",
                    () ->
                            !ensemble.server(LOSER).isAlive()
                                    && Files.readString(ensemble.server(LOSER).logFile())
                                            .contains("the data are those of server 2"));
        }
    }

    private static SaucrEnsemble start(String name) throws Exception {
        return SaucrEnsemble.start(SaucrEnsemble.describeUnforced(name, 3));
    }

    private static Path data(SaucrEnsemble ensemble, int id) {
        return ensemble.server(id).dataDirectory().resolve("version-2");
    }

    private static void delete(Path folder, Predicate<String> which) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                if (which.test(file.getFileName().toString())) {
                    Files.delete(file);
                }
            }
        }
    }
}
