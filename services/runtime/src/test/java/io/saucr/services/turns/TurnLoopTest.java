package io.saucr.services.turns;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Finals;
import io.saucr.services.journal.DeadJournalException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What happens on a service's thread, and in which order. */
class TurnLoopTest {

    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger turnsLeft = new AtomicInteger();
    private final AtomicLong wake = new AtomicLong(Long.MAX_VALUE);
    private final AtomicLong nowMillis = new AtomicLong(1_000);
    private final AtomicReference<String> halted = new AtomicReference<>();

    private final TurnLoop.Steps steps =
            new TurnLoop.Steps() {
                @Override
                public boolean turn() {
                    if (turnsLeft.get() == 0 && nowMillis.get() < wake.get()) {
                        return false;
                    }
                    wake.set(Long.MAX_VALUE);
                    turnsLeft.updateAndGet(left -> Math.max(0, left - 1));
                    seen.add("turn");
                    return true;
                }

                @Override
                public void moved(Finals now) {
                    seen.add("final " + now.outside() + ", proven " + now.reads());
                }

                @Override
                public long waitMillis() {
                    return wake.get() - nowMillis.get();
                }
            };

    private final TurnLoop loop =
            new TurnLoop("bank", steps, why -> halted.set(why.reason() + ": " + why.cause()));

    @AfterEach
    void stop() {
        loop.stop();
    }

    /** C8. */
    @Test
    void whatIsProvenIsToldOnceAlsoWhileTheThreadSleeps() {
        loop.begin();
        loop.moved(Finals.reads(3));
        await().until(() -> seen.size() == 1);
        loop.moved(Finals.reads(3));
        loop.moved(Finals.reads(5));
        await().until(() -> seen.contains("final 0, proven 5"));
        assertThat(seen).containsExactly("final 0, proven 3", "final 0, proven 5");
    }

    @Test
    void eventsTurnsAndWhatIsFinalHappenOnOneThread() {
        loop.begin();
        AtomicReference<Thread> thread = new AtomicReference<>();
        loop.post(
                () -> {
                    thread.set(Thread.currentThread());
                    seen.add("event");
                    turnsLeft.set(2);
                });
        await().until(() -> seen.size() == 3);
        loop.moved(Finals.turns(2));
        await().until(() -> seen.size() == 4);
        assertThat(seen).containsExactly("event", "turn", "turn", "final 2, proven 0");
        assertThat(thread.get().getName()).isEqualTo("turns bank");
        assertThat(loop.backlog()).isZero();
    }

    @Test
    void aFloodOfEventsDoesNotStopTurns() {
        turnsLeft.set(1);
        for (int i = 0; i < 1_000; i++) {
            loop.post(() -> seen.add("event"));
        }
        assertThat(loop.backlog()).isEqualTo(1_000);
        loop.begin();
        await().until(() -> seen.size() == 1_001);
        assertThat(seen.indexOf("turn")).isLessThan(100);
    }

    @Test
    void aTimerWakesIt() {
        wake.set(2_000);
        loop.begin();
        await().until(() -> loop.backlog() == 0);
        assertThat(seen).isEmpty();
        nowMillis.set(2_000);
        await().untilAsserted(() -> assertThat(seen).containsExactly("turn"));
    }

    @Test
    void afterAFailedForceNothingHappens() {
        CountDownLatch failed = new CountDownLatch(1);
        CountDownLatch inEvent = new CountDownLatch(1);
        AtomicReference<Thread> thread = new AtomicReference<>();
        loop.begin();
        loop.post(
                () -> {
                    thread.set(Thread.currentThread());
                    inEvent.countDown();
                    awaitLatch(failed);
                    turnsLeft.set(1);
                });
        loop.post(() -> seen.add("event"));
        awaitLatch(inEvent);
        loop.moved(Finals.turns(7));
        loop.over(Ending.failed(new IOException("no space")));
        assertThat(halted.get()).contains("fix the disk").contains("no space");
        failed.countDown();
        await().until(() -> !thread.get().isAlive());
        assertThat(seen).isEmpty();
    }

    @Test
    void whatFailsOutsideOfHandlersHalts() {
        loop.begin();
        loop.post(
                () -> {
                    throw new IllegalStateException("impossible");
                });
        await().untilAsserted(() -> assertThat(halted.get()).contains("outside of its handlers"));
        loop.post(() -> seen.add("event"));
        loop.stop();
        assertThat(seen).isEmpty();
    }

    /** The journal is dead before whoever listens to it has heard so. */
    @Test
    void aTurnThatMeetsADeadJournalSaysWhatToMend() {
        loop.begin();
        loop.post(
                () -> {
                    throw new DeadJournalException(new IOException("no space"));
                });
        await().untilAsserted(
                        () ->
                                assertThat(halted.get())
                                        .contains("fix the disk")
                                        .contains("no space"));
    }

    @Test
    void aTurnCannotWaitForItsOwnEnd() {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        loop.begin();
        loop.post(
                () ->
                        assertThatThrownBy(loop::stop)
                                .satisfies(thrown::set)
                                .hasMessageContaining("its own end"));
        await().untilAsserted(
                        () -> assertThat(thrown.get()).isInstanceOf(IllegalStateException.class));
        assertThat(halted.get()).isNull();
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
