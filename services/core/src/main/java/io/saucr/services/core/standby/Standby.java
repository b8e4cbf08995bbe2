package io.saucr.services.core.standby;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.replay.Quarantine;
import io.saucr.services.core.standby.StandbyHead.Copies;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;

/**
 * Decides what a member does that is not primary: whom it follows, which segments it keeps (C16),
 * whom it suspects, and when it takes over (C6). It may be hasty, as the head fences: a false
 * suspicion costs a failover, never consistency. No I/O, no threads, no clock: the member's thread
 * drives it, and so do simulator and model.
 *
 * <p>One request to the ensemble is under way at any time. Whatever returns actions: do them at
 * once, in their order; nothing follows {@link Action.InOffice}, {@link Action.BearAnew} or {@link
 * Action.Refuse}.
 */
public final class Standby {

    /**
     * How hasty it is.
     *
     * @param silentMillis so long a primary may say nothing before it is suspected
     * @param answerMillis so long it has to answer a challenge
     * @param waitingMillis so long its oldest segment may wait for the head before it is suspected
     *     though it speaks (R24)
     * @param successorMillis so long others wait for a successor that a head names
     */
    public record Rules(
            long silentMillis, long answerMillis, long waitingMillis, long successorMillis) {

        /** 300 ms of silence, 200 ms to answer, 2 s for the head, 1 s for a successor. */
        public static Rules standard() {
            return new Rules(300, 200, 2_000, 1_000);
        }
    }

    /** What this member has of the chain. */
    public interface Chain {

        /** The newest segment that it has, forced, named or not. */
        SegmentId last();

        /** The segment of that number, where it has it or knows its name from a base. */
        Optional<SegmentId> at(long number);

        /** The newest segment of which it knows for sure that the head named it. */
        long known();

        /** As of which segment its newest snapshot is; {@link SegmentId#NONE} without one. */
        SegmentId snapshot();

        /** Whose chain it is; empty where it has nothing yet. */
        Optional<Birth> birth();
    }

    /** What to do. */
    public sealed interface Action {

        /**
         * An operator accepted a loss (C17): what the folder has of the former birth behind that
         * segment is put aside, it takes the new birth, and the member begins to follow anew.
         */
        record BearAnew(Birth birth, Replaced former) implements Action {}

        /** Read the head, as it is after all that was written before. */
        record Read() implements Action {}

        /** Ask the primary to show that it lives: write next to the head. */
        record Challenge() implements Action {}

        /** Make the first head; where there is one meanwhile, it is refused. */
        record Create(StandbyHead head) implements Action {}

        /** Set the head's data on this version; tell what came of it. */
        record Take(StandbyHead head, int version) implements Action {}

        /** Follow this member's segments, and nobody else's. */
        record Follow(StandbyHead head) implements Action {}

        /** The head names this segment, which this member has: its turns are to be applied. */
        record Apply(SegmentId upTo) implements Action {}

        /**
         * The head names a segment that this member does not have: get it from those who have it.
         */
        record Fetch(StandbyHead head) implements Action {}

        /** As primary: what is above that segment is dropped, then turns are taken. */
        record InOffice(StandbyHead head, int version) implements Action {}

        /** The member must stop; the reason says what is where and what to do. */
        record Refuse(String reason) implements Action {}
    }

    /** What to do with a segment that arrived. */
    public enum Arrival {
        /** It is the next one: keep it. */
        APPEND,
        /** It is there already. */
        KNOWN,
        /** Its place has one of an earlier epoch that no head named: drop that and what follows. */
        REPLACE,
        /** Some before it are not there. */
        GAP,
        /** It contradicts what this member knows, or comes from a primary that was deposed. */
        REFUSE
    }

    private enum Phase {
        /** Nothing is under way. */
        IDLE,
        /** The head is being read, to know it. */
        READING,
        /** The head is being read before a challenge. */
        LOOKING,
        /** The challenge is being written. */
        CHALLENGING,
        /** The primary has time to answer. */
        WAITING,
        /** The head is being read after that time. */
        JUDGING,
        /** The head is being written. */
        TAKING,
        OVER
    }

    private final Rules rules;
    private final String member;
    private final long nonce;
    private final String at;
    private final Chain chain;
    private final Birth newGeneration;
    private final Optional<LaneCode> lanes;
    private final Quarantine quarantine;
    private StandbyHead head;
    private int version;
    private Phase phase = Phase.IDLE;
    private StandbyHead taking;
    private boolean readAgain = true;
    private boolean linked;
    private long heardMillis;
    private long waiting;
    private long challengedMillis;
    private long readMillis = Long.MIN_VALUE / 2;
    private long seenSinceMillis;

