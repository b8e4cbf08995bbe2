package io.saucr.services.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.GarbageCollectionNotificationInfo;
import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Measures;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.bench.KvServer.Role;
import io.saucr.services.turns.Engine;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;
import org.HdrHistogram.Histogram;

/**
 * A process of {@link PauseService}, protected in one way or not at all. It says {@code at} and its
 * address once it runs, and {@code mark} and what it saw since the one before for each line that it
 * is sent; it ends when that stream does.
 */
final class PauseServer {

    static final String NAME = "pause";

    private static final Address ANY_PORT = new Address("127.0.0.1", 0);
    private static final long MOST_NANOS = 600_000_000_000L;

    /**
     * What a process saw.
     *
     * @param segment the newest that is named; 0 where it has none
     * @param usedBytes of the heap, after a collection where this is the first mark
     * @param collectionMillis the longest pause of the collector
     * @param turnMillis the longest turn within one interval of checkpoints: median
     * @param worstTurnMillis the same: 99 of 100 intervals
     */
    record Mark(
            long segment,
            long usedBytes,
            double collectionMillis,
            double turnMillis,
            double worstTurnMillis) {}

    private PauseServer() {}

    /**
     * Serves.
     *
     * @param arguments role, folder, and for one with standbys servers and path of the service
     */
    public static void main(String[] arguments) throws Exception {
        Role role = Role.valueOf(arguments[0]);
        Longest turns = new Longest();
        if (role == Role.BARE) {
            Engine engine = KvServer.bare(NAME, PauseService::new);
            Address at = engine.listen();
            engine.measure(turns);
            engine.begin();
            serve(at, turns, () -> 0);
        } else {
            RunningService running =
                    Services.at(arguments[2])
                            .folder(Path.of(arguments[1]))
                            .listen(ANY_PORT)
                            .onHalt(Halt.process())
                            .run(PauseService::new, KvServer.protection(role));
            KvServer.awaitRole(running);
            running.measure(turns);
            serve(running.address(), turns, () -> running.status().member().segment());
        }
    }

    /** The longest turn of each interval. The turn thread, apart from what is said. */
    private static final class Longest implements Measures {

        // Guarded by its own monitor.
        private final Histogram longest = new Histogram(MOST_NANOS, 3);
        private long sinceNanos = System.nanoTime();
        private long most;

        @Override
        public void ran(long nanos) {
            most = Math.max(most, nanos);
            long now = System.nanoTime();
            if (now - sinceNanos >= KvServer.EVERY.toNanos()) {
                synchronized (longest) {
                    longest.recordValue(Math.min(most, MOST_NANOS));
                }
                sinceNanos = now;
                most = 0;
            }
        }

        @Override
        public void failed() {}

        @Override
        public void becameFinal(long nanos) {}

        @Override
        public void forced(long nanos) {}

        /** Since the last call. Any thread. */
        double[] percentiles(double... percents) {
            synchronized (longest) {
                double[] millis = new double[percents.length];
                for (int i = 0; i < percents.length; i++) {
                    millis[i] = longest.getValueAtPercentile(percents[i]) / 1e6;
                }
                longest.reset();
                return millis;
            }
        }
    }

    /** The longest pause of collectors; of those that run next to the program none counts. */
    private static AtomicLong longestCollection() {
        AtomicLong longest = new AtomicLong();
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (bean.getName().contains("Cycles")) {
                continue;
            }
            ((NotificationEmitter) bean)
                    .addNotificationListener(
                            (notification, handback) -> {
                                long millis =
                                        GarbageCollectionNotificationInfo.from(
                                                        (CompositeData) notification.getUserData())
                                                .getGcInfo()
                                                .getDuration();
                                longest.accumulateAndGet(millis, Math::max);
                            },
                            null,
                            null);
        }
        return longest;
    }

    private static void serve(Address at, Longest turns, LongSupplier segment) throws Exception {
        AtomicLong collection = longestCollection();
        System.out.println("at " + at);
        AtomicBoolean first = new AtomicBoolean(true);
        ObjectMapper json = new ObjectMapper();
        TalkingProcess.answer(
                () -> {
                    if (first.getAndSet(false)) {
                        System.gc();
                    }
                    Runtime runtime = Runtime.getRuntime();
                    double[] millis = turns.percentiles(50, 99);
                    Mark mark =
                            new Mark(
                                    segment.getAsLong(),
                                    runtime.totalMemory() - runtime.freeMemory(),
                                    collection.getAndSet(0),
                                    millis[0],
                                    millis[1]);
                    return "mark " + json.writeValueAsString(mark);
                });
    }
}
