package io.saucr.services.core.standby;

import io.saucr.services.core.Incarnation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;

/**
 * Decides what the primary does with its head: which segment it names when (C3, C5, C15), what a
 * write came to whose outcome nobody knows (C13), when a read is proven (C8), who counts as a copy,
 * when it continues alone, and when it was deposed. No I/O, no threads, no clock: the member's
 * thread drives it, and so do simulator and model.
 *
 * <p>One write or read of the head is under way at any time, and a check may be, which a write does
 * not wait for: it changes nothing. Whatever returns actions: do them at once, in their order;
 * nothing follows {@link Action.Over}.
 */
public final class Primary {

    /**
     * When a segment counts.
     *
     * @param copies members that have to have it, with this one; from 1
     * @param strict whether a segment waits for that many, however long; else the primary continues
     *     with those that are there, and says so
     * @param fast whether two that wrote it are enough while a standby is prompt (C15)
     * @param silentMillis so long a standby may say nothing, and still counts
     * @param lateMillis so long a standby may take to have a segment, and still counts
     * @param leaseMillis so long a proof of office lets replies leave before they are covered (C9);
     *     0 where none do
     */
    public record Rules(
            int copies,
            boolean strict,
            boolean fast,
            long silentMillis,
            long lateMillis,
            long leaseMillis) {

        public Rules {
            if (copies < 1 || silentMillis < 1 || lateMillis < silentMillis || leaseMillis < 0) {
                throw new IllegalArgumentException(
                        "copies are 1 or more, not "
                                + copies
                                + "; silence from 1 ms, and being late no less: "
                                + silentMillis
                                + ", "
                                + lateMillis
                                + "; a lease is 0 or more: "
                                + leaseMillis);
            }
        }

        /** Without a lease. */
        public Rules(int copies, boolean strict, boolean fast, long silentMillis, long lateMillis) {
            this(copies, strict, fast, silentMillis, lateMillis, 0);
        }

        /** So often it is looked whether it is still primary: a lease is kept, too. */
        long lookMillis() {
            return leaseMillis == 0
                    ? LOOK_MILLIS
                    : Math.min(LOOK_MILLIS, Math.max(1, leaseMillis / 3));
        }
    }

    /** What to do. */
    public sealed interface Action {

        /** Set the head's data on this version; tell what came of it. */
        record Write(StandbyHead head, int version) implements Action {}

        /** Ask whether the head has this version still, as a write would (C8). */
        record Check(int version) implements Action {}

        /** Read the head, as it is after all that was written before (C13). */
        record Read() implements Action {}

        /** The head names this segment: all turns up to this one are final. Rising. */
        record Named(SegmentId segment, long turn) implements Action {}

        /** This member was primary after reads up to this one came in (C8). Rising. */
        record Proven(long read) implements Action {}

        /** The member that was to take over is lost, silent or late: this one remains primary. */
        record NotHanded(String member) implements Action {}

        /** The head names a successor, who takes over: this member is out of office. */
        record HandedOver(String member) implements Action {}

        /**
         * Out of office.
         *
         * @param stops whether the member must not continue as a standby either, as its head is
         *     gone, went back, or is of another birth
         */
        record Over(String reason, boolean stops) implements Action {}
    }

    /**
     * So often it looks whether it is still primary, where nothing else tells: who was deposed and
     * has nothing to write would never follow its successor.
     */
    private static final long LOOK_MILLIS = 1_000;

    /**
     * For so long after a cut a read waits for the write of the head that is to come, which proves
     * it as well: a check would hold that up, and costs the ensemble as much.
     */
    private static final long COMING_MILLIS = 10;

    private enum Flight {
        NONE,
        WRITE,
        READ
    }

    /**
     * A request that proves the office if it is done.
     *
     * @param covers reads up to this one came in before it began
     * @param sinceMillis when that was
     */
    private record Proof(long covers, long sinceMillis) {}

    private final Rules rules;
    private final Incarnation self;
    private final SegmentCopies copies;
    private StandbyHead head;
    private int version;
    private Flight flight = Flight.NONE;
    private StandbyHead writing;

    /** Reads up to this one came in before an office that was proven since, at that time. */
    private long covered;

    private long coveredMillis;

    /** What the write under way proves. */
    private Proof byWrite = new Proof(0, 0);

    /** The check that is under way. */
    private Optional<Proof> check = Optional.empty();

    private long asked;
    private long proven;

