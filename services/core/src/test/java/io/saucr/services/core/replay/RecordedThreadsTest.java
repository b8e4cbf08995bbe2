package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.replay.LaneEvent.Kind;
import io.saucr.services.core.replay.Replay.Step;
import io.saucr.services.core.replay.Replay.What;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Real threads with real locks are recorded while another thread cuts, and are replayed. */
class RecordedThreadsTest {

    private static final int LANES = 4;
    private static final int LOCKS = 3;
    private static final int EVENTS = 5_000;

    private final List<Resource> resources =
            IntStream.range(0, LOCKS).mapToObj(Resource::lock).toList();
    private final long[] values = new long[LOCKS];
    private final List<int[]> plans =
            IntStream.rangeClosed(1, LANES).mapToObj(RecordedThreadsTest::plan).toList();

    /** Locks that a lane takes, one after the other. */
    private static int[] plan(int lane) {
        return new Random(lane).ints(EVENTS, 0, LOCKS).toArray();
    }

    private void write(int lock, int lane) {
        values[lock] = 31 * values[lock] + lane;
    }

    private void runs(RecordedLane lane, int number, List<ReentrantLock> locks) {
        for (int lock : plans.get(number - 1)) {
            locks.get(lock).lock();
            try {
                lane.happened(new LaneEvent(Kind.ACQUIRE, resources.get(lock)), 0);
                write(lock, number);
                lane.happened(new LaneEvent(Kind.RELEASE, resources.get(lock)), 0);
            } finally {
                locks.get(lock).unlock();
            }
        }
        lane.happened(new LaneEvent(Kind.END, null), 0);
    }

    private List<byte[]> recorded() throws Exception {
        Recording recording = new Replay(new Requests(LANES), resources).takeOver(5);
        List<ReentrantLock> locks =
                IntStream.range(0, LOCKS).mapToObj(it -> new ReentrantLock()).toList();
        List<byte[]> log = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        AtomicInteger running = new AtomicInteger(LANES);
        for (int lane = 1; lane <= LANES; lane++) {
            int number = lane;
            recording.begin(lane, 1, 0, 0, new byte[0]);
            RecordedLane recorded = recording.lane(lane);
            threads.add(
                    new Thread(
                            () -> {
                                try {
                                    runs(recorded, number, locks);
                                } finally {
                                    running.decrementAndGet();
                                }
                            }));
        }
        threads.forEach(Thread::start);
        while (running.get() > 0) {
            recording.cut().ifPresent(it -> log.add(TraceFormat.encode(it)));
            Thread.onSpinWait();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (long request = 1; request <= LANES; request++) {
            recording.end(request, false, new byte[0]);
        }
        recording.cut().ifPresent(it -> log.add(TraceFormat.encode(it)));
        return log;
    }

    @Test
    void x2WhatThreadsDidIsReplayedFromAnyCut() throws Exception {
        List<byte[]> log = recorded();
        long[] primary = values.clone();
        Arrays.fill(values, 0);
        assertThat(log).hasSizeGreaterThan(2);

        Replay replay = new Replay(new Requests(LANES), resources);
        int[] at = new int[LANES + 1];
        for (byte[] body : log) {
            replay.append(TraceFormat.decode(body));
            if (replay.barrier() != Barrier.NONE) {
                replay.passBarrier();
            }
            boolean moved = true;
            while (moved) {
                moved = false;
                while (replay.turn() != null) {
                    replay.turnDone(false);
                    moved = true;
                }
                for (int lane = 1; lane <= LANES; lane++) {
                    while (at[lane] <= 2 * EVENTS
                            && replay.requests().in(lane) != null
                            && replays(replay, lane, at[lane])) {
                        at[lane]++;
                        moved = true;
                    }
                }
            }
            assertThat(replay.isAtCut()).as("a cut can be replayed to its end").isTrue();
        }
        assertThat(replay.replayed()).isEqualTo(log.size());
        assertThat(replay.requests().open()).isEmpty();
        assertThat(values).isEqualTo(primary);
    }

    private boolean replays(Replay replay, int lane, int at) {
        boolean ends = at == 2 * EVENTS;
        int lock = ends ? 0 : plans.get(lane - 1)[at / 2];
        Kind kind = ends ? Kind.END : at % 2 == 0 ? Kind.ACQUIRE : Kind.RELEASE;
        LaneEvent event = new LaneEvent(kind, ends ? null : resources.get(lock));
        Step step = replay.at(lane, event);
        if (step.what() == What.CONTINUE) {
            if (kind == Kind.RELEASE) {
                write(lock, lane);
            }
            replay.done(lane, event, 0);
        }
        return step.what() == What.CONTINUE;
    }
}
