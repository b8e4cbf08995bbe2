package io.saucr.model.cluster;

import io.saucr.core.Mode;
import io.saucr.model.cluster.Server.Role;
import io.saucr.model.cluster.Step.Kind;
import java.util.Arrays;

/**
 * Which steps may happen next.
 *
 * <p>Owned by its cluster's thread.
 */
final class EnabledSteps {
    private final ModelCluster cluster;
    private final Server[] servers;
    private final int n;
    private final Bounds bounds;
    private final int[] bareMajorities;
    private final boolean namedWithLess;
    private final RecoveryQueries queries;
    private final LeaderSteps leaderSteps;
    private final SyncSteps syncSteps;
    private final LogSteps logSteps;

    EnabledSteps(
            ModelCluster cluster,
            RecoveryQueries queries,
            LeaderSteps leaderSteps,
            SyncSteps syncSteps,
            LogSteps logSteps) {
        this.cluster = cluster;
        servers = cluster.servers;
        n = cluster.n;
        bounds = cluster.bounds;
        bareMajorities = masksOf(cluster.bareMajority);
        namedWithLess = cluster.broken.contains(BrokenRule.R28_NAMED_WITH_LESS);
        this.queries = queries;
        this.leaderSteps = leaderSteps;
        this.syncSteps = syncSteps;
        this.logSteps = logSteps;
    }

    /** Fills in every step, and returns how many there are. */
    int all(int[] steps) {
        int count = 0;
        for (int i = 0; i < n; i++) {
            Server s = servers[i];
            if (mayLosePower(s) && cluster.crashes < bounds.crashes()) {
                count = addCrashes(s, steps, count);
            }
            if (s.role != Role.DOWN && cluster.kills < bounds.kills()) {
                count = addKills(s, steps, count);
            }
            if (mayLoseDisk(s) && cluster.lostDisks < bounds.lostDisks()) {
                steps[count++] = Step.of(Kind.LOSE_DISK, i);
            }
            count = of(s, steps, count, cluster.disconnects < bounds.disconnects());
            if (s.role == Role.LOOKING) {
                count = addElections(s, steps, count);
            }
        }
        return count;
    }

    /** Those that only syncs of clients ask for. */
    int forSyncs(Server s, int[] steps) {
        return switch (s.role) {
            case FOLLOWING -> addReply(s, steps, 0);
            case LEADING -> addSyncs(s, steps, 0);
            case DOWN, RECOVERING, LOOKING -> 0;
        };
    }

    /** Whether a server that looks for a leader may connect to this one. */
    static boolean mayConnect(Server s, Server l) {
        return l.leads() && s.acceptedEpoch <= l.acceptedEpoch;
    }

    /**
     * Adds every step that may happen to one server, but for its crash and its election.
     *
     * @param breaks whether also those that end a connection whose other end is still there
     * @return how many there are now
     */
    int of(Server s, int[] steps, int count, boolean breaks) {
        return switch (s.role) {
            case DOWN -> {
                steps[count] = Step.of(Kind.RESTART, s.index);
                yield count + 1;
            }
            case RECOVERING -> addRecovery(s, steps, count);
            case LOOKING -> addConnections(s, steps, count);
            case FOLLOWING -> addFollower(s, steps, count, breaks);
            case LEADING -> addLeader(s, steps, count, breaks);
        };
    }

    private int addCrashes(Server s, int[] steps, int count) {
        int i = s.index;
        steps[count++] = Step.of(Kind.CRASH, i);
        if (bounds.partialCrashes()) {
            for (int kept = 1; kept <= s.length - s.forced && kept < 8; kept++) {
                steps[count++] = Step.of(Kind.CRASH, i, 0, kept);
            }
        }
        return count;
    }

    private int addKills(Server s, int[] steps, int count) {
        int i = s.index;
        steps[count++] = Step.of(Kind.KILL, i);
        if (bounds.partialCrashes()) {
            for (int kept = 1; kept <= s.length - s.written && kept < 8; kept++) {
                steps[count++] = Step.of(Kind.KILL, i, 0, kept);
            }
        }
        if (bounds.killsWhileJoining()) {
            for (int had = 1; had <= FollowerSteps.mayLog(s); had++) {
                steps[count++] = Step.of(Kind.KILL_JOINING, i, 0, had);
            }
        }
        return count;
    }

    private static boolean mayLoseDisk(Server s) {
        return s.role != Role.DOWN || s.length > 0 || s.acceptedEpoch > 0;
    }

