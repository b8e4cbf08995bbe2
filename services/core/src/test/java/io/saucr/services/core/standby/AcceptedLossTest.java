package io.saucr.services.core.standby;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.AcceptedLoss.Decision;
import io.saucr.services.core.standby.AcceptedLoss.Found;
import io.saucr.services.core.standby.StandbyHead.Copies;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** C17: whether a loss may be accepted, and what the head says then. */
class AcceptedLossTest {

    private static final String A = "000000000000000a";
    private static final String B = "000000000000000b";
    private static final String C = "000000000000000c";
    private static final Birth BIRTH = new Birth(1, 1);
    private static final Birth OTHER = new Birth(2, 2);

    /** The folder of member C: segments up to a number, each of the epoch that it names. */
    private record Holds(List<Long> epochs, long known, Optional<Birth> birth)
            implements Standby.Chain {

        @Override
        public SegmentId last() {
            return at(epochs.size()).orElseThrow();
        }

        @Override
        public SegmentId snapshot() {
            return SegmentId.NONE;
        }

        @Override
        public Optional<SegmentId> at(long number) {
            if (number == 0) {
                return Optional.of(SegmentId.NONE);
            }
            return number > epochs.size()
                    ? Optional.empty()
                    : Optional.of(segment(epochs.get((int) number - 1), number));
        }
    }

    private static SegmentId segment(long epoch, long number) {
        return new SegmentId(epoch, number, String.format("%064x", epoch * 1000 + number));
    }

    private static Holds holds(long known, Long... epochs) {
        return new Holds(List.of(epochs), known, Optional.of(BIRTH));
    }

    private static StandbyHead head(Birth birth, SegmentId segment, Optional<Replaced> replaces) {
        return new StandbyHead(
                new Incarnation(birth, 4, 7),
                A,
                "a:1",
                segment,
                segment.number() * 10,
                new TreeSet<>(List.of(A, B)),
                Copies.FORCED,
                Optional.empty(),
                replaces);
    }

    /** The head names segment 5 of epoch 3, which members A and B had; nobody is there. */
    private static Found found(Map<String, String> announced) {
        return new Found(
                head(BIRTH, segment(3, 5), Optional.empty()),
                9,
                Optional.empty(),
                new TreeMap<>(announced));
    }

    private static final Found NOBODY = found(Map.of());
    private static final Holds THREE = holds(2, 1L, 3L, 3L);

    private static Decision.Offer offer(Found found, Holds folder) {
        Decision decision = AcceptedLoss.decide(found, C, folder);
        assertThat(decision).isInstanceOf(Decision.Offer.class);
        return (Decision.Offer) decision;
    }

    private static void refused(Found found, Holds folder, String... says) {
        assertThat(AcceptedLoss.decide(found, C, folder))
                .isInstanceOfSatisfying(
                        Decision.Refuse.class,
                        it ->
                                assertThat(it.reason())
                                        .contains(says)
                                        .endsWith("Nothing was changed"));
    }

    @Test
    void theNewestSegmentOfTheLostOnesEpochCounts() {
        Decision.Offer offer = offer(NOBODY, THREE);
        assertThat(offer.keeps()).isEqualTo(segment(3, 3));
        assertThat(offer.unnamed()).isZero();
        assertThat(offer.token()).startsWith("lose-4-to-5-");
    }

    /** C16: what a former primary left may never have been named. */
    @Test
    void ofOlderEpochsOnlyWhatIsKnownToBeNamedCounts() {
        Decision.Offer offer = offer(NOBODY, holds(2, 1L, 1L, 1L, 1L));
        assertThat(offer.keeps()).isEqualTo(segment(1, 2));
        assertThat(offer.unnamed()).isEqualTo(2);
        assertThat(offer.token()).startsWith("lose-3-to-5-");
    }

    /** As many as the lost one, and of a primary that named none of them. */
    @Test
    void segmentsOfALaterEpochWereNotNamed() {
        Decision.Offer offer = offer(NOBODY, holds(3, 1L, 3L, 3L, 4L, 4L));
        assertThat(offer.keeps()).isEqualTo(segment(3, 3));
        assertThat(offer.unnamed()).isEqualTo(2);
    }

    @Test
    void whoWouldBeLeftWithNothingIsRefused() {
        refused(NOBODY, holds(0, 1L, 1L), "nothing would be left", "that has more");
        refused(NOBODY, holds(0), "nothing would be left");
        refused(NOBODY, new Holds(List.of(), 0, Optional.empty()), "never met the service");
    }

