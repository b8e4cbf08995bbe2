package io.saucr.services.core.lanes;

import io.saucr.services.core.lanes.Lanes.Run;
import io.saucr.services.core.lanes.Lanes.Step;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Random handlers that run in lanes, a step of one of them at a time, over {@link Lanes} and {@link
 * Seen}. A seed chooses handlers and schedule. At each commit the handler runs once more, alone and
 * on the state as it is: it has to do the same. One thread.
 */
final class LanesWorld {

    private static final int CHANNELS = 3;
    private static final int KEYS = 4;
    private static final int INPUTS = 12;

    /** A value that was put: another object each time, as entries of the state are. */
    private record Entry(long value) {}

    /** A collection, immutable. */
    private record Collection(TreeMap<Integer, Entry> entries) {

        Collection with(int key, Entry entry) {
            TreeMap<Integer, Entry> more = new TreeMap<>(entries);
            more.put(key, entry);
            return new Collection(more);
        }
    }

    private enum Op {
        GET,
        GET_WHERE_IT_POINTS,
        ALL,
        PUT,
        ADD,
        CLEAR,
        ASK,
        NOW,
        RANDOM
    }

    private record Line(Op op, String collection, int key) {}

    private record Input(int channel, int number, List<Line> lines) {

        @Override
        public boolean equals(Object other) {
            return other instanceof Input it && it.channel == channel && it.number == number;
        }

        @Override
        public int hashCode() {
            return 31 * channel + number;
        }
    }

    /** What a handler changes. */
    private record Write(Op op, String collection, int key, long value) {}

    /** A handler that runs. */
    private final class Handler {
        private final Run<Input, String> run;
        private final Input input;
        private final boolean alone;
        private final long nowMillis;
        private final List<Integer> drawn;
        private final Seen<String> seen = new Seen<>();
        private final List<Write> writes = new ArrayList<>();
        private Map<String, Collection> version;
        private Map<String, Collection> own;
        private int at;
        private int draws;
        private long sum;

        Handler(
                Run<Input, String> run,
                Input input,
                boolean alone,
                long nowMillis,
                List<Integer> drawn) {
            this.run = run;
            this.input = input;
            this.alone = alone;
            this.nowMillis = nowMillis;
            this.drawn = drawn;
        }

        boolean isOver() {
            return at == input.lines.size();
        }

        void runToItsEnd() {
            while (!isOver()) {
                step();
            }
        }

        void step() {
            if (version == null) {
                version = state;
                own = new HashMap<>(state);
            } else if (!alone && broken == Broken.P1_VERSION_MOVES && writes.isEmpty()) {
                version = state;
                own = new HashMap<>(state);
            }
            Line line = input.lines.get(at++);
            String collection = line.collection;
            switch (line.op) {
                case GET -> get(collection, line.key);
                case GET_WHERE_IT_POINTS -> get(collection, Math.floorMod(sum, KEYS));
                case ALL -> {
                    if (broken != Broken.P2_WHOLE_NOT_SEEN) {
                        seen.whole(collection, version.get(collection));
                    }
                    own.get(collection).entries.values().forEach(it -> sum = 31 * sum + it.value);
                    sum = 31 * sum + own.get(collection).entries.size();
                }
                case PUT -> {
                    if (broken == Broken.P2_BLIND_WRITE_SEEN) {
                        seen.whole(collection, version.get(collection));
                    }
                    write(new Write(Op.PUT, collection, line.key, 31 * sum + number()));
                }
                case ADD -> write(new Write(Op.ADD, collection, 0, 31 * sum + number()));
                case CLEAR -> write(new Write(Op.CLEAR, collection, 0, 0));
                case ASK -> {
                    Supplier<Long> question = () -> acked;
                    if (broken != Broken.P3_NOT_ASKED_AGAIN) {
                        seen.asked(question, question.get());
                    }
                    sum = 31 * sum + question.get();
                }
                case NOW -> sum = 31 * sum + nowMillis;
                case RANDOM -> sum = 31 * sum + draw();
            }
        }

