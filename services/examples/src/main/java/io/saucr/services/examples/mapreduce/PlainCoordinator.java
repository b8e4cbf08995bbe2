package io.saucr.services.examples.mapreduce;

import io.saucr.services.examples.mapreduce.Work.Kind;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Hands out the tasks of a job, in memory: it ends with its process, and all that was counted with
 * it. Any thread.
 */
public final class PlainCoordinator implements Tasks {

    private final Map<Integer, String> texts = new HashMap<>();
    private final Map<Integer, Map<String, Long>> counts = new HashMap<>();
    private final Map<Integer, Instant> given = new HashMap<>();
    private int reducers;

    /** Begins a job. */
    public synchronized void begin(List<String> all, int parts) {
        for (int task = 0; task < all.size(); task++) {
            texts.put(task, all.get(task));
        }
        reducers = parts;
    }

    @Override
    public synchronized Work next() {
        Instant now = Instant.now();
        boolean mapped = true;
        for (int task = 0; task < texts.size() + reducers; task++) {
            if (task == texts.size() && !mapped) {
                return Work.none(Kind.WAIT);
            }
            if (counts.get(task) != null) {
                continue;
            }
            mapped = false;
            Instant before = given.get(task);
            if (before == null || before.plus(Coordinator.PATIENCE).isBefore(now)) {
                given.put(task, now);
                return task < texts.size()
                        ? new Work(Kind.MAP, task, texts.get(task), Map.of())
                        : new Work(Kind.REDUCE, task, "", part(task - texts.size()));
            }
        }
        return Work.none(mapped ? Kind.END : Kind.WAIT);
    }

    private Map<Integer, Map<String, Long>> part(int part) {
        Map<Integer, Map<String, Long>> all = new TreeMap<>();
        for (int task = 0; task < texts.size(); task++) {
            all.put(task, Coordinator.part(counts.get(task), part, reducers));
        }
        return all;
    }

    @Override
    public synchronized void done(int task, Map<String, Long> found) {
        counts.putIfAbsent(task, found);
    }

    /** All words; empty until the end. */
    public synchronized Map<String, Long> result() {
        Map<String, Long> all = new TreeMap<>();
        for (int part = 0; part < reducers; part++) {
            Map<String, Long> found = counts.get(texts.size() + part);
            if (found == null) {
                return Map.of();
            }
            all.putAll(found);
        }
        return all;
    }
}
