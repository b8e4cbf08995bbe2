package io.saucr.services.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** K10, K13: files of messages that wait, what a start keeps of them, and what it refuses. */
class OutboxFilesTest {

    private static final Path FOLDER = Path.of("/simulated/sender");
    private static final Path FILES = FOLDER.resolve("outbox");
    private static final Incarnation START = new Incarnation(new Birth(1, 2), 3, 4);
    private static final int FILE_BYTES = 400;

    private final SimulatedDisk disk = new SimulatedDisk(1);

    private OutboxFiles files() {
        return new OutboxFiles(disk, FOLDER, START, START::equals, FILE_BYTES);
    }

    private static void append(OutboxFiles files, long stream, int from, int to)
            throws IOException {
        for (int count = from; count <= to; count++) {
            files.append(stream, count, message(count));
        }
    }

    private static byte[] message(int count) {
        return ("message " + count + " " + "x".repeat(count % 50)).getBytes(UTF_8);
    }

    /** The section of a base. */
    private static byte[] forced(OutboxFiles files, Long... streams) throws IOException {
        OutboxFiles.Names names = files.names(Set.of(streams));
        files.force(names);
        ByteArrayOutputStream section = new ByteArrayOutputStream();
        OutboxFiles.with(names, writer -> {}).writeTo(name -> section);
        return section.toByteArray();
    }

    private OutboxFiles again(byte[] section) throws IOException {
        return again(section, START::equals);
    }

    private OutboxFiles again(byte[] section, Predicate<Incarnation> known) throws IOException {
        OutboxFiles files = new OutboxFiles(disk, FOLDER, START, known, FILE_BYTES);
        files.beside((name, content) -> {}).section("outbox", new ByteArrayInputStream(section));
        files.cut();
        return files;
    }

    private static void expect(OutboxFiles files, long stream, int from, int to)
            throws IOException {
        List<String> all = new ArrayList<>();
        List<String> wanted = new ArrayList<>();
        for (int count = from; count <= to; count++) {
            wanted.add(new String(message(count), UTF_8));
        }
        while (all.size() < wanted.size()) {
            List<byte[]> read = files.read(stream, from - 1 + all.size(), 7, 150);
            assertThat(read).isNotEmpty();
            read.forEach(it -> all.add(new String(it, UTF_8)));
        }
        assertThat(all).isEqualTo(wanted);
    }

    private List<Path> paths() throws IOException {
        return disk.list(FILES).stream().sorted().map(FILES::resolve).toList();
    }

    @Test
    void messagesAreReadInTheirOrder() throws Exception {
        OutboxFiles files = files();
        append(files, 1, 5, 60);
        append(files, 2, 1, 3);
        append(files, 1, 61, 70);
        expect(files, 1, 5, 70);
        expect(files, 1, 30, 70);
        expect(files, 2, 1, 3);
        assertThat(paths().size()).isGreaterThan(4);
        assertThatThrownBy(() -> files.append(1, 70, message(70)))
                .hasMessageContaining("is behind 70");
    }

    @Test
    void aStartKeepsWhatItsBaseNamesWhateverTheDiskLost() throws Exception {
        for (int to = 1; to < 40; to += 3) {
            OutboxFiles files = files();
            append(files, 1, 1, to);
            append(files, 2, 1, 2);
            byte[] section = forced(files, 1L);
            append(files, 1, to + 1, to + 20);
            append(files, 3, 1, 20);
            if (to % 2 == 0) {
                disk.powerFails();
            }
            OutboxFiles next = again(section);
            next.expect(1, 0);
            assertThat(disk.list(FILES)).allMatch(it -> it.startsWith("0000000000000000001-"));
            expect(next, 1, 1, to);
            // The turns above the base bring the rest again.
            append(next, 1, to + 1, to + 20);
            append(next, 3, 1, 20);
            expect(next, 1, 1, to + 20);
            expect(next, 3, 1, 20);
            next.release(1, Long.MAX_VALUE);
            next.release(3, Long.MAX_VALUE);
        }
    }

    @Test
    void spaceIsGivenBack() throws Exception {
        OutboxFiles files = files();
        append(files, 1, 1, 100);
        byte[] section = forced(files, 1L);
        long bytes = files.bytes();
        int count = paths().size();
        files.release(1, 60);
        assertThat(paths().size()).isLessThan(count);
        assertThat(files.bytes()).isLessThan(bytes);
        expect(files, 1, 61, 100);
        assertThat(files.read(1, 20, 5, 100)).isEmpty();
        assertThat(files.dirty()).isZero();
        // The base still names them all.
        OutboxFiles next = again(section);
        next.expect(1, 60);
        expect(next, 1, 61, 100);
        assertThatThrownBy(() -> next.expect(1, 3)).hasMessageContaining("it is missing");
        next.release(1, Long.MAX_VALUE);
        assertThat(paths()).isEmpty();
        assertThat(next.bytes()).isZero();
        OutboxFiles nothing = again(section);
        assertThatThrownBy(() -> nothing.expect(1, 60)).hasMessageContaining("it is missing");
        append(nothing, 1, 101, 120);
        nothing.expect(1, 100);
        expect(nothing, 1, 101, 120);
    }

