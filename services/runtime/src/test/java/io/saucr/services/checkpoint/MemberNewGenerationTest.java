package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.checkpoint.MemberFolder.GivenUp;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.Replaced;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** C17: a member's folder takes the birth that replaced its own, and what is behind goes aside. */
class MemberNewGenerationTest {

    private static final Path PATH = Path.of("/simulated/member");
    private static final SecureRandom NAMES = new SecureRandom();
    private static final String SERVICE = Chain.SERVICE;
    private static final Birth OLD = new Birth(1, 2);
    private static final Birth NEW = new Birth(3, 4);
    private static final Birth NEWEST = new Birth(5, 6);

    private SimulatedDisk disk = new SimulatedDisk(1);

    /** Segments 1 to 11 of the old birth, all of epoch 1. */
    private final List<Segment> old = new ArrayList<>();

    MemberNewGenerationTest() {
        for (int number = 1; number <= 11; number++) {
            SegmentId before = old.isEmpty() ? SegmentId.NONE : old.get(number - 2).id();
            old.add(after(before, OLD, 1, Math.max(0, number - 2)));
        }
    }

    private static Segment after(SegmentId before, Birth birth, long epoch, long named) {
        long number = before.number() + 1;
        return Segment.of(
                new SegmentHeader(
                        SERVICE,
                        new Incarnation(birth, epoch, 100 + epoch),
                        number,
                        number,
                        number,
                        before.digest(),
                        named),
                ("segment " + number + " of " + birth + "x".repeat(250)).getBytes(UTF_8));
    }

    private SegmentId id(int number) {
        return old.get(number - 1).id();
    }

    private Replaced upTo(int number) {
        return new Replaced(OLD, id(number));
    }

    /** Small log files: three segments each. */
    private MemberFolder open() throws IOException {
        return MemberFolder.open(disk, PATH, SERVICE, NAMES, 1600);
    }

    private static Base.Sections state(long number) {
        return writer -> writer.section("state").write(("as of " + number).getBytes(UTF_8));
    }

    /** Makes a folder with segments up to a number, and bases. */
    private void fill(int last, int... bases) throws IOException {
        try (MemberFolder folder = open()) {
            folder.birth(OLD);
            for (int number = 1; number <= last; number++) {
                folder.append(old.get(number - 1));
            }
            folder.force();
            for (int number : bases) {
                folder.base(id(number), List.of(new Incarnation(OLD, 1, 101)), state(number));
            }
        }
    }

    private static List<String> restored(MemberFolder folder, SegmentId upTo) throws IOException {
        List<String> read = new ArrayList<>();
        Restored restored = folder.restore(upTo);
        restored.sections((name, content) -> read.add(new String(content.readAllBytes(), UTF_8)));
        restored.segments(segment -> read.add(Long.toString(segment.header().number())));
        return read;
    }