    /** Since when the oldest read that is not proven waits, at most. */
    private long askedMillis;

    /** When it was primary for the last time that it knows of. */
    private long confirmedMillis = Long.MAX_VALUE;

    /** When the last request began that proved the office; without one so far none does (C9). */
    private OptionalLong officeMillis = OptionalLong.empty();

    private boolean challenged;
    private Optional<String> handTo = Optional.empty();

    /** Since when the successor alone is waited for. */
    private long handMillis;

    private boolean over;

    /**
     * Begins an epoch.
     *
     * @param head as this member wrote it
     * @param version of its data
     */
    public Primary(Rules rules, StandbyHead head, int version) {
        this.rules = rules;
        this.self = head.holder();
        this.copies = new SegmentCopies(rules, head);
        this.head = head;
        this.version = version;
    }

    /**
     * A segment was cut; it is being stored and sent.
     *
     * @param id whose number follows the newest one's
     * @param turn its last
     */
    public List<Action> cut(SegmentId id, long turn, long nowMillis) {
        if (id.number() != newest().number() + 1 || id.epoch() != self.number()) {
            throw new IllegalArgumentException(
                    "segment %s does not follow %s in epoch %s"
                            .formatted(id, newest(), self.number()));
        }
        copies.cut(id, turn, nowMillis);
        return advance(nowMillis);
    }

    /** This member wrote all segments up to this one. */
    public List<Action> written(long number, long nowMillis) {
        copies.written(number);
        return advance(nowMillis);
    }

    /** This member has forced all segments up to this one. */
    public List<Action> forced(long number, long nowMillis) {
        copies.forced(number);
        return advance(nowMillis);
    }

    /**
     * Members share a store: a segment counts once that has it, and needs no copies then. Where it
     * fails, or is late, segments count as without one, and the head says so; with strict rules
     * they wait for it. Called before anything is cut.
     */
    public void sharesStore() {
        copies.sharesStore();
    }

    /** The store has the whole chain up to this segment. */
    public List<Action> stored(long number, long nowMillis) {
        copies.stored(number);
        return advance(nowMillis);
    }

    /** The store failed; it may be fixed, which {@link #stored} says. */
    public List<Action> storeFailed(long nowMillis) {
        copies.storeFailed();
        return advance(nowMillis);
    }

    /** A standby follows, on a new link; what it has it says anew. */
    public void linked(String other, long nowMillis) {
        copies.linked(other, nowMillis);
    }

    /** Its link is closed. */
    public List<Action> unlinked(String other, long nowMillis) {
        copies.unlinked(other);
        return advance(nowMillis);
    }

    /** It said something. */
    public void heard(String other, long nowMillis) {
        copies.heard(other, nowMillis);
    }

    /**
     * A standby's state is as of this segment, or will be in a moment; 0 while it has still to be
     * read.
     */
    public void hasState(String other, long number) {
        copies.hasState(other, number);
    }

    /** A standby wrote all segments up to this one, which may be lost with its power. */
    public List<Action> written(String other, long number, long nowMillis) {
        copies.written(other, number, head, nowMillis);
        return advance(nowMillis);
    }

    /** A standby has forced all segments up to this one. */
    public List<Action> forced(String other, long number, long nowMillis) {
        copies.forced(other, number);
        return written(other, number, nowMillis);
    }

    /** A standby doubts that this member lives, or the session is a new one: it shows its head. */
    public List<Action> challenged(long nowMillis) {
        challenged = true;
        return advance(nowMillis);
    }

    /** A read wants to be proven (C8): numbers rise. */
    public List<Action> prove(long read, long nowMillis) {
        if (asked == proven) {
            askedMillis = nowMillis;
        }
        asked = Math.max(asked, read);
        return advance(nowMillis);
    }

    /**
     * Who would take over at once.
     *
     * @param wanted the only one that will do; empty for any
     * @param waits whether a member that only has to read its state is waited for
     * @return empty where a member is to be waited for
     * @throws IllegalArgumentException where nobody would: says of whom it could be why not
     */
    public Optional<String> successor(Optional<String> wanted, boolean waits) {
        return copies.successor(wanted, waits, head);
    }

    /**
     * Hands the office over once all that was cut is named; nothing may be cut from now on.
     *
     * @throws IllegalArgumentException where that member is not linked, has not all segments yet,
     *     or reads its state still
     */
    public List<Action> handOver(String to, long nowMillis) {
        copies.requireWarm(to, head);
        handTo = Optional.of(to);
        handMillis = Long.MAX_VALUE;
        return advance(nowMillis);
    }

