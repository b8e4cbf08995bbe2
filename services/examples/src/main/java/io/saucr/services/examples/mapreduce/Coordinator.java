package io.saucr.services.examples.mapreduce;

import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.examples.mapreduce.Work.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Hands out the tasks of a job, and survives what its protection says: {@link PlainCoordinator}
 * with its maps in the state, and messages in place of calls. That a task is done, and what came of
 * it, is one turn; so none is done again after a crash, and none forgotten.
 */
public final class Coordinator implements Service {

    /** So long a worker has for a task. */
    static final Duration PATIENCE = Duration.ofSeconds(10);

    private final MapState<Integer, String> texts;
    private final MapState<Integer, Counts> counts;
    private final MapState<Integer, Instant> given;
    private final ValueState<Integer> reducers;

    /** How often each word was found. */
    public record Counts(Map<String, Long> byWord) {}

    /** Begins a job, of which there is one. Answered by {@link Noted}. */
    public record Begin(List<String> texts, int reducers) {}

    /** Answered by {@link Work}. */
    public record Next() {}

    /** What came of a task. Answered by {@link Noted}. */
    public record Done(int task, Map<String, Long> counts) {}

    /** It is so. */
    public record Noted() {}

    /** A query, answered by {@link Counts}: all words; none until the end. */
    public record Ask() {}

    /** None has begun. */
    public Coordinator(State state) {
        texts = state.map("texts", Integer.class, String.class);
        counts = state.map("counts", Integer.class, Counts.class);
        given = state.map("given", Integer.class, Instant.class);
        reducers = state.value("reducers", Integer.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Begin.class,
                (begin, turn) -> {
                    begin(begin.texts(), begin.reducers());
                    turn.reply(new Noted());
                });
        on.message(Next.class, (next, turn) -> turn.reply(next(turn.now())));
        on.message(
                Done.class,
                (done, turn) -> {
                    counts.putIfAbsent(done.task(), new Counts(done.counts()));
                    turn.reply(new Noted());
                });
        on.query(Ask.class, (ask, turn) -> new Counts(result()));
    }

    private void begin(List<String> all, int parts) {
        for (int task = 0; task < all.size(); task++) {
            texts.put(task, all.get(task));
        }
        reducers.update(parts);
    }

    private Work next(Instant now) {
        boolean mapped = true;
        int last = texts.size() + reducers.orElse(0);
        for (int task = 0; task < last; task++) {
            if (task == texts.size() && !mapped) {
                return Work.none(Kind.WAIT);
            }
            if (counts.get(task) != null) {
                continue;
            }
            mapped = false;
            Instant before = given.get(task);
            if (before == null || before.plus(PATIENCE).isBefore(now)) {
                given.put(task, now);
                return task < texts.size()
                        ? new Work(Kind.MAP, task, texts.get(task), Map.of())
                        : new Work(Kind.REDUCE, task, "", part(task - texts.size()));
            }
        }
        return Work.none(mapped && last > 0 ? Kind.END : Kind.WAIT);
    }

    private Map<Integer, Map<String, Long>> part(int part) {
        Map<Integer, Map<String, Long>> all = new TreeMap<>();
        for (int task = 0; task < texts.size(); task++) {
            all.put(task, part(counts.get(task).byWord(), part, reducers.value()));
        }
        return all;
    }

    /** The words that a reduce task adds up. */
    static Map<String, Long> part(Map<String, Long> counts, int part, int parts) {
        return counts.entrySet().stream()
                .filter(it -> Math.floorMod(it.getKey().hashCode(), parts) == part)
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private Map<String, Long> result() {
        Map<String, Long> all = new TreeMap<>();
        for (int part = 0; part < reducers.orElse(0); part++) {
            Counts found = counts.get(texts.size() + part);
            if (found == null) {
                return Map.of();
            }
            all.putAll(found.byWord());
        }
        return all;
    }
}
