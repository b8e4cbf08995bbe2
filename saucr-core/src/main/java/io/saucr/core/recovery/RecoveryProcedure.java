package io.saucr.core.recovery;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.RecoveryMessage.Compression;
import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import io.saucr.core.recovery.RecoveryMessage.EntryPart;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryMessage.LostAnswer;
import io.saucr.core.recovery.RecoveryMessage.LostQuery;
import io.saucr.core.recovery.RecoveryMessage.NoAnswer;
import io.saucr.core.recovery.RecoveryMessage.SnapshotPart;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoveryMessage.SourceAnswer;
import io.saucr.core.recovery.RecoveryMessage.Unavailable;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * How a server that crashed in fast mode, or lost its disk, becomes a recovered one (R15 to R19,
 * R26).
 *
 * <table>
 * <caption>Transitions</caption>
 * <tr><th>from</th><th>on</th><th>to</th></tr>
 * <tr><td>NEW</td><td>start</td><td>QUERYING</td></tr>
 * <tr><td>QUERYING</td><td>enough answers, own log not behind the source's</td><td>RECOVERED</td></tr>
 * <tr><td>QUERYING</td><td>an empty disk, and the ensemble is new</td><td>RECOVERED</td></tr>
 * <tr><td>QUERYING</td><td>enough answers, own log behind</td><td>COMPARING</td></tr>
 * <tr><td>COMPARING</td><td>the source's epoch ends, a common prefix, something to append</td><td>COPYING</td></tr>
 * <tr><td>COMPARING</td><td>the source's epoch ends, a common prefix, nothing to append</td><td>RECOVERED</td></tr>
 * <tr><td>COMPARING</td><td>the source's epoch ends, no common prefix</td><td>STAGING</td></tr>
 * <tr><td>STAGING</td><td>the snapshot's last byte, entries follow it</td><td>COPYING</td></tr>
 * <tr><td>STAGING</td><td>the snapshot's last byte, nothing follows it</td><td>RECOVERED</td></tr>
 * <tr><td>COPYING</td><td>the last entry</td><td>RECOVERED</td></tr>
 * <tr><td>COMPARING, STAGING, COPYING</td><td>the source is silent, cannot go on or answers nonsense</td>
 *     <td>QUERYING</td></tr>
 * </table>
 *
 * <p>The caller carries out the decisions of each call in their order before the next call, and
 * forces the log before it writes what {@link Finish} says. Every step may be cut off by a crash:
 * the fast-switch marker stays ahead until the last one, so the next process starts over from
 * whatever log it finds.
 *
 * <p>How many answers are enough (R23) depends on the own view, that of the newest seal which this
 * server forced itself: |W| - F + 1 of its other members, or a single answer of a server whose own
 * view is newer. The first view is all voters, which makes R (R16).
 *
 * <p>Why the result is safe. Let C be the last entry that committed with the help of this server's
 * ack. If C committed fast, it lies behind a seal that this server forced. Either a newer view was
 * sealed since, then C lies before that seal, and whoever has the seal in its log has C. Or C lies
 * in the own view: F - 1 other members acked it, too, and one of them is among the |W| - F + 1 that
 * answered (R4, R20). So L', which is at least every seal that an answer names, is at least C, and
 * the source, which is behind no answer in (current epoch, last logged zxid), has C. If C committed
 * slowly, it is on the own disk, and any log that is ahead of the own one has it, as in any
 * election. Hence:
 *
 * <ul>
 *   <li>If the own log is not behind the source's, it has C itself: log and epoch are ones that
 *       this server really had.
 *   <li>Else it becomes a prefix of the source's log. C is in both logs or only in the source's;
 *       cutting to the common prefix never removes it, appending up to L' adds it.
 *   <li>The source's log may end before L': its map may speak of entries of a lost branch that it
 *       truncated since, or that nobody but a dead leader ever had, for maps only grow (R8). Then
 *       everything that the source has is copied, which includes C. Nobody may ever have L', so
 *       nobody waits for it.
 *   <li>The source's own leader may truncate it during the copy. With each request the source
 *       checks that its log contains the asker's last entry, and an entry identifies all before it.
 *       So after the last answer the copy is a prefix of what the source had at that moment; and
 *       committed entries are never truncated.
 *   <li>The source may lose its buffer in a crash, and with it C, if it had not acked C yet: then
 *       its markers say "on disk", and it comes back with less. So two sources are not believed:
 *       one whose epoch ends lack the entry that it answered with, and one whose history ends
 *       before its epoch ends did. All answers are asked for anew; the epoch ends are checked
 *       before anything is truncated.
 *   <li>The current epoch becomes the last entry's if that is newer. A log that reaches into an
 *       epoch holds that epoch's whole initial history, as a follower does that synchronised with
 *       its leader. It never becomes the source's own current epoch, whose initial history may
 *       reach beyond L'.
 *   <li>A snapshot replaces the log only together with every entry that makes it consistent (H3),
 *       up to what the source had logged when it sent the first part. Until then the own log stays:
 *       a half-replaced log with the old current epoch could pass for one that is not behind.
 * </ul>
 *
 * <p>A server that <b>lost its disk</b> (R26) lacks what it acked durably, too, and what it
 * promised. It asks for n - B + 1 answers. At least one of these servers has whatever committed
 * with its ack, durable or not; and at least one has seen each epoch that came about with its
 * promise. Its own disk is never taken for complete: it treats the source as ahead, keeps the
 * prefix that both logs share, copies everything that the source has, and promises whatever anybody
 * who answered has promised.
 *
 * <p>An ack of its old process must not make anything commit after those answers were given. An
 * established leader makes sure of that for its own epoch: it voids these acks before it answers.
 * With an even number of voters n - B + 1 complete servers may be too few to elect one. Then every
 * other voter has to be heard once since this process began, in any order. When it is heard, it
 * does not lead with a connection of the old process: either it answers that it does not lead, or
 * it is itself recovering. (A leader that is not established may hold the old process's ack of
 * NEWLEADER; it does not answer.) Whoever begins to lead later has no such connection either, as
 * the old process was dead before this one asked. So once the last of them has been heard, no
 * leader counts the old acks, now or later. What these made commit before, others had acked by
 * then. Hence all are asked anew, and their answers count whatever epochs they have promised.
 *
 * <p>A server with an <b>empty disk</b> may be new, with all the others. It is new if enough voters
 * to elect a leader say that they are empty, too, and nobody says otherwise; or if every voter has
 * spoken and none has a single entry. Else it has lost its disk.
 *
 * <p>Not thread-safe: owned by the thread that starts the server. Times are monotonic nanoseconds.
 */
