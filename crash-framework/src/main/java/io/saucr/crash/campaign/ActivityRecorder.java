package io.saucr.crash.campaign;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Reads counters once per slice of time, from its construction until {@link #close}. A thread of
 * its own reads them, so they must be cheap; this object's lock guards the readings.
 */
final class ActivityRecorder implements AutoCloseable {
    private static final int SLICE_MILLIS = 100;

    private final List<LongSupplier> counters = new ArrayList<>();
    private final List<Map<Integer, Integer>> slices = new ArrayList<>();
    private final long[] last;
    private int slice;
    private final ScheduledExecutorService clock =
            Executors.newSingleThreadScheduledExecutor(
                    task -> {
                        Thread thread = new Thread(task, "activity");
                        thread.setDaemon(true);
                        return thread;
                    });
    private final ScheduledFuture<?> looking;

    /**
     * @param acknowledged writes so far
     * @param flushes of each server so far
     */
    ActivityRecorder(LongSupplier acknowledged, List<LongSupplier> flushes) {
        counters.add(acknowledged);
        counters.addAll(flushes);
        last = new long[counters.size()];
        for (int i = 0; i < last.length; i++) {
            last[i] = counters.get(i).getAsLong();
            slices.add(new TreeMap<>());
        }
        looking =
                clock.scheduleAtFixedRate(
                        this::look, SLICE_MILLIS, SLICE_MILLIS, TimeUnit.MILLISECONDS);
    }

    private synchronized void look() {
        for (int i = 0; i < last.length; i++) {
            long now = counters.get(i).getAsLong();
            if (now > last[i]) {
                slices.get(i).put(slice, (int) (now - last[i]));
            }
            last[i] = now;
        }
        slice++;
    }

    synchronized Activity activity() {
        return new Activity(SLICE_MILLIS, slices.get(0), slices.subList(1, slices.size()));
    }

    @Override
    public void close() {
        looking.cancel(false);
        clock.shutdownNow();
    }
}
