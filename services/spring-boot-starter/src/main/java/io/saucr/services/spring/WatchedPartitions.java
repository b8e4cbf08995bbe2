package io.saucr.services.spring;

import io.saucr.services.RunningPartitions;
import io.saucr.services.RunningService;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Partitions of an application's service, each watched for as long as it runs here. Any thread. */
final class WatchedPartitions implements RunningPartitions {

    private static final Logger LOG = LoggerFactory.getLogger(WatchedPartitions.class);

    private final RunningPartitions all;
    private final Function<RunningService, List<AutoCloseable>> watcher;
    private final Map<Integer, List<AutoCloseable>> watching = new ConcurrentHashMap<>();

    WatchedPartitions(
            RunningPartitions all, Function<RunningService, List<AutoCloseable>> watcher) {
        this.all = all;
        this.watcher = watcher;
        all.here().forEach(this::watch);
    }

    private void watch(int number) {
        watching.put(number, watcher.apply(all.partition(number)));
    }

    private void watchNoLonger(int number) {
        List<AutoCloseable> those = watching.remove(number);
        if (those != null) {
            those.forEach(SaucrServices::close);
        }
    }

    /** Those that run here, by their names. */
    Map<String, RunningService> services() {
        Map<String, RunningService> services = new TreeMap<>();
        for (int number : all.here()) {
            try {
                RunningService each = all.partition(number);
                services.put(each.name(), each);
            } catch (IllegalArgumentException e) {
                LOG.debug("partition {} was released meanwhile", number, e);
            }
        }
        return services;
    }

    @Override
    public int count() {
        return all.count();
    }

    @Override
    public Set<Integer> here() {
        return all.here();
    }

    @Override
    public RunningService partition(int number) {
        return all.partition(number);
    }

    @Override
    public synchronized void release(int number) throws IOException {
        all.release(number);
        watchNoLonger(number);
    }

    @Override
    public synchronized void take(int number) throws IOException, InterruptedException {
        all.take(number);
        watch(number);
    }

    @Override
    public void join() throws InterruptedException {
        all.join();
    }

    @Override
    public synchronized void close() {
        Set.copyOf(watching.keySet()).forEach(this::watchNoLonger);
        all.close();
    }
}