    /** A file that is deleted may be back after a power cut, whatever became of the next one. */
    @Test
    void whatNobodyNeedsAnyMoreMayBeBackOrNot() throws Exception {
        for (long stream = 1; stream <= 40; stream++) {
            OutboxFiles files = files();
            append(files, stream, 1, 100);
            byte[] section = forced(files, stream);
            files.release(stream, 60);
            disk.powerFails();
            OutboxFiles next = again(section);
            next.expect(stream, 60);
            expect(next, stream, 61, 100);
            next.release(stream, 70);
            expect(next, stream, 71, 100);
            next.release(stream, Long.MAX_VALUE);
            assertThat(paths()).isEmpty();
            assertThat(next.bytes()).isZero();
            disk.powerFails();
            OutboxFiles last = again(section);
            append(last, stream, 101, 120);
            last.expect(stream, 100);
            expect(last, stream, 101, 120);
            last.release(stream, Long.MAX_VALUE);
            assertThat(paths()).isEmpty();
        }
    }

    @Test
    void damageIsRefusedWhereverItIs() throws Exception {
        OutboxFiles files = files();
        append(files, 1, 1, 30);
        byte[] section = forced(files, 1L);
        int refused = 0;
        for (Path path : paths()) {
            try (Disk.File file = disk.open(path)) {
                for (long at = 0; at < file.size(); at++) {
                    flip(file, at);
                    assertThatThrownBy(() -> again(section))
                            .as(path + " at " + at)
                            .isInstanceOf(RefusedFolderException.class)
                            .hasMessageContaining(path + ", byte ");
                    flip(file, at);
                    refused++;
                }
            }
        }
        assertThat(refused).isGreaterThan(800);
        expect(again(section), 1, 1, 30);
    }