        private int draw() {
            if (draws == drawn.size()) {
                drawn.add(random.nextInt(1000));
            }
            return drawn.get(draws++);
        }

        private long number() {
            return 100L * input.channel + input.number;
        }

        @SuppressWarnings("ReferenceEquality") // Entries are told apart by identity.
        private void get(String collection, int key) {
            Entry there = version.get(collection).entries.get(key);
            Entry now = own.get(collection).entries.get(key);
            if (now == there && broken != Broken.P1_NOT_COMPARED) {
                seen.entry(collection, key, there);
            }
            sum = 31 * sum + (now == null ? 7 : now.value);
        }

        private void write(Write write) {
            writes.add(write);
            own = written(own, write);
        }
    }

    private final Broken broken;
    private final Random random;
    private final boolean blind;
    private final int lanesThere;
    private final Lanes<Input, String> lanes;
    private final List<Input> waiting = new ArrayList<>();
    private final List<Handler> running = new ArrayList<>();
    private final Map<Run<Input, String>, Handler> over = new HashMap<>();
    private final Map<Run<Input, String>, List<Integer>> drawnBy = new HashMap<>();
    private final Map<Integer, Long> nowOf = new HashMap<>();
    private final Map<Integer, Integer> numbers = new HashMap<>();
    private Map<String, Collection> state = new LinkedHashMap<>();
    private long clock = 1000;
    private long acked;
    private int arrived;

    final List<String> violations = new ArrayList<>();
    int committed;
    int here;

    /**
     * A world.
     *
     * @param blind whether handlers only write: then none of them ever runs again
     */
    LanesWorld(long seed, Broken broken, boolean blind) {
        this.broken = broken;
        this.blind = blind;
        random = new Random(seed);
        state.put("map", new Collection(new TreeMap<>()));
        state.put("list", new Collection(new TreeMap<>()));
        lanesThere = 1 + random.nextInt(3);
        lanes =
                new Lanes<>(
                        lanesThere,
                        broken == Broken.P1_NEVER_ALONE ? Integer.MAX_VALUE : Lanes.ATTEMPTS,
                        new Seen.Version<>() {
                            @Override
                            public Object entry(String collection, Object key) {
                                return state.get(collection).entries.get(key);
                            }

                            @Override
                            public Object whole(String collection) {
                                return state.get(collection);
                            }
                        });
    }

    long again() {
        return lanes.again();
    }

    private static Map<String, Collection> written(Map<String, Collection> to, Write write) {
        Map<String, Collection> after = new LinkedHashMap<>(to);
        Collection before = to.get(write.collection);
        after.put(
                write.collection,
                switch (write.op) {
                    case CLEAR -> new Collection(new TreeMap<>());
                    case ADD -> {
                        int last = before.entries.isEmpty() ? 99 : before.entries.lastKey();
                        yield before.with(Math.max(99, last) + 1, new Entry(write.value));
                    }
                    default -> before.with(write.key, new Entry(write.value));
                });
        return after;
    }

    private Input arrives() {
        int channel = random.nextInt(CHANNELS);
        List<Line> lines = new ArrayList<>();
        Op[] ops = blind ? new Op[] {Op.PUT, Op.ADD, Op.CLEAR, Op.NOW, Op.RANDOM} : Op.values();
        for (int count = 1 + random.nextInt(6); count > 0; count--) {
            Op op = ops[random.nextInt(ops.length)];
            lines.add(new Line(op, random.nextBoolean() ? "map" : "list", random.nextInt(KEYS)));
        }
        arrived++;
        return new Input(channel, numbers.merge(channel, 1, Integer::sum), lines);
    }

    /** Steps until all inputs have come and were committed, or something is wrong. */
    void run() {
        for (int steps = 0; violations.isEmpty(); steps++) {
            if (arrived == INPUTS && waiting.isEmpty()) {
                return;
            }
            if (steps > 20_000) {
                violations.add("no end: " + waiting.size() + " inputs wait for ever");
            }
            step();
        }
    }

