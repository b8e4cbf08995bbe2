package io.saucr.model.simulator;

import io.saucr.model.cluster.Liveness;
import io.saucr.model.cluster.ModelCluster;
import io.saucr.model.cluster.Step;
import io.saucr.model.cluster.Step.Kind;

/**
 * What fails in a {@link Schedule}, within the budget of {@link Simulation}. Owned by one thread.
 */
final class Faults {
    private static final int MOST_PARTITION = 600;
    private static final int MOST_PAUSE = 400;
    private static final int KEPT_LIMIT = 8;

    private final Schedule schedule;
    private final ModelCluster cluster;
    private final int n;
    private final int bareMajority;
    private final Liveness liveness;
    private final Dice dice;
    private final Dice deaths;
    private final Conditions conditions;
    private final Coverage coverage;
    private final int[] pausedUntil;
    private final int[] diskBusyUntil;
    private final int[] restartAt;

    private boolean powerGoesNext;

    Faults(Schedule schedule) {
        this.schedule = schedule;
        cluster = schedule.cluster;
        n = schedule.n;
        bareMajority = schedule.bareMajority;
        liveness = schedule.liveness;
        dice = schedule.dice;
        deaths = schedule.deaths;
        conditions = schedule.conditions;
        coverage = schedule.coverage;
        pausedUntil = schedule.pausedUntil;
        diskBusyUntil = schedule.diskBusyUntil;
        restartAt = schedule.restartAt;
    }

    /** Before a new schedule. */
    void begin() {
        powerGoesNext = false;
    }

    /** Ticks from one death to the next at most: soon where power goes next. */
    int mostToNextDeath() {
        return powerGoesNext ? conditions.downTime : 2 * conditions.deathGap;
    }

    /** One fault of machines, networks and disks. */
    void happens() {
        int at =
                dice.below(
                        conditions.crashes
                                + conditions.partitions
                                + conditions.lostConnections
                                + conditions.pauses
                                + conditions.slowDisks
                                + conditions.suspicions);
        if ((at -= conditions.crashes) < 0) {
            crashes();
        } else if ((at -= conditions.partitions) < 0) {
            schedule.partition = dice.below(1 << n);
            schedule.partitionEnds = schedule.now + dice.below(MOST_PARTITION);
            coverage.partitions++;
        } else if ((at -= conditions.lostConnections) < 0) {
            loseConnection(dice.below(n));
        } else if ((at -= conditions.pauses) < 0) {
            pausedUntil[dice.below(n)] = schedule.now + dice.below(MOST_PAUSE);
            coverage.pauses++;
        } else if ((at -= conditions.slowDisks) < 0) {
            diskBusyUntil[dice.below(n)] = schedule.now + dice.below(MOST_PAUSE);
            coverage.slowDisks++;
        } else {
            suspect(dice.below(n));
        }
    }

    private void crashes() {
        int together = 1 + dice.below(conditions.crashesTogether);
        int first = dice.below(n);
        int crashed = 0;
        for (int k = 0; k < n && crashed < together && schedule.violation == null; k++) {
            int i = (first + k) % n;
            if (cluster.up(i) && (conditions.disaster || recoverableWithout(i))) {
                crash(i);
                crashed++;
            }
        }
        if (crashed > 1) {
            coverage.simultaneousCrashes += crashed;
        }
    }

    private boolean recoverableWithout(int crashing) {
        if (!cluster.needsRecovery(crashing) || cluster.recovering(crashing)) {
            return true;
        }
        return enoughKnowWithout(crashing);
    }

    /**
     * Whether everybody recovers from the others who need not, schedule.now or when they start:
     * once all are there again, if a part of them is not enough for that.
     */
    boolean enoughKnowWithout(int server) {
        int know = 0;
        for (int j = 0; j < n; j++) {
            boolean knows = cluster.recovered(j) || (!cluster.up(j) && cluster.completeAtStart(j));
            know |= j != server && knows ? 1 << j : 0;
        }
        return liveness.allRecover(know, (1 << n) - 1);
    }

    /** How many have not lost their disks, or have recovered since. */
    int disksLeft() {
        int disks = 0;
        for (int j = 0; j < n; j++) {
            disks += cluster.lost(j) ? 0 : 1;
        }
        return disks;
    }