    /** The newest segment that was known to be named when the read under way began. */
    private long knownBefore;

    private long handedMillis;
    private String lacks = "";

    /** Begins to follow, as a member whose segments are turns. */
    public Standby(
            Rules rules, String member, long nonce, String at, Chain chain, Birth newGeneration) {
        this(rules, member, nonce, at, chain, newGeneration, Optional.empty(), new Quarantine());
    }

    /**
     * Begins to follow.
     *
     * @param member this one's name, 16 hex digits
     * @param nonce of this process
     * @param at where this member would be reached as primary
     * @param chain what it has
     * @param newGeneration drawn at random, for the first head of a service
     * @param lanes what replays here (X17); empty if segments are turns
     * @param quarantine whether the state of this member differs from the primary's (X14)
     */
    public Standby(
            Rules rules,
            String member,
            long nonce,
            String at,
            Chain chain,
            Birth newGeneration,
            Optional<LaneCode> lanes,
            Quarantine quarantine) {
        this.rules = rules;
        this.member = member;
        this.nonce = nonce;
        this.at = at;
        this.chain = chain;
        this.newGeneration = newGeneration;
        this.lanes = lanes;
        this.quarantine = quarantine;
    }

    /** Time went by. */
    public List<Action> tick(long nowMillis) {
        if (phase == Phase.IDLE) {
            if (readAgain) {
                return read(head == null ? Phase.READING : Phase.LOOKING);
            }
            if (head == null) {
                return nowMillis - readMillis >= rules.answerMillis()
                        ? read(Phase.READING)
                        : List.of();
            }
            if (isSuspect(nowMillis) && nowMillis - readMillis >= pauseMillis(nowMillis)) {
                return read(Phase.LOOKING);
            }
        } else if (phase == Phase.WAITING && nowMillis - challengedMillis >= rules.answerMillis()) {
            return read(Phase.JUDGING);
        }
        return List.of();
    }

    /** A new head is looked at again at once, an old one not all the time. */
    private long pauseMillis(long nowMillis) {
        boolean isNew = nowMillis - seenSinceMillis < rules.silentMillis();
        return isNew ? rules.silentMillis() : rules.answerMillis() / 2;
    }

    /** In how many ms {@link #tick} may have something to do though nothing happens. */
    public long waitMillis() {
        return phase == Phase.WAITING ? rules.answerMillis() / 10 : rules.silentMillis() / 10;
    }

    private boolean isSuspect(long nowMillis) {
        return !linked
                || nowMillis - heardMillis > rules.silentMillis()
                || waiting > rules.waitingMillis();
    }

    private List<Action> read(Phase why) {
        phase = why;
        readAgain = false;
        knownBefore = chain.known();
        return List.of(new Action.Read());
    }

    /** The member that it follows is there. */
    public void linked(long nowMillis) {
        linked = true;
        heardMillis = nowMillis;
        waiting = 0;
    }

    /** It is lost, or says that it is not primary. */
    public List<Action> unlinked(long nowMillis) {
        linked = false;
        readAgain = true;
        return tick(nowMillis);
    }

    /** Something came from it. */
    public void heard(long nowMillis) {
        heardMillis = nowMillis;
    }

    /** How long its oldest segment waits for the head (R24). */
    public List<Action> waits(long millis, long nowMillis) {
        heardMillis = nowMillis;
        waiting = millis;
        return tick(nowMillis);
    }

    /**
     * A segment came from the primary that is followed, or from one who has it.
     *
     * @param previous its predecessor's digest
     */
    public Arrival arrived(SegmentId id, String previous) {
        Optional<SegmentId> mine = chain.at(id.number());
        if (mine.equals(Optional.of(id))) {
            return Arrival.KNOWN;
        }
        if (id.number() <= chain.known()
                || (mine.isPresent() && mine.get().epoch() >= id.epoch())
                || chain.last().epoch() > id.epoch()) {
            return Arrival.REFUSE;
        }
        SegmentId last = chain.last();
        if (id.number() > last.number() + 1) {
            return Arrival.GAP;
        }
        Optional<SegmentId> before =
                id.number() == 1 ? Optional.of(SegmentId.NONE) : chain.at(id.number() - 1);
        if (before.isEmpty()) {
            return Arrival.GAP;
        }
        if (!before.get().digest().equals(previous)) {
            return Arrival.GAP;
        }
        return mine.isPresent() ? Arrival.REPLACE : Arrival.APPEND;
    }

