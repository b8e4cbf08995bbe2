package io.saucr.model.simulator;

import io.saucr.model.cluster.BrokenRule;
import io.saucr.model.cluster.Liveness;
import io.saucr.model.cluster.ModelCluster;
import io.saucr.model.cluster.Step;
import io.saucr.model.cluster.Step.Kind;
import java.util.Set;

/**
 * Random schedules of a {@link ModelCluster} under time: what servers do takes ticks, silence makes
 * them flush and then leave, and things fail. The seed alone decides. Every step is recorded; the
 * recorded steps alone lead to the same end, without time.
 *
 * <p>The fault budget. Any number, one after the other or together, of:
 *
 * <ul>
 *   <li>crashes of 1 to 4 servers in one instant, which lose everything that is not forced, or only
 *       an end of it (a torn tail); in 15 of 16 schedules none after which the servers that know
 *       what they have are too few for the others to recover, because such an ensemble rightly
 *       waits for ever;
 *   <li>deaths of the processes of 1 to n servers in one instant, of all of them every third time:
 *       what was written stays, and a part of the buffer may (R25); a machine whose process is dead
 *       may lose power before the next start;
 *   <li>disks that are lost with everything on them (R26), of servers that run or are dead; in 15
 *       of 16 schedules none that would leave fewer than a bare majority of disks that are not lost
 *       or recovered, which is enough for n-B+1 answers, or too few servers that know what they
 *       have;
 *   <li>restarts between at once and 160 ticks later;
 *   <li>partitions in two parts, of up to 600 ticks: nothing passes, nothing is lost;
 *   <li>connections that break, noticed by one end now and by the other one later or never;
 *   <li>pauses of a server, and disks that do not finish a force, of up to 400 ticks;
 *   <li>followers that a leader takes for late although they are not.
 * </ul>
 *
 * <p>No disk loses a part of what was forced, no server lies, and the configuration stays the same.
 * A tick is a chance of one server to do something. Leaders' clients ask for syncs all the time
 * (R22).
 *
 * <p>After {@value #STEPS} steps, those for syncs not counted, faults end, some or all of those
 * that are down start again, and if a bare majority is up and can recover, the ensemble must serve
 * ({@link Liveness}). Owned by one thread.
 *
 * <p>On demand ({@link #withModes}), with dice of their own, also: operators forbid fast mode,
 * leaders hold proposals back, miss heartbeats of single followers, and stand still.
 *
 * <p>Deaths and lost disks have dice of their own, and every sixth schedule has none: up to the
 * first of them a schedule is what it is without ({@link #ofPowerAlone}).
 *
 * <p>Beside these there are schedules in which nothing fails but one disk, which never finishes a
 * force again, the leader's or a follower's: {@link #runWithHungDisk}; and some at whose end all
 * processes die at once: {@link #runUntilAllDie}.
 */
final class Simulation {
    /** Steps in a schedule, before it is seen whether the ensemble serves again. */
    static final int STEPS = 1000;

    private static final int MOST_TICKS = 12 * STEPS;
    private static final int BETWEEN_HAND_OVERS = 256;

    // With a hung disk: ticks until it hangs at most, and in which at least one write must commit
    // then.
    private static final int MOST_UNTIL_HUNG = 4_000;
    private static final int MOST_WITHOUT_COMMIT = 4_000;
    private static final int WINDOWS = 3;

    /** What is broken when the death of all processes leaves too few that know what they have. */
    static final String COMPLETE = "R25";

    /** What is broken when writes do not continue next to a hung disk. */
    static final String PROGRESS = "R24";

    private final Schedule schedule;
    private final ServerTurns turns;
    private final Faults faults;
    private final TimelyAcks acks;
    private final ModelCluster cluster;
    private final int n;
    private final int bareMajority;
    private final Liveness liveness;
    private final Dice dice;
    private final Dice clients;
    private final Dice deaths;
    private final Dice modes;
    private final Conditions conditions;
    private final Coverage coverage;
    private final int[] pausedUntil;
    private final boolean powerAlone;
    private final boolean withModes;
    private final int[] offered = new int[ModelCluster.MAX_ENABLED];
    private int nextFault;
    private int nextDeath;

    Simulation(int servers, Set<BrokenRule> broken) {
        this(servers, broken, false, false);
    }

    /** One in which machines lose power, but no process dies and no disk is lost alone. */
    static Simulation ofPowerAlone(int servers, Set<BrokenRule> broken) {
        return new Simulation(servers, broken, true, false);
    }

    /**
     * One in which operators forbid fast mode, leaders hold proposals back, miss heartbeats of
     * single followers, and stand still.
     */
    static Simulation withModes(int servers, Set<BrokenRule> broken) {
        return new Simulation(servers, broken, false, true);
    }