    private int addRecovery(Server s, int[] steps, int count) {
        int i = s.index;
        Recovery recovery = s.recovery;
        if (recovery.finish != null) {
            steps[count++] = Step.of(Kind.FINISH, i);
            return addLateAnswers(s, steps, count);
        }
        if (recovery.asksForAnswers()) {
            for (int j = 0; j < n; j++) {
                if (j == i) {
                    continue;
                }
                if (recovery.underway[j] != null) {
                    steps[count++] = Step.of(Kind.LEARN, i, j);
                } else if (queries.isNewToHear(servers[j], s)
                        || (queries.answersQueries(servers[j], s.lost)
                                && (queries.counts(servers[j], s)
                                        || (recovery.received[j] == null
                                                && queries.hasNews(servers[j], s))))) {
                    steps[count++] = Step.of(Kind.ANSWER, j, i);
                }
            }
            return count;
        }
        if (recovery.sourceAnswer != null) {
            steps[count++] = Step.of(Kind.HISTORY, i);
        } else if (servers[recovery.source].recovered()) {
            steps[count++] = Step.of(Kind.SOURCE, i);
        } else {
            steps[count++] = Step.of(Kind.GIVE_UP, i);
        }
        return addLateAnswers(s, steps, count);
    }

    /**
     * A query may arrive when its answer is of no use any more; the leader hears of it all the
     * same.
     */
    private int addLateAnswers(Server asker, int[] steps, int count) {
        for (int j = 0; j < n; j++) {
            if (j != asker.index
                    && asker.recovery.received[j] == null
                    && asker.recovery.underway[j] == null
                    && queries.answersQueries(servers[j], asker.lost)
                    && queries.hasNews(servers[j], asker)) {
                steps[count++] = Step.of(Kind.ANSWER, j, asker.index);
            }
        }
        return count;
    }

    private int addConnections(Server s, int[] steps, int count) {
        int i = s.index;
        for (int j = 0; j < n; j++) {
            if (mayConnect(s, servers[j])) {
                steps[count++] = Step.of(Kind.CONNECT, i, j);
            }
        }
        return count;
    }

    private int addElections(Server s, int[] steps, int count) {
        int i = s.index;
        if (cluster.elections < bounds.elections()) {
            for (int mask : bareMajorities) {
                if ((mask & 1 << i) != 0 && electable(s, mask)) {
                    steps[count++] = Step.of(Kind.ELECT, i, 0, mask);
                }
            }
        }
        return count;
    }

    private int addFollower(Server s, int[] steps, int count, boolean breaks) {
        int i = s.index;
        if (!s.loggedInitialHistory) {
            if (FollowerSteps.mustCut(s) < s.length) {
                steps[count++] = Step.of(Kind.TRUNCATE, i);
            } else {
                steps[count++] = Step.of(Kind.SYNC, i);
            }
        } else if (!s.upToDate) {
            if (s.upToDateAt != Server.NOWHERE) {
                steps[count++] = Step.of(Kind.UPTODATE, i);
            }
        } else {
            count = addLog(s, steps, count);
        }
        if (breaks || !s.attached()) {
            steps[count++] = Step.of(Kind.LEAVE, i);
        }
        return addReply(s, steps, count);
    }

    private int addReply(Server s, int[] steps, int count) {
        if (s.attached() && syncSteps.matters(servers[s.leader], s.link.question)) {
            steps[count++] = Step.of(Kind.REPLY, s.index);
        }
        return count;
    }

    private int addLog(Server s, int[] steps, int count) {
        int i = s.index;
        if (s.queueNext < s.queueLength) {
            steps[count++] = Step.of(Kind.APPEND, i);
        }
        if (s.acked < s.length) {
            steps[count++] = Step.of(Kind.ACK, i);
        }
        boolean claims = s.durability.claimsOnDisk();
        if (s.flushed == Server.NOWHERE
                && cluster.forces < bounds.forces()
                && (s.forced < s.length || !claims)) {
            steps[count++] = Step.of(Kind.FORCE, i);
        }
        if (logSteps.mayMark(s)) {
            steps[count++] = Step.of(Kind.MARK, i);
        }
        return count;
    }