    /** The primary that is followed says that the head names this segment. */
    public List<Action> named(SegmentId id) {
        if (!chain.at(id.number()).equals(Optional.of(id))) {
            return List.of();
        }
        if (!quarantine.isOver() || (head != null && !replays(head.lanes(), id))) {
            return List.of();
        }
        lacks = "";
        return List.of(new Action.Apply(id));
    }

    /**
     * Whether this member can execute what comes up to a segment: it has the code that recorded it,
     * or a snapshot with all of it (X17), and its state does not differ (X14).
     */
    private boolean replays(Optional<LaneCode> recorded, SegmentId upTo) {
        return quarantine.isOver() && (recorded.equals(lanes) || chain.snapshot().equals(upTo));
    }

    /** The challenge was written. */
    public List<Action> challenged(long nowMillis) {
        if (phase != Phase.CHALLENGING) {
            return List.of();
        }
        phase = Phase.WAITING;
        challengedMillis = nowMillis;
        return List.of();
    }

    /** The request under way was refused, or nobody knows what came of it (C13). */
    public List<Action> unknown(long nowMillis) {
        if (phase == Phase.OVER) {
            return List.of();
        }
        phase = Phase.IDLE;
        readAgain = true;
        return List.of();
    }

    /** The head was written: this member is primary. */
    public List<Action> took(int newVersion) {
        if (phase != Phase.TAKING) {
            throw new IllegalStateException("no head was written, but " + phase);
        }
        phase = Phase.OVER;
        return List.of(new Action.InOffice(taking, newVersion));
    }

    /**
     * The head was read.
     *
     * @param seen what it says; empty where there is none
     */
    public List<Action> seen(Optional<StandbyHead> seen, int seenVersion, long nowMillis) {
        Phase why = phase;
        if (why == Phase.OVER) {
            return List.of();
        }
        phase = Phase.IDLE;
        readMillis = nowMillis;
        Optional<String> refusal = refusal(seen);
        if (refusal.isPresent()) {
            phase = Phase.OVER;
            return List.of(new Action.Refuse(refusal.get()));
        }
        if (seen.isEmpty()) {
            return create();
        }
        StandbyHead now = seen.get();
        if (isOfAnother(now)) {
            phase = Phase.OVER;
            return List.of(new Action.BearAnew(now.holder().birth(), now.replaces().orElseThrow()));
        }
        if (isMine(now)) {
            // A write whose outcome nobody knew.
            phase = Phase.OVER;
            return List.of(new Action.InOffice(now, seenVersion));
        }
        List<Action> out = new ArrayList<>();
        // Who speaks and cannot commit may well write the head anew: only a new segment is
        // progress.
        boolean stuck = linked && waiting > rules.waitingMillis();
        boolean changed =
                head == null
                        || (stuck ? !now.segment().equals(head.segment()) : seenVersion != version);
        boolean another = head == null || !head.holder().equals(now.holder());
        boolean handed = head == null || !head.successor().equals(now.successor());
        head = now;
        version = seenVersion;
        if (another) {
            linked = false;
            waiting = 0;
            seenSinceMillis = nowMillis;
            out.add(new Action.Follow(now));
        }
        boolean stored = chain.at(now.segment().number()).equals(Optional.of(now.segment()));
        boolean has = stored && replays(now.lanes(), now.segment());
        lacks = has ? "" : lacks(now, stored);
        if (has) {
            out.add(new Action.Apply(now.segment()));
        } else if (!stored && isSuspect(nowMillis)) {
            out.add(new Action.Fetch(now));
        }
        if (now.successor().isPresent()) {
            handedMillis = handed ? nowMillis : handedMillis;
            boolean mine = now.successor().get().equals(member);
            if (has && (mine || nowMillis - handedMillis > rules.successorMillis())) {
                out.add(take());
            }
            return out;
        }
        if (why == Phase.LOOKING && has && !another && isSuspect(nowMillis)) {
            phase = Phase.CHALLENGING;
            out.add(new Action.Challenge());
        } else if (why == Phase.JUDGING && has && !changed && isSuspect(nowMillis)) {
            out.add(take());
        }
        return out;
    }

