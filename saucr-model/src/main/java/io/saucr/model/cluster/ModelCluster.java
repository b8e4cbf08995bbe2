package io.saucr.model.cluster;

import io.saucr.core.Bytes;
import io.saucr.core.CommitRule;
import io.saucr.core.Configuration;
import io.saucr.core.HistoryAnswerer;
import io.saucr.core.IncarnationFence;
import io.saucr.core.LleKnowledge;
import io.saucr.core.LleMap;
import io.saucr.core.LogDurability;
import io.saucr.core.Markers;
import io.saucr.core.Mode;
import io.saucr.core.ModeController;
import io.saucr.core.ModeController.Decision;
import io.saucr.core.ProposalTag;
import io.saucr.core.RecoveryMessage;
import io.saucr.core.RecoveryMessage.EntriesRequest;
import io.saucr.core.RecoveryMessage.LleAnswer;
import io.saucr.core.RecoveryMessage.OutlineAnswer;
import io.saucr.core.RecoveryMessage.OutlineRequest;
import io.saucr.core.RecoveryProcedure;
import io.saucr.core.RecoveryProcedure.Append;
import io.saucr.core.RecoveryProcedure.Finish;
import io.saucr.core.RecoveryProcedure.Truncate;
import io.saucr.core.ReplicationSet;
import io.saucr.core.SyncBarrier;
import io.saucr.core.Zxid;
import io.saucr.model.cluster.Server.ClientSync;
import io.saucr.model.cluster.Server.Role;
import io.saucr.model.cluster.Step.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * An ensemble of servers made of the product's own classes, with the channels between them and the
 * disks under them. {@link #enabled} says what may happen next, {@link #apply} lets one of these
 * things happen, and {@link #violation} names the invariant that this broke.
 *
 * <p>What is modelled and what is abstracted is said in this package's description. Owned by one
 * thread. Steps allocate nothing but when connections, leaders or recoveries begin, and for syncs.
 */
public final class ModelCluster {
    /** An ensemble has 3 to this many voters. */
    public static final int MAX_SERVERS = 7;

    /** No more steps than this are ever enabled together. */
    public static final int MAX_ENABLED = 1024;

    private static final int HISTORY_BYTES = 1024;

    /** More than these do not wait at one leader. */
    private static final int MOST_SYNCS = 4;

    /** One confirmation is enough: more of them only make fewer schedules possible. */
    private static final int CONFIRMATIONS = 1;

    final int n;
    final int bareMajority;
    final int fastQuorum;
    final Bounds bounds;
    final Set<BrokenRule> broken;
    final Server[] servers;
    final AcknowledgedHistory history = new AcknowledgedHistory();
    final Configuration voters;
    private final List<Long> sids;
    private final int[] bareMajorities;
    private final HistoryAnswerer[] answerers;
    private final Invariant[] afterSteps;
    private final Invariant[] atCommits;
    private final int capacity;

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

    /** How many leaders there were; elections, unlike these, start anew with the bounds. */
    int terms;

    private long fastCommits;
    private long slowCommits;
    private long turnsToFast;
    private long turnsToSlow;
    private long syncsAnswered;

    private String violation;
    private String explanation = "";

    // Broken rules, looked up once.
    private final boolean r3;
    private final boolean r13Critical;
    private final boolean r13Order;
    private final boolean r20;
    private final boolean r21;
    private final boolean h5;
    private final boolean h6;
    private final boolean h14;
    private final boolean r8;
    private final boolean r22Unnumbered;
    private final boolean r25Write;

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
        this.bareMajority = voters / 2 + 1;
        this.fastQuorum = bareMajority + 1;
        this.bounds = bounds;
        this.broken = Set.copyOf(broken);
        this.capacity = (int) Math.min(32, (long) bounds.entries() + bounds.noops() + 1);
        r3 = broken.contains(BrokenRule.R3_SLOW_ACK_FROM_MEMORY);
        r8 = broken.contains(BrokenRule.R8_MAP_REPLACED);
        r13Critical = broken.contains(BrokenRule.R13_NO_CRITICAL_SECTION);
        r13Order = broken.contains(BrokenRule.R13_MARKER_BEFORE_FORCE);
        r20 = broken.contains(BrokenRule.R20_NO_NOTICE);
        r21 = broken.contains(BrokenRule.R21_OLD_CONNECTION_COUNTS);
        r22Unnumbered = broken.contains(BrokenRule.R22_ANSWERS_WITHOUT_NUMBER);
        r25Write = broken.contains(BrokenRule.R25_ACK_BEFORE_WRITE);
        h5 = broken.contains(BrokenRule.H5_FAST_BEFORE_UPTODATE);
        h6 = broken.contains(BrokenRule.H6_OLD_TAGS);
        h14 = broken.contains(BrokenRule.H14_MEMORY_AHEAD_OF_LOG);
        servers = new Server[n];
        answerers = new HistoryAnswerer[n];
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            all.add(i + 1L);
            servers[i] = new Server(i, n, capacity);
            answerers[i] = new HistoryAnswerer(i + 1L, HISTORY_BYTES);
            open(servers[i]);
        }
        sids = List.copyOf(all);
        this.voters = new Configuration(0, sids);
        bareMajorities = masksOf(bareMajority);
        afterSteps = Invariant.afterSteps().toArray(new Invariant[0]);
        atCommits = Invariant.atCommits().toArray(new Invariant[0]);
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
            open(s);
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

    /** What was ever committed. */
    public AcknowledgedHistory history() {
        return history;
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
        return attached(servers[follower]);
    }

    /**
     * Whether the follower's end of a connection to this leader is there, and the leader's, too.
     */
    public boolean isOtherEnd(int leader, int follower) {
        return isOtherEnd(servers[leader], servers[follower]);
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

    /** How many followers the leader may count as prompt, and itself. */
    public int synced(int leader) {
        return prompt(servers[leader]);
    }

    /** How many entries the server's log has. */
    public int logLength(int server) {
        return servers[server].length;
    }

    /** Whether a loss of power would change anything on the server's machine. */
    public boolean mayLosePower(int server) {
        return mayLosePower(servers[server]);
    }

    /** How many of them the death of its process leaves for certain. */
    public int writtenLength(int server) {
        return servers[server].written;
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

    // ---- Which steps are enabled ----

    /**
     * Fills in every step that may happen now.
     *
     * @param steps at least {@link #MAX_ENABLED} long
     * @return how many there are
     */
    public int enabled(int[] steps) {
        int count = 0;
        for (int i = 0; i < n; i++) {
            Server s = servers[i];
            if (mayLosePower(s) && crashes < bounds.crashes()) {
                count = crashSteps(s, steps, count);
            }
            if (s.role != Role.DOWN && kills < bounds.kills()) {
                count = killSteps(s, steps, count);
            }
            if (mayLoseDisk(s) && lostDisks < bounds.lostDisks()) {
                steps[count++] = Step.of(Kind.LOSE_DISK, i);
            }
            count = stepsOf(s, steps, count, disconnects < bounds.disconnects());
            if (s.role == Role.LOOKING) {
                count = electionSteps(s, steps, count);
            }
        }
        return count;
    }

    /**
     * Fills in every step that may happen to one server now, but for its crash and its election.
     *
     * @param breaks whether also those that end a connection whose other end is still there
     * @return how many there are
     */
    public int enabled(int server, int[] steps, boolean breaks) {
        return stepsOf(servers[server], steps, 0, breaks);
    }

    /** Of {@link #enabled(int, int[], boolean)}, those that only syncs of clients ask for. */
    public int enabledForSyncs(int server, int[] steps) {
        Server s = servers[server];
        return switch (s.role) {
            case FOLLOWING -> replySteps(s, steps, 0);
            case LEADING -> syncSteps(s, steps, 0);
            case DOWN, RECOVERING, LOOKING -> 0;
        };
    }

    /** Whether a server that looks for a leader may connect to this one. */
    public boolean mayConnect(int server, int leader) {
        Server l = servers[leader];
        return l.leads() && servers[server].acceptedEpoch <= l.acceptedEpoch;
    }

    /** Whether these voters, a bare majority with the server among them, may elect it now. */
    public boolean electable(int server, int mask) {
        return elections < bounds.elections() && electable(servers[server], mask);
    }

    private int stepsOf(Server s, int[] steps, int count, boolean breaks) {
        return switch (s.role) {
            case DOWN -> {
                steps[count] = Step.of(Kind.RESTART, s.index);
                yield count + 1;
            }
            case RECOVERING -> recoverySteps(s, steps, count);
            case LOOKING -> connectSteps(s, steps, count);
            case FOLLOWING -> followerSteps(s, steps, count, breaks);
            case LEADING -> leaderSteps(s, steps, count, breaks);
        };
    }

    private int crashSteps(Server s, int[] steps, int count) {
        int i = s.index;
        steps[count++] = Step.of(Kind.CRASH, i);
        if (bounds.partialCrashes()) {
            for (int kept = 1; kept <= s.length - s.forced && kept < 8; kept++) {
                steps[count++] = Step.of(Kind.CRASH, i, 0, kept);
            }
        }
        return count;
    }

    private int killSteps(Server s, int[] steps, int count) {
        int i = s.index;
        steps[count++] = Step.of(Kind.KILL, i);
        if (bounds.partialCrashes()) {
            for (int kept = 1; kept <= s.length - s.written && kept < 8; kept++) {
                steps[count++] = Step.of(Kind.KILL, i, 0, kept);
            }
        }
        return count;
    }

    private static boolean mayLoseDisk(Server s) {
        return s.role != Role.DOWN || s.length > 0 || s.acceptedEpoch > 0;
    }

    private static boolean mayLosePower(Server s) {
        return s.role != Role.DOWN || s.length > s.forced || (s.proven && s.markersSayFast());
    }

    private int recoverySteps(Server s, int[] steps, int count) {
        int i = s.index;
        Recovery recovery = s.recovery;
        if (recovery.finish != null) {
            steps[count++] = Step.of(Kind.FINISH, i);
            return lateAnswers(s, steps, count);
        }
        if (recovery.asksForAnswers()) {
            for (int j = 0; j < n; j++) {
                if (j == i) {
                    continue;
                }
                if (recovery.underway[j] != null) {
                    steps[count++] = Step.of(Kind.LEARN, i, j);
                } else if (isNewToHear(servers[j], s)
                        || (answersQueries(servers[j], s.lost)
                                && (counts(servers[j], s)
                                        || (recovery.received[j] == null
                                                && hasNews(servers[j], s))))) {
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
        return lateAnswers(s, steps, count);
    }

    /**
     * Whether the answer counts. A server that lost its disk acked what it does not have any more,
     * and a leader may count that: so it listens first to a leader, who drops these acks, and only
     * then to the others. Or it has heard all of them: then nobody counts these acks.
     */
    private boolean counts(Server s, Server asker) {
        Recovery recovery = asker.recovery;
        boolean first = recovery.received[s.index] == null;
        if (!asker.lost || broken.contains(BrokenRule.R26_LEADER_NOT_FIRST)) {
            return first;
        }
        boolean any = recovery.afterAll() || broken.contains(BrokenRule.R26_NO_NEW_ROUND);
        return leadsAnew(s, recovery) || (first && (any || promise(s) <= recovery.ledEpoch));
    }

    /** Whether it is the leader after whose answer others' count. */
    private boolean leadsAnew(Server s, Recovery recovery) {
        return !recovery.afterAll() && s.established && promise(s) > recovery.ledEpoch;
    }

    /**
     * Whether it matters to a server that lost its disk that it hears this one, even if what it
     * says does not count: that it does not lead, does not count the old acks any more, or
     * recovers.
     */
    private boolean isNewToHear(Server s, Server asker) {
        Recovery recovery = asker.recovery;
        if (!asker.lost
                || recovery.afterAll()
                || broken.contains(BrokenRule.R26_LEADER_NOT_FIRST)) {
            return false;
        }
        boolean speaks = s.role == Role.RECOVERING || answersQueries(s, true);
        boolean isNew = (recovery.heard & 1 << s.index) == 0;
        return speaks && (isNew || (recovery.allHeard() && makesBegin(s, recovery)));
    }

    /**
     * Whether a round begins when all were heard and this one speaks: it cannot count otherwise.
     */
    private boolean makesBegin(Server s, Recovery recovery) {
        return answersQueries(s, true)
                ? recovery.received[s.index] == null && promise(s) > recovery.ledEpoch
                : recovery.ledEpoch == Server.NOWHERE;
    }

    /** The newest epoch that the server says it has promised to. */
    private long promise(Server s) {
        return broken.contains(BrokenRule.R26_ACCEPTED_EPOCH_FORGOTTEN)
                ? s.currentEpoch
                : s.acceptedEpoch;
    }

    /**
     * A query may arrive when its answer is of no use any more; the leader hears of it all the
     * same.
     */
    private int lateAnswers(Server asker, int[] steps, int count) {
        for (int j = 0; j < n; j++) {
            if (j != asker.index
                    && asker.recovery.received[j] == null
                    && asker.recovery.underway[j] == null
                    && answersQueries(servers[j], asker.lost)
                    && hasNews(servers[j], asker)) {
                steps[count++] = Step.of(Kind.ANSWER, j, asker.index);
            }
        }
        return count;
    }

    /** Whether the leader of a server that is queried, or itself, learns of a restart by that. */
    private boolean hasNews(Server s, Server asker) {
        if (silent(asker) || !(s.leads() || attached(s))) {
            return false;
        }
        Server l = s.leads() ? s : servers[s.leader];
        Link link = l.links[asker.index];
        boolean news =
                link.open
                        ? link.incarnation != asker.incarnation
                        : l.count.durableThrough(asker.sid) != Zxid.NONE;
        return news && (s.leads() || !s.link.tells(asker.index, asker.incarnation));
    }

    /** Whether nobody tells the leader of this one's restart. */
    private boolean silent(Server asker) {
        return r20 || (asker.lost && broken.contains(BrokenRule.R26_NO_NOTICE));
    }

    /**
     * Whether the server answers one that recovers. A leader that is not established may hold an
     * ack of NEWLEADER of a disk that is lost (R26).
     */
    private boolean answersQueries(Server s, boolean asksForLostDisk) {
        return switch (s.role) {
            case DOWN -> false;
            case RECOVERING ->
                    s.lost
                            ? broken.contains(BrokenRule.R26_LOST_ANSWERS)
                            : broken.contains(BrokenRule.R16_RECOVERING_ANSWERS);
            case LOOKING -> true;
            case LEADING -> s.established || !asksForLostDisk;
            case FOLLOWING -> s.upToDate;
        };
    }

    private int connectSteps(Server s, int[] steps, int count) {
        int i = s.index;
        for (int j = 0; j < n; j++) {
            if (mayConnect(i, j)) {
                steps[count++] = Step.of(Kind.CONNECT, i, j);
            }
        }
        return count;
    }

    private int electionSteps(Server s, int[] steps, int count) {
        int i = s.index;
        if (elections < bounds.elections()) {
            for (int mask : bareMajorities) {
                if ((mask & 1 << i) != 0 && electable(s, mask)) {
                    steps[count++] = Step.of(Kind.ELECT, i, 0, mask);
                }
            }
        }
        return count;
    }

    private boolean electable(Server s, int mask) {
        for (int j = 0; j < n; j++) {
            if ((mask & 1 << j) != 0) {
                Server voter = servers[j];
                if (voter.role != Role.LOOKING
                        || voter.currentEpoch > s.currentEpoch
                        || (voter.currentEpoch == s.currentEpoch && claim(voter) > claim(s))) {
                    return false;
                }
            }
        }
        return true;
    }

    private int followerSteps(Server s, int[] steps, int count, boolean breaks) {
        int i = s.index;
        if (!s.loggedInitialHistory) {
            if (mustCut(s) < s.length) {
                steps[count++] = Step.of(Kind.TRUNCATE, i);
            } else {
                steps[count++] = Step.of(Kind.SYNC, i);
            }
        } else if (!s.upToDate) {
            if (s.upToDateAt != Server.NOWHERE) {
                steps[count++] = Step.of(Kind.UPTODATE, i);
            }
        } else {
            count = logSteps(s, steps, count);
        }
        if (breaks || !attached(s)) {
            steps[count++] = Step.of(Kind.LEAVE, i);
        }
        return replySteps(s, steps, count);
    }

    private int replySteps(Server s, int[] steps, int count) {
        if (attached(s) && matters(servers[s.leader], s.link.question)) {
            steps[count++] = Step.of(Kind.REPLY, s.index);
        }
        return count;
    }

    private int syncSteps(Server l, int[] steps, int count) {
        int i = l.index;
        if (l.established && syncs < bounds.syncs() && l.waiting.size() < MOST_SYNCS) {
            steps[count++] = Step.of(Kind.CLIENT_SYNC, i);
        }
        boolean somebodyWasNotAsked = false;
        for (int j = 0; j < n; j++) {
            Link link = l.links[j];
            if (matters(l, link.answer)) {
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

    /** Whether an answer to this question can serve a sync. */
    private boolean matters(Server l, long question) {
        return question != 0 && question >= firstThatMatters(l);
    }

    long firstThatMatters(Server l) {
        if (r22Unnumbered) {
            return 1;
        }
        return l.waiting.isEmpty() ? l.asked + 1 : l.waiting.peek().question();
    }

    private int logSteps(Server s, int[] steps, int count) {
        int i = s.index;
        if (s.queueNext < s.queueLength) {
            steps[count++] = Step.of(Kind.APPEND, i);
        }
        if (s.acked < s.length) {
            steps[count++] = Step.of(Kind.ACK, i);
        }
        boolean claims = s.durability.claimsOnDisk();
        if (s.flushed == Server.NOWHERE
                && forces < bounds.forces()
                && (s.forced < s.length || !claims)) {
            steps[count++] = Step.of(Kind.FORCE, i);
        }
        if (mayMark(s)) {
            steps[count++] = Step.of(Kind.MARK, i);
        }
        return count;
    }

    private boolean mayMark(Server s) {
        if (r13Order) {
            return !s.durability.claimsOnDisk() && s.lastLogged() >= s.durability.fastSwitch();
        }
        if (s.flushed == Server.NOWHERE || s.flushed == 0) {
            return false;
        }
        long forced = Entry.zxid(s.log[s.flushed - 1]);
        if (r13Critical) {
            return !s.durability.claimsOnDisk() && forced >= s.durability.fastSwitch();
        }
        return s.durability.mayMarkOnDisk(forced, s.lastLogged());
    }

    private int leaderSteps(Server s, int[] steps, int count, boolean breaks) {
        int i = s.index;
        count = logSteps(s, steps, count);
        if (s.established) {
            if (entries < bounds.entries()) {
                steps[count++] = Step.of(Kind.PROPOSE, i);
            }
            if (s.noopOwed && noops < bounds.noops()) {
                steps[count++] = Step.of(Kind.NOOP, i);
            }
            if (mayConfirm(s)) {
                steps[count++] = Step.of(Kind.CONFIRM, i);
            }
            if (s.controller.mode() == Mode.FAST && suspicions < bounds.suspicions()) {
                steps[count++] = Step.of(Kind.SUSPECT, i);
            }
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
        return syncSteps(s, steps, count);
    }

    /**
     * DRAINING is left out: a leader that holds proposals back until the slow ones are on disk is
     * one to whom no client writes meanwhile.
     */
    private boolean mayConfirm(Server l) {
        return l.controller.mode() == Mode.SLOW
                && confirmations < bounds.confirmations()
                && prompt(l) > bareMajority
                && (onDisks(l) || (l.count.slowEntriesCommitted() && !l.noopOwed));
    }

    private boolean onDisks(Server l) {
        return broken.contains(BrokenRule.R5_FAST_BEFORE_DISKS)
                || l.count.lastSlowOnFastQuorumOfDisks();
    }

    private static int prompt(Server l) {
        int prompt = 1;
        for (Link link : l.links) {
            if (link.open && link.synced()) {
                prompt++;
            }
        }
        return prompt;
    }

    private static boolean attached(Server s) {
        return s.link != null;
    }

    static boolean isOtherEnd(Server l, Server s) {
        return l.links[s.index].otherEnd != null;
    }

    /** What the server says of its log when it votes, acks an epoch or joins (H14). */
    private static long claim(Server s) {
        return Math.max(s.claimed, s.lastLogged());
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
                propose(s);
            }
            case NOOP -> {
                noops++;
                s.noopOwed = false;
                propose(s);
            }
            case APPEND -> appendNext(s, false);
            case ACK -> ack(s);
            case FORCE -> {
                forces++;
                s.force();
                s.flushed = s.length;
            }
            case MARK -> mark(s);
            case RECEIVE -> receive(s, other);
            case CONFIRM -> {
                confirmations++;
                act(
                        s,
                        s.controller.promptness(
                                prompt(s), onDisks(s), !s.count.slowEntriesCommitted(), 0));
            }
            case SUSPECT -> {
                suspicions++;
                act(s, s.controller.promptness(bareMajority, false, false, 0));
            }
            case CLOSE -> {
                if (isOtherEnd(s, other)) {
                    disconnects++;
                }
                drop(s, other.index);
            }
            case STEP_DOWN -> {
                disconnects++;
                drainAndLook(s);
            }
            case LEAVE -> leave(s);
            case ELECT -> elect(s, Step.argument(step));
            case CONNECT -> connect(s, other);
            case TRUNCATE -> {
                s.cut(mustCut(s));
                s.claimed = 0;
            }
            case SYNC -> logInitialHistory(s);
            case UPTODATE -> upToDate(s);
            case CRASH -> crash(s, Step.argument(step));
            case KILL -> kill(s, Step.argument(step));
            case LOSE_DISK -> loseDisk(s);
            case RESTART -> restart(s);
            case ANSWER -> answer(s, other);
            case LEARN -> {
                LleAnswer answer = s.recovery.underway[other.index];
                s.recovery.underway[other.index] = null;
                learn(s, other.index, answer, s.recovery.promised[other.index]);
            }
            case SOURCE -> sourceAnswers(s);
            case HISTORY -> historyReceived(s);
            case GIVE_UP -> queryAnew(s);
            case FINISH -> finish(s);
            case CLIENT_SYNC -> {
                syncs++;
                clientSync(s);
            }
            case ASK -> ask(s);
            case REPLY -> {
                s.link.answer = s.link.question;
                s.link.question = 0;
            }
            case HEAR -> hear(s, other);
        }
        for (Invariant invariant : afterSteps) {
            String broke = invariant.after(this, step);
            if (broke != null) {
                violated(invariant, broke);
            }
        }
        return violation == null;
    }

    private void violated(Invariant invariant, String how) {
        if (violation == null) {
            violation = invariant.name();
            explanation = how;
        }
    }

    // ---- The leader ----

    private void elect(Server l, int mask) {
        elections++;
        terms++;
        long epoch = 0;
        for (int j = 0; j < n; j++) {
            if ((mask & 1 << j) != 0) {
                epoch = Math.max(epoch, servers[j].acceptedEpoch + 1);
            }
        }
        l.forgetRole();
        l.role = Role.LEADING;
        l.term = terms;
        l.acceptedEpoch = epoch;
        l.currentEpoch = epoch;
        for (int i = 0; i < l.length; i++) {
            l.enqueue(l.log[i], null);
        }
        l.queueNext = l.queueLength;
        l.epochStart = l.queueLength;
        l.newLeaderAcks = 1 << l.index;
        beginEpoch(l);
        for (int j = 0; j < n; j++) {
            if ((mask & 1 << j) != 0 && j != l.index) {
                connect(servers[j], l);
            }
        }
    }

    void beginEpoch(Server l) {
        long start = Zxid.of(l.acceptedEpoch, 0);
        l.count = newCount(l.sid, start);
        l.set = new ReplicationSet(l.sid, l.knowledge.snapshot(), start);
        l.controller = new ModeController(n, CONFIRMATIONS, 1);
        l.fence = new IncarnationFence();
        l.syncs = new SyncBarrier<>(l.sid);
    }

    private AckCount newCount(long sid, long epochStart) {
        boolean loose =
                broken.contains(BrokenRule.R2_REJOINED_IN_EVERY_SET)
                        || broken.contains(BrokenRule.R4_DURABLE_ACK_COUNTS_TOWARDS_F)
                        || r21;
        return loose
                ? new LooseAckCount(sid, n, epochStart, broken)
                : new ProductAckCount(sid, sids, epochStart);
    }

    private void connect(Server s, Server l) {
        if (r21) {
            readAll(l, s);
        } else {
            drop(l, s.index);
        }
        s.forgetRole();
        s.role = Role.FOLLOWING;
        s.acceptedEpoch = l.acceptedEpoch;
        s.leader = l.index;
        s.initialHistory = Math.max(l.epochStart, l.committed);
        s.copyQueue(l);
        s.queueNext = s.initialHistory;
        long connection = l.count.connect(s.sid);
        l.fence.connected(s.sid, connection, s.incarnation);
        l.links[s.index].open(connection, s.incarnation, l.queueLength, s.initialHistory);
        l.links[s.index].attach(s);
        if (broken.contains(BrokenRule.H5_COUNTS_BEFORE_UPTODATE)) {
            count(l, s);
        }
        l.set.join(s.sid);
        // R1: the next proposal says it to everyone, the newcomer too.
        l.tag = h6 && l.tag != null ? l.set.propose(lastProposed(l), l.tag.mode()) : null;
    }

    private static long lastProposed(Server l) {
        return l.queueLength > l.epochStart
                ? Entry.zxid(l.queue[l.queueLength - 1])
                : Zxid.of(l.acceptedEpoch, 0);
    }

    private static void count(Server l, Server s) {
        Link link = l.links[s.index];
        if (link.countsFrom == Server.NOWHERE) {
            link.countsFrom = l.queueLength;
            l.count.join(s.sid, link.connection);
        }
    }

    /** R21 broken: what the old connection still holds counts, too. */
    private void readAll(Server l, Server s) {
        Link link = l.links[s.index];
        if (!link.open) {
            return;
        }
        while (link.acksRead < link.acksSent) {
            l.count.ack(s.sid, link.connection, Entry.zxid(l.queue[link.acksRead++]));
        }
        commit(l);
    }

    private void propose(Server l) {
        long zxid = Zxid.of(l.acceptedEpoch, l.queueLength - l.epochStart + 1L);
        Mode mode = l.controller.mode();
        ProposalTag next = l.set.propose(zxid, mode);
        l.count.propose(zxid, mode);
        ProposalTag attached = sameTag(next, l.tag) ? null : next;
        l.tag = next;
        long entry = Entry.of(zxid, l.term);
        l.enqueue(entry, attached);
        for (int j = 0; j < n; j++) {
            if (isOtherEnd(l, servers[j])) {
                servers[j].enqueue(entry, attached);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // the same object means the same bytes, as in the server
    static boolean sameTag(ProposalTag a, ProposalTag b) {
        return a == b;
    }

    private void receive(Server l, Server from) {
        Link link = l.links[from.index];
        if (link.newLeaderAck == Link.UNREAD) {
            link.newLeaderAck = Link.READ;
            l.newLeaderAcks |= 1 << from.index;
            if (l.established) {
                sendUpToDate(l, from);
            } else if (Integer.bitCount(l.newLeaderAcks) >= bareMajority) {
                establish(l);
            }
        } else if (link.upToDateAck == Link.UNREAD) {
            link.upToDateAck = Link.READ;
            // H5: from now on it treats as fast what is fast, and may count towards F.
            count(l, from);
        } else if (link.notices > 0 && link.noticeBefore[0] <= link.acksRead) {
            int restarted = link.noticeServer[0];
            long incarnation = link.noticeIncarnation[0];
            link.removeFirstNotice();
            fence(l, restarted, incarnation);
        } else {
            long zxid = Entry.zxid(l.queue[link.acksRead++]);
            l.count.ack(from.sid, link.connection, zxid);
            commit(l);
        }
    }

    private void establish(Server l) {
        l.established = true;
        l.committed = l.epochStart;
        history.serves(l.index, l.acceptedEpoch, l.queue, l.epochStart);
        for (int j = 0; j < n; j++) {
            if (l.links[j].open && l.links[j].newLeaderAck == Link.READ) {
                sendUpToDate(l, servers[j]);
            }
        }
    }

    private static void sendUpToDate(Server l, Server to) {
        if (isOtherEnd(l, to)) {
            to.upToDateAt = l.queueLength;
        }
    }

    private void commit(Server l) {
        long through = l.count.committableThrough();
        int from = l.committed;
        int to = l.epochStart + (int) Zxid.counter(through);
        if (!l.established || to <= from) {
            return;
        }
        history.committed(l.index, l.acceptedEpoch, l.queue, from, to);
        for (int position = from; position < to; position++) {
            answerBefore(l, position);
            if (l.count.mode(Entry.zxid(l.queue[position])) == Mode.FAST) {
                fastCommits++;
            } else {
                slowCommits++;
            }
            for (Invariant invariant : atCommits) {
                String broke = invariant.onCommit(this, l, position);
                if (broke != null) {
                    violated(invariant, broke);
                }
            }
        }
        l.committed = to;
        l.count.committed(through);
        answerSyncs(l);
    }

    // ---- Syncs of clients (R22) ----

    private void clientSync(Server l) {
        ClientSync sync = new ClientSync(lastProposed(l), l.asked + 1, history.length());
        l.waiting.add(sync);
        l.syncs.add(sync, sync.lastProposed());
        answerSyncs(l);
    }

    /** An entry commits whose acks show who follows. */
    private void answerBefore(Server l, int position) {
        boolean any = broken.contains(BrokenRule.R22_EARLIER_ENTRY);
        long zxid = any ? Long.MAX_VALUE : Entry.zxid(l.queue[position]);
        for (ClientSync sync = l.syncs.nextBefore(zxid);
                sync != null;
                sync = l.syncs.nextBefore(zxid)) {
            answered(l, sync, any ? position + 1 : position);
        }
    }

    private void answerSyncs(Server l) {
        long lastCommitted =
                l.committed > l.epochStart
                        ? Entry.zxid(l.queue[l.committed - 1])
                        : Zxid.of(l.acceptedEpoch, 0);
        for (ClientSync sync = l.syncs.next(lastCommitted, this::majority);
                sync != null;
                sync = l.syncs.next(lastCommitted, this::majority)) {
            answered(l, sync, l.committed);
        }
        if (l.syncs.questionDue()) {
            ask(l);
        }
    }

    private boolean majority(Set<Long> sids) {
        return sids.size() >= bareMajority || broken.contains(BrokenRule.R22_NO_QUESTION);
    }

    private void answered(Server l, ClientSync sync, int read) {
        syncsAnswered++;
        if (!l.waiting.remove().equals(sync)) {
            throw new IllegalStateException("a sync is answered before an earlier one");
        }
        history.synced(l.index, l.queue, read, sync.acknowledged());
    }

    private static void ask(Server l) {
        l.asked = l.syncs.ask();
        for (Link link : l.links) {
            if (link.open && link.synced() && link.otherEnd != null) {
                link.asked = l.asked;
                link.question = l.asked;
            }
        }
    }

    private void hear(Server l, Server from) {
        Link link = l.links[from.index];
        long question = r22Unnumbered ? l.asked : link.answer;
        link.answer = 0;
        l.answered[from.index] = Math.max(l.answered[from.index], question);
        l.syncs.answered(from.sid, question);
        answerSyncs(l);
    }

    /** As the server's leader forgets a connection (R2, R6). */
    private void drop(Server l, int follower) {
        Link link = l.links[follower];
        if (!link.open) {
            return;
        }
        long sid = follower + 1L;
        l.fence.disconnected(sid, link.connection);
        boolean stuck = l.count.disconnect(sid, link.connection);
        l.set.leave(sid);
        link.close();
        if (stuck && !broken.contains(BrokenRule.R6_STUCK_ENTRY)) {
            act(l, l.controller.stuck());
        }
        if (prompt(l) <= bareMajority) {
            act(l, l.controller.promptness(0, false, false, 0));
        }
    }

    private void act(Server l, Decision decision) {
        if (decision == Decision.TURN_FAST) {
            turnsToFast++;
        } else if (decision == Decision.TURN_SLOW) {
            turnsToSlow++;
        }
        boolean owes =
                decision == Decision.PROPOSE_NOOP
                        || (decision == Decision.TURN_SLOW
                                && !broken.contains(BrokenRule.R6_NO_NOOP));
        if (owes && l.established) {
            l.noopOwed = true;
        }
    }

    private void fence(Server l, int restarted, long incarnation) {
        long sid = restarted + 1L;
        OptionalLong stale = l.fence.restarted(sid, incarnation);
        if (l.links[restarted].open) {
            if (stale.isEmpty()) {
                return;
            }
            drop(l, restarted);
        }
        l.count.restarted(sid);
    }

    // ---- The log ----

    private void appendNext(Server s, boolean beforeUpToDate) {
        int position = s.queueNext++;
        ProposalTag attached = s.queueTags[position];
        if (attached != null) {
            s.announced = attached;
        }
        ProposalTag tag = s.announced;
        byte as = Server.FAST;
        if (tag == null || tag.mode() == Mode.SLOW) {
            as = Server.SLOW;
        } else if (beforeUpToDate && !h5) {
            as = Server.FAST_TO_BE_FORCED;
        }
        append(s, s.queue[position], as, tag);
    }

    private void append(Server s, long entry, byte as, ProposalTag tag) {
        long zxid = Entry.zxid(entry);
        s.append(entry);
        s.appendedAs[s.length - 1] = as;
        if (!r13Critical) {
            s.flushed = Server.NOWHERE;
        }
        s.tellDurability(s.length - 1);
        if (tag != null) {
            if (r8) {
                s.knowledge = new LleKnowledge(tag.resolve(zxid));
            } else {
                s.knowledge.appended(tag, zxid);
            }
        }
    }

    private void ack(Server s) {
        int from = s.acked;
        settle(s);
        if (s.leads()) {
            for (int i = from; i < s.length; i++) {
                s.count.ack(s.sid, CommitRule.SELF, Entry.zxid(s.log[i]));
            }
            commit(s);
        } else if (attached(s)) {
            s.link.acksSent = s.queueNext;
        }
    }

    /** What the server's log does before an ack (R3, R12, R13, R25). */
    private void settle(Server s) {
        if (!r25Write) {
            s.written = s.length;
        }
        if (s.durability.mustForce()) {
            if (!r3) {
                s.force();
            }
            if (s.durability.mustMarkOnDisk()) {
                if (s.durability.claimsOnDisk()
                        && broken.contains(BrokenRule.S4_STALE_MAP_ON_DISK)) {
                    s.durability.markedOnDisk(s.lastLogged());
                } else {
                    writeOnDiskMarker(s, s.lastLogged());
                }
            }
        }
        long fastSwitch = s.durability.fastSwitchNeeded();
        if (fastSwitch != 0) {
            s.durability.markedFastSwitch(fastSwitch);
            if (!broken.contains(BrokenRule.R12_NO_FAST_SWITCH)) {
                s.fastSwitch = fastSwitch;
            }
        }
        s.durability.acked();
        s.acked = s.length;
    }

    private static void writeOnDiskMarker(Server s, long zxid) {
        s.durability.markedOnDisk(zxid);
        s.latestOnDisk = s.durability.latestOnDisk();
        s.mapOnDisk = s.knowledge.snapshot();
    }

    private void mark(Server s) {
        long zxid = r13Order ? s.lastLogged() : Entry.zxid(s.log[s.flushed - 1]);
        s.flushed = Server.NOWHERE;
        writeOnDiskMarker(s, zxid);
    }

    /** R10: acks what is logged to whoever still hears it, and has everything on disk. */
    private void flush(Server s) {
        settle(s);
        if (!s.durability.claimsOnDisk()) {
            s.force();
            writeOnDiskMarker(s, s.lastLogged());
        }
        s.flushed = Server.NOWHERE;
    }

    private void drainAndLook(Server l) {
        while (l.queueNext < l.queueLength) {
            appendNext(l, false);
        }
        look(l);
    }

    private void look(Server s) {
        flush(s);
        s.forgetRole();
        s.role = Role.LOOKING;
    }

    // ---- The follower ----

    private void leave(Server s) {
        if (attached(s)) {
            disconnects++;
        }
        if (h14 && s.upToDate && attached(s)) {
            int applied = Math.min(servers[s.leader].committed, s.queueLength);
            if (applied > s.queueNext) {
                s.claimed = Entry.zxid(s.queue[applied - 1]);
            }
        }
        look(s);
    }

    /** The length of the longest prefix that a follower shares with what its leader sends. */
    private static int mustCut(Server s) {
        int common = 0;
        while (common < s.length && common < s.initialHistory && s.log[common] == s.queue[common]) {
            common++;
        }
        return common;
    }

    /**
     * The leader sends what comes after the last entry that the follower claims to have, if it has
     * that entry itself.
     */
    private void logInitialHistory(Server s) {
        int from = s.length;
        for (int i = 0; i < s.initialHistory && s.claimed != 0; i++) {
            if (Entry.zxid(s.queue[i]) == s.claimed) {
                from = i + 1;
            }
        }
        for (int i = from; i < s.initialHistory; i++) {
            append(s, s.queue[i], Server.SLOW, null);
        }
        s.claimed = 0;
        settle(s);
        s.loggedInitialHistory = true;
        s.currentEpoch = s.acceptedEpoch;
        if (attached(s)) {
            s.link.newLeaderAck = Link.UNREAD;
        }
    }

    private void upToDate(Server s) {
        s.upToDate = true;
        while (s.queueNext < s.upToDateAt) {
            appendNext(s, true);
        }
        if (attached(s)) {
            s.link.upToDateAck = Link.UNREAD;
        }
    }

    // ---- Crashes ----

    private void crash(Server s, int kept) {
        crashes++;
        s.length = s.forced + kept;
        s.force();
        s.proven = false;
        stop(s);
    }

    private void kill(Server s, int kept) {
        kills++;
        s.length = s.written + kept;
        s.written = s.length;
        stop(s);
    }

    private void loseDisk(Server s) {
        lostDisks++;
        s.lost = true;
        s.length = 0;
        s.force();
        s.proven = false;
        s.currentEpoch = 0;
        s.acceptedEpoch = 0;
        s.fastSwitch = 0;
        s.latestOnDisk = 0;
        s.mapOnDisk = LleMap.empty();
        stop(s);
    }

    private static void stop(Server s) {
        s.acked = s.length;
        s.forgetRole();
        s.role = Role.DOWN;
        s.durability = null;
        s.knowledge = null;
        s.recovery = null;
        s.flushed = Server.NOWHERE;
        s.claimed = 0;
    }

    private void restart(Server s) {
        s.incarnation++;
        s.unrecovered = s.mayHaveForgotten();
        boolean recovers =
                s.unrecovered
                        && !broken.contains(
                                s.lost
                                        ? BrokenRule.R26_LOST_DISK_COUNTS_AS_COMPLETE
                                        : BrokenRule.R25_BOOT_ID_NOT_LOOKED_AT);
        if (recovers && !broken.contains(BrokenRule.R15_RECOVERING_TAKES_PART)) {
            // What an interrupted recovery has copied of epochs that this server was never in.
            int keep = s.length;
            while (keep > 0 && Zxid.epoch(Entry.zxid(s.log[keep - 1])) > s.currentEpoch) {
                keep--;
            }
            s.cut(keep);
            s.role = Role.RECOVERING;
            query(s, s.mapOnDisk);
        } else {
            if (!recovers) {
                complete(s);
            }
            s.role = Role.LOOKING;
            open(s);
        }
    }

    /**
     * A server that finds whatever it has acked (R25). Its map died with its process, if it had
     * acked fast entries since it wrote the one on disk: then anybody may have logged what it has
     * logged itself.
     */
    private void complete(Server s) {
        if (!broken.contains(BrokenRule.R25_START_WITHOUT_FORCE)) {
            s.force();
        }
        if (!s.markersSayFast()) {
            return;
        }
        s.latestOnDisk = Math.max(s.latestOnDisk, s.lastLogged());
        s.fastSwitch = Math.min(s.fastSwitch, s.latestOnDisk);
        if (!broken.contains(BrokenRule.R25_MAP_OF_MARKER)) {
            for (long sid : sids) {
                if (s.mapOnDisk.get(sid) < s.lastLogged()) {
                    s.mapOnDisk = s.mapOnDisk.with(sid, s.lastLogged());
                }
            }
        }
    }

    /** The log of a server that is not recovering, as it is found on its disk. */
    private static void open(Server s) {
        s.durability =
                new LogDurability(
                        new Markers(
                                Math.min(s.fastSwitch, s.latestOnDisk),
                                s.latestOnDisk,
                                s.mapOnDisk));
        s.knowledge = new LleKnowledge(s.mapOnDisk);
        s.acked = s.length;
        s.proven = true;
        s.flushed = Server.NOWHERE;
        s.claimed = 0;
    }

    // ---- Recovery ----

    void query(Server s, LleMap map) {
        boolean neverAhead = broken.contains(BrokenRule.R17_OWN_LOG_AHEAD);
        s.recovery =
                new Recovery(
                        s.sid,
                        s.incarnation,
                        neverAhead ? -1 : s.currentEpoch,
                        s.outline(),
                        new Markers(s.fastSwitch, s.latestOnDisk, map),
                        voters,
                        s.lost,
                        broken.contains(BrokenRule.R26_NO_NEW_ROUND));
    }

    private void answer(Server s, Server asker) {
        if (s.leads() && !silent(asker)) {
            fence(s, asker.index, asker.incarnation);
        } else if (s.role == Role.FOLLOWING && !silent(asker) && attached(s)) {
            s.link.tell(asker.index, asker.incarnation);
        }
        if (!asker.recovery.asksForAnswers()) {
            return;
        }
        if (isNewToHear(s, asker) && noteHeard(s, asker)) {
            return;
        }
        if (!asker.recovery.asksForAnswers()
                || !answersQueries(s, asker.lost)
                || !counts(s, asker)) {
            return;
        }
        if (asker.lost && leadsAnew(s, asker.recovery)) {
            queryAnew(asker);
            asker.recovery.ledEpoch = (int) s.acceptedEpoch;
        }
        LleMap known = s.recovered() ? s.knowledge.snapshot() : s.mapOnDisk;
        asker.recovery.underway[s.index] =
                new LleAnswer(
                        asker.incarnation,
                        s.sid,
                        s.currentEpoch,
                        s.lastLogged(),
                        known,
                        voters,
                        Optional.empty());
        asker.recovery.promised[s.index] = asker.lost ? promise(s) : 0;
        if (broken.contains(
                asker.lost ? BrokenRule.R26_R_ANSWERS_ENOUGH : BrokenRule.R16_ONE_ANSWER_TOO_FEW)) {
            countOneTooMany(asker, s.index);
        }
    }

    /** Whether a round begins: then the answer is older than the round, and does not count. */
    private boolean noteHeard(Server s, Server asker) {
        asker.recovery.heard |= 1 << s.index;
        if (!asker.recovery.allHeard()
                || leadsAnew(s, asker.recovery)
                || !makesBegin(s, asker.recovery)) {
            return false;
        }
        asker.recovery.beginAfterAll();
        if (broken.contains(BrokenRule.R26_NO_NEW_ROUND)) {
            carryOut(asker, asker.recovery.feedEarly());
            return false;
        }
        queryAnew(asker);
        return true;
    }

    /** Somebody who said nothing is counted as having answered. */
    private void countOneTooMany(Server asker, int except) {
        for (int j = 0; j < n; j++) {
            if (j != except && j != asker.index && asker.recovery.received[j] == null) {
                learn(
                        asker,
                        j,
                        new LleAnswer(
                                asker.incarnation,
                                j + 1L,
                                0,
                                Zxid.NONE,
                                LleMap.empty(),
                                voters,
                                Optional.empty()),
                        0);
                return;
            }
        }
    }

    private void learn(Server s, int from, LleAnswer answer, long promised) {
        carryOut(s, s.recovery.receive(from, answer, promised));
    }

    private void carryOut(Server s, List<RecoveryProcedure.Decision> decisions) {
        for (RecoveryProcedure.Decision decision : decisions) {
            if (decision instanceof Truncate truncate) {
                int keep = s.length;
                while (keep > 0 && Entry.zxid(s.log[keep - 1]) > truncate.zxid()) {
                    keep--;
                }
                s.cut(keep);
            } else if (decision instanceof Append append) {
                for (RecoveryMessage.Entry entry : append.entries()) {
                    s.append(Entry.of(entry.zxid(), leader(entry.transaction())));
                }
            } else if (decision instanceof Finish last) {
                s.force();
                s.acceptedEpoch = Math.max(s.acceptedEpoch, last.acceptedEpoch());
                s.currentEpoch =
                        s.lost
                                ? last.currentEpoch()
                                : Math.max(s.currentEpoch, last.currentEpoch());
            }
        }
    }

    private void sourceAnswers(Server s) {
        Server source = servers[s.recovery.source];
        HistoryAnswerer answerer = answerers[source.index];
        ServerHistory log = new ServerHistory(source);
        RecoveryMessage request = s.recovery.request;
        if (request instanceof OutlineRequest outline) {
            s.recovery.sourceAnswer = answerer.answer(outline, log);
        } else if (request instanceof EntriesRequest after) {
            s.recovery.sourceAnswer = answerer.answer(after, log);
        } else {
            throw new IllegalStateException("nobody asks for that here: " + request);
        }
    }

    private void historyReceived(Server s) {
        if (broken.contains(BrokenRule.R17_CUT_TO_L)
                && s.recovery.sourceAnswer instanceof OutlineAnswer) {
            copyAfterCuttingToL(s);
            return;
        }
        carryOut(s, s.recovery.receive(s.recovery.sourceAnswer));
        if (s.recovery.asksForAnswers()) {
            queryAnew(s);
        }
    }

    private void copyAfterCuttingToL(Server s) {
        LleMap merged = s.recovery.merged();
        long through = merged.get(s.sid);
        int keep = s.length;
        while (keep > 0 && Entry.zxid(s.log[keep - 1]) > through) {
            keep--;
        }
        s.cut(keep);
        Server source = servers[s.recovery.source];
        for (int i = 0; i < source.length; i++) {
            long zxid = Entry.zxid(source.log[i]);
            if (zxid > s.lastLogged() && zxid <= through) {
                s.append(source.log[i]);
            }
        }
        long last = s.lastLogged();
        long onDisk = Math.max(s.latestOnDisk, last);
        Finish finish =
                new Finish(
                        last,
                        Math.max(s.currentEpoch, Zxid.epoch(last)),
                        onDisk,
                        merged,
                        Math.min(s.fastSwitch, onDisk),
                        Math.max(s.currentEpoch, Zxid.epoch(last)),
                        false);
        s.recovery.finish = finish;
        carryOut(s, List.of(finish));
    }

    /** The source is given up: all over again, with what is on disk now. */
    private void queryAnew(Server s) {
        int heard = s.recovery.heard;
        query(s, s.recovery.merged());
        s.recovery.heard = heard;
    }

    private void finish(Server s) {
        Finish last = s.recovery.finish;
        if (!broken.contains(BrokenRule.R17_MARKER_LEFT)) {
            s.fastSwitch = last.fastSwitch();
        }
        s.latestOnDisk = last.latestOnDisk();
        s.mapOnDisk = last.lleMap();
        if (broken.contains(BrokenRule.R17_MARKER_LEFT)) {
            s.fastSwitch = Math.max(s.fastSwitch, s.latestOnDisk + 1);
        }
        s.unrecovered = false;
        s.lost = false;
        s.recovery = null;
        s.role = Role.LOOKING;
        open(s);
    }

    /** An entry's transaction says who proposed it. */
    static Bytes content(long entry) {
        int leader = Entry.leader(entry);
        return Bytes.wrap(new byte[] {(byte) (leader >> 8), (byte) leader});
    }

    static int leader(Bytes content) {
        byte[] bytes = content.toArray();
        return (bytes[0] & 0xff) << 8 | (bytes[1] & 0xff);
    }
}
