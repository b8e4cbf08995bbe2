package io.saucr.services.core.standby;

import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.StandbyHead.Copies;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Decides what the member in office does with its head: which segment it names when (C3, C5, C15),
 * what a write came to whose outcome nobody knows (C13), when a read is proven (C8), who counts as
 * a copy, when it goes on alone, and when it was deposed. No I/O, no threads, no clock: the
 * member's thread drives it, and so do simulator and model.
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
     * @param strict whether a segment waits for that many, however long; else the primary goes on
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

        /** So often it is looked whether it is in office still: a lease is kept, too. */
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

        /** This member was in office after reads up to this one came in (C8). Rising. */
        record Proven(long read) implements Action {}

        /** The member that was to take over is gone, silent or late: this one stays in office. */
        record NotHanded(String member) implements Action {}

        /** The head names a successor, who takes over: this member is out of office. */
        record HandedOver(String member) implements Action {}

        /**
         * Out of office.
         *
         * @param stops whether the member must not go on as a standby either, as its head is gone,
         *     went back, or is of another birth
         */
        record Over(String reason, boolean stops) implements Action {}
    }

    /**
     * So often it looks whether it is in office still, where nothing else tells: who was deposed
     * and has nothing to write would never follow its successor.
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

    private record Cut(SegmentId id, long turn, long cutMillis) {}

    /** What is known of one member's copy. */
    private static final class Copy {
        private static final long NEVER = Long.MAX_VALUE;

        boolean linked;
        long heardMillis;
        long written;
        long forced;

        /** The first segment that it had while that was the newest one named. */
        long caughtUpAt = NEVER;

        /** As of which segment its state is, or will be in a moment. */
        long state;

        boolean hasCaughtUp() {
            return caughtUpAt != NEVER;
        }

        /** Whether it would answer at once in office. */
        boolean isWarm() {
            return hasCaughtUp() && state >= caughtUpAt;
        }
    }

    private final Rules rules;
    private final String member;
    private final Incarnation self;
    private final Map<String, Copy> others = new TreeMap<>();
    private final Copy own = new Copy();

    /** Whether members share a store, which takes the place of copies while it is prompt (C3). */
    private boolean hasStore;

    /** Up to which segment the store has the whole chain. */
    private long stored;

    private boolean storeFailed;
    private final ArrayDeque<Cut> cuts = new ArrayDeque<>();
    private StandbyHead head;
    private int version;
    private Flight flight = Flight.NONE;
    private StandbyHead writing;
    private SegmentId newest;

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

    /** When it was in office for the last time that it knows of. */
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
        this.member = head.member();
        this.self = head.holder();
        this.head = head;
        this.version = version;
        this.newest = head.segment();
        own.written = head.segment().number();
        own.forced = head.segment().number();
    }

    /**
     * A segment was cut; it is being stored and sent.
     *
     * @param id whose number follows the newest one's
     * @param turn its last
     */
    public List<Action> cut(SegmentId id, long turn, long nowMillis) {
        if (id.number() != newest.number() + 1 || id.epoch() != self.number()) {
            throw new IllegalArgumentException(
                    "segment " + id + " does not follow " + newest + " in epoch " + self.number());
        }
        newest = id;
        cuts.add(new Cut(id, turn, nowMillis));
        return advance(nowMillis);
    }

    /** This member wrote all segments up to this one. */
    public List<Action> written(long number, long nowMillis) {
        own.written = Math.max(own.written, number);
        return advance(nowMillis);
    }

    /** This member has forced all segments up to this one. */
    public List<Action> forced(long number, long nowMillis) {
        own.forced = Math.max(own.forced, number);
        own.written = Math.max(own.written, own.forced);
        return advance(nowMillis);
    }

    /**
     * Members share a store: a segment counts once that has it, and needs no copies then. Where it
     * fails, or is late, segments count as without one, and the head says so; with strict rules
     * they wait for it. Called before anything is cut.
     */
    public void sharesStore() {
        hasStore = true;
    }

    /** The store has the whole chain up to this segment. */
    public List<Action> stored(long number, long nowMillis) {
        if (number <= newest.number()) {
            stored = Math.max(stored, number);
            storeFailed = false;
        }
        return advance(nowMillis);
    }

    /** The store failed; it may be mended, which {@link #stored} says. */
    public List<Action> storeFailed(long nowMillis) {
        storeFailed = true;
        return advance(nowMillis);
    }

    /** Whether segments wait for the store, and for no copies. */
    private boolean storeCounts(long nowMillis) {
        if (!hasStore || rules.strict()) {
            return hasStore;
        }
        for (Cut cut : cuts) {
            if (cut.id().number() > stored) {
                return !storeFailed && nowMillis - cut.cutMillis() <= rules.lateMillis();
            }
        }
        return !storeFailed;
    }

    /** A standby follows, on a new link; what it has it says anew. */
    public void linked(String other, long nowMillis) {
        Copy copy = new Copy();
        copy.linked = true;
        copy.heardMillis = nowMillis;
        others.put(other, copy);
    }

    /** Its link is gone. */
    public List<Action> unlinked(String other, long nowMillis) {
        others.remove(other);
        return advance(nowMillis);
    }

    /** It said something. */
    public void heard(String other, long nowMillis) {
        Copy copy = others.get(other);
        if (copy != null) {
            copy.heardMillis = nowMillis;
        }
    }

    /**
     * A standby's state is as of this segment, or will be in a moment; 0 while it has still to be
     * read.
     */
    public void hasState(String other, long number) {
        Copy copy = others.get(other);
        if (copy != null) {
            copy.state = number;
        }
    }

    /** A standby wrote all segments up to this one, which may be lost with its power. */
    public List<Action> written(String other, long number, long nowMillis) {
        Copy copy = others.get(other);
        if (copy != null && number <= newest.number()) {
            copy.heardMillis = nowMillis;
            copy.written = Math.max(copy.written, number);
            if (!copy.hasCaughtUp() && copy.written >= head.segment().number()) {
                copy.caughtUpAt = head.segment().number();
            }
        }
        return advance(nowMillis);
    }

    /** A standby has forced all segments up to this one. */
    public List<Action> forced(String other, long number, long nowMillis) {
        Copy copy = others.get(other);
        if (copy != null && number <= newest.number()) {
            copy.forced = Math.max(copy.forced, number);
        }
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
        Set<String> ready = ready();
        Optional<String> now =
                wanted.isPresent() ? wanted.filter(ready::contains) : ready.stream().findFirst();
        if (now.isPresent()) {
            return now;
        }
        boolean reads =
                wanted.isPresent()
                        ? reads(others.get(wanted.get()))
                        : others.values().stream().anyMatch(Primary::reads);
        if (reads && waits) {
            return Optional.empty();
        }
        List<String> why = new ArrayList<>();
        if (wanted.isEmpty()) {
            others.keySet().forEach(it -> why.add(notReady(it)));
        }
        throw new IllegalArgumentException(
                wanted.isPresent()
                        ? notReady(wanted.get()) + "; ready are " + ready
                        : "no member is ready to take over"
                                + (why.isEmpty() ? "" : ": " + String.join("; ", why)));
    }

    private static boolean reads(Copy copy) {
        return copy != null && copy.hasCaughtUp() && !copy.isWarm();
    }

    private String notReady(String other) {
        Copy copy = others.get(other);
        String why;
        if (copy == null) {
            why = "it is not linked";
        } else if (!reads(copy)) {
            why = "it has not all segments yet";
        } else {
            why = "it reads its state still";
        }
        return "member " + other + " is not ready to take over: " + why;
    }

    /**
     * Hands the office over once all that was cut is named; nothing may be cut from now on.
     *
     * @throws IllegalArgumentException where that member is not linked, has not all segments yet,
     *     or reads its state still
     */
    public List<Action> handOver(String to, long nowMillis) {
        Copy copy = others.get(to);
        // Of what was cut last it may have nothing yet.
        if (copy == null || !copy.isWarm()) {
            throw new IllegalArgumentException(notReady(to) + "; ready are " + ready());
        }
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
            return end("the head is gone while this member holds it", true);
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
        while (!cuts.isEmpty() && cuts.element().id().number() <= now.segment().number()) {
            cuts.remove();
        }
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
        Optional<StandbyHead> next = next(nowMillis);
        List<Action> out = new ArrayList<>();
        if (next.isEmpty() && handTo.isPresent()) {
            next = handing(nowMillis, out);
        }
        if (next.isEmpty() && cuts.isEmpty()) {
            next = moreCopies();
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
        return !cuts.isEmpty() && nowMillis - cuts.element().cutMillis() < COMING_MILLIS;
    }

    private Optional<StandbyHead> handing(long nowMillis, List<Action> out) {
        String to = handTo.get();
        Copy copy = others.get(to);
        if (cuts.isEmpty()) {
            handMillis = Math.min(handMillis, nowMillis);
        }
        boolean ready = copy != null && cuts.isEmpty() && copy.forced >= head.segment().number();
        boolean silent = copy == null || nowMillis - copy.heardMillis > rules.silentMillis();
        // Nothing is cut meanwhile: the service does not wait for a successor's disk for ever.
        boolean late = !ready && nowMillis - handMillis > rules.lateMillis();
        if (silent || late) {
            handTo = Optional.empty();
            out.add(new Action.NotHanded(to));
            return Optional.empty();
        }
        return ready ? Optional.of(head.handedTo(to)) : Optional.empty();
    }

    /** The head with the newest segment that counts, if that is a newer one. */
    private Optional<StandbyHead> next(long nowMillis) {
        if (cuts.isEmpty()) {
            return Optional.empty();
        }
        boolean inStore = storeCounts(nowMillis);
        boolean fast = isFast(nowMillis);
        int present = 1;
        for (Copy copy : others.values()) {
            present += counts(copy, nowMillis) ? 1 : 0;
        }
        int needed = rules.strict() ? rules.copies() : Math.min(rules.copies(), present);
        Cut best = null;
        for (Cut cut : cuts) {
            long number = cut.id().number();
            boolean enough =
                    inStore
                            ? stored >= number
                            : fast
                                    ? holders(number, false, nowMillis).size()
                                                    >= Math.max(2, needed)
                                            && own.written >= number
                                    : holders(number, true, nowMillis).size() >= needed
                                            && (needed > 1 || own.forced >= number);
            if (!enough) {
                break;
            }
            best = cut;
        }
        if (best == null) {
            return Optional.empty();
        }
        SortedSet<String> by = holders(best.id().number(), true, nowMillis);
        Copies how = Copies.ALONE;
        if (inStore) {
            by.add(member);
            how = Copies.STORE;
        } else if (by.size() >= rules.copies()) {
            how = Copies.FORCED;
        } else if (fast) {
            by = holders(best.id().number(), false, nowMillis);
            how = Copies.MEMORY;
        }
        return Optional.of(head.naming(best.id(), best.turn(), by, how));
    }

    /**
     * The head, where as many members as asked for have forced its segment by now, or the store.
     */
    private Optional<StandbyHead> moreCopies() {
        long number = head.segment().number();
        if (number == 0 || (hasStore && head.copies() == Copies.STORE)) {
            return Optional.empty();
        }
        SortedSet<String> by = holders(number, true, 0);
        if (hasStore && !storeFailed && stored >= number) {
            by.add(member);
            return Optional.of(head.naming(head.segment(), head.turn(), by, Copies.STORE));
        }
        if (head.copies() == Copies.FORCED) {
            return Optional.empty();
        }
        return by.size() < rules.copies()
                ? Optional.empty()
                : Optional.of(head.naming(head.segment(), head.turn(), by, Copies.FORCED));
    }

    private SortedSet<String> holders(long number, boolean forced, long nowMillis) {
        SortedSet<String> all = new TreeSet<>();
        if ((forced ? own.forced : own.written) >= number) {
            all.add(member);
        }
        others.forEach(
                (name, copy) -> {
                    boolean has = forced ? copy.forced >= number : copy.written >= number;
                    // What is not forced counts while the standby is prompt (C15).
                    if (has && (forced || counts(copy, nowMillis))) {
                        all.add(name);
                    }
                });
        return all;
    }

    /** Whether segments wait for it. */
    private boolean counts(Copy copy, long nowMillis) {
        if (!copy.linked
                || !copy.hasCaughtUp()
                || nowMillis - copy.heardMillis > rules.silentMillis()) {
            return false;
        }
        for (Cut cut : cuts) {
            if (cut.id().number() > copy.forced) {
                return nowMillis - cut.cutMillis() <= rules.lateMillis();
            }
        }
        return true;
    }

    /**
     * Whether what is written may be forced later: a standby is prompt, and takes the disk's place
     * (C15), or the store does.
     */
    public boolean isPrompt(long nowMillis) {
        return isFast(nowMillis) || storeCounts(nowMillis);
    }

    private boolean isFast(long nowMillis) {
        return rules.fast() && others.values().stream().anyMatch(it -> counts(it, nowMillis));
    }

    /**
     * Members that have all that is named, and their state read: they may be handed the office once
     * it is forced.
     */
    public SortedSet<String> ready() {
        SortedSet<String> all = new TreeSet<>();
        others.forEach(
                (name, copy) -> {
                    boolean has = copy.written >= head.segment().number();
                    if (copy.linked && has && copy.isWarm()) {
                        all.add(name);
                    }
                });
        return all;
    }

    /** How far each member that is linked has forced, for people. */
    public Map<String, Long> copies() {
        Map<String, Long> all = new TreeMap<>();
        others.forEach((name, copy) -> all.put(name, copy.forced));
        return all;
    }

    /**
     * Since when this member was in office for certain, by what was done and not just asked for: a
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
        return newest;
    }

    /**
     * How long the oldest segment has waited for this member's disk or for the head, or the oldest
     * read for its proof, in ms; 0 for none (R24). Copies of others do not count: who takes over
     * has no more of them.
     */
    public long waitingMillis(long nowMillis) {
        boolean forOthers =
                flight == Flight.NONE
                        && !cuts.isEmpty()
                        && own.forced >= cuts.element().id().number();
        long since = asked > proven ? askedMillis : nowMillis;
        if (!cuts.isEmpty() && !forOthers) {
            since = Math.min(since, cuts.element().cutMillis());
        }
        return Math.max(0, nowMillis - since);
    }

    /** In how many ms {@link #tick} may have something to do though nothing happens. */
    public long waitMillis(long nowMillis) {
        if (cuts.isEmpty() && handTo.isEmpty()) {
            return Math.max(1, rules.lookMillis() - Math.max(0, nowMillis - confirmedMillis));
        }
        long most = Math.min(rules.silentMillis(), 50);
        return asked > proven && isComing(nowMillis)
                ? Math.min(most, cuts.element().cutMillis() + COMING_MILLIS - nowMillis)
                : most;
    }
}
