package io.saucr.services.core.standby;

import io.saucr.services.core.standby.StandbyHead.Copies;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Decides which of a {@link Primary}'s segments enough members have, or the store that they share
 * (C3, C15), and who of them could take over at once. No I/O, no threads, no clock.
 */
final class SegmentCopies {

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

        /** Whether it would answer at once as primary. */
        boolean isWarm() {
            return hasCaughtUp() && state >= caughtUpAt;
        }
    }

    private final Primary.Rules rules;
    private final String member;
    private final Map<String, Copy> others = new TreeMap<>();
    private final Copy own = new Copy();

    /**
     * Whether members share a store, which takes the place of copies while it is responsive (C3).
     */
    private boolean hasStore;

    /** Up to which segment the store has the whole chain. */
    private long stored;

    private boolean storeFailed;
    private final ArrayDeque<Cut> cuts = new ArrayDeque<>();
    private SegmentId newest;

    /**
     * @param head whose segment this member has synced
     */
    SegmentCopies(Primary.Rules rules, StandbyHead head) {
        this.rules = rules;
        this.member = head.member();
        this.newest = head.segment();
        forced(newest.number());
    }

    // ---- Segments ----

    void cut(SegmentId id, long turn, long nowMillis) {
        newest = id;
        cuts.add(new Cut(id, turn, nowMillis));
    }

    /** The newest segment that was cut. */
    SegmentId newest() {
        return newest;
    }

    /** The head names this segment: nothing up to it waits any more. */
    void named(SegmentId segment) {
        while (hasUnnamed() && cuts.element().id().number() <= segment.number()) {
            cuts.remove();
        }
    }

    /** Whether a segment was cut that the head does not name. */
    boolean hasUnnamed() {
        return !cuts.isEmpty();
    }

    /** When the oldest of these was cut; there must be one. */
    long oldestCutMillis() {
        return cuts.element().cutMillis();
    }

    /** Whether there is one, and this member has synced the oldest. */
    boolean isOldestForcedHere() {
        return hasUnnamed() && own.forced >= cuts.element().id().number();
    }

    // ---- This member, and the store ----

    void written(long number) {
        own.written = Math.max(own.written, number);
    }

    void forced(long number) {
        own.forced = Math.max(own.forced, number);
        own.written = Math.max(own.written, own.forced);
    }

    void sharesStore() {
        hasStore = true;
    }

    void stored(long number) {
        if (number <= newest.number()) {
            stored = Math.max(stored, number);
            storeFailed = false;
        }
    }

    void storeFailed() {
        storeFailed = true;
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

    // ---- Standbys ----

    void linked(String other, long nowMillis) {
        Copy copy = new Copy();
        copy.linked = true;
        copy.heardMillis = nowMillis;
        others.put(other, copy);
    }

    void unlinked(String other) {
        others.remove(other);
    }

    void heard(String other, long nowMillis) {
        Copy copy = others.get(other);
        if (copy != null) {
            copy.heardMillis = nowMillis;
        }
    }

    void hasState(String other, long number) {
        Copy copy = others.get(other);
        if (copy != null) {
            copy.state = number;
        }
    }

    void written(String other, long number, StandbyHead head, long nowMillis) {
        Copy copy = others.get(other);
        if (copy != null && number <= newest.number()) {
            copy.heardMillis = nowMillis;
            copy.written = Math.max(copy.written, number);
            if (!copy.hasCaughtUp() && copy.written >= head.segment().number()) {
                copy.caughtUpAt = head.segment().number();
            }
        }
    }

    void forced(String other, long number) {
        Copy copy = others.get(other);
        if (copy != null && number <= newest.number()) {
            copy.forced = Math.max(copy.forced, number);
        }
    }

    /** Whether this standby has synced this segment. */
    boolean hasForced(String other, SegmentId segment) {
        Copy copy = others.get(other);
        return copy != null && copy.forced >= segment.number();
    }

    /** Whether this standby is not linked, or was heard too long ago. */
    boolean isSilent(String other, long nowMillis) {
        Copy copy = others.get(other);
        return copy == null || nowMillis - copy.heardMillis > rules.silentMillis();
    }

    /** How far each standby that is linked has synced. */
    Map<String, Long> forced() {
        Map<String, Long> all = new TreeMap<>();
        others.forEach((name, copy) -> all.put(name, copy.forced));
        return all;
    }

    // ---- Who could take over ----

    /** See {@link Primary#ready}. */
    SortedSet<String> ready(StandbyHead head) {
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

    /** See {@link Primary#successor}. */
    Optional<String> successor(Optional<String> wanted, boolean waits, StandbyHead head) {
        Set<String> ready = ready(head);
        Optional<String> now =
                wanted.isPresent() ? wanted.filter(ready::contains) : ready.stream().findFirst();
        if (now.isPresent()) {
            return now;
        }
        boolean reads =
                wanted.isPresent()
                        ? reads(others.get(wanted.get()))
                        : others.values().stream().anyMatch(SegmentCopies::reads);
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

    /**
     * @throws IllegalArgumentException where that standby is not linked, has not all segments yet,
     *     or reads its state still
     */
    void requireWarm(String other, StandbyHead head) {
        Copy copy = others.get(other);
        // Of what was cut last it may have nothing yet.
        if (copy == null || !copy.isWarm()) {
            throw new IllegalArgumentException(notReady(other) + "; ready are " + ready(head));
        }
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

    // ---- Which segment counts ----

    /** The head with the newest segment that counts, if that is a newer one. */
    Optional<StandbyHead> next(StandbyHead head, long nowMillis) {
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
    Optional<StandbyHead> more(StandbyHead head) {
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

    /** See {@link Primary#isPrompt}. */
    boolean isPrompt(long nowMillis) {
        return isFast(nowMillis) || storeCounts(nowMillis);
    }

    private boolean isFast(long nowMillis) {
        return rules.fast() && others.values().stream().anyMatch(it -> counts(it, nowMillis));
    }
}
