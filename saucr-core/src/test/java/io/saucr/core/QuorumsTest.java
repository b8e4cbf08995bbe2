package io.saucr.core;

import static org.assertj.core.api.Assertions.assertThat;

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
}
