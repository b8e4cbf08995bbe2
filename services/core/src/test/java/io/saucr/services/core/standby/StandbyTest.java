package io.saucr.services.core.standby;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.replay.Quarantine;
import io.saucr.services.core.standby.Standby.Action;
import io.saucr.services.core.standby.Standby.Arrival;
import io.saucr.services.core.standby.StandbyHead.Copies;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What a member does that is not in office, said by scenarios. */
class StandbyTest {

    private static final String A = "000000000000000a";
    private static final String B = "000000000000000b";
    private static final String C = "000000000000000c";
    private static final Birth BIRTH = new Birth(1, 1);
    private static final Birth NEW_BIRTH = new Birth(5, 5);
    private static final long NONCE = 77;

    /** What the member has; a test changes it. */
    private static final class Has implements Standby.Chain {
        private final List<SegmentId> all = new ArrayList<>();
        private long known;
        private SegmentId snapshot = SegmentId.NONE;
        private Optional<Birth> birth = Optional.of(BIRTH);

        @Override
        public SegmentId last() {
            return all.isEmpty() ? SegmentId.NONE : all.get(all.size() - 1);
        }

        @Override
        public Optional<SegmentId> at(long number) {
            if (number == 0) {
                return Optional.of(SegmentId.NONE);
            }
            return number <= all.size() ? Optional.of(all.get((int) number - 1)) : Optional.empty();
        }

        @Override
        public long known() {
            return known;
        }

        @Override
        public SegmentId snapshot() {
            return snapshot;
        }

        @Override
        public Optional<Birth> birth() {
            return birth;
        }
    }

    private final Has chain = new Has();
    private final Quarantine quarantine = new Quarantine();
    private final Standby standby =
            new Standby(Standby.Rules.standard(), B, NONCE, "b:1", chain, NEW_BIRTH);

    private static SegmentId segment(long epoch, int number) {
        return new SegmentId(epoch, number, digest(epoch, number));
    }

    private static String digest(long epoch, int number) {
        return number == 0 ? SegmentId.NO_DIGEST : String.format("%064x", epoch * 1000 + number);
    }

    private static StandbyHead head(long epoch, String member, SegmentId segment) {
        return head(BIRTH, epoch, member, segment, Optional.empty());
    }

    private static StandbyHead head(
            Birth birth, long epoch, String member, SegmentId segment, Optional<String> successor) {
        return new StandbyHead(
                new Incarnation(birth, epoch, epoch * 10),
                member,
                "x:1",
                segment,
                segment.number() * 10,
                new TreeSet<>(List.of(A, B)),
                Copies.FORCED,
                successor,
                Optional.empty());
    }

    private static StandbyHead taken(StandbyHead from) {
        return new StandbyHead(
                new Incarnation(from.holder().birth(), from.holder().number() + 1, NONCE),
                B,
                "b:1",
                from.segment(),
                from.turn(),
                from.holders(),
                from.copies(),
                Optional.empty(),
                from.replaces());
    }

    /** Two segments of epoch 1, and it follows A at time 1, whose head has version 7. */
    private StandbyHead following() {
        chain.all.add(segment(1, 1));
        chain.all.add(segment(1, 2));
        StandbyHead head = head(1, A, segment(1, 2));
        assertThat(standby.tick(0)).containsExactly(new Action.Read());
        assertThat(standby.seen(Optional.of(head), 7, 1))
                .containsExactly(new Action.Follow(head), new Action.Apply(segment(1, 2)));
        standby.linked(1);
        return head;
    }

    private static void refused(List<Action> out, String... says) {
        assertThat(out).hasSize(1);
        assertThat(out.get(0))
                .isInstanceOfSatisfying(
                        Action.Refuse.class, it -> assertThat(it.reason()).contains(says));
    }

    // ---- the first head

