package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** R18a, H12: the number of a process in the protocol version that it announces. */
class IncarnationTest {
    private static final int APACHES = 0x10000;

    @Test
    void whatIsAnnouncedIsReadAndIsNoVersionOfApaches() {
        for (int i = 0; i < 1000; i++) {
            int drawn = Incarnation.draw();
            int version = Incarnation.announcement(drawn);
            assertThat(version).isGreaterThan(APACHES);
            assertThat(Incarnation.announcedBy(version)).isTrue();
            assertThat(Incarnation.of(version)).isEqualTo(drawn).isPositive();
        }
        assertThat(Incarnation.announcedBy(APACHES)).isFalse();
        assertThat(Incarnation.announcedBy(1)).isFalse();
    }

    @Test
    void aMillionWildVersionsAreNumbersOfProcessesOrNotOurs() {
        Random random = new Random(5);
        for (int i = 0; i < 1_000_000; i++) {
            int version = random.nextInt();
            assertThat(Incarnation.announcedBy(version)).isEqualTo(version >>> 30 == 1);
            if (Incarnation.of(version) < 0) {
                throw new AssertionError("version " + version);
            }
        }
    }
}
