package io.saucr.services.turns;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Finals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many loops on a few threads: one thread at a time for each, and none waits for another's turn.
 */
@Timeout(60)
class SharedTurnThreadsTest {

    private final List<Partition> partitions = new ArrayList<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicReference<Ending> ending = new AtomicReference<>();

    /** What a loop runs; its fields are guarded by nothing but the loop. */
    private static final class Partition implements TurnLoop.Steps {

        final TurnLoop loop;
        final AtomicInteger inside = new AtomicInteger();
        final AtomicLong dueNanos = new AtomicLong(Long.MAX_VALUE);
        volatile int seen;
        final AtomicInteger timers = new AtomicInteger();
        volatile boolean together;
        long plain;
        Finals last = Finals.NONE;

        Partition(String name, TurnThreads threads, AtomicReference<Ending> ending) {
            loop = new TurnLoop(name, this, ending::set, threads);
        }

        private void enter() {
            if (inside.incrementAndGet() != 1) {
                together = true;
            }
        }

        void count() {
            enter();
            plain++;
            seen = (int) plain;
            inside.decrementAndGet();
        }

        @Override
        public boolean turn() {
            enter();
            boolean due = System.nanoTime() - dueNanos.get() >= 0;
            if (due) {
                dueNanos.set(Long.MAX_VALUE);
                timers.incrementAndGet();
            }
            inside.decrementAndGet();
            return due;
        }

        @Override
        public void moved(Finals now) {
            last = now;
        }

        @Override
        public long waitMillis() {
            long due = dueNanos.get();
            return due == Long.MAX_VALUE
                    ? Long.MAX_VALUE
                    : TimeUnit.NANOSECONDS.toMillis(due - System.nanoTime());
        }
    }

    private SharedTurnThreads begin(int threads, int count) {
        SharedTurnThreads shared = new SharedTurnThreads("ring", threads);
        for (int number = 0; number < count; number++) {
            Partition made = new Partition("ring." + number, shared, ending);
            partitions.add(made);
            made.loop.begin();
        }
        return shared;
    }

    @AfterEach
    void stop() {
        released.countDown();
        partitions.forEach(it -> it.loop.stop());
        assertThat(ending.get()).isNull();
    }

