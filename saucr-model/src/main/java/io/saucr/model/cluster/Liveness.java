package io.saucr.model.cluster;

import io.saucr.core.quorum.Quorums;
import io.saucr.model.cluster.Step.Kind;
import java.util.Arrays;

/**
 * L1 and L2: once nothing fails any more, a bare majority is up and everybody who is up can
 * recover, the ensemble serves again: everybody who is up recovers, everything that was proposed
 * commits, a new write commits, and a sync after it is answered (R22). Servers that are down stay
 * down. Also checks what L1 relies on: when a leader has turned slow and nothing is under way, what
 * it has committed is on a bare majority of disks (R6). Chooses steps without randomness. Owned by
 * one thread.
 */
public final class Liveness {
    /** What is broken when the cluster does not serve again. */
    public static final String NAME = "L1, L2";

    /** What is broken when one of the product's classes refuses what must never happen. */
    public static final String IMPOSSIBLE = "impossible state";

    private static final int MOST_STEPS = 20_000;

    private final ModelCluster cluster;
    private final int n;
    private final int bareMajority;
    private final int[] steps = new int[ModelCluster.MAX_ENABLED];
    private int[] played = new int[256];
    private int taken;
    private String explanation = "";

    /** Runs this cluster on when asked. */
    public Liveness(ModelCluster cluster) {
        this.cluster = cluster;
        this.n = cluster.servers();
        this.bareMajority = Quorums.bareMajority(n);
    }

    /**
     * Whether L1 and L2 promise anything now: a bare majority is up, and all who are up can
     * recover.
     */
    public boolean promised() {
        int up = 0;
        int recovered = 0;
        for (int i = 0; i < n; i++) {
            up |= cluster.up(i) ? 1 << i : 0;
            recovered |= cluster.recovered(i) ? 1 << i : 0;
        }
        return Integer.bitCount(up) >= bareMajority && allRecover(recovered, up);
    }

    /**
     * Whether all of these servers, as bits, recover if nothing fails any more: one that lost its
     * memory once somebody is recovered that has a newer view than it, or enough members of its own
     * view are (R16, R23); those that lost their disks once a bare majority of others is, or all
     * servers are there and fewer than a bare majority lost theirs (R26).
     *
     * @param recovered those of them who know what they have
     */
    public boolean allRecover(int recovered, int up) {
        int inTheEnd = recovered;
        int before;
        do {
            before = inTheEnd;
            int lost = 0;
            for (int i = 0; i < n; i++) {
                int bit = 1 << i;
                if ((up & ~inTheEnd & bit) == 0) {
                    continue;
                }
                if (cluster.lost(i)) {
                    lost |= bit;
                } else if (cluster.enoughAnswer(i, inTheEnd)) {
                    inTheEnd |= bit;
                }
            }
            boolean everybody =
                    Integer.bitCount(inTheEnd | lost) == n && Integer.bitCount(lost) < bareMajority;
            if (everybody || Integer.bitCount(inTheEnd) >= bareMajority) {
                inTheEnd |= lost;
            }
        } while (inTheEnd != before);
        return (up & ~inTheEnd) == 0;
    }

    /**
     * Runs the cluster on until it has committed a new write.
     *
     * @return null if it did, else the name of what is broken: {@link #NAME}, {@link #IMPOSSIBLE},
     *     or a safety property
     */
    public String run() {
        taken = 0;
        explanation = "";
        try {
            explanation = stuck();
        } catch (IllegalStateException e) {
            explanation = e.getMessage();
            return IMPOSSIBLE;
        }
        if (cluster.violation() != null) {
            explanation = cluster.explanation();
            return cluster.violation();
        }
        return explanation == null ? null : NAME;
    }

    /** How the last run broke it. */
    public String explanation() {
        return explanation;
    }

