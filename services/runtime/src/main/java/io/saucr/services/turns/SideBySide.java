package io.saucr.services.turns;

import io.saucr.services.Asks;
import io.saucr.services.Caller;
import io.saucr.services.Sent;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.State;
import io.saucr.services.core.Ahead;
import io.saucr.services.core.Input;
import io.saucr.services.core.Moment;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.core.lanes.Lanes;
import io.saucr.services.core.lanes.Lanes.Run;
import io.saucr.services.core.lanes.Seen;
import io.saucr.services.once.TurnGuard;
import io.saucr.services.state.LaneState;
import io.saucr.services.state.StateSnapshot;
import io.saucr.services.state.StateStore;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Runs handlers ahead of their turns, each in a lane with a service of its own (P1 to P5). It never
 * changes the state: {@link Turns} commits what a run did, at its turn. Messages run ahead;
 * queries, timers, results and answers run on the turn thread, and so does a handler that asks
 * another service.
 *
 * <p>Turn thread, apart from what a lane runs.
 */
final class SideBySide {

    /** So many ids of timers are kept for a run; one that sets more runs on the turn thread. */
    private static final int TIMERS_PER_RUN = 1_000;

    /** Between two looks of a lane that waits for an answer, whether the turns are over. */
    private static final long LOOK_MILLIS = 100;

    private final String name;
    private final StateStore state;
    private final ServiceCore core;
    private final OpenTurn.Past past;
    private final TurnOptions options;
    private final Turns.Surroundings surroundings;
    private final Rules rules;
    private final Lanes<Ahead, Object> lanes;
    private final List<Lane> all = new ArrayList<>();
    private final ArrayDeque<Lane> free = new ArrayDeque<>();
    private final Map<Ahead, Runs> runs = new HashMap<>();

    /** Inputs that turned out not to run in a lane. */
    private final Set<Ahead> here = new HashSet<>();

    /** Types whose handlers turned out to ask others. */
    private final Set<String> asking = new HashSet<>();

    /** The input whose turn it is, and its runs, where there were any. */
    private Input chosen;

    private Runs chosenRuns;
    private long timersKept;
    private volatile StateSnapshot newest;
    private volatile boolean over;

    /** Which inputs run ahead, and from where they came. Turn thread. */
    interface Rules {
        boolean mayRunAhead(Input input);

        Optional<String> sender(Input input);

        Optional<Caller> caller(Input input);

        /** A handler runs again, as something that it saw has changed. */
        void again();
    }

    /**
     * A run that is to be committed.
     *
     * @param thrown by the handler, or null
     * @param written null where it threw
     * @param nanos that it took in its lane
     */
    record Done(OpenTurn turn, LaneState.Written written, Throwable thrown, long nanos) {}

    /** Runs of one input. */
    private static final class Runs {
        private final Run<Ahead, Object> run;
        private final DrawnNumbers numbers;
        private Done done;
        private boolean commit;

        Runs(Run<Ahead, Object> run, DrawnNumbers numbers) {
            this.run = run;
            this.numbers = numbers;
        }
    }

    private static final class Lane {
        private final LaneState view;
        private final RecordMessages types;
        private final HandlerTable handlers;
        private volatile long sinceNanos;

        Lane(StateStore state, Function<State, ? extends Service> constructor) {
            view = new LaneState(state);
            Service service = constructor.apply(view);
            types = new RecordMessages(view.codec());
            handlers = HandlerTable.of(service, types);
        }
    }

    /** Ends a run that has to be on the turn thread. */
    private static final class OnTurnThreadException extends RuntimeException {

        private static final long serialVersionUID = 1;

        OnTurnThreadException(String why) {
            super(why, null, false, false);
        }
    }

    /** Makes the lanes, each with a service of its own. */
    SideBySide(
            String name,
            Function<State, ? extends Service> constructor,
            StateStore state,
            ServiceCore core,
            OpenTurn.Past past,
            TurnOptions options,
            Turns.Surroundings surroundings,
            Rules rules) {
        this.name = name;
        this.state = state;
        this.core = core;
        this.past = past;
        this.options = options;
        this.surroundings = surroundings;
        this.rules = rules;
        lanes = new Lanes<>(options.lanes(), state.newest());
        for (int lane = 0; lane < options.lanes(); lane++) {
            all.add(new Lane(state, constructor));
        }
        free.addAll(all);
    }

    /** Before the first turn. */
    void begin() {
        newest = state.snapshot();
    }

    /** The state was changed by a turn. */
    void changed() {
        newest = state.snapshot();
        lanes.changed();
    }

    /** Whether a handler runs ahead of its turn now. */
    boolean anyRuns() {
        return lanes.anyRuns();
    }