    private void step() {
        switch (random.nextInt(8)) {
            case 0 -> {
                if (arrived < INPUTS) {
                    waiting.add(arrives());
                }
            }
            case 1 -> {
                if (random.nextInt(4) == 0) {
                    clock++;
                    // A turn that no input led to, an ack, or a channel that pauses.
                    switch (random.nextInt(3)) {
                        case 0 -> apply(List.of(new Write(Op.PUT, "map", 0, clock)));
                        case 1 -> acked++;
                        default -> pause();
                    }
                }
            }
            case 2, 3 -> turn();
            default -> {
                if (!running.isEmpty()) {
                    laneSteps(running.get(random.nextInt(running.size())));
                }
            }
        }
    }

    private void pause() {
        if (blind || waiting.isEmpty()) {
            return;
        }
        int channel = waiting.get(0).channel;
        List<Input> later = waiting.stream().filter(it -> it.channel == channel).toList();
        waiting.removeAll(later);
        waiting.addAll(later);
    }

    private void laneSteps(Handler handler) {
        if (!handler.isOver()) {
            handler.step();
        }
        if (handler.isOver()) {
            running.remove(handler);
            lanes.ended(handler.run, handler.seen);
            over.put(handler.run, handler);
        }
    }

    private void turn() {
        List<Input> upcoming = waiting.stream().limit(lanes.most()).toList();
        for (Run<Input, String> run : lanes.begin(upcoming, clock)) {
            begins(run);
        }
        if (waiting.isEmpty()) {
            return;
        }
        Input first = waiting.get(0);
        if (broken == Broken.P1_OUT_OF_ORDER) {
            List<Input> mixed = new ArrayList<>(upcoming);
            Collections.shuffle(mixed, random);
            first = mixed.get(0);
        }
        Step step = lanes.next(first);
        if (step == Step.WAIT) {
            return;
        }
        Run<Input, String> run = lanes.take(first);
        Handler done = over.get(run);
        long nowMillis = done.nowMillis;
        if (step == Step.RUN_HERE) {
            here++;
            done = new Handler(run, first, true, nowMillis, drawnBy.get(run));
            done.runToItsEnd();
        }
        commit(first, done);
    }

    private void begins(Run<Input, String> run) {
        Input input = run.input();
        if (running.size() >= lanesThere) {
            violations.add("more runs than lanes");
        }
        if (run.attempt() > Lanes.ATTEMPTS) {
            violations.add(input + " runs in a lane once more than it may");
        }
        long now = broken == Broken.P4_TIME_OF_EACH_RUN ? clock : run.nowMillis();
        List<Integer> drawn = drawnBy.computeIfAbsent(run, it -> new ArrayList<>());
        if (broken == Broken.P4_RANDOM_OF_EACH_RUN) {
            drawn = new ArrayList<>();
        }
        Handler before = over.get(run);
        Handler next = new Handler(run, input, false, now, drawn);
        if (before != null && before.drawn != next.drawn && !before.drawn.isEmpty()) {
            violations.add(input + " draws other random numbers when it runs again");
        }
        running.add(next);
    }

    private void commit(Input input, Handler done) {
        Handler alone = new Handler(null, input, true, done.nowMillis, done.drawn);
        alone.runToItsEnd();
        if (alone.sum != done.sum || !alone.writes.equals(done.writes)) {
            violations.add(input + " did something else in its lane than alone");
        }
        if (!input.equals(waiting.get(0))) {
            violations.add(input + " was committed before " + waiting.get(0));
        }
        if (nowOf.getOrDefault(input.channel, 0L) > done.nowMillis) {
            violations.add("time went back on channel " + input.channel);
        }
        nowOf.put(input.channel, done.nowMillis);
        waiting.remove(input);
        apply(done.writes);
        committed++;
    }

    private void apply(List<Write> writes) {
        for (Write write : writes) {
            state = written(state, write);
        }
        lanes.changed();
    }
}
