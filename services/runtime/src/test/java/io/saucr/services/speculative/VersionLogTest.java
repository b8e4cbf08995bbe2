package io.saucr.services.speculative;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.core.journal.SegmentHeader;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.Listing;
import io.saucr.services.core.speculation.VersionRecord;
import io.saucr.services.core.speculation.VersionRecord.Bounded;
import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.core.speculation.Versions;
import io.saucr.services.core.speculation.Vertex;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.FolderBirth;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.Journal;
import io.saucr.services.journal.JournalListener;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.Membership;
import io.saucr.services.journal.Recovered;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.ServiceFolder;
import io.saucr.services.journal.SharedJournal;
import io.saucr.services.journal.SimulatedDisk;
import io.saucr.services.state.Changes;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.FolderContents;
import io.saucr.services.turns.VersionFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a member's journal has is read back as its versions, and by nobody else (D5, D10). */
class VersionLogTest {

    private static final String GROUP = "/groups/travel";
    private static final Path FOLDER = Path.of("/simulated/hotels");
    private static final Path SEGMENT = FOLDER.resolve("journal/0000000000000000001.log");
    private static final Path GOLDEN = Path.of("src/test/resources/local-0.1.0/folder");
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final JournalOptions OPTIONS = new JournalOptions(ForceMode.always(), 4_096);

    private final SimulatedDisk disk = new SimulatedDisk(1);

    /** A member's process. */
    private static final class Running implements VersionLog.Listener, AutoCloseable {

        private final ServiceFolder folder;
        private final LinkedBlockingQueue<VersionRecord> synced = new LinkedBlockingQueue<>();
        final VersionLog log;
        final List<String> said = new ArrayList<>();
        final List<Long> turns = new ArrayList<>();
        Versions versions;

        Running(Disk disk, Path path, String name) throws IOException {
            folder = ServiceFolder.openMember(disk, path, name, GROUP, RANDOM);
            boolean opened = false;
            try {
                log = VersionLog.open(folder, GROUP, OPTIONS);
                versions = log.versions(0);
                opened = true;
            } finally {
                if (!opened) {
                    folder.close();
                }
            }
        }

        void begin() throws IOException {
            log.sections((name, content) -> said.add(new String(content.readAllBytes(), UTF_8)));
            log.turns(
                    (turn, bytes) -> {
                        turns.add(turn);
                        said.add(VersionLogTest.text(turn, bytes));
                    });
            log.begin(this);
        }

        @Override
        public void synced(VersionRecord record) {
            synced.add(record);
        }

        @Override
        public void failed(IOException cause) {
            throw new AssertionError(cause);
        }

        void seal(long turn, String text) throws InterruptedException {
            versions = versions.turn();
            Sealed sealed = versions.seal();
            versions = versions.sealed();
            log.seal(sealed, turn, bytes(turn, text));
            versions = versions.forced(synced.take());
        }

        void pass(long cut) throws InterruptedException {
            VersionVector cuts = VersionVector.NONE.with(0, cut);
            versions = versions.pass(new Decision(versions.world() + 1, cuts));
            log.pass(versions.passage());
            versions = versions.forced(synced.take());
        }

        @Override
        public void close() throws IOException {
            log.close();
            folder.close();
        }
    }

    private static byte[] bytes(long turn, String text) {
        Change change = new Change.OutputMade(new Body("text", text.getBytes(UTF_8)));
        return DeltaFormat.bytes(new Delta(turn, 1, 0, List.of(change)), Changes.NONE);
    }

    private static String text(long turn, ByteBuffer bytes) throws IOException {
        Change only = DeltaFormat.read(turn, bytes).changes().get(0);
        return new String(((Change.OutputMade) only).body().bytes(), UTF_8);
    }

    private Running running() throws IOException {
        return new Running(disk, FOLDER, "hotels");
    }

    private Running begun() throws IOException {
        return begun(disk);
    }

    private static Running begun(Disk on) throws IOException {
        Running running = new Running(on, FOLDER, "hotels");
        boolean begun = false;
        try {
            running.begin();
            begun = true;
            return running;
        } finally {
            if (!begun) {
                running.close();
            }
        }
    }

