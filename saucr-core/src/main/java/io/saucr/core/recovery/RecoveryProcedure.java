package io.saucr.core.recovery;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.RecoveryMessage.Compression;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.SourceAnswer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
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
 * <tr><td>COMPARING, STAGING, COPYING</td><td>the source is silent, cannot continue or answers nonsense</td>
 *     <td>QUERYING</td></tr>
 * </table>
 *
 * <p>The caller carries out the decisions of each call in their order before the next call, and
 * syncs the log before it writes what {@link Finish} says. Every step may be cut off by a crash:
 * the fast-switch marker stays ahead until the last one, so the next process starts over from
 * whatever log it finds.
 *
 * <p>Which answers count and how many are enough {@link AnswerRound} decides; what is asked of the
 * source, and what comes of its answers, {@link HistoryCopy} does. Why the result is safe is on the
 * page docs/internals/recovery-safety.md.
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
         * none that it synced.
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
     * Append entries, without syncing them. The log may now reach into an epoch that is newer than
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
    private final Patience patience;

    private State state = State.NEW;
    private final List<Decision> decisions = new ArrayList<>();
    private final AnswerRound round;
    private final HistoryCopy copy;
    private LleMap map;

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
        this.patience = patience;
        map = onDisk.markers().lleMap();
        copy = new HistoryCopy(self, nonce, onDisk.log(), maxEntryLength, decisions);
        round =
                loss.ofDisk()
                        ? new DiskLossRound(self, nonce, onDisk, loss, decisions)
                        : new MemoryLossRound(self, nonce, onDisk, decisions);
    }

    /** Queries every voter that it knows of. */
    public List<Decision> start(long now) {
        enter(State.QUERYING);
        round.query(now);
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
        if (message instanceof SourceAnswer answer) {
            if (hasSource() && copy.expects(answer)) {
                sourceAnswered(answer, now);
            }
        } else if (state == State.QUERYING) {
            queried(round.received(message, now), now);
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
        if (state == State.QUERYING && round.voted(from, isBlank) == AnswerRound.Result.NEW) {
            finish();
        }
        return taken();
    }

    /** Time has passed; to be called at least once per {@link Patience#repeat}. */
    public List<Decision> tick(long now) {
        requireStarted();
        if (state == State.QUERYING) {
            if (now - round.sentAt() >= patience.repeat) {
                round.query(now);
            }
        } else if (hasSource() && copy.silent(patience, now)) {
            giveUp(now);
        }
        return taken();
    }

    /** The round of queries of a server that lost its disk, from 1 on. */
    public long round() {
        return round.number();
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
        for (long voter : round.otherVoters()) {
            if (round.counts(voter)) {
                answered.add(voter);
            } else {
                (round.answered().contains(voter) ? uncounted : missing).add(voter);
            }
        }
        return new Status(
                state,
                answered,
                uncounted,
                missing,
                round.ownView(),
                round.blank(),
                round.unheard(),
                Math.max(0, round.stillNeeded()),
                hasSource() ? OptionalLong.of(copy.source()) : OptionalLong.empty(),
                copy.copied().last(),
                copy.through(),
                copy.problem());
    }

    private boolean hasSource() {
        return state == State.COMPARING || state == State.STAGING || state == State.COPYING;
    }

    private void queried(AnswerRound.Result result, long now) {
        switch (result) {
            case WAIT -> {}
            case ENOUGH -> compareWithBest(now);
            case NEW -> finish();
        }
    }

    private void compareWithBest(long now) {
        LleAnswer best = null;
        long recoveredLle = map.get(self);
        LleMap merged = map;
        for (LleAnswer candidate : round.counted()) {
            if (best == null || candidate.isAheadOf(best.currentEpoch(), best.lastLogged())) {
                best = candidate;
            }
            recoveredLle = Math.max(recoveredLle, candidate.lleMap().get(self));
            // R23: what this server acked before a newer view lies before its seal.
            recoveredLle = Math.max(recoveredLle, candidate.ownView());
            merged = merged.merge(candidate.lleMap());
        }
        map = merged;
        if (round.complete(copy.copied().last(), best)) {
            finish();
            return;
        }
        enter(State.COMPARING);
        copy.begin(best, round.through(recoveredLle, best), now);
    }

    private void sourceAnswered(SourceAnswer answer, long now) {
        State next = copy.answered(answer, state, now);
        if (next == State.QUERYING) {
            giveUp(now);
        } else if (next == State.RECOVERED) {
            finish();
        } else if (next != state) {
            enter(next);
        }
    }

    /** Asks all others anew. */
    private void giveUp(long now) {
        enter(State.QUERYING);
        round.begin();
        copy.abandon();
        round.query(now);
    }

    private void finish() {
        long lastLogged = copy.copied().last();
        long currentEpoch = Math.max(round.epoch(copy.sourceEpoch()), Zxid.epoch(lastLogged));
        long latestOnDisk = round.latestOnDisk(lastLogged);
        decisions.add(
                new Finish(
                        lastLogged,
                        currentEpoch,
                        latestOnDisk,
                        map,
                        Math.min(onDisk.markers().fastSwitch(), latestOnDisk),
                        Math.max(
                                round.promisedEpoch(),
                                Math.max(currentEpoch, onDisk.currentEpoch())),
                        copy.staged()));
        enter(State.RECOVERED);
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