    @Test
    void whoFindsNoHeadAndHasNothingCreatesIt() {
        chain.birth = Optional.empty();
        assertThat(standby.tick(0)).containsExactly(new Action.Read());
        StandbyHead first =
                new StandbyHead(
                        new Incarnation(NEW_BIRTH, 1, NONCE),
                        B,
                        "b:1",
                        SegmentId.NONE,
                        0,
                        new TreeSet<>(List.of(B)),
                        Copies.ALONE,
                        Optional.empty(),
                        Optional.empty());
        assertThat(standby.seen(Optional.empty(), 0, 1)).containsExactly(new Action.Create(first));
        assertThat(standby.tick(1_000)).isEmpty();
        assertThat(standby.took(0)).containsExactly(new Action.InOffice(first, 0));
        assertThat(standby.tick(2_000)).isEmpty();
    }

    @Test
    void aCreationOfWhichNobodyKnowsIsReadBack() {
        chain.birth = Optional.empty();
        assertThat(standby.tick(0)).hasSize(1);
        Action.Create create = (Action.Create) standby.seen(Optional.empty(), 0, 1).get(0);
        assertThat(standby.unknown(2)).isEmpty();
        assertThat(standby.tick(3)).containsExactly(new Action.Read());
        assertThat(standby.seen(Optional.of(create.head()), 4, 5))
                .containsExactly(new Action.InOffice(create.head(), 4));
    }

    @Test
    void whoComesSecondFollows() {
        chain.birth = Optional.empty();
        assertThat(standby.tick(0)).hasSize(1);
        assertThat(standby.seen(Optional.empty(), 0, 1)).hasSize(1);
        assertThat(standby.unknown(2)).isEmpty();
        assertThat(standby.tick(3)).hasSize(1);
        StandbyHead head = head(1, A, SegmentId.NONE);
        assertThat(standby.seen(Optional.of(head), 0, 4))
                .containsExactly(new Action.Follow(head), new Action.Apply(SegmentId.NONE));
        assertThat(standby.head()).contains(head);
    }

    @Test
    void aHeadThatIsGoneIsNotCreatedAnew() {
        chain.all.add(segment(1, 1));
        assertThat(standby.tick(0)).hasSize(1);
        refused(
                standby.seen(Optional.empty(), 0, 1),
                "the head is missing",
                BIRTH.toString(),
                "up to segment 1 of epoch 1",
                "Nothing is created anew");
        assertThat(standby.tick(10_000)).isEmpty();
    }

    // ---- what is refused

    @Test
    void aHeadOfAnotherBirthIsRefused() {
        Birth other = new Birth(9, 9);
        assertThat(standby.tick(0)).hasSize(1);
        refused(
                standby.seen(
                        Optional.of(head(other, 1, A, SegmentId.NONE, Optional.empty())), 0, 1),
                other.toString(),
                BIRTH.toString(),
                "Start with an empty folder");
    }

    private static StandbyHead replaced(SegmentId upTo, SegmentId segment) {
        return new StandbyHead(
                new Incarnation(new Birth(9, 9), segment.epoch() + 1, 1),
                A,
                "x:1",
                segment,
                segment.number() * 10,
                new TreeSet<>(List.of(A)),
                Copies.ALONE,
                Optional.empty(),
                Optional.of(new Replaced(BIRTH, upTo)));
    }

    /** C17: a former holder with what is lost neither takes over nor stops: it follows. */
    @Test
    void aBirthThatWasReplacedIsFollowed() {
        chain.all.addAll(List.of(segment(1, 1), segment(1, 2), segment(1, 3)));
        chain.known = 3;
        StandbyHead head = replaced(segment(1, 2), segment(1, 2));
        assertThat(standby.tick(0)).hasSize(1);
        assertThat(standby.seen(Optional.of(head), 7, 1))
                .containsExactly(
                        new Action.BearAnew(new Birth(9, 9), new Replaced(BIRTH, segment(1, 2))));
        assertThat(standby.tick(10_000)).isEmpty();
        assertThat(standby.unlinked(10_001)).isEmpty();
    }

