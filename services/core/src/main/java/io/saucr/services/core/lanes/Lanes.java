package io.saucr.services.core.lanes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Decides which inputs run ahead of their turn, at most one in each lane, and what becomes of a run
 * when the turn of its input comes (P1): it is committed where all that it saw is as it was, else
 * the input runs again. Turns are committed in the order in which they would have run one by one:
 * that order is the caller's. Turn thread.
 *
 * <p>Again and again: {@link #begin}, then {@link #next} for the input whose turn it is. Each run
 * that was begun is to be {@link #ended}.
 *
 * @param <I> inputs, equal where they are the same
 * @param <C> collections of the state
 */
public final class Lanes<I, C> {

    /** So often an input runs ahead at most; then it runs on the turn thread, at its turn. */
    static final int ATTEMPTS = 3;

    /** So many runs for each lane wait for their turn at most. */
    private static final int RUNS_PER_LANE = 4;

    /** What is to be done about the input whose turn it is. */
    public enum Step {
        /** Its run continues, or waits for a lane. */
        WAIT,
        /** All that its run saw is as it was: commit what it did. */
        COMMIT,
        /** Run it on the turn thread. */
        RUN_HERE
    }

    /** Runs of one input, one after the other, all of the same time (P4). */
    public static final class Run<I, C> {

        private final I input;
        private final long nowMillis;
        private int attempt;
        private Seen<C> seen;
        private boolean stale;
        private long unchangedAt;

        private Run(I input, long nowMillis) {
            this.input = input;
            this.nowMillis = nowMillis;
        }

        /** What runs. */
        public I input() {
            return input;
        }

        /** The time of the first run. */
        public long nowMillis() {
            return nowMillis;
        }

        /** How often it has been begun. */
        public int attempt() {
            return attempt;
        }

        private boolean goesOn() {
            return seen == null;
        }
    }

    private final int lanes;
    private final int attempts;
    private final Seen.Version<C> newest;
    private final Map<I, Run<I, C>> runs = new HashMap<>();
    private int busy;
    private long changes;
    private long again;

    /**
     * No runs yet.
     *
     * @param lanes that there are, from 1
     * @param newest the state as the newest turn left it
     */
    public Lanes(int lanes, Seen.Version<C> newest) {
        this(lanes, ATTEMPTS, newest);
    }

    Lanes(int lanes, int attempts, Seen.Version<C> newest) {
        if (lanes < 1) {
            throw new IllegalArgumentException("there are lanes from 1, not " + lanes);
        }
        this.lanes = lanes;
        this.attempts = attempts;
        this.newest = newest;
    }

    /** How many inputs it is of use to know before their turns. */
    public int most() {
        return RUNS_PER_LANE * lanes;
    }

    /**
     * Fills the lanes that are free.
     *
     * @param upcoming inputs that may run ahead, in the order in which their turns are expected, at
     *     most {@link #most}. A run of any other input is given up
     * @param nowMillis the time
     * @return what begins now, each in a lane of its own
     */
    public List<Run<I, C>> begin(List<I> upcoming, long nowMillis) {
        if (!runs.isEmpty()) {
            Set<I> expected = new HashSet<>(upcoming);
            runs.keySet().removeIf(it -> !expected.contains(it));
        }
        List<Run<I, C>> begun = new ArrayList<>();
        for (I input : upcoming) {
            if (busy == lanes) {
                break;
            }
            Run<I, C> run = runs.get(input);
            if (run == null) {
                run = new Run<>(input, nowMillis);
                runs.put(input, run);
            } else if (run.goesOn() || run.attempt >= attempts || isUnchanged(run)) {
                continue;
            } else {
                again++;
            }
            run.attempt++;
            run.seen = null;
            run.stale = false;
            busy++;
            begun.add(run);
        }
        return begun;
    }

    private boolean isUnchanged(Run<I, C> run) {
        if (run.unchangedAt != changes && !run.stale) {
            run.stale = !run.seen.isUnchangedIn(newest);
            run.unchangedAt = changes;
        }
        return !run.stale;
    }

    /**
     * A run came to its end, and its lane is free.
     *
     * @param seen all that the handler saw, whether it returned or threw
     */
    public void ended(Run<I, C> run, Seen<C> seen) {
        busy--;
        run.seen = seen;
        run.unchangedAt = -1;
    }

    /** What is to be done about an input whose turn it is, and which may run ahead. */
    public Step next(I input) {
        Run<I, C> run = runs.get(input);
        if (run == null || run.goesOn()) {
            return Step.WAIT;
        }
        if (run.seen.isSeenAgainIn(newest)) {
            return Step.COMMIT;
        }
        // An answer about turns before may be another one now, and the state the same.
        run.stale = true;
        return run.attempt < attempts ? Step.WAIT : Step.RUN_HERE;
    }

    /** Its turn is there, and is committed or fails now: it is forgotten. */
    public Run<I, C> take(I input) {
        return runs.remove(input);
    }

    /** The state was changed. */
    public void changed() {
        changes++;
    }

    /** Whether any run continues, given up or not. */
    public boolean anyRuns() {
        return busy > 0;
    }

    /** How often an input ran again as something that it saw had changed. */
    public long again() {
        return again;
    }
}