    /** When the oldest handler began that runs in a lane; 0 where none does. Any thread. */
    long sinceNanos() {
        long oldest = 0;
        for (Lane lane : all) {
            long since = lane.sinceNanos;
            if (since != 0 && (oldest == 0 || since - oldest < 0)) {
                oldest = since;
            }
        }
        return oldest;
    }

    /** Lets lanes wait for no answer any more, as there are no turns. Any thread. */
    void over() {
        over = true;
    }

    /**
     * Fills the lanes.
     *
     * @return whether the next turn waits for a lane
     */
    boolean waits(Moment at) {
        chosen = null;
        chosenRuns = null;
        List<Ahead> expected = core.expected(lanes.most(), at);
        here.retainAll(expected);
        List<Ahead> upcoming = upcoming(expected);
        runs.keySet().retainAll(upcoming);
        for (Run<Ahead, Object> run : lanes.begin(upcoming, core.nowMillis())) {
            begin(run);
        }
        if (expected.isEmpty()) {
            return false;
        }
        Ahead first = expected.get(0);
        Lanes.Step step = Lanes.Step.RUN_HERE;
        if (upcoming.contains(first)) {
            step = lanes.next(first);
            if (step == Lanes.Step.WAIT) {
                return true;
            }
            lanes.take(first);
        }
        chosen = first.input();
        chosenRuns = runs.remove(first);
        if (chosenRuns != null) {
            chosenRuns.commit = step == Lanes.Step.COMMIT;
            if (!chosenRuns.commit && chosenRuns.done != null) {
                rules.again();
            }
        }
        return false;
    }

    /** Of each sender those in front of the first one that cannot run ahead (P4). */
    private List<Ahead> upcoming(List<Ahead> expected) {
        List<Ahead> upcoming = new ArrayList<>();
        Set<String> stopped = new HashSet<>();
        for (Ahead each : expected) {
            String from = each.input() instanceof Input.Outside it ? it.caller() : each.channel();
            if (stopped.contains(from)) {
                continue;
            }
            if (!here.contains(each)
                    && !asking.contains(each.input().body().type())
                    && rules.mayRunAhead(each.input())) {
                upcoming.add(each);
            } else {
                stopped.add(from);
            }
        }
        return upcoming;
    }

    /** The run of an input whose turn it is, where it is to be committed. */
    Optional<Done> done(Input input) {
        return input.equals(chosen) && chosenRuns != null && chosenRuns.commit
                ? Optional.of(chosenRuns.done)
                : Optional.empty();
    }

    /** The time of an input whose turn it is (P4). */
    long nowMillis(Input input) {
        return input.equals(chosen) && chosenRuns != null
                ? chosenRuns.run.nowMillis()
                : core.nowMillis();
    }

    /** The random numbers of an input whose turn it is (P4). */
    DrawnNumbers numbers(Input input) {
        DrawnNumbers numbers =
                input.equals(chosen) && chosenRuns != null
                        ? chosenRuns.numbers
                        : new DrawnNumbers(surroundings.random());
        numbers.again();
        return numbers;
    }

    private void begin(Run<Ahead, Object> run) {
        Runs of =
                runs.computeIfAbsent(
                        run.input(), it -> new Runs(run, new DrawnNumbers(surroundings.random())));
        of.done = null;
        of.numbers.again();
        if (run.attempt() > 1) {
            rules.again();
        }
        timersKept = Math.max(timersKept, core.newestTimer());
        LanePast asks = new LanePast(timersKept);
        timersKept += TIMERS_PER_RUN;
        Input input = run.input().input();
        Lane lane = free.remove();
        Optional<String> sender = rules.sender(input);
        Optional<Caller> caller = rules.caller(input);
        surroundings
                .lanes()
                .execute(
                        () -> {
                            try {
                                run(of, lane, input, asks, sender, caller);
                            } catch (RuntimeException | Error e) {
                                surroundings.between().accept(() -> failed(e));
                            }
                        });
    }

    private static void failed(Throwable e) {
        throw new IllegalStateException("a lane failed outside of its handler", e);
    }

