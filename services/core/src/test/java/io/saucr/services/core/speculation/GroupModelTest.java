package io.saucr.services.core.speculation;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.speculation.GroupExplorer.Found;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every way through small groups. {@link GroupModelCampaign} looks at all of larger ones. The
 * numbers of a size are those of {@link GroupSize}: requests, crashes, claims, cuts, breaks,
 * overdue, leaves, files, slow.
 */
class GroupModelTest {

    private static final int MOST_STATES = 150_000;

    private static Found explore(String size, Broken broken, String from, int mostStates) {
        return new GroupExplorer(mostStates)
                .explore(new Group(GroupSize.parse(size), broken).after(from));
    }

    @ParameterizedTest
    @CsvSource({
        "APART 1 1, 9837",
        "INWARD 1 1, 9593",
    })
    void nothingThatIsFinalIsUndone(String size, int states) {
        nothingIsUndone(size, states);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({
        "CHAIN 1 1, 103686",
        "ONE_WAY 1 1, 120483",
    })
    void nothingThatIsFinalIsUndoneInLargerGroups(String size, int states) {
        nothingIsUndone(size, states);
    }

    private static void nothingIsUndone(String size, int states) {
        Found found = explore(size, Broken.NOTHING, "", MOST_STATES);
        assertThat(found.violation()).as(found.path().toString()).isNull();
        assertThat(found.states()).isEqualTo(states);
        assertThat(found.atRest()).isPositive();
    }

    /** From the beginning. */
    @ParameterizedTest
    @CsvSource({
        "D2_NO_DEPENDENCY, APART 1 1",
        "D2_EMPTY_VERTEX, APART 1 1",
        "D3_NO_COMMIT_ORDER, APART 2 1",
        "D4_LOWER_WORLD_TAKEN, APART 1 1",
        "D4_NO_RESEND, APART 1 1",
        "D5_REPORTED_BEFORE_SYNC, APART 1 1 0 0 0 0 0 0 1",
        "D7_LEAVES_ONCE_SYNCED, APART 1 1",
        "D8_ANNOUNCED_WHILE_DECIDING, APART 1 1",
        "D8_TOLD_BEFORE_WRITTEN, APART 1 1",
        "D9_DECIDED_UNLISTED, APART 1 1",
        "D11_KEPT_ALL, APART 1 1",
        "D11_KEPT_NONE, APART 1 1",
        "D11_BOUNDARY_FOR_CUT, APART 1 1 0 1",
        "D13_START_TRUSTED, APART 1 1",
    })
    void eachRuleIsMissed(Broken broken, String size) {
        isMissed(broken, size, "");
    }

    /** From a state on the way, where the whole way takes too many states for a test. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // A message of the next world is held, and what it depends on is lost.
                "D4_HELD_KEPT | CHAIN 1 2"
                        + " | CRASH 1 0, LINK 1, LAND 0, HEAR 0, DOWN 0, FORCE 0, DOWN 1, FORCE 1,"
                        + " DELIVER 0 1, REQUEST 0, DELIVER 1 0, DELIVER 2 1, DELIVER 2 1,"
                        + " CRASH 0 1",
                // All have listed to another coordinator, and the first one does not know.
                "D9_OLD_EPOCH_OBEYED | APART 1 1 1"
                        + " | REQUEST 1, HASTY 2, LAND 2, HEAR 2, LINK 0, LINK 1, LINK 2",
                // A coordinator keeps a version that is not in the decision, and can die.
                "D10_REPORTED_BEFORE_PASSED | INWARD 1 2 0 0 0 0 0 0 1"
                        + " | REQUEST 1, DELIVER 0 1, SEAL 1, FORCE 1, UP 1, SEAL 0, FORCE 0,"
                        + " CRASH 1 1, LINK 1, LAND 0, HEAR 0, DOWN 0, DOWN 0",
                // A version is dropped that is on disk.
                "D10_PASSED_NOT_READ | INWARD 1 2"
                        + " | REQUEST 1, DELIVER 0 1, SEAL 0, CRASH 1 0, LINK 1, LAND 0, HEAR 0,"
                        + " DOWN 0, FORCE 0",
                // One is cut off; what it depends on was lost, and its number has come again.
                "D11_COMPARED_AFTER_A_MISS | APART 1 2 0 1"
                        + " | REQUEST 1, DELIVER 2 1, CUT 2, CRASH 1 0, LINK 1, LAND 0, HEAR 0,"
                        + " DOWN 1, FORCE 1, REQUEST 1, SEAL 1, UP 1",
                // The same, and the member that lost it has left.
                "D11_LEFT_FOR_CUT | APART 1 1 0 0 0 0 1"
                        + " | REQUEST 1, DELIVER 2 1, CRASH 1 0, LINK 1, LAND 0, DOWN 1, FORCE 1,"
                        + " REQUEST 1, SEAL 1, UP 1, LEAVE 1, UP 1, LAND 0, DOWN 1",
                // One has left, is back, and sends a message that it can lose.
                "D13_NOTE_STAYS | APART 1 1 0 0 0 0 1"
                        + " | LEAVE 1, UP 1, LAND 0, HEAR 0, DOWN 1, RETURN 1, LINK 1, LAND 0,"
                        + " HEAR 0, DOWN 1, REQUEST 1, DELIVER 2 1",
            })
    void eachRuleIsMissedFrom(Broken broken, String size, String from) {
        isMissed(broken, size, from);
    }

    private static void isMissed(Broken broken, String size, String from) {
        Found found = explore(size, broken, from, MOST_STATES);
        assertThat(found.violation()).isNotNull().isNotEqualTo(GroupExplorer.MORE_STATES);
    }

    @Test
    void eachRuleHasItsTest() {
        assertThat(Broken.values()).hasSize(1 + 14 + 7);
    }
}
