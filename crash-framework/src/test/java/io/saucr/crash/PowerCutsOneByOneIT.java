package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Servers lose power one after the other. */
class PowerCutsOneByOneIT extends PowerCuts {
    /** Each server in turn, so that one of them leads; then a bare majority, then all. */
    @Test
    @Tag("quick")
    void threeServersOneByOneLeaderFirst(TestInfo test) throws Exception {
        correct(test, "--order", "leader_first", "123>12>123>13>123>23>123>1>123>->123");
    }

    @Test
    @Tag("quick")
    void threeServersOneByOneFollowersFirst(TestInfo test) throws Exception {
        correct(test, "--order", "followers_first", "123>->123");
    }

    @Tag("long")
    @Test
    void fiveServersWithTheirLogsInAFolderOfTheirOwn(TestInfo test) throws Exception {
        correct(test, "--log-folder", "--order", "leader_first", "12345>->12345");
    }

    /**
     * R23: 4 and 5 lost power in fast mode, so they lack what they acknowledged, and 3 alone knows
     * everything. It forced the seal of a view without them, so its answer is enough.
     */
    @Test
    void r23ABareMajorityOfFiveServesWhenOneOfItIsComplete(TestInfo test) throws Exception {
        String sequence = "12345>1234>123>3>345>12345";
        JsonNode outcome = correct(test, "--order", "leader_first", sequence);
        assertThat(acknowledgedBy("345", outcome)).isTrue();
    }

    /** The same with seven, three of whom lost power in fast mode. */
    @Tag("long")
    @Test
    void r23ABareMajorityOfSevenServesWhenOneOfItIsComplete(TestInfo test) throws Exception {
        String sequence = "1234567>123456>12345>1234>4>4567>1234567";
        JsonNode outcome = correct(test, "--order", "followers_first", sequence);
        assertThat(acknowledgedBy("4567", outcome)).isTrue();
    }
}