    @Test
    void aLossThatIsAcceptedWhileAMemberFollowsIsFollowed() {
        following();
        assertThat(standby.unlinked(2)).containsExactly(new Action.Read());
        StandbyHead head = replaced(segment(1, 1), segment(3, 2));
        assertThat(standby.seen(Optional.of(head), 8, 3))
                .containsExactly(
                        new Action.BearAnew(new Birth(9, 9), new Replaced(BIRTH, segment(1, 1))));
    }

    /** Whose write is under way as the order is given is refused by its version, and follows. */
    @Test
    void whoWouldHaveTakenOverBeforeTheOrderFollows() {
        StandbyHead head = following();
        assertThat(standby.unlinked(2)).containsExactly(new Action.Read());
        assertThat(standby.seen(Optional.of(head), 7, 3))
                .contains(new Action.Apply(segment(1, 2)), new Action.Challenge());
        standby.challenged(4);
        assertThat(standby.tick(300)).containsExactly(new Action.Read());
        assertThat(standby.seen(Optional.of(head), 7, 301))
                .contains(new Action.Take(taken(head), 7));
        assertThat(standby.unknown(302)).isEmpty();
        assertThat(standby.tick(303)).containsExactly(new Action.Read());
        assertThat(standby.seen(Optional.of(replaced(segment(1, 1), segment(1, 1))), 8, 304))
                .hasSize(1)
                .first()
                .isInstanceOf(Action.BearAnew.class);
    }

    @Test
    void aBirthBeforeTheOneThatWasReplacedIsRefused() {
        chain.birth = Optional.of(new Birth(8, 8));
        assertThat(standby.tick(0)).hasSize(1);
        refused(
                standby.seen(Optional.of(replaced(segment(1, 1), segment(1, 1))), 7, 1),
                "Start with an empty folder");
    }

    @Test
    void aHeadThatWentBackIsRefused() {
        chain.all.addAll(List.of(segment(1, 1), segment(1, 2), segment(1, 3)));
        chain.known = 3;
        assertThat(standby.tick(0)).hasSize(1);
        refused(
                standby.seen(Optional.of(head(1, A, segment(1, 2))), 7, 1),
                "went back",
                "number 3");
    }

    @Test
    void aHeadThatNamesAnotherSegmentThanTheOneThatWasNamedIsRefused() {
        chain.all.addAll(List.of(segment(1, 1), segment(1, 2)));
        chain.known = 2;
        assertThat(standby.tick(0)).hasSize(1);
        refused(
                standby.seen(Optional.of(head(2, A, segment(2, 2))), 7, 1),
                "names segment 2 of epoch 2",
                "2 of epoch 1");
    }

    // ---- suspicion and takeover (C6)

    @Test
    void whoIsHeardIsNotSuspected() {
        following();
        for (int now = 100; now < 2_000; now += 100) {
            standby.heard(now);
            assertThat(standby.tick(now + 99)).isEmpty();
        }
    }

    @Test
    void aSilentPrimaryThatDoesNotAnswerIsReplaced() {
        StandbyHead head = following();
        assertThat(standby.tick(300)).isEmpty();
        assertThat(standby.tick(302)).containsExactly(new Action.Read());
        assertThat(standby.tick(303)).isEmpty();
        assertThat(standby.seen(Optional.of(head), 7, 310))
                .containsExactly(new Action.Apply(segment(1, 2)), new Action.Challenge());
        assertThat(standby.challenged(320)).isEmpty();
        assertThat(standby.tick(519)).isEmpty();
        assertThat(standby.waitMillis()).isBetween(1L, 50L);
        assertThat(standby.tick(520)).containsExactly(new Action.Read());
        assertThat(standby.seen(Optional.of(head), 7, 530))
                .containsExactly(new Action.Apply(segment(1, 2)), new Action.Take(taken(head), 7));
        assertThat(standby.took(8)).containsExactly(new Action.InOffice(taken(head), 8));
    }

