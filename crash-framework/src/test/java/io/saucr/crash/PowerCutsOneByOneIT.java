package io.saucr.crash;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Servers lose power one after the other. */
class PowerCutsOneByOneIT extends PowerCuts {
    /** Each server in turn, so that one of them leads; then a bare majority, then all. */
    @Test
    void threeServersOneByOneLeaderFirst(TestInfo test) throws Exception {
        correct(test, "--order", "leader_first", "123>12>123>13>123>23>123>1>123>->123");
    }

    @Test
    void threeServersOneByOneFollowersFirst(TestInfo test) throws Exception {
        correct(test, "--order", "followers_first", "123>->123");
    }

    @Test
    void fiveServersWithTheirLogsInAFolderOfTheirOwn(TestInfo test) throws Exception {
        correct(test, "--log-folder", "--order", "leader_first", "12345>->12345");
    }
}