    // ---- Processes and disks alone ----

    /** One death of processes or disks alone, or of machines whose processes are dead. */
    void death() {
        int first = deaths.below(n);
        if (powerGoesNext) {
            powerGoesNext = false;
            losePowerAfterDeath(first);
        } else if (deaths.below(conditions.deaths + conditions.lostDisks) < conditions.deaths) {
            deathsOfProcesses(first);
            powerGoesNext = deaths.below(8) < conditions.powerAfterDeath;
        } else {
            loseDisk(first);
        }
    }

    private void deathsOfProcesses(int first) {
        int together = deaths.oneIn(3) ? n : 1 + deaths.below(n);
        int died = 0;
        for (int k = 0; k < n && died < together && schedule.violation == null; k++) {
            int i = (first + k) % n;
            if (cluster.up(i)) {
                kill(i);
                died++;
            }
        }
        coverage.simultaneousDeaths += died > 1 ? died : 0;
        coverage.deathsOfAll += died == n ? 1 : 0;
    }

    /** The process of a server dies. */
    void kill(int i) {
        int unwritten = Math.min(cluster.logLength(i) - cluster.writtenLength(i), KEPT_LIMIT - 1);
        int kept = unwritten > 0 && deaths.oneIn(3) ? deaths.below(unwritten + 1) : 0;
        coverage.fastDeaths += cluster.recovered(i) && cluster.needsRecovery(i) ? 1 : 0;
        restartAt[i] = schedule.now + deaths.below(conditions.downTime);
        int mayLog = Math.min(cluster.mayLog(i), KEPT_LIMIT - 1);
        if (mayLog > 0 && deaths.oneIn(2)) {
            schedule.take(Step.of(Kind.KILL_JOINING, i, 0, 1 + deaths.below(mayLog)));
        } else {
            coverage.partialDeaths += kept > 0 ? 1 : 0;
            schedule.take(Step.of(Kind.KILL, i, 0, kept));
        }
    }

    private void loseDisk(int i) {
        if (cluster.lost(i) || (!conditions.disaster && !recoverableWithoutDisk(i))) {
            return;
        }
        restartAt[i] = schedule.now + deaths.below(conditions.downTime);
        schedule.take(Step.of(Kind.LOSE_DISK, i, 0, 0));
    }

    private boolean recoverableWithoutDisk(int i) {
        return disksLeft() - 1 >= bareMajority && enoughKnowWithout(i);
    }

    /** The power of machines goes whose processes are dead already. */
    private void losePowerAfterDeath(int first) {
        for (int k = 0; k < n && schedule.violation == null; k++) {
            int i = (first + k) % n;
            if (!cluster.up(i)
                    && cluster.mayLosePower(i)
                    && (conditions.disaster || recoverableWithout(i))) {
                coverage.powerAfterDeath++;
                schedule.take(Step.of(Kind.CRASH, i, 0, 0));
            }
        }
    }

    private void crash(int i) {
        int unforced = Math.min(cluster.logLength(i) - cluster.forcedLength(i), KEPT_LIMIT - 1);
        int kept = unforced > 0 && dice.oneIn(3) ? dice.below(unforced + 1) : 0;
        coverage.partialCrashes += kept > 0 ? 1 : 0;
        coverage.fastCrashes += cluster.recovered(i) && cluster.needsRecovery(i) ? 1 : 0;
        restartAt[i] = schedule.now + dice.below(conditions.downTime);
        schedule.take(Step.of(Kind.CRASH, i, 0, kept));
    }

    /** One end notices schedule.now. */
    private void loseConnection(int i) {
        int leader = cluster.leaderOf(i);
        if (leader >= 0) {
            boolean followersEnd = !cluster.hasConnection(leader, i) || dice.oneIn(2);
            schedule.take(
                    followersEnd
                            ? Step.of(Kind.LEAVE, i, 0, 0)
                            : Step.of(Kind.CLOSE, leader, i, 0));
        } else if (cluster.leads(i) && dice.oneIn(4)) {
            schedule.take(Step.of(Kind.STEP_DOWN, i, 0, 0));
        }
    }

    private void suspect(int i) {
        if (cluster.fastMode(i)) {
            schedule.take(Step.of(Kind.SUSPECT, i, 0, 0));
        }
    }
}
