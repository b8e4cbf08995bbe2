package io.saucr.services.core;

import io.saucr.services.core.speculation.Coordinator;
import io.saucr.services.core.speculation.Coordinator.Action;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.core.speculation.Listing;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Consumer;

/**
 * The group of some services of a {@link ServiceWorld}: its head in the ensemble, its coordinators,
 * and what is on the way between members and them. Chance decides which step comes next. One
 * thread.
 */
final class ServiceGroup {

    /** A rule that is left out, to see that it is missed. */
    enum Broken {
        NOTHING,
        /** A turn does not depend on the message that it took. */
        D2_NO_DEPENDENCY,
        /** A version leaves once it is on disk. */
        D7_LEAVES_ONCE_SYNCED,
        /** Members hear of a decision before it is written. */
        D8_TOLD_BEFORE_WRITTEN,
        /** What a rollback kept counts as final. */
        D11_KEPT_IS_FINAL,
        /** A start goes on without a decision. */
        D13_START_TRUSTED
    }

    /** What a group does with a service. */
    interface Life {
        /** Turns above this one are undone; or a start begins. */
        void begins(long kept, String reason);

        /** More may be final. */
        void moved();
    }

    private record Request(GroupHead head, int version, boolean claim, Boolean done) {}

    private sealed interface Up {
        record Lists(Listing listing, boolean starts) implements Up {}

        record Reports(long world, List<Sealed> versions) implements Up {}
    }

    /** A member. */
    final class Seat {
        final int index;
        final GroupJournal journal;
        private final Life life;
        private boolean process = true;
        private boolean runs = true;
        private long epoch = 1;
        private int leader;
        private long reported;
        private Coordinator coordinator;
        private Request request;
        private final ArrayDeque<Up> up = new ArrayDeque<>();
        private final ArrayDeque<Action> down = new ArrayDeque<>();

        private Seat(int index, Life life) {
            this.index = index;
            this.life = life;
            journal = new GroupJournal(index);
        }

        /** Whether it takes turns. */
        boolean runs() {
            return runs;
        }

        boolean isUp() {
            return process;
        }

        /** The process dies; a part of what is not synced survives. */
        void crash(int kept) {
            if (request != null && request.done() == null) {
                late.add(request);
            }
            request = null;
            over(this);
            unlink(this);
            process = false;
            runs = false;
            journal.crash(kept);
        }

        /** The process is there again, and waits for a decision (D13). */
        void start() {
            process = true;
            epoch = head.epoch();
            if (broken == Broken.D13_START_TRUSTED) {
                runs = true;
                life.begins(Long.MAX_VALUE, "");
            }
        }

        @Override
        public String toString() {
            return "member "
                    + index
                    + (runs ? " runs, " : process ? " waits, " : " is down, ")
                    + journal
                    + ", led by "
                    + leader
                    + ", epoch "
                    + epoch
                    + (coordinator == null ? "" : ", coordinates " + coordinator);
        }
    }

    private final Random random;
    final Broken broken;
    private final Consumer<String> fails;
    private final Consumer<String> says;
    final List<Seat> seats = new ArrayList<>();
    private GroupHead head;
    private int version = 1;
    private final List<Request> late = new ArrayList<>();
    private final Map<Long, VersionVector> cuts = new HashMap<>();
    int rollbacks;

    /** How often the disks of this run are busy: in so many steps of one. */
    private final int busy;

    ServiceGroup(Random random, Broken broken, Consumer<String> fails, Consumer<String> says) {
        this.random = random;
        this.broken = broken;
        this.fails = fails;
        this.says = says;
        busy = 1 + random.nextInt(12);
    }

    Seat join(Life life) {
        Seat seat = new Seat(seats.size(), life);
        seats.add(seat);
        return seat;
    }

    /** All have joined, and the first one coordinates. */
    void begin() {
        List<GroupHead.Member> members = new ArrayList<>();
        for (Seat each : seats) {
            Birth birth = new Birth(1, each.index);
            members.add(new GroupHead.Member("m" + each.index, birth, 0, OptionalLong.empty()));
        }
        head = new GroupHead(1, 1, 0, "m0:1", 1, members);
        Coordinator first = Coordinator.of(head, version);
        for (Seat each : seats) {
            first = first.listed(each.index, each.journal.versions.listing()).coordinator();
        }
        seats.get(0).coordinator = first;
    }

    // ---- steps

