package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** C2, C4, C14, C16: a member's folder, and what it refuses. */
class MemberFolderTest {

    private static final Path PATH = Path.of("/simulated/member");
    private static final Path SEGMENTS = PATH.resolve("segments");
    private static final Path BASES = PATH.resolve("bases");
    private static final SecureRandom NAMES = new SecureRandom();

    private final SimulatedDisk disk = new SimulatedDisk(1);
    private final Chain chain = new Chain();

    /** Small log files: three segments of 500 bytes each. */
    private MemberFolder open() throws IOException {
        return MemberFolder.open(disk, PATH, Chain.SERVICE, NAMES, 1600);
    }

    private MemberFolder opened() throws IOException {
        MemberFolder folder = open();
        folder.birth(Chain.BIRTH);
        return folder;
    }

    private void append(MemberFolder folder, int segments) {
        for (int left = segments; left > 0; left--) {
            folder.append(chain.next(300, 0));
        }
        folder.force();
    }

    private static Path log(long first) {
        return SEGMENTS.resolve(String.format("%019d.log", first));
    }

    private static Path snap(long number) {
        return BASES.resolve(String.format("%019d.snap", number));
    }

    private static Base.Sections state(String words) {
        return writer -> writer.section("state").write(words.getBytes(UTF_8));
    }

    private void base(MemberFolder folder, long number) throws IOException {
        folder.base(chain.id(number), chain.epochs(), state("as of " + number));
    }

    /** What is restored: the base's words, then the numbers of the segments. */
    private static List<String> restored(MemberFolder folder, SegmentId upTo) throws IOException {
        List<String> read = new ArrayList<>();
        Restored restored = folder.restore(upTo);
        restored.sections((name, content) -> read.add(new String(content.readAllBytes(), UTF_8)));
        restored.segments(segment -> read.add("" + segment.id().number()));
        return read;
    }

    private void flip(Path file, int at) {
        disk.flip(file, at, 3);
    }