    private void hang(Partition where) {
        CountDownLatch hangs = new CountDownLatch(1);
        where.loop.post(
                () -> {
                    hangs.countDown();
                    awaitLatch(released);
                });
        awaitLatch(hangs);
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * K1: what was posted is run once, and by one thread at a time, which sees what the last did.
     */
    @Test
    void eventsOfManyLoopsAreRunOnceAndOneAtATime() throws Exception {
        SharedTurnThreads shared = begin(3, 16);
        List<Thread> posting = new ArrayList<>();
        for (int poster = 0; poster < 4; poster++) {
            Thread thread =
                    new Thread(
                            () -> {
                                for (int i = 0; i < 4_800; i++) {
                                    Partition to = partitions.get(i % partitions.size());
                                    to.loop.post(to::count);
                                    to.loop.moved(Finals.turns(i + 1));
                                }
                            });
            posting.add(thread);
            thread.start();
        }
        for (Thread each : posting) {
            each.join();
        }
        int each = 4 * 4_800 / 16;
        for (Partition partition : partitions) {
            await().until(() -> partition.seen == each);
            assertThat(partition.loop.backlog()).isZero();
        }
        partitions.forEach(it -> it.loop.stop());
        long newest = partitions.stream().mapToLong(it -> it.last.outside()).max().orElseThrow();
        assertThat(newest).isEqualTo(4_800);
        assertThat(partitions).noneMatch(it -> it.together);
        assertThat(shared.threads()).isLessThanOrEqualTo(3);
    }

    /** K8 of each partition alone: a turn that does not end holds up no other. */
    @Test
    void turnsThatHangHoldUpNoOtherLoop() {
        SharedTurnThreads shared = begin(2, 6);
        for (int number = 0; number < 4; number++) {
            hang(partitions.get(number));
        }
        for (int i = 1; i <= 3; i++) {
            int times = i;
            for (Partition prompt : partitions.subList(4, 6)) {
                prompt.loop.post(prompt::count);
                await().until(() -> prompt.seen == times);
            }
        }
        assertThat(shared.threads()).isBetween(5, 6);
        Partition hung = partitions.get(0);
        assertThat(hung.loop.stop(Duration.ofMillis(50))).isFalse();
        assertThat(System.nanoTime() - hung.loop.stepSinceNanos())
                .isGreaterThan(Duration.ofMillis(50).toNanos());
        released.countDown();
        await().until(() -> hung.loop.stop(Duration.ZERO));
        await().until(() -> shared.threads() == 2);
    }

    @Test
    void aTimerWakesALoopAlsoWhileAllThreadsHang() {
        SharedTurnThreads unused = begin(1, 2);
        Partition timed = partitions.get(1);
        timed.loop.post(
                () -> timed.dueNanos.set(System.nanoTime() + Duration.ofMillis(30).toNanos()));
        hang(partitions.get(0));
        await().until(() -> timed.timers.get() == 1);
        // One that is due sooner than what the loop waits for.
        timed.loop.post(
                () -> timed.dueNanos.set(System.nanoTime() + Duration.ofMillis(500).toNanos()));
        timed.loop.post(
                () -> timed.dueNanos.set(System.nanoTime() + Duration.ofMillis(5).toNanos()));
        await().until(() -> timed.timers.get() >= 2);
    }

    /** A loop that always has something to run does not keep the only thread. */
    @Test
    void aBusyLoopLetsOthersRun() {
        SharedTurnThreads shared = begin(1, 2);
        Partition busy = partitions.get(0);
        Partition other = partitions.get(1);
        AtomicReference<Runnable> again = new AtomicReference<>();
        again.set(
                () -> {
                    if (released.getCount() > 0) {
                        busy.loop.post(again.get());
                    }
                });
        busy.loop.post(again.get());
        other.loop.post(other::count);
        await().until(() -> other.seen == 1);
        assertThat(shared.threads()).isBetween(1, 2);
    }

    /** A loop that always has something to run, beside a thread that has nothing to do. */
    @Test
    void aBusyLoopWakesNoIdleThread() {
        SharedTurnThreads shared = begin(2, 2);
        Partition busy = partitions.get(0);
        AtomicLong ranNanos = new AtomicLong();
        long begin = System.nanoTime();
        AtomicReference<Runnable> again = new AtomicReference<>();
        again.set(
                () -> {
                    ranNanos.set(System.nanoTime() - begin);
                    if (released.getCount() > 0) {
                        busy.loop.post(again.get());
                    }
                });
        busy.loop.post(again.get());
        long before = shared.wakeUps();
        await().until(() -> ranNanos.get() > Duration.ofMillis(200).toNanos());
        assertThat(shared.wakeUps() - before).isLessThan(5);
        Partition other = partitions.get(1);
        other.loop.post(other::count);
        await().until(() -> other.seen == 1);
    }

    /** Each of them always has something to run. */
    @Test
    void busyLoopsShareAThread() {
        SharedTurnThreads unused = begin(1, 3);
        List<AtomicLong> ran = new ArrayList<>();
        for (Partition busy : partitions) {
            AtomicLong times = new AtomicLong();
            ran.add(times);
            AtomicReference<Runnable> again = new AtomicReference<>();
            again.set(
                    () -> {
                        times.incrementAndGet();
                        if (released.getCount() > 0) {
                            busy.loop.post(again.get());
                        }
                    });
            busy.loop.post(again.get());
        }
        List<Long> before = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            before.clear();
            ran.forEach(it -> before.add(it.get()));
            for (int i = 0; i < ran.size(); i++) {
                AtomicLong times = ran.get(i);
                long seen = before.get(i);
                await().until(() -> times.get() > seen);
            }
        }
    }

    @Test
    void allThreadsEndWithTheLastLoopAndBeginAnew() {
        SharedTurnThreads shared = begin(2, 3);
        partitions.forEach(it -> it.loop.stop());
        await().until(() -> shared.threads() == 0);
        Partition later = new Partition("ring.3", shared, ending);
        assertThat(later.loop.stop(Duration.ZERO)).isTrue();
        later = new Partition("ring.4", shared, ending);
        partitions.add(later);
        later.loop.begin();
        Partition begun = later;
        begun.loop.post(begun::count);
        await().until(() -> begun.seen == 1);
        assertThat(shared.threads()).isEqualTo(1);
    }

    /** What fails in one partition ends that one alone. */
    @Test
    void aLoopThatFailsEndsAlone() {
        SharedTurnThreads unused = begin(1, 2);
        partitions
                .get(0)
                .loop
                .post(
                        () -> {
                            throw new IllegalStateException("impossible");
                        });
        await().until(() -> ending.get() != null);
        assertThat(ending.getAndSet(null).reason()).contains("outside of its handlers");
        Partition other = partitions.get(1);
        other.loop.post(other::count);
        await().until(() -> other.seen == 1);
        assertThat(partitions.get(0).loop.stop(Duration.ZERO)).isTrue();
    }

    @Test
    void aTurnCannotWaitForItsOwnEnd() {
        SharedTurnThreads unused = begin(1, 1);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Partition one = partitions.get(0);
        one.loop.post(
                () -> {
                    try {
                        one.loop.stop();
                    } catch (IllegalStateException e) {
                        thrown.set(e);
                    }
                });
        await().until(() -> thrown.get() != null);
        assertThat(thrown.get()).hasMessageContaining("its own end");
    }

    @Test
    void thereIsAThreadAtLeast() {
        assertThatThrownBy(() -> new SharedTurnThreads("ring", 0))
                .hasMessageContaining("1 thread or more, not 0");
    }
}
