package io.saucr.model.simulator;

import io.saucr.model.cluster.Step.Kind;

/**
 * What one schedule is like: how slow, how busy, how faulty. Drawn anew for each, so that schedules
 * differ from each other more than steps of one do.
 */
@SuppressWarnings("EnumOrdinal") // weights live as long as a schedule
final class Conditions {
    /** Longer than any schedule. */
    static final int NEVER = 1 << 24;

    private static final int[] LATENCIES = {0, 0, 8, 32, 120};
    private static final int[] FAULT_GAPS = {40, 100, 200, 400, 800, 1600};
    private static final int[] DEATH_GAPS = {NEVER, 100, 200, 400, 800, 1600};

    /**
     * How much likelier than others a server takes this step when it may. What syncs of clients ask
     * for is not weighed against the rest, which it does not change.
     */
    final int[] weights = new int[Kind.CLIENT_SYNC.ordinal()];

    /** Messages and forces take up to this many ticks. */
    int latency;

    /** Ticks between faults, on average. */
    int faultGap;

    /** Crashes in one instant. */
    int crashesTogether;

    /** Whether crashes may leave fewer than R servers that have not to recover. */
    boolean disaster;

    /** Ticks until a crashed server's process starts again, at most. */
    int downTime;

    /** Proposals in flight. */
    int inFlight;

    /** Clients write once in so many chances, while the leader could turn to fast mode. */
    int slowWrites;

    /** Silent ticks before a flush, and before a suspicion. */
    int tolerance;

    /** Silent ticks before an election. */
    int electionAfter;

    // How likely each fault is, in relation to the others.
    int crashes;
    int partitions;
    int lostConnections;
    int pauses;
    int slowDisks;
    int suspicions;

    /** Ticks between deaths of processes or lost disks, on average, or {@link #NEVER}. */
    int deathGap;

    // How likely each of the two is, in relation to the other.
    int deaths;
    int lostDisks;

    /** After so many of eight deaths, machines whose processes are still dead lose power, too. */
    int powerAfterDeath;

    /** Turns of a leader between its clients' syncs. */
    int betweenSyncs;

    /** Turns that a question or an answer takes. */
    int untilAnswered;

    /**
     * @param clients for what clients' syncs are like
     */
    void draw(Dice dice, Dice clients) {
        betweenSyncs = 1 << clients.below(6);
        untilAnswered = 1 << clients.below(8);
        for (int i = 0; i < weights.length; i++) {
            weights[i] = 1 << dice.below(4);
        }
        latency = LATENCIES[dice.below(LATENCIES.length)];
        faultGap = FAULT_GAPS[dice.below(FAULT_GAPS.length)];
        crashesTogether = 1 + (dice.oneIn(3) ? dice.below(4) : 0);
        disaster = dice.oneIn(16);
        downTime = 10 << dice.below(5);
        inFlight = 1 << dice.below(4);
        slowWrites = 1 << dice.below(6);
        tolerance = 40 << dice.below(3);
        electionAfter = tolerance * (2 + dice.below(3));
        crashes = 1 + dice.below(8);
        partitions = dice.below(3);
        lostConnections = dice.below(6);
        pauses = dice.below(3);
        slowDisks = dice.below(3);
        suspicions = dice.below(4);
    }

    /** What happens to processes and to disks alone. */
    void drawDeaths(Dice deathDice) {
        deathGap = DEATH_GAPS[deathDice.below(DEATH_GAPS.length)];
        deaths = 1 + deathDice.below(8);
        lostDisks = deathDice.below(5);
        powerAfterDeath = deathDice.below(4);
    }
}
