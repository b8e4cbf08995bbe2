package io.saucr.services.journal;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.journal.SegmentHeader;
import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** K9: who only looks at a folder says what a start would do, and changes nothing. */
class FolderReaderTest {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final JournalOptions OPTIONS = new JournalOptions(ForceMode.always(), 4096);
    private static final int TURNS = 40;
    private static final int BASE = 15;

    @TempDir private Path temporary;
    private Path path;

    @BeforeEach
    void choosePath() {
        path = temporary.resolve("bank");
    }

    /** Turns of 300 bytes, and a base where asked for. */
    private static void write(Path folder, int turns, int base) throws IOException {
        try (ServiceFolder opened = ServiceFolder.open(folder, "bank", RANDOM)) {
            Recovered recovered = opened.recover(OPTIONS);
            try (Journal journal =
                    recovered.journal(
                            new JournalListener() {
                                @Override
                                public void forced(long turn) {}

                                @Override
                                public void failed(IOException cause) {
                                    throw new AssertionError(cause);
                                }
                            })) {
                for (int count = 0; count < turns; count++) {
                    long turn = journal.appended() + 1;
                    journal.append(turn, ByteBuffer.wrap(text(turn).getBytes(UTF_8)));
                    await().pollDelay(Duration.ZERO)
                            .pollInterval(Duration.ofMillis(1))
                            .until(() -> journal.forced() == turn);
                }
                if (base > 0) {
                    recovered
                            .base()
                            .write(
                                    base,
                                    writer -> {
                                        writer.section("one").write(new byte[70_000]);
                                        writer.section("two").write(text(base).getBytes(UTF_8));
                                    });
                }
            }
        }
    }

    private static String text(long turn) {
        return String.format("turn %5d", turn).repeat(30);
    }