public final class RecoveryProcedure {

    /** What the server has lost. */
    public enum Loss {
        /** What was in its memory alone: it crashed in fast mode. */
        MEMORY,
        /** All or a part of its disk (R26). */
        DISK,
        /** Everything, unless it never had anything (R26). */
        EVERYTHING;

        /** Whether the disk, or a part of it, is lost. */
        public boolean ofDisk() {
            return this != MEMORY;
        }

        /**
         * The own view of a server that has lost this (R23): after the loss of its disk it knows
         * none that it forced.
         *
         * @param markers as found
         */
        public View ownView(Markers markers) {
            return ofDisk() ? View.FIRST : markers.view();
        }
    }

    /** Where the procedure is; shown to operators (R19). */
    public enum State {
        /** Not started. */
        NEW,
        /** Waiting for enough recovered voters to answer. */
        QUERYING,
        /** Asking the source where its log ends in each epoch. */
        COMPARING,
        /** Fetching a snapshot, as the logs share no position that the own one can be cut to. */
        STAGING,
        /** Fetching entries. */
        COPYING,
        /** Done: the server may enter an election. */
        RECOVERED
    }

    private static final Map<State, Set<State>> TRANSITIONS = new EnumMap<>(State.class);

    static {
        TRANSITIONS.put(State.NEW, EnumSet.of(State.QUERYING));
        TRANSITIONS.put(State.QUERYING, EnumSet.of(State.RECOVERED, State.COMPARING));
        TRANSITIONS.put(
                State.COMPARING,
                EnumSet.of(State.COPYING, State.RECOVERED, State.STAGING, State.QUERYING));
        TRANSITIONS.put(State.STAGING, EnumSet.of(State.COPYING, State.RECOVERED, State.QUERYING));
        TRANSITIONS.put(State.COPYING, EnumSet.of(State.RECOVERED, State.QUERYING));
        TRANSITIONS.put(State.RECOVERED, EnumSet.noneOf(State.class));
    }

    /**
     * What the server finds on its own disk.
     *
     * @param currentEpoch of the last leader it acknowledged
     * @param log its log, cut before the first damaged entry (H2); the base is its oldest usable
     *     snapshot
     * @param markers as found
     * @param committed the newest configuration that it knows to be in force
     * @param pending a newer one that it has seen proposed
     */
    public record OnDisk(
            long currentEpoch,
            EpochEnds log,
            Markers markers,
            Configuration committed,
            Optional<Configuration> pending) {}

