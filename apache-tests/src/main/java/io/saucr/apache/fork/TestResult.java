package io.saucr.apache.fork;

/**
 * What came of one test of one class.
 *
 * @param test the method and, of a repeated or parameterized test, which of its runs; {@link
 *     #WHOLE_CLASS} for what concerns the class
 * @param millis how long it ran
 * @param detail stack trace or reason, empty if it passed
 */
public record TestResult(String test, State state, long millis, String detail) {
    /** Stands for the class where no single test is to blame. */
    public static final String WHOLE_CLASS = "(class)";

    /** How it ended, from good to bad. */
    public enum State {
        PASSED,
        /** Failed, and passed when the class was run once more. */
        FLAKY,
        /** Disabled by ZooKeeper. */
        SKIPPED,
        /** An assumption of the test does not hold on this machine. */
        ABORTED,
        FAILED,
        /** The class did not end in its time and its JVM was killed. */
        TIMED_OUT,
        /** The JVM ended before the class did. */
        CRASHED;

        /** Whether the test did what it should. */
        public boolean good() {
            return this == PASSED || this == FLAKY;
        }

        /** Whether it shows an error. */
        public boolean bad() {
            return this == FAILED || this == TIMED_OUT || this == CRASHED;
        }
    }
}