    /**
     * What may happen next.
     *
     * @param healing whether disks are idle
     */
    List<Runnable> steps(boolean healing) {
        List<Runnable> steps = new ArrayList<>();
        for (Seat it : seats) {
            if (!it.process) {
                continue;
            }
            boolean idle = healing || random.nextInt(busy) == 0;
            if (it.runs && it.journal.versions.hasTurns() && idle) {
                steps.add(it.journal::seal);
            }
            if (!it.journal.hasSynced() && idle) {
                steps.add(() -> sync(it));
            }
            if (!it.up.isEmpty()) {
                steps.add(() -> up(it));
            }
            if (!it.down.isEmpty()) {
                steps.add(() -> down(it));
            }
            if (isLed()
                    && (it.leader != head.leader() || it.epoch < head.epoch())
                    && it.journal.versions.hasPassed()) {
                steps.add(() -> link(it));
            }
            if (it.request != null) {
                steps.add(() -> request(it));
            } else if (isLeaderLost()) {
                steps.add(() -> claim(it));
            }
        }
        if (!late.isEmpty()) {
            steps.add(() -> set(late.remove(random.nextInt(late.size()))));
        }
        return steps;
    }

    /** A member on whose turns others depend, if there is one. */
    Optional<Seat> lender() {
        List<Seat> all =
                seats.stream()
                        .filter(it -> it.runs)
                        .filter(
                                it ->
                                        seats.stream()
                                                .anyMatch(
                                                        by ->
                                                                by.runs
                                                                        && by.journal.dependsOn(
                                                                                it.index)))
                        .toList();
        return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
    }

    /** What need not happen. */
    void wreck() {
        Seat it = seats.get(random.nextInt(seats.size()));
        if (!it.process) {
            return;
        }
        switch (random.nextInt(5)) {
            case 0, 1 -> {
                if (it.leader >= 0) {
                    say("member %d is cut off", it.index);
                    unlink(it);
                }
            }
            case 2 -> {
                if (isLed() && it.leader < 0) {
                    Seat leader = seats.get(head.leader());
                    say("member %d is overdue", it.index);
                    perform(leader, leader.coordinator.overdue(it.index));
                }
            }
            case 3 -> {
                if (it.request == null && !leads(it)) {
                    claim(it);
                }
            }
            default -> {
                if (it.request != null) {
                    Request write = it.request;
                    it.request = null;
                    if (write.done() == null) {
                        late.add(write);
                    }
                    unknown(it, write);
                }
            }
        }
    }

    private boolean leads(Seat it) {
        return it.coordinator != null
                && !it.coordinator.isOver()
                && it.coordinator.head().epoch() == head.epoch()
                && head.leader() == it.index;
    }

    private boolean isLed() {
        return leads(seats.get(head.leader()));
    }

    private boolean isLeaderLost() {
        return !isLed() && seats.stream().noneMatch(it -> it.request != null && it.request.claim());
    }

    private void sync(Seat it) {
        it.journal.sync();
        report(it);
        it.life.moved();
    }

    private void report(Seat it) {
        List<Sealed> more =
                it.journal.versions.reportable().stream()
                        .filter(each -> each.version() > it.reported)
                        .toList();
        if (it.leader >= 0 && it.runs && !more.isEmpty()) {
            it.up.add(new Up.Reports(it.journal.versions.world(), more));
            it.reported = more.get(more.size() - 1).version();
        }
    }

    // ---- members and their coordinator

    private void link(Seat it) {
        unlink(it);
        it.leader = head.leader();
        it.epoch = head.epoch();
        Listing listing = it.journal.versions.listing();
        it.up.add(new Up.Lists(listing, !it.runs));
        List<Sealed> listed = listing.versions();
        it.reported = listed.isEmpty() ? listing.base() : listed.get(listed.size() - 1).version();
    }

    private void unlink(Seat it) {
        int from = it.leader;
        it.leader = -1;
        it.up.clear();
        it.down.clear();
        if (from >= 0 && seats.get(from).coordinator != null) {
            Seat leader = seats.get(from);
            perform(leader, leader.coordinator.unlinked(it.index));
        }
    }

    private void up(Seat it) {
        Up what = it.up.remove();
        Seat to = seats.get(it.leader);
        if (to.coordinator == null) {
            return;
        }
        say("coordinator %d hears of %d: %s", to.index, it.index, what);
        if (what instanceof Up.Reports reports) {
            perform(to, to.coordinator.reported(it.index, reports.world(), reports.versions()));
        } else if (what instanceof Up.Lists lists) {
            perform(
                    to,
                    lists.starts()
                            ? to.coordinator.started(it.index, lists.listing())
                            : to.coordinator.listed(it.index, lists.listing()));
        }
    }

