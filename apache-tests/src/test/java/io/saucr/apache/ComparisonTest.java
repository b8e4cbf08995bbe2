package io.saucr.apache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.apache.Comparison.Row;
import io.saucr.apache.Comparison.Verdict;
import io.saucr.apache.fork.Activity;
import io.saucr.apache.fork.TestResult;
import io.saucr.apache.fork.TestResult.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the three columns say together. */
class ComparisonTest {
    private static final String CLASS = "org.apache.zookeeper.test.QuorumTest";
    private static final Exclusions NONE = Exclusions.parse("");

    private final List<ClassResult> results = new ArrayList<>();

    private ClassResult result(Column column, TestResult... tests) {
        return new ClassResult(CLASS, column, 1, Arrays.asList(tests), new Activity(3, 2, 1));
    }

    private static TestResult test(String name, State state) {
        return new TestResult(name, state, 1, state.bad() ? "it broke\n\tat somewhere" : "");
    }

    private void columns(State stock, State off, State on) {
        results.add(result(Column.STOCK, test("testIt", stock)));
        results.add(result(Column.OFF, test("testIt", off)));
        results.add(result(Column.ON, test("testIt", on)));
    }

    private Verdict verdict(Exclusions exclusions) {
        return Comparison.of(results, exclusions).rows().get(0).verdict();
    }

    @Test
    void aTestThatOnlyFailsOnOursDiffers() {
        columns(State.PASSED, State.FAILED, State.PASSED);
        assertThat(verdict(NONE)).isEqualTo(Verdict.DIFFERS);
    }

    @Test
    void aTestThatOursDoesNotRunDiffers() {
        columns(State.PASSED, State.PASSED, State.ABORTED);
        assertThat(verdict(NONE)).isEqualTo(Verdict.DIFFERS);
    }

    @Test
    void aFlakyTestIsNoDifference() {
        columns(State.PASSED, State.PASSED, State.FLAKY);
        assertThat(verdict(NONE)).isEqualTo(Verdict.SAME);
    }

    @Test
    void aReasonExcusesWithSaucrOnOnly() {
        Exclusions reason = Exclusions.parse("on " + CLASS + "#testIt counts log forces\n");
        columns(State.PASSED, State.PASSED, State.FAILED);
        assertThat(verdict(reason)).isEqualTo(Verdict.DIFFERS_WITH_REASON);
        assertThat(Comparison.of(results, reason).rows().get(0).note())
                .isEqualTo("counts log forces");

        results.clear();
        columns(State.PASSED, State.FAILED, State.FAILED);
        assertThat(verdict(reason)).isEqualTo(Verdict.DIFFERS);
    }

    @Test
    void whatFailsOnStockIsNotOurs() {
        columns(State.FAILED, State.FAILED, State.TIMED_OUT);
        assertThat(verdict(NONE)).isEqualTo(Verdict.FAILS_EVERYWHERE);
    }

    @Test
    void aClassThatDiesLosesTheTestsThatItDidNotReach() {
        results.add(result(Column.STOCK, test("testA", State.PASSED), test("testB", State.PASSED)));
        results.add(result(Column.OFF, test("testA", State.PASSED), test("testB", State.PASSED)));
        results.add(
                result(
                        Column.ON,
                        test("testA", State.PASSED),
                        test(TestResult.WHOLE_CLASS, State.TIMED_OUT)));
        Comparison comparison = Comparison.of(results, NONE);
        assertThat(comparison.rows())
                .filteredOn(row -> row.verdict() == Verdict.DIFFERS)
                .extracting(Row::test)
                .containsExactly(TestResult.WHOLE_CLASS, "testB");
        assertThat(comparison.rows().get(0).verdict()).isEqualTo(Verdict.DIFFERS);
    }

    @Test
    void aColumnThatWasNotRunSaysNothing() {
        results.add(result(Column.STOCK, test("testIt", State.PASSED)));
        assertThat(verdict(NONE)).isEqualTo(Verdict.INCOMPLETE);
    }

    @Test
    void theReportsShowDifferencesFirstAndWhatSaucrDid() throws Exception {
        columns(State.PASSED, State.PASSED, State.FAILED);
        Comparison comparison = Comparison.of(results, NONE);
        assertThat(comparison.text())
                .contains("9 servers, 6 fast commits, 3 slow commits")
                .contains("DIFFERS " + CLASS + "#testIt")
                .contains("it broke");
        assertThat(comparison.html()).contains("<td class=\"FAILED\">FAILED");
        assertThat(comparison.json()).contains("\"verdict\" : \"DIFFERS\"");
    }

    @Test
    void aFailureThatDoesNotComeBackIsFlaky() {
        ClassResult first =
                result(Column.ON, test("testA", State.FAILED), test("testB", State.PASSED));
        ClassResult second =
                result(Column.ON, test("testA", State.PASSED), test("testB", State.PASSED));
        assertThat(first.then(second).tests())
                .extracting(TestResult::state)
                .containsExactly(State.FLAKY, State.PASSED);
        assertThat(first.then(first).tests())
                .extracting(TestResult::state)
                .containsExactly(State.FAILED, State.PASSED);
    }

    @Test
    void exclusionsNameScopeClassAndReason() {
        Exclusions exclusions =
                Exclusions.parse(
                        "# why\n\nall a.BTest no file\nall a.CTest#testX no certificate\n"
                                + "on a.CTest#testY counts proposals\non a.DTest counts zxids");
        assertThat(exclusions.excludesClass("a.BTest")).isTrue();
        assertThat(exclusions.excludesClass("a.CTest")).isFalse();
        assertThat(exclusions.excludedMethods("a.CTest")).containsExactly("testX");
        assertThat(exclusions.differingMethods("a.CTest")).containsExactly("testY");
        assertThat(exclusions.differingMethods("a.DTest")).isEmpty(); // the whole class may
        assertThat(exclusions.reasonToDiffer("a.CTest", "testX")).isEmpty();
        assertThatThrownBy(() -> Exclusions.parse("all a.BTest"))
                .hasMessageContaining("all a.BTest");
    }

    @Test
    void theProjectsOwnExclusionsCanBeRead() throws Exception {
        assertThat(Exclusions.ofThisProject().list())
                .allSatisfy(exclusion -> assertThat(exclusion.reason()).isNotBlank());
    }
}