    @Test
    void aPrimaryThatAnswersStays() {
        StandbyHead head = following();
        judging(head);
        assertThat(standby.seen(Optional.of(head), 8, 530))
                .containsExactly(new Action.Apply(segment(1, 2)));
        // And it is asked again later, as it is silent still.
        assertThat(standby.tick(620)).isEmpty();
        assertThat(standby.tick(630)).containsExactly(new Action.Read());
    }

    @Test
    void aPrimaryThatSpeaksAgainStays() {
        StandbyHead head = following();
        judging(head);
        standby.heard(525);
        assertThat(standby.seen(Optional.of(head), 7, 530))
                .containsExactly(new Action.Apply(segment(1, 2)));
    }

    @Test
    void aLinkThatClosesIsLookedAtAtOnce() {
        StandbyHead head = following();
        assertThat(standby.isLinked()).isTrue();
        assertThat(standby.unlinked(400)).containsExactly(new Action.Read());
        assertThat(standby.isLinked()).isFalse();
        assertThat(standby.seen(Optional.of(head), 7, 401)).contains(new Action.Challenge());
    }

    @Test
    void whoCannotCommitIsSuspectedThoughItSpeaks() {
        StandbyHead head = following();
        assertThat(standby.waits(2_000, 5_000)).isEmpty();
        assertThat(standby.waits(2_001, 5_001)).containsExactly(new Action.Read());
        assertThat(standby.seen(Optional.of(head), 7, 5_002)).contains(new Action.Challenge());
        assertThat(standby.challenged(5_003)).isEmpty();
        assertThat(standby.waits(2_200, 5_203)).containsExactly(new Action.Read());
        assertThat(standby.seen(Optional.of(head), 7, 5_204))
                .contains(new Action.Take(taken(head), 7));
    }

    /** A disk that is stuck does not keep the head from being written anew. */
    @Test
    void whoCannotCommitIsReplacedThoughItAnswers() {
        StandbyHead head = following();
        assertThat(standby.waits(2_001, 5_001)).hasSize(1);
        assertThat(standby.seen(Optional.of(head), 7, 5_002)).contains(new Action.Challenge());
        assertThat(standby.challenged(5_003)).isEmpty();
        assertThat(standby.waits(2_200, 5_203)).hasSize(1);
        assertThat(standby.seen(Optional.of(head), 8, 5_204))
                .contains(new Action.Take(taken(head), 8));
    }

    @Test
    void whoCommitsAgainStays() {
        StandbyHead head = following();
        chain.all.add(segment(1, 3));
        assertThat(standby.waits(2_001, 5_001)).hasSize(1);
        assertThat(standby.seen(Optional.of(head), 7, 5_002)).contains(new Action.Challenge());
        assertThat(standby.challenged(5_003)).isEmpty();
        assertThat(standby.waits(2_200, 5_203)).hasSize(1);
        assertThat(standby.seen(Optional.of(head(1, A, segment(1, 3))), 8, 5_204))
                .containsExactly(new Action.Apply(segment(1, 3)));
    }

    /** What became known by the link while the read was under way is no proof against it. */
    @Test
    void anAnswerThatComesLateDidNotGoBack() {
        StandbyHead head = following();
        assertThat(standby.unlinked(400)).hasSize(1);
        chain.all.add(segment(1, 3));
        chain.known = 3;
        assertThat(standby.seen(Optional.of(head), 7, 401))
                .containsExactly(new Action.Apply(segment(1, 2)), new Action.Challenge());
        assertThat(standby.challenged(402)).isEmpty();
        assertThat(standby.tick(602)).hasSize(1);
        refused(standby.seen(Optional.of(head), 7, 603), "went back", "number 3");
    }

