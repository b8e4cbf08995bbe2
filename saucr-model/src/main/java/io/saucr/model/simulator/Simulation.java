package io.saucr.model.simulator;

import io.saucr.core.leader.AckProgress;
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
    private static final int MOST_PARTITION = 600;
    private static final int MOST_PAUSE = 400;
    private static final int KEPT_LIMIT = 8;
    private static final long DEATHS = 0x6b696c6c65640000L;
    private static final long MODES = 0x6d6f646573000000L;
    private static final int BETWEEN_HAND_OVERS = 256;

    // With a hung disk: ticks until an ack is late, until the disk hangs at most, and in which at
    // least one write must commit then.
    private static final int ACK_BOUND = 400;
    private static final int MOST_UNTIL_HUNG = 4_000;
    private static final int MOST_WITHOUT_COMMIT = 4_000;
    private static final int WINDOWS = 3;

    /** What is broken when the death of all processes leaves too few that know what they have. */
    static final String COMPLETE = "R25";

    /** What is broken when writes do not go on beside a hung disk. */
    static final String PROGRESS = "R24";

    private final ModelCluster cluster;
    private final int n;
    private final int bareMajority;
    private final Liveness liveness;
    private final Dice dice = new Dice();

    /** For clients' syncs: dice of their own, so that syncs change nothing else in a schedule. */
    private final Dice clients = new Dice();

    /** For deaths and lost disks: a seed without them gives the same schedule as ever. */
    private final Dice deaths = new Dice();

    /** For what changes a leader's mode beside its clients. */
    private final Dice modes = new Dice();

    private final boolean powerAlone;
    private final boolean withModes;
    private final Conditions conditions = new Conditions();
    private final Coverage coverage = new Coverage();

    private final int[] offered = new int[ModelCluster.MAX_ENABLED];
    private final int[] candidates = new int[ModelCluster.MAX_ENABLED];
    private final int[] candidateWeights = new int[ModelCluster.MAX_ENABLED];
    private int candidateCount;
    private int totalWeight;

    // Times, in ticks.
    private int now;
    private int nextFault;
    private int nextDeath;
    private boolean powerGoesNext;
    private final int[] pausedUntil;
    private final int[] diskBusyUntil;
    private final int[] restartAt;
    private final int[] heardOfLeader;
    private final int[] heardOfMajority;
    private final int[] nextFromLeader;
    private final int[] nextToLeader;
    private int partition;
    private int partitionEnds;

    // Who acks in time, as the leader sees it; null unless a disk hangs in this schedule.
    private AckProgress progress;
    private final AckProgress.Peer[] acks;
    private int progressOf;
    private int progressThrough;

    private int[] taken = new int[STEPS + 64];
    private int takenCount;
    private int takenAside;
    private String violation;
    private String explanation = "";

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
        cluster = new ModelCluster(servers, Bounds.none(), broken);
        n = servers;
        bareMajority = Quorums.bareMajority(n);
        liveness = new Liveness(cluster);
        pausedUntil = new int[n];
        diskBusyUntil = new int[n];
        restartAt = new int[n];
        heardOfLeader = new int[n];
        heardOfMajority = new int[n];
        nextFromLeader = new int[n];
        nextToLeader = new int[n];
        acks = new AckProgress.Peer[n];
    }

    /** What all schedules together have reached. */
    Coverage coverage() {
        return coverage;
    }

    /** The steps of the last schedule. */
    int[] steps() {
        return Arrays.copyOf(taken, takenCount);
    }

    /** The name of the property that the last schedule broke, or null. */
    String violation() {
        return violation;
    }

    /** How it was broken. */
    String explanation() {
        return explanation;
    }

    /**
     * Runs one schedule.
     *
     * @return false if it broke something
     */
    boolean run(long seed) {
        begin(seed);
        runWithFaults();
        if (violation == null) {
            restartSome();
        }
        if (violation == null) {
            end();
        }
        count();
        return violation == null;
    }

    /**
     * Runs one schedule, at whose end all processes die in one instant, and start again. Where
     * enough servers to go on knew what they had, or would have at their start, the ensemble must
     * serve (R25).
     *
     * @return false if it broke something
     */
    boolean runUntilAllDie(long seed) {
        begin(seed);
        runWithFaults();
        int nobody = -1;
        boolean enough = enoughKnowWithout(nobody) && disksLeft() >= bareMajority;
        for (int i = 0; i < n && violation == null; i++) {
            if (cluster.up(i)) {
                kill(i);
            }
        }
        for (int i = 0; i < n && violation == null; i++) {
            take(Step.of(Kind.RESTART, i, 0, 0));
        }
        if (violation == null && enough && !liveness.promised()) {
            violation = COMPLETE;
            explanation = "the death of all processes left too few that know what they have";
        }
        if (violation == null) {
            end();
        }
        count();
        return violation == null;
    }

    private void runWithFaults() {
        while (takenCount - takenAside < STEPS && now < MOST_TICKS && violation == null) {
            now++;
            if (now >= nextDeath) {
                death();
                int gap = powerGoesNext ? conditions.downTime : 2 * conditions.deathGap;
                nextDeath = now + 1 + deaths.below(gap);
            }
            if (violation == null && now >= nextFault) {
                fault();
                nextFault = now + 1 + dice.below(2 * conditions.faultGap);
            } else if (violation == null) {
                int i = dice.below(n);
                turn(i);
                if (violation == null) {
                    serveSyncs(i);
                }
                if (violation == null && withModes) {
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
        for (int window = 0; window <= WINDOWS && violation == null; window++) {
            long before = cluster.fastCommits() + cluster.slowCommits();
            int end = now + (window == 0 ? hangsAt : MOST_WITHOUT_COMMIT);
            while (now < end && violation == null) {
                now++;
                int i = dice.below(n);
                if (!heartbeatsAlone) {
                    watchAcks(i);
                }
                turn(i);
                if (violation == null && withModes) {
                    changeModes(i, true);
                }
            }
            boolean commits = cluster.fastCommits() + cluster.slowCommits() > before;
            if (window == 0) {
                diskBusyUntil[hung] = Integer.MAX_VALUE;
            } else if (!commits && violation == null) {
                violation = PROGRESS;
                explanation =
                        "nothing was committed in %s ticks while the disk of server %s hangs"
                                .formatted(MOST_WITHOUT_COMMIT, hung + 1);
            }
        }
        progress = null;
        return violation == null;
    }

    private void watchAcks(int leader) {
        if (!cluster.leads(leader)) {
            return;
        }
        int proposed = cluster.proposedLength(leader);
        if (progress == null || progressOf != leader) {
            progress = new AckProgress(ACK_BOUND);
            progressOf = leader;
            progressThrough = proposed;
            progress.startEpoch(proposed, now);
            Arrays.setAll(acks, j -> progress.add());
        }
        for (; progressThrough < proposed; progressThrough++) {
            progress.proposed(progressThrough + 1L, now);
        }
        for (int j = 0; j < n; j++) {
            acks[j].acked(cluster.ackedLength(leader, j), now);
        }
    }

    private boolean acksInTime(int leader, int j) {
        return progress == null || progressOf != leader || acks[j].inTime(now);
    }

    private void begin(long seed) {
        dice.seed(seed);
        clients.seed(~seed);
        deaths.seed(seed ^ DEATHS);
        modes.seed(seed ^ MODES);
        conditions.draw(dice, clients);
        conditions.drawDeaths(deaths);
        cluster.reset();
        now = 0;
        nextFault = 200 + dice.below(2 * conditions.faultGap);
        powerGoesNext = false;
        nextDeath =
                powerAlone || conditions.deathGap == Conditions.NEVER
                        ? Integer.MAX_VALUE
                        : 200 + deaths.below(2 * conditions.deathGap);
        Arrays.fill(pausedUntil, 0);
        Arrays.fill(diskBusyUntil, 0);
        Arrays.fill(restartAt, 0);
        Arrays.fill(heardOfLeader, 0);
        Arrays.fill(heardOfMajority, 0);
        Arrays.fill(nextFromLeader, 0);
        Arrays.fill(nextToLeader, 0);
        partition = 0;
        partitionEnds = 0;
        takenCount = 0;
        takenAside = 0;
        violation = null;
        explanation = "";
        progress = null;
    }

    private void end() {
        if (!liveness.promised()) {
            coverage.unavailable++;
            return;
        }
        violation = liveness.run();
        if (violation != null) {
            explanation = liveness.explanation();
            if (!violation.equals(Liveness.NAME)) {
                appendRun();
            }
        } else {
            coverage.fairRuns++;
        }
    }

    private void appendRun() {
        int[] more = liveness.steps();
        taken = Arrays.copyOf(taken, takenCount + more.length);
        System.arraycopy(more, 0, taken, takenCount, more.length);
        takenCount += more.length;
    }

    private void count() {
        coverage.schedules++;
        for (int i = 0; i < takenCount; i++) {
            coverage.took(Step.kind(taken[i]));
        }
        coverage.fastCommits = cluster.fastCommits();
        coverage.slowCommits = cluster.slowCommits();
        coverage.turnsToFast = cluster.turnsToFast();
        coverage.turnsToSlow = cluster.turnsToSlow();
        coverage.syncs = cluster.syncsAnswered();
    }

    private void take(int step) {
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

    // ---- A server's turn ----

    private void turn(int i) {
        if (now < pausedUntil[i]) {
            return;
        }
        if (!cluster.up(i)) {
            if (now >= restartAt[i]) {
                take(Step.of(Kind.RESTART, i, 0, 0));
            }
            return;
        }
        candidateCount = 0;
        totalWeight = 0;
        int leader = cluster.leaderOf(i);
        if (leader >= 0) {
            follow(i, leader);
        } else if (cluster.leads(i)) {
            lead(i);
        } else if (cluster.looking(i)) {
            look(i);
        } else {
            recover(i);
        }
        if (totalWeight > 0) {
            after(choose());
        }
    }

    private int choose() {
        int at = dice.below(totalWeight);
        int k = 0;
        while (at >= candidateWeights[k]) {
            at -= candidateWeights[k++];
        }
        return candidates[k];
    }

    @SuppressWarnings("EnumOrdinal") // weights live as long as a schedule
    private void candidate(int step) {
        candidate(step, conditions.weights[Step.kind(step).ordinal()]);
    }

    private void candidate(int step, int weight) {
        candidates[candidateCount] = step;
        candidateWeights[candidateCount++] = weight;
        totalWeight += weight;
    }

    private void after(int step) {
        int i = Step.server(step);
        Kind kind = Step.kind(step);
        if (conditions.latency > 0) {
            switch (kind) {
                case APPEND, UPTODATE, SYNC -> nextFromLeader[i] = later();
                case RECEIVE -> nextToLeader[Step.other(step)] = later();
                default -> {}
            }
        }
        take(step);
        if (kind == Kind.CONNECT || kind == Kind.ELECT) {
            Arrays.fill(heardOfLeader, now);
            heardOfMajority[i] = now;
        }
    }

    private int later() {
        return now + dice.below(conditions.latency);
    }

    /** Whether a packet of one reaches the other one, who runs and is not paused. */
    private boolean hears(int i, int other) {
        return connected(i, other) && cluster.up(other) && now >= pausedUntil[other];
    }

    private boolean connected(int i, int other) {
        return now >= partitionEnds || (partition >> i & 1) == (partition >> other & 1);
    }

    private void follow(int i, int leader) {
        boolean reached = connected(i, leader);
        if (hears(i, leader) && cluster.leads(leader)) {
            heardOfLeader[i] = now;
        }
        int silence = now - heardOfLeader[i];
        int count = cluster.enabled(i, offered, silence > conditions.electionAfter);
        for (int k = 0; k < count; k++) {
            int step = offered[k];
            switch (Step.kind(step)) {
                case TRUNCATE, SYNC, UPTODATE, APPEND -> {
                    if (reached && now >= nextFromLeader[i]) {
                        candidate(step);
                    }
                }
                case ACK -> {
                    if (now >= diskBusyUntil[i]) {
                        candidate(step);
                    }
                }
                case FORCE -> force(step, silence > conditions.tolerance);
                case LEAVE -> {
                    if (!cluster.attached(i)) {
                        candidate(step, silence > conditions.tolerance ? 16 : 1);
                    } else {
                        candidate(step, 16);
                    }
                }
                case REPLY -> {}
                default -> candidate(step);
            }
        }
    }

    /** In the background now and then (R11), for certain in silence (R10). */
    private void force(int step, boolean silence) {
        if (now >= diskBusyUntil[Step.server(step)]) {
            if (silence) {
                candidate(step, 16);
            } else if (dice.oneIn(16)) {
                candidate(step);
            }
        }
    }

    private void lead(int i) {
        int heard = 1;
        int prompt = acksInTime(i, i) ? 1 : 0;
        boolean unheard = false;
        for (int j = 0; j < n; j++) {
            if (cluster.isOtherEnd(i, j)) {
                if (hears(i, j)) {
                    heard++;
                    prompt += acksInTime(i, j) ? 1 : 0;
                } else {
                    unheard = true;
                }
            }
        }
        if (heard >= bareMajority) {
            heardOfMajority[i] = now;
        }
        int silence = now - heardOfMajority[i];
        boolean late = prompt <= bareMajority;
        int count = cluster.enabled(i, offered, unheard || silence > conditions.electionAfter);
        for (int k = 0; k < count; k++) {
            int step = offered[k];
            int j = Step.other(step);
            switch (Step.kind(step)) {
                case PROPOSE -> {
                    if (cluster.proposedLength(i) - cluster.committedLength(i) < conditions.inFlight
                            && (late || cluster.fastMode(i) || dice.oneIn(conditions.slowWrites))) {
                        candidate(step);
                    }
                }
                case ACK -> {
                    if (now >= diskBusyUntil[i]) {
                        candidate(step);
                    }
                }
                case FORCE -> force(step, late);
                case RECEIVE -> {
                    if (connected(i, j) && now >= nextToLeader[j]) {
                        candidate(step);
                    }
                }
                case CONFIRM -> {
                    if (!late) {
                        candidate(step, 8);
                    }
                }
                case SUSPECT -> {
                    if (late) {
                        candidate(step, 16);
                    }
                }
                case CLOSE -> {
                    if (!cluster.isOtherEnd(i, j)) {
                        candidate(step, 1);
                    } else if (!hears(i, j) && dice.oneIn(conditions.tolerance)) {
                        candidate(step, 4);
                    }
                }
                case STEP_DOWN -> {
                    if (silence > conditions.electionAfter) {
                        candidate(step, 16);
                    }
                }
                case CLIENT_SYNC, ASK, HEAR -> {}
                case PIN, UNPIN, DRAIN, DRAIN_ENDS, MISS, PONG, PAUSE -> {}
                default -> candidate(step);
            }
        }
    }

    /** Clients ask for syncs, and questions and answers are read (R22). */
    private void serveSyncs(int i) {
        if (now < pausedUntil[i]) {
            return;
        }
        int count = cluster.enabledForSyncs(i, offered);
        for (int k = 0; k < count && violation == null; k++) {
            int step = offered[k];
            boolean happens =
                    switch (Step.kind(step)) {
                        case CLIENT_SYNC -> clients.oneIn(conditions.betweenSyncs);
                        case ASK -> clients.oneIn(2 * conditions.untilAnswered);
                        case REPLY ->
                                connected(i, cluster.leaderOf(i))
                                        && clients.oneIn(conditions.untilAnswered);
                        default ->
                                connected(i, Step.other(step))
                                        && clients.oneIn(conditions.untilAnswered);
                    };
            if (happens) {
                take(step);
                takenAside++;
                return;
            }
        }
    }

    /**
     * What changes a leader's mode beside its clients and who follows.
     *
     * @param drainsAlone whether nothing of it fails
     */
    private void changeModes(int i, boolean drainsAlone) {
        if (now < pausedUntil[i] || !cluster.leads(i)) {
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
                take(step);
                takenAside++;
                return;
            }
        }
    }

    /**
     * An operator lets another server lead (R28): the leader leaves once it may, so do those who
     * hear it, and elect the one that it has named.
     */
    private void handOver(int leader) {
        if (violation != null
                || now < pausedUntil[leader]
                || !cluster.leads(leader)
                || !modes.oneIn(BETWEEN_HAND_OVERS)) {
            return;
        }
        int next = cluster.mayHandOverTo(leader);
        if (next < 0 || !hears(leader, next)) {
            return;
        }
        coverage.handOvers++;
        int voters = 1 << leader;
        take(Step.of(Kind.STEP_DOWN, leader, 0, 0));
        for (int j = 0; j < n && violation == null; j++) {
            if (cluster.leaderOf(j) == leader && hears(j, leader)) {
                take(Step.of(Kind.LEAVE, j, 0, 0));
                voters |= hears(j, next) || j == next ? 1 << j : 0;
            }
        }
        if (violation == null
                && Integer.bitCount(voters) >= bareMajority
                && cluster.electable(next, voters)) {
            take(Step.of(Kind.ELECT, next, 0, voters));
        }
    }

    private void look(int i) {
        int count = cluster.enabled(i, offered, false);
        for (int k = 0; k < count; k++) {
            if (hears(i, Step.other(offered[k]))) {
                candidate(offered[k]);
            }
        }
        if (candidateCount == 0 || dice.oneIn(16)) {
            int mask = voters(i);
            if (mask != 0 && cluster.electable(i, mask)) {
                candidate(Step.of(Kind.ELECT, i, 0, mask));
            }
        }
    }

    /**
     * A bare majority of those who look for a leader and hear the candidate, 0 if there is none.
     */
    private int voters(int i) {
        int mask = 1 << i;
        int missing = bareMajority - 1;
        int first = dice.below(n);
        for (int k = 0; k < n && missing > 0; k++) {
            int j = first + k < n ? first + k : first + k - n;
            if (j != i && cluster.looking(j) && hears(i, j)) {
                mask |= 1 << j;
                missing--;
            }
        }
        return missing == 0 ? mask : 0;
    }

    private void recover(int i) {
        int count = cluster.enabled(i, offered, false);
        for (int k = 0; k < count; k++) {
            int step = offered[k];
            switch (Step.kind(step)) {
                case ANSWER -> {
                    if (hears(i, Step.server(step))) {
                        candidate(step);
                    }
                }
                case LEARN -> {
                    if (connected(i, Step.other(step))) {
                        candidate(step);
                    }
                }
                default -> candidate(step);
            }
        }
    }

    // ---- Faults ----

    private void fault() {
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
            partition = dice.below(1 << n);
            partitionEnds = now + dice.below(MOST_PARTITION);
            coverage.partitions++;
        } else if ((at -= conditions.lostConnections) < 0) {
            loseConnection(dice.below(n));
        } else if ((at -= conditions.pauses) < 0) {
            pausedUntil[dice.below(n)] = now + dice.below(MOST_PAUSE);
            coverage.pauses++;
        } else if ((at -= conditions.slowDisks) < 0) {
            diskBusyUntil[dice.below(n)] = now + dice.below(MOST_PAUSE);
            coverage.slowDisks++;
        } else {
            suspect(dice.below(n));
        }
    }

    private void crashes() {
        int together = 1 + dice.below(conditions.crashesTogether);
        int first = dice.below(n);
        int crashed = 0;
        for (int k = 0; k < n && crashed < together && violation == null; k++) {
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
     * Whether everybody recovers from the others who need not, now or when they start: once all are
     * there again, if a part of them is not enough for that.
     */
    private boolean enoughKnowWithout(int server) {
        int know = 0;
        for (int j = 0; j < n; j++) {
            boolean knows = cluster.recovered(j) || (!cluster.up(j) && cluster.completeAtStart(j));
            know |= j != server && knows ? 1 << j : 0;
        }
        return liveness.allRecover(know, (1 << n) - 1);
    }

    /** How many have not lost their disks, or have recovered since. */
    private int disksLeft() {
        int disks = 0;
        for (int j = 0; j < n; j++) {
            disks += cluster.lost(j) ? 0 : 1;
        }
        return disks;
    }

    // ---- Processes and disks alone ----

    private void death() {
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
        for (int k = 0; k < n && died < together && violation == null; k++) {
            int i = (first + k) % n;
            if (cluster.up(i)) {
                kill(i);
                died++;
            }
        }
        coverage.simultaneousDeaths += died > 1 ? died : 0;
        coverage.deathsOfAll += died == n ? 1 : 0;
    }

    private void kill(int i) {
        int unwritten = Math.min(cluster.logLength(i) - cluster.writtenLength(i), KEPT_LIMIT - 1);
        int kept = unwritten > 0 && deaths.oneIn(3) ? deaths.below(unwritten + 1) : 0;
        coverage.fastDeaths += cluster.recovered(i) && cluster.needsRecovery(i) ? 1 : 0;
        restartAt[i] = now + deaths.below(conditions.downTime);
        int mayLog = Math.min(cluster.mayLog(i), KEPT_LIMIT - 1);
        if (mayLog > 0 && deaths.oneIn(2)) {
            take(Step.of(Kind.KILL_JOINING, i, 0, 1 + deaths.below(mayLog)));
        } else {
            coverage.partialDeaths += kept > 0 ? 1 : 0;
            take(Step.of(Kind.KILL, i, 0, kept));
        }
    }

    private void loseDisk(int i) {
        if (cluster.lost(i) || (!conditions.disaster && !recoverableWithoutDisk(i))) {
            return;
        }
        restartAt[i] = now + deaths.below(conditions.downTime);
        take(Step.of(Kind.LOSE_DISK, i, 0, 0));
    }

    private boolean recoverableWithoutDisk(int i) {
        return disksLeft() - 1 >= bareMajority && enoughKnowWithout(i);
    }

    /** The power of machines goes whose processes are dead already. */
    private void losePowerAfterDeath(int first) {
        for (int k = 0; k < n && violation == null; k++) {
            int i = (first + k) % n;
            if (!cluster.up(i)
                    && cluster.mayLosePower(i)
                    && (conditions.disaster || recoverableWithout(i))) {
                coverage.powerAfterDeath++;
                take(Step.of(Kind.CRASH, i, 0, 0));
            }
        }
    }

    private void crash(int i) {
        int unforced = Math.min(cluster.logLength(i) - cluster.forcedLength(i), KEPT_LIMIT - 1);
        int kept = unforced > 0 && dice.oneIn(3) ? dice.below(unforced + 1) : 0;
        coverage.partialCrashes += kept > 0 ? 1 : 0;
        coverage.fastCrashes += cluster.recovered(i) && cluster.needsRecovery(i) ? 1 : 0;
        restartAt[i] = now + dice.below(conditions.downTime);
        take(Step.of(Kind.CRASH, i, 0, kept));
    }

    /** One end notices now. */
    private void loseConnection(int i) {
        int leader = cluster.leaderOf(i);
        if (leader >= 0) {
            boolean followersEnd = !cluster.hasConnection(leader, i) || dice.oneIn(2);
            take(followersEnd ? Step.of(Kind.LEAVE, i, 0, 0) : Step.of(Kind.CLOSE, leader, i, 0));
        } else if (cluster.leads(i) && dice.oneIn(4)) {
            take(Step.of(Kind.STEP_DOWN, i, 0, 0));
        }
    }

    private void suspect(int i) {
        if (cluster.fastMode(i)) {
            take(Step.of(Kind.SUSPECT, i, 0, 0));
        }
    }

    /** Everything heals, and all or some of those that are down come back. */
    private void restartSome() {
        boolean all = dice.oneIn(2);
        int first = dice.below(n);
        for (int k = 0; k < n && violation == null; k++) {
            int i = (first + k) % n;
            if (!cluster.up(i) && (all || !liveness.promised())) {
                take(Step.of(Kind.RESTART, i, 0, 0));
            }
        }
    }
}
