package io.saucr.services.testkit;

import io.saucr.services.Asks;
import io.saucr.services.Caller;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.Query;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.Timer;
import io.saucr.services.Turn;
import io.saucr.services.ValueState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * A service whose messages are programs: what they read goes into what they write. Each adds what
 * it came to at the end of a list, so that their order is known, and {@link Alone} can run them
 * once more, one by one.
 */
final class Programs implements Service {

    private static final int KEYS = 4;

    /** A program. */
    record Program(int id, List<Integer> steps) implements Asks<Outcome> {

        static Program random(int id, Random random) {
            List<Integer> steps = new ArrayList<>();
            for (int count = 1 + random.nextInt(5); count > 0; count--) {
                steps.add(random.nextInt(KINDS * KEYS));
            }
            return new Program(id, steps);
        }
    }

    /** What it came to. */
    record Outcome(int id, long sum) {}

    /** A program that waits gets its answer by this, from a timer or a program. */
    record Release(boolean timer) {}

    /** What is there. */
    record Show() implements Query<Shown> {}

    /**
     * All of it.
     *
     * @param timers set, and neither cancelled nor gone off
     */
    record Shown(
            List<Program> programs,
            List<Outcome> outcomes,
            Map<Integer, Long> map,
            long value,
            int timers) {}

    private static final int KINDS = 10;

    private final MapState<Integer, Long> map;
    private final ValueState<Long> value;
    private final ListState<Program> programs;
    private final ListState<Outcome> outcomes;
    private final MapState<Integer, Caller> waiting;
    private final MapState<Integer, Timer> timers;
    private final ListState<Integer> timersMore;

    Programs(State state) {
        map = state.map("map", Integer.class, Long.class);
        value = state.value("value", Long.class);
        programs = state.list("programs", Program.class);
        outcomes = state.list("outcomes", Outcome.class);
        waiting = state.map("waiting", Integer.class, Caller.class);
        timers = state.map("timers", Integer.class, Timer.class);
        timersMore = state.list("timers more", Integer.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(Program.class, this::run);
        on.message(Release.class, this::release);
        on.query(
                Show.class,
                (show, turn) -> {
                    Map<Integer, Long> all = new HashMap<>();
                    map.entries().forEach(it -> all.put(it.getKey(), it.getValue()));
                    List<Program> ran = new ArrayList<>();
                    programs.forEach(ran::add);
                    List<Outcome> came = new ArrayList<>();
                    outcomes.forEach(came::add);
                    int set = 0;
                    for (int each : timersMore) {
                        set += each;
                    }
                    return new Shown(ran, came, all, value.orElse(0L), set);
                });
    }

    private void run(Program program, Turn turn) {
        long sum = program.id();
        boolean waits = false;
        for (int step : program.steps()) {
            int key = step % KEYS;
            switch (step / KEYS) {
                case 0, 1 -> sum = 31 * sum + map.getOrDefault(key, 7L);
                case 2, 3 -> map.put(key, sum);
                case 4 -> sum = 31 * sum + value.orElse(3L);
                case 5 -> value.update(sum);
                case 6 -> {
                    for (long each : map.values()) {
                        sum += each;
                    }
                }
                case 7 -> {
                    if (map.remove(key) != null) {
                        sum++;
                    }
                }
                case 8 -> {
                    Timer before = timers.get(key);
                    if (before != null && turn.cancel(before)) {
                        timersMore.add(-1);
                    }
                    timers.put(key, turn.after(Duration.ofMillis(1), new Release(true)));
                    timersMore.add(1);
                }
                default -> waits = true;
            }
        }
        if (sum % 11 == 0) {
            throw new IllegalStateException("a program of the sum " + sum);
        }
        programs.add(program);
        outcomes.add(new Outcome(program.id(), sum));
        if (waits) {
            waiting.put(program.id(), turn.detach());
            turn.send("programs", new Release(false));
        } else {
            turn.reply(new Outcome(program.id(), sum));
        }
    }

    /** Answers the first program that waits. */
    private void release(Release release, Turn turn) {
        if (release.timer()) {
            timersMore.add(-1);
        }
        int first = Integer.MAX_VALUE;
        for (int each : waiting.keys()) {
            first = Math.min(first, each);
        }
        if (first < Integer.MAX_VALUE) {
            turn.reply(waiting.remove(first), new Outcome(first, 0));
        }
    }

    /** Runs programs one by one, over plain collections. */
    static final class Alone {
        private final Map<Integer, Long> map = new HashMap<>();
        private long value;
        private boolean hasValue;

        /** What each of them comes to. */
        static Shown run(List<Program> programs) {
            Alone alone = new Alone();
            List<Outcome> outcomes = new ArrayList<>();
            Set<Integer> ids = new HashSet<>();
            for (Program each : programs) {
                if (!ids.add(each.id())) {
                    throw new AssertionError(each.id() + " ran twice");
                }
                outcomes.add(new Outcome(each.id(), alone.run(each)));
            }
            return new Shown(programs, outcomes, alone.map, alone.value, 0);
        }

        private long run(Program program) {
            long sum = program.id();
            for (int step : program.steps()) {
                int key = step % KEYS;
                switch (step / KEYS) {
                    case 0, 1 -> sum = 31 * sum + map.getOrDefault(key, 7L);
                    case 2, 3 -> map.put(key, sum);
                    case 4 -> sum = 31 * sum + (hasValue ? value : 3);
                    case 5 -> {
                        value = sum;
                        hasValue = true;
                    }
                    case 6 -> {
                        for (long each : map.values()) {
                            sum += each;
                        }
                    }
                    case 7 -> sum += map.remove(key) == null ? 0 : 1;
                    default -> {}
                }
            }
            return sum;
        }
    }
}
