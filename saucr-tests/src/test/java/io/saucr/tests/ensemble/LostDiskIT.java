package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.crash.process.Signal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A server knows what it should have (R26). All processes die in fast mode while clients write; one
 * server's disk is not what it was when they start again.
 */
class LostDiskIT {
    private static final int LOSER = 1;

    private interface Loss {
        void happensTo(Path data) throws IOException;
    }

    @Test
    void r26TheLogFolderIsEmpty() throws Exception {
        comesBackWithEverything(
                "lost-log",
                data -> delete(data, name -> name.startsWith("log.") || name.startsWith("saucr.")),
                "there is no marker in it");
    }

    @Test
    void r26TheWholeDiskIsNew() throws Exception {
        comesBackWithEverything("lost-disk", data -> delete(data, name -> true), "is empty");
    }

    @Test
    void r26TheMarkersWereDeleted() throws Exception {
        comesBackWithEverything(
                "lost-markers",
                data -> delete(data, name -> name.startsWith("saucr.")),
                "there is no marker in it");
    }

    @Test
    void r26SnapshotsAndEpochsAreGone() throws Exception {
        comesBackWithEverything(
                "lost-snapshots",
                data ->
                        delete(
                                data,
                                name -> name.startsWith("snapshot.") || name.endsWith("Epoch")),
                "the epoch file is gone");
    }

    @Test
    void r26TheLogFilesWereDeleted() throws Exception {
        comesBackWithEverything(
                "lost-log-files",
                data -> delete(data, name -> name.startsWith("log.")),
                "and was forced through");
    }

    /** One complete server of three is not enough beside one that lost its disk: nobody serves. */
    @Test
    void r26AnEmptyServerIsNoAnswer() throws Exception {
        try (SaucrEnsemble ensemble = start("lost-disk-and-down")) {
            AckedWrites writes = writeAndDie(ensemble);
            delete(data(ensemble), name -> true);
            ensemble.restart(LOSER, 2);
            SaucrEnsemble.await(
                    "the complete server has been asked, and looks for a leader",
                    () ->
                            !ensemble.log(2, LocalTime.MIN, "its machine kept running").isEmpty()
                                    && "2"
                                            .equals(
                                                    ensemble.server(LOSER)
                                                            .mntr()
                                                            .get("zk_saucr_recovery_needed")));
            assertThat(ensemble.server(2).role()).isNotIn("leader", "follower");
            ensemble.restart(3);
            ensemble.awaitServing();
            everyoneHas(ensemble, writes);
        }
    }

    @Test
    void r26AnotherServersFolderIsRefused() throws Exception {
        try (SaucrEnsemble ensemble = start("foreign-folder")) {
            writeAndDie(ensemble);
            Path mine = data(ensemble);
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

    private static void comesBackWithEverything(String name, Loss loss, String words)
            throws Exception {
        try (SaucrEnsemble ensemble = start(name)) {
            AckedWrites writes = writeAndDie(ensemble);
            loss.happensTo(data(ensemble));
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(LOSER, 2, 3);
            ensemble.awaitServing();
            assertThat(ensemble.log(LOSER, restarted, words)).isNotEmpty();
            assertThat(ensemble.log(LOSER, restarted, "Recovered through")).isNotEmpty();
            everyoneHas(ensemble, writes);
        }
    }

    private static SaucrEnsemble start(String name) throws Exception {
        return SaucrEnsemble.start(
                SaucrEnsemble.describe(name, 3)
                        .set("saucr.heartbeatInterval", "2s")
                        .set("saucr.fastModeConfirmations", "1")
                        .set("saucr.backgroundFlushInterval", "1h")
                        .set("saucr.idleFlush", "1h"));
    }

    private static AckedWrites writeAndDie(SaucrEnsemble ensemble) throws Exception {
        int leader = ensemble.awaitFast();
        AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/writes", 16);
        try (writes) {
            writes.awaitMore(300);
            for (int id : ensemble.all()) {
                ensemble.awaitMemoryAlone(id);
            }
            List<Integer> all = ensemble.all();
            Signal.STOP.send(all.stream().map(id -> ensemble.server(id).pid()).toList());
            ensemble.kill(all.toArray(Integer[]::new));
        }
        return writes;
    }

    private static void everyoneHas(SaucrEnsemble ensemble, AckedWrites writes) throws Exception {
        for (int id : ensemble.all()) {
            try (Client reader = ensemble.connect(id)) {
                writes.assertAllIn(reader);
            }
        }
    }

    private static Path data(SaucrEnsemble ensemble) {
        return ensemble.server(LOSER).dataDirectory().resolve("version-2");
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