    @Test
    void aNewFolderHoldsNothing() throws Exception {
        String member;
        try (MemberFolder folder = open()) {
            member = folder.member();
            assertThat(member).matches("[0-9a-f]{16}");
            assertThat(folder.birth()).isEmpty();
            assertThat(folder.last()).isEqualTo(SegmentId.NONE);
            assertThat(folder.at(0)).contains(SegmentId.NONE);
            assertThat(folder.at(1)).isEmpty();
            assertThat(folder.oldest()).isEqualTo(1);
            assertThat(folder.known()).isZero();
            assertThat(folder.newestBase()).isEqualTo(SegmentId.NONE);
            assertThat(restored(folder, SegmentId.NONE)).isEmpty();
            assertThatThrownBy(() -> folder.append(chain.next()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("generation");
        }
        try (MemberFolder folder = open()) {
            assertThat(folder.member()).isEqualTo(member);
        }
    }

    @Test
    void itSaysHowManyBytesAreBetweenTwoSegments() throws Exception {
        try (MemberFolder folder = opened()) {
            assertThat(folder.bytesBetween(0, 3)).isZero();
            append(folder, 7);
            long all = folder.bytesAboveBase();
            assertThat(folder.bytesBetween(0, 7)).isEqualTo(all);
            assertThat(folder.bytesBetween(0, Long.MAX_VALUE)).isEqualTo(all);
            assertThat(folder.bytesBetween(2, 4))
                    .isEqualTo(chain.get(3).bytes() + chain.get(4).bytes());
            assertThat(folder.bytesBetween(4, 4)).isZero();
            assertThat(folder.bytesBetween(7, 9)).isZero();
        }
    }

    @Test
    void whatWasForcedIsThereAgain() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 4);
            chain.takeover();
            append(folder, 3);
            assertThat(folder.last()).isEqualTo(chain.id(7));
            assertThat(folder.bytesAboveBase()).isGreaterThan(7 * 300);
        }
        disk.powerFails();
        try (MemberFolder folder = open()) {
            assertThat(folder.birth()).contains(Chain.BIRTH);
            assertThat(folder.last()).isEqualTo(chain.id(7));
            assertThat(folder.oldest()).isEqualTo(1);
            assertThat(folder.at(5)).contains(chain.id(5));
            assertThat(folder.read(chain.id(6)).encoded()).isEqualTo(chain.get(6).encoded());
            assertThat(restored(folder, chain.id(5))).containsExactly("1", "2", "3", "4", "5");
            append(folder, 1);
            assertThat(restored(folder, chain.last())).hasSize(8);
        }
        assertThat(disk.list(SEGMENTS)).hasSizeGreaterThan(2);
    }

    @Test
    void onAFilesystem(@TempDir Path temp) throws Exception {
        Path path = temp.resolve("member");
        try (MemberFolder folder =
                MemberFolder.open(Disk.local(), path, Chain.SERVICE, NAMES, 1600)) {
            folder.birth(Chain.BIRTH);
            append(folder, 6);
            base(folder, 4);
            append(folder, 2);
            folder.dropAfter(7);
        }
        try (MemberFolder folder = MemberFolder.open(Disk.local(), path, Chain.SERVICE, NAMES)) {
            assertThat(folder.last()).isEqualTo(chain.id(7));
            assertThat(restored(folder, chain.id(7))).containsExactly("as of 4", "5", "6", "7");
            assertThatThrownBy(() -> MemberFolder.open(Disk.local(), path, Chain.SERVICE, NAMES))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("in use");
        }
    }

    @Test
    void aFolderIsOneServicesAndOneBirths() throws Exception {
        try (MemberFolder folder = opened()) {
            folder.birth(Chain.BIRTH);
            assertThatThrownBy(() -> folder.birth(new Birth(1, 1)))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining(Chain.BIRTH.toString())
                    .hasMessageContaining("empty one");
            assertThatThrownBy(this::open)
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("in use");
        }
        assertThatThrownBy(() -> MemberFolder.open(disk, PATH, "bänk", NAMES))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("member of \"bank\", not of \"bänk\"");
        assertThatThrownBy(() -> MemberFolder.open(disk, PATH, "", NAMES))
                .isInstanceOf(IllegalArgumentException.class);
        open().close();
    }

    @Test
    void onlyWhatContinuesTheChainIsAppended() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 2);
            SegmentId last = folder.last();
            Incarnation by = chain.epoch();
            List<SegmentHeader> wrong =
                    List.of(
                            new SegmentHeader("bank", by, 2, 3, 3, last.digest(), 0),
                            new SegmentHeader("bank", by, 4, 3, 3, last.digest(), 0),
                            new SegmentHeader("bank", by, 3, 3, 3, chain.id(1).digest(), 0),
                            new SegmentHeader("bank", by, 3, 4, 4, last.digest(), 0),
                            new SegmentHeader("shop", by, 3, 3, 3, last.digest(), 0),
                            new SegmentHeader(
                                    "bank",
                                    new Incarnation(new Birth(1, 1), 1, 1),
                                    3,
                                    3,
                                    3,
                                    last.digest(),
                                    0));
            for (SegmentHeader header : wrong) {
                assertThatThrownBy(() -> folder.append(Segment.of(header, new byte[1])))
                        .as(header.toString())
                        .isInstanceOf(IllegalArgumentException.class);
            }
            chain.takeover();
            append(folder, 1);
            SegmentHeader older = new SegmentHeader("bank", by, 4, 4, 4, folder.last().digest(), 0);
            assertThatThrownBy(() -> folder.append(Segment.of(older, new byte[1])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("does not continue");
            assertThat(folder.last()).isEqualTo(chain.id(3));
            append(folder, 1);
        }
    }

    @Test
    void whatIsNotHeldIsMissing() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 2);
            assertThatThrownBy(() -> folder.read(3))
                    .isInstanceOf(MissingSegmentException.class)
                    .hasMessageContaining("holds 1 to 2");
            assertThatThrownBy(() -> folder.read(new SegmentId(1, 2, "a".repeat(64))))
                    .isInstanceOf(MissingSegmentException.class);
        }
    }

    @Test
    void whatTheHeadNamedIsNotDropped() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 3);
            folder.append(chain.next(300, 2));
            folder.append(chain.next(300, 3));
            assertThat(folder.known()).isEqualTo(3);
            assertThatThrownBy(() -> folder.dropAfter(2))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the head named 3");
            folder.dropAfter(3);
            assertThat(folder.last()).isEqualTo(chain.id(3));
            folder.dropAfter(3);
            folder.dropAfter(9);
            chain.cutAfter(3);
        }
        disk.powerFails();
        try (MemberFolder folder = open()) {
            assertThat(folder.last()).isEqualTo(chain.id(3));
            assertThat(folder.known()).isEqualTo(3);
            assertThatThrownBy(() -> folder.dropAfter(2))
                    .isInstanceOf(IllegalArgumentException.class);
            append(folder, 2);
            assertThat(restored(folder, chain.last())).hasSize(5);
        }
    }

    /** What was read before must not be given for what stands there now. */
    @Test
    void whatReplacesWhatWasDroppedIsRead() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 2);
            Segment dropped = folder.read(2);
            folder.dropAfter(1);
            chain.cutAfter(1);
            chain.takeover();
            append(folder, 1);
            assertThat(folder.read(2).id()).isEqualTo(chain.id(2)).isNotEqualTo(dropped.id());
            folder.append(chain.next());
            assertThat(folder.read(3).id()).isEqualTo(chain.id(3));
        }
    }

    @Test
    void allIsDroppedWhereTheHeadNamedNothing() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 8);
            folder.dropAfter(0);
            assertThat(folder.last()).isEqualTo(SegmentId.NONE);
            assertThat(disk.list(SEGMENTS)).isEmpty();
            chain.cutAfter(0);
            append(folder, 1);
            assertThat(restored(folder, chain.last())).containsExactly("1");
        }
    }

    @Test
    void twoBasesStayWithTheSegmentsAboveTheOlder() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 10);
            base(folder, 4);
            assertThat(folder.oldest()).isEqualTo(1);
            base(folder, 7);
            assertThat(folder.oldest()).isEqualTo(4);
            append(folder, 3);
            base(folder, 12);
            assertThat(folder.newestBase()).isEqualTo(chain.id(12));
            assertThat(folder.oldest()).isEqualTo(7);
            assertThat(folder.known()).isEqualTo(12);
            assertThat(disk.list(BASES)).hasSize(2);
            assertThat(folder.at(7)).contains(chain.id(7));
            assertThat(restored(folder, chain.id(12))).containsExactly("as of 12");
            assertThat(restored(folder, chain.id(11)))
                    .containsExactly("as of 7", "8", "9", "10", "11");
            assertThat(folder.restore(chain.id(13)).epochs()).isEqualTo(chain.epochs());
            assertThatThrownBy(() -> folder.restore(chain.id(6)))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("segments 1 to 6 are missing");
        }
        try (MemberFolder folder = open()) {
            assertThat(folder.newestBase()).isEqualTo(chain.id(12));
            assertThat(folder.last()).isEqualTo(chain.id(13));
            assertThat(folder.known()).isEqualTo(12);
        }
    }

    @Test
    void aBaseThatCannotBeIsRefused() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 3);
            base(folder, 2);
            for (SegmentId at :
                    List.of(
                            chain.id(1),
                            chain.id(2),
                            new SegmentId(1, 3, "b".repeat(64)),
                            new SegmentId(1, 4, "b".repeat(64)))) {
                assertThatThrownBy(() -> folder.base(at, chain.epochs(), state("")))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("newer than");
            }
            assertThatThrownBy(() -> folder.base(chain.id(3), List.of(), state("")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("epochs");
            IOException full = new IOException("the state cannot be written");
            assertThatThrownBy(
                            () ->
                                    folder.base(
                                            chain.id(3),
                                            chain.epochs(),
                                            writer -> {
                                                writer.section("state").write(1);
                                                throw full;
                                            }))
                    .isSameAs(full);
            assertThat(disk.list(BASES)).hasSize(1);
            assertThat(folder.newestBase()).isEqualTo(chain.id(2));
            folder.base(
                    chain.id(3),
                    chain.epochs(),
                    writer -> {
                        assertThatThrownBy(() -> base(folder, 3))
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining("one base at a time");
                        writer.section("state").write(1);
                    });
        }
    }

    /** C14. */
    @Test
    void aDamagedBaseFallsBackToTheOlderOne() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 10);
            base(folder, 4);
            base(folder, 8);
            int end = disk.content(snap(8)).length - 30;
            flip(snap(8), end);
            assertThat(restored(folder, chain.id(9)))
                    .containsExactly("as of 4", "5", "6", "7", "8", "9");
            assertThat(folder.damages()).hasSize(1);
            assertThat(folder.damages().get(0).file()).isEqualTo(snap(8));
            assertThat(folder.newestBase()).isEqualTo(chain.id(4));
            // The one that is whole counts as the older one now.
            base(folder, 10);
            assertThat(folder.oldest()).isEqualTo(4);
            assertThat(restored(folder, chain.id(9))).startsWith("as of 4", "5");
        }
        // Damaged in its first bytes, it is noticed when the folder is opened.
        flip(snap(10), 20);
        try (MemberFolder folder = open()) {
            assertThat(folder.damages()).hasSize(1);
            assertThat(restored(folder, chain.id(10))).startsWith("as of 4", "5").hasSize(7);
        }
        flip(snap(4), 70);
        try (MemberFolder folder = open()) {
            assertThat(folder.last()).isEqualTo(chain.id(10));
            assertThatThrownBy(() -> folder.restore(chain.id(10)))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining(snap(10).toString())
                    .hasMessageContaining(snap(4).toString())
                    .hasMessageContaining("segments 1 to 3 are missing")
                    .hasMessageContaining("from another member");
        }
        assertThat(disk.list(BASES)).hasSize(3);
    }

    @Test
    void damageInAnOlderFileIsToldAndLeftAlone() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 8);
        }
        byte[] whole = disk.content(log(4));
        int second = chain.get(4).bytes();
        // In its header: found when the folder is opened.
        flip(log(4), second + 20);
        try (MemberFolder folder = open()) {
            assertThat(folder.damages()).hasSize(1);
            Damage damage = folder.damages().get(0);
            assertThat(damage.file()).isEqualTo(log(4));
            assertThat(damage.offset()).isEqualTo(second);
            assertThat(folder.last()).isEqualTo(chain.id(8));
            assertThat(folder.oldest()).isEqualTo(7);
            assertThatThrownBy(() -> folder.restore(chain.id(8)))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("segments 1 to 6 are missing")
                    .hasMessageContaining(log(4) + ", byte " + second);
            append(folder, 1);
        }
        assertThat(disk.content(log(4)).length).isEqualTo(whole.length);
        // In its body: found when it is read.
        disk.put(log(4), whole);
        flip(log(4), second + 200);
        try (MemberFolder folder = open()) {
            assertThat(folder.damages()).isEmpty();
            assertThatThrownBy(() -> folder.read(5)).isInstanceOf(RefusedSegmentException.class);
            assertThatThrownBy(() -> folder.restore(chain.id(8)))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("segment 5 is damaged")
                    .hasMessageContaining(log(4) + ", byte");
            assertThat(restored(folder, chain.id(4))).hasSize(4);
        }
        assertThat(disk.content(log(4)).length).isEqualTo(whole.length);
    }

    @Test
    void theEndOfTheNewestFileIsCutAndTheRestKept() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 6);
        }
        byte[] whole = disk.content(log(4));
        int fifth = chain.get(4).bytes();
        disk.put(log(4), Arrays.copyOf(whole, whole.length - 1));
        try (MemberFolder folder = open()) {
            assertThat(folder.last()).isEqualTo(chain.id(5));
        }
        // Nothing that is whole follows: nothing is kept.
        assertThat(disk.list(SEGMENTS)).noneMatch(it -> it.endsWith(".cut"));
        disk.put(log(4), whole);
        flip(log(4), fifth + 250);
        try (MemberFolder folder = open()) {
            assertThat(folder.last()).isEqualTo(chain.id(4));
            assertThat(disk.content(log(4))).isEqualTo(Arrays.copyOf(whole, fifth));
            Path cut = SEGMENTS.resolve(String.format("%019d.cut", 5));
            assertThat(disk.content(cut).length).isEqualTo(whole.length - fifth);
            chain.cutAfter(4);
            append(folder, 8);
            base(folder, 4);
            base(folder, 5);
            assertThat(disk.exists(cut)).isTrue();
            base(folder, 6);
            assertThat(disk.exists(cut)).isFalse();
        }
    }

    @Test
    void aFileThatIsTornAtItsBeginningServesAgain() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 4);
        }
        disk.put(log(4), Arrays.copyOf(disk.content(log(4)), 100));
        try (MemberFolder folder = open()) {
            assertThat(folder.last()).isEqualTo(chain.id(3));
            chain.cutAfter(3);
            append(folder, 1);
        }
        try (MemberFolder folder = open()) {
            assertThat(folder.last()).isEqualTo(chain.id(4));
        }
        // But not where what was before it is damaged: that was on disk.
        disk.put(log(4), new byte[0]);
        flip(log(1), 2 * chain.get(1).bytes() + 3);
        assertThatThrownBy(this::open)
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining(log(1).toString())
                .hasMessageContaining("segments 3 to 3");
    }

    @Test
    void whatAnotherReleaseOrServiceWroteIsLeftAlone() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 2);
        }
        byte[] whole = disk.content(log(1));
        byte[] newer = whole.clone();
        newer[chain.get(1).bytes() + 11] = 2;
        disk.put(log(1), newer);
        refused("format 2");
        byte[] foreign =
                content(
                        Segment.of(
                                new SegmentHeader(
                                        "shop", chain.epoch(), 1, 1, 1, SegmentId.NO_DIGEST, 0),
                                new byte[9]));
        disk.put(log(1), foreign);
        refused("service \"shop\"");
        foreign =
                content(
                        Segment.of(
                                new SegmentHeader(
                                        "bank",
                                        new Incarnation(new Birth(9, 9), 1, 1),
                                        1,
                                        1,
                                        1,
                                        SegmentId.NO_DIGEST,
                                        0),
                                new byte[9]));
        disk.put(log(1), foreign);
        refused(new Birth(9, 9).toString());
        assertThat(disk.content(log(1))).isEqualTo(foreign);
        disk.delete(log(1));
        disk.put(log(2), whole);
        refused("stands where segment 2 would be");
    }

    private static byte[] content(Segment segment) {
        ByteBuffer encoded = segment.encoded();
        byte[] bytes = new byte[encoded.remaining()];
        encoded.get(bytes);
        return bytes;
    }

    private void refused(String words) {
        assertThatThrownBy(this::open)
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining(words);
    }

    @Test
    void anIncompleteFolderIsRefused() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 2);
        }
        Path identity = PATH.resolve("member");
        byte[] content = disk.content(identity);
        flip(identity, 40);
        refused("damaged");
        disk.put(identity, "something else".getBytes(UTF_8));
        refused("another program's");
        disk.put(identity, new byte[5000]);
        refused("5000 bytes");
        disk.put(
                identity,
                new MemberIdentity("0".repeat(16), "bank", Optional.empty(), 0, List.of())
                        .encode());
        refused("never met its service");
        disk.delete(identity);
        refused("is missing, but");
        disk.put(identity, content);
        open().close();
        disk.put(SEGMENTS.resolve("9".repeat(19) + ".log"), new byte[0]);
        refused("no segment has such a number");
    }

    @Test
    void aBaseOfAnotherServiceIsNotUsed() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 2);
            base(folder, 2);
        }
        byte[] own = disk.content(snap(2));
        disk.put(snap(1), own);
        try (MemberFolder folder = open()) {
            assertThat(folder.damages()).hasSize(1);
            assertThat(folder.damages().get(0).reason()).contains("not of that of its name");
        }
    }

    @Test
    void afterAFailureTheFolderIsDead() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 2);
            disk.failOnceAt(1);
            assertThatThrownBy(() -> folder.append(chain.next()))
                    .isInstanceOf(DeadJournalException.class);
            assertThatThrownBy(folder::force).isInstanceOf(DeadJournalException.class);
            assertThatThrownBy(() -> folder.append(chain.get(3)))
                    .isInstanceOf(DeadJournalException.class);
            assertThatThrownBy(() -> folder.dropAfter(1)).isInstanceOf(DeadJournalException.class);
            assertThatThrownBy(() -> base(folder, 2)).isInstanceOf(DeadJournalException.class);
            assertThatThrownBy(() -> folder.birth(Chain.BIRTH))
                    .isInstanceOf(DeadJournalException.class);
            assertThat(folder.read(2).id()).isEqualTo(chain.id(2));
        }
        MemberFolder folder = open();
        assertThat(folder.last()).isEqualTo(chain.id(2));
        folder.close();
        assertThatThrownBy(() -> folder.append(chain.get(3)))
                .isInstanceOf(DeadJournalException.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(() -> folder.read(1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is closed");
    }

    @Test
    void nothingButTheChainToThatSegmentIsRestored() throws Exception {
        try (MemberFolder folder = opened()) {
            append(folder, 4);
            assertThatThrownBy(() -> folder.restore(new SegmentId(1, 3, "c".repeat(64))))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("in place of");
            assertThatThrownBy(() -> folder.restore(new SegmentId(1, 7, "c".repeat(64))))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("segments 5 to 7 are missing");
        }
    }
}
