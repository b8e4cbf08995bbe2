package io.saucr.model.checker;

import io.saucr.model.cluster.Bounds;
import io.saucr.model.cluster.BrokenRule;
import io.saucr.model.cluster.PartialOrderReduction;
import io.saucr.model.cluster.Step;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Explores every state that a cluster can reach within its bounds, breadth first, on several
 * threads. Owned by one thread; those that it starts end with {@link #run}.
 *
 * <p>Without reduction, the first violation found is one of the shortest. With {@link
 * PartialOrderReduction}, depth counts runs of steps instead of steps.
 */
public final class ModelChecker {

    /**
     * What is to be explored.
     *
     * @param servers number of voters
     * @param prefix steps that lead to where the search begins; they do not count against the
     *     bounds
     * @param reduced whether schedules that differ only in the order of independent steps count
     *     once
     * @param liveness whether every state is also run on without faults (L1, L2)
     * @param threads how many work, at least 1
     * @param mostStates after how many states the search gives up
     * @param mostNanos after how long it gives up
     */
    public record Task(
            int servers,
            Bounds bounds,
            Set<BrokenRule> broken,
            List<String> prefix,
            boolean reduced,
            boolean liveness,
            int threads,
            long mostStates,
            long mostNanos) {}

    /**
     * What was found.
     *
     * @param complete whether every state within the bounds was looked at
     * @param states how many different ones there are
     * @param depth how far the farthest state looked at is away
     * @param transitions how many steps were taken
     * @param violation the broken invariant's name, null if none broke
     * @param explanation how it broke, "" if none did
     * @param steps from the cluster's beginning to the violation, empty if there is none
     */
    public record Result(
            boolean complete,
            long states,
            int depth,
            long transitions,
            String violation,
            String explanation,
            List<String> steps) {}

    /** Hears how far the search is, about once per second. */
    @FunctionalInterface
    public interface Progress {
        /** After {@code states} states, {@code waiting} of which are still to be looked at. */
        void at(long states, long waiting, int depth, long nanos);
    }

    private static final long SECOND = 1_000_000_000L;

    private final Task task;
    private final Progress progress;
    private final StateSet seen = new StateSet();
    private final List<Explorer> explorers = new ArrayList<>();
    private final long memory;
    private final long started = System.nanoTime();
    private long reported = started;
    private int depth;
    private long waiting;

    public ModelChecker(Task task, Progress progress) {
        this.task = task;
        this.progress = progress;
        memory = Runtime.getRuntime().maxMemory() / 8;
        for (int i = 0; i < task.threads(); i++) {
            explorers.add(new Explorer(task, seen, this::goOn));
        }
    }

    /**
     * Searches until everything is seen, something is violated, or the task's limits are reached.
     */
    public Result run() {
        ExecutorService threads = Executors.newFixedThreadPool(task.threads());
        Frontier now = new Frontier(memory);
        try {
            explorers.get(0).begin(now);
            while (now.size() > 0) {
                waiting = now.size();
                Frontier next = new Frontier(memory);
                Frontier from = now;
                List<Callable<Void>> work = new ArrayList<>();
                explorers.forEach(explorer -> work.add(() -> explorer.expand(from, next)));
                for (Future<Void> done : threads.invokeAll(work)) {
                    done.get();
                }
                now.close();
                now = next;
                depth++;
                for (Explorer explorer : explorers) {
                    if (explorer.violation() != null) {
                        return result(false, explorer);
                    }
                }
                if (from.size() > 0 && !goOn()) {
                    return result(false, null);
                }
            }
            return result(true, null);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return result(false, null);
        } catch (ExecutionException e) {
            throw new IllegalStateException("after " + seen.size() + " states", e.getCause());
        } finally {
            now.close();
            threads.shutdownNow();
        }
    }

    /** Whether the limits allow more. */
    private synchronized boolean goOn() {
        long now = System.nanoTime();
        boolean report = now - reported >= SECOND;
        boolean timeIsUp = now - started >= task.mostNanos();
        if (!report && !timeIsUp) {
            return true;
        }
        long states = seen.size();
        if (report) {
            reported = now;
            progress.at(states, waiting, depth, now - started);
        }
        return !timeIsUp && states < task.mostStates();
    }

    private Result result(boolean complete, Explorer violated) {
        long transitions = explorers.stream().mapToLong(Explorer::transitions).sum();
        long states = seen.size();
        return violated == null
                ? new Result(complete, states, depth, transitions, null, "", List.of())
                : new Result(
                        false,
                        states,
                        depth,
                        transitions,
                        violated.violation(),
                        violated.explanation(),
                        trace(violated));
    }

    /** From the beginning, with the servers' names as they are in the prefix. */
    private List<String> trace(Explorer violated) {
        List<Integer> states = new ArrayList<>();
        for (int at = violated.violatedFrom(); at != StateSet.NONE; at = seen.parent(at)) {
            states.add(at);
        }
        Collections.reverse(states);
        Explorer explorer = new Explorer(task, seen, () -> true);
        int[] names = explorer.restart();
        List<String> trace = new ArrayList<>(task.prefix());
        for (int state : states.subList(1, states.size())) {
            for (int step : explorer.stepsTo(state)) {
                trace.add(Step.toString(Step.renamed(step, names)));
            }
            names = explorer.moveOn(names);
        }
        for (int step : violated.violatingSteps()) {
            trace.add(Step.toString(Step.renamed(step, names)));
        }
        return trace;
    }
}
