package io.saucr.suites;

import java.util.Map;
import java.util.TreeMap;

/**
 * What a suite found in one column. Immutable.
 *
 * @param tests each test's result, by its name
 */
record Outcome(Map<String, Result> tests) {
    /** Of one test. */
    enum Result {
        PASSED,
        FAILED,
        SKIPPED
    }

    Outcome {
        tests = new TreeMap<>(tests);
    }

    /** With the results of a later run in place of those of the same tests. */
    Outcome replacedBy(Outcome later) {
        Map<String, Result> all = new TreeMap<>(tests);
        all.putAll(later.tests);
        return new Outcome(all);
    }

    long count(Result result) {
        return tests.values().stream().filter(result::equals).count();
    }
}
