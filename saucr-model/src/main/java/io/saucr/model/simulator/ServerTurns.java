package io.saucr.model.simulator;

import io.saucr.model.cluster.ModelCluster;
import io.saucr.model.cluster.Step;
import io.saucr.model.cluster.Step.Kind;
import java.util.Arrays;

/**
 * What servers do in a {@link Schedule}: a server that has its turn takes one of the steps that are
 * enabled, by weights and by how long it has heard nothing. Owned by one thread.
 */
final class ServerTurns {
    private final Schedule schedule;
    private final TimelyAcks acks;
    private final ModelCluster cluster;
    private final int n;
    private final int bareMajority;
    private final Dice dice;
    private final Conditions conditions;
    private final int[] pausedUntil;
    private final int[] diskBusyUntil;
    private final int[] restartAt;

    private final int[] heardOfLeader;
    private final int[] heardOfMajority;
    private final int[] nextFromLeader;
    private final int[] nextToLeader;
    private final int[] offered = new int[ModelCluster.MAX_ENABLED];
    private final int[] candidates = new int[ModelCluster.MAX_ENABLED];
    private final int[] candidateWeights = new int[ModelCluster.MAX_ENABLED];
    private int candidateCount;
    private int totalWeight;

    ServerTurns(Schedule schedule, TimelyAcks acks) {
        this.schedule = schedule;
        cluster = schedule.cluster;
        n = schedule.n;
        bareMajority = schedule.bareMajority;
        dice = schedule.dice;
        conditions = schedule.conditions;
        pausedUntil = schedule.pausedUntil;
        diskBusyUntil = schedule.diskBusyUntil;
        restartAt = schedule.restartAt;
        this.acks = acks;
        heardOfLeader = new int[n];
        heardOfMajority = new int[n];
        nextFromLeader = new int[n];
        nextToLeader = new int[n];
    }

    /** Before a new schedule. */
    void begin() {
        Arrays.fill(heardOfLeader, 0);
        Arrays.fill(heardOfMajority, 0);
        Arrays.fill(nextFromLeader, 0);
        Arrays.fill(nextToLeader, 0);
    }

    /** Lets a server do one thing, if it can. */
    void of(int i) {
        if (schedule.now < pausedUntil[i]) {
            return;
        }
        if (!cluster.up(i)) {
            if (schedule.now >= restartAt[i]) {
                schedule.take(Step.of(Kind.RESTART, i, 0, 0));
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
        schedule.take(step);
        if (kind == Kind.CONNECT || kind == Kind.ELECT) {
            Arrays.fill(heardOfLeader, schedule.now);
            heardOfMajority[i] = schedule.now;
        }
    }

    private int later() {
        return schedule.now + dice.below(conditions.latency);
    }

    private void follow(int i, int leader) {
        boolean reached = schedule.connected(i, leader);
        if (schedule.hears(i, leader) && cluster.leads(leader)) {
            heardOfLeader[i] = schedule.now;
        }
        int silence = schedule.now - heardOfLeader[i];
        int count = cluster.enabled(i, offered, silence > conditions.electionAfter);
        for (int k = 0; k < count; k++) {
            int step = offered[k];
            switch (Step.kind(step)) {
                case TRUNCATE, SYNC, UPTODATE, APPEND -> {
                    if (reached && schedule.now >= nextFromLeader[i]) {
                        candidate(step);
                    }
                }
                case ACK -> {
                    if (schedule.now >= diskBusyUntil[i]) {
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

    /** In the background schedule.now and then (R11), for certain in silence (R10). */
    private void force(int step, boolean silence) {
        if (schedule.now >= diskBusyUntil[Step.server(step)]) {
            if (silence) {
                candidate(step, 16);
            } else if (dice.oneIn(16)) {
                candidate(step);
            }
        }
    }

    private void lead(int i) {
        int heard = 1;
        int prompt = acks.inTime(i, i) ? 1 : 0;
        boolean unheard = false;
        for (int j = 0; j < n; j++) {
            if (cluster.isOtherEnd(i, j)) {
                if (schedule.hears(i, j)) {
                    heard++;
                    prompt += acks.inTime(i, j) ? 1 : 0;
                } else {
                    unheard = true;
                }
            }
        }
        if (heard >= bareMajority) {
            heardOfMajority[i] = schedule.now;
        }
        int silence = schedule.now - heardOfMajority[i];
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
                    if (schedule.now >= diskBusyUntil[i]) {
                        candidate(step);
                    }
                }
                case FORCE -> force(step, late);
                case RECEIVE -> {
                    if (schedule.connected(i, j) && schedule.now >= nextToLeader[j]) {
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
                    } else if (!schedule.hears(i, j) && dice.oneIn(conditions.tolerance)) {
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

    private void look(int i) {
        int count = cluster.enabled(i, offered, false);
        for (int k = 0; k < count; k++) {
            if (schedule.hears(i, Step.other(offered[k]))) {
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
            if (j != i && cluster.looking(j) && schedule.hears(i, j)) {
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
                    if (schedule.hears(i, Step.server(step))) {
                        candidate(step);
                    }
                }
                case LEARN -> {
                    if (schedule.connected(i, Step.other(step))) {
                        candidate(step);
                    }
                }
                default -> candidate(step);
            }
        }
    }
}