    @Test
    void whoLacksTheSegmentFetchesItAndDoesNotTakeOver() {
        StandbyHead head = following();
        StandbyHead third = head(1, A, segment(1, 3));
        assertThat(standby.unlinked(400)).hasSize(1);
        assertThat(standby.seen(Optional.of(third), 8, 401))
                .containsExactly(new Action.Fetch(third));
        assertThat(standby.lacks()).contains("3 of epoch 1", A, B);
        // Another one of that number does not count.
        chain.all.add(segment(2, 3));
        assertThat(standby.tick(600)).hasSize(1);
        assertThat(standby.seen(Optional.of(third), 8, 601))
                .containsExactly(new Action.Fetch(third));
        chain.all.set(2, segment(1, 3));
        assertThat(standby.tick(800)).hasSize(1);
        assertThat(standby.seen(Optional.of(third), 8, 801))
                .containsExactly(new Action.Apply(segment(1, 3)), new Action.Challenge());
        assertThat(standby.lacks()).isEmpty();
        assertThat(head.segment()).isEqualTo(segment(1, 2));
    }

    @Test
    void aTakeoverOfWhichNobodyKnowsIsReadBack() {
        StandbyHead head = following();
        judging(head);
        assertThat(standby.seen(Optional.of(head), 7, 530)).hasSize(2);
        assertThat(standby.unknown(540)).isEmpty();
        assertThat(standby.tick(541)).containsExactly(new Action.Read());
        assertThat(standby.seen(Optional.of(taken(head)), 8, 550))
                .containsExactly(new Action.InOffice(taken(head), 8));
    }

    @Test
    void whoLosesTheRaceFollowsTheWinner() {
        StandbyHead head = following();
        judging(head);
        assertThat(standby.seen(Optional.of(head), 7, 530)).hasSize(2);
        assertThat(standby.unknown(540)).isEmpty();
        assertThat(standby.tick(541)).hasSize(1);
        StandbyHead winner = head(2, C, segment(1, 2));
        assertThat(standby.seen(Optional.of(winner), 8, 550))
                .containsExactly(new Action.Follow(winner), new Action.Apply(segment(1, 2)));
        // It has time to come up.
        assertThat(standby.tick(551 + 200)).isEmpty();
        assertThat(standby.tick(550 + 300)).containsExactly(new Action.Read());
    }

    @Test
    void anotherProcessOfTheSameMemberIsNotThisOne() {
        chain.all.add(segment(1, 1));
        StandbyHead mine = head(1, B, segment(1, 1));
        assertThat(standby.tick(0)).hasSize(1);
        assertThat(standby.seen(Optional.of(mine), 7, 1))
                .containsExactly(new Action.Follow(mine), new Action.Apply(segment(1, 1)));
        assertThat(standby.tick(302)).hasSize(1);
        assertThat(standby.seen(Optional.of(mine), 7, 303)).contains(new Action.Challenge());
    }

    @Test
    void aReadThatFailedIsReadAgain() {
        assertThat(standby.tick(0)).hasSize(1);
        assertThat(standby.tick(1)).isEmpty();
        assertThat(standby.unknown(2)).isEmpty();
        assertThat(standby.tick(3)).containsExactly(new Action.Read());
    }

    @Test
    void aChallengeThatFailedIsNoChallenge() {
        StandbyHead head = following();
        assertThat(standby.tick(302)).hasSize(1);
        assertThat(standby.seen(Optional.of(head), 7, 310)).contains(new Action.Challenge());
        assertThat(standby.unknown(320)).isEmpty();
        assertThat(standby.challenged(321)).isEmpty();
        assertThat(standby.tick(322)).containsExactly(new Action.Read());
        assertThat(standby.seen(Optional.of(head), 7, 330)).contains(new Action.Challenge());
    }

    @Test
    void whatNobodyTookIsNotInOffice() {
        following();
        assertThatThrownBy(() -> standby.took(8)).isInstanceOf(IllegalStateException.class);
    }