    private Simulation(int servers, Set<BrokenRule> broken, boolean powerAlone, boolean withModes) {
        this.powerAlone = powerAlone;
        this.withModes = withModes;
        schedule = new Schedule(servers, broken);
        acks = new TimelyAcks(schedule);
        turns = new ServerTurns(schedule, acks);
        faults = new Faults(schedule);
        cluster = schedule.cluster;
        n = servers;
        bareMajority = schedule.bareMajority;
        liveness = schedule.liveness;
        dice = schedule.dice;
        clients = schedule.clients;
        deaths = schedule.deaths;
        modes = schedule.modes;
        conditions = schedule.conditions;
        coverage = schedule.coverage;
        pausedUntil = schedule.pausedUntil;
    }

    /** What all schedules together have reached. */
    Coverage coverage() {
        return coverage;
    }

    /** The steps of the last schedule. */
    int[] steps() {
        return schedule.steps();
    }

    /** The name of the property that the last schedule broke, or null. */
    String violation() {
        return schedule.violation;
    }

    /** How it was broken. */
    String explanation() {
        return schedule.explanation;
    }

    /**
     * Runs one schedule.
     *
     * @return false if it broke something
     */
    boolean run(long seed) {
        begin(seed);
        runWithFaults();
        if (schedule.violation == null) {
            restartSome();
        }
        if (schedule.violation == null) {
            end();
        }
        count();
        return schedule.violation == null;
    }

    /**
     * Runs one schedule, at whose end all processes die in one instant, and start again. Where
     * enough servers to continue knew what they had, or would have at their start, the ensemble
     * must serve (R25).
     *
     * @return false if it broke something
     */
    boolean runUntilAllDie(long seed) {
        begin(seed);
        runWithFaults();
        int nobody = -1;
        boolean enough = faults.enoughKnowWithout(nobody) && faults.disksLeft() >= bareMajority;
        for (int i = 0; i < n && schedule.violation == null; i++) {
            if (cluster.up(i)) {
                faults.kill(i);
            }
        }
        for (int i = 0; i < n && schedule.violation == null; i++) {
            schedule.take(Step.of(Kind.RESTART, i, 0, 0));
        }
        if (schedule.violation == null && enough && !liveness.promised()) {
            schedule.violation = COMPLETE;
            schedule.explanation =
                    "the death of all processes left too few that know what they have";
        }
        if (schedule.violation == null) {
            end();
        }
        count();
        return schedule.violation == null;
    }

    private void runWithFaults() {
        while (schedule.length() < STEPS
                && schedule.now < MOST_TICKS
                && schedule.violation == null) {
            schedule.now++;
            if (schedule.now >= nextDeath) {
                faults.death();
                nextDeath = schedule.now + 1 + deaths.below(faults.mostToNextDeath());
            }
            if (schedule.violation == null && schedule.now >= nextFault) {
                faults.happens();
                nextFault = schedule.now + 1 + dice.below(2 * conditions.faultGap);
            } else if (schedule.violation == null) {
                int i = dice.below(n);
                turns.of(i);
                if (schedule.violation == null) {
                    serveSyncs(i);
                }
                if (schedule.violation == null && withModes) {
                    changeModes(i, false);
                    handOver(i);
                }
            }
        }
    }

    /**
     * Runs one schedule in which the disk of one server hangs for ever, and nothing else fails.
     *
     * @param heartbeatsAlone whether everyone who is heard counts as prompt, as before R24
     * @return false if writes stopped
     */
    boolean runWithHungDisk(long seed, boolean heartbeatsAlone) {
        begin(seed);
        int hangsAt = dice.below(MOST_UNTIL_HUNG);
        int hung = dice.below(n);
        for (int window = 0; window <= WINDOWS && schedule.violation == null; window++) {
            long before = cluster.fastCommits() + cluster.slowCommits();
            int end = schedule.now + (window == 0 ? hangsAt : MOST_WITHOUT_COMMIT);
            while (schedule.now < end && schedule.violation == null) {
                schedule.now++;
                int i = dice.below(n);
                if (!heartbeatsAlone) {
                    acks.watch(i);
                }
                turns.of(i);
                if (schedule.violation == null && withModes) {
                    changeModes(i, true);
                }
            }
            boolean commits = cluster.fastCommits() + cluster.slowCommits() > before;
            if (window == 0) {
                schedule.diskBusyUntil[hung] = Integer.MAX_VALUE;
            } else if (!commits && schedule.violation == null) {
                schedule.violation = PROGRESS;
                schedule.explanation =
                        "nothing was committed in %s ticks while the disk of server %s hangs"
                                .formatted(MOST_WITHOUT_COMMIT, hung + 1);
            }
        }
        acks.end();
        return schedule.violation == null;
    }

