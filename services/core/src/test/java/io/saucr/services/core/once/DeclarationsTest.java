package io.saucr.services.core.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.once.Declarations.Action;
import io.saucr.services.core.once.Declarations.Reply;
import io.saucr.services.core.once.Declarations.Seen;
import io.saucr.services.core.once.Declarations.Standing;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** E7: ephemerals that are declared, in the cases that a person would ask about and at random. */
class DeclarationsTest {

    private static final int RUNS = 5_000;
    private static final int STEPS = 400;

    private final Declarations declarations = new Declarations();

    private void held() {
        declarations.session(4);
        declarations.parent(OptionalInt.of(9));
        assertThat(declarations.declare("/p")).containsExactly(new Action.Look(4, "/p"));
        assertThat(declarations.seen(4, "/p", Seen.NOTHING))
                .containsExactly(new Action.Create(1, 4, "/p", 9));
        assertThat(declarations.answered(1, new Reply.Done()))
                .containsExactly(new Action.Look(4, "/p"));
        assertThat(declarations.seen(4, "/p", Seen.OWN))
                .containsExactly(
                        new Action.Report("/p", new Standing.Held()), new Action.Watch(4, "/p"));
    }

    @Test
    void itIsCreatedAndSeen() {
        held();
    }

    @Test
    void itComesBackInTheNextSessionOnceTheOldOneHasEnded() {
        held();
        assertThat(declarations.session(5)).containsExactly(new Action.Look(5, "/p"));
        assertThat(declarations.seen(5, "/p", Seen.ANOTHERS))
                .containsExactly(
                        new Action.Report("/p", new Standing.Missing()), new Action.Watch(5, "/p"));
        assertThat(declarations.changed(5, "/p")).containsExactly(new Action.Look(5, "/p"));
        assertThat(declarations.seen(5, "/p", Seen.NOTHING))
                .containsExactly(new Action.Create(2, 5, "/p", 9));
    }

    @Test
    void itIsDeletedOnlyBehindALookOfItsSession() {
        held();
        assertThat(declarations.withdraw("/p")).containsExactly(new Action.Look(4, "/p"));
        assertThat(declarations.seen(4, "/p", Seen.OWN))
                .containsExactly(new Action.Delete(2, 4, "/p", 9));
        declarations.answered(2, new Reply.Done());
        assertThat(declarations.seen(4, "/p", Seen.NOTHING))
                .containsExactly(new Action.Report("/p", new Standing.Withdrawn()));
        assertThatThrownBy(() -> declarations.withdraw("/p")).hasMessage("/p is not declared");
    }

    @Test
    void anotherSessionsIsNotDeleted() {
        held();
        declarations.withdraw("/p");
        assertThat(declarations.seen(4, "/p", Seen.ANOTHERS))
                .containsExactly(new Action.Report("/p", new Standing.Withdrawn()));
    }

    @Test
    void anOpenOutcomeIsSettledByAnotherMarker() {
        declarations.session(4);
        declarations.parent(OptionalInt.of(9));
        declarations.declare("/p");
        declarations.seen(4, "/p", Seen.NOTHING);
        assertThat(declarations.answered(1, new Reply.Unknown()))
                .containsExactly(new Action.ReplaceMarker());
        assertThat(declarations.withdraw("/p")).isEmpty();
        assertThat(declarations.parent(OptionalInt.empty())).isEmpty();
        assertThat(declarations.parent(OptionalInt.of(10)))
                .containsExactly(new Action.Look(4, "/p"));
        assertThat(declarations.seen(4, "/p", Seen.NOTHING))
                .containsExactly(new Action.Report("/p", new Standing.Withdrawn()));
    }

    @Test
    void whatIsRefusedIsTriedAgainInTheNextSession() {
        declarations.session(4);
        declarations.parent(OptionalInt.of(9));
        declarations.declare("/p");
        declarations.seen(4, "/p", Seen.NOTHING);
        assertThat(declarations.answered(1, new Reply.Refused(-101)))
                .containsExactly(new Action.Report("/p", new Standing.Refused(-101)));
        assertThat(declarations.session(5)).containsExactly(new Action.Look(5, "/p"));
        assertThat(declarations.seen(5, "/p", Seen.LASTING))
                .containsExactly(new Action.Report("/p", new Standing.Refused(-110)));
        assertThat(declarations.withdraw("/p"))
                .containsExactly(new Action.Report("/p", new Standing.Withdrawn()));
    }

    @Test
    void itIsThereWhileDeclaredAndNobodyElsesIsTouched() {
        long helds = 0;
        long withdrawals = 0;
        for (long seed = 0; seed < RUNS; seed++) {
            DeclarationsWorld world = new DeclarationsWorld(seed, DeclarationsWorld.Broken.NOTHING);
            world.run(STEPS);
            assertThat(world.violations).as("seed " + seed).isEmpty();
            helds += world.helds;
            withdrawals += world.withdrawals;
        }
        assertThat(helds).isGreaterThan(RUNS);
        assertThat(withdrawals).isGreaterThan(RUNS);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
    void eachPartOfTheRuleIsMissed(DeclarationsWorld.Broken broken) {
        for (long seed = 0; seed < RUNS; seed++) {
            DeclarationsWorld world = new DeclarationsWorld(seed, broken);
            world.run(STEPS);
            if (!world.violations.isEmpty()) {
                return;
            }
        }
        throw new AssertionError("nobody noticed in " + RUNS + " runs");
    }
}
