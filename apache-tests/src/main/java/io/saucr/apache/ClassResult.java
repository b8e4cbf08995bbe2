package io.saucr.apache;

import io.saucr.apache.fork.Activity;
import io.saucr.apache.fork.TestResult;
import io.saucr.apache.fork.TestResult.State;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What came of one class in one column. Immutable.
 *
 * @param testClass the full name
 * @param millis how long its JVM ran, all attempts together
 */
record ClassResult(
        String testClass, Column column, long millis, List<TestResult> tests, Activity activity) {

    ClassResult {
        tests = List.copyOf(tests);
    }

    /** Whether nothing in it shows an error. */
    boolean good() {
        return tests.stream().noneMatch(test -> test.state().bad());
    }

    /**
     * This attempt and the next one together: what failed and then passed is flaky; what concerned
     * the class as a whole counts only if the next attempt says so again.
     */
    ClassResult then(ClassResult next) {
        Map<String, TestResult> merged = new LinkedHashMap<>();
        next.tests.forEach(test -> merged.put(test.test(), test));
        for (TestResult before : tests) {
            TestResult after = merged.get(before.test());
            if (after == null) {
                if (!before.test().equals(TestResult.WHOLE_CLASS)) {
                    merged.put(before.test(), before);
                }
            } else if (before.state().bad() != after.state().bad()) {
                TestResult failure = before.state().bad() ? before : after;
                merged.put(
                        before.test(),
                        new TestResult(
                                before.test(), State.FLAKY, failure.millis(), failure.detail()));
            }
        }
        return new ClassResult(
                testClass,
                column,
                millis + next.millis,
                new ArrayList<>(merged.values()),
                activity.plus(next.activity));
    }
}
