package io.saucr.model.simulator;

import io.saucr.model.cluster.Bounds;
import io.saucr.model.cluster.BrokenRule;
import io.saucr.model.cluster.Liveness;
import io.saucr.model.cluster.ModelCluster;
import io.saucr.model.cluster.Step;
import java.util.Arrays;
import java.util.Set;

/**
 * Plays recorded steps without time, leaves out those that are not possible any more, and shrinks
 * them to a few that break the same. Owned by one thread.
 */
final class Replay {
    private static final int MOST_REPLAYS = 30_000;
    private static final int MOST_KEPT = 7;

    private final ModelCluster cluster;
    private final Liveness liveness;
    private final int[] offered = new int[ModelCluster.MAX_ENABLED];
    private int[] played = new int[0];
    private int playedCount;
    private String explanation = "";

    Replay(int servers, Set<BrokenRule> broken) {
        cluster = new ModelCluster(servers, Bounds.none(), broken);
        liveness = new Liveness(cluster);
    }

    /**
     * Plays the steps.
     *
     * @param alone whether to let the cluster run on without faults, if they broke nothing and L1
     *     and L2 promise something
     * @return the name of what is broken, or null
     */
    String play(int[] steps, boolean alone) {
        cluster.reset();
        played = new int[steps.length];
        playedCount = 0;
        explanation = "";
        for (int step : steps) {
            if (!possible(step)) {
                continue;
            }
            played[playedCount++] = step;
            try {
                if (!cluster.apply(step)) {
                    explanation = cluster.explanation();
                    return cluster.violation();
                }
            } catch (IllegalStateException e) {
                explanation = e.getMessage();
                return Liveness.IMPOSSIBLE;
            }
        }
        if (!alone || !liveness.promised()) {
            return null;
        }
        String broken = liveness.run();
        explanation = liveness.explanation();
        return broken;
    }

    /** The steps of the last play that were possible, up to the one that broke something. */
    int[] played() {
        return Arrays.copyOf(played, playedCount);
    }

    /** How the last play broke something. */
    String explanation() {
        return explanation;
    }

    /** The fewest steps that could be found in these that break the same (delta debugging). */
    int[] shrink(int[] steps) {
        boolean alone = play(steps, false) == null;
        String broken = play(steps, alone);
        if (broken == null) {
            throw new IllegalArgumentException("these steps break nothing");
        }
        int[] best = played();
        int replays = 0;
        int chunk = Math.max(1, best.length / 2);
        while (replays < MOST_REPLAYS) {
            boolean shrunk = false;
            int from = 0;
            while (from < best.length && replays < MOST_REPLAYS) {
                replays++;
                int to = Math.min(from + chunk, best.length);
                if (broken.equals(play(without(best, from, to), alone))) {
                    best = played();
                    shrunk = true;
                } else {
                    from += chunk;
                }
            }
            if (chunk == 1 && !shrunk) {
                break;
            }
            chunk = Math.max(1, chunk / 2);
        }
        play(best, alone);
        return best;
    }

    private static int[] without(int[] steps, int from, int to) {
        int[] fewer = new int[steps.length - (to - from)];
        System.arraycopy(steps, 0, fewer, 0, from);
        System.arraycopy(steps, to, fewer, from, steps.length - to);
        return fewer;
    }

    private boolean possible(int step) {
        int i = Step.server(step);
        switch (Step.kind(step)) {
            case CRASH -> {
                int kept = Step.argument(step);
                return cluster.mayLosePower(i)
                        && kept <= MOST_KEPT
                        && kept <= cluster.logLength(i) - cluster.forcedLength(i);
            }
            case KILL -> {
                int kept = Step.argument(step);
                return cluster.up(i)
                        && kept <= MOST_KEPT
                        && kept <= cluster.logLength(i) - cluster.writtenLength(i);
            }
            case KILL_JOINING -> {
                return Step.argument(step) <= cluster.mayLog(i);
            }
            case LOSE_DISK -> {
                return true;
            }
            case ELECT -> {
                return cluster.looking(i) && cluster.electable(i, Step.argument(step));
            }
            default -> {
                // An answer is offered to the one who asks.
                int lister = Step.kind(step) == Step.Kind.ANSWER ? Step.other(step) : i;
                int count = cluster.enabled(lister, offered, true);
                for (int k = 0; k < count; k++) {
                    if (offered[k] == step) {
                        return true;
                    }
                }
                return false;
            }
        }
    }

    /**
     * The steps as a scenario file: inputs alone.
     *
     * @param broken as given to the constructor
     */
    static String scenario(int servers, Set<BrokenRule> broken, int[] steps, String comment) {
        StringBuilder out = new StringBuilder();
        out.append("# ").append(comment).append('\n');
        out.append("world ").append(servers);
        if (!broken.isEmpty()) {
            out.append(" breaking");
            broken.forEach(rule -> out.append(' ').append(rule.name()));
        }
        out.append('\n');
        for (int step : steps) {
            out.append(Step.toString(step)).append('\n');
        }
        out.append(broken.isEmpty() ? "alone\n" : "intact\n");
        return out.toString();
    }
}
