package io.saucr.core.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuorumsTest {

    @ParameterizedTest(name = "{0} voters")
    @CsvSource({
        "1, 1, 2, 1, 1",
        "2, 2, 3, 1, 1",
        "3, 2, 3, 1, 2",
        "4, 3, 4, 1, 2",
        "5, 3, 4, 2, 3",
        "6, 4, 5, 2, 3",
        "7, 4, 5, 3, 4"
    })
    void howManyAreEnough(int n, int bare, int fast, int recovery, int lostDisk) {
        assertThat(Quorums.bareMajority(n)).isEqualTo(bare);
        assertThat(Quorums.fastQuorum(n)).isEqualTo(fast);
        assertThat(Quorums.recoveryQuorum(n)).isEqualTo(recovery);
        assertThat(Quorums.lostDiskQuorum(n)).isEqualTo(lostDisk);
    }

    /**
     * With all voters in the view it is the recovery quorum; with a bare majority one is enough.
     */
    @ParameterizedTest(name = "{0} members of {1} voters")
    @CsvSource({
        "3, 3, 1", "2, 3, 1", "4, 4, 1", "3, 4, 1", "5, 5, 2", "4, 5, 1", "3, 5, 1", "6, 6, 2",
        "7, 7, 3", "6, 7, 2", "5, 7, 1", "4, 7, 1"
    })
    void r23HowManyMembersOfAViewAreEnough(int members, int n, int enough) {
        assertThat(Quorums.viewQuorum(members, n)).isEqualTo(enough);
    }

    /**
     * R23: F - 1 other members acked what counted a member's memory ack, so any so many of the
     * other members include one of these; and one fewer might miss all of them.
     */
    @Test
    void r23AnAnswerComesFromAMemberThatAcked() {
        for (int n = 3; n <= Configuration.MAX_VOTERS; n++) {
            for (int members = Quorums.fastQuorum(n); members <= n; members++) {
                int others = members - 1;
                int acked = Quorums.fastQuorum(n) - 1;
                int enough = Quorums.viewQuorum(members, n);
                assertThat(acked + enough).as(members + " of " + n).isEqualTo(others + 1);
            }
            assertThat(Quorums.viewQuorum(n, n)).isEqualTo(Quorums.recoveryQuorum(n));
        }
    }
}