    /** It goes on behind segment 6 under the new birth, now and after a start. */
    private void goesOnBehindSix(MemberFolder folder, String... whole) throws IOException {
        assertThat(folder.birth()).contains(NEW);
        assertThat(folder.last()).isEqualTo(id(6));
        assertThat(folder.known()).isEqualTo(6);
        Segment next = after(id(6), NEW, 3, 6);
        assertThatThrownBy(() -> folder.append(old.get(6)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("it belongs to generation " + OLD);
        folder.append(next);
        folder.force();
        folder.close();
        try (MemberFolder again = open()) {
            assertThat(again.birth()).contains(NEW);
            assertThat(again.last()).isEqualTo(next.id());
            assertThat(again.known()).isEqualTo(6);
            assertThat(restored(again, next.id())).containsExactly(whole);
            again.base(next.id(), List.of(new Incarnation(NEW, 3, 103)), state(7));
            assertThat(restored(again, next.id())).containsExactly("as of 7");
            assertThat(again.damages()).isEmpty();
        }
        assertThat(MemberFolder.verify(disk, PATH).isWhole()).isTrue();
    }

    @Test
    void whatIsBehindTheLossIsPutAsideAndStaysThere() throws Exception {
        fill(11, 4, 8);
        byte[] log = disk.content(PATH.resolve("segments/0000000000000000004.log"));
        MemberFolder folder = open();
        GivenUp givenUp = folder.bearAnew(NEW, upTo(6)).orElseThrow();
        assertThat(givenUp.from()).isEqualTo(7);
        assertThat(givenUp.to()).isEqualTo(id(11));
        assertThat(givenUp.files())
                .extracting(it -> PATH.relativize(it).toString())
                .containsExactlyInAnyOrder(
                        "bases/0000000000000000008.snap." + OLD + ".given-up",
                        "segments/0000000000000000007.log." + OLD + ".given-up",
                        "segments/0000000000000000010.log." + OLD + ".given-up");
        assertThat(disk.content(PATH.resolve("segments/0000000000000000004.log"))).isEqualTo(log);
        goesOnBehindSix(folder, "as of 4", "5", "6", "7");
        assertThat(givenUp.files()).allMatch(disk::exists);
    }

    @Test
    void aLogFileIsCutWhereTheLossBegins() throws Exception {
        fill(11, 1);
        MemberFolder folder = open();
        GivenUp givenUp = folder.bearAnew(NEW, upTo(5)).orElseThrow();
        assertThat(givenUp.files())
                .extracting(it -> it.getFileName().toString().substring(0, 23))
                .containsExactly(
                        "0000000000000000010.log",
                        "0000000000000000007.log",
                        "0000000000000000006.log");
        byte[] six = new byte[old.get(5).bytes()];
        old.get(5).encoded().get(six);
        assertThat(disk.content(givenUp.files().get(2))).isEqualTo(six);
        assertThat(folder.last()).isEqualTo(id(5));
        folder.append(after(id(5), NEW, 2, 5));
        folder.force();
        folder.close();
        try (MemberFolder again = open()) {
            assertThat(restored(again, again.last()))
                    .containsExactly("as of 1", "2", "3", "4", "5", "6");
        }
    }

    /** Every call to the disk fails once, and then the process or the machine does. */
    @Test
    void whateverCrashesTheFolderHasTheOldBirthOrTheNewOne() throws Exception {
        int calls = 0;
        int before = 0;
        for (int call = 1; calls == 0 || call <= calls; call++) {
            for (boolean power : new boolean[] {false, true}) {
                disk = new SimulatedDisk(call);
                fill(11, 4, 8);
                disk.restarted();
                disk.failAt(Long.MAX_VALUE);
                try (MemberFolder folder = open()) {
                    disk.failAt(calls == 0 ? Long.MAX_VALUE : call);
                    Optional<GivenUp> unused = folder.bearAnew(NEW, upTo(5));
                    calls = calls == 0 ? disk.calls().size() : calls;
                } catch (IOException | DeadJournalException e) {
                    assertThat(calls).isPositive();
                }
                if (power) {
                    disk.powerFails();
                } else {
                    disk.restarted();
                }
                disk.failAt(Long.MAX_VALUE);
                try (MemberFolder folder = open()) {
                    if (folder.birth().equals(Optional.of(OLD))) {
                        before++;
                        assertThat(folder.last().number()).isBetween(5L, 11L);
                        assertThat(restored(folder, id(5))).containsExactly("as of 4", "5");
                        Optional<GivenUp> unused = folder.bearAnew(NEW, upTo(5));
                    }
                    assertThat(folder.birth()).contains(NEW);
                    assertThat(folder.last()).isEqualTo(id(5));
                    assertThat(folder.known()).isEqualTo(5);
                    assertThat(restored(folder, id(5))).containsExactly("as of 4", "5");
                    folder.append(after(id(5), NEW, 2, 5));
                    folder.force();
                }
                long kept =
                        disk.list(PATH.resolve("segments")).stream()
                                .filter(it -> it.endsWith(".given-up"))
                                .count();
                assertThat(kept).isEqualTo(3);
                try (MemberFolder folder = open()) {
                    assertThat(restored(folder, folder.last()))
                            .containsExactly("as of 4", "5", "6");
                }
            }
        }
        assertThat(calls).isGreaterThan(10);
        assertThat(before).isGreaterThan(10);
    }

    @Test
    void whoIsBehindTakesTheOldSegmentsUpToTheLossAndThenNewOnes() throws Exception {
        fill(3);
        MemberFolder folder = open();
        assertThat(folder.bearAnew(NEW, upTo(6))).isEmpty();
        assertThatThrownBy(() -> folder.append(after(id(3), NEW, 2, 0)))
                .hasMessageContaining("it belongs to generation " + NEW);
        for (int number = 4; number <= 6; number++) {
            folder.append(old.get(number - 1));
        }
        assertThatThrownBy(() -> folder.append(old.get(6)))
                .hasMessageContaining("it belongs to generation " + OLD);
        Segment next = after(id(6), NEW, 2, 6);
        folder.append(next);
        folder.force();
        folder.close();
        try (MemberFolder again = open()) {
            assertThat(restored(again, next.id()))
                    .containsExactly("1", "2", "3", "4", "5", "6", "7");
        }
    }

    @Test
    void anEmptyFolderTakesOldSegmentsUpToTheLossAndThenNewOnes() throws Exception {
        MemberFolder folder = open();
        folder.birth(NEW, Optional.of(upTo(2)));
        folder.append(old.get(0));
        folder.append(old.get(1));
        Segment next = after(id(2), NEW, 2, 2);
        folder.append(next);
        folder.force();
        folder.close();
        try (MemberFolder again = open()) {
            assertThat(restored(again, next.id())).containsExactly("1", "2", "3");
            assertThat(again.untold()).isZero();
        }
    }

    /** What counts was let go long ago, as bases covered it. */
    @Test
    void whoseBasesAreAllBehindTheLossBeginsWithNothing() throws Exception {
        fill(11, 8, 10);
        MemberFolder folder = open();
        assertThat(folder.at(5)).isEmpty();
        GivenUp givenUp = folder.bearAnew(NEW, upTo(5)).orElseThrow();
        assertThat(givenUp.from()).isEqualTo(1);
        assertThat(folder.last()).isEqualTo(SegmentId.NONE);
        assertThat(folder.known()).isZero();
        folder.append(old.get(0));
        folder.force();
        folder.close();
        try (MemberFolder again = open()) {
            assertThat(restored(again, id(1))).containsExactly("1");
        }
        assertThat(givenUp.files()).isNotEmpty().allMatch(disk::exists);
    }

    /** C16: what a deposed primary wrote, and the head never named. */
    @Test
    void orphansInThePlaceOfWhatCountsArePutAside() throws Exception {
        fill(6);
        MemberFolder folder = open();
        assertThat(folder.known()).isEqualTo(4);
        SegmentId other = after(id(5), OLD, 2, 4).id();
        GivenUp givenUp = folder.bearAnew(NEW, new Replaced(OLD, other)).orElseThrow();
        assertThat(givenUp.from()).isEqualTo(5);
        assertThat(folder.last()).isEqualTo(id(4));
        folder.close();
    }

    @Test
    void whoKnowsThatTheHeadNamedSomethingElseIsRefused() throws Exception {
        fill(6);
        try (MemberFolder folder = open()) {
            SegmentId other = after(id(3), OLD, 2, 3).id();
            assertThatThrownBy(() -> folder.bearAnew(NEW, new Replaced(OLD, other)))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("this one was left as it is");
            assertThat(folder.birth()).contains(OLD);
            assertThat(folder.last()).isEqualTo(id(6));
            assertThatThrownBy(() -> folder.bearAnew(NEWEST, new Replaced(NEW, id(6))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("this folder is of generation");
        }
    }

    @Test
    void aSecondLossIsFollowedToo() throws Exception {
        fill(6);
        Segment seven = after(id(6), NEW, 2, 6);
        Segment eight = after(seven.id(), NEW, 2, 7);
        Segment nine = after(seven.id(), NEWEST, 4, 7);
        try (MemberFolder folder = open()) {
            assertThat(folder.bearAnew(NEW, upTo(6))).isEmpty();
            folder.append(seven);
            folder.append(eight);
            GivenUp givenUp = folder.bearAnew(NEWEST, new Replaced(NEW, seven.id())).orElseThrow();
            assertThat(givenUp.to()).isEqualTo(eight.id());
            folder.append(nine);
            folder.force();
            assertThat(folder.untold()).isEqualTo(6);
        }
        try (MemberFolder folder = open()) {
            assertThat(folder.last()).isEqualTo(nine.id());
            assertThat(restored(folder, nine.id()))
                    .containsExactly("1", "2", "3", "4", "5", "6", "7", "8");
            assertThat(folder.untold()).isEqualTo(6);
            folder.base(nine.id(), List.of(new Incarnation(NEWEST, 4, 104)), state(8));
        }
        assertThat(MemberFolder.verify(disk, PATH).isWhole()).isTrue();
    }
}
