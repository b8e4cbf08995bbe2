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
 * overdue, leaves, files, slow, early, given up.
 */
class GroupModelTest {

    private static final int MOST_STATES = 150_000;

    private static Found explore(String size, Broken broken, String from, int mostStates) {
        return new GroupExplorer(mostStates)
                .explore(new Group(GroupSize.parse(size), broken).after(from));
    }

    /** One failure, and two of a group in which one member sends to another. */
    @ParameterizedTest
    @CsvSource({
        "APART 1 1, 1269",
        "INWARD 1 1, 1190",
        "ECHO 1 1, 4062",
        "CALLS 1 1, 5342",
        "APART 1 1 0 1, 4671",
        "APART 1 0 0 0 0 0 1, 774",
        "APART 1 1 0 0 0 0 0 0 0 1, 4100",
        "APART 1 2, 70887",
        "APART 1 0 0 0 0 0 0 0 0 0 1, 2041",
        "INWARD 1 0 0 0 0 0 0 0 0 0 1, 1933",
    })
    void nothingThatIsFinalIsUndone(String size, int states) {
        nothingIsUndone(size, Broken.NOTHING, states);
    }

    /** Also with a change of coordinator at each point, without a failure of the first one. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({
        "CHAIN 1 1, 16864",
        "ONE_WAY 1 1, 9186",
        "EXCHANGE 1 1, 53427",
        "APART 2 1, 20883",
        "INWARD 1 2, 68244",
        "APART 1 1 1, 58985",
        "APART 1 0 1 0 0 0 1, 39074",
        "APART 1 1 0 0 0 0 0 0 0 0 1, 117356",
        "INWARD 1 1 0 0 0 0 0 0 0 0 1, 109163",
        "APART 1 0 0 0 0 0 1 0 0 0 1, 95254",
    })
    void nothingThatIsFinalIsUndoneInLargerGroups(String size, int states) {
        nothingIsUndone(size, Broken.NOTHING, states);
    }

    /**
     * A message of a higher world is dropped to save work alone. Its version is above the cut of
     * each decision in between, as numbers go on behind the cut, so what took it is dropped by
     * these, and cannot be final before.
     */
    @ParameterizedTest
    @CsvSource({"APART 1 1, 1291"})
    void d4AMessageOfAHigherWorldUndoesNothingThatIsFinal(String size, int states) {
        nothingIsUndone(size, Broken.D4_HIGHER_WORLD_TAKEN, states);
    }

    private static void nothingIsUndone(String size, Broken broken, int states) {
        Found found = explore(size, broken, "", 10 * states);
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
        "D9_OLD_EPOCH_OBEYED, APART 1 1 1",
        "D10_REPORTED_BEFORE_PASSED, INWARD 1 2 0 0 0 0 0 0 1",
        "D10_PASSED_NOT_READ, INWARD 1 2",
        "D11_KEPT_ALL, APART 1 1",
        "D11_KEPT_NONE, APART 1 1",
        "D11_BOUNDARY_FOR_CUT, APART 1 1 0 1",
        "D12_SPECULATIVE_COMPARED, APART 1 1",
        "D12_ANSWER_IS_AN_ACK, ECHO 1 1",
        "D13_START_TRUSTED, APART 1 1",
        "D13_NOTE_STAYS, APART 1 0 0 0 0 0 1",
        "D17_NUMBER_ALONE, CALLS 1 1",
        "D18_NO_DEPENDENCY, APART 1 1 0 0 0 0 0 0 0 1",
        "D19_LOSS_KEPT, APART 1 0 0 0 0 0 0 0 0 0 1",
    })
    void eachBrokenRuleIsNoticed(Broken broken, String size) {
        isMissed(broken, size, "");
    }

    /** The same in searches that take longer. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({
        "D11_COMPARED_AFTER_A_MISS, APART 1 2 0 1",
        "D17_RESULT_LOST, CALLS 2 1",
    })
    void eachBrokenRuleIsNoticedInLargerGroups(Broken broken, String size) {
        isMissed(broken, size, "");
    }

    /** From a state on the way, where the whole way takes too many states for a test. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // One is cut off; what it depends on was lost, and its number has come again.
                "D11_COMPARED_AFTER_A_MISS | APART 1 2 0 1"
                        + " | REQUEST 1, DELIVER 2 1, CUT 2, CRASH 1 0, LINK 1, LAND 0, HEAR 0,"
                        + " DOWN 1, FORCE 1, REQUEST 1, SEAL 1, UP 1",
                // The same, and the member that lost it has left.
                "D11_LEFT_FOR_CUT | APART 1 1 0 0 0 0 1"
                        + " | REQUEST 1, DELIVER 2 1, CRASH 1 0, LINK 1, LAND 0, DOWN 1, FORCE 1,"
                        + " REQUEST 1, SEAL 1, UP 1, LEAVE 1, UP 1, LAND 0, DOWN 1",
                // A call returns and its result is undone, and not the turn that made the call.
                "D17_RESULT_LOST | CALLS 2 1"
                        + " | REQUEST 1, SEAL 1, DELIVER 2 1, SEAL 2, REQUEST 1, DELIVER 2 1,"
                        + " RESULT 2 0",
                // The lost one announced to one that left, and not to one that is cut off.
                "D19_LEFT_NOT_NOTED | CHAIN 1 0 0 1 0 0 1 0 0 0 1"
                        + " | REQUEST 0, DELIVER 1 0, DELIVER 2 1, SEAL 1, UP 1, CUT 1, SEAL 2, UP 2,"
                        + " SEAL 0, UP 0, LEAVE 2, UP 2, LAND 0, DOWN 2, GIVE_UP 0",
                // The third one never hears that the second one's version is final.
                "D19_START_REMEMBERS | INWARD 1 1 0 1 0 0 0 0 0 0 1 | CUT 2, REQUEST 1, DELIVER 0 1",
            })
    void eachBrokenRuleIsNoticedFrom(Broken broken, String size, String from) {
        isMissed(broken, size, from);
    }

    private static void isMissed(Broken broken, String size, String from) {
        Found found = explore(size, broken, from, 2 * MOST_STATES);
        assertThat(found.violation()).isNotNull().isNotEqualTo(GroupExplorer.MORE_STATES);
    }

    @Test
    void eachRuleHasItsTest() {
        assertThat(Broken.values()).hasSize(1 + 1 + 23 + 5);
    }
}