    /**
     * How patient the procedure is, in nanoseconds.
     *
     * @param repeat after how long an unanswered message is sent again
     * @param silence after how long a silent source is given up, more than {@code repeat}
     */
    public record Patience(long repeat, long silence) {
        public Patience {
            if (repeat < 1 || silence <= repeat) {
                throw new IllegalArgumentException(
                        "repeat " + repeat + " ns, silence " + silence + " ns");
            }
        }
    }

    /** Something that the caller has to do. */
    public sealed interface Decision {}

    /** Send a message; it may get lost. */
    public record Send(long to, RecoveryMessage message) implements Decision {}

    /** Cut the log after this entry and delete snapshots that are newer. */
    public record Truncate(long zxid) implements Decision {}

    /**
     * Put bytes of a snapshot into the staging area. With offset 0 the area is emptied first.
     *
     * @param zxid the snapshot's
     * @param total the file's length
     */
    public record StageSnapshot(
            long zxid, Compression compression, long total, long offset, Bytes bytes)
            implements Decision {}

    /** Empty the staging area. */
    public record DiscardStaged() implements Decision {}

    /**
     * Append entries, without forcing them. The log may now reach into an epoch that is newer than
     * the current epoch on disk; only {@link Finish} raises that one: earlier it would claim more
     * than the log holds.
     *
     * @param staged whether to the log in the staging area, and not to the server's own
     */
    public record Append(List<Entry> entries, boolean staged) implements Decision {}

    /**
     * The last step, in this order: force the log; if staged, replace log and snapshots by the
     * staging area's as one atomic step; persist the accepted epoch if it is lower than {@code
     * acceptedEpoch}, and the current epoch if it differs from {@code currentEpoch}; write the
     * latest-on-disk marker with the map; write the fast-switch marker.
     *
     * @param lastLogged how long the log is
     * @param currentEpoch what the log stands for; lower than what is on disk only after the loss
     *     of a disk
     * @param latestOnDisk the marker, never less than before (R13), but after the loss of a disk
     * @param fastSwitch the marker, not ahead of {@code latestOnDisk} any more
     * @param acceptedEpoch what this server has promised at least; not less than {@code
     *     currentEpoch}
     * @param staged whether there is a staging area that becomes the server's own
     */
    public record Finish(
            long lastLogged,
            long currentEpoch,
            long latestOnDisk,
            LleMap lleMap,
            long fastSwitch,
            long acceptedEpoch,
            boolean staged)
            implements Decision {}

    /**
     * For operators (R19).
     *
     * @param answered the voters that answered
     * @param uncounted after the loss of a disk, the voters whose answers do not count yet (R26)
     * @param missing the voters that did not answer
     * @param view the own view, whose members' answers count (R23); the first one after the loss of
     *     a disk
     * @param blank those that said that they are empty and new (R26)
     * @param unheard after the loss of a disk, while an answer does not count because its epoch's
     *     leader has not answered: the voters that must still be heard to make it count without
     *     that leader (R26)
     * @param stillNeeded how many answers are missing at least, 0 once there are enough
     * @param source who is copied from
     * @param lastLogged how long the own log, or the staged one, is
     * @param through how long it will be at least, if the source has that much; 0 before that is
     *     known
     * @param problem why the last attempt was given up, "" if none was
     */
    public record Status(
            State state,
            SortedSet<Long> answered,
            SortedSet<Long> uncounted,
            SortedSet<Long> missing,
            View view,
            SortedSet<Long> blank,
            SortedSet<Long> unheard,
            int stillNeeded,
            OptionalLong source,
            long lastLogged,
            long through,
            String problem) {}

    private final long self;
    private final long nonce;
    private final OnDisk onDisk;
    private final Loss loss;
    private final Patience patience;
    private final int maxEntryLength;

    private State state = State.NEW;
    private final List<Decision> decisions = new ArrayList<>();

    /** The server's own log. */
    private EpochEnds log;

    private LleMap map;
    private final Map<Long, LleAnswer> answers = new TreeMap<>();
    private final SortedSet<Long> blank = new TreeSet<>();

    /** Servers that have a history, or had one. */
    private final SortedSet<Long> notBlank = new TreeSet<>();

    /**
     * After the loss of a disk: the last answer of each server that has a history, whether it
     * counts or not.
     */
    private final SortedMap<Long, LostAnswer> lastWords = new TreeMap<>();