    /** Everything that can be seen of a folder: names, times and bytes. */
    private static Map<String, String> seen(Path folder) throws IOException {
        Map<String, String> seen = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.toList()) {
                FileTime time = Files.getLastModifiedTime(file);
                seen.put(
                        file.toString(),
                        time
                                + " "
                                + Files.getAttribute(file, "unix:ctime")
                                + " "
                                + Files.getAttribute(file, "unix:ino")
                                + " "
                                + (Files.isDirectory(file)
                                        ? ""
                                        : HexFormat.of().formatHex(Files.readAllBytes(file))));
            }
        }
        return seen;
    }

    /** Looks, and sees to it that looking changed nothing. */
    private static FolderReader look(Path folder) throws IOException {
        Map<String, String> before = seen(folder);
        FolderReader reader =
                FolderReader.read(
                        folder, (name, content) -> name + " begins with " + content.read());
        List<Long> turns = new ArrayList<>();
        reader.turns(
                (turn, delta) -> {
                    turns.add(turn);
                    byte[] bytes = new byte[delta.remaining()];
                    delta.get(bytes);
                    assertThat(new String(bytes, UTF_8)).isEqualTo(text(turn));
                });
        for (int index = 0; index < turns.size(); index++) {
            assertThat(turns.get(index)).isEqualTo(reader.baseTurn() + 1 + index);
        }
        reader.sections((name, content) -> assertThat(content.readAllBytes()).isNotEmpty());
        assertThat(seen(folder)).isEqualTo(before);
        return reader;
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
    void aWholeFolderIsShown() throws Exception {
        write(path, TURNS, BASE);
        FolderReader reader = look(path);
        assertThat(reader.starts()).isTrue();
        assertThat(reader.problems()).isEmpty();
        assertThat(reader.inUseBy()).isEmpty();
        assertThat(reader.name()).contains("bank");
        assertThat(reader.incarnations()).hasSize(1);
        assertThat(reader.confirmed()).isZero();
        assertThat(reader.baseTurn()).isEqualTo(BASE);
        assertThat(reader.lastTurn()).isEqualTo(TURNS);
        assertThat(reader.forcedTurn()).isBetween(TURNS - 2L, TURNS - 1L);
        assertThat(reader.bases()).hasSize(1);
        assertThat(reader.bases().get(0).whole()).isTrue();
        assertThat(reader.bases().get(0).sections())
                .containsExactly(
                        new FolderReader.Section("one", 70_000, "one begins with 0"),
                        new FolderReader.Section(
                                "two", text(BASE).length(), "two begins with 116"));
        List<FolderReader.SegmentFile> segments = reader.segments();
        assertThat(segments).hasSizeGreaterThan(2);
        assertThat(segments.stream().mapToLong(FolderReader.SegmentFile::records).sum())
                .isEqualTo(TURNS + 1L - segments.get(0).firstTurn());
        assertThat(segments).allMatch(it -> it.start().isPresent() && !it.torn());
    }

    @Test
    void aFolderThatWasJustMadeStarts() throws Exception {
        ServiceFolder.open(path, "bank", RANDOM).close();
        FolderReader reader = look(path);
        assertThat(reader.starts()).isTrue();
        assertThat(reader.lastTurn()).isZero();
        assertThat(reader.segments()).isEmpty();
        assertThat(reader.problems()).isEmpty();
    }

    @Test
    void noLockIsMadeAndNoneIsKept() throws Exception {
        write(path, 3, 0);
        Files.delete(path.resolve("lock"));
        assertThat(look(path).inUseBy()).isEmpty();
        assertThat(path.resolve("lock")).doesNotExist();
        write(path, 3, 0);
        assertThat(look(path).lastTurn()).isEqualTo(6);
        ServiceFolder.open(path, "bank", RANDOM).close();
    }

    @Test
    void whoRunsOnItIsNamedAndNotDisturbed() throws Exception {
        write(path, 3, 0);
        try (ServiceFolder mine = ServiceFolder.open(path, "bank", RANDOM)) {
            assertThat(look(path).inUseBy())
                    .contains("this process, " + ProcessHandle.current().pid());
            assertThat(mine.incarnation().number()).isEqualTo(2);
        }
        Process other =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                ServiceFolderTest.OtherProcess.class.getName(),
                                path.toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(other.getInputStream(), UTF_8))) {
            assertThat(output.readLine()).isEqualTo("again");
            for (int times = 0; times < 2; times++) {
                FolderReader reader = look(path);
                assertThat(reader.inUseBy()).contains("process " + other.pid());
                assertThat(reader.starts()).isTrue();
            }
            // Looking did not free its lock.
            assertThatThrownBy(() -> ServiceFolder.open(path, "bank", RANDOM))
                    .hasMessageContaining("in use by process " + other.pid());
        } finally {
            other.destroyForcibly().waitFor();
        }
        assertThat(look(path).inUseBy()).isEmpty();
    }

    /** Any damage: what is said is what a start of a copy does. */
    @Test
    void whatIsSaidOfADamagedFolderIsWhatAStartDoes() throws Exception {
        Path whole = temporary.resolve("whole");
        write(whole, TURNS, BASE);
        write(whole, TURNS, 0);
        Random random = new Random(19);
        int refused = 0;
        int went = 0;
        for (int round = 0; round < 80; round++) {
            Path damaged = temporary.resolve("damaged-" + round);
            copy(whole, damaged);
            String what = damage(damaged, random);
            FolderReader reader = look(damaged);
            Path started = temporary.resolve("started-" + round);
            copy(damaged, started);
            IOException failure = null;
            long lastTurn = 0;
            try (ServiceFolder folder = ServiceFolder.open(started, "bank", RANDOM)) {
                lastTurn = folder.recover(OPTIONS).lastTurn();
            } catch (IOException e) {
                failure = e;
            }
            assertThat(reader.starts()).as("%s: %s", what, failure).isEqualTo(failure == null);
            if (failure == null) {
                assertThat(reader.lastTurn()).as(what).isEqualTo(lastTurn);
                went++;
            } else {
                refused++;
                assertThat(reader.problems()).as(what).isNotEmpty();
                if (failure instanceof RefusedFolderException said && said.offset() >= 0) {
                    String name = said.file().getFileName().toString();
                    assertThat(reader.problems())
                            .as(what)
                            .anyMatch(
                                    it ->
                                            it.file().endsWith(name)
                                                    && it.offset() == said.offset()
                                                    && it.needed());
                }
            }
        }
        assertThat(refused).isGreaterThan(5);
        assertThat(went).isGreaterThan(5);
    }

    /** Flips, cuts, or takes a file away. */
    private static String damage(Path folder, Random random) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files =
                    all.filter(Files::isRegularFile)
                            .filter(it -> !it.endsWith("lock"))
                            .sorted()
                            .toList();
        }
        Path file = files.get(random.nextInt(files.size()));
        byte[] bytes = Files.readAllBytes(file);
        int at = random.nextInt(bytes.length);
        switch (random.nextInt(4)) {
            case 0 -> Files.delete(file);
            case 1 -> Files.write(file, Arrays.copyOf(bytes, at));
            default -> {
                bytes[at] ^= (byte) (1 << random.nextInt(8));
                Files.write(file, bytes);
            }
        }
        return file + ", byte " + at;
    }

    @Test
    void aTornEndIsNoDamage() throws Exception {
        write(path, 10, 0);
        FolderReader.SegmentFile last = look(path).segments().get(0);
        byte[] bytes = Files.readAllBytes(last.file());
        bytes[(int) last.end() + 5] = 1;
        Files.write(last.file(), bytes);
        FolderReader reader = look(path);
        assertThat(reader.starts()).isTrue();
        assertThat(reader.problems()).isEmpty();
        assertThat(reader.lastTurn()).isEqualTo(10);
        assertThat(reader.segments().get(0).torn()).isTrue();
    }

    @Test
    void anOlderBaseServesAndTheDamageIsTold() throws Exception {
        write(path, TURNS, BASE);
        Path older = Base.file(path.resolve("base"), BASE);
        Path aside = temporary.resolve("aside");
        Files.copy(older, aside);
        List<Path> kept = new ArrayList<>();
        try (Stream<Path> files = Files.list(path.resolve("journal"))) {
            for (Path file : files.toList()) {
                Path copy = temporary.resolve(file.getFileName());
                Files.copy(file, copy);
                kept.add(copy);
            }
        }
        write(path, 1, TURNS + 1);
        for (Path file : kept) {
            Path target = path.resolve("journal").resolve(file.getFileName());
            if (!Files.exists(target)) {
                Files.copy(file, target);
            }
        }
        Files.copy(aside, older);
        assertThat(look(path).bases()).hasSize(2);
        assertThat(look(path).problems()).isEmpty();

        Path newer = Base.file(path.resolve("base"), TURNS + 1);
        byte[] bytes = Files.readAllBytes(newer);
        bytes[5_000] ^= 1;
        Files.write(newer, bytes);
        FolderReader reader = look(path);
        assertThat(reader.starts()).isTrue();
        assertThat(reader.baseTurn()).isEqualTo(BASE);
        assertThat(reader.lastTurn()).isEqualTo(TURNS + 1);
        assertThat(reader.problems()).hasSize(1);
        assertThat(reader.problems().get(0).message())
                .startsWith(newer + ", byte ")
                .contains("the base is damaged");
    }

    @Test
    void anotherFoldersSegmentAndANewerOneAreNamed() throws Exception {
        write(path, 3, 0);
        Path file = Segment.file(path.resolve("journal"), 1);
        byte[] own = Files.readAllBytes(file);
        ByteBuffer foreign =
                new SegmentHeader(new Incarnation(new Birth(1, 2), 1, 3), 1, 0).encode();
        byte[] bytes = own.clone();
        foreign.get(bytes, 0, SegmentHeader.BYTES);
        Files.write(file, bytes);
        FolderReader reader = look(path);
        assertThat(reader.starts()).isFalse();
        assertThat(reader.problems().get(0).message())
                .startsWith(file + ", byte 16: ")
                .contains("another folder's start", "put back the files of this folder");

        bytes = own.clone();
        bytes[11] = 9;
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, SegmentHeader.BYTES - 4);
        ByteBuffer.wrap(bytes).putInt(SegmentHeader.BYTES - 4, (int) crc.getValue());
        Files.write(file, bytes);
        reader = look(path);
        assertThat(reader.starts()).isFalse();
        assertThat(reader.segments().get(0).start()).isEmpty();
        assertThat(reader.problems().get(0).message())
                .startsWith(file + ", byte 8: ")
                .contains("format 9", "use the release that wrote it");
    }

    @Test
    void anIdentityThatCannotBeReadHidesNothingElse() throws Exception {
        write(path, 3, 0);
        Path file = path.resolve("identity");
        Files.writeString(file, "saucr-service-folder 7 01234567\n");
        FolderReader reader = look(path);
        assertThat(reader.starts()).isFalse();
        assertThat(reader.name()).isEmpty();
        assertThat(reader.incarnations()).isEmpty();
        assertThat(reader.lastTurn()).isEqualTo(3);
        assertThat(reader.segments()).hasSize(1);
        assertThat(reader.problems().get(0).message())
                .startsWith(file + ", byte 0: ")
                .contains("a newer release's");
        Files.delete(file);
        assertThat(look(path).problems().get(0).message())
                .startsWith(file.toString())
                .contains("missing");
    }

    @Test
    void aMissingJournalIsNamed() throws Exception {
        write(path, 3, 0);
        Path journal = path.resolve("journal");
        Files.move(journal, temporary.resolve("aside"));
        FolderReader reader = look(path);
        assertThat(reader.starts()).isFalse();
        assertThat(reader.problems()).hasSize(1);
        assertThat(reader.problems().get(0).message())
                .startsWith(journal.toString())
                .contains("missing", "Put it back");
        Files.createDirectory(journal);
        assertThat(look(path).problems().get(0).message())
                .startsWith(journal.toString())
                .contains("the segments are missing");
    }

    @Test
    void whatElseLiesThereIsShown() throws Exception {
        write(path, 3, 0);
        Files.write(path.resolve("reserve"), new byte[100]);
        Files.write(path.resolve("journal").resolve("7.tmp"), new byte[10]);
        Files.write(path.resolve("base").resolve("new.tmp"), new byte[20]);
        FolderReader reader = look(path);
        assertThat(reader.starts()).isTrue();
        assertThat(reader.others())
                .contains(
                        new FolderReader.Other(path.resolve("reserve"), 100),
                        new FolderReader.Other(path.resolve("journal/7.tmp"), 10),
                        new FolderReader.Other(path.resolve("base/new.tmp"), 20));
    }

    @Test
    void whatIsNoFolderOfAServiceIsRefused() throws Exception {
        FolderReader.SectionSummary none = (name, content) -> "";
        assertThatThrownBy(() -> FolderReader.read(path, none))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessage(path + ": there is no such folder");
        Files.createDirectory(path);
        assertThatThrownBy(() -> FolderReader.read(path, none))
                .hasMessage(
                        path
                                + ": this is not the folder of a service or client: it has no"
                                + " identity, journal and base");
        assertThat(path).isEmptyDirectory();
        write(path.resolve("b"), 1, 0);
        write(path.resolve("a"), 1, 0);
        assertThatThrownBy(() -> FolderReader.read(path, none))
                .hasMessageEndingWith(
                        ". These in it are: " + path.resolve("a") + ", " + path.resolve("b"));
        assertThatThrownBy(() -> FolderReader.read(path.resolve("a/identity"), none))
                .hasMessageContaining("this is a file");
    }

    @Test
    void nothingCanBeChangedByWayOfTheReader() {
        Disk disk = ReadOnlyDisk.INSTANCE;
        Path file = path.resolve("x");
        for (ThrowingCallable each :
                List.<ThrowingCallable>of(
                        () -> disk.makeFolder(path),
                        () -> disk.rename(file, file),
                        () -> disk.delete(file),
                        () -> disk.forceFolder(path),
                        () -> disk.lock(file, "me"))) {
            assertThatThrownBy(each).isInstanceOf(UnsupportedOperationException.class);
        }
        assertThatThrownBy(() -> disk.open(file)).isInstanceOf(FileNotFoundException.class);
        assertThat(path).doesNotExist();
    }
}
