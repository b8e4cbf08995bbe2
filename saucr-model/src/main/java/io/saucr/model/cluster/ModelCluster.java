package io.saucr.model.cluster;

import io.saucr.core.Mode;
import io.saucr.core.leader.HandOver;
import io.saucr.core.log.LleMap;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.Quorums;
import io.saucr.core.quorum.View;
import io.saucr.model.cluster.Server.Role;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * An ensemble of servers made of the product's own classes, with the channels between them and
 * their disks. {@link #enabled} lists the steps that may happen next, {@link #apply} takes one of
 * them, and {@link #violation} names the invariant that it broke.
 *
 * <p>The description of this package says what is modelled and what is abstracted. Owned by one
 * thread. Steps allocate only when connections, leaders or recoveries begin, and for syncs.
 */
public final class ModelCluster {
    /** An ensemble has 3 to this many voters. */
    public static final int MAX_SERVERS = 7;

    /** No more steps than this are ever enabled together. */
    public static final int MAX_ENABLED = 1024;

    final int n;
    final int bareMajority;
    final int fastQuorum;
    final Bounds bounds;
    final Set<BrokenRule> broken;
    final Server[] servers;
    final AcknowledgedHistory history = new AcknowledgedHistory();
    final Configuration voters;
    final List<Long> sids;
    final LeaderSteps leaderSteps;
    final SyncSteps syncSteps;
    final RecoverySteps recoverySteps;
    private final LogSteps logSteps;
    private final FollowerSteps followerSteps;
    private final ProcessSteps processSteps;
    private final EnabledSteps enabledSteps;
    private final Invariant[] afterSteps;
    private final Invariant[] atCommits;

    // What was used of the bounds.
    int entries;
    int noops;
    int elections;
    int crashes;
    int suspicions;
    int confirmations;
    int disconnects;
    int forces;
    int syncs;
    int kills;
    int lostDisks;
    int pins;
    int drains;
    int misses;
    int pauses;

    /** How many leaders there were; elections, unlike these, start anew with the bounds. */
    int terms;

    // What has happened in its whole life.
    long fastCommits;
    long slowCommits;
    long turnsToFast;
    long turnsToSlow;
    long syncsAnswered;

    private String violation;
    private String explanation = "";

    /** Everybody up, looking for a leader, with empty logs. */
    public ModelCluster(int voters, Bounds bounds) {
        this(voters, bounds, EnumSet.noneOf(BrokenRule.class));
    }

    /**
     * As {@link #ModelCluster(int, Bounds)}, with rules that do not hold.
     *
     * @param voters 3 to {@link #MAX_SERVERS}
     */
    public ModelCluster(int voters, Bounds bounds, Set<BrokenRule> broken) {
        if (voters < 3 || voters > MAX_SERVERS) {
            throw new IllegalArgumentException("3 to " + MAX_SERVERS + " voters, not " + voters);
        }
        this.n = voters;
        this.bareMajority = Quorums.bareMajority(voters);
        this.fastQuorum = Quorums.fastQuorum(voters);
        this.bounds = bounds;
        this.broken = Set.copyOf(broken);
        int capacity = (int) Math.min(32, (long) bounds.entries() + bounds.noops() + 1);
        servers = new Server[n];
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            all.add(i + 1L);
            servers[i] = new Server(i, n, capacity);
            servers[i].open();
        }
        sids = List.copyOf(all);
        this.voters = new Configuration(0, sids);
        RecoveryQueries queries = new RecoveryQueries(this);
        syncSteps = new SyncSteps(this);
        leaderSteps = new LeaderSteps(this, syncSteps);
        logSteps = new LogSteps(this, leaderSteps);
        followerSteps = new FollowerSteps(this, logSteps);
        recoverySteps = new RecoverySteps(this, leaderSteps, queries);
        processSteps = new ProcessSteps(this, recoverySteps);
        enabledSteps = new EnabledSteps(this, queries, leaderSteps, syncSteps, logSteps);
        afterSteps = Invariant.afterSteps().toArray(new Invariant[0]);
        atCommits = Invariant.atCommits().toArray(new Invariant[0]);
    }

    /** Back to the beginning. */
    public void reset() {
        for (Server s : servers) {
            s.forgetRole();
            s.role = Role.LOOKING;
            s.incarnation = 1;
            s.unrecovered = false;
            s.lost = false;
            s.recovery = null;
            s.length = 0;
            s.force();
            s.currentEpoch = 0;
            s.acceptedEpoch = 0;
            s.fastSwitch = 0;
            s.latestOnDisk = 0;
            s.mapOnDisk = LleMap.empty();
            s.ownView = View.FIRST;
            s.open();
        }
        history.clear();
        terms = 0;
        startBounds();
        violation = null;
        explanation = "";
    }

    /** What has happened so far does not count against the bounds. */
    public void startBounds() {
        entries = 0;
        noops = 0;
        elections = 0;
        crashes = 0;
        suspicions = 0;
        confirmations = 0;
        disconnects = 0;
        forces = 0;
        syncs = 0;
        kills = 0;
        lostDisks = 0;
        pins = 0;
        drains = 0;
        misses = 0;
        pauses = 0;
    }

    /** Number of voters. */
    public int servers() {
        return n;
    }

    /** The name of the invariant that the last step broke, or null. */
    public String violation() {
        return violation;
    }

    /** How it was broken, "" if none was. */
    public String explanation() {
        return explanation;
    }

    // ---- What an observer may see ----

    /**
     * How many fast entries leaders have committed in their epochs, in this cluster's whole life.
     */
    public long fastCommits() {
        return fastCommits;
    }

    /** How many slow entries leaders have committed in their epochs. */
    public long slowCommits() {
        return slowCommits;
    }

    /** How often leaders turned to fast mode. */
    public long turnsToFast() {
        return turnsToFast;
    }

    /** How often leaders turned from fast to slow mode. */
    public long turnsToSlow() {
        return turnsToSlow;
    }

    /** How many syncs of clients leaders have answered. */
    public long syncsAnswered() {
        return syncsAnswered;
    }

    /** How many syncs of clients wait at this leader. */
    public int waitingSyncs(int leader) {
        return servers[leader].waiting.size();
    }

    /**
     * Whether the server needs others to recover once it has lost power, or does now: its markers
     * say that it was in fast mode, or its disk is lost.
     */
    public boolean needsRecovery(int server) {
        return servers[server].lost || servers[server].markersSayFast();
    }

    /**
     * Whether the server finds whatever it has acked when it starts the next time, if nothing is
     * lost before that: what its log says is on disk, or in a page cache that is still there (R25).
     */
    public boolean completeAtStart(int server) {
        return !servers[server].mayHaveForgotten();
    }

    /** Whether a server that lost its memory has heard enough with answers of these, as bits. */
    boolean enoughAnswer(int server, int answering) {
        View own = servers[server].ownView;
        int ofMembers = 0;
        for (Server s : servers) {
            if ((answering & 1 << s.index) != 0) {
                if (own.isOlderThan(s.ownView.sealIn(s.lastLogged()))) {
                    return true;
                }
                ofMembers += own.includes(s.sid) ? 1 : 0;
            }
        }
        return ofMembers >= (own.isFirst() ? Quorums.recoveryQuorum(n) : own.answersNeeded());
    }

    /** Whether the server's disk was lost and it has not recovered since. */
    public boolean lost(int server) {
        return servers[server].lost;
    }

    /** Whether the server's process runs. */
    public boolean up(int server) {
        return servers[server].role != Role.DOWN;
    }

    /** Whether the server runs and is not recovering. */
    public boolean recovered(int server) {
        return servers[server].recovered();
    }

    /** Whether the server recovers. */
    public boolean recovering(int server) {
        return servers[server].role == Role.RECOVERING;
    }

    /** Whether the server looks for a leader. */
    public boolean looking(int server) {
        return servers[server].role == Role.LOOKING;
    }

    /** Whether the server leads and a bare majority has its history. */
    public boolean serves(int server) {
        return servers[server].established;
    }

    /** Whether the server leads, or tries to. */
    public boolean leads(int server) {
        return servers[server].leads();
    }

    /** Whom the server follows, -1 if nobody. */
    public int leaderOf(int server) {
        return servers[server].role == Role.FOLLOWING ? servers[server].leader : -1;
    }

    /** Whether the follower is connected at both ends. */
    public boolean attached(int follower) {
        return servers[follower].attached();
    }

    /**
     * Whether the follower's end of a connection to this leader is there, and the leader's, too.
     */
    public boolean isOtherEnd(int leader, int follower) {
        return LeaderSteps.isOtherEnd(servers[leader], servers[follower]);
    }

    /** Whether the leader has an open connection of the follower. */
    public boolean hasConnection(int leader, int follower) {
        return servers[leader].leads() && servers[leader].links[follower].open;
    }

    /** Whether the leader proposes fast entries. */
    public boolean fastMode(int leader) {
        Server l = servers[leader];
        return l.established && l.controller.mode() == Mode.FAST;
    }

    /** Whether the leader holds proposals back (R5). */
    public boolean holdsBack(int leader) {
        Server l = servers[leader];
        return l.established && l.state.draining();
    }

    /** How many entries the server's log has. */
    public int logLength(int server) {
        return servers[server].length;
    }

    /** Whether a loss of power would change anything on the server's machine. */
    public boolean mayLosePower(int server) {
        return EnabledSteps.mayLosePower(servers[server]);
    }

    /** How many of them the death of its process leaves for certain. */
    public int writtenLength(int server) {
        return servers[server].written;
    }

    /** How many entries of its leader's history a follower that joins logs next. */
    public int mayLog(int server) {
        return FollowerSteps.mayLog(servers[server]);
    }

    /** How many of them a loss of power leaves for certain. */
    public int forcedLength(int server) {
        return servers[server].forced;
    }

    /** How many entries this leader has committed, its history included. */
    public int committedLength(int leader) {
        return servers[leader].committed;
    }

    /** How much of what it proposed the leader knows a server to have acked, itself among them. */
    public int ackedLength(int leader, int server) {
        Server l = servers[leader];
        return server == leader ? l.acked : l.links[server].acksRead;
    }

    /** How many entries this leader has proposed, its history included. */
    public int proposedLength(int leader) {
        return servers[leader].queueLength;
    }

    /** The server that this leader may hand over to now (R28), counting from 0; -1 if none. */
    public int mayHandOverTo(int leader) {
        Server l = servers[leader];
        HandOver<Link> handOver = new HandOver<>();
        if (!l.established
                || handOver.begin(l.state, 0, 0, l.now) != null
                || handOver.look(l.state, l.now) != HandOver.Outcome.READY) {
            return -1;
        }
        return sids.indexOf(handOver.to());
    }

    // ---- Which steps are enabled ----

    /**
     * Fills in every step that may happen now.
     *
     * @param steps at least {@link #MAX_ENABLED} long
     * @return how many there are
     */
    public int enabled(int[] steps) {
        return enabledSteps.all(steps);
    }

    /**
     * Fills in every step that may happen to one server now, but for its crash and its election.
     *
     * @param breaks whether also those that end a connection whose other end is still there
     * @return how many there are
     */
    public int enabled(int server, int[] steps, boolean breaks) {
        return enabledSteps.of(servers[server], steps, 0, breaks);
    }

    /** Of {@link #enabled(int, int[], boolean)}, those that only syncs of clients ask for. */
    public int enabledForSyncs(int server, int[] steps) {
        return enabledSteps.forSyncs(servers[server], steps);
    }

    /**
     * Of {@link #enabled(int, int[], boolean)}, what makes a leader change its mode apart from its
     * clients: orders, proposals that are held back, single heartbeats that are missed, pauses.
     */
    public int enabledForModes(int server, int[] steps) {
        Server s = servers[server];
        return s.established ? enabledSteps.addModes(s, steps, 0) : 0;
    }

    /** Whether a server that looks for a leader may connect to this one. */
    public boolean mayConnect(int server, int leader) {
        return EnabledSteps.mayConnect(servers[server], servers[leader]);
    }

    /** Whether these voters, a bare majority with the server among them, may elect it now. */
    public boolean electable(int server, int mask) {
        return elections < bounds.elections() && enabledSteps.electable(servers[server], mask);
    }

    // ---- Steps ----

    /**
     * Lets a step happen that {@link #enabled} offers.
     *
     * @return false if that broke an invariant
     */
    public boolean apply(int step) {
        Server s = servers[Step.server(step)];
        Server other = servers[Step.other(step)];
        switch (Step.kind(step)) {
            case PROPOSE -> {
                entries++;
                leaderSteps.propose(s);
            }
            case NOOP -> {
                noops++;
                s.noopOwed = false;
                leaderSteps.proposeNoop(s);
            }
            case APPEND -> logSteps.appendNext(s, false);
            case ACK -> logSteps.ack(s);
            case FORCE -> {
                forces++;
                LogSteps.force(s);
            }
            case MARK -> logSteps.mark(s);
            case RECEIVE -> leaderSteps.receive(s, other);
            case CONFIRM -> {
                confirmations++;
                leaderSteps.confirm(s);
            }
            case SUSPECT -> {
                suspicions++;
                leaderSteps.suspect(s);
            }
            case CLOSE -> {
                if (LeaderSteps.isOtherEnd(s, other)) {
                    disconnects++;
                }
                leaderSteps.drop(s, other.index);
            }
            case STEP_DOWN -> {
                disconnects++;
                logSteps.drainAndLook(s);
            }
            case LEAVE -> {
                if (s.attached()) {
                    disconnects++;
                }
                followerSteps.leave(s);
            }
            case ELECT -> {
                elections++;
                leaderSteps.elect(s, Step.argument(step));
            }
            case CONNECT -> leaderSteps.connect(s, other);
            case TRUNCATE -> FollowerSteps.truncate(s);
            case SYNC -> followerSteps.logInitialHistory(s);
            case UPTODATE -> followerSteps.upToDate(s);
            case CRASH -> {
                crashes++;
                ProcessSteps.crash(s, Step.argument(step));
            }
            case KILL -> {
                kills++;
                ProcessSteps.kill(s, Step.argument(step));
            }
            case KILL_JOINING -> {
                kills++;
                followerSteps.killedWhileJoining(s, Step.argument(step));
            }
            case LOSE_DISK -> {
                lostDisks++;
                ProcessSteps.loseDisk(s);
            }
            case RESTART -> processSteps.restart(s);
            case ANSWER -> recoverySteps.answer(s, other);
            case LEARN -> recoverySteps.learn(s, other.index);
            case SOURCE -> recoverySteps.sourceAnswers(s);
            case HISTORY -> recoverySteps.historyReceived(s);
            case GIVE_UP -> recoverySteps.queryAnew(s);
            case FINISH -> recoverySteps.finish(s);
            case CLIENT_SYNC -> {
                syncs++;
                syncSteps.clientSync(s);
            }
            case ASK -> syncSteps.askAgain(s);
            case REPLY -> SyncSteps.reply(s);
            case HEAR -> syncSteps.hear(s, other);
            case PIN -> {
                pins++;
                leaderSteps.pin(s);
            }
            case UNPIN -> LeaderSteps.unpin(s);
            case DRAIN -> {
                drains++;
                leaderSteps.confirm(s);
            }
            case DRAIN_ENDS -> leaderSteps.endDrain(s);
            case MISS -> {
                misses++;
                leaderSteps.miss(s, other);
            }
            case PONG -> LeaderSteps.heard(s, s.links[other.index]);
            case PAUSE -> {
                pauses++;
                leaderSteps.pause(s);
            }
        }
        for (Invariant invariant : afterSteps) {
            String broke = invariant.after(this, step);
            if (broke != null) {
                violated(invariant, broke);
            }
        }
        return violation == null;
    }

    /** Continues after a step that broke an invariant: the next step may break another one. */
    public void goOn() {
        violation = null;
        explanation = "";
    }

    /** The leader is about to commit the entry at this position of its queue. */
    void committing(Server l, int position) {
        for (Invariant invariant : atCommits) {
            String broke = invariant.onCommit(this, l, position);
            if (broke != null) {
                violated(invariant, broke);
            }
        }
    }

    private void violated(Invariant invariant, String how) {
        if (violation == null) {
            violation = invariant.name();
            explanation = how;
        }
    }
}