    private String stuck() {
        if (!settle()) {
            return "it never comes to rest";
        }
        int leader = leader();
        if (leader < 0) {
            return "nobody leads a bare majority, although nothing fails any more";
        }
        for (int i = 0; i < n; i++) {
            if (cluster.recovering(i)) {
                return "server " + (i + 1) + " recovers for ever";
            }
        }
        if (cluster.committedLength(leader) < cluster.proposedLength(leader)) {
            return "server " + (leader + 1) + " waits for ever for acks of what it has proposed";
        }
        String fault = notOnDisk(leader);
        if (fault != null) {
            return fault;
        }
        if (cluster.holdsBack(leader)) {
            return "server " + (leader + 1) + " holds proposals back for ever";
        }
        int before = cluster.proposedLength(leader);
        take(Step.of(Kind.PROPOSE, leader, 0, 0));
        if (!settle()) {
            return "it never comes to rest";
        }
        if (cluster.committedLength(leader) == before) {
            return "server "
                    + (leader + 1)
                    + " leads a bare majority, but a new write never commits";
        }
        take(Step.of(Kind.CLIENT_SYNC, leader, 0, 0));
        if (!settle()) {
            return "it never comes to rest";
        }
        return cluster.waitingSyncs(leader) == 0
                ? null
                : "server " + (leader + 1) + " never answers a client's sync";
    }

    private String notOnDisk(int leader) {
        if (cluster.fastMode(leader)) {
            return null;
        }
        int disks = 0;
        for (int i = 0; i < n; i++) {
            if (cluster.forcedLength(i) >= cluster.committedLength(leader)) {
                disks++;
            }
        }
        return disks >= bareMajority
                ? null
                : "server "
                        + (leader + 1)
                        + " is slow and quiet, but what it has committed is on "
                        + disks
                        + " disks";
    }

    private boolean settle() {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int i = 0; i < n; i++) {
                int step = next(i);
                if (step >= 0) {
                    moved = true;
                    if (!take(step) || taken > MOST_STEPS) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    private boolean take(int step) {
        if (taken == played.length) {
            played = Arrays.copyOf(played, 2 * taken);
        }
        played[taken++] = step;
        return cluster.apply(step);
    }

    /** The steps of the last run. */
    public int[] steps() {
        return Arrays.copyOf(played, taken);
    }

    private int next(int i) {
        if (!cluster.up(i)) {
            return -1;
        }
        int count = cluster.enabled(i, steps, true);
        if (cluster.looking(i)) {
            return join(i, count);
        }
        for (int k = 0; k < count; k++) {
            if (wanted(i, steps[k])) {
                return steps[k];
            }
        }
        return -1;
    }

    private boolean wanted(int i, int step) {
        return switch (Step.kind(step)) {
            case LEAVE -> !cluster.attached(i) || !usable(cluster.leaderOf(i));
            case CLOSE -> !follows(Step.other(step), i);
            case STEP_DOWN -> !usable(i);
            case PROPOSE,
                    FORCE,
                    MARK,
                    CONFIRM,
                    SUSPECT,
                    CRASH,
                    KILL,
                    KILL_JOINING,
                    LOSE_DISK,
                    RESTART,
                    CLIENT_SYNC,
                    PIN,
                    DRAIN,
                    MISS,
                    PAUSE ->
                    false;
            default -> true;
        };
    }

    private int join(int i, int count) {
        for (int k = 0; k < count; k++) {
            if (usable(Step.other(steps[k]))) {
                return steps[k];
            }
        }
        for (int j = 0; j < n; j++) {
            if (usable(j)) {
                return -1;
            }
        }
        for (int mask = 0; mask < 1 << n; mask++) {
            if ((mask & 1 << i) != 0
                    && Integer.bitCount(mask) == bareMajority
                    && cluster.electable(i, mask)) {
                return Step.of(Kind.ELECT, i, 0, mask);
            }
        }
        return -1;
    }

    private int leader() {
        for (int i = 0; i < n; i++) {
            if (cluster.serves(i) && followers(i) >= bareMajority) {
                return i;
            }
        }
        return -1;
    }

    private boolean follows(int follower, int leader) {
        return cluster.leaderOf(follower) == leader && cluster.attached(follower);
    }

    private int followers(int leader) {
        int count = 1;
        for (int i = 0; i < n; i++) {
            count += follows(i, leader) ? 1 : 0;
        }
        return count;
    }

    /** Whether the server leads and a bare majority follows it, or can. */
    private boolean usable(int leader) {
        if (!cluster.leads(leader)) {
            return false;
        }
        int possible = 1;
        for (int i = 0; i < n; i++) {
            if (follows(i, leader) || (cluster.looking(i) && cluster.mayConnect(i, leader))) {
                possible++;
            }
        }
        return possible >= bareMajority;
    }
}
