package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.replay.Requests.Verdict;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which messages begin. */
class RequestsTest {

    @Test
    void x1AChannelHasOneOpenRequest() {
        Requests requests = new Requests(2);
        requests.begin(1, 1, 7, 1);
        assertThat(requests.offer(7, 2)).isEqualTo(Verdict.NOT_ITS_TIME);
        assertThat(requests.offer(8, 2)).isEqualTo(Verdict.NOT_ITS_TIME);
        assertThat(requests.offer(8, 1)).isEqualTo(Verdict.BEGIN);
        requests.begin(2, 2, 8, 1);
        assertThat(requests.offer(9, 1)).isEqualTo(Verdict.NO_LANE);
        requests.end(1);
        assertThat(requests.idleLane()).isEqualTo(1);
        assertThat(requests.offer(7, 2)).isEqualTo(Verdict.BEGIN);
    }

    @Test
    void x10WhatIsOpenOrWasConsumedDoesNotBeginAgain() {
        Requests requests = new Requests(2, Map.of(7L, 4L), 10);
        assertThat(requests.offer(7, 4)).isEqualTo(Verdict.CONSUMED);
        requests.begin(11, 1, 7, 5);
        assertThat(requests.offer(7, 5)).isEqualTo(Verdict.OPEN);
        assertThatThrownBy(() -> requests.begin(12, 2, 7, 5))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("request 12 (number 5 of sender 7) can not begin in lane 2");
        requests.end(11);
        assertThat(requests.offer(7, 5)).isEqualTo(Verdict.CONSUMED);
    }

    @Test
    void x1TheNextNumberOfAChannelIsBehindTheOneThatIsOpen() {
        Requests requests = new Requests(2, Map.of(7L, 4L), 10);
        assertThat(requests.nextNumber(7)).isEqualTo(5);
        assertThat(requests.nextNumber(8)).isEqualTo(1);
        requests.begin(11, 1, 7, 5);
        requests.begin(12, 2, 8, 1);
        assertThat(requests.nextNumber(7)).isEqualTo(6);
        requests.end(11);
        assertThat(requests.nextNumber(7)).isEqualTo(6);
        assertThat(requests.open(11)).isNull();
        assertThat(requests.open(12).sender()).isEqualTo(8);
        assertThat(requests.offer(8, 1)).isEqualTo(Verdict.OPEN);
    }

    @Test
    void lanesAreLimited() {
        for (int lanes : new int[] {0, 65}) {
            assertThatThrownBy(() -> new Requests(lanes))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("1 to 64 lanes, not " + lanes);
        }
        assertThatThrownBy(() -> Resource.lock(65_536))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("from 0 to 65535, not 65536");
    }
}
