package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How many lines senders of garbage get in the log. */
class LogRateLimiterTest {
    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);
    private static final long START = Long.MAX_VALUE - MINUTE; // A monotonic clock may overflow.

    private final LogRateLimiter refused = new LogRateLimiter();

    @Test
    void theFirstOneIsToldThenOneLineAMinuteWithTheNumberSince() {
        assertThat(refused.refused(3, START)).isEqualTo(1);
        for (int i = 1; i < 1000; i++) {
            assertThat(refused.refused(3, START + i * (MINUTE / 1000))).isZero();
        }
        assertThat(refused.refused(3, START + MINUTE)).isEqualTo(1000);
        assertThat(refused.refused(3, START + MINUTE + 1)).isZero();
        assertThat(refused.refused(3, START + 3 * MINUTE)).isEqualTo(2);
    }

    @Test
    void everySenderHasALineOfItsOwnButNoEndOfThem() {
        long lines = 0;
        for (long sid = 0; sid < 100_000; sid++) {
            lines += refused.refused(sid, START) > 0 ? 1 : 0;
        }
        assertThat(lines).isEqualTo(65);
        assertThat(refused.refused(7, START + MINUTE)).isEqualTo(1);
        assertThat(refused.refused(70_000, START + MINUTE)).isEqualTo(100_000 - 64);
    }
}