    private String lacks(StandbyHead now, boolean stored) {
        return stored && quarantine.isOver()
                ? "a snapshot as of segment "
                        + now.segment()
                        + ": "
                        + now.lanes().orElseThrow()
                        + " recorded what comes before it, and this member has "
                        + lanes.orElseThrow()
                : "segment " + now.segment() + ", which " + now.holders() + " have";
    }

    private boolean isMine(StandbyHead now) {
        // One that this process handed over is its successor's.
        return now.member().equals(member)
                && now.holder().nonce() == nonce
                && now.successor().isEmpty();
    }

    private Action take() {
        phase = Phase.TAKING;
        taking =
                new StandbyHead(
                        new Incarnation(head.holder().birth(), head.holder().number() + 1, nonce),
                        member,
                        at,
                        head.segment(),
                        head.turn(),
                        head.holders(),
                        head.copies(),
                        Optional.empty(),
                        head.replaces(),
                        lanes);
        return new Action.Take(taking, version);
    }

    private List<Action> create() {
        head = null;
        phase = Phase.TAKING;
        taking =
                new StandbyHead(
                        new Incarnation(newGeneration, 1, nonce),
                        member,
                        at,
                        SegmentId.NONE,
                        0,
                        new TreeSet<>(List.of(member)),
                        Copies.ALONE,
                        Optional.empty(),
                        Optional.empty(),
                        lanes);
        return List.of(new Action.Create(taking));
    }

    /** Why this member must not continue with what the head says. */
    private Optional<String> refusal(Optional<StandbyHead> seen) {
        if (seen.isPresent() && seen.get().lanes().isPresent() != lanes.isPresent()) {
            return Optional.of(
                    seen.get().lanes().isPresent()
                            ? "the head is of a service whose members replay what its primary"
                                    + " recorded, with "
                                    + seen.get().lanes().get()
                                    + ", and this member would take turns. Start it as the others"
                                    + " are started"
                            : "the head is of a service whose members take turns, and this member"
                                    + " would replay with "
                                    + lanes.get()
                                    + ". Start it as the others are started");
        }
        Optional<Birth> birth = chain.birth();
        if (birth.isEmpty()) {
            return Optional.empty();
        }
        if (seen.isEmpty()) {
            return Optional.of(
                    "the head is missing, and this folder is of generation "
                            + birth.get()
                            + ", up to segment "
                            + chain.last()
                            + ": it was deleted, or the ensemble was restored from before. Nothing"
                            + " is created anew");
        }
        StandbyHead now = seen.get();
        if (isOfAnother(now)) {
            if (now.replaces().map(Replaced::birth).equals(birth)) {
                return Optional.empty();
            }
            return Optional.of(
                    "the head is of generation "
                            + now.holder().birth()
                            + ", and this folder is of generation "
                            + birth.get()
                            + ". Start with an empty folder to follow that one; this folder is left"
                            + " as it is");
        }
        SegmentId named = now.segment();
        Optional<SegmentId> mine = chain.at(named.number());
        // More may have become known since.
        boolean behind = named.number() < knownBefore;
        boolean foreign =
                named.number() <= knownBefore && mine.isPresent() && !mine.get().equals(named);
        if (behind || foreign) {
            return Optional.of(
                    "the head went back: it names segment "
                            + named
                            + ", and this folder knows that one named "
                            + (behind ? "number " + knownBefore : mine.get().toString())
                            + ". The ensemble was restored from before, or the head was written by"
                            + " hand");
        }
        return Optional.empty();
    }

    private boolean isOfAnother(StandbyHead now) {
        return chain.birth().filter(it -> !it.equals(now.holder().birth())).isPresent();
    }

    /** The head as it was read last, where it was. */
    public Optional<StandbyHead> head() {
        return Optional.ofNullable(head);
    }

    /** What it lacks to take over; empty text where it could. */
    public String lacks() {
        return quarantine.isOver()
                ? lacks
                : "a snapshot of the primary as of segment "
                        + quarantine.from()
                        + " or a later one: its state differs, as "
                        + quarantine.difference();
    }

    /** Whether the state of this member differs from the primary's (X14). */
    public boolean differs() {
        return !quarantine.isOver();
    }

    /**
     * Whether it asks the primary for a snapshot now (X14): the segment as of which that is at
     * least.
     */
    public OptionalLong needsSnapshot(long nowMillis) {
        return quarantine.asks(nowMillis)
                ? OptionalLong.of(quarantine.from())
                : OptionalLong.empty();
    }

    /** Whether the member that it follows is there. */
    public boolean isLinked() {
        return linked;
    }
}
