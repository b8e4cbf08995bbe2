package io.saucr.server.metrics;

import io.saucr.server.metrics.Histogram.Counts;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.zookeeper.metrics.Summary;

/**
 * Count and sum of all values since the start, and quantiles of those of the last four periods and
 * of the one that runs; {@link #nextPeriod} ends it. The Prometheus client that Apache's provider
 * uses keeps the same window: its five sketches are replaced one by one.
 *
 * <p>{@link #add} takes no lock and never waits, whatever readers do. Thread-safe.
 */
final class WindowedSummary implements Summary {
    private static final int PERIODS = 5;

    private final Histogram histogram = new Histogram();
    private final ExactSum sum = new ExactSum();

    /** What was counted when each of these periods began, the oldest first. */
    private final Deque<Counts> begun = new ArrayDeque<>(List.of(Counts.NONE));

    @Override
    public void add(long value) {
        histogram.record(value);
        sum.add(value);
    }

    synchronized void nextPeriod() {
        begun.addLast(histogram.counts());
        if (begun.size() > PERIODS) {
            begun.removeFirst();
        }
    }

    Values values(List<Double> fractions) {
        // The sum first: it never has a value that the count lacks.
        double added = sum.get();
        Counts now;
        Counts window;
        synchronized (this) {
            now = histogram.counts();
            window = now.since(begun.getFirst());
        }
        return new Values(now.total(), added, fractions.stream().map(window::quantile).toList());
    }

    /**
     * @param quantiles in the order in which they were asked for
     */
    record Values(long count, double sum, List<Double> quantiles) {}
}
