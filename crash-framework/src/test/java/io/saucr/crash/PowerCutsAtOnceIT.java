package io.saucr.crash;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Servers lose power at one instant. */
class PowerCutsAtOnceIT extends PowerCuts {
    @Test
    void aBareMajorityOfThreeAtOnce(TestInfo test) throws Exception {
        correct(test, "--order", "simultaneous", "123>3>123>1>123");
    }

    @Tag("long")
    @Test
    void allThreeAtOnceWhenIdle(TestInfo test) throws Exception {
        correct(test, "--order", "simultaneous", "--idle", "1000", "123>->123");
    }

    @Test
    void allThreeAtOnceWhileWriting(TestInfo test) throws Exception {
        refusedUntilTheLossIsAccepted(test, "123>->123");
    }

    @Tag("long")
    @Test
    void aBareMajorityOfFiveAtOnce(TestInfo test) throws Exception {
        correct(test, "--log-folder", "--order", "simultaneous", "12345>12>12345");
    }

    @Tag("long")
    @Test
    void allFiveAtOnceWhenIdle(TestInfo test) throws Exception {
        correct(test, "--log-folder", "--order", "simultaneous", "--idle", "1000", "12345>->12345");
    }

    @Tag("long")
    @Test
    void moreThanABareMajorityOfFiveAtOnce(TestInfo test) throws Exception {
        refusedUntilTheLossIsAccepted(test, "--log-folder", "12345>1>12345");
    }
}