    private int addLeader(Server s, int[] steps, int count, boolean breaks) {
        int i = s.index;
        count = addLog(s, steps, count);
        if (s.established) {
            boolean heldBack = s.state.draining();
            if (cluster.entries < bounds.entries() && !heldBack) {
                steps[count++] = Step.of(Kind.PROPOSE, i);
            }
            if (s.noopOwed && cluster.noops < bounds.noops() && !heldBack) {
                steps[count++] = Step.of(Kind.NOOP, i);
            }
            if (leaderSteps.mayConfirm(s)) {
                steps[count++] = Step.of(Kind.CONFIRM, i);
            }
            if (s.controller.mode() == Mode.FAST && cluster.suspicions < bounds.suspicions()) {
                steps[count++] = Step.of(Kind.SUSPECT, i);
            }
            count = addModes(s, steps, count);
        }
        for (int j = 0; j < n; j++) {
            Link link = s.links[j];
            if (!link.open) {
                continue;
            }
            if (link.readable()) {
                steps[count++] = Step.of(Kind.RECEIVE, i, j);
            }
            if (breaks || link.otherEnd == null) {
                steps[count++] = Step.of(Kind.CLOSE, i, j);
            }
        }
        if (breaks) {
            steps[count++] = Step.of(Kind.STEP_DOWN, i);
        }
        return addSyncs(s, steps, count);
    }

    /**
     * Whether these voters, all of them looking for a leader, may elect the server. Among those
     * that have the same, any may be elected: so a name that decides among them (R28) adds nothing.
     */
    boolean electable(Server s, int mask) {
        for (int j = 0; j < n; j++) {
            if ((mask & 1 << j) != 0) {
                Server voter = servers[j];
                if (voter.role != Role.LOOKING || (hasMore(voter, s) && !namedWithLess)) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean hasMore(Server voter, Server s) {
        return voter.currentEpoch > s.currentEpoch
                || (voter.currentEpoch == s.currentEpoch && voter.claim() > s.claim());
    }

    /** Pins, drains, heartbeats of one follower, pauses. */
    int addModes(Server l, int[] steps, int count) {
        int i = l.index;
        if (l.pinned) {
            steps[count++] = Step.of(Kind.UNPIN, i);
        } else if (cluster.pins < bounds.pins()) {
            steps[count++] = Step.of(Kind.PIN, i);
        }
        if (l.state.draining()) {
            if (!cluster.broken.contains(BrokenRule.R5_DRAIN_NEVER_ENDS)) {
                steps[count++] = Step.of(Kind.DRAIN_ENDS, i);
            }
        } else if (leaderSteps.mayDrain(l)) {
            steps[count++] = Step.of(Kind.DRAIN, i);
        }
        for (int j = 0; j < n; j++) {
            Link link = l.links[j];
            if (link.open && link.silent) {
                if (link.otherEnd != null) {
                    steps[count++] = Step.of(Kind.PONG, i, j);
                }
            } else if (link.open && link.synced() && cluster.misses < bounds.misses()) {
                steps[count++] = Step.of(Kind.MISS, i, j);
            }
        }
        if (l.controller.mode() == Mode.FAST && cluster.pauses < bounds.pauses()) {
            steps[count++] = Step.of(Kind.PAUSE, i);
        }
        return count;
    }

    private int addSyncs(Server l, int[] steps, int count) {
        int i = l.index;
        if (l.established && cluster.syncs < bounds.syncs() && SyncSteps.takesMore(l)) {
            steps[count++] = Step.of(Kind.CLIENT_SYNC, i);
        }
        boolean somebodyWasNotAsked = false;
        for (int j = 0; j < n; j++) {
            Link link = l.links[j];
            if (syncSteps.matters(l, link.answer)) {
                steps[count++] = Step.of(Kind.HEAR, i, j);
            }
            somebodyWasNotAsked |=
                    link.open && link.synced() && link.otherEnd != null && link.asked < l.asked;
        }
        if (somebodyWasNotAsked && !l.waiting.isEmpty()) {
            steps[count++] = Step.of(Kind.ASK, i);
        }
        return count;
    }

    /** Whether a loss of power would change anything on the server's machine. */
    static boolean mayLosePower(Server s) {
        return s.role != Role.DOWN || s.length > s.forced || (s.proven && s.markersSayFast());
    }

    private int[] masksOf(int size) {
        int[] masks = new int[1 << n];
        int count = 0;
        for (int mask = 0; mask < 1 << n; mask++) {
            if (Integer.bitCount(mask) == size) {
                masks[count++] = mask;
            }
        }
        return Arrays.copyOf(masks, count);
    }
}
