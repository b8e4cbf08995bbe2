package io.saucr.services.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * K19, K20: partitions whose turns are in one journal, between crashes of the disk and the machine.
 */
class SharedJournalTest {

    private static final SecureRandom NONCES = new SecureRandom();

    /** Some lives, each of which may end with a power cut. */
    private static PartitionLives run(long seed) {
        Random random = new Random(seed);
        PartitionLives lives = new PartitionLives(seed, 1 + random.nextInt(4));
        for (int life = 0; life < 8; life++) {
            lives.disk.failAt(random.nextInt(4) == 0 ? Long.MAX_VALUE : 1 + random.nextInt(300));
            lives.live(random.nextInt(3) == 0 ? random.nextInt(3) : random.nextInt(120));
            if (random.nextBoolean()) {
                lives.disk.powerFails();
            } else {
                lives.disk.restarted();
            }
        }
        return lives;
    }

    @Test
    void whatWasReportedSurvivesWhereverThePartitionGoes() {
        int moves = 0;
        for (long seed = 1; seed <= 400; seed++) {
            try {
                moves += run(seed).moves;
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
        assertThat(moves).isGreaterThan(400);
    }

    private static final Path FOLDER = Path.of("/simulated/journal");

    private static SharedJournal open(SimulatedDisk disk, ForceMode force) throws IOException {
        return SharedJournal.open(disk, FOLDER, "bank", new JournalOptions(force, 4096), NONCES);
    }

    /** A partition that was joined, with its folder. */
    private record Joined(ServiceFolder folder, SharedJournal.Partition log) {

        static Joined of(SharedJournal journal, String name) throws IOException {
            ServiceFolder folder = journal.open(Path.of("/simulated", name), name);
            SharedJournal.Partition log = journal.join(folder);
            log.begin(
                    new JournalListener() {
                        @Override
                        public void forced(long turn) {}

                        @Override
                        public void failed(IOException cause) {}
                    });
            return new Joined(folder, log);
        }

        void append(int turns) {
            for (int count = 0; count < turns; count++) {
                log.append(log.lastTurn() + 1, ByteBuffer.allocate(300));
            }
        }

        void base() throws IOException {
            log.close();
            log.base().write(log.lastTurn(), writer -> writer.section("all").write(1));
            log.folded(log.lastTurn());
        }

        void close() throws IOException {
            log.close();
            folder.close();
        }
    }

    @Test
    void aPartitionThatDoesNothingKeepsNoFiles() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        try (SharedJournal journal = open(disk, ForceMode.always())) {
            Joined idle = Joined.of(journal, "bank.0");
            idle.append(3);
            idle.base();
            idle.close();
        }
        disk.restarted();
        try (SharedJournal journal = open(disk, ForceMode.always())) {
            Joined idle = Joined.of(journal, "bank.0");
            assertThat(idle.log().lastTurn()).isEqualTo(3);
            Joined busy = Joined.of(journal, "bank.1");
            for (int count = 0; count < 20; count++) {
                busy.append(30);
                busy.base();
            }
            assertThat(idle.log().bytesAboveBase()).isZero();
            idle.close();
            busy.close();
        }
        assertThat(disk.list(FOLDER.resolve("journal"))).hasSizeLessThan(8);
    }

    @Test
    void oneThatNeedsItsRecordsKeepsThem() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        try (SharedJournal journal = open(disk, ForceMode.always())) {
            Joined slow = Joined.of(journal, "bank.0");
            slow.append(3);
            Joined busy = Joined.of(journal, "bank.1");
            for (int count = 0; count < 20; count++) {
                busy.append(30);
                busy.base();
            }
            assertThat(slow.log().bytesAboveBase()).isGreaterThan(20 * 30 * 300);
            slow.close();
            busy.close();
        }
        disk.powerFails();
        try (SharedJournal journal = open(disk, ForceMode.always())) {
            Joined slow = Joined.of(journal, "bank.0");
            assertThat(slow.log().lastTurn()).isEqualTo(3);
            slow.close();
        }
    }

    /** A first base whose name the process never saw on disk, and the next process finds. */
    private static SimulatedDisk withUnsyncedBase(long seed) throws IOException {
        SimulatedDisk disk = new SimulatedDisk(seed);
        try (SharedJournal journal = open(disk, ForceMode.always())) {
            Joined one = Joined.of(journal, "bank.0");
            one.append(3);
            disk.failAt("forceFolder", Path.of("/simulated/bank.0/base"));
            assertThatThrownBy(one::base).isInstanceOf(IOException.class);
            one.close();
        }
        disk.restarted();
        return disk;
    }

    @Test
    void aFoundSnapshotLetsNoRecordGoBeforeItIsOnDisk() throws Exception {
        for (long seed = 1; seed <= 12; seed++) {
            SimulatedDisk disk = withUnsyncedBase(seed);
            try (SharedJournal journal = open(disk, ForceMode.always())) {
                Joined one = Joined.of(journal, "bank.0");
                assertThat(one.log().base().turn()).isEqualTo(3);
                Joined busy = Joined.of(journal, "bank.1");
                for (int count = 0; count < 4; count++) {
                    busy.append(30);
                    busy.base();
                }
                one.close();
                busy.close();
            }
            disk.powerFails();
            try (SharedJournal journal = open(disk, ForceMode.always())) {
                Joined one = Joined.of(journal, "bank.0");
                assertThat(one.log().lastTurn()).isEqualTo(3);
                one.close();
            }
        }
    }

    @Test
    void aPartitionThatWasReleasedHasItsSnapshotOnDisk() throws Exception {
        for (long seed = 1; seed <= 12; seed++) {
            SimulatedDisk disk = withUnsyncedBase(seed);
            try (SharedJournal journal = open(disk, ForceMode.always())) {
                Joined one = Joined.of(journal, "bank.0");
                one.log().release();
                one.close();
            }
            disk.powerFails();
            try (ServiceFolder alone =
                    ServiceFolder.open(disk, Path.of("/simulated/bank.0"), "bank.0", NONCES)) {
                assertThat(alone.base().turn()).isEqualTo(3);
            }
        }
    }

    @Test
    void aFolderAndAJournalThatDoNotFitAreRefused() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        try (SharedJournal journal = open(disk, ForceMode.always())) {
            Joined one = Joined.of(journal, "bank.0");
            one.append(3);
            one.close();
        }
        Path folder = Path.of("/simulated/bank.0");
        disk.restarted();
        assertThatThrownBy(() -> ServiceFolder.open(disk, folder, "bank.0", NONCES))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("which it shares with other partitions");
        Path elsewhere = Path.of("/simulated/elsewhere");
        try (SharedJournal other =
                SharedJournal.open(
                        disk,
                        elsewhere,
                        "bank",
                        new JournalOptions(ForceMode.always(), 4096),
                        NONCES)) {
            assertThatThrownBy(() -> Joined.of(other, "bank.0"))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("Put the folder back next to that journal");
        }
        disk.restarted();
        // Another folder of that name: the journal has turns that it does not know.
        disk.delete(folder.resolve("identity"));
        try (SharedJournal journal = open(disk, ForceMode.always())) {
            assertThat(journal.partitions()).containsExactly("bank.0");
            assertThatThrownBy(() -> Joined.of(journal, "bank.0"))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("and this folder does not know it");
        }
        assertThatThrownBy(() -> open(disk, ForceMode.os()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("partitions do not run with ForceMode.os()");
    }
}