    /**
     * Servers that were heard since this process began, at a time when they could not count an ack
     * of this server's old process.
     */
    private final SortedSet<Long> heard = new TreeSet<>();

    /**
     * Those that had been heard when the round began, if that was every other voter; else empty. If
     * it is not empty, the round's answers count without a leader's, whatever epochs were promised.
     */
    private final SortedSet<Long> heardBefore = new TreeSet<>();

    private long promisedEpoch;

    /** The newest epoch whose established leader has answered, -1 before that. */
    private long ledEpoch = -1;

    private long round = 1;

    /** Versions without R23 drop a query that asks for a view, so both kinds take turns. */
    private boolean asksForViews = true;

    private long sentAt;
    private String problem = "";

    // While there is a source.
    private long source;

    /** The current epoch that the source said to have, when its log reached {@link #claimed}. */
    private long sourceEpoch;

    /** The last entry that the source said to have. */
    private long claimed;

    /** The last entry up to {@link #through} that the source has, by the epoch ends it sent. */
    private long promised;

    private long requestId;
    private RecoveryMessage request;
    private long heardAt;
    private long through;
    private byte[] partial = new byte[0];
    private int partialLength;
    private long partialZxid;

    // While a snapshot is staged.
    private boolean staged;
    private EpochEnds stagedLog;
    private long stagedBytes;
    private SnapshotPart firstPart;

    /**
     * @param self the recovering server
     * @param nonce drawn at process start (R18a)
     * @param maxEntryLength no transaction is longer, in bytes; a source that claims a longer one
     *     is given up
     */
    public RecoveryProcedure(
            long self, long nonce, OnDisk onDisk, Patience patience, int maxEntryLength) {
        this(self, nonce, onDisk, Loss.MEMORY, patience, maxEntryLength);
        if (!onDisk.markers().crashedInFastMode()) {
            throw new IllegalArgumentException("nothing to recover: " + onDisk.markers());
        }
    }

    /**
     * The procedure of a server that lost its disk, or finds an empty one (R26).
     *
     * @param onDisk what is left of it; the markers' map may be empty
     * @param loss {@link Loss#EVERYTHING} only if nothing on the disk says that this server ever
     *     took part in an ensemble
     */
    public static RecoveryProcedure ofLostDisk(
            long self,
            long nonce,
            OnDisk onDisk,
            Loss loss,
            Patience patience,
            int maxEntryLength) {
        if (!loss.ofDisk()) {
            throw new IllegalArgumentException("the disk of server " + self + " is not lost");
        }
        return new RecoveryProcedure(self, nonce, onDisk, loss, patience, maxEntryLength);
    }

    private RecoveryProcedure(
            long self,
            long nonce,
            OnDisk onDisk,
            Loss loss,
            Patience patience,
            int maxEntryLength) {
        this.self = self;
        this.nonce = nonce;
        this.onDisk = onDisk;
        this.loss = loss;
        this.patience = patience;
        this.maxEntryLength = maxEntryLength;
        log = onDisk.log();
        map = onDisk.markers().lleMap();
    }

    /** Queries every voter that it knows of. */
    public List<Decision> start(long now) {
        enter(State.QUERYING);
        query(now);
        return taken();
    }

    /**
     * A message came in. Messages that answer another process, another request or nothing are
     * dropped; so is everything once the server is recovered.
     *
     * @param from the server at the other end of the connection
     */
    public List<Decision> received(long from, RecoveryMessage message, long now) {
        requireStarted();
        if (message.nonce() != nonce || message.sender() != from || from == self) {
            return List.of();
        }
        if (message instanceof LleAnswer answer) {
            if (state == State.QUERYING && !loss.ofDisk()) {
                answered(answer, now);
            }
        } else if (message instanceof LostAnswer answer) {
            if (state == State.QUERYING && loss.ofDisk()) {
                lostAnswered(answer, now);
            }
        } else if (message instanceof NoAnswer standing) {
            if (state == State.QUERYING && loss.ofDisk()) {
                speaks(from, standing.blank());
                heard.add(from);
                beginIfNew();
                if (state == State.QUERYING && ledEpoch < 0) {
                    beginIfAllWereHeard(now);
                }
            }
        } else if (message instanceof SourceAnswer answer) {
            if (hasSource() && from == source && answer.requestId() == requestId) {
                heardAt = now;
                sourceAnswered(answer, now);
            }
        }
        return taken();
    }

