package io.saucr.services.standby;

import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Segment;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The one thread that changes a member's folder, in either role: what is handed to it is done in
 * order. A disk that fails ends the member, as nobody knows what is on it then (K8).
 */
final class Store implements AutoCloseable {

    /** So long what is written may wait to be forced with what follows (C15: 100 ms). */
    static final long FORCED_AFTER_MILLIS = 20;

    /** What is done to the folder. */
    interface Task {
        void run(MemberFolder folder) throws IOException;
    }

    /** Hears of a standby's segments. On the store's thread. */
    interface Keeping {

        /**
         * Whether a segment is to be kept, now that all before it are.
         *
         * @throws IOException where what it replaces cannot be dropped
         */
        boolean keeps(Segment segment, MemberFolder folder) throws IOException;

        /** All that were kept up to this number are written, and forced soon (C15). */
        void written(long number);

        /** All that were kept up to this number are forced. */
        void stored(long number);
    }

    private record Arrived(Segment segment, Keeping by) {}

    private final MemberFolder folder;
    private final boolean fast;
    private final Consumer<Throwable> failed;
    private final ScheduledThreadPoolExecutor thread;
    private final ArrayDeque<Arrived> arrived = new ArrayDeque<>();
    private long arrivedBytes;

    // Of the thread.
    private Keeping notForced;
    private long notForcedNumber;
    private volatile boolean dead;

    /**
     * Makes the thread.
     *
     * @param fast whether segments that arrive are written at once and forced soon (C15)
     * @param failed told once when the folder failed
     */
    Store(String service, MemberFolder folder, boolean fast, Consumer<Throwable> failed) {
        this.folder = folder;
        this.fast = fast;
        this.failed = failed;
        thread =
                new ScheduledThreadPoolExecutor(
                        1,
                        task -> {
                            Thread made = new Thread(task, "segments " + service);
                            made.setDaemon(true);
                            return made;
                        });
    }

    /**
     * Does something behind all that was handed over before, but not before this time has passed.
     * The store's thread; dropped once it is closed.
     */
    void later(Task task, long millis) {
        try {
            var unused = thread.schedule(() -> run(task), millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // Closed: nothing of it counts any more.
        }
    }

    /** Does something behind all that was handed over before. Any thread. */
    void then(Task task) {
        try {
            thread.execute(() -> run(task));
        } catch (RejectedExecutionException e) {
            // Closed: nothing of it counts any more.
        }
    }

    private void run(Task task) {
        if (dead) {
            return;
        }
        try {
            task.run(folder);
        } catch (IOException | RuntimeException e) {
            dead = true;
            failed.accept(e);
        }
    }

    /** Keeps a segment that arrived; what arrived together is forced together. Any thread. */
    void arrived(Segment segment, Keeping by) {
        boolean first;
        synchronized (arrived) {
            first = arrived.isEmpty();
            arrived.add(new Arrived(segment, by));
            arrivedBytes += segment.bytes();
        }
        if (first) {
            then(this::keepAll);
        }
    }

    /** Of segments that arrived and are not kept yet. */
    long arrivedBytes() {
        synchronized (arrived) {
            return arrivedBytes;
        }
    }

    private void keepAll(MemberFolder into) throws IOException {
        Keeping last = null;
        long kept = 0;
        for (Arrived next = poll(); next != null; next = poll()) {
            if (next.by().keeps(next.segment(), into)) {
                kept = next.segment().header().number();
                last = next.by();
            }
        }
        if (last == null) {
            return;
        }
        if (!fast) {
            into.force();
            last.stored(kept);
            return;
        }
        last.written(kept);
        if (notForced == null) {
            later(this::forceKept, FORCED_AFTER_MILLIS);
        }
        notForced = last;
        notForcedNumber = kept;
    }

    private void forceKept(MemberFolder into) throws IOException {
        Keeping by = notForced;
        notForced = null;
        into.force();
        by.stored(notForcedNumber);
    }

    private Arrived poll() {
        synchronized (arrived) {
            Arrived next = arrived.poll();
            if (next != null) {
                arrivedBytes -= next.segment().bytes();
            }
            return next;
        }
    }

    /** Ends it once all that was handed over is done; waits for that. */
    @Override
    public void close() {
        thread.shutdown();
        try {
            boolean unused = thread.awaitTermination(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
