package io.saucr.server.runtime;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Warns when a disk does not answer. The thread that waits for it cannot, so a server would hang in
 * its start or its election without a word. For files that are written rarely; the log has a watch
 * of its own (R24). Thread-safe.
 */
public final class DiskWatch {
    private final Duration patience;
    private final Consumer<String> warn;
    private final ScheduledThreadPoolExecutor timer;

    /** What waits for the disk. */
    public interface Action {
        void run() throws IOException;
    }

    /**
     * @param patience how long to wait for the first warning, and for each further one
     * @param warn gets a sentence, in a thread of this watch
     */
    public DiskWatch(Duration patience, Consumer<String> warn) {
        this.patience = patience;
        this.warn = warn;
        timer =
                new ScheduledThreadPoolExecutor(
                        1,
                        task -> {
                            Thread thread = new Thread(task, "SaucrDiskWatch");
                            thread.setDaemon(true);
                            return thread;
                        });
        timer.setRemoveOnCancelPolicy(true);
        // An embedded server that is shut down must leave no thread behind.
        timer.setKeepAliveTime(1, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
    }

    /**
     * Runs the action in this thread, however long it takes. If a warning fails, for want of memory
     * for example, the process ends, as in {@link CriticalThread}.
     *
     * @param what as in "writing /data/currentEpoch"
     */
    public void run(String what, Action action) throws IOException {
        long start = System.nanoTime();
        ScheduledFuture<?> warning =
                timer.scheduleWithFixedDelay(
                        () ->
                                CriticalThread.guard(
                                        () ->
                                                warn.accept(
                                                        sentence(what, System.nanoTime() - start))),
                        patience.toNanos(),
                        patience.toNanos(),
                        TimeUnit.NANOSECONDS);
        try {
            action.run();
        } finally {
            warning.cancel(false);
        }
    }

    private static String sentence(String what, long nanos) {
        return "Still waiting for the disk: %s has taken %s s so far"
                .formatted(what, TimeUnit.NANOSECONDS.toSeconds(nanos));
    }
}