    private static void flip(Disk.File file, long at) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        file.read(one, at);
        file.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 0x41)}), at);
    }

    @Test
    void whatIsCutOffIsRefused() throws Exception {
        OutboxFiles files = files();
        append(files, 1, 1, 30);
        byte[] section = forced(files, 1L);
        List<Path> paths = paths();
        Path newest = paths.get(paths.size() - 1);
        try (Disk.File file = disk.open(newest)) {
            file.truncate(file.size() - 1);
        }
        assertThatThrownBy(() -> again(section)).hasMessageContaining(newest + ", byte ");
        disk.delete(newest);
        OutboxFiles cut = again(section);
        assertThatThrownBy(() -> cut.expect(1, 0)).hasMessageContaining(newest + ": it is missing");
    }

    @Test
    void missingAndForeignFilesAreRefused() throws Exception {
        OutboxFiles files = files();
        append(files, 1, 1, 60);
        byte[] section = forced(files, 1L);
        List<Path> paths = paths();
        assertThatThrownBy(() -> again(section, it -> false))
                .hasMessageContaining(paths.get(0) + ", byte 16")
                .hasMessageContaining("another folder's start");
        Path aside = FILES.resolve("aside");
        disk.rename(paths.get(2), aside);
        OutboxFiles torn = again(section);
        assertThatThrownBy(() -> torn.expect(1, 0))
                .hasMessageContaining(paths.get(2) + ": it is missing");
        // So that it can be put back.
        assertThat(paths()).contains(paths.get(0), paths.get(1), paths.get(3));
        disk.rename(paths.get(3), paths.get(2));
        assertThatThrownBy(() -> again(section)).hasMessageContaining("give it its name back");
        disk.rename(paths.get(2), paths.get(3));
        disk.rename(aside, paths.get(2));
        expect(again(section), 1, 1, 60);
        assertThatThrownBy(() -> again(new byte[] {0, 0, 0, 1, 7}))
                .hasMessageContaining("ends early");
    }

    @Test
    void aNewerFormatIsRefused() throws Exception {
        OutboxFiles files = files();
        append(files, 1, 1, 2);
        byte[] section = forced(files, 1L);
        try (Disk.File file = disk.open(paths().get(0))) {
            ByteBuffer header = ByteBuffer.allocate(72);
            file.read(header, 0);
            header.putInt(8, 2);
            CRC32C crc = new CRC32C();
            crc.update(header.duplicate().limit(68).position(0));
            header.putInt(68, (int) crc.getValue());
            file.write(header.position(0), 0);
        }
        assertThatThrownBy(() -> again(section))
                .hasMessageContaining("byte 8")
                .hasMessageContaining("use the release that wrote it");
    }

    // ---- a base that has the messages inside

    private static byte[] inside(OutboxFiles files, OutboxFiles.Names names) throws IOException {
        Map<String, ByteArrayOutputStream> sections = new LinkedHashMap<>();
        files.inside(names, writer -> writer.section("state").write(7))
                .writeTo(name -> sections.computeIfAbsent(name, it -> new ByteArrayOutputStream()));
        assertThat(sections.keySet()).containsExactly("state", "messages");
        return sections.get("messages").toByteArray();
    }

    /** Another folder's files, with what that base has inside. */
    private static OutboxFiles elsewhere(Disk disk, byte[] messages) throws IOException {
        OutboxFiles files =
                new OutboxFiles(
                        disk, Path.of("/simulated/other"), START, START::equals, FILE_BYTES);
        files.beside((name, content) -> {}).section("messages", new ByteArrayInputStream(messages));
        files.cut();
        return files;
    }

    @Test
    void aBaseWithItsMessagesInsideNeedsNoFiles() throws Exception {
        OutboxFiles files = files();
        append(files, 1, 5, 60);
        append(files, 2, 1, 3);
        append(files, 3, 1, 3);
        OutboxFiles.Names names = files.names(Set.of(1L, 2L));
        append(files, 1, 61, 70);
        byte[] base = inside(files, names);
        assertThat(files.dirty()).isLessThan(3);
        SimulatedDisk other = new SimulatedDisk(2);
        OutboxFiles there = elsewhere(other, base);
        there.expect(1, 4);
        there.expect(2, 0);
        expect(there, 1, 5, 60);
        expect(there, 2, 1, 3);
        assertThatThrownBy(() -> there.expect(3, 0)).hasMessageContaining("it is missing");
        // It goes on there, and its own base leads to the same.
        append(there, 1, 61, 80);
        there.release(1, 33);
        byte[] next = inside(there, there.names(Set.of(1L, 2L)));
        OutboxFiles last = elsewhere(new SimulatedDisk(3), next);
        last.expect(1, 33);
        expect(last, 1, 34, 80);
        expect(last, 2, 1, 3);
        assertThatThrownBy(() -> last.expect(1, 32)).isInstanceOf(RefusedFolderException.class);
    }

    /** Its files are nothing but room: whatever an earlier start left there goes. */
    @Test
    void whatAnEarlierStartLeftIsReplaced() throws Exception {
        OutboxFiles files = files();
        append(files, 1, 5, 60);
        byte[] base = inside(files, files.names(Set.of(1L)));
        SimulatedDisk other = new SimulatedDisk(2);
        OutboxFiles before = elsewhere(other, base);
        append(before, 1, 61, 200);
        append(before, 7, 1, 50);
        before.close();
        for (boolean powerFails : new boolean[] {false, true}) {
            if (powerFails) {
                other.powerFails();
            }
            OutboxFiles again = elsewhere(other, base);
            expect(again, 1, 5, 60);
            assertThatThrownBy(() -> again.expect(1, 60))
                    .isInstanceOf(RefusedFolderException.class);
            append(again, 1, 61, 70);
            append(again, 7, 1, 5);
            expect(again, 1, 5, 70);
            expect(again, 7, 1, 5);
            again.close();
        }
    }

    @Test
    void whatIsReleasedWhileABaseIsWrittenMayBeLeftOut() throws Exception {
        OutboxFiles files = files();
        append(files, 1, 1, 60);
        append(files, 2, 1, 60);
        OutboxFiles.Names names = files.names(Set.of(1L, 2L));
        files.release(1, 40);
        files.release(2, Long.MAX_VALUE);
        OutboxFiles there = elsewhere(new SimulatedDisk(2), inside(files, names));
        expect(there, 1, 41, 60);
        // The turns above the base say that nobody needs these; what comes next is behind them.
        assertThat(there.names(Set.of(2L))).isNotNull();
        assertThatThrownBy(() -> there.append(2, 60, message(60)))
                .hasMessageContaining("is behind 60");
        append(there, 2, 61, 62);
        there.expect(2, 60);
        expect(there, 2, 61, 62);
    }

    @Test
    void spoiledMessagesInsideAreRefused() throws Exception {
        OutboxFiles files = files();
        append(files, 1, 1, 9);
        byte[] base = inside(files, files.names(Set.of(1L)));
        for (int length = 0; length < base.length; length++) {
            byte[] part = Arrays.copyOf(base, length);
            assertThatThrownBy(() -> elsewhere(new SimulatedDisk(2), part))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("section messages ends early");
        }
        // Format, number of streams, the stream's number, last count, first count, its length.
        int[] at = {0, 4, 8, 16, 24, 32};
        for (int from : at) {
            byte[] spoiled = base.clone();
            spoiled[from] = (byte) 0x80;
            assertThatThrownBy(() -> elsewhere(new SimulatedDisk(2), spoiled))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("section messages ");
        }
        byte[] wild = base.clone();
        wild[32] = 0x7f;
        assertThatThrownBy(() -> elsewhere(new SimulatedDisk(2), wild))
                .hasMessageContaining("ends early");
        byte[] longer = Arrays.copyOf(base, base.length + 1);
        assertThatThrownBy(() -> elsewhere(new SimulatedDisk(2), longer))
                .hasMessageContaining("continues behind its last stream");
        byte[] more = base.clone();
        more[23]++;
        assertThatThrownBy(() -> elsewhere(new SimulatedDisk(2), more))
                .hasMessageContaining("ends with 9, not 10");
    }
}
