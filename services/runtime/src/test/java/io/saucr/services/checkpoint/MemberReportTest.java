package io.saucr.services.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The offline check of a member's folder, which changes nothing. */
class MemberReportTest {

    private static final SecureRandom NAMES = new SecureRandom();

    @TempDir private Path path;

    private final Chain chain = new Chain();

    private MemberFolder open() throws IOException {
        return MemberFolder.open(Disk.local(), path, Chain.SERVICE, NAMES, 1600);
    }

    private String fill() throws IOException {
        try (MemberFolder folder = open()) {
            folder.birth(Chain.BIRTH);
            for (int count = 0; count < 11; count++) {
                folder.append(chain.next(300, Math.max(0, count - 1)));
            }
            for (long number : new long[] {4, 7}) {
                folder.base(
                        chain.id(number),
                        chain.epochs(),
                        writer -> writer.section("state").write(new byte[100]));
            }
            folder.force();
            return folder.member();
        }
    }

    /** Checks, and that nothing was changed by it. */
    private MemberReport verified() throws IOException {
        Map<Path, String> before = contents();
        MemberReport report = MemberFolder.verify(Disk.readOnly(), path);
        assertThat(contents()).isEqualTo(before);
        return report;
    }

    private Map<Path, String> contents() throws IOException {
        Map<Path, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.toList()) {
                contents.put(
                        file,
                        Files.getLastModifiedTime(file)
                                + (Files.isDirectory(file)
                                        ? ""
                                        : java.util.Arrays.toString(Files.readAllBytes(file))));
            }
        }
        return contents;
    }

    private Path log(long first) {
        return path.resolve(String.format("segments/%019d.log", first));
    }

    private Path snap(long number) {
        return path.resolve(String.format("bases/%019d.snap", number));
    }

    private static void flip(Path file, long at) throws IOException {
        try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
            opened.seek(at);
            int was = opened.read();
            opened.seek(at);
            opened.write(was ^ 8);
        }
    }

    @Test
    void whatIsHeld() throws Exception {
        String member = fill();
        MemberReport report = verified();
        assertThat(report.member()).contains(member);
        assertThat(report.service()).contains(Chain.SERVICE);
        assertThat(report.birth()).contains(Chain.BIRTH);
        assertThat(report.bases())
                .extracting(it -> it.at().orElseThrow())
                .containsExactly(chain.id(7), chain.id(4));
        assertThat(report.logs())
                .extracting(MemberReport.LogFile::first)
                .containsExactly(4L, 7L, 10L);
        assertThat(report.logs())
                .extracting(MemberReport.LogFile::segments)
                .containsExactly(3L, 3L, 2L);
        assertThat(report.from()).isEqualTo(4);
        assertThat(report.last()).isEqualTo(chain.id(11));
        assertThat(report.known()).isEqualTo(9);
        assertThat(report.restoredFrom()).contains(chain.id(7));
        assertThat(report.torn()).isEmpty();
        assertThat(report.damages()).isEmpty();
        assertThat(report.missing()).isEmpty();
        assertThat(report.isWhole()).isTrue();
        try (MemberFolder folder = open()) {
            assertThat(folder.known()).isEqualTo(report.known());
            assertThat(folder.oldest()).isEqualTo(report.from());
            assertThat(folder.last()).isEqualTo(report.last());
        }
    }

    @Test
    void aNewFolderHoldsNothing() throws Exception {
        open().close();
        MemberReport report = verified();
        assertThat(report.birth()).isEmpty();
        assertThat(report.last()).isEqualTo(SegmentId.NONE);
        assertThat(report.restoredFrom()).contains(SegmentId.NONE);
        assertThat(report.damages()).isEmpty();
    }

    @Test
    void damageIsToldByFileAndByte() throws Exception {
        fill();
        flip(snap(7), 300);
        flip(log(7), 200);
        flip(log(10), chain.get(10).bytes() + 250);
        MemberReport report = verified();
        assertThat(report.bases().get(0).at()).isEmpty();
        assertThat(report.damages()).extracting(Damage::file).containsExactly(snap(7), log(7));
        assertThat(report.damages().get(1).offset()).isBetween(1L, 200L);
        assertThat(report.damages().get(1).toString()).startsWith(log(7) + ", byte");
        assertThat(report.torn().orElseThrow().file()).isEqualTo(log(10));
        assertThat(report.last()).isEqualTo(chain.id(10));
        assertThat(report.from()).isEqualTo(10);
        assertThat(report.restoredFrom()).isEmpty();
    }

    @Test
    void aMissingFileIsTold() throws Exception {
        fill();
        Files.delete(log(4));
        // The newest base covers that: a start needs nothing of it.
        assertThat(verified().isWhole()).isTrue();
        Files.delete(log(7));
        MemberReport report = verified();
        assertThat(report.missing()).singleElement().asString().contains("segments 1 to 9 are");
        assertThat(report.leadsToLast()).isFalse();
        assertThat(report.isWhole()).isFalse();
    }

    @Test
    void anOlderBaseServes() throws Exception {
        fill();
        flip(snap(7), 300);
        assertThat(verified().restoredFrom()).contains(chain.id(4));
        flip(log(4), 200);
        MemberReport report = verified();
        assertThat(report.restoredFrom()).isEmpty();
        assertThat(report.damages()).hasSize(2);
    }

    @Test
    void whatCannotBeReadAtAllIsTold() throws Exception {
        fill();
        Files.createFile(path.resolve("segments/" + "9".repeat(19) + ".log"));
        assertThat(verified().damages()).hasSize(1);
        flip(path.resolve("member"), 40);
        MemberReport report = verified();
        assertThat(report.member()).isEmpty();
        assertThat(report.damages()).hasSize(1);
        assertThat(report.damages().get(0).reason()).contains("damaged");
        Files.delete(path.resolve("member"));
        assertThat(verified().damages().get(0).reason()).contains("is missing");
    }

    @Test
    void aMissingFolderIsTold() throws Exception {
        fill();
        for (Path file : List.of(snap(4), snap(7), path.resolve("bases"))) {
            Files.delete(file);
        }
        MemberReport report = verified();
        assertThat(report.damages())
                .extracting(Damage::file)
                .containsExactly(path.resolve("bases"));
    }

    @Test
    void anotherFolderIsRefused() {
        assertThatThrownBy(() -> MemberFolder.verify(Disk.readOnly(), path))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("not the folder of a member");
    }
}
