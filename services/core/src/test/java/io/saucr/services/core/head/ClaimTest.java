package io.saucr.services.core.head;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.head.Claim.Decision;
import io.saucr.services.core.head.Claim.Seen;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * K14, said by scenarios and by random starts of folders that are copied, put back and started
 * twice.
 */
class ClaimTest {

    private static final Birth BIRTH = new Birth(1, 1);
    private static final Birth OTHER = new Birth(2, 2);

    private static Incarnation start(long number, long nonce) {
        return new Incarnation(BIRTH, number, nonce);
    }

    private static Claim claim(long confirmed, Incarnation... known) {
        return new Claim("/apps/bank", known[known.length - 1], List.of(known), confirmed);
    }

    private static Optional<Seen> head(Incarnation holder, int version) {
        return Optional.of(new Seen(new Head(holder), version));
    }

    private static String refused(Decision decision) {
        assertThat(decision).isInstanceOf(Decision.Refuse.class);
        return ((Decision.Refuse) decision).reason();
    }

    @Test
    void theFirstStartCreatesTheHead() {
        assertThat(claim(0, start(1, 10)).seen(Optional.empty()))
                .isEqualTo(new Decision.Create(new Head(start(1, 10))));
    }

    @Test
    void aLaterStartTakesItOnTheVersionThatItRead() {
        assertThat(claim(1, start(1, 10), start(2, 20)).seen(head(start(1, 10), 5)))
                .isEqualTo(new Decision.Take(new Head(start(2, 20)), 5));
    }

    @Test
    void aStartThatDiedBeforeItsHeadIsPassedOver() {
        assertThat(claim(1, start(1, 10), start(2, 20), start(3, 30)).seen(head(start(1, 10), 0)))
                .isEqualTo(new Decision.Take(new Head(start(3, 30)), 0));
    }

    @Test
    void aStartWhoseCreationWasNeverNotedGoesOn() {
        assertThat(claim(0, start(1, 10), start(2, 20)).seen(head(start(1, 10), 0)))
                .isEqualTo(new Decision.Take(new Head(start(2, 20)), 0));
    }

    @Test
    void anUnknownOutcomeIsReadBack() {
        assertThat(claim(0, start(1, 10)).seen(head(start(1, 10), 3)))
                .isEqualTo(new Decision.Taken(3));
    }

    @Test
    void aNameThatAnotherBirthHoldsIsRefused() {
        assertThat(refused(claim(0, start(1, 10)).seen(head(new Incarnation(OTHER, 4, 40), 3))))
                .contains("the name /apps/bank is taken", OTHER.toString(), BIRTH.toString());
    }

    @Test
    void anOldCopyIsRefused() {
        assertThat(refused(claim(1, start(1, 10), start(2, 21)).seen(head(start(2, 20), 3))))
                .contains("old copy or a twin", "incarnation 2", "0000000000000014");
    }

    @Test
    void aMissingHeadIsNotCreatedAnew() {
        assertThat(refused(claim(1, start(1, 10), start(2, 20)).seen(Optional.empty())))
                .contains("is missing", "incarnation 1", "Nothing is created anew");
    }

    @Test
    void aHeadThatWentBackIsRefused() {
        assertThat(
                        refused(
                                claim(2, start(1, 10), start(2, 20), start(3, 30))
                                        .seen(head(start(1, 10), 3))))
                .contains("went back", "incarnation 1", "number 2");
    }

    @Test
    void whoSeesItsHeadTakenHalts() {
        Claim claim = claim(0, start(1, 10));
        assertThat(claim.changed(head(start(1, 10), 4))).isEqualTo(new Decision.Taken(4));
        assertThat(refused(claim.changed(head(start(2, 20), 5))))
                .contains("taken by incarnation 2");
        assertThat(refused(claim.changed(Optional.empty()))).contains("is missing");
    }

    @Test
    void startsThatDoNotFitTogetherAreRefused() {
        assertThatThrownBy(() -> claim(0, start(2, 20), start(1, 10)))
                .hasMessageContaining("in order");
        assertThatThrownBy(() -> claim(1, start(1, 10))).hasMessageContaining("not above 1");
        assertThatThrownBy(
                        () ->
                                new Claim(
                                        "x",
                                        start(2, 20),
                                        List.of(new Incarnation(OTHER, 1, 1), start(2, 20)),
                                        0))
                .hasMessageContaining("of one generation");
    }

    /** What is left out of the rule, each of which the random starts must notice. */
    enum Broken {
        NOTHING,
        STRANGER_NONCE,
        MISSING_HEAD,
        UNCONDITIONAL_WRITE,
    }

    /** A folder on some disk: its starts, and the highest that is noted as holder. */
    private record Folder(List<Incarnation> starts, long confirmed) {
        Folder(Folder copied) {
            this(new ArrayList<>(copied.starts), copied.confirmed);
        }
    }

    /** A write on its way to the ensemble. */
    private record Write(Incarnation holder, int version) {}

    private static final class Schedule {
        final Random random;
        final Broken broken;
        final List<Folder> folders = new ArrayList<>();
        final List<Write> inFlight = new ArrayList<>();
        Optional<Seen> head = Optional.empty();
        long nonces;

        /** Who held the service, in the order of their answers. */
        final List<Incarnation> holders = new ArrayList<>();

        /** Where a holder did not know one before it: two lives of one service. */
        boolean forked;

        Schedule(long seed, Broken broken) {
            this.random = new Random(seed);
            this.broken = broken;
            folders.add(new Folder(List.of(), 0));
        }

