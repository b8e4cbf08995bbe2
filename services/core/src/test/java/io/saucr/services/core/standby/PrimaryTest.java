package io.saucr.services.core.standby;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.Primary.Action;
import io.saucr.services.core.standby.StandbyHead.Copies;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What the member in office does with its head, said by scenarios. */
class PrimaryTest {

    private static final String A = "000000000000000a";
    private static final String B = "000000000000000b";
    private static final String C = "000000000000000c";
    private static final Birth BIRTH = new Birth(1, 1);
    private static final Incarnation SELF = new Incarnation(BIRTH, 2, 20);
    private static final SegmentId THIRD = new SegmentId(1, 3, digest(3));
    private static final long SILENT = 100;
    private static final long LATE = 150;

    private static final StandbyHead TAKEN =
            new StandbyHead(
                    SELF,
                    A,
                    "a:1",
                    THIRD,
                    30,
                    new TreeSet<>(List.of(A, B)),
                    Copies.FORCED,
                    Optional.empty(),
                    Optional.empty());

    private static String digest(int of) {
        return String.format("%064x", of);
    }

    private static SegmentId segment(int number) {
        return new SegmentId(2, number, digest(100 + number));
    }

    private static Primary primary(int copies, boolean strict, boolean fast) {
        return new Primary(new Primary.Rules(copies, strict, fast, SILENT, LATE), TAKEN, 7);
    }

    /** With B linked, which has all, and its state read. */
    private static Primary pair(boolean strict, boolean fast) {
        Primary primary = primary(2, strict, fast);
        primary.linked(B, 0);
        assertThat(primary.forced(B, 3, 0)).isEmpty();
        primary.hasState(B, 3);
        return primary;
    }

    private static StandbyHead naming(int number, long turn, Copies copies, String... holders) {
        return TAKEN.naming(segment(number), turn, new TreeSet<>(List.of(holders)), copies);
    }

    private static Action named(int number, long turn) {
        return new Action.Named(segment(number), turn);
    }

    private static StandbyHead successor(Birth birth) {
        return new StandbyHead(
                new Incarnation(birth, 3, 30),
                B,
                "b:1",
                segment(4),
                40,
                new TreeSet<>(List.of(A, B)),
                Copies.FORCED,
                Optional.empty(),
                Optional.empty());
    }

    // ---- naming (C3, C5)

    @Test
    void aSegmentIsNamedOnceTwoHaveForcedIt() {
        Primary primary = pair(false, false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.written(4, 2)).isEmpty();
        assertThat(primary.written(B, 4, 2)).isEmpty();
        assertThat(primary.forced(4, 3)).isEmpty();

        StandbyHead head = naming(4, 40, Copies.FORCED, A, B);
        assertThat(primary.forced(B, 4, 4)).containsExactly(new Action.Write(head, 7));
        assertThat(primary.wrote(8, 5)).containsExactly(named(4, 40));
        assertThat(primary.head()).isEqualTo(head);
        assertThat(primary.newest()).isEqualTo(segment(4));
    }

    // ---- a store that members share (C3)

    private static Primary sharing(boolean strict) {
        Primary primary = primary(2, strict, false);
        primary.sharesStore();
        StandbyHead told = TAKEN.naming(THIRD, 30, new TreeSet<>(List.of(A)), Copies.STORE);
        assertThat(primary.stored(3, 0)).containsExactly(new Action.Write(told, 7));
        assertThat(primary.wrote(8, 0)).isEmpty();
        return primary;
    }