    /** Up to the read after the challenge, which is under way at 520. */
    private void judging(StandbyHead head) {
        assertThat(standby.tick(302)).hasSize(1);
        assertThat(standby.seen(Optional.of(head), 7, 310)).hasSize(2);
        assertThat(standby.challenged(320)).isEmpty();
        assertThat(standby.tick(520)).hasSize(1);
    }

    // ---- handover

    @Test
    void theSuccessorTakesOverAtOnce() {
        following();
        StandbyHead handed = head(BIRTH, 1, A, segment(1, 2), Optional.of(B));
        assertThat(standby.unlinked(100)).hasSize(1);
        assertThat(standby.seen(Optional.of(handed), 8, 101))
                .containsExactly(
                        new Action.Apply(segment(1, 2)), new Action.Take(taken(handed), 8));
    }

    /** Who handed over follows, though the head has its nonce still. */
    @Test
    void whoHandedOverIsNotInOfficeAgain() {
        chain.all.add(segment(1, 1));
        StandbyHead mine =
                new StandbyHead(
                        new Incarnation(BIRTH, 3, NONCE),
                        B,
                        "b:1",
                        segment(1, 1),
                        10,
                        new TreeSet<>(List.of(A, B)),
                        Copies.FORCED,
                        Optional.of(A),
                        Optional.empty());
        assertThat(standby.tick(0)).hasSize(1);
        assertThat(standby.seen(Optional.of(mine), 7, 1))
                .containsExactly(new Action.Follow(mine), new Action.Apply(segment(1, 1)));
    }

    @Test
    void othersWaitForTheSuccessorAndThenTakeOver() {
        following();
        StandbyHead handed = head(BIRTH, 1, A, segment(1, 2), Optional.of(C));
        assertThat(standby.unlinked(100)).hasSize(1);
        assertThat(standby.seen(Optional.of(handed), 8, 101))
                .containsExactly(new Action.Apply(segment(1, 2)));
        assertThat(standby.tick(1_100)).hasSize(1);
        assertThat(standby.seen(Optional.of(handed), 8, 1_101))
                .containsExactly(new Action.Apply(segment(1, 2)));
        assertThat(standby.tick(1_300)).hasSize(1);
        assertThat(standby.seen(Optional.of(handed), 8, 1_301))
                .containsExactly(
                        new Action.Apply(segment(1, 2)), new Action.Take(taken(handed), 8));
    }

    @Test
    void aSuccessorWithoutTheSegmentDoesNotTakeOver() {
        following();
        StandbyHead handed = head(BIRTH, 1, A, segment(1, 3), Optional.of(B));
        assertThat(standby.unlinked(100)).hasSize(1);
        assertThat(standby.seen(Optional.of(handed), 8, 101))
                .containsExactly(new Action.Fetch(handed));
    }

    // ---- arrivals (C4, C16)

    @Test
    void theNextSegmentIsKept() {
        following();
        assertThat(standby.arrived(segment(1, 3), digest(1, 2))).isEqualTo(Arrival.APPEND);
        assertThat(standby.arrived(segment(1, 2), digest(1, 1))).isEqualTo(Arrival.KNOWN);
        assertThat(standby.arrived(segment(1, 4), digest(1, 3))).isEqualTo(Arrival.GAP);
    }

    @Test
    void theFirstSegmentHasNoPredecessor() {
        assertThat(standby.arrived(segment(1, 1), SegmentId.NO_DIGEST)).isEqualTo(Arrival.APPEND);
        assertThat(standby.arrived(segment(1, 1), digest(1, 1))).isEqualTo(Arrival.GAP);
    }

    @Test
    void aSegmentWithAnotherPredecessorIsNotKept() {
        following();
        assertThat(standby.arrived(segment(2, 3), digest(2, 2))).isEqualTo(Arrival.GAP);
    }