    /**
     * A server that may not speak SAUCR has voted, and its vote shows whether it has any history.
     *
     * @param isBlank whether the vote names neither an entry nor an epoch nor a leader
     */
    public List<Decision> voted(long from, boolean isBlank) {
        requireStarted();
        if (state == State.QUERYING && loss == Loss.EVERYTHING && from != self) {
            speaks(from, isBlank);
            beginIfNew();
        }
        return taken();
    }

    /**
     * R26: an established leader that has not answered yet may still count an ack of the lost disk.
     * A server that has answered may ack the same entry afterwards; the entry would commit, and no
     * answer would tell of it. The leader voids such acks before it answers, so only later answers
     * count, and none of a server that has promised a later epoch, whose leader may count such an
     * ack, too. The other way is that every other voter has been heard: then nobody counts such an
     * ack any more, and all later answers count.
     */
    private void lostAnswered(LostAnswer answer, long now) {
        lastWords.put(answer.sender(), answer);
        heard.add(answer.sender());
        speaks(answer.sender(), false);
        if (!heardBefore.isEmpty() && !heardBefore.containsAll(otherVoters())) {
            // It tells of a configuration whose leader may not have been heard yet.
            heardBefore.clear();
            beginRound();
            query(now);
        }
        boolean ofRound = answer.round() == round;
        boolean afterAll = !heardBefore.isEmpty();
        boolean bound = answer.acceptedEpoch() <= ledEpoch;
        // Once all were heard, a leader's answer of an earlier round counts no more than others of
        // that round.
        if (answer.leads() && !bound && !afterAll) {
            ledEpoch = answer.acceptedEpoch();
            beginRound();
            count(answer, now);
            if (state == State.QUERYING) {
                query(now);
            }
        } else if (ofRound && (bound || afterAll)) {
            count(answer, now);
        } else {
            beginIfNew();
            if (state == State.QUERYING && !bound) {
                beginIfAllWereHeard(now);
            }
        }
    }

    private void beginRound() {
        answers.clear();
        round++;
    }

    /**
     * Begins a round whose answers count without a leader's, unless such a round is under way or
     * somebody has not been heard.
     */
    private void beginIfAllWereHeard(long now) {
        if (heardBefore.isEmpty() && heard.containsAll(otherVoters())) {
            heardBefore.addAll(heard);
            beginRound();
            query(now);
        }
    }

    private SortedSet<Long> otherVoters() {
        SortedSet<Long> others = new TreeSet<>(ownView().members());
        for (Configuration configuration : configurations()) {
            others.addAll(configuration.voters());
        }
        others.remove(self);
        return others;
    }

    private void count(LostAnswer answer, long now) {
        promisedEpoch = Math.max(promisedEpoch, answer.acceptedEpoch());
        answered(answer.answer(), now);
    }

    /** Observers and strangers have no say in whether the ensemble is new. */
    private void speaks(long from, boolean isBlank) {
        if (configurations().stream().noneMatch(each -> each.voters().contains(from))) {
            return;
        }
        (isBlank ? blank : notBlank).add(from);
        (isBlank ? notBlank : blank).remove(from);
    }

    /**
     * R26: whether this server and the ensemble are new. An empty server may get entries later and
     * then says so: each server's last answer counts.
     */
    private void beginIfNew() {
        if (loss != Loss.EVERYTHING || state != State.QUERYING) {
            return;
        }
        boolean couldHaveElected = true;
        boolean allHaveSpoken = true;
        boolean nobodyHasEntries = true;
        for (Configuration configuration : configurations()) {
            int empty = 0;
            for (long voter : configuration.voters()) {
                if (voter == self || blank.contains(voter)) {
                    empty++;
                } else if (!lastWords.containsKey(voter)) {
                    allHaveSpoken = false;
                } else {
                    nobodyHasEntries &= lastWords.get(voter).answer().lastLogged() == Zxid.NONE;
                }
            }
            couldHaveElected &= empty >= configuration.bareMajority();
        }
        if ((couldHaveElected && notBlank.isEmpty()) || (allHaveSpoken && nobodyHasEntries)) {
            finish();
        }
    }

    /** Time has passed; to be called at least once per {@link Patience#repeat}. */
    public List<Decision> tick(long now) {
        requireStarted();
        if (state == State.QUERYING) {
            if (now - sentAt >= patience.repeat) {
                query(now);
            }
        } else if (hasSource()) {
            if (now - heardAt >= patience.silence) {
                giveUp("server " + source + " stopped answering", now);
            } else if (now - sentAt >= patience.repeat) {
                sentAt = now;
                decisions.add(new Send(source, request));
            }
        }
        return taken();
    }