    @Test
    void d5VersionsAreReadBackWithTheirTurns() throws Exception {
        try (Running member = begun()) {
            member.seal(2, "one");
            member.seal(7, "two");
        }
        try (Running member = begun()) {
            assertThat(member.said).containsExactly("one", "two");
            assertThat(member.turns).containsExactly(2L, 7L);
            assertThat(member.versions.newest()).isEqualTo(2);
            // Both are final by their own fsync, so the newest says it of the other (D14).
            assertThat(member.versions.listing().versions())
                    .containsExactly(new Sealed(1, 2, VersionVector.NONE));
            assertThat(member.log.lastTurn()).isEqualTo(7);
        }
    }

    @Test
    void d10AStartDropsWhatAPassageDidNotKeepAndNumbersComeAgain() throws Exception {
        try (Running member = begun()) {
            member.seal(1, "one");
            member.versions = member.versions.took(new Vertex(1, 1, 2));
            member.seal(2, "undone");
            member.pass(1);
            assertThat(member.log.lastTurn()).isEqualTo(1);
            member.seal(2, "again");
        }
        try (Running member = begun()) {
            assertThat(member.said).containsExactly("one", "again");
            assertThat(member.turns).containsExactly(1L, 2L);
            assertThat(member.versions.world()).isEqualTo(2);
            assertThat(member.versions.newest()).isEqualTo(2);
        }
    }

