package io.saucr.server;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Says so when a disk does not answer: a thread that waits for it cannot, and a server that stands
 * still in its start or its election would do it in silence. For the files that are written rarely;
 * the log has a watch of its own (R24). Any thread.
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
     * @param patience after which a warning comes, and after which it comes again
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
        // A server that is embedded and shut down leaves no thread behind.
        timer.setKeepAliveTime(1, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
    }

    /**
     * Runs the action in this thread, however long it takes. A warning that cannot be given, for
     * want of memory for example, ends the process, as in {@link CriticalThread}.
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
        return "Still waiting for the disk: "
                + what
                + " has taken "
                + TimeUnit.NANOSECONDS.toSeconds(nanos)
                + " s so far";
    }
}
