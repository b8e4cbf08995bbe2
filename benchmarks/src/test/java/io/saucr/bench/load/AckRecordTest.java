package io.saucr.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AckRecordTest {
    /** {@link System#nanoTime} may be anything. */
    private static final long START = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(2);

    private AckRecord acks;

    @BeforeEach
    void begin() {
        acks = new AckRecord(START);
    }

    private static long at(long millis) {
        return START + TimeUnit.MILLISECONDS.toNanos(millis);
    }

    private void acknowledged(long... millis) {
        for (long each : millis) {
            acks.acknowledged(at(each));
        }
    }

    @Test
    void theLongestPauseIsBetweenTheAcknowledgementsOfAnyClients() {
        acks.begin(at(0));
        acknowledged(10, 900, 910, 1000);
        assertThat(acks.window(at(1000))).isEqualTo(new AckRecord.Window(1, 4, 0.89));
        assertThat(acks.window(at(1000)).secondsPerThousand()).isEqualTo(250);
    }

    @Test
    void aPauseThatIsStillOpenCountsAndOneThatWasOpenCountsFromItsBeginning() {
        acknowledged(100);
        acks.begin(at(200));
        acknowledged(400, 410);
        assertThat(acks.window(at(500)).longestPause()).isEqualTo(0.3);
        assertThat(acks.window(at(3410)).longestPause()).isEqualTo(3);
    }

    @Test
    void aWindowForgetsWhatWasBeforeIt() {
        acknowledged(1500, 1501);
        acks.begin(at(1501));
        acknowledged(1502, 1503);
        assertThat(acks.window(at(1503))).isEqualTo(new AckRecord.Window(0.002, 2, 0.001));
        assertThat(acks.operations()).isEqualTo(4);
        assertThat(acks.lastNanos()).isEqualTo(at(1503));
    }

    @Test
    void aWindowWithoutAnyIsAsLongAsItsOnlyPause() {
        acks.begin(at(0));
        AckRecord.Window stalled = acks.window(at(8000));
        assertThat(stalled).isEqualTo(new AckRecord.Window(8, 0, 8));
        assertThat(stalled.secondsPerThousand()).isEqualTo(8000);
    }

    @Test
    void timesAreAboveZeroAndClientsMayComeOutOfOrder() {
        acks.begin(at(0));
        acknowledged(20, 10);
        assertThat(acks.lastNanos()).isEqualTo(at(20));
        acks.begin(at(20));
        AckRecord.Window empty = acks.window(at(20));
        assertThat(empty.seconds()).isPositive();
        assertThat(empty.longestPause()).isPositive();
    }
}