    @Test
    void d10ASnapshotStandsForVersionsUpToItAndRecordsBehindItCount() throws Exception {
        try (Running member = begun()) {
            member.seal(1, "one");
            member.seal(3, "two");
            member.log.fold(3, writer -> writer.section("all").write("both".getBytes(UTF_8)));
            member.pass(2);
            member.seal(4, "three");
            assertThatThrownBy(() -> member.log.fold(1, writer -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("turn 1 ends no version");
        }
        try (Running member = begun()) {
            assertThat(member.said).containsExactly("both", "three");
            assertThat(member.versions.world()).isEqualTo(2);
            assertThat(member.versions.newest()).isEqualTo(3);
        }
    }

    @Test
    void d14AStartListsOnlyWhatIsBehindTheNoteOfWhatIsFinal() throws Exception {
        try (Running member = begun()) {
            for (int turn = 1; turn <= 4; turn++) {
                member.versions = member.versions.took(new Vertex(1, 1, turn));
                member.seal(turn, "turn " + turn);
            }
            member.versions = member.versions.bounded(1, VersionVector.of(3, 3));
            member.log.note(member.versions.toNote(0).orElseThrow());
            assertThat(member.synced.take()).isEqualTo(new Bounded(1, 3));
            member.seal(5, "turn 5");
        }
        try (Running member = begun()) {
            assertThat(member.turns).containsExactly(1L, 2L, 3L, 4L, 5L);
            assertThat(member.versions.listing().base()).isEqualTo(3);
            assertThat(member.versions.listing().versions())
                    .extracting(Sealed::version)
                    .containsExactly(4L, 5L);
            member.pass(3);
        }
        try (Running member = begun()) {
            assertThat(member.turns).containsExactly(1L, 2L, 3L);
            assertThat(member.versions.world()).isEqualTo(2);
        }
    }

    @Test
    void d14ANoteStandsForThoseBeforeItBehindAPassageToo() throws Exception {
        try (Running member = begun()) {
            member.seal(1, "one");
            member.pass(0);
            for (int version = 1; version <= 2; version++) {
                if (version == 2) {
                    member.seal(2, "two");
                }
                member.versions = member.versions.bounded(2, VersionVector.of(version));
                member.log.note(new Bounded(2, version));
                assertThat(member.synced.take()).isEqualTo(new Bounded(2, version));
            }
        }
        try (Running member = begun()) {
            assertThat(member.said).containsExactly("one", "two");
            assertThat(member.versions.listing())
                    .isEqualTo(new Listing(2, 2, List.of(), VersionVector.of(2)));
        }
    }

    @Test
    void whatDoesNotFollowIsRefusedAndNothingIsAppended() throws Exception {
        try (Running member = begun()) {
            member.seal(1, "one");
            VersionLog log = member.log;
            byte[] more = bytes(2, "two");
            for (Sealed sealed :
                    List.of(
                            new Sealed(1, 1, VersionVector.NONE),
                            new Sealed(2, 2, VersionVector.NONE))) {
                assertThatThrownBy(() -> log.seal(sealed, 2, more))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            Sealed next = new Sealed(1, 2, VersionVector.NONE);
            assertThatThrownBy(() -> log.seal(next, 1, more))
                    .isInstanceOf(IllegalArgumentException.class);
            for (Passed passed : List.of(new Passed(1, 1, 1), new Passed(2, 2, 2))) {
                assertThatThrownBy(() -> log.pass(passed))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            for (Bounded bounded : List.of(new Bounded(2, 1), new Bounded(1, 2))) {
                assertThatThrownBy(() -> log.note(bounded))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
        try (Running member = begun()) {
            assertThat(member.said).containsExactly("one");
        }
    }

    // ---- who may use the folder

    private void refused(Opening opening, String... parts) {
        assertThatThrownBy(opening::open)
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageStartingWith(FOLDER.toString())
                .hasMessageContainingAll(parts);
    }

    private interface Opening {
        AutoCloseable open() throws Exception;
    }

    @Test
    void onlyAMemberOfTheGroupUsesTheFolderUntilItHasLeft() throws Exception {
        // A start that is refused before it takes records leaves the folder as it was.
        running().close();
        ServiceFolder.open(disk, FOLDER, "hotels", RANDOM).close();
        try (Running member = begun()) {
            member.seal(5, "one");
        }
        byte[] identity = disk.content(FOLDER.resolve("identity"));
        refused(() -> ServiceFolder.open(disk, FOLDER, "hotels", RANDOM), GROUP, "leave");
        refused(() -> FolderBirth.open(disk, FOLDER, "hotels"), GROUP, "leave");
        refused(
                () -> ServiceFolder.openMember(disk, FOLDER, "hotels", "/groups/a", RANDOM),
                GROUP,
                "leave");
        try (SharedJournal shared =
                SharedJournal.open(
                        disk,
                        FOLDER.resolveSibling("shared"),
                        "s in 2 partitions",
                        OPTIONS,
                        RANDOM)) {
            refused(() -> shared.open(FOLDER, "hotels"), GROUP, "leave");
        }
        assertThat(disk.content(FOLDER.resolve("identity"))).isEqualTo(identity);

        long left = leave("all");
        try (ServiceFolder folder = ServiceFolder.open(disk, FOLDER, "hotels", RANDOM)) {
            assertThat(folder.membership()).contains(new Membership(GROUP, false, 1, 1));
            Recovered recovered = folder.recover(OPTIONS);
            // Numbers of turns and records are the same again.
            assertThat(recovered.lastTurn()).isEqualTo(left).isGreaterThanOrEqualTo(5);
            append(recovered, left + 1, "outside");
        }
        try (Running member = begun()) {
            assertThat(member.said).containsExactly("all", "outside");
            assertThat(member.versions.newest()).isEqualTo(1);
            member.seal(left + 2, "back");
            assertThat(member.versions.newest()).isEqualTo(2);
        }
        refused(() -> ServiceFolder.open(disk, FOLDER, "hotels", RANDOM), GROUP, "leave");
    }

    private long leave(String text) throws IOException {
        long[] number = new long[1];
        try (Running member = begun()) {
            member.log.leave(
                    turn -> {
                        number[0] = turn;
                        return writer -> writer.section("all").write(text.getBytes(UTF_8));
                    });
        }
        return number[0];
    }

    private static void append(Recovered recovered, long turn, String text) {
        Journal journal =
                recovered.journal(
                        new JournalListener() {
                            @Override
                            public void forced(long upTo) {}

                            @Override
                            public void failed(IOException cause) {
                                throw new AssertionError(cause);
                            }
                        });
        journal.append(turn, ByteBuffer.wrap(bytes(turn, text)));
        journal.close();
    }

    @Test
    void aMemberOfAnotherGroupBeginsAnewThere() throws Exception {
        try (Running member = begun()) {
            member.seal(1, "one");
            member.pass(1);
        }
        long unused = leave("all");
        try (ServiceFolder folder =
                ServiceFolder.openMember(disk, FOLDER, "hotels", "/groups/a", RANDOM)) {
            VersionLog log = VersionLog.open(folder, "/groups/a", OPTIONS);
            Versions versions = log.versions(3);
            assertThat(versions.world()).isEqualTo(1);
            assertThat(versions.newest()).isZero();
            log.close();
        }
    }

    @TempDir Path work;

    @Test
    void aFolderOfVersion010BecomesAMembers() throws Exception {
        Path copy = work.resolve("folder");
        try (Stream<Path> files = Files.walk(GOLDEN)) {
            for (Path each : files.toList()) {
                Files.copy(each, copy.resolve(GOLDEN.relativize(each).toString()));
            }
        }
        FolderContents before = FolderContents.read(copy);
        String name = before.files().name().orElseThrow();
        long last = before.turn();
        assertThat(last).isGreaterThan(30);
        try (Running member = new Running(Disk.local(), copy, name)) {
            List<Long> turns = new ArrayList<>();
            member.log.turns((turn, bytes) -> turns.add(turn));
            assertThat(turns.get(turns.size() - 1)).isEqualTo(last);
            assertThat(turns.get(0)).isEqualTo(last - turns.size() + 1);
            assertThat(member.versions.newest()).isZero();
            member.log.begin(member);
            member.seal(last + 2, "one");
        }
        FolderContents after = FolderContents.read(copy);
        assertThat(after.files().membership()).contains(new Membership(GROUP, true, 1, 0));
        assertThat(after.turn()).isEqualTo(last + 2);
        assertThat(after.unread()).isEmpty();
        assertThat(after.files().problems()).isEmpty();
        assertThat(after.all(Change.OutputIs.class)).hasSize(1);
    }

    // ---- damage

    private SimulatedDisk copy(byte[] segment) throws IOException {
        SimulatedDisk other = new SimulatedDisk(2);
        for (String folder : List.of("", "journal", "base")) {
            other.makeFolder(FOLDER.resolve(folder));
        }
        other.put(FOLDER.resolve("identity"), disk.content(FOLDER.resolve("identity")));
        other.put(SEGMENT, segment);
        return other;
    }

    @Test
    void k9WhereverTheJournalIsTornARowOfRecordsIsLeft() throws Exception {
        List<List<String>> all = new ArrayList<>(List.of(List.of()));
        try (Running member = begun()) {
            member.seal(1, "one");
            all.add(List.of("one"));
            member.versions = member.versions.took(new Vertex(1, 1, 2));
            member.seal(2, "undone");
            all.add(List.of("one", "undone"));
            member.pass(1);
            all.add(List.of("one"));
            member.seal(2, "again");
            all.add(List.of("one", "again"));
        }
        byte[] whole = disk.content(SEGMENT);
        int records = 0;
        for (int end = SegmentHeader.BYTES; end < 800; end++) {
            byte[] torn = new byte[whole.length];
            System.arraycopy(whole, 0, torn, 0, end);
            try (Running member = begun(copy(torn))) {
                if (!member.said.equals(all.get(records))) {
                    records++;
                }
                assertThat(member.said).as("up to byte " + end).isEqualTo(all.get(records));
            }
        }
        assertThat(records).isEqualTo(4);
    }

    @Test
    void d15RecordsThatCannotFollowEachOtherAreRefused() throws Exception {
        try (Running member = begun()) {
            member.seal(1, "one");
        }
        Sealed first = new Sealed(1, 1, VersionVector.NONE);
        Sealed second = new Sealed(2, 2, VersionVector.NONE);
        for (byte[] wrong :
                List.of(
                        VersionFormat.bytes(first, 2, bytes(2, "again")),
                        VersionFormat.bytes(second, 2, bytes(2, "of another world")),
                        VersionFormat.bytes(new Passed(1, 0, 0)),
                        VersionFormat.bytes(new Passed(2, 2, 2)),
                        VersionFormat.bytes(new Bounded(2, 1)),
                        VersionFormat.bytes(new Bounded(1, 2)),
                        bytes(2, "a turn of no version"),
                        new byte[] {1, 2, 3})) {
            SimulatedDisk other = copy(disk.content(SEGMENT));
            try (ServiceFolder folder =
                    ServiceFolder.openMember(other, FOLDER, "hotels", GROUP, RANDOM)) {
                Journal journal =
                        folder.recover(OPTIONS)
                                .journal(
                                        new JournalListener() {
                                            @Override
                                            public void forced(long upTo) {}

                                            @Override
                                            public void failed(IOException cause) {}
                                        });
                journal.append(2, ByteBuffer.wrap(wrong));
                journal.close();
            }
            assertThatThrownBy(() -> new Running(other, FOLDER, "hotels"))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContainingAll(FOLDER.toString(), "record 2");
        }
    }
}
