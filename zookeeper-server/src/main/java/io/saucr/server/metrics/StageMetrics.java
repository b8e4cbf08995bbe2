package io.saucr.server.metrics;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.metrics.Summary;

/**
 * How long writes are in each stage. Thread-safe: a time is recorded without a lock, and without an
 * allocation but for the first of its size.
 */
public final class StageMetrics {
    private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(2);

    private final WindowedSummary queue = new WindowedSummary();
    private final WindowedSummary proposal = new WindowedSummary();
    private final WindowedSummary commit = new WindowedSummary();
    private final WindowedSummary apply = new WindowedSummary();
    private final Map<Long, WindowedSummary> acks = new ConcurrentHashMap<>();

    /** When the period of the quantiles began; guarded by this. */
    private long began = System.nanoTime();

    /** A write was validated and proposed. */
    public void proposed(long queuedMillis, long nanos) {
        queue.add(TimeUnit.MILLISECONDS.toMicros(queuedMillis));
        proposal.add(TimeUnit.NANOSECONDS.toMicros(nanos));
    }

    /** A write was committed so long after its proposal. */
    public void committed(long nanos) {
        commit.add(TimeUnit.NANOSECONDS.toMicros(nanos));
    }

    /** A committed write was applied. */
    public void applied(long nanos) {
        apply.add(TimeUnit.NANOSECONDS.toMicros(nanos));
    }

    /** The times of a server's acknowledgements, in microseconds since the proposals. */
    public Summary acksOf(long sid) {
        return acks.computeIfAbsent(sid, absent -> new WindowedSummary());
    }

    /** Makes them visible. */
    public void show(Exposition exposition) {
        show(exposition, Metric.QUEUE_TIME, queue);
        show(exposition, Metric.PROPOSAL_TIME, proposal);
        show(exposition, Metric.COMMIT_TIME, commit);
        show(exposition, Metric.APPLY_TIME, apply);
        exposition.showSummaries(
                Metric.ACK_TIME,
                () -> {
                    endPeriod();
                    Map<String, WindowedSummary> byServer = new TreeMap<>();
                    acks.forEach((sid, summary) -> byServer.put(Long.toString(sid), summary));
                    return byServer;
                });
    }

    private void show(Exposition exposition, Metric metric, WindowedSummary summary) {
        exposition.showSummaries(
                metric,
                () -> {
                    endPeriod();
                    return Map.of("", summary);
                });
    }

    /** Quantiles are those of the last periods; who reads them ends a period. */
    private synchronized void endPeriod() {
        long now = System.nanoTime();
        if (now - began >= PERIOD_NANOS) {
            began = now;
            List.of(queue, proposal, commit, apply).forEach(WindowedSummary::nextPeriod);
            acks.values().forEach(WindowedSummary::nextPeriod);
        }
    }
}
