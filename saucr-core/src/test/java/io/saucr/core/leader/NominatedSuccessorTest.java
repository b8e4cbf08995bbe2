package io.saucr.core.leader;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.leader.NominatedSuccessor.Verdict;
import org.junit.jupiter.api.Test;

class NominatedSuccessorTest {
    private static final long NAMED = 2;
    private static final NominatedSuccessor NAME = new NominatedSuccessor(NAMED, 9, 100);

    private static Verdict compare(
            long newSid, long newZxid, long newEpoch, long sid, long zxid, long epoch) {
        return NAME.compare(newSid, newZxid, newEpoch, sid, zxid, epoch);
    }

    @Test
    void r28AmongEqualsTheNameDecides() {
        assertThat(compare(NAMED, 7, 1, 3, 7, 1)).isEqualTo(Verdict.BETTER);
        assertThat(compare(3, 7, 1, NAMED, 7, 1)).isEqualTo(Verdict.NOT_BETTER);
        assertThat(compare(3, 7, 1, 1, 7, 1)).isEqualTo(Verdict.UNDECIDED);
        assertThat(compare(NAMED, 7, 1, NAMED, 7, 1)).isEqualTo(Verdict.UNDECIDED);
    }

    /** Whoever has more, or a newer epoch, is elected whatever the name is. */
    @Test
    void r28TheNameNeverOutweighsAnEntryOrAnEpoch() {
        for (long zxid = 6; zxid <= 8; zxid++) {
            for (long epoch = 0; epoch <= 2; epoch++) {
                if (zxid != 7 || epoch != 1) {
                    assertThat(compare(NAMED, zxid, epoch, 3, 7, 1)).isEqualTo(Verdict.UNDECIDED);
                    assertThat(compare(3, zxid, epoch, NAMED, 7, 1)).isEqualTo(Verdict.UNDECIDED);
                }
            }
        }
    }

    @Test
    void r28ANameHoldsForATime() {
        assertThat(NAME.holds(99)).isTrue();
        assertThat(NAME.holds(100)).isFalse();
    }
}