    @Test
    void anOrphanIsReplacedByAnEpochThatCameLater() {
        following();
        chain.all.add(segment(1, 3));
        chain.all.add(segment(1, 4));
        chain.known = 2;
        assertThat(standby.arrived(segment(2, 3), digest(1, 2))).isEqualTo(Arrival.REPLACE);
        assertThat(standby.arrived(segment(2, 4), digest(2, 3))).isEqualTo(Arrival.GAP);
    }

    @Test
    void whatTheHeadNamedIsNotReplaced() {
        following();
        chain.all.add(segment(1, 3));
        chain.known = 3;
        assertThat(standby.arrived(segment(2, 3), digest(1, 2))).isEqualTo(Arrival.REFUSE);
    }

    @Test
    void aDeposedPrimarysSegmentIsRefused() {
        following();
        chain.all.add(segment(2, 3));
        assertThat(standby.arrived(segment(1, 3), digest(1, 2))).isEqualTo(Arrival.REFUSE);
        assertThat(standby.arrived(segment(1, 4), digest(2, 3))).isEqualTo(Arrival.REFUSE);
    }

    @Test
    void whatThePrimaryCallsNamedIsApplied() {
        following();
        assertThat(standby.named(segment(1, 2))).containsExactly(new Action.Apply(segment(1, 2)));
        assertThat(standby.named(segment(1, 3))).isEmpty();
        chain.all.add(segment(1, 3));
        assertThat(standby.named(segment(2, 3))).isEmpty();
        assertThat(standby.named(segment(1, 3))).containsExactly(new Action.Apply(segment(1, 3)));
    }

    // ---- code that differs (X17)

    private static final LaneCode OLD = new LaneCode(8, "1");
    private static final LaneCode NEW = new LaneCode(8, "2");

    private Standby replaying(LaneCode code) {
        return new Standby(
                Standby.Rules.standard(),
                B,
                NONCE,
                "b:1",
                chain,
                NEW_BIRTH,
                Optional.of(code),
                quarantine);
    }

    private static StandbyHead recorded(StandbyHead head, LaneCode by) {
        return new StandbyHead(
                head.holder(),
                head.member(),
                head.at(),
                head.segment(),
                head.turn(),
                head.holders(),
                head.copies(),
                head.successor(),
                head.replaces(),
                Optional.of(by));
    }

    /** The primary does not answer; what the member does about it. */
    private static List<Action> silence(Standby member, StandbyHead head) {
        assertThat(member.tick(0)).hasSize(1);
        member.seen(Optional.of(head), 7, 1);
        assertThat(member.tick(500)).containsExactly(new Action.Read());
        List<Action> doubts = member.seen(Optional.of(head), 7, 501);
        if (!doubts.contains(new Action.Challenge())) {
            return doubts;
        }
        member.challenged(502);
        assertThat(member.tick(1_000)).containsExactly(new Action.Read());
        return member.seen(Optional.of(head), 7, 1_001);
    }

    @Test
    void x17TheSameCodeTakesOver() {
        chain.all.addAll(List.of(segment(1, 1), segment(1, 2)));
        StandbyHead head = recorded(head(1, A, segment(1, 2)), OLD);
        assertThat(silence(replaying(OLD), head))
                .containsExactly(
                        new Action.Apply(segment(1, 2)),
                        new Action.Take(recorded(taken(head), OLD), 7));
    }

    @Test
    void x17AMemberThatDiffersStoresAndDoesNotTakeOver() {
        for (LaneCode other : List.of(NEW, new LaneCode(4, "1"))) {
            chain.all.clear();
            chain.all.addAll(List.of(segment(1, 1), segment(1, 2)));
            StandbyHead head = recorded(head(1, A, segment(1, 2)), OLD);
            Standby member = replaying(other);
            assertThat(silence(member, head)).isEmpty();
            assertThat(member.lacks())
                    .contains("a snapshot as of segment 2 of epoch 1", OLD + " recorded")
                    .endsWith("this member has " + other);
            chain.all.add(segment(1, 3));
            assertThat(member.named(segment(1, 3))).as("stored, not replayed").isEmpty();
            assertThat(member.arrived(segment(1, 4), digest(1, 3))).isEqualTo(Arrival.APPEND);
        }
    }

