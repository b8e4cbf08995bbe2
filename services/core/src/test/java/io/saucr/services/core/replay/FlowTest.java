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
    }

    @Test
    void x16TheFastestFollowerHoldsRequestsBack() {
        FlowControl flow = new FlowControl(0);
        assertThat(flow.fastestMillisBehind(0)).as("alone").isZero();
        flow.named(1, 100);
        flow.replayed("fast", 1, 150);
        flow.replayed("slow", 1, 150);
        assertThat(flow.fastestMillisBehind(10_000)).as("nothing to replay").isZero();
        flow.named(2, 10_000);
        flow.named(3, 10_500);
        assertThat(flow.fastestMillisBehind(10_600)).isEqualTo(600);
        flow.replayed("fast", 2, 11_000);
        assertThat(flow.fastestMillisBehind(11_000)).isEqualTo(500);
        flow.replayed("fast", 3, 11_100);
        assertThat(flow.fastestMillisBehind(60_000)).as("the other one is slow").isZero();
        flow.silent("fast");
        assertThat(flow.fastestMillisBehind(60_000)).isEqualTo(50_000);
        flow.silent("slow");
        assertThat(flow.fastestMillisBehind(60_000)).isZero();
    }

    /** The head named segments 1 to 5, one each second. */
    private static FlowControl fiveNamed() {
        FlowControl flow = new FlowControl(0);
        for (long segment = 1; segment <= 5; segment++) {
            flow.named(segment, 1_000 * segment);
        }
        return flow;
    }

    @Test
    void x16AFollowerThatCatchesUpOrReplaysNothingHoldsNothingBack() {
        FlowControl flow = fiveNamed();
        flow.replayed("new", 1, 9_000);
        assertThat(flow.fastestMillisBehind(9_000)).as("it was never warm").isZero();
        flow.replayed("new", 5, 9_100);
        flow.named(6, 9_200);
        assertThat(flow.fastestMillisBehind(9_700)).isEqualTo(500);
        flow.replayed("new", 0, 9_800);
        assertThat(flow.fastestMillisBehind(20_000)).as("its state differs").isZero();
    }

    @Test
    void x16AFollowerThatIsFarBehindDoesNotCountThoughTimesAreForgotten() {
        FlowControl flow = fiveNamed();
        flow.replayed("fast", 5, 5_000);
        flow.replayed("slow", 1, 5_000);
        flow.silent("fast");
        flow.named(6, 9_000);
        assertThat(flow.fastestMillisBehind(60_000)).as("it was never warm").isZero();
        flow.replayed("slow", 4, 60_000);
        assertThat(flow.fastestMillisBehind(60_000)).isZero();
        flow.replayed("slow", 6, 60_000);
        flow.named(7, 60_000);
        assertThat(flow.fastestMillisBehind(60_500)).as("it has caught up").isEqualTo(500);
    }

    @Test
    void x16ANewPrimaryCountsFollowersThatHaveReplayedWhatWasNamedBefore() {
        FlowControl flow = new FlowControl(10);
        flow.named(11, 1_000);
        flow.replayed("far", 3, 1_100);
        assertThat(flow.fastestMillisBehind(60_000)).as("nobody knows how far").isZero();
        flow.replayed("near", 10, 1_100);
        assertThat(flow.fastestMillisBehind(1_500)).isEqualTo(500);
    }

    @Test
    void x16SegmentsThatAreRememberedAreBounded() {
        FlowControl flow = new FlowControl(0);
        flow.named(1, 0);
        flow.replayed("stuck", 1, 0);
        for (long segment = 2; segment <= FlowControl.MOST_NAMED + 10; segment++) {
            flow.named(segment, segment);
        }
        assertThat(flow.fastestMillisBehind(FlowControl.MOST_NAMED + 5_000))
                .isEqualTo(FlowControl.MOST_NAMED + 5_000 - 11);
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