        void run(int steps) {
            for (int step = 0; step < steps; step++) {
                switch (random.nextInt(6)) {
                    case 0 -> folders.add(new Folder(folders.get(random.nextInt(folders.size()))));
                    case 1 -> arrive();
                    case 2 -> {
                        if (broken != Broken.MISSING_HEAD || random.nextInt(4) > 0) {
                            break;
                        }
                        // A deletion by hand: only the rule about missing heads keeps old copies
                        // from beginning anew.
                        head = Optional.empty();
                    }
                    default -> begin(random.nextInt(folders.size()));
                }
            }
        }

        private void begin(int which) {
            Folder folder = folders.get(which);
            List<Incarnation> starts = new ArrayList<>(folder.starts);
            Incarnation self = new Incarnation(BIRTH, starts.size() + 1, ++nonces);
            starts.add(self);
            folders.set(which, new Folder(starts, folder.confirmed));
            Claim claim = new Claim("x", self, starts, folder.confirmed);
            for (int look = 0; look < 4; look++) {
                Decision decision = claim.seen(head);
                if (decision instanceof Decision.Refuse
                        && broken == Broken.STRANGER_NONCE
                        && head.isPresent()) {
                    decision = new Decision.Take(new Head(self), head.get().version());
                }
                if (decision instanceof Decision.Refuse
                        && broken == Broken.MISSING_HEAD
                        && head.isEmpty()) {
                    decision = new Decision.Create(new Head(self));
                }
                if (decision instanceof Decision.Refuse) {
                    return;
                } else if (decision instanceof Decision.Taken) {
                    forked |= !starts.containsAll(holders);
                    holders.add(self);
                    if (random.nextBoolean()) {
                        folders.set(which, new Folder(starts, self.number()));
                    }
                    return;
                }
                Write write =
                        decision instanceof Decision.Take take
                                ? new Write(self, take.version())
                                : new Write(self, -1);
                // Others come between the look and the write; the write is late, or its answer is
                // lost.
                if (random.nextInt(3) == 0 && folders.size() > 1 && look == 0) {
                    begin(random.nextInt(folders.size()));
                }
                inFlight.add(write);
                if (random.nextInt(3) > 0) {
                    arrive();
                }
                if (random.nextInt(4) == 0) {
                    return; // It died.
                }
            }
        }

        private void arrive() {
            if (inFlight.isEmpty()) {
                return;
            }
            Write write = inFlight.remove(random.nextInt(inFlight.size()));
            int version = head.map(Seen::version).orElse(-1);
            if (write.version() == version || broken == Broken.UNCONDITIONAL_WRITE) {
                head = Optional.of(new Seen(new Head(write.holder()), version + 1));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void noTwoFoldersHoldOneService(Broken broken) {
        Set<Long> forked = new HashSet<>();
        long taken = 0;
        for (long seed = 0; seed < 3_000; seed++) {
            Schedule schedule = new Schedule(seed, broken);
            schedule.run(20);
            taken += schedule.holders.size();
            if (schedule.forked) {
                forked.add(seed);
            }
        }
        assertThat(taken).isGreaterThan(3_000);
        if (broken == Broken.NOTHING) {
            assertThat(forked).isEmpty();
        } else {
            assertThat(forked).isNotEmpty();
        }
    }

    private static final Incarnation LOST = new Incarnation(OTHER, 7, 70);

    private static Claim anew(long confirmed, Incarnation... known) {
        return new Claim(
                "/apps/bank",
                known[known.length - 1],
                List.of(known),
                confirmed,
                Optional.of(LOST));
    }

    /** K11: an order names the head that it replaces, and the new head says so. */
    @Test
    void aNewGenerationReplacesTheHeadThatItsOrderNamed() {
        Head next = new Head(start(8, 80), Optional.of(OTHER));
        assertThat(anew(0, start(8, 80)).seen(head(LOST, 4))).isEqualTo(new Decision.Take(next, 4));
        assertThat(anew(0, start(8, 80)).seen(Optional.empty()))
                .isEqualTo(new Decision.Create(next));
        assertThat(anew(0, start(8, 80)).seen(Optional.of(new Seen(next, 5))))
                .isEqualTo(new Decision.Taken(5));
    }

    /** Once it held the head, the old birth never comes back by it. */
    @Test
    void aNewGenerationReplacesNoOtherHead() {
        Incarnation later = new Incarnation(OTHER, 8, 71);
        assertThat(refused(anew(0, start(8, 80)).seen(head(later, 4))))
                .contains("taken by incarnation 8", OTHER.toString(), "new-generation");
        assertThat(refused(anew(8, start(8, 80), start(9, 90)).seen(head(LOST, 4))))
                .contains(OTHER.toString());
    }

    /** K14: an old copy of the old birth is told what an operator may do. */
    @Test
    void whoIsRefusedHearsOfTheOrder() {
        assertThat(refused(claim(1, start(1, 10), start(2, 20)).seen(head(start(3, 33), 4))))
                .contains(
                        "old copy or a twin",
                        "Services.newGeneration",
                        "bin/saucr-services new-generation");
        assertThat(refused(claim(0, start(1, 10)).seen(head(LOST, 4))))
                .contains("is taken", "Services.newGeneration");
        assertThat(refused(claim(1, start(1, 10), start(2, 20)).seen(Optional.empty())))
                .contains("Services.newGeneration");
    }

    @Test
    void aHeadSaysWhichBirthItReplaced() throws Exception {
        Head head = new Head(start(8, 80), Optional.of(OTHER));
        assertThat(new String(head.encode(), java.nio.charset.StandardCharsets.UTF_8))
                .endsWith(" replaces=" + OTHER + "\n");
        assertThat(Head.decode(head.encode())).isEqualTo(head);
        assertThat(Head.decode(new Head(start(8, 80)).encode()).replaces()).isEmpty();
    }
}