    /** Runs a handler. The lane's thread. */
    private void run(
            Runs of,
            Lane lane,
            Input input,
            LanePast asks,
            Optional<String> sender,
            Optional<Caller> caller) {
        long from = System.nanoTime();
        lane.sinceNanos = from;
        lane.view.begin(() -> newest);
        Seen<Object> seen = lane.view.seen();
        asks.seen = seen;
        OpenTurn turn =
                new OpenTurn(
                        name,
                        lane.handlers,
                        lane.types,
                        asks,
                        Instant.ofEpochMilli(of.run.nowMillis()),
                        of.numbers,
                        sender,
                        caller,
                        false,
                        options.largestMessageBytes(),
                        options.noEnsemble(),
                        options.routing());
        LaneState.Written written = null;
        Throwable thrown = null;
        TurnGuard.enter(name);
        try {
            handle(lane, input, turn, asks);
        } catch (Throwable e) {
            thrown = e;
        } finally {
            TurnGuard.leave();
            turn.end();
            // A handler that was interrupted, or says so, must not end the lane.
            boolean unused = Thread.interrupted();
        }
        try {
            written = lane.view.end();
        } catch (IllegalStateException e) {
            // A value was changed in place (C12).
            thrown = thrown == null ? e : thrown;
        }
        lane.sinceNanos = 0;
        Done done = new Done(turn, written, thrown, System.nanoTime() - from);
        surroundings.between().accept(() -> ended(of, lane, asks, seen, done));
    }

    private void handle(Lane lane, Input input, OpenTurn turn, LanePast asks) throws Exception {
        String type = input.body().type();
        Object message;
        try {
            message =
                    lane.types.decode(lane.handlers.type(type).orElseThrow(), input.body().bytes());
        } catch (IllegalArgumentException e) {
            throw asks.onTurnThread("it cannot be read");
        }
        if (options.routing().refusal(message).isPresent()) {
            throw asks.onTurnThread("it is of another partition");
        }
        if (message instanceof Asks<?> it) {
            turn.take(it);
        }
        lane.handlers.message(type).orElseThrow().take(message, turn);
        turn.throwUnlessAnswered(message);
    }

    private void ended(Runs of, Lane lane, LanePast asks, Seen<Object> seen, Done done) {
        if (done.thrown() instanceof VirtualMachineError error
                && !(error instanceof StackOverflowError)) {
            throw error;
        }
        free.add(lane);
        lanes.ended(of.run, seen);
        if (runs.get(of.run.input()) == of) {
            of.done = done;
            if (asks.asked) {
                asking.add(of.run.input().input().body().type());
            } else if (asks.here) {
                here.add(of.run.input());
            }
        }
    }

    /** What a run asks of the turns before it: the turn thread answers, and is asked again (P3). */
    private final class LanePast implements OpenTurn.Past {

        private final long timersFrom;
        private Seen<Object> seen;
        private long timers;
        private boolean here;
        private boolean asked;

        LanePast(long timersFrom) {
            this.timersFrom = timersFrom;
        }

        RuntimeException onTurnThread(String why) {
            here = true;
            return new OnTurnThreadException(why);
        }

        private <T> T answer(Supplier<T> question) {
            CompletableFuture<T> answer = new CompletableFuture<>();
            surroundings
                    .between()
                    .accept(
                            () -> {
                                try {
                                    answer.complete(question.get());
                                } catch (RuntimeException e) {
                                    answer.completeExceptionally(e);
                                }
                            });
            T given = await(answer);
            seen.asked(question, given);
            return given;
        }

        private <T> T await(CompletableFuture<T> answer) {
            boolean interrupted = false;
            try {
                while (true) {
                    try {
                        return answer.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                    } catch (TimeoutException e) {
                        if (over) {
                            throw new ServiceException("the turns of " + name + " are over");
                        }
                    } catch (InterruptedException e) {
                        interrupted = true;
                    } catch (ExecutionException e) {
                        throw new IllegalStateException(e.getCause());
                    }
                }
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        @Override
        public boolean numbersMessages() {
            return false;
        }

        @Override
        public long sentTo(String service) {
            return 0;
        }

        @Override
        public boolean acked(String service, long number) {
            return answer(() -> past.acked(service, number));
        }

        @Override
        public long newestTimer() {
            return 0;
        }

        @Override
        public long nextTimer(long newestOfTurn) {
            if (timers == 0) {
                // Ids rise from turn to turn, with gaps.
                seen.asked(() -> core.newestTimer() <= timersFrom, true);
            }
            if (++timers > TIMERS_PER_RUN) {
                throw onTurnThread("it sets many timers");
            }
            return timersFrom + timers;
        }

        @Override
        public boolean isSet(long timer) {
            return answer(() -> past.isSet(timer));
        }

        @Override
        public boolean waits(Caller caller) {
            if (RequestKeys.isCaller(caller)) {
                throw onTurnThread("it answers a request that has a key");
            }
            return answer(() -> past.waits(caller));
        }

        @Override
        public void throwUnlessAsking() {
            asked = true;
            throw onTurnThread("it asks another service");
        }

        @Override
        public void ask(Sent sent, Questions.Question question) {
            throwUnlessAsking();
        }

        @Override
        public boolean isOver(Caller caller) {
            return caller.pair() != 0 && answer(() -> past.isOver(caller));
        }
    }
}
