package io.saucr.services.core.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.Incarnation;
import io.saucr.services.core.journal.JournalRecovery.Behind;
import io.saucr.services.core.journal.JournalRecovery.Decision;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * K9 over random lives of a journal on a disk that tears, whose forces fail and leave pages clean
 * that it does not have, and that loses a bit now and then.
 *
 * <p>Fault budget of a schedule: any number of crashes, power cuts and failed forces; one bit of a
 * turn that a later record or segment calls forced, after which the journal must be refused.
 */
class JournalRecoverySimulationTest {

    private static final int SEGMENT_BYTES = 1024;
    private static final int SECTOR_BYTES = 64;

    /** What is left out of the rule; each must be noticed. */
    enum Broken {
        NOTHING,
        /** The tail that nothing calls forced is believed to be on disk. */
        NOT_WRITTEN_AGAIN,
        /** A segment gets its name before everything in front of it is on disk. */
        NAMED_EARLY,
        /** What later records call forced is not looked at. */
        CLAIMS_IGNORED,
        /** A start goes on under the incarnation of the one before it. */
        SAME_INCARNATION,
        /** A segment that goes on behind another turn than the one before it ends with, is read. */
        LINKS_IGNORED,
    }

    /** What went wrong, from the view of who wrote the turns. */
    private static final class Violation extends Exception {

        private static final long serialVersionUID = 1L;

        Violation(String message) {
            super(message);
        }
    }

    /** A file: what processes see, and what is on disk. */
    private static final class File {
        final byte[] cached;
        final byte[] onDisk;
        final TreeSet<Integer> dirty = new TreeSet<>();
        WrittenSegment written;
        boolean named;

        File(byte[] content) {
            cached = content;
            onDisk = content.clone();
        }

        void changed(int from, int to) {
            for (int sector = from / SECTOR_BYTES; sector * SECTOR_BYTES < to; sector++) {
                dirty.add(sector);
            }
        }

        void write(Random random, boolean all) {
            for (int sector : dirty) {
                if (all || random.nextBoolean()) {
                    int at = sector * SECTOR_BYTES;
                    System.arraycopy(
                            cached, at, onDisk, at, Math.min(SECTOR_BYTES, cached.length - at));
                }
            }
            dirty.clear();
        }
    }

    private static final class Schedule {
        final Random random;
        final Broken broken;
        final TreeMap<Long, File> named = new TreeMap<>();
        final List<byte[]> used = new ArrayList<>();

        /** The files of this life that are not all forced, in their order. */
        final List<File> filling = new ArrayList<>();

        final TreeMap<Long, String> turns = new TreeMap<>();
        long reported;
        long appended;
        long base;
        int life;
        int refusals;
        boolean bitLost;
        int lost;

        Schedule(long seed, Broken broken) {
            this.random = new Random(seed);
            this.broken = broken;
        }

        void run(int lives) throws Violation {
            while (life < lives && refusals == 0) {
                life++;
                recover();
                if (refusals == 0) {
                    live();
                }
            }
        }

        private Incarnation start() {
            return WrittenSegment.start(broken == Broken.SAME_INCARNATION ? 1 : life);
        }

        private File begin(long firstTurn, int previousChecksum) {
            byte[] content =
                    used.isEmpty() || random.nextBoolean()
                            ? new byte[SEGMENT_BYTES]
                            : used.remove(used.size() - 1);
            File file = new File(content);
            file.written =
                    new WrittenSegment(
                            new SegmentHeader(start(), firstTurn, previousChecksum),
                            ByteBuffer.wrap(file.cached));
            file.changed(0, SegmentHeader.BYTES);
            filling.add(file);
            return file;
        }

        private void live() {
            int steps = random.nextInt(30);
            for (int step = 0; step < steps; step++) {
                switch (random.nextInt(6)) {
                    case 0 -> {
                        if (!force(random.nextInt(10) == 0)) {
                            step = steps;
                        }
                    }
                    case 1 -> base = random.nextInt(10) == 0 ? reported : base;
                    default -> append();
                }
            }
            filling.stream()
                    .filter(file -> !file.named)
                    .forEach(file -> used.add(file.cached.clone()));
            filling.clear();
            if (random.nextBoolean()) {
                for (File file : named.values()) {
                    file.write(random, false);
                    System.arraycopy(file.onDisk, 0, file.cached, 0, file.cached.length);
                }
            }
            if (random.nextInt(8) == 0) {
                loseABit();
            }
            retire();
        }