    @Test
    void aSegmentIsNamedOnceTheStoreHasItAndNotBefore() {
        Primary primary = sharing(false);
        primary.linked(B, 0);
        assertThat(primary.forced(B, 3, 0)).isEmpty();
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.isPrompt(1)).isTrue();
        assertThat(primary.forced(B, 4, 2)).isEmpty();
        assertThat(primary.forced(4, 2)).isEmpty();
        assertThat(primary.stored(4, 3))
                .containsExactly(new Action.Write(naming(4, 40, Copies.STORE, A, B), 8));
        assertThat(primary.wrote(9, 4)).containsExactly(named(4, 40));
    }

    @Test
    void aStoreNeedsNobodysDisk() {
        Primary primary = sharing(false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.stored(4, 3))
                .containsExactly(new Action.Write(naming(4, 40, Copies.STORE, A), 8));
    }

    @Test
    void withoutAStoreThatIsLateItGoesOnForcedAndSaysSo() {
        Primary primary = sharing(false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.written(4, 1)).isEmpty();
        assertThat(primary.tick(1 + LATE)).isEmpty();
        assertThat(primary.tick(2 + LATE)).isEmpty();
        assertThat(primary.isPrompt(2 + LATE)).isFalse();
        assertThat(primary.forced(4, 3 + LATE))
                .containsExactly(new Action.Write(naming(4, 40, Copies.ALONE, A), 8));
        assertThat(primary.wrote(9, 4 + LATE)).containsExactly(named(4, 40));
        // It comes after all.
        assertThat(primary.stored(4, 5 + LATE))
                .containsExactly(new Action.Write(naming(4, 40, Copies.STORE, A), 9));
    }

    @Test
    void aStoreThatFailedIsNotWaitedForUntilItIsMended() {
        Primary primary = sharing(false);
        primary.linked(B, 0);
        assertThat(primary.forced(B, 3, 0)).isEmpty();
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(4, 2)).isEmpty();
        assertThat(primary.forced(B, 4, 2)).isEmpty();
        assertThat(primary.storeFailed(3))
                .containsExactly(new Action.Write(naming(4, 40, Copies.FORCED, A, B), 8));
        assertThat(primary.wrote(9, 4)).containsExactly(named(4, 40));
        assertThat(primary.isPrompt(4)).isFalse();
        assertThat(primary.stored(4, 5))
                .containsExactly(new Action.Write(naming(4, 40, Copies.STORE, A, B), 9));
        assertThat(primary.isPrompt(5)).isTrue();
    }

    @Test
    void strictTurnsWaitForTheStore() {
        Primary primary = sharing(true);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(4, 2)).isEmpty();
        assertThat(primary.storeFailed(3)).isEmpty();
        assertThat(primary.tick(2 + LATE)).noneMatch(Action.Write.class::isInstance);
        // Nobody else could do better.
        assertThat(primary.waitingMillis(2 + LATE)).isZero();
    }

    @Test
    void whatTheStoreSaysOfSegmentsThatAreNotCutIsIgnored() {
        Primary primary = sharing(false);
        assertThat(primary.stored(5, 1)).isEmpty();
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.head().copies()).isEqualTo(Copies.STORE);
    }

    @Test
    void oneWriteIsUnderWayAndTheNextNamesAllThatIsReady() {
        Primary primary = pair(false, false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(B, 4, 1)).isEmpty();
        assertThat(primary.forced(4, 1)).hasSize(1);
        assertThat(primary.cut(segment(5), 50, 2)).isEmpty();
        assertThat(primary.cut(segment(6), 60, 2)).isEmpty();
        assertThat(primary.cut(segment(7), 70, 2)).isEmpty();
        assertThat(primary.forced(7, 3)).isEmpty();
        assertThat(primary.forced(B, 6, 3)).isEmpty();

        assertThat(primary.wrote(8, 4))
                .containsExactly(
                        named(4, 40), new Action.Write(naming(6, 60, Copies.FORCED, A, B), 8));
        assertThat(primary.waitingMillis(10)).isEqualTo(8);
    }

    @Test
    void twoStandbysAreEnoughWithoutItsOwnDisk() {
        Primary primary = pair(false, false);
        primary.linked(C, 0);
        assertThat(primary.forced(C, 3, 0)).isEmpty();
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(C, 4, 2)).isEmpty();
        assertThat(primary.forced(B, 4, 2))
                .containsExactly(new Action.Write(naming(4, 40, Copies.FORCED, B, C), 7));
    }

    @Test
    void segmentsAreCutInOrderOfItsEpoch() {
        Primary primary = pair(false, false);
        assertThatThrownBy(() -> primary.cut(segment(5), 50, 1))
                .hasMessageContaining("does not follow 3 of epoch 1");
        assertThatThrownBy(() -> primary.cut(new SegmentId(3, 4, digest(4)), 40, 1))
                .hasMessageContaining("in epoch 2");
    }

    @Test
    void whatWasNeverCutDoesNotCount() {
        Primary primary = pair(false, false);
        assertThat(primary.forced(B, 4, 0)).isEmpty();
        assertThat(primary.copies()).containsEntry(B, 3L);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(4, 1)).isEmpty();
    }

    @Test
    void acksOfAStandbyThatIsNotLinkedDoNotCount() {
        Primary primary = pair(true, false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(4, 1)).isEmpty();
        assertThat(primary.unlinked(B, 2)).isEmpty();
        assertThat(primary.forced(B, 4, 3)).isEmpty();
        // On a new link it says anew what it has.
        primary.linked(B, 4);
        assertThat(primary.copies()).containsEntry(B, 0L);
        assertThat(primary.forced(B, 4, 5)).hasSize(1);
    }

    // ---- alone and back

    @Test
    void aStandbyThatLeavesMakesItAloneAndOneThatComesBackEndsThat() {
        Primary primary = pair(false, false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(4, 2)).isEmpty();
        assertThat(primary.unlinked(B, 3))
                .containsExactly(new Action.Write(naming(4, 40, Copies.ALONE, A), 7));
        assertThat(primary.wrote(8, 4)).containsExactly(named(4, 40));

        // Linked, and behind: it is not waited for.
        primary.linked(B, 5);
        assertThat(primary.forced(B, 3, 5)).isEmpty();
        assertThat(primary.cut(segment(5), 50, 6)).isEmpty();
        assertThat(primary.forced(5, 7))
                .containsExactly(new Action.Write(naming(5, 50, Copies.ALONE, A), 8));
        assertThat(primary.wrote(9, 8)).containsExactly(named(5, 50));

        // It has all: it counts, and the head says so at once.
        assertThat(primary.forced(B, 5, 9))
                .containsExactly(new Action.Write(naming(5, 50, Copies.FORCED, A, B), 9));
        assertThat(primary.wrote(10, 9)).isEmpty();
        assertThat(primary.cut(segment(6), 60, 10)).isEmpty();
        assertThat(primary.forced(6, 11)).isEmpty();
        assertThat(primary.forced(B, 6, 12))
                .containsExactly(new Action.Write(naming(6, 60, Copies.FORCED, A, B), 10));
    }

    @Test
    void aloneItsOwnDiskIsWaitedFor() {
        Primary primary = primary(2, false, true);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.written(4, 2)).isEmpty();
        assertThat(primary.forced(4, 3))
                .containsExactly(new Action.Write(naming(4, 40, Copies.ALONE, A), 7));
    }

    @Test
    void aStandbyThatIsSilentIsWaitedForNoLonger() {
        Primary primary = pair(false, false);
        primary.heard(B, 50);
        assertThat(primary.cut(segment(4), 40, 60)).isEmpty();
        assertThat(primary.forced(4, 60)).isEmpty();
        assertThat(primary.tick(50 + SILENT)).isEmpty();
        assertThat(primary.tick(51 + SILENT))
                .containsExactly(new Action.Write(naming(4, 40, Copies.ALONE, A), 7));
    }

    @Test
    void aStandbyThatSpeaksAndIsLateIsWaitedForNoLonger() {
        Primary primary = pair(false, false);
        assertThat(primary.cut(segment(4), 40, 60)).isEmpty();
        assertThat(primary.forced(4, 60)).isEmpty();
        primary.heard(B, 60 + LATE);
        assertThat(primary.tick(60 + LATE)).isEmpty();
        assertThat(primary.waitMillis(60 + LATE)).isBetween(1L, 50L);
        assertThat(primary.tick(61 + LATE))
                .containsExactly(new Action.Write(naming(4, 40, Copies.ALONE, A), 7));
    }

    @Test
    void strictWaitsForItsCopies() {
        Primary primary = pair(true, false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(4, 2)).isEmpty();
        assertThat(primary.unlinked(B, 3)).isEmpty();
        assertThat(primary.tick(900)).isEmpty();
        // It lacks a copy, not its disk or the head: nobody who took over would do better.
        assertThat(primary.waitingMillis(900)).isZero();
        primary.linked(B, 901);
        assertThat(primary.forced(B, 4, 902))
                .containsExactly(new Action.Write(naming(4, 40, Copies.FORCED, A, B), 7));
    }

    @Test
    void oneCopyIsItsOwn() {
        Primary primary = primary(1, false, false);
        primary.linked(B, 0);
        assertThat(primary.forced(B, 3, 0)).isEmpty();
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(B, 4, 2)).isEmpty();
        assertThat(primary.forced(4, 3))
                .containsExactly(new Action.Write(naming(4, 40, Copies.FORCED, A, B), 7));
    }

    // ---- fast (C15)

    @Test
    void fastNamesWhatTwoHaveWritten() {
        Primary primary = pair(false, true);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.written(B, 4, 2)).isEmpty();
        assertThat(primary.written(4, 3))
                .containsExactly(new Action.Write(naming(4, 40, Copies.MEMORY, A, B), 7));
    }

    @Test
    void fastForcesOnceTheStandbyIsGone() {
        Primary primary = pair(false, true);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.unlinked(B, 2)).isEmpty();
        assertThat(primary.written(4, 3)).isEmpty();
        assertThat(primary.forced(4, 4))
                .containsExactly(new Action.Write(naming(4, 40, Copies.ALONE, A), 7));
    }

    @Test
    void fastForcesOnceTheStandbyIsSilent() {
        Primary primary = pair(false, true);
        assertThat(primary.cut(segment(4), 40, SILENT)).isEmpty();
        assertThat(primary.written(4, SILENT + 1)).isEmpty();
        assertThat(primary.forced(4, SILENT + 2))
                .containsExactly(new Action.Write(naming(4, 40, Copies.ALONE, A), 7));
    }

    @Test
    void fastForcesOnceTheStandbysDiskIsLate() {
        Primary primary = pair(false, true);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.written(4, 2)).isEmpty();
        assertThat(primary.written(B, 4, 3)).hasSize(1);
        assertThat(primary.wrote(8, 4)).containsExactly(named(4, 40));
        assertThat(primary.cut(segment(5), 50, 100)).isEmpty();
        // The ack comes when the segment is old: who wrote it may have lost it since.
        assertThat(primary.written(5, 101 + LATE)).isEmpty();
        assertThat(primary.written(B, 5, 101 + LATE)).isEmpty();
        assertThat(primary.forced(5, 102 + LATE))
                .containsExactly(new Action.Write(naming(5, 50, Copies.ALONE, A), 8));
    }

    @Test
    void fastAndForcedInTimeSaysForced() {
        Primary primary = pair(false, true);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(B, 4, 2)).isEmpty();
        assertThat(primary.forced(4, 3))
                .containsExactly(new Action.Write(naming(4, 40, Copies.FORCED, A, B), 7));
    }

    @Test
    void aHeadThatSaysForcedNamesThoseThatHaveForcedIt() {
        Primary primary = primary(1, false, true);
        primary.linked(B, 0);
        assertThat(primary.forced(B, 3, 0)).isEmpty();
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(4, 2)).isEmpty();
        assertThat(primary.written(B, 4, 3))
                .containsExactly(new Action.Write(naming(4, 40, Copies.FORCED, A), 7));
    }

    // ---- unknown outcomes (C13)

    @Test
    void anUnknownWriteThatHappenedIsReadBack() {
        Primary primary = written();
        assertThat(primary.unknown()).containsExactly(new Action.Read());
        assertThat(primary.seen(Optional.of(naming(4, 40, Copies.FORCED, A, B)), 8, 5))
                .containsExactly(named(4, 40));
    }

    @Test
    void anUnknownWriteThatDidNotHappenIsWrittenOnTheSameVersion() {
        Primary primary = written();
        assertThat(primary.unknown()).containsExactly(new Action.Read());
        assertThat(primary.cut(segment(5), 50, 4)).isEmpty();
        assertThat(primary.forced(5, 4)).isEmpty();
        assertThat(primary.forced(B, 5, 4)).isEmpty();
        assertThat(primary.seen(Optional.of(TAKEN), 7, 5))
                .containsExactly(new Action.Write(naming(5, 50, Copies.FORCED, A, B), 7));

        // The first one comes after all: the second is refused, and says what the first said.
        assertThat(primary.unknown()).containsExactly(new Action.Read());
        assertThat(primary.seen(Optional.of(naming(4, 40, Copies.FORCED, A, B)), 8, 6))
                .containsExactly(
                        named(4, 40), new Action.Write(naming(5, 50, Copies.FORCED, A, B), 8));
    }

    @Test
    void anUnknownReadIsReadAgain() {
        Primary primary = written();
        assertThat(primary.unknown()).containsExactly(new Action.Read());
        assertThat(primary.unknown()).containsExactly(new Action.Read());
    }

    @Test
    void itsOwnSegmentUnderAnotherNonceDeposesIt() {
        Primary primary = written();
        assertThat(primary.unknown()).hasSize(1);
        List<Action> out = primary.seen(Optional.of(successor(BIRTH)), 9, 5);
        assertThat(out).hasSize(1);
        assertThat(out.get(0))
                .isInstanceOfSatisfying(
                        Action.Over.class,
                        over -> {
                            assertThat(over.stops()).isFalse();
                            assertThat(over.reason()).contains(B + " took over: epoch 3");
                        });
        // Nothing comes of it any more.
        assertThat(primary.tick(10_000)).isEmpty();
        assertThat(primary.forced(B, 4, 10_000)).isEmpty();
        assertThat(primary.prove(1, 10_000)).isEmpty();
        assertThat(primary.challenged(10_000)).isEmpty();
        assertThat(primary.unknown()).isEmpty();
    }

    @Test
    void itsOwnEpochUnderAnotherNonceDeposesItToo() {
        Primary primary = written();
        assertThat(primary.unknown()).hasSize(1);
        StandbyHead twin =
                new StandbyHead(
                        new Incarnation(BIRTH, 2, 21),
                        A,
                        "a:1",
                        segment(4),
                        40,
                        new TreeSet<>(List.of(A)),
                        Copies.ALONE,
                        Optional.empty(),
                        Optional.empty());
        assertThat(primary.seen(Optional.of(twin), 8, 5).get(0)).isInstanceOf(Action.Over.class);
    }

    @Test
    void aHeadOfAnotherBirthStopsIt() {
        Primary primary = written();
        assertThat(primary.unknown()).hasSize(1);
        assertThat(primary.seen(Optional.of(successor(new Birth(9, 9))), 9, 5).get(0))
                .isInstanceOfSatisfying(
                        Action.Over.class,
                        over -> {
                            assertThat(over.stops()).isTrue();
                            assertThat(over.reason()).contains(new Birth(9, 9).toString());
                        });
    }

    /** C17: its member follows, with what it has put aside. */
    @Test
    void aHeadThatReplacedItsBirthEndsTheOfficeOnly() {
        Primary primary = written();
        assertThat(primary.unknown()).hasSize(1);
        StandbyHead other = successor(new Birth(9, 9));
        StandbyHead replaced =
                new StandbyHead(
                        other.holder(),
                        other.member(),
                        other.at(),
                        other.segment(),
                        other.turn(),
                        other.holders(),
                        other.copies(),
                        Optional.empty(),
                        Optional.of(new Replaced(TAKEN.holder().birth(), other.segment())));
        assertThat(primary.seen(Optional.of(replaced), 9, 5).get(0))
                .isInstanceOfSatisfying(
                        Action.Over.class, over -> assertThat(over.stops()).isFalse());
    }

    @Test
    void aHeadThatIsGoneStopsIt() {
        Primary primary = written();
        assertThat(primary.unknown()).hasSize(1);
        assertThat(primary.seen(Optional.empty(), 0, 5))
                .containsExactly(
                        new Action.Over("the head is missing while this member holds it", true));
    }

    @Test
    void aHeadThatWentBackStopsIt() {
        Primary primary = written();
        assertThat(primary.wrote(8, 4)).hasSize(1);
        assertThat(primary.challenged(5)).hasSize(1);
        assertThat(primary.unknown()).hasSize(1);
        assertThat(primary.seen(Optional.of(TAKEN), 7, 6).get(0))
                .isInstanceOfSatisfying(
                        Action.Over.class,
                        over -> {
                            assertThat(over.stops()).isTrue();
                            assertThat(over.reason())
                                    .contains("went back", "3 of epoch 1", "4 of epoch 2");
                        });
    }

    /** Who was deposed and has nothing to write finds out, and can follow. */
    @Test
    void whoIsIdleLooksWhetherItIsInOffice() {
        Primary primary = pair(false, false);
        assertThat(primary.tick(999)).isEmpty();
        assertThat(primary.waitMillis(999)).isOne();
        assertThat(primary.tick(1_000)).containsExactly(new Action.Check(7));
        assertThat(primary.checked(1_001)).isEmpty();
        assertThat(primary.waitMillis(1_001)).isEqualTo(1_000);
        assertThat(primary.tick(2_000)).isEmpty();
        assertThat(primary.tick(2_001)).containsExactly(new Action.Check(7));
        assertThat(primary.unchecked()).containsExactly(new Action.Read());
        assertThat(primary.seen(Optional.of(successor(BIRTH)), 8, 2_002).get(0))
                .isInstanceOf(Action.Over.class);
    }

    @Test
    void anAnswerThatNobodyWaitsForIsABug() {
        Primary primary = pair(false, false);
        assertThatThrownBy(() -> primary.wrote(8, 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> primary.checked(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(primary::unchecked).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> primary.seen(Optional.of(TAKEN), 7, 1))
                .isInstanceOf(IllegalStateException.class);
    }

    /** With the write of segment 4 under way. */
    private static Primary written() {
        Primary primary = pair(false, false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(4, 2)).isEmpty();
        assertThat(primary.forced(B, 4, 3)).hasSize(1);
        return primary;
    }

    // ---- reads (C8)

    @Test
    void aReadIsProvenByACheckThatBeganAfterItCameIn() {
        Primary primary = pair(false, false);
        assertThat(primary.prove(1, 1)).containsExactly(new Action.Check(7));
        assertThat(primary.prove(2, 2)).isEmpty();
        assertThat(primary.prove(3, 2)).isEmpty();
        assertThat(primary.checked(3)).containsExactly(new Action.Proven(1), new Action.Check(7));
        assertThat(primary.checked(4)).containsExactly(new Action.Proven(3));
    }

    @Test
    void aCommitProvesTheReadsBeforeIt() {
        Primary primary = pair(false, false);
        assertThat(primary.prove(1, 1)).containsExactly(new Action.Check(7));
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.prove(2, 2)).isEmpty();
        assertThat(primary.forced(4, 2)).isEmpty();
        assertThat(primary.forced(B, 4, 2))
                .containsExactly(new Action.Write(naming(4, 40, Copies.FORCED, A, B), 7));
        assertThat(primary.checked(3)).containsExactly(new Action.Proven(1));
        assertThat(primary.prove(3, 4)).isEmpty();
        assertThat(primary.wrote(8, 5))
                .containsExactly(named(4, 40), new Action.Proven(2), new Action.Check(8));
    }

    /** A check would hold up the write, which proves the same. */
    @Test
    void aReadWaitsForTheCommitThatIsToCome() {
        Primary primary = pair(false, false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.prove(1, 2)).isEmpty();
        assertThat(primary.forced(4, 3)).isEmpty();
        assertThat(primary.forced(B, 4, 4))
                .containsExactly(new Action.Write(naming(4, 40, Copies.FORCED, A, B), 7));
        assertThat(primary.cut(segment(5), 50, 5)).isEmpty();
        assertThat(primary.prove(2, 5)).isEmpty();
        assertThat(primary.wrote(8, 6)).containsExactly(named(4, 40), new Action.Proven(1));
    }

    /** A disk may hang, or no standby be there: nothing that a read saw waits for that. */
    @Test
    void aReadDoesNotWaitLongForACommit() {
        Primary primary = pair(false, false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.prove(1, 2)).isEmpty();
        assertThat(primary.waitMillis(2)).isEqualTo(9);
        assertThat(primary.tick(10)).isEmpty();
        assertThat(primary.tick(11)).containsExactly(new Action.Check(7));
        assertThat(primary.prove(2, 12)).isEmpty();
        assertThat(primary.checked(13)).containsExactly(new Action.Proven(1), new Action.Check(7));
        assertThat(primary.checked(14)).containsExactly(new Action.Proven(2));
    }

    @Test
    void aRefusedCheckIsReadBack() {
        Primary primary = pair(false, false);
        assertThat(primary.prove(1, 1)).hasSize(1);
        assertThat(primary.unchecked()).containsExactly(new Action.Read());
        // Lost on the way: again.
        assertThat(primary.seen(Optional.of(TAKEN), 7, 2)).containsExactly(new Action.Check(7));
        assertThat(primary.unchecked()).containsExactly(new Action.Read());
        assertThat(primary.seen(Optional.of(successor(BIRTH)), 8, 3).get(0))
                .isInstanceOf(Action.Over.class);
    }

    /** C5: two writes would; a check changes nothing. */
    @Test
    void aCheckHoldsUpNoWriteAndIsNotRepeatedMeanwhile() {
        Primary primary = pair(false, false);
        assertThat(primary.prove(1, 1)).containsExactly(new Action.Check(7));
        assertThat(primary.challenged(2)).containsExactly(new Action.Write(TAKEN, 7));
        assertThat(primary.prove(2, 3)).isEmpty();
        // The answers come in this order, or where the connection was lost in any.
        assertThat(primary.wrote(8, 4)).containsExactly(new Action.Proven(1));
        assertThat(primary.tick(5)).isEmpty();
        assertThat(primary.checked(6)).containsExactly(new Action.Check(8));
        assertThat(primary.checked(7)).containsExactly(new Action.Proven(2));
        // What began first was answered last.
        assertThat(primary.officeSince()).hasValue(6);
    }

    /** C13: what a refused check means is told by the write on the same version. */
    @Test
    void aRefusedCheckIsNotReadBackWhileAWriteIsUnderWay() {
        Primary primary = pair(false, false);
        assertThat(primary.prove(1, 1)).containsExactly(new Action.Check(7));
        assertThat(primary.challenged(2)).containsExactly(new Action.Write(TAKEN, 7));
        assertThat(primary.unchecked()).isEmpty();
        assertThat(primary.unknown()).containsExactly(new Action.Read());
        assertThat(primary.seen(Optional.of(successor(BIRTH)), 8, 3).get(0))
                .isInstanceOf(Action.Over.class);
    }

    /** C9: the newest proof counts, whichever is answered last. */
    @Test
    void aCheckThatIsAnsweredLateDoesNotTakeBackWhatAWriteProved() {
        Primary primary = pair(false, false);
        assertThat(primary.prove(1, 1)).containsExactly(new Action.Check(7));
        assertThat(primary.challenged(5)).containsExactly(new Action.Write(TAKEN, 7));
        assertThat(primary.wrote(8, 6)).containsExactly(new Action.Proven(1));
        assertThat(primary.officeSince()).hasValue(5);
        assertThat(primary.checked(7)).isEmpty();
        assertThat(primary.officeSince()).hasValue(5);
    }

    // ---- challenges

    @Test
    void aChallengeIsAnsweredByWritingTheHeadAnew() {
        Primary primary = pair(false, false);
        assertThat(primary.challenged(1)).containsExactly(new Action.Write(TAKEN, 7));
        assertThat(primary.wrote(8, 2)).isEmpty();
        assertThat(primary.tick(3)).isEmpty();
    }

    @Test
    void aChallengeDuringAReadIsAnsweredAfterIt() {
        Primary primary = pair(false, false);
        assertThat(primary.prove(1, 1)).hasSize(1);
        assertThat(primary.unchecked()).containsExactly(new Action.Read());
        assertThat(primary.challenged(2)).isEmpty();
        assertThat(primary.seen(Optional.of(TAKEN), 7, 3))
                .containsExactly(new Action.Write(TAKEN, 7));
    }

    // ---- handover

    @Test
    void theOfficeIsHandedOverOnceAllIsNamed() {
        Primary primary = written();
        assertThat(primary.handOver(B, 4)).isEmpty();
        StandbyHead head = naming(4, 40, Copies.FORCED, A, B);
        assertThat(primary.wrote(8, 5))
                .containsExactly(named(4, 40), new Action.Write(head.handedTo(B), 8));
        assertThat(primary.wrote(9, 6)).containsExactly(new Action.HandedOver(B));
        assertThat(primary.tick(10_000)).isEmpty();
    }

    @Test
    void anUnknownHandoverIsReadBack() {
        Primary primary = pair(false, false);
        assertThat(primary.handOver(B, 1)).containsExactly(new Action.Write(TAKEN.handedTo(B), 7));
        assertThat(primary.unknown()).hasSize(1);
        assertThat(primary.seen(Optional.of(TAKEN), 7, 2))
                .containsExactly(new Action.Write(TAKEN.handedTo(B), 7));
        assertThat(primary.unknown()).hasSize(1);
        assertThat(primary.seen(Optional.of(TAKEN.handedTo(B)), 8, 3))
                .containsExactly(new Action.HandedOver(B));
    }

    @Test
    void aSuccessorThatLeavesLeavesItInOffice() {
        Primary primary = written();
        assertThat(primary.handOver(B, 4)).isEmpty();
        assertThat(primary.unlinked(B, 4)).isEmpty();
        assertThat(primary.wrote(8, 5)).containsExactly(named(4, 40), new Action.NotHanded(B));
        assertThat(primary.cut(segment(5), 50, 6)).isEmpty();
        assertThat(primary.forced(5, 7)).hasSize(1);
    }

    @Test
    void aSuccessorThatIsSilentLeavesItInOffice() {
        Primary primary = pair(false, false);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(4, 2)).isEmpty();
        assertThat(primary.handOver(B, 3)).isEmpty();
        assertThat(primary.waitMillis(3)).isLessThanOrEqualTo(50);
        assertThat(primary.tick(1 + SILENT))
                .containsExactly(new Action.Write(naming(4, 40, Copies.ALONE, A), 7));
        assertThat(primary.wrote(8, 2 + SILENT))
                .containsExactly(named(4, 40), new Action.NotHanded(B));
        assertThat(primary.cut(segment(5), 50, 3 + SILENT)).isEmpty();
    }

    /** Nothing is cut while the office is handed over: that must have an end. */
    @Test
    void aSuccessorWhoseDiskIsLateLeavesItInOffice() {
        Primary primary = pair(false, true);
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.written(4, 2)).isEmpty();
        assertThat(primary.written(B, 4, 3)).hasSize(1);
        assertThat(primary.handOver(B, 4)).isEmpty();
        assertThat(primary.wrote(8, 5)).containsExactly(named(4, 40));
        primary.heard(B, 5 + LATE);
        assertThat(primary.tick(5 + LATE)).isEmpty();
        assertThat(primary.tick(6 + LATE)).containsExactly(new Action.NotHanded(B));
        assertThat(primary.tick(7 + LATE)).isEmpty();
    }

    @Test
    void whoSaidNothingYetIsNotReady() {
        StandbyHead first =
                new StandbyHead(
                        SELF,
                        A,
                        "a:1",
                        SegmentId.NONE,
                        0,
                        new TreeSet<>(List.of(A)),
                        Copies.ALONE,
                        Optional.empty(),
                        Optional.empty());
        Primary primary = new Primary(new Primary.Rules(2, false, false, SILENT, LATE), first, 0);
        primary.linked(B, 0);
        assertThat(primary.ready()).isEmpty();
        assertThat(primary.forced(B, 0, 1)).isEmpty();
        assertThat(primary.ready()).containsExactly(B);
        assertThat(primary.handOver(B, 2)).hasSize(1);
    }

    @Test
    void whoIsNotReadyIsNoSuccessor() {
        Primary primary = pair(false, false);
        primary.linked(C, 0);
        assertThat(primary.ready()).containsExactly(B);
        assertThatThrownBy(() -> primary.handOver(C, 1))
                .hasMessage(
                        "member "
                                + C
                                + " is not ready to take over: it has not all segments yet; ready"
                                + " are ["
                                + B
                                + "]");
        assertThatThrownBy(() -> primary.handOver("000000000000000d", 1))
                .hasMessageContaining("it is not linked; ready are [" + B + "]");
    }

    /** It has all, and would let everybody wait until that is read. */
    @Test
    void whoReadsItsStateStillIsWaitedForAndNoSuccessor() {
        Primary primary = primary(2, false, false);
        primary.linked(B, 0);
        // What it said of an older segment before it had all.
        primary.hasState(B, 2);
        assertThat(primary.forced(B, 3, 0)).isEmpty();
        assertThat(primary.ready()).isEmpty();
        assertThatThrownBy(() -> primary.handOver(B, 1))
                .hasMessage(
                        "member "
                                + B
                                + " is not ready to take over: it reads its state still; ready are"
                                + " []");
        assertThat(primary.successor(Optional.of(B), true)).isEmpty();
        assertThat(primary.successor(Optional.empty(), true)).isEmpty();
        assertThatThrownBy(() -> primary.successor(Optional.of(B), false))
                .hasMessageContaining("it reads its state still; ready are []");
        assertThatThrownBy(() -> primary.successor(Optional.empty(), false))
                .hasMessage(
                        "no member is ready to take over: member "
                                + B
                                + " is not ready to take over: it reads its state still");
        primary.hasState(B, 3);
        assertThat(primary.successor(Optional.of(B), true)).contains(B);
        assertThat(primary.successor(Optional.empty(), false)).contains(B);
        // A later segment makes it no colder, unless it says so.
        assertThat(primary.cut(segment(4), 40, 1)).isEmpty();
        assertThat(primary.forced(4, 2)).isEmpty();
        assertThat(primary.forced(B, 4, 2)).hasSize(1);
        assertThat(primary.wrote(8, 3)).hasSize(1);
        assertThat(primary.ready()).containsExactly(B);
        primary.hasState(B, 0);
        assertThat(primary.ready()).isEmpty();
        primary.hasState(B, 4);
        assertThat(primary.handOver(B, 4)).hasSize(1);
    }

    @Test
    void nobodyIsWaitedForWhoHasMoreThanItsStateToRead() {
        Primary primary = primary(2, false, false);
        assertThatThrownBy(() -> primary.successor(Optional.empty(), true))
                .hasMessage("no member is ready to take over");
        assertThatThrownBy(() -> primary.successor(Optional.of(B), true))
                .hasMessageContaining("it is not linked; ready are []");
        primary.linked(B, 0);
        assertThatThrownBy(() -> primary.successor(Optional.empty(), true))
                .hasMessageContaining("it has not all segments yet");
        // One is ready, and whoever is not does not matter, unless it is the one.
        primary.linked(C, 0);
        assertThat(primary.forced(B, 3, 0)).isEmpty();
        assertThat(primary.forced(C, 3, 0)).isEmpty();
        primary.hasState(C, 3);
        assertThat(primary.successor(Optional.empty(), true)).contains(C);
        assertThat(primary.successor(Optional.of(B), true)).isEmpty();
        // Of one that is gone nothing is known.
        primary.hasState("000000000000000d", 3);
        assertThat(primary.ready()).containsExactly(C);
    }

    // ---- figures

    @Test
    void itSaysHowLongTheOldestSegmentWaits() {
        Primary primary = pair(false, false);
        assertThat(primary.waitingMillis(5)).isZero();
        assertThat(primary.cut(segment(4), 40, 10)).isEmpty();
        assertThat(primary.cut(segment(5), 50, 30)).isEmpty();
        assertThat(primary.waitingMillis(50)).isEqualTo(40);
        assertThat(primary.copies()).containsEntry(B, 3L);
    }

    /** Who is cut off from the ensemble and is only read is suspected, too (R24). */
    @Test
    void itSaysHowLongTheOldestReadWaits() {
        Primary primary = pair(false, false);
        assertThat(primary.prove(1, 10)).hasSize(1);
        assertThat(primary.prove(2, 20)).isEmpty();
        assertThat(primary.waitingMillis(50)).isEqualTo(40);
        assertThat(primary.unchecked()).hasSize(1);
        assertThat(primary.waitingMillis(500)).isEqualTo(490);
        assertThat(primary.seen(Optional.of(TAKEN), 7, 500)).containsExactly(new Action.Check(7));
        assertThat(primary.prove(3, 510)).isEmpty();
        assertThat(primary.checked(520)).containsExactly(new Action.Proven(2), new Action.Check(7));
        assertThat(primary.waitingMillis(530)).isEqualTo(30);
        assertThat(primary.checked(540)).containsExactly(new Action.Proven(3));
        assertThat(primary.waitingMillis(900)).isZero();
    }

    @Test
    void rulesHaveBounds() {
        assertThatThrownBy(() -> new Primary.Rules(0, false, false, 1, 1))
                .hasMessageContaining("1 or more, not 0");
        assertThatThrownBy(() -> new Primary.Rules(1, false, false, 10, 9))
                .hasMessageContaining("10, 9");
        assertThatThrownBy(() -> new Primary.Rules(1, false, false, 0, 9))
                .hasMessageContaining("silence from 1 ms");
    }
}
