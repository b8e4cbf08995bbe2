package io.saucr.server.requests;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.server.metrics.StageMetrics;
import java.util.List;
import org.junit.jupiter.api.Test;

class AckTimesTest {
    private static final long EPOCH = 5L << 32;
    private static final long MILLI = 1_000_000;

    private final AckTimes acks = new AckTimes(new StageMetrics());

    private List<Long> servers(long zxid) {
        return acks.of(zxid).stream().map(AckTimes.Ack::server).toList();
    }

    @Test
    void acknowledgementsAreInTheOrderOfTheirTimes() {
        acks.proposed(EPOCH + 1, Long.MAX_VALUE - MILLI);
        acks.acked(3, EPOCH + 1, Long.MAX_VALUE - MILLI + 2);
        acks.acked(1, EPOCH + 1, Long.MAX_VALUE - MILLI + 1);
        acks.acked(9, EPOCH + 1, Long.MIN_VALUE + 4 * MILLI);
        acks.acked(9, EPOCH + 1, Long.MIN_VALUE + 9 * MILLI);
        assertThat(servers(EPOCH + 1)).containsExactly(1L, 3L, 9L);
        assertThat(acks.of(EPOCH + 1).get(2).millis()).isEqualTo(5);
        assertThat(acks.sinceProposal(EPOCH + 1, Long.MIN_VALUE)).isEqualTo(MILLI + 1);
    }

    @Test
    void anotherWriteHasNoneOfThem() {
        acks.proposed(EPOCH + 1, 0);
        acks.acked(1, EPOCH + 1, 1);
        acks.proposed(EPOCH + 1 + AckTimes.PROPOSALS, 0);
        assertThat(servers(EPOCH + 1)).isEmpty();
        assertThat(servers(EPOCH + 1 + AckTimes.PROPOSALS)).isEmpty();
        acks.acked(1, EPOCH + 1, 2);
        assertThat(servers(EPOCH + 1 + AckTimes.PROPOSALS)).isEmpty();
        assertThat(acks.sinceProposal(EPOCH + 1, 2)).isEqualTo(-1);
        acks.committed(EPOCH + 1, 2);
    }

    @Test
    void serversBeyondTheTableAreNotListed() {
        acks.proposed(EPOCH + 1, 0);
        for (int sid = 1; sid <= AckTimes.SERVERS + 3; sid++) {
            acks.acked(sid, EPOCH + 1, sid);
        }
        assertThat(servers(EPOCH + 1)).hasSize(AckTimes.SERVERS).startsWith(1L, 2L);
    }
}