    /** The round of queries of a server that lost its disk, from 1 on. */
    public long round() {
        return round;
    }

    /** Where the procedure is. */
    public State state() {
        return state;
    }

    /** For operators. */
    public Status status() {
        SortedSet<Long> answered = new TreeSet<>();
        SortedSet<Long> uncounted = new TreeSet<>();
        SortedSet<Long> missing = new TreeSet<>();
        for (long voter : otherVoters()) {
            if (answers.containsKey(voter)) {
                answered.add(voter);
            } else {
                (lastWords.containsKey(voter) ? uncounted : missing).add(voter);
            }
        }
        return new Status(
                state,
                answered,
                uncounted,
                missing,
                ownView(),
                new TreeSet<>(blank),
                unheard(),
                Math.max(0, stillNeeded()),
                hasSource() ? OptionalLong.of(source) : OptionalLong.empty(),
                copied().last(),
                through,
                problem);
    }

    private View ownView() {
        return loss.ownView(onDisk.markers());
    }

    private int stillNeeded() {
        View own = ownView();
        if (newerView(own)) {
            return 0;
        }
        return own.isFirst()
                ? stillNeededOfConfigurations()
                : own.answersNeeded() - answersOf(own.members());
    }

    private boolean newerView(View own) {
        return otherVoters().stream()
                .map(answers::get)
                .anyMatch(each -> each != null && own.isOlderThan(each.ownView()));
    }

    private int stillNeededOfConfigurations() {
        int stillNeeded = 0;
        for (Configuration configuration : configurations()) {
            int needed =
                    loss.ofDisk() ? configuration.lostDiskQuorum() : configuration.recoveryQuorum();
            stillNeeded = Math.max(stillNeeded, needed - answersOf(configuration.voters()));
        }
        return stillNeeded;
    }

    private int answersOf(List<Long> servers) {
        return (int) servers.stream().filter(answers::containsKey).count();
    }

    private SortedSet<Long> unheard() {
        SortedSet<Long> unheard = new TreeSet<>();
        boolean unbound =
                ledEpoch < 0
                        || lastWords.values().stream()
                                .anyMatch(answer -> answer.acceptedEpoch() > ledEpoch);
        if (loss.ofDisk() && unbound && heardBefore.isEmpty()) {
            unheard.addAll(otherVoters());
            unheard.removeAll(heard);
        }
        return unheard;
    }

    private boolean hasSource() {
        return state == State.COMPARING || state == State.STAGING || state == State.COPYING;
    }

    /**
     * Asks everybody whose answer may help. While a server that lost its memory asks, what it has
     * heard is not enough: who has answered may have a newer view by now, or know of a newer
     * configuration, so it is asked again.
     */
    private void query(long now) {
        sentAt = now;
        for (long voter : otherVoters()) {
            if (!loss.ofDisk()) {
                decisions.add(new Send(voter, new LleQuery(nonce, self, asksForViews)));
            } else if (!answers.containsKey(voter)) {
                decisions.add(new Send(voter, new LostQuery(nonce, self, round)));
            }
        }
        asksForViews = !asksForViews;
    }

    private void answered(LleAnswer answer, long now) {
        answers.merge(
                answer.sender(),
                answer,
                (old, late) -> late.ownView() < old.ownView() ? old : late);
        Status status = status();
        if (status.stillNeeded() > 0) {
            beginIfNew();
            return;
        }
        LleAnswer best = null;
        long recoveredLle = map.get(self);
        LleMap merged = map;
        for (long voter : status.answered()) {
            LleAnswer candidate = answers.get(voter);
            if (best == null || isBehind(best.currentEpoch(), best.lastLogged(), candidate)) {
                best = candidate;
            }
            recoveredLle = Math.max(recoveredLle, candidate.lleMap().get(self));
            // R23: what this server acked before a newer view lies before its seal.
            recoveredLle = Math.max(recoveredLle, candidate.ownView());
            merged = merged.merge(candidate.lleMap());
        }
        map = merged;
        if (!loss.ofDisk() && !isBehind(onDisk.currentEpoch(), log.last(), best)) {
            finish();
            return;
        }
        source = best.sender();
        claimed = best.lastLogged();
        sourceEpoch = best.currentEpoch();
        through = loss.ofDisk() ? Math.max(recoveredLle, claimed) : recoveredLle;
        heardAt = now;
        enter(State.COMPARING);
        ask(new EpochEndsRequest(nonce, self, ++requestId), now);
    }