        private void append() {
            String delta = (appended + 1) + " of life " + life + "x".repeat(random.nextInt(4) * 60);
            File file = filling.get(filling.size() - 1);
            if (!file.written.hasRoom(delta)) {
                file = begin(appended + 1, file.written.lastChecksum());
                if (broken == Broken.NAMED_EARLY) {
                    file.write(random, true);
                    file.named = true;
                    named.put(appended + 1, file);
                }
            }
            int from = file.written.bytes.position();
            file.written.append(reported, delta);
            file.changed(from, file.written.bytes.position());
            turns.put(++appended, delta);
        }

        /** As the journal does: in their order, each gets its name behind those before it. */
        private boolean force(boolean fails) {
            int failing = fails ? random.nextInt(filling.size()) : -1;
            for (int index = 0; index < filling.size(); index++) {
                File file = filling.get(index);
                file.write(random, index != failing);
                if (index == failing) {
                    return false;
                }
                file.named = true;
                named.put(file.written.header.firstTurn(), file);
            }
            reported = appended;
            File newest = filling.get(filling.size() - 1);
            filling.clear();
            filling.add(newest);
            return true;
        }

        /** One bit of a record that a later record in the same segment calls forced. */
        private void loseABit() {
            List<File> files = new ArrayList<>(named.tailMap(base + 1).values());
            if (files.isEmpty()) {
                return;
            }
            File file = files.get(random.nextInt(files.size()));
            List<SegmentRecord> called = new ArrayList<>();
            try {
                SegmentScan scan =
                        SegmentScan.scan(
                                WrittenSegment.read(ByteBuffer.wrap(file.cached)), Long.MAX_VALUE);
                file.written.records.stream()
                        .filter(
                                record ->
                                        record.turn() <= scan.calledForced()
                                                && record.turn() <= scan.lastTurn())
                        .forEach(called::add);
            } catch (SegmentHeader.UnreadableSegmentException | IOException e) {
                throw new IllegalStateException(e);
            }
            if (!called.isEmpty()) {
                SegmentRecord record = called.get(random.nextInt(called.size()));
                int at =
                        record.offset()
                                + random.nextInt(SegmentRecord.HEADER_BYTES + record.deltaBytes());
                file.cached[at] ^= (byte) (1 << random.nextInt(8));
                file.onDisk[at] = file.cached[at];
                bitLost = true;
            }
        }

        private void retire() {
            List<Long> firsts = new ArrayList<>(named.keySet());
            for (int index = 0; index + 1 < firsts.size(); index++) {
                if (firsts.get(index + 1) <= base + 1 && random.nextBoolean()) {
                    used.add(named.remove(firsts.get(index)).cached.clone());
                }
            }
        }

        private void recover() throws Violation {
            List<Long> firsts = new ArrayList<>(named.keySet());
            int needed = JournalRecovery.firstNeeded(firsts, base);
            List<SegmentScan> scans = new ArrayList<>();
            List<String> read = new ArrayList<>();
            for (long turn = 1; turn <= base; turn++) {
                read.add(turns.get(turn));
            }
            try {
                for (int index = needed; index < firsts.size(); index++) {
                    SegmentScan scan =
                            SegmentScan.scan(
                                    WrittenSegment.read(
                                            ByteBuffer.wrap(named.get(firsts.get(index)).cached)),
                                    index + 1 < firsts.size()
                                            ? firsts.get(index + 1) - 1
                                            : Long.MAX_VALUE,
                                    (turn, delta) -> {
                                        if (turn == read.size() + 1) {
                                            read.add(UTF_8.decode(delta).toString());
                                        }
                                    });
                    scans.add(broken(scan, scans));
                }
            } catch (SegmentHeader.UnreadableSegmentException | IOException e) {
                throw new Violation(e.toString());
            }
            Decision decision = JournalRecovery.decide(base, 0, scans, start -> true);
            if (decision instanceof Decision.Refuse refuse) {
                if (!bitLost) {
                    throw new Violation("refused without a reason: " + refuse.reason());
                }
                refusals++;
                return;
            }
            if (bitLost) {
                throw new Violation("a lost bit was not noticed");
            }
            Decision.GoOn goOn = (Decision.GoOn) decision;
            check(read, goOn);
            if (goOn.behind() != Behind.NOTHING) {
                File last = named.lastEntry().getValue();
                if (broken != Broken.NOT_WRITTEN_AGAIN) {
                    last.changed(goOn.from(), goOn.end());
                }
                if (goOn.behind() == Behind.TORN) {
                    Arrays.fill(last.cached, goOn.end(), SEGMENT_BYTES, (byte) 0);
                    last.changed(goOn.end(), SEGMENT_BYTES);
                    lost++;
                }
                last.write(random, true);
            }
            turns.tailMap(goOn.lastTurn(), false).clear();
            appended = goOn.lastTurn();
            begin(appended + 1, goOn.lastChecksum());
            force(false);
        }