    @Test
    void nothingIsLostWhereThisFolderHasIt() {
        refused(NOBODY, holds(4, 1L, 1L, 3L, 3L, 3L), "this folder holds segment 5 of epoch 3");
        refused(NOBODY, holds(5, 1L, 1L, 1L, 1L, 1L), "the head went back");
        refused(NOBODY, holds(6, 1L, 1L, 1L, 1L, 1L, 1L), "the head went back");
    }

    @Test
    void nothingIsLostWhereAHolderIsThere() {
        refused(found(Map.of(B, "b:2")), THREE, "member " + B + ", which has segment 5", "b:2");
        // Who has it not does not count, and C is this folder.
        assertThat(offer(found(Map.of("000000000000000d", "d:4")), THREE).keeps())
                .isEqualTo(segment(3, 3));
    }

    @Test
    void whoeverMayBeInOfficeIsStoppedFirst() {
        refused(
                new Found(NOBODY.head(), 9, Optional.of("a:80"), new TreeMap<>()),
                THREE,
                "a process says that it is primary, at a:80");
        refused(found(Map.of(A, "a:1")), THREE, "member " + A + ", which is primary");
    }

    @Test
    void anotherBirthsFolderIsRefused() {
        Found other =
                new Found(
                        head(OTHER, segment(3, 5), Optional.empty()),
                        9,
                        Optional.empty(),
                        new TreeMap<>());
        refused(other, THREE, "the head is of generation " + OTHER);
        Found accepted =
                new Found(
                        head(OTHER, segment(3, 5), Optional.of(new Replaced(BIRTH, segment(3, 4)))),
                        9,
                        Optional.empty(),
                        new TreeMap<>());
        refused(accepted, THREE, "accepted already", "Start this member");
    }

    @Test
    void theTokenIsOfThisLookAlone() {
        String token = offer(NOBODY, THREE).token();
        assertThat(offer(found(Map.of()), THREE).token()).isEqualTo(token);
        assertThat(offer(NOBODY, holds(1, 1L, 3L)).token()).isNotEqualTo(token);
        assertThat(
                        offer(
                                        new Found(
                                                NOBODY.head(),
                                                10,
                                                Optional.empty(),
                                                new TreeMap<>()),
                                        THREE)
                                .token())
                .isNotEqualTo(token);
        Decision byAnother = AcceptedLoss.decide(NOBODY, "000000000000000d", THREE);
        assertThat(((Decision.Offer) byAnother).token()).isNotEqualTo(token);
    }

    /** Its member takes over by that head, under the new birth, and nobody else for a while. */
    @Test
    void theHeadNamesItsMemberAsSuccessor() throws Exception {
        StandbyHead head = AcceptedLoss.head(NOBODY, C, segment(3, 3), 30, OTHER, 77);
        assertThat(StandbyHead.decode(head.encode())).isEqualTo(head);
        assertThat(head.holder()).isEqualTo(new Incarnation(OTHER, 5, 77));
        assertThat(head.replaces()).contains(new Replaced(BIRTH, segment(3, 3)));
        assertThat(head.segment()).isEqualTo(segment(3, 3));
        assertThat(head.turn()).isEqualTo(30);
        assertThat(head.holders()).containsExactly(C);

        Holds followed = new Holds(List.of(1L, 3L, 3L), 3, Optional.of(OTHER));
        Standby member =
                new Standby(Standby.Rules.standard(), C, 5, "c:1", followed, new Birth(3, 3));
        assertThat(member.tick(0)).hasSize(1);
        assertThat(member.seen(Optional.of(head), 10, 1))
                .filteredOn(Standby.Action.Take.class::isInstance)
                .singleElement()
                .isInstanceOfSatisfying(
                        Standby.Action.Take.class,
                        it -> {
                            assertThat(it.version()).isEqualTo(10);
                            assertThat(it.head().holder().number()).isEqualTo(6);
                            assertThat(it.head().replaces()).isEqualTo(head.replaces());
                        });
    }

    @Test
    void holdersAreNamedWithWhetherTheyAreThere() {
        assertThat(AcceptedLoss.holders(found(Map.of(B, "b:2"))))
                .containsExactly(Map.entry(A, Optional.empty()), Map.entry(B, Optional.of("b:2")));
    }
}