    private static boolean isBehind(long currentEpoch, long lastLogged, LleAnswer other) {
        return currentEpoch != other.currentEpoch()
                ? currentEpoch < other.currentEpoch()
                : lastLogged < other.lastLogged();
    }

    /**
     * The configurations whose voters count (R16): the newest one that is known to be in force, and
     * whatever was seen proposed after it. Which of the two was in force when an entry committed
     * cannot be known here, so both must have their quorum. After the loss of a disk, answers that
     * do not count are looked at for configurations, too.
     */
    private List<Configuration> configurations() {
        List<LleAnswer> told =
                loss.ofDisk()
                        ? lastWords.values().stream().map(LostAnswer::answer).toList()
                        : List.copyOf(answers.values());
        Configuration committed = onDisk.committed();
        for (LleAnswer answer : told) {
            if (answer.committed().version() > committed.version()) {
                committed = answer.committed();
            }
        }
        SortedMap<Long, Configuration> counted = new TreeMap<>();
        counted.put(committed.version(), committed);
        onDisk.pending().ifPresent(pending -> counted.putIfAbsent(pending.version(), pending));
        for (LleAnswer answer : told) {
            answer.pending().ifPresent(pending -> counted.putIfAbsent(pending.version(), pending));
        }
        return List.copyOf(counted.tailMap(committed.version()).values());
    }

    private void sourceAnswered(SourceAnswer answer, long now) {
        if (answer instanceof Unavailable unavailable) {
            giveUp("server " + source + " cannot continue: " + unavailable.reason(), now);
        } else if (answer instanceof EpochEndsAnswer theirs && state == State.COMPARING) {
            compare(theirs.epochEnds(), now);
        } else if (answer instanceof SnapshotPart part && state == State.STAGING) {
            stage(part, now);
        } else if (answer instanceof EntriesAnswer entries && state == State.COPYING) {
            copy(entries.entries(), entries.end(), now);
        } else if (answer instanceof EntryPart part && state == State.COPYING) {
            assemble(part, now);
        } else {
            giveUp("server " + source + " answered something else than it was asked", now);
        }
    }

    private void compare(EpochEnds theirs, long now) {
        if (!theirs.contains(claimed)) {
            giveUp(hasLost(claimed), now);
            return;
        }
        promised = theirs.lastUpTo(through);
        long common = log.commonPrefix(theirs);
        if (common == EpochEnds.NO_COMMON_PREFIX) {
            enter(State.STAGING);
            stagedBytes = 0;
            firstPart = null;
            ask(new SnapshotRequest(nonce, self, ++requestId, SnapshotRequest.NEWEST, 0), now);
            return;
        }
        if (common < log.last()) {
            decisions.add(new Truncate(common));
            log = log.truncate(common);
        }
        if (log.last() >= through || theirs.last() == common) {
            finish();
        } else {
            enter(State.COPYING);
            askForEntries(now);
        }
    }

    private void stage(SnapshotPart part, long now) {
        if (firstPart == null) {
            firstPart = part;
            through = Math.max(through, part.through());
        }
        boolean fits =
                part.snapshot() == firstPart.snapshot()
                        && part.compression() == firstPart.compression()
                        && part.total() == firstPart.total()
                        && part.offset() == stagedBytes
                        && part.bytes().length() <= part.total() - stagedBytes
                        && (part.bytes().length() > 0 || part.total() == 0);
        if (!fits) {
            giveUp("server " + source + " sent a part of another snapshot", now);
            return;
        }
        staged = true;
        stagedLog = EpochEnds.startingAt(part.snapshot());
        decisions.add(
                new StageSnapshot(
                        part.snapshot(),
                        part.compression(),
                        part.total(),
                        part.offset(),
                        part.bytes()));
        stagedBytes += part.bytes().length();
        if (stagedBytes < part.total()) {
            ask(new SnapshotRequest(nonce, self, ++requestId, part.snapshot(), stagedBytes), now);
        } else if (stagedLog.last() >= through) {
            finish();
        } else {
            enter(State.COPYING);
            askForEntries(now);
        }
    }

