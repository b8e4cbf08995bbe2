package io.saucr.services.replay;

import io.saucr.services.core.replay.DivergedException;
import io.saucr.services.core.replay.TraceFormat;
import io.saucr.services.core.replay.TraceSegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.IntConsumer;

/** A member with lanes, and its part of a log that the test's head names. */
final class LaneMember implements AutoCloseable {

    final List<Throwable> failures = new CopyOnWriteArrayList<>();
    final List<LaneSnapshot> snapshots = new CopyOnWriteArrayList<>();
    final AtomicLong ran = new AtomicLong();
    final AtomicLong becameFinal = new AtomicLong();
    final ReplayedLanes lanes;
    LaneHandler handler;
    private int followed;

    LaneMember(String name, int count, Function<LaneState, LaneHandler> constructor, long seed) {
        this(name, count, constructor, seed, Optional.empty(), 0);
    }

    /** A member that begins with a snapshot, as of a number of segments. */
    LaneMember(
            String name,
            int count,
            Function<LaneState, LaneHandler> constructor,
            long seed,
            Optional<LaneSnapshot> from,
            int segments) {
        followed = segments;
        lanes =
                new ReplayedLanes(
                        name,
                        count,
                        state -> {
                            handler = constructor.apply(state);
                            return handler;
                        },
                        new ReplayedLanes.Listener() {
                            @Override
                            public void changed() {
                                // The test cuts when it likes.
                            }

                            @Override
                            public void quiet(LaneSnapshot snapshot) {
                                snapshots.add(snapshot);
                            }

                            @Override
                            public void ran(long nanos, boolean threw) {
                                ran.incrementAndGet();
                            }

                            @Override
                            public void becameFinal(long nanos) {
                                becameFinal.incrementAndGet();
                            }

                            @Override
                            public void diverged(DivergedException e) {
                                failures.add(e);
                            }

                            @Override
                            public void failed(Throwable cause) {
                                failures.add(cause);
                            }
                        },
                        from,
                        pace(seed),
                        // No drain takes too long: a test decides when there is a quiet cut.
                        () -> 0);
    }

    /** Lanes stop now and then, as the seed says. */
    private static IntConsumer pace(long seed) {
        AtomicLong at = new AtomicLong(seed);
        return lane -> {
            long drawn = mixed(at.addAndGet(0x9e3779b97f4a7c15L));
            if ((drawn & 7) == 0) {
                LockSupport.parkNanos(Math.floorMod(drawn >>> 3, 100_000L));
            } else if ((drawn & 7) < 3) {
                Thread.onSpinWait();
            }
        };
    }

    private static long mixed(long value) {
        long mixed = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
        return mixed ^ (mixed >>> 27);
    }

    /** Follows what the log has more. */
    void follow(List<byte[]> log) throws Exception {
        while (followed < log.size()) {
            lanes.follow(TraceFormat.decode(log.get(followed)));
            followed++;
        }
    }

    /** It becomes primary at the end of the log. */
    void takeOver(List<byte[]> log, int mostAttempts) throws Exception {
        follow(log);
        lanes.takeOver(mostAttempts);
    }

    /** Cuts; the head names that. Whether there was anything. */
    boolean cut(List<byte[]> log) {
        Optional<TraceSegment> segment = lanes.cut();
        segment.ifPresent(
                it -> {
                    log.add(TraceFormat.encode(it));
                    followed = log.size();
                    lanes.named();
                });
        return segment.isPresent();
    }

    /** What is recorded and not named is lost with it. */
    void kill() {
        lanes.over("killed");
    }

    @Override
    public void close() {
        boolean ended;
        try {
            ended = lanes.close(Duration.ofMinutes(1));
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while lanes end", e);
        }
        if (!ended) {
            throw new IllegalStateException("a lane does not end");
        }
    }
}
