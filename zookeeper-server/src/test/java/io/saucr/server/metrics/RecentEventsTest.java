package io.saucr.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecentEventsTest {
    private final RecentEvents events = new RecentEvents();

    @Test
    void theOldestGoesFirst() {
        for (int i = 0; i < RecentEvents.MOST + 3; i++) {
            events.add("flush", "number " + i, i, 1);
        }
        assertThat(events.all()).hasSize(RecentEvents.MOST);
        assertThat(events.all().get(0).reason()).isEqualTo("number 3");
    }

    @Test
    void anEventThatHasBegunIsFinishedOnceAndOnlyIfItIsTheNewest() {
        events.finish(1);
        events.begin("slow", "a server is gone", 0x100000007L);
        assertThat(events.readable().get(0).get("micros")).isNull();
        events.finish(20);
        events.finish(30);
        assertThat(events.readable().get(0))
                .containsEntry("micros", 20L)
                .containsEntry("zxid", "0x100000007");
        events.begin("slow", "again", 8);
        events.add("fast", "all are prompt", 9, 5);
        events.finish(40);
        assertThat(events.all())
                .extracting(RecentEvents.Event::micros)
                .containsExactly(20L, -1L, 5L);
    }
}
