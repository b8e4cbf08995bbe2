package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When requests begin, when all are to end, and what becomes of a member that differs. */
class FlowTest {

    @Test
    void x16BeginsStopAtEightMegabytesOrASecond() {
        assertThat(FlowControl.mayBegin((8 << 20) - 1, 1000)).isTrue();
        assertThat(FlowControl.mayBegin(8 << 20, 0)).isFalse();
        assertThat(FlowControl.mayBegin(0, 1001)).isFalse();
        assertThat(FlowControl.isWarm(1000)).isTrue();
        assertThat(FlowControl.isWarm(1001)).isFalse();
        assertThat(FlowControl.loadsSnapshot(1)).isFalse();
        assertThat(FlowControl.loadsSnapshot(2)).isTrue();
    }

    @Test
    void x13BeginsStopForAQuietCutAndResumeAfterASecond() {
        QuietCuts cuts = new QuietCuts(0);
        assertThat(cuts.mayBegin(1_000_000)).as("nothing happened").isTrue();
        cuts.recorded(1);
        assertThat(cuts.mayBegin(59_999)).isTrue();
        assertThat(cuts.mayBegin(60_000)).isFalse();
        assertThat(cuts.drains()).isTrue();
        assertThat(cuts.mayBegin(60_999)).isFalse();
        assertThat(cuts.mayBegin(61_000)).isTrue();
        assertThat(cuts.mayBegin(61_999)).isTrue();
        // Again after a second, then after two more, and so on.
        assertThat(cuts.mayBegin(62_000)).isFalse();
        assertThat(cuts.mayBegin(63_000)).isTrue();
        assertThat(cuts.mayBegin(64_999)).isTrue();
        assertThat(cuts.mayBegin(65_000)).isFalse();
        cuts.cutQuietly(65_500);
        assertThat(cuts.mayBegin(65_500)).isTrue();
        cuts.recorded(QuietCuts.BYTES - 1);
        assertThat(cuts.mayBegin(65_600)).isTrue();
        cuts.recorded(1);
        assertThat(cuts.mayBegin(65_600)).isFalse();
    }

    @Test
    void x13AQuietCutThatIsAskedForIsDueAtOnce() {
        QuietCuts cuts = new QuietCuts(0);
        assertThat(cuts.mayBegin(1)).isTrue();
        cuts.ask();
        assertThat(cuts.mayBegin(1)).isFalse();
        assertThat(cuts.mayBegin(1_001)).isTrue();
        assertThat(cuts.mayBegin(2_001)).as("it is due until there is one").isFalse();
        cuts.cutQuietly(2_500);
        assertThat(cuts.mayBegin(100_000)).isTrue();
    }

    @Test
    void x14AMemberThatDiffersOnlyStoresUntilASnapshotHasTheRequest() {
        Quarantine quarantine = new Quarantine();
        assertThat(quarantine.isOver()).isTrue();
        assertThat(quarantine.asks(100)).isFalse();
        quarantine.diverged("request 5", 7, 100);
        assertThat(quarantine.isOver()).isFalse();
        assertThat(quarantine.difference()).isEqualTo("request 5");
        assertThat(quarantine.asks(100)).isTrue();
        assertThat(quarantine.asks(1_099)).isFalse();
        assertThat(quarantine.asks(1_100)).isTrue();
        quarantine.loaded(6);
        assertThat(quarantine.isOver()).as("the request is replayed again").isFalse();
        quarantine.loaded(7);
        assertThat(quarantine.isOver()).isTrue();
        assertThat(quarantine.asks(10_000)).isFalse();
        assertThat(quarantine.count()).isEqualTo(1);
    }

    @Test
    void x14AMemberThatDiffersAgainAndAgainAsksLater() {
        Quarantine quarantine = new Quarantine();
        quarantine.diverged("request 5", 7, 0);
        quarantine.loaded(8);
        quarantine.diverged("request 9", 12, 0);
        assertThat(quarantine.from()).isEqualTo(12);
        assertThat(quarantine.asks(999)).isFalse();
        assertThat(quarantine.asks(1_000)).isTrue();
        for (int times = 3; times < 20; times++) {
            quarantine.loaded(12);
            quarantine.diverged("request 13", 12, 0);
        }
        assertThat(quarantine.asks(59_999)).isFalse();
        assertThat(quarantine.asks(60_000)).isTrue();
        assertThat(quarantine.count()).isEqualTo(19);
    }
}