    @Test
    void x17AMemberThatDiffersTakesOverFromASnapshotOfAllThatIsNamed() {
        chain.all.addAll(List.of(segment(1, 1), segment(1, 2)));
        chain.snapshot = segment(1, 2);
        StandbyHead head = recorded(head(1, A, segment(1, 2)), OLD);
        Standby member = replaying(NEW);
        assertThat(silence(member, head))
                .containsExactly(
                        new Action.Apply(segment(1, 2)),
                        new Action.Take(recorded(taken(head), NEW), 7));
        assertThat(member.lacks()).isEmpty();
    }

    @Test
    void x17ASuccessorThatDiffersDoesNotTakeOver() {
        chain.all.addAll(List.of(segment(1, 1), segment(1, 2)));
        StandbyHead head = recorded(head(BIRTH, 1, A, segment(1, 2), Optional.of(B)), OLD);
        Standby member = replaying(NEW);
        assertThat(member.tick(0)).hasSize(1);
        assertThat(member.seen(Optional.of(head), 7, 1)).containsExactly(new Action.Follow(head));
    }

    @Test
    void x14AMemberWhoseStateDiffersStoresAndDoesNotTakeOver() {
        chain.all.addAll(List.of(segment(1, 1), segment(1, 2)));
        chain.snapshot = segment(1, 2);
        quarantine.diverged("request 1 ended otherwise", 2, 0);
        Standby member = replaying(OLD);
        StandbyHead head = recorded(head(1, A, segment(1, 2)), OLD);
        assertThat(silence(member, head)).isEmpty();
        assertThat(member.lacks())
                .contains("a snapshot of the primary as of segment 2 or a later one")
                .endsWith("request 1 ended otherwise");
        chain.all.add(segment(1, 3));
        assertThat(member.named(segment(1, 3))).as("stored, not replayed").isEmpty();
        assertThat(member.lacks()).as("still").isNotEmpty();
        assertThat(member.arrived(segment(1, 4), digest(1, 3))).isEqualTo(Arrival.APPEND);
        quarantine.loaded(2);
        assertThat(silence(replaying(OLD), head)).hasSize(2);
        assertThat(member.named(segment(1, 3))).containsExactly(new Action.Apply(segment(1, 3)));
        assertThat(member.lacks()).isEmpty();
    }

    @Test
    void x17TheFirstHeadNamesTheCode() {
        chain.birth = Optional.empty();
        Standby member = replaying(NEW);
        assertThat(member.tick(0)).hasSize(1);
        assertThat(member.seen(Optional.empty(), -1, 1))
                .singleElement()
                .isInstanceOfSatisfying(
                        Action.Create.class, it -> assertThat(it.head().lanes()).contains(NEW));
    }

    @Test
    void x17TurnsAndATraceAreNotMixed() {
        StandbyHead turns = head(1, A, segment(1, 2));
        for (Optional<Birth> birth : List.of(Optional.of(BIRTH), Optional.<Birth>empty())) {
            chain.birth = birth;
            Standby member = replaying(NEW);
            assertThat(member.tick(0)).hasSize(1);
            refused(
                    member.seen(Optional.of(turns), 7, 1),
                    "members take turns",
                    "code 2 in 8 lanes",
                    "Start it as the others");
            Standby other =
                    new Standby(Standby.Rules.standard(), B, NONCE, "b:1", chain, NEW_BIRTH);
            assertThat(other.tick(0)).hasSize(1);
            refused(
                    other.seen(Optional.of(recorded(turns, OLD)), 7, 1),
                    "replay what its primary recorded, with code 1 in 8 lanes",
                    "Start it as the others");
        }
    }
}
