package io.saucr.server.requests;

import io.saucr.server.requests.SlowRequest.Replication;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The newest slow requests, and a line of the log for each. At most {@value #MOST_A_SECOND} in a
 * second are reported; the others are counted, and one line has their number. The log is written by
 * a thread of its own, which comes and goes: a disk that hangs delays no request.
 *
 * <p>Thread-safe. A request that is not slow costs one read of a field; no lock is taken for it.
 */
public final class SlowRequests {
    private static final Logger LOG = LoggerFactory.getLogger(SlowRequests.class);

    static final int MOST_KEPT = 128;
    static final int MOST_A_SECOND = 10;

    /** Writes of this leader's clients that are committed and not answered yet. */
    private static final int MOST_COMMITTED = 1024;

    private static final int MOST_UNWRITTEN_LINES = 256;
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long THREAD_IDLE_SECONDS = 10;

    private final LongSupplier nanoTime;
    private final Consumer<String> lines;
    private final ScheduledThreadPoolExecutor writer =
            new ScheduledThreadPoolExecutor(
                    1,
                    work -> {
                        Thread thread = new Thread(work, "SaucrSlowRequests");
                        thread.setDaemon(true);
                        return thread;
                    });
    private final LongAdder slow = new LongAdder();
    private volatile long thresholdMillis;

    // Guarded by this.
    private final Deque<SlowRequest> kept = new ArrayDeque<>();
    private final Map<Long, Replication> committed = new LinkedHashMap<>();
    private long windowBegan;
    private int reported;
    private long leftOut;
    private long leftOutNow;
    private long slowestLeftOut;

    /**
     * @param threshold zero to report none
     */
    public SlowRequests(Duration threshold) {
        this(threshold, System::nanoTime, LOG::warn);
    }

    SlowRequests(Duration threshold, LongSupplier nanoTime, Consumer<String> lines) {
        this.nanoTime = nanoTime;
        this.lines = lines;
        windowBegan = nanoTime.getAsLong();
        writer.setKeepAliveTime(THREAD_IDLE_SECONDS, TimeUnit.SECONDS);
        writer.allowCoreThreadTimeOut(true);
        threshold(threshold);
    }

    /** From now on a request is slow that takes so long; none is if it is zero. */
    public void threshold(Duration threshold) {
        thresholdMillis = threshold.toMillis();
    }

    /** Zero if no request is slow. */
    public Duration threshold() {
        return Duration.ofMillis(thresholdMillis);
    }

    boolean isSlow(long millis) {
        long threshold = thresholdMillis;
        return threshold > 0 && millis >= threshold;
    }

    /** A client's request was slow, whether it is reported or not. */
    void count() {
        slow.increment();
    }

    /** How many requests of this server's clients were slow. */
    public long counted() {
        return slow.sum();
    }

    /** How many slow requests were not reported. */
    public synchronized long leftOut() {
        return leftOut;
    }

    /**
     * Whether one more may be reported now; if not, it is counted as left out. Ask before anything
     * is made for the report.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for a line of the log
    synchronized boolean admits(long millis) {
        long now = nanoTime.getAsLong();
        if (now - windowBegan >= WINDOW_NANOS) {
            windowBegan = now;
            reported = 0;
        }
        if (reported < MOST_A_SECOND && writer.getQueue().size() < MOST_UNWRITTEN_LINES) {
            reported++;
            return true;
        }
        leftOut++;
        slowestLeftOut = Math.max(slowestLeftOut, millis);
        if (leftOutNow++ == 0) {
            writer.schedule(this::reportLeftOut, WINDOW_NANOS, TimeUnit.NANOSECONDS);
        }
        return false;
    }

    private void reportLeftOut() {
        long number;
        long slowest;
        synchronized (this) {
            number = leftOutNow;
            slowest = slowestLeftOut;
            leftOutNow = 0;
            slowestLeftOut = 0;
        }
        lines.accept(
                "Slow requests: "
                        + number
                        + " more in the last second, the slowest took "
                        + slowest
                        + " ms");
    }

    /** Keeps it and writes its line. The caller has asked {@link #admits}. */
    void report(SlowRequest request) {
        synchronized (this) {
            if (kept.size() == MOST_KEPT) {
                kept.removeFirst();
            }
            kept.addLast(request);
        }
        reportLine(request);
    }

    /** Writes its line alone: it is not over. The caller has asked {@link #admits}. */
    void reportLine(SlowRequest request) {
        writer.execute(() -> lines.accept(request.sentence()));
    }

    /** The newest first. */
    public synchronized List<SlowRequest> newest() {
        List<SlowRequest> result = new ArrayList<>(kept);
        Collections.reverse(result);
        return result;
    }

    /** A slow write of this leader's own client is committed; it is reported when it is applied. */
    synchronized void committed(long zxid, Replication replication) {
        if (committed.size() == MOST_COMMITTED) {
            committed.remove(committed.keySet().iterator().next());
        }
        committed.put(zxid, replication);
    }

    /** What was {@link #committed}, once; null if nothing was. */
    synchronized Replication takeCommitted(long zxid) {
        return committed.remove(zxid);
    }
}