    /** Time went by. */
    public List<Action> tick(long nowMillis) {
        return advance(nowMillis);
    }

    /** The write under way was done: the head has this version now. */
    public List<Action> wrote(int newVersion, long nowMillis) {
        expect(Flight.WRITE);
        List<Action> out = new ArrayList<>();
        proves(byWrite, nowMillis);
        if (!over) {
            became(writing, newVersion, out);
            out.addAll(advance(nowMillis));
        }
        return out;
    }

    /** The check under way found the version that it asked for. */
    public List<Action> checked(long nowMillis) {
        Proof done = takeCheck();
        List<Action> out = new ArrayList<>();
        proves(done, nowMillis);
        if (!over) {
            tellProven(out);
            out.addAll(advance(nowMillis));
        }
        return out;
    }

    /** The check under way was refused, or nobody knows what came of it. */
    public List<Action> unchecked() {
        Proof unused = takeCheck();
        // A write on the same version, or a read, says what a check would have said.
        return over || flight != Flight.NONE ? List.of() : read();
    }

    private Proof takeCheck() {
        Proof done = check.orElseThrow(() -> new IllegalStateException("no check is under way"));
        check = Optional.empty();
        return done;
    }

    /** The write or read under way was refused, or nobody knows what came of it (C13). */
    public List<Action> unknown() {
        flight = Flight.NONE;
        return over ? List.of() : read();
    }

    /**
     * The head was read.
     *
     * @param seen what it says; empty where there is none
     */
    public List<Action> seen(Optional<StandbyHead> seen, int seenVersion, long nowMillis) {
        expect(Flight.READ);
        confirmedMillis = nowMillis;
        List<Action> out = new ArrayList<>();
        if (over) {
            return out;
        }
        if (seen.isEmpty()) {
            return end("the head is missing while this member holds it", true);
        }
        if (!seen.get().holder().equals(self)) {
            // Even with one's own segment in it: a version read under a successor would undo him.
            Incarnation by = seen.get().holder();
            // Who accepted a loss takes nobody's office for good: the folder follows (C17).
            boolean follows =
                    by.birth().equals(self.birth())
                            || seen.get()
                                    .replaces()
                                    .map(Replaced::birth)
                                    .equals(Optional.of(self.birth()));
            boolean stops = !follows;
            return end(
                    "member "
                            + seen.get().member()
                            + " took over: epoch "
                            + by.number()
                            + (stops ? " of generation " + by.birth() : ""),
                    stops);
        }
        SegmentId named = seen.get().segment();
        if (named.number() < head.segment().number()
                || (named.number() == head.segment().number() && !named.equals(head.segment()))) {
            return end(
                    "the head went back: it names segment "
                            + named
                            + ", and named "
                            + head.segment()
                            + ". The ensemble was restored from before, or the head was written by"
                            + " hand",
                    true);
        }
        if (seenVersion != version) {
            covers(byWrite);
            became(seen.get(), seenVersion, out);
        }
        // What was under way may still come: the same version is written again, and one of the two
        // fails.
        writing = null;
        out.addAll(advance(nowMillis));
        return out;
    }

    private List<Action> end(String reason, boolean stops) {
        over = true;
        return List.of(new Action.Over(reason, stops));
    }

    private List<Action> read() {
        flight = Flight.READ;
        return List.of(new Action.Read());
    }

    private void expect(Flight which) {
        if (flight != which) {
            throw new IllegalStateException("an answer to a " + which + " while " + flight);
        }
        flight = Flight.NONE;
    }

    private void became(StandbyHead now, int nowVersion, List<Action> out) {
        boolean moved = now.segment().number() > head.segment().number();
        head = now;
        version = nowVersion;
        challenged = false;
        writing = null;
        copies.named(now.segment());
        if (moved) {
            out.add(new Action.Named(now.segment(), now.turn()));
        }
        tellProven(out);
        if (now.successor().isPresent()) {
            over = true;
            out.add(new Action.HandedOver(now.successor().get()));
        }
    }

    private void proves(Proof done, long nowMillis) {
        confirmedMillis = nowMillis;
        if (done.sinceMillis() >= officeMillis.orElse(Long.MIN_VALUE)) {
            officeMillis = OptionalLong.of(done.sinceMillis());
        }
        covers(done);
    }

