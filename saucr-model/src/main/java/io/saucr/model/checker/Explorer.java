package io.saucr.model.checker;

import io.saucr.model.checker.ModelChecker.Task;
import io.saucr.model.cluster.Bounds;
import io.saucr.model.cluster.Liveness;
import io.saucr.model.cluster.ModelCluster;
import io.saucr.model.cluster.PartialOrderReduction;
import io.saucr.model.cluster.PartialOrderReduction.Next;
import io.saucr.model.cluster.StateCodec;
import io.saucr.model.cluster.Step;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.BooleanSupplier;

/**
 * One thread of a search: takes states from a frontier and finds every state that follows one of
 * them. Owned by one thread at a time.
 */
final class Explorer {
    /** More steps than this never stand in one run of the reduction. */
    private static final int LONGEST_RUN = 64;

    private static final int ASK_EVERY = 256;

    private final Task task;
    private final StateSet seen;
    private final BooleanSupplier goOn;
    private final ModelCluster cluster;
    private final PartialOrderReduction reduction;
    private final StateCodec codec;
    private final ModelCluster fair;
    private final Liveness liveness;
    private final Frontier.Writer out = new Frontier.Writer();
    private final Fingerprint fingerprint = new Fingerprint();
    private final byte[] state = new byte[StateCodec.MAX_BYTES];
    private final byte[] next = new byte[StateCodec.MAX_BYTES];

    // The steps since the state that is expanded, and which steps are enabled after each of them.
    private final int[] run = new int[LONGEST_RUN];
    private final int[][] offered = new int[LONGEST_RUN][];

    private int parent;
    private long transitions;
    private int untilAsked = ASK_EVERY;

    private String violation;
    private String explanation = "";
    private int[] violatingSteps = {};

    /**
     * When a counterexample is put together: the state that is looked for, and how it is reached.
     */
    private int wanted = StateSet.NONE;

    private int[] found;

    /**
     * @param goOn asked now and then whether the search's limits allow more
     */
    Explorer(Task task, StateSet seen, BooleanSupplier goOn) {
        this.task = task;
        this.seen = seen;
        this.goOn = goOn;
        cluster = new ModelCluster(task.servers(), task.bounds(), task.broken());
        reduction = new PartialOrderReduction(cluster, LONGEST_RUN);
        // A run without faults receives the answers that are on their way.
        codec = new StateCodec(task.servers(), task.reduced() && !task.liveness());
        fair = new ModelCluster(task.servers(), Bounds.none(), task.broken());
        liveness = new Liveness(fair);
    }

    long transitions() {
        return transitions;
    }

    /** The name of the invariant that broke, null if none did. */
    String violation() {
        return violation;
    }

    String explanation() {
        return explanation;
    }

    /** The last state before it broke. */
    int violatedFrom() {
        return parent;
    }

    /** What was done after that state. */
    int[] violatingSteps() {
        return violatingSteps;
    }

    /** Puts in the state after the prefix. */
    void begin(Frontier frontier) {
        int length = afterPrefix();
        fingerprint.of(state, length);
        out.begin(frontier);
        out.write(seen.add(fingerprint, StateSet.NONE), state, length);
        out.flush();
    }

    private int afterPrefix() {
        cluster.reset();
        for (String step : task.prefix()) {
            if (!cluster.apply(Step.parse(step))) {
                throw new IllegalArgumentException(
                        "the prefix breaks " + cluster.violation() + ": " + cluster.explanation());
            }
        }
        cluster.startBounds();
        return codec.encode(cluster, state);
    }

    /** Takes states of one frontier until it is empty, and writes what is new into another one. */
    Void expand(Frontier from, Frontier to) {
        out.begin(to);
        for (ByteBuffer block = from.take(); block != null; block = from.take()) {
            while (block.hasRemaining()) {
                parent = Frontier.read(block, state);
                if (!mayGoOn() || !expand()) {
                    return null;
                }
            }
        }
        out.flush();
        return null;
    }

    private boolean mayGoOn() {
        if (--untilAsked > 0) {
            return true;
        }
        untilAsked = ASK_EVERY;
        return goOn.getAsBoolean();
    }

    private boolean expand() {
        if (task.liveness()) {
            codec.decode(fair, state);
            violation = liveness.promised() ? liveness.run() : null;
            if (violation != null) {
                explanation = liveness.explanation();
                return false;
            }
        }
        codec.decode(cluster, state);
        return follow(0);
    }

    /**
     * Takes every step that may follow those of the run; the cluster is where they lead to.
     *
     * @return false if that broke something, or found what was wanted
     */
    private boolean follow(int length) {
        if (length == 0) {
            reduction.begin();
        }
        if (offered[length] == null) {
            offered[length] = new int[ModelCluster.MAX_ENABLED];
        }
        int[] steps = offered[length];
        int count = cluster.enabled(steps);
        if (task.reduced()) {
            int kept = 0;
            for (int i = 0; i < count; i++) {
                if (reduction.mayFollow(length, steps[i])) {
                    steps[kept++] = steps[i];
                }
            }
            count = kept;
        }
        for (int i = 0; i < count; i++) {
            if (i > 0) {
                goBack(length);
            }
            if (!take(length, steps[i])) {
                return false;
            }
        }
        return true;
    }

    private void goBack(int length) {
        codec.decode(cluster, state);
        for (int i = 0; i < length; i++) {
            cluster.apply(run[i]);
        }
    }

    private boolean take(int length, int step) {
        transitions++;
        run[length] = step;
        reduction.before(step);
        if (!cluster.apply(step)) {
            violation = cluster.violation();
            explanation = cluster.explanation();
            violatingSteps = Arrays.copyOf(run, length + 1);
            return false;
        }
        Next then = task.reduced() ? reduction.after(length, step) : Next.STATE;
        if ((then == Next.STATE || then == Next.STATE_OR_GO_ON) && !reached(length + 1)) {
            return false;
        }
        return then == Next.STATE || then == Next.LEAVE_OUT || follow(length + 1);
    }

    /**
     * The run has led to a state.
     *
     * @return false if it is the one that was wanted
     */
    private boolean reached(int length) {
        int bytes = codec.encode(cluster, next);
        fingerprint.of(next, bytes);
        if (wanted != StateSet.NONE) {
            if (seen.find(fingerprint) != wanted) {
                return true;
            }
            found = Arrays.copyOf(run, length);
            return false;
        }
        int number = seen.add(fingerprint, parent);
        if (number != StateSet.NONE) {
            out.write(number, next, bytes);
        }
        return true;
    }

    // ---- A counterexample ----

    /** Goes back to the first state; result[place] is the server that the codec put there. */
    int[] restart() {
        afterPrefix();
        int[] names = new int[task.servers()];
        for (int i = 0; i < names.length; i++) {
            names[i] = codec.serverAt(i);
        }
        return names;
    }

    /** The steps that lead from the current state to another one, which follows it. */
    int[] stepsTo(int number) {
        wanted = number;
        found = null;
        codec.decode(cluster, state);
        follow(0);
        if (found == null) {
            throw new IllegalStateException("no step leads to state " + number);
        }
        return found;
    }

    /** Makes the state that was found last the current one; returns its servers' names. */
    int[] moveOn(int[] names) {
        System.arraycopy(next, 0, state, 0, next.length);
        int[] moved = new int[names.length];
        for (int i = 0; i < names.length; i++) {
            moved[i] = names[codec.serverAt(i)];
        }
        return moved;
    }
}