    private void down(Seat it) {
        Action what = it.down.remove();
        say("member %d hears %s", it.index, what);
        if (what instanceof Action.Decided decided) {
            if (decided.epoch() >= it.epoch
                    && decided.decision().world() > it.journal.versions.world()) {
                pass(it, decided.decision());
            }
        } else if (what instanceof Action.Boundary boundary) {
            if (boundary.epoch() >= it.epoch && it.runs) {
                it.journal.versions =
                        it.journal.versions.bounded(boundary.world(), boundary.versions());
                it.life.moved();
            }
        } else {
            fails.accept("unexpected " + what);
        }
    }

    private void pass(Seat it, Decision decision) {
        VersionVector other = cuts.putIfAbsent(decision.world(), decision.cuts());
        if (other != null && !other.equals(decision.cuts())) {
            fails.accept("world " + decision.world() + " has " + other + ", and " + decision);
        }
        boolean begins = !it.runs;
        long before = it.journal.turns().size();
        long kept =
                it.journal.pass(decision, why -> fails.accept("member " + it.index + ": " + why));
        rollbacks += !begins && it.journal.turns().size() < before ? 1 : 0;
        it.reported = decision.cuts().at(it.index);
        it.runs = true;
        it.life.begins(kept, decision.toString());
    }

    private void perform(Seat it, Coordinator.Next next) {
        it.coordinator = next.coordinator();
        for (Action action : next.actions()) {
            if (action instanceof Action.Write write) {
                it.request = new Request(write.head(), write.version(), false, null);
                if (broken == Broken.D8_TOLD_BEFORE_WRITTEN) {
                    for (Seat each : seats) {
                        tell(
                                it,
                                each.index,
                                new Action.Decided(
                                        each.index, write.head().epoch(), write.head().decision()));
                    }
                }
            } else if (action instanceof Action.Decided decided) {
                tell(it, decided.member(), decided);
            } else if (action instanceof Action.Boundary boundary) {
                tell(it, boundary.member(), boundary);
            } else if (action instanceof Action.Over) {
                over(it);
            } else if (!(action instanceof Action.Read)) {
                fails.accept("unexpected " + action);
            }
        }
    }

    private void tell(Seat by, int to, Action action) {
        Seat it = seats.get(to);
        if (it.leader == by.index) {
            it.down.add(action);
        }
    }

    private void over(Seat it) {
        it.coordinator = null;
        it.request = it.request != null && it.request.claim() ? it.request : null;
        for (Seat each : seats) {
            if (each.leader == it.index) {
                each.leader = -1;
                each.up.clear();
                each.down.clear();
            }
        }
    }

    // ---- the head

    private void claim(Seat it) {
        over(it);
        GroupHead next = head.claimed(it.index, random.nextLong(), "m" + it.index + ":1");
        say("member %d claims epoch %d", it.index, next.epoch());
        it.request = new Request(next, version, true, null);
    }

    private boolean set(Request write) {
        if (write.version() != version) {
            return false;
        }
        head = write.head();
        version++;
        say("the head is %s", head);
        return true;
    }

    /** A write happens, or its outcome is heard. */
    private void request(Seat it) {
        Request write = it.request;
        if (write.done() == null) {
            it.request = new Request(write.head(), write.version(), write.claim(), set(write));
            return;
        }
        it.request = null;
        if (write.done()) {
            done(it, write);
        } else {
            unknown(it, write);
        }
    }

    private void done(Seat it, Request write) {
        if (write.claim()) {
            it.coordinator = Coordinator.of(write.head(), write.version() + 1);
        } else if (it.coordinator != null) {
            perform(it, it.coordinator.wrote(write.version() + 1));
        }
    }

    /** Reads the head. */
    private void unknown(Seat it, Request write) {
        if (write.claim()) {
            if (head.equals(write.head())) {
                done(it, write);
            } else if (version == write.version()) {
                it.request = new Request(write.head(), version, true, null);
            }
        } else if (it.coordinator != null) {
            Coordinator.Next next = it.coordinator.unknown();
            if (!next.actions().isEmpty()) {
                perform(it, next.coordinator().seen(Optional.of(head), version));
            }
        }
    }

    @SuppressWarnings("AnnotateFormatMethod")
    private void say(String what, Object... arguments) {
        if (says != null) {
            says.accept(String.format(what, arguments));
        }
    }

    @Override
    public String toString() {
        return head + " at " + version + ", late " + late + "\n" + seats;
    }
}