    private void covers(Proof done) {
        if (done.covers() > covered) {
            covered = done.covers();
            coveredMillis = done.sinceMillis();
        }
    }

    private void tellProven(List<Action> out) {
        if (covered > proven) {
            proven = covered;
            askedMillis = coveredMillis;
            out.add(new Action.Proven(proven));
        }
    }

    /** One write at a time: a pipelined one would match a successor's version (C5). */
    private List<Action> advance(long nowMillis) {
        confirmedMillis = Math.min(confirmedMillis, nowMillis);
        if (over || flight != Flight.NONE) {
            return List.of();
        }
        Optional<StandbyHead> next = copies.next(head, nowMillis);
        List<Action> out = new ArrayList<>();
        if (next.isEmpty() && handTo.isPresent()) {
            next = handing(nowMillis, out);
        }
        if (next.isEmpty() && !copies.hasUnnamed()) {
            next = copies.more(head);
        }
        if (next.isEmpty() && challenged) {
            next = Optional.of(head);
        }
        if (next.isPresent()) {
            flight = Flight.WRITE;
            byWrite = new Proof(asked, nowMillis);
            writing = next.get();
            out.add(new Action.Write(writing, version));
        } else if (check.isEmpty()
                && ((asked > proven && !isComing(nowMillis))
                        || nowMillis - confirmedMillis >= rules.lookMillis())) {
            check = Optional.of(new Proof(asked, nowMillis));
            out.add(new Action.Check(version));
        }
        return out;
    }

    /** Whether a write of the head is to be expected soon, as its segment was cut just now. */
    private boolean isComing(long nowMillis) {
        return copies.hasUnnamed() && nowMillis - copies.oldestCutMillis() < COMING_MILLIS;
    }

    private Optional<StandbyHead> handing(long nowMillis, List<Action> out) {
        String to = handTo.get();
        if (!copies.hasUnnamed()) {
            handMillis = Math.min(handMillis, nowMillis);
        }
        boolean ready = !copies.hasUnnamed() && copies.hasForced(to, head.segment());
        boolean silent = copies.isSilent(to, nowMillis);
        // Nothing is cut meanwhile: the service does not wait for a successor's disk for ever.
        boolean late = !ready && nowMillis - handMillis > rules.lateMillis();
        if (silent || late) {
            handTo = Optional.empty();
            out.add(new Action.NotHanded(to));
            return Optional.empty();
        }
        return ready ? Optional.of(head.handedTo(to)) : Optional.empty();
    }

    /**
     * Whether what is written may be forced later: a standby is prompt, and takes the disk's place
     * (C15), or the store does.
     */
    public boolean isPrompt(long nowMillis) {
        return copies.isPrompt(nowMillis);
    }

    /**
     * Members that have all that is named, and their state read: they may be handed the office once
     * it is forced.
     */
    public SortedSet<String> ready() {
        return copies.ready(head);
    }

    /** How far each member that is linked has forced, for people. */
    public Map<String, Long> copies() {
        return copies.forced();
    }

    /**
     * Since when this member was primary for certain, by what was done and not just asked for: a
     * write or check that began then (C9). Empty before the first one.
     */
    public OptionalLong officeSince() {
        return officeMillis;
    }

    /** The head as it is known to be. */
    public StandbyHead head() {
        return head;
    }

    /** The newest segment that was cut. */
    public SegmentId newest() {
        return copies.newest();
    }

    /**
     * How long the oldest segment has waited for this member's disk or for the head, or the oldest
     * read for its proof, in ms; 0 for none (R24). Copies of others do not count: who takes over
     * has no more of them.
     */
    public long waitingMillis(long nowMillis) {
        boolean forOthers = flight == Flight.NONE && copies.isOldestForcedHere();
        long since = asked > proven ? askedMillis : nowMillis;
        if (copies.hasUnnamed() && !forOthers) {
            since = Math.min(since, copies.oldestCutMillis());
        }
        return Math.max(0, nowMillis - since);
    }

    /** In how many ms {@link #tick} may have something to do though nothing happens. */
    public long waitMillis(long nowMillis) {
        if (!copies.hasUnnamed() && handTo.isEmpty()) {
            return Math.max(1, rules.lookMillis() - Math.max(0, nowMillis - confirmedMillis));
        }
        long most = Math.min(rules.silentMillis(), 50);
        return asked > proven && isComing(nowMillis)
                ? Math.min(most, copies.oldestCutMillis() + COMING_MILLIS - nowMillis)
                : most;
    }
}