        private SegmentScan broken(SegmentScan scan, List<SegmentScan> before) {
            SegmentHeader header = scan.header();
            if (broken == Broken.LINKS_IGNORED && !before.isEmpty()) {
                header =
                        new SegmentHeader(
                                header.start(),
                                header.firstTurn(),
                                before.get(before.size() - 1).lastChecksum());
            }
            return new SegmentScan(
                    header,
                    scan.lastTurn(),
                    scan.lastChecksum(),
                    scan.end(),
                    scan.unforced(),
                    broken == Broken.CLAIMS_IGNORED ? 0 : scan.calledForced(),
                    scan.torn());
        }

        private void check(List<String> read, Decision.GoOn goOn) throws Violation {
            if (goOn.lastTurn() < reported || goOn.lastTurn() > appended) {
                throw new Violation(
                        "read to "
                                + goOn.lastTurn()
                                + ", reported was "
                                + reported
                                + ", appended "
                                + appended);
            }
            List<String> expected = new ArrayList<>(turns.headMap(goOn.lastTurn(), true).values());
            if (!read.equals(expected)) {
                throw new Violation("read " + read + ", not " + expected);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "LINKS_IGNORED")
    void everyReportedTurnIsReadAndNoOther(Broken broken) throws Exception {
        int violations = 0;
        int refusals = 0;
        int cuts = 0;
        for (long seed = 0; seed < 1_500; seed++) {
            Schedule schedule = new Schedule(seed, broken);
            try {
                schedule.run(12);
            } catch (Violation e) {
                if (broken == Broken.NOTHING) {
                    throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
                }
                violations++;
            }
            refusals += schedule.refusals;
            cuts += schedule.lost;
        }
        if (broken == Broken.NOTHING) {
            assertThat(refusals).isGreaterThan(100);
            assertThat(cuts).isGreaterThan(500);
        } else {
            assertThat(violations).isGreaterThan(20);
        }
    }

    @Test
    void aSegmentPutBackFromAnotherTimeIsNotReadBehindOthers() throws Exception {
        WrittenSegment first =
                new WrittenSegment(new SegmentHeader(WrittenSegment.start(1), 1, 0), 1024);
        first.append(0, "one").append(1, "two");
        WrittenSegment other =
                new WrittenSegment(new SegmentHeader(WrittenSegment.start(1), 1, 0), 1024);
        other.append(0, "one").append(1, "another two");
        WrittenSegment second =
                new WrittenSegment(
                        new SegmentHeader(WrittenSegment.start(1), 3, first.lastChecksum()), 1024);
        second.append(2, "three");
        for (Broken broken : List.of(Broken.NOTHING, Broken.LINKS_IGNORED)) {
            Schedule schedule = new Schedule(0, broken);
            List<SegmentScan> scans = new ArrayList<>();
            scans.add(
                    schedule.broken(SegmentScan.scan(WrittenSegment.read(other.file()), 2), scans));
            scans.add(
                    schedule.broken(
                            SegmentScan.scan(WrittenSegment.read(second.file()), Long.MAX_VALUE),
                            scans));

            assertThat(
                            JournalRecovery.decide(0, 0, scans, start -> true)
                                    instanceof Decision.Refuse)
                    .isEqualTo(broken == Broken.NOTHING);
        }
    }
}