    private void begin(long seed) {
        schedule.begin(seed);
        nextFault = 200 + dice.below(2 * conditions.faultGap);
        nextDeath =
                powerAlone || conditions.deathGap == Conditions.NEVER
                        ? Integer.MAX_VALUE
                        : 200 + deaths.below(2 * conditions.deathGap);
        turns.begin();
        faults.begin();
        acks.end();
    }

    private void end() {
        if (!liveness.promised()) {
            coverage.unavailable++;
            return;
        }
        schedule.violation = liveness.run();
        if (schedule.violation != null) {
            schedule.explanation = liveness.explanation();
            if (!schedule.violation.equals(Liveness.NAME)) {
                schedule.appendRun();
            }
        } else {
            coverage.fairRuns++;
        }
    }

    private void count() {
        coverage.schedules++;
        for (int step : schedule.steps()) {
            coverage.took(Step.kind(step));
        }
        coverage.fastCommits = cluster.fastCommits();
        coverage.slowCommits = cluster.slowCommits();
        coverage.turnsToFast = cluster.turnsToFast();
        coverage.turnsToSlow = cluster.turnsToSlow();
        coverage.syncs = cluster.syncsAnswered();
    }

    /** Clients ask for syncs, and questions and answers are read (R22). */
    private void serveSyncs(int i) {
        if (schedule.now < pausedUntil[i]) {
            return;
        }
        int count = cluster.enabledForSyncs(i, offered);
        for (int k = 0; k < count && schedule.violation == null; k++) {
            int step = offered[k];
            boolean happens =
                    switch (Step.kind(step)) {
                        case CLIENT_SYNC -> clients.oneIn(conditions.betweenSyncs);
                        case ASK -> clients.oneIn(2 * conditions.untilAnswered);
                        case REPLY ->
                                schedule.connected(i, cluster.leaderOf(i))
                                        && clients.oneIn(conditions.untilAnswered);
                        default ->
                                schedule.connected(i, Step.other(step))
                                        && clients.oneIn(conditions.untilAnswered);
                    };
            if (happens) {
                schedule.take(step);
                schedule.takenAside++;
                return;
            }
        }
    }

    /**
     * What changes a leader's mode apart from its clients and who follows.
     *
     * @param drainsAlone whether nothing of it fails
     */
    private void changeModes(int i, boolean drainsAlone) {
        if (schedule.now < pausedUntil[i] || !cluster.leads(i)) {
            return;
        }
        int count = cluster.enabledForModes(i, offered);
        for (int k = 0; k < count; k++) {
            int step = offered[k];
            int rarely =
                    switch (Step.kind(step)) {
                        case DRAIN -> 4;
                        case DRAIN_ENDS, PONG -> 16;
                        case UNPIN -> 32;
                        default -> 128;
                    };
            boolean drain = Step.kind(step) == Kind.DRAIN || Step.kind(step) == Kind.DRAIN_ENDS;
            if ((drain || !drainsAlone) && modes.oneIn(rarely)) {
                schedule.take(step);
                schedule.takenAside++;
                return;
            }
        }
    }

    /**
     * An operator lets another server lead (R28): the leader leaves once it may, so do those who
     * hear it, and elect the one that it has named.
     */
    private void handOver(int leader) {
        if (schedule.violation != null
                || schedule.now < pausedUntil[leader]
                || !cluster.leads(leader)
                || !modes.oneIn(BETWEEN_HAND_OVERS)) {
            return;
        }
        int next = cluster.mayHandOverTo(leader);
        if (next < 0 || !schedule.hears(leader, next)) {
            return;
        }
        coverage.handOvers++;
        int voters = 1 << leader;
        schedule.take(Step.of(Kind.STEP_DOWN, leader, 0, 0));
        for (int j = 0; j < n && schedule.violation == null; j++) {
            if (cluster.leaderOf(j) == leader && schedule.hears(j, leader)) {
                schedule.take(Step.of(Kind.LEAVE, j, 0, 0));
                voters |= schedule.hears(j, next) || j == next ? 1 << j : 0;
            }
        }
        if (schedule.violation == null
                && Integer.bitCount(voters) >= bareMajority
                && cluster.electable(next, voters)) {
            schedule.take(Step.of(Kind.ELECT, next, 0, voters));
        }
    }

    /** Everything heals, and all or some of those that are down come back. */
    private void restartSome() {
        boolean all = dice.oneIn(2);
        int first = dice.below(n);
        for (int k = 0; k < n && schedule.violation == null; k++) {
            int i = (first + k) % n;
            if (!cluster.up(i) && (all || !liveness.promised())) {
                schedule.take(Step.of(Kind.RESTART, i, 0, 0));
            }
        }
    }
}