    private void copy(List<Entry> entries, boolean end, long now) {
        if (entries.isEmpty() && !end) {
            giveUp("server " + source + " sent neither entries nor the end", now);
            return;
        }
        EpochEnds longer = copied();
        for (Entry entry : entries) {
            if (entry.zxid() > through || !longer.followedBy(entry.zxid())) {
                giveUp(
                        "server "
                                + source
                                + " sent "
                                + Zxid.toString(entry.zxid())
                                + " after "
                                + Zxid.toString(longer.last()),
                        now);
                return;
            }
            longer = longer.append(entry.zxid());
        }
        if (!entries.isEmpty()) {
            decisions.add(new Append(entries, staged));
            extended(longer);
        }
        if (longer.last() >= through || (end && longer.last() >= promised)) {
            finish();
        } else if (end) {
            giveUp(hasLost(promised), now);
        } else {
            askForEntries(now);
        }
    }

    private String hasLost(long zxid) {
        return "server " + source + " has lost " + Zxid.toString(zxid) + ", which it had";
    }

    private void assemble(EntryPart part, long now) {
        if (partialLength > 0 && part.zxid() != partialZxid) {
            // The source was truncated in between and has another entry here.
            forgetPartial();
            askForEntries(now);
            return;
        }
        boolean fits =
                part.total() <= maxEntryLength
                        && (partialLength == 0 || part.total() == partial.length)
                        && part.offset() == partialLength
                        && part.bytes().length() > 0
                        && part.bytes().length() <= part.total() - partialLength;
        if (!fits) {
            giveUp(
                    "server "
                            + source
                            + " sent bytes "
                            + part.offset()
                            + " to "
                            + (part.offset() + (long) part.bytes().length())
                            + " of "
                            + part.total()
                            + " of "
                            + Zxid.toString(part.zxid())
                            + ", at most "
                            + maxEntryLength
                            + " are allowed",
                    now);
            return;
        }
        if (partialLength == 0) {
            partial = new byte[part.total()];
            partialZxid = part.zxid();
        }
        part.bytes().asReadOnlyBuffer().get(partial, partialLength, part.bytes().length());
        partialLength += part.bytes().length();
        if (partialLength < partial.length) {
            askForEntries(now);
            return;
        }
        Entry whole = new Entry(partialZxid, Bytes.wrap(partial));
        forgetPartial();
        copy(List.of(whole), false, now);
    }

    private EpochEnds copied() {
        return staged ? stagedLog : log;
    }

    private void extended(EpochEnds longer) {
        if (staged) {
            stagedLog = longer;
        } else {
            log = longer;
        }
    }

    private void askForEntries(long now) {
        ask(
                new EntriesRequest(
                        nonce, self, ++requestId, copied().last(), through, partialLength),
                now);
    }

    private void ask(RecoveryMessage question, long now) {
        request = question;
        sentAt = now;
        decisions.add(new Send(source, question));
    }

    private void forgetPartial() {
        partial = new byte[0];
        partialLength = 0;
        partialZxid = Zxid.NONE;
    }

    private void finish() {
        long lastLogged = copied().last();
        // The lost log may have been of an epoch that never came about; the copy belongs to the
        // source's epoch.
        long currentEpoch =
                Math.max(
                        loss.ofDisk() ? sourceEpoch : onDisk.currentEpoch(),
                        Zxid.epoch(lastLogged));
        // The markers of a lost disk speak of a log that is gone.
        long latestOnDisk =
                loss.ofDisk() ? lastLogged : Math.max(onDisk.markers().latestOnDisk(), lastLogged);
        decisions.add(
                new Finish(
                        lastLogged,
                        currentEpoch,
                        latestOnDisk,
                        map,
                        Math.min(onDisk.markers().fastSwitch(), latestOnDisk),
                        Math.max(promisedEpoch, Math.max(currentEpoch, onDisk.currentEpoch())),
                        staged));
        enter(State.RECOVERED);
    }

    private void giveUp(String why, long now) {
        problem = why;
        enter(State.QUERYING);
        beginRound();
        requestId++;
        through = Zxid.NONE;
        forgetPartial();
        if (staged) {
            staged = false;
            decisions.add(new DiscardStaged());
        }
        query(now);
    }

    private void enter(State next) {
        if (!TRANSITIONS.get(state).contains(next)) {
            throw new IllegalStateException("a recovery cannot go from " + state + " to " + next);
        }
        state = next;
    }

    private void requireStarted() {
        if (state == State.NEW) {
            throw new IllegalStateException("the recovery was not started");
        }
    }

    private List<Decision> taken() {
        List<Decision> result = List.copyOf(decisions);
        decisions.clear();
        return result;
    }
}
