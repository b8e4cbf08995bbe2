package io.saucr.model.simulator;

import io.saucr.core.quorum.Quorums;
import io.saucr.model.cluster.Bounds;
import io.saucr.model.cluster.BrokenRule;
import io.saucr.model.cluster.Liveness;
import io.saucr.model.cluster.ModelCluster;
import io.saucr.model.cluster.Step;
import io.saucr.model.cluster.Step.Kind;
import java.util.Arrays;
import java.util.Set;

/**
 * One schedule of a {@link Simulation}: the cluster, the dice, the time and who reaches whom, and
 * the steps that were taken so far. Owned by one thread.
 */
final class Schedule {
    private static final long DEATHS = 0x6b696c6c65640000L;
    private static final long MODES = 0x6d6f646573000000L;

    final ModelCluster cluster;
    final int n;
    final int bareMajority;
    final Liveness liveness;
    final Dice dice = new Dice();

    /** For clients' syncs: dice of their own, so that syncs change nothing else in a schedule. */
    final Dice clients = new Dice();

    /** For deaths and lost disks: a seed without them gives the same schedule as ever. */
    final Dice deaths = new Dice();

    /** For what changes a leader's mode apart from its clients. */
    final Dice modes = new Dice();

    final Conditions conditions = new Conditions();
    final Coverage coverage = new Coverage();

    // Times, in ticks.
    int now;
    final int[] pausedUntil;
    final int[] diskBusyUntil;
    final int[] restartAt;
    int partition;
    int partitionEnds;

    /** Steps for syncs and modes, which count neither for the length nor for faults. */
    int takenAside;

    /** The name of the property that is broken, or null. */
    String violation;

    /** How it was broken. */
    String explanation = "";

    private int[] taken = new int[Simulation.STEPS + 64];
    private int takenCount;

    Schedule(int servers, Set<BrokenRule> broken) {
        cluster = new ModelCluster(servers, Bounds.none(), broken);
        n = servers;
        bareMajority = Quorums.bareMajority(n);
        liveness = new Liveness(cluster);
        pausedUntil = new int[n];
        diskBusyUntil = new int[n];
        restartAt = new int[n];
    }

    /** A new one, by this seed. */
    void begin(long seed) {
        dice.seed(seed);
        clients.seed(~seed);
        deaths.seed(seed ^ DEATHS);
        modes.seed(seed ^ MODES);
        conditions.draw(dice, clients);
        conditions.drawDeaths(deaths);
        cluster.reset();
        now = 0;
        Arrays.fill(pausedUntil, 0);
        Arrays.fill(diskBusyUntil, 0);
        Arrays.fill(restartAt, 0);
        partition = 0;
        partitionEnds = 0;
        takenCount = 0;
        takenAside = 0;
        violation = null;
        explanation = "";
    }

    int[] steps() {
        return Arrays.copyOf(taken, takenCount);
    }

    /** How many steps count. */
    int length() {
        return takenCount - takenAside;
    }

    /** Whether a packet of one reaches the other one, who runs and is not paused. */
    boolean hears(int i, int other) {
        return connected(i, other) && cluster.up(other) && now >= pausedUntil[other];
    }

    boolean connected(int i, int other) {
        return now >= partitionEnds || (partition >> i & 1) == (partition >> other & 1);
    }

    /** Adds the steps that {@link Liveness} took. */
    void appendRun() {
        int[] more = liveness.steps();
        taken = Arrays.copyOf(taken, takenCount + more.length);
        System.arraycopy(more, 0, taken, takenCount, more.length);
        takenCount += more.length;
    }

    void take(int step) {
        if (takenCount == taken.length) {
            taken = Arrays.copyOf(taken, 2 * takenCount);
        }
        taken[takenCount++] = step;
        boolean hadLostDisk = Step.kind(step) == Kind.FINISH && cluster.lost(Step.server(step));
        coverage.disksRecovered += hadLostDisk ? 1 : 0;
        try {
            if (!cluster.apply(step)) {
                violation = cluster.violation();
                explanation = cluster.explanation();
            }
        } catch (IllegalStateException e) {
            // The product's classes, and the cluster, refuse what must never happen.
            violation = Liveness.IMPOSSIBLE;
            explanation = e.getMessage();
        }
    }
}
