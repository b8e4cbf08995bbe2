package io.saucr.services.core.speculation;

import io.saucr.services.core.Birth;
import io.saucr.services.core.speculation.Coordinator.Action;
import io.saucr.services.core.speculation.GroupMember.Entry;
import io.saucr.services.core.speculation.GroupMember.Frame;
import io.saucr.services.core.speculation.GroupMember.Layer;
import io.saucr.services.core.speculation.GroupMember.MessageId;
import io.saucr.services.core.speculation.GroupMember.Request;
import io.saucr.services.core.speculation.GroupMember.Sent;
import io.saucr.services.core.speculation.GroupMember.Turn;
import io.saucr.services.core.speculation.GroupMember.Up;
import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.Versions.Taking;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * A group of three members, over {@link Versions} and {@link Coordinator}, with the znode that is
 * its head, and all that may happen next: turns, seals, fsyncs, frames on their way, crashes that
 * keep any part of what is not synced, writes of the head that land late or never, links with the
 * coordinator that are cut, members that become coordinator while another one is. After each step
 * it is checked that nothing that is final is undone, and that no final turn took a message that
 * its sender does not know. One thread.
 */
final class Group {

    static final int MEMBERS = 3;

    /** What may happen. */
    enum Kind {
        REQUEST,
        DELIVER,
        SEAL,
        FORCE,
        UP,
        DOWN,
        LINK,
        CLAIM,
        LAND,
        HEAR,
        RETURN,
        // Faults, and what need not happen.
        BREAK,
        LATE,
        CRASH,
        CUT,
        OVERDUE,
        HASTY,
        LEAVE
    }

    /**
     * A step.
     *
     * @param member whose
     * @param other a number that it has, another member as a rule
     */
    record Step(Kind kind, int member, int other) {

        boolean fault() {
            return kind.compareTo(Kind.BREAK) >= 0;
        }

        @Override
        public String toString() {
            return kind + " " + member + (other < 0 ? "" : " " + other);
        }
    }

    private final GroupSize size;
    private final Broken broken;
    private final GroupMember[] members;
    private final boolean[] own = new boolean[MEMBERS];
    private GroupHead head;
    private int version;
    private List<Request> late = List.of();

    /** The cuts with which each world began, from the second one on. */
    private List<VersionVector> decided = List.of();

    private final Map<Kind, Integer> used = new EnumMap<>(Kind.class);
    private String violation;

    /** All run, and the first one coordinates. */
    Group(GroupSize size, Broken broken) {
        this.size = size;
        this.broken = broken;
        members = new GroupMember[MEMBERS];
        List<GroupHead.Member> named = new ArrayList<>();
        for (int member = 0; member < MEMBERS; member++) {
            members[member] = new GroupMember(member);
            own[member] = true;
            named.add(
                    new GroupHead.Member(
                            "m" + member, new Birth(1, member), 0, OptionalLong.empty()));
        }
        head = new GroupHead(1, 1, 0, "m0:1", 1, named);
        version = 1;
        Coordinator first = Coordinator.of(head, version);
        for (int member = 0; member < MEMBERS; member++) {
            first = first.listed(member, members[member].versions.listing()).coordinator();
        }
        members[0].coordinator = first;
    }

    private Group(Group of) {
        size = of.size;
        broken = of.broken;
        members = of.members.clone();
        head = of.head;
        version = of.version;
        late = of.late;
        decided = of.decided;
        used.putAll(of.used);
    }

    /**
     * A copy after steps.
     *
     * @param steps as {@link Step#toString} has them, with a comma and a blank between two
     */
    Group after(String steps) {
        Group now = this;
        for (String each : steps.isBlank() ? new String[0] : steps.strip().split(", +")) {
            Step next =
                    now.all().stream()
                            .filter(it -> it.toString().equals(each))
                            .findFirst()
                            .orElseThrow(() -> new IllegalArgumentException("no " + each));
            now = now.after(next);
        }
        return now;
    }

    /** A copy after a step. */
    Group after(Step step) {
        Group next = new Group(this);
        try {
            next.take(step);
            next.check();
        } catch (IllegalStateException | IllegalArgumentException e) {
            next.fail(e.toString());
        }
        return next;
    }

    String violation() {
        return violation;
    }

    private void fail(String what) {
        violation = violation == null ? what : violation;
    }

    private GroupMember member(int index) {
        if (!own[index]) {
            members[index] = members[index].copy();
            own[index] = true;
        }
        return members[index];
    }

    /** All that decides what may follow. */
    String text() {
        StringBuilder text = new StringBuilder(2_500);
        for (GroupMember each : members) {
            text.append(each.text()).append('\n');
        }
        return text.append(head)
                .append(version)
                .append(late)
                .append(decided)
                .append(used)
                .toString();
    }

    // ---- what may happen

    /** In an order that is the same wherever the text is. */
    List<Step> steps() {
        List<Step> steps = all();
        return steps.size() > 1 && isCalm() ? steps.subList(0, 1) : steps;
    }

    /**
     * Whether nothing can be undone any more: there are no faults left, and nothing is under way of
     * those that were. The order of what follows does not matter then.
     */
    private boolean isCalm() {
        if (isAllowed(Kind.CRASH, size.crashes())
                || isAllowed(Kind.HASTY, size.claims())
                || isAllowed(Kind.CUT, size.cuts())
                || isAllowed(Kind.BREAK, size.breaks())
                || isAllowed(Kind.OVERDUE, size.overdue())
                || isAllowed(Kind.LEAVE, size.leaves())
                || !late.isEmpty()
                || !leads(head.leader(), head.epoch())) {
            return false;
        }
        long world = head.world();
        Coordinator leader = members[head.leader()].coordinator;
        return !leader.isWriting()
                && leader.head().equals(head)
                && Arrays.stream(members)
                        .allMatch(
                                it ->
                                        it.runs
                                                && !it.leaving
                                                && it.leader == head.leader()
                                                && it.epoch == head.epoch()
                                                && it.request == null
                                                && it.isOnlyOf(world));
    }

    private List<Step> all() {
        List<Step> steps = new ArrayList<>();
        for (GroupMember each : members) {
            int m = each.index;
            if (each.runs && !each.leaving) {
                if (size.program().isAsked(m) && each.consumed(-1) < size.requests()) {
                    steps.add(new Step(Kind.REQUEST, m, -1));
                }
                for (int from = 0; from < MEMBERS; from++) {
                    if (!members[from].out.get(m).isEmpty()) {
                        steps.add(new Step(Kind.DELIVER, m, from));
                    }
                }
                if (each.versions.hasTurns()) {
                    steps.add(new Step(Kind.SEAL, m, -1));
                } else if (isAllowed(Kind.LEAVE, size.leaves())
                        && each.told.size() == each.history().size()) {
                    steps.add(new Step(Kind.LEAVE, m, -1));
                }
            }
            if (each.forced < each.journal.size()) {
                steps.add(new Step(Kind.FORCE, m, -1));
            }
            if (!each.up.isEmpty()) {
                steps.add(new Step(Kind.UP, m, -1));
            }
            if (!each.down.isEmpty()) {
                steps.add(new Step(Kind.DOWN, m, -1));
            }
            if (!each.ended
                    && leads(head.leader(), head.epoch())
                    && (each.leader != head.leader() || each.epoch < head.epoch())
                    && (each.versions.hasPassed() || broken == Broken.D10_REPORTED_BEFORE_PASSED)) {
                steps.add(new Step(Kind.LINK, m, -1));
            }
            if (each.ended) {
                steps.add(new Step(Kind.RETURN, m, -1));
            } else if (each.request == null && each.coordinator == null) {
                if (isLeaderLost() && m == firstUp()) {
                    steps.add(new Step(Kind.CLAIM, m, -1));
                } else if (!isLeaderLost() && isAllowed(Kind.HASTY, size.claims())) {
                    steps.add(new Step(Kind.HASTY, m, -1));
                }
            }
            if (each.request != null) {
                boolean landed = each.request.done() != null;
                steps.add(new Step(landed ? Kind.HEAR : Kind.LAND, m, -1));
                if (isAllowed(Kind.BREAK, size.breaks())) {
                    steps.add(new Step(Kind.BREAK, m, -1));
                }
            }
            if (!each.ended && isAllowed(Kind.CRASH, size.crashes())) {
                for (int kept = each.forced; kept <= each.journal.size(); kept++) {
                    steps.add(new Step(Kind.CRASH, m, kept));
                }
            }
            if (each.leader >= 0
                    && each.leader != m
                    && each.runs
                    && isAllowed(Kind.CUT, size.cuts())) {
                steps.add(new Step(Kind.CUT, m, -1));
            }
            if (each.leader < 0
                    && leads(head.leader(), head.epoch())
                    && isAllowed(Kind.OVERDUE, size.overdue())) {
                steps.add(new Step(Kind.OVERDUE, m, head.leader()));
            }
        }
        for (int each = 0; each < late.size(); each++) {
            steps.add(new Step(Kind.LATE, each, -1));
        }
        return steps;
    }

    private boolean isAllowed(Kind kind, int most) {
        return used.getOrDefault(kind, 0) < most;
    }

    private boolean leads(int member, long epoch) {
        return members[member].coordinator != null
                && !members[member].coordinator.isOver()
                && members[member].coordinator.head().epoch() == epoch;
    }

    private int firstUp() {
        return Arrays.stream(members).filter(it -> !it.ended).findFirst().orElseThrow().index;
    }

    /** Nobody coordinates for the head, and nobody is about to. */
    private boolean isLeaderLost() {
        return !leads(head.leader(), head.epoch())
                && Arrays.stream(members).noneMatch(it -> it.request != null && it.request.claim());
    }

    /** Nothing is left to do: all was consumed once, in order, and is final. */
    void checkRest() {
        for (GroupMember each : members) {
            if (!each.runs
                    || each.told.size() != each.history().size()
                    || each.versions.world() != head.world()) {
                fail("it rests with member " + each.index + ":\n" + text());
            }
            if (size.program().isAsked(each.index) && each.consumed(-1) < size.requests()) {
                fail("it rests with requests of member " + each.index);
            }
            for (GroupMember to : members) {
                List<MessageId> sent = each.sent(to.index).stream().map(Sent::id).toList();
                List<MessageId> taken =
                        to.history().stream()
                                .filter(it -> it.from() == each.index)
                                .map(Turn::id)
                                .toList();
                if (!sent.equals(taken)) {
                    fail(each.index + " sent " + sent + ", and " + to.index + " took " + taken);
                }
            }
        }
    }

    private void take(Step step) {
        if (step.fault() && step.kind() != Kind.LATE) {
            used.merge(step.kind(), 1, Integer::sum);
        }
        switch (step.kind()) {
            case REQUEST -> request(member(step.member()));
            case DELIVER -> deliver(member(step.other()), member(step.member()));
            case SEAL -> seal(member(step.member()));
            case FORCE -> force(member(step.member()), member(step.member()).journal.size());
            case UP -> up(member(step.member()));
            case DOWN -> down(member(step.member()));
            case LINK -> link(member(step.member()));
            case CLAIM, HASTY -> claim(member(step.member()));
            case LAND -> land(member(step.member()));
            case HEAR -> hear(member(step.member()));
            case BREAK -> breaks(member(step.member()));
            case LATE -> lateLands(step.member());
            case CRASH -> crash(member(step.member()), step.other());
            case CUT -> unlink(member(step.member()));
            case OVERDUE -> overdue(step.member(), step.other());
            case LEAVE -> leave(member(step.member()));
            case RETURN -> crash(member(step.member()), member(step.member()).journal.size());
        }
        tell();
        dropWhatIsNothing();
    }

    /** Frames that do nothing, whenever they arrive. */
    private void dropWhatIsNothing() {
        if (broken == Broken.D4_LOWER_WORLD_TAKEN) {
            return;
        }
        for (int from = 0; from < MEMBERS; from++) {
            for (int to = 0; to < MEMBERS; to++) {
                List<Frame> frames = members[from].out.get(to);
                if (frames.isEmpty()) {
                    continue;
                }
                long world = members[to].versions.world();
                int consumed = members[to].consumed(from);
                List<Frame> left = new ArrayList<>();
                for (Frame frame : frames) {
                    if (frame instanceof Frame.Hello it && it.world() < world) {
                        if (!members[to].linked[from]) {
                            member(to).linked[from] = true;
                        }
                    } else if (!(frame instanceof Frame.Msg it)
                            || it.of().world() > world
                            || (it.of().world() == world && it.number() > consumed)) {
                        left.add(frame);
                    }
                }
                if (left.size() < frames.size()) {
                    member(from).out.set(to, List.copyOf(left));
                }
            }
        }
    }

    // ---- turns and messages

    private void request(GroupMember it) {
        it.versions = it.versions.turn();
        turn(it, -1, it.consumed(-1) + 1, new MessageId(0, 0));
    }

    private void turn(GroupMember it, int from, int number, MessageId id) {
        List<Sent> sends = new ArrayList<>();
        for (int to : size.program().sends(it.index, from)) {
            sends.add(
                    new Sent(
                            to,
                            it.sent(to).size() + 1,
                            new MessageId(it.versions.world(), it.start)));
        }
        it.open = GroupMember.add(it.open, new Turn(from, number, id, List.copyOf(sends)));
        sends.forEach(each -> send(it, each, it.versions.vertex(it.versions.open())));
    }

    private void send(GroupMember it, Sent message, Vertex of) {
        if (it.linked[message.to()]) {
            put(it, message.to(), new Frame.Msg(message.number(), message.id(), of));
        }
    }

    private static void put(GroupMember it, int to, Frame frame) {
        it.out.set(to, GroupMember.add(it.out.get(to), frame));
    }

    private void sendAgain(GroupMember it, int to, int after) {
        for (Sent each : it.sent(to)) {
            if (each.number() > after) {
                Vertex of = it.versions.vertex(it.versionOf(each));
                if (broken == Broken.D2_EMPTY_VERTEX) {
                    of = it.versions.vertex(it.versions.open());
                } else if (size.files()) {
                    of = it.versions.newestVertex();
                }
                send(it, each, of);
            }
        }
    }

    private void deliver(GroupMember from, GroupMember to) {
        Frame frame = from.out.get(to.index).get(0);
        from.out.set(to.index, GroupMember.rest(from.out.get(to.index)));
        if (frame instanceof Frame.Msg it) {
            arrived(to, from.index, it);
        } else if (frame instanceof Frame.Hello it) {
            to.linked[from.index] = true;
            if (it.world() == to.versions.world() && broken != Broken.D4_NO_RESEND) {
                sendAgain(to, from.index, it.consumed());
            }
        }
    }

    private void arrived(GroupMember to, int from, Frame.Msg it) {
        Taking taking = to.versions.taking(it.of());
        int next = to.consumed(from) + 1;
        Map<Integer, Frame.Msg> held = new TreeMap<>(to.held.get(from));
        boolean lower = taking == Taking.NEVER && broken != Broken.D4_LOWER_WORLD_TAKEN;
        if (it.number() < next || lower) {
            return;
        }
        if (taking == Taking.LATER || it.number() > next) {
            held.putIfAbsent(it.number(), it);
            to.held.set(from, held);
            return;
        }
        // What is held has the number first, if it is kept when it should not be.
        consume(to, from, held.getOrDefault(next, it));
        while (held.remove(to.consumed(from)) != null) {
            // It was taken, here or before.
        }
        Frame.Msg more = held.get(to.consumed(from) + 1);
        to.held.set(from, held);
        if (more != null && to.versions.taking(more.of()) != Taking.LATER) {
            held.remove(more.number());
            arrived(to, from, more);
        }
    }

    private void consume(GroupMember to, int from, Frame.Msg it) {
        Vertex of = it.of();
        if (of.world() != to.versions.world()) {
            // A rule is broken: it is taken as if it were of this world.
            of = new Vertex(of.member(), to.versions.world(), of.version());
        }
        if (broken == Broken.D3_NO_COMMIT_ORDER) {
            to.versions =
                    to.versions.turn(
                            to.versions.open(),
                            of.version() == 0
                                    ? to.versions.dependencies()
                                    : to.versions
                                            .dependencies()
                                            .and(VersionVector.NONE.with(from, of.version())));
        } else if (broken == Broken.D2_NO_DEPENDENCY) {
            to.versions = to.versions.turn();
        } else {
            if (to.versions.taking(of) == Taking.AFTER_A_SEAL) {
                to.seal();
            }
            to.versions = to.versions.took(of);
        }
        turn(to, from, it.number(), it.id());
    }

    // ---- disk

    private void seal(GroupMember it) {
        it.seal();
        if (broken == Broken.D5_REPORTED_BEFORE_SYNC) {
            report(it);
        } else if (!size.slow()) {
            force(it, it.journal.size());
        }
    }

    private void force(GroupMember it, int upTo) {
        for (int entry = it.forced; entry < upTo; entry++) {
            it.versions = it.versions.forced(it.journal.get(entry).record());
        }
        it.forced = upTo;
        if (it.leaving && it.leader >= 0) {
            it.up = GroupMember.add(it.up, new Up.Leaves(it.versions.newest()));
        }
        report(it);
    }

    private void report(GroupMember it) {
        List<Sealed> all = it.versions.reportable();
        if ((broken == Broken.D5_REPORTED_BEFORE_SYNC && it.versions.hasPassed())
                || (broken == Broken.D10_REPORTED_BEFORE_PASSED && !it.versions.hasPassed())) {
            long world = it.versions.world();
            all =
                    it.layers.stream()
                            .map(Layer::version)
                            .map(x -> new Sealed(world, x, it.recordedIn(world, x)))
                            .toList();
        }
        List<Sealed> more = all.stream().filter(x -> x.version() > it.reported).toList();
        if (it.leader >= 0 && it.runs && !more.isEmpty()) {
            it.report(it.versions.world(), more);
            it.reported = more.get(more.size() - 1).version();
        }
    }

    /** What is final leaves: outputs, acks, replies. */
    private void tell() {
        for (int index = 0; index < MEMBERS; index++) {
            GroupMember each = members[index];
            long last = each.versions.finalVersion();
            if (broken == Broken.D7_LEAVES_ONCE_SYNCED && each.forced > 0) {
                last = lastSynced(each);
            }
            List<Turn> left = new ArrayList<>();
            for (Layer layer : each.layers) {
                if (layer.version() <= last) {
                    left.addAll(layer.turns());
                }
            }
            if (left.size() > each.told.size()) {
                member(index).told = List.copyOf(left);
            }
        }
    }

    private static long lastSynced(GroupMember it) {
        long last = 0;
        for (Entry each : it.journal.subList(0, it.forced)) {
            if (each.record() instanceof Sealed sealed) {
                last = sealed.version();
            } else {
                last = ((Passed) each.record()).kept();
            }
        }
        return last;
    }

    // ---- members and their coordinator

    private void link(GroupMember it) {
        GroupMember to = member(head.leader());
        if (broken == Broken.D9_OLD_EPOCH_OBEYED
                && it.leader >= 0
                && members[it.leader].coordinator != null) {
            it.epoch = head.epoch();
            perform(to, to.coordinator.listed(it.index, it.versions.listing()));
            return;
        }
        if (it.leader >= 0) {
            unlink(it);
        }
        it.leader = to.index;
        it.epoch = head.epoch();
        it.down = List.of();
        boolean starts = !it.runs && broken != Broken.D13_START_TRUSTED;
        it.up = List.of(new Up.Lists(listing(it), starts));
        up(it);
        List<Sealed> listed = it.versions.reportable();
        it.reported =
                listed.isEmpty()
                        ? it.versions.boundary().at(it.index)
                        : listed.get(listed.size() - 1).version();
        if (it.leaving && it.leader >= 0) {
            it.up = GroupMember.add(it.up, new Up.Leaves(it.versions.newest()));
        }
    }

    private Listing listing(GroupMember it) {
        if (it.versions.hasPassed()) {
            return it.versions.listing();
        }
        // A rule is broken.
        return it.versions.forced(it.versions.passage()).listing();
    }

    private void unlink(GroupMember it) {
        int from = it.leader;
        it.leader = -1;
        it.up = List.of();
        it.down = List.of();
        if (from >= 0 && members[from].coordinator != null) {
            GroupMember leader = member(from);
            perform(leader, leader.coordinator.unlinked(it.index));
        }
    }

    private void overdue(int index, int by) {
        GroupMember leader = member(by);
        perform(leader, leader.coordinator.overdue(index));
    }

    private void up(GroupMember it) {
        Up what = it.up.get(0);
        it.up = GroupMember.rest(it.up);
        GroupMember to = member(it.leader);
        if (to.coordinator == null) {
            return;
        }
        if (what instanceof Up.Lists lists) {
            if (broken == Broken.D9_DECIDED_UNLISTED && lists.starts()) {
                believeAll(to);
            }
            perform(
                    to,
                    lists.starts()
                            ? to.coordinator.started(it.index, lists.listing())
                            : to.coordinator.listed(it.index, lists.listing()));
        } else if (what instanceof Up.Reports reports) {
            perform(to, to.coordinator.reported(it.index, reports.world(), reports.versions()));
            if (broken == Broken.D8_ANNOUNCED_WHILE_DECIDING && to.coordinator.isWriting()) {
                VersionVector closed = to.coordinator.closed();
                for (int each = 0; each < MEMBERS; each++) {
                    boundary(to, each, reports.world(), closed);
                }
            }
        } else if (what instanceof Up.Leaves leaves) {
            perform(to, to.coordinator.leaving(it.index, leaves.at()));
        }
    }

    private void boundary(GroupMember by, int to, long world, VersionVector closed) {
        if (members[to].leader == by.index) {
            GroupMember it = member(to);
            long epoch = by.coordinator.head().epoch();
            it.down = GroupMember.add(it.down, new Action.Boundary(to, epoch, world, closed));
        }
    }

    /** A rule is broken: all count as having listed what the head knows. */
    private void believeAll(GroupMember to) {
        for (int each = 0; each < MEMBERS; each++) {
            if (members[each].leader != to.index) {
                long cut = to.coordinator.head().decision().cuts().at(each);
                Listing none =
                        new Listing(
                                to.coordinator.head().world(), cut, List.of(), VersionVector.NONE);
                to.coordinator = to.coordinator.listed(each, none).coordinator();
            }
        }
    }

    private void down(GroupMember it) {
        Action what = it.down.get(0);
        it.down = GroupMember.rest(it.down);
        if (what instanceof Action.Decided decided) {
            if (isObeyed(it, decided.epoch()) && decided.decision().world() > it.versions.world()) {
                pass(it, decided.decision());
            }
        } else if (what instanceof Action.Boundary boundary) {
            if (isObeyed(it, boundary.epoch()) && it.runs) {
                it.versions = it.versions.bounded(boundary.world(), boundary.versions());
            }
        } else if (what instanceof Action.Admitted admitted) {
            if (admitted.decision().world() > it.versions.world()) {
                pass(it, admitted.decision());
            } else {
                greet(it);
            }
        } else if (what instanceof Action.Left) {
            it.ended = true;
            it.runs = false;
            unlink(it);
            close(it);
        }
    }

    private static boolean isObeyed(GroupMember it, long epoch) {
        return epoch >= it.epoch;
    }

    /** Passes to the world of a decision. */
    private void pass(GroupMember it, Decision decision) {
        Versions before = it.versions;
        Versions next = passed(it, decision);
        long newest = next.newest();
        boolean openStays = next.hasTurns();
        for (Layer each : it.layers) {
            if (each.version() > newest) {
                if (it.recorded(each.version()).isNone()) {
                    fail(
                            "version "
                                    + each.version()
                                    + " of "
                                    + it.index
                                    + " took nothing, and is lost");
                }
                break;
            }
        }
        boolean allStay = it.layers.stream().allMatch(each -> each.version() <= newest);
        if (!openStays && before.hasTurns() && allStay && before.dependencies().isNone()) {
            fail("the open version of " + it.index + " took nothing, and is lost");
        }
        it.layers = it.upTo(newest);
        it.open = openStays ? it.open : List.of();
        it.versions = next;
        it.journal = GroupMember.add(it.journal, new Entry(next.passage(), List.of()));
        it.reported = decision.cuts().at(it.index);
        compareWithDisk(it);
        greet(it);
        if (broken == Broken.D10_REPORTED_BEFORE_PASSED) {
            report(it);
        }
    }

    private Versions passed(GroupMember it, Decision decision) {
        VersionVector cuts = decision.cuts();
        boolean next = decision.world() == it.versions.world() + 1;
        Coordinator leader = members[head.leader()].coordinator;
        return switch (broken) {
            case D11_KEPT_ALL -> it.passKeeping(decision, on -> true);
            case D11_KEPT_NONE -> it.passKeeping(decision, on -> false);
            case D11_COMPARED_AFTER_A_MISS -> it.passKeeping(decision, cuts::covers);
            case D11_BOUNDARY_FOR_CUT -> {
                VersionVector now = leader == null ? cuts : cuts.and(leader.announced());
                yield it.passKeeping(decision, on -> on.isNone() || (next && now.covers(on)));
            }
            case D11_LEFT_FOR_CUT -> {
                VersionVector now = cuts.and(head.floor());
                yield it.passKeeping(decision, on -> on.isNone() || (next && now.covers(on)));
            }
            default -> it.versions.pass(decision);
        };
    }

    /** What a start would find, if all were synced, is what is here. */
    private void compareWithDisk(GroupMember it) {
        GroupMember other = it.copy();
        other.recover(true);
        if (!other.layers.equals(it.layers)
                || other.versions.world() != it.versions.world()
                || other.versions.newest() != it.versions.newest()) {
            fail("member " + it.index + " has " + it.layers + ", and its disk " + other.layers);
        }
    }

    /** Says the world to all that it talks to, and sends again what it sent. */
    private void greet(GroupMember it) {
        boolean begins = !it.runs;
        it.runs = true;
        for (int peer = 0; peer < MEMBERS; peer++) {
            boolean talks =
                    size.program().talks(it.index, peer) || size.program().talks(peer, it.index);
            if (peer == it.index || !talks) {
                continue;
            }
            if (begins) {
                // Links of its last start end.
                it.out.set(peer, List.of());
                member(peer).held.set(it.index, Map.of());
                it.linked[peer] = members[peer].runs && !members[peer].ended;
            }
            if (it.linked[peer]) {
                put(it, peer, new Frame.Hello(it.versions.world(), it.consumed(peer)));
                if (broken != Broken.D4_NO_RESEND) {
                    sendAgain(it, peer, 0);
                }
            }
            if (broken != Broken.D4_HELD_KEPT) {
                it.held.set(peer, Map.of());
            }
        }
    }

    private void leave(GroupMember it) {
        it.leaving = true;
        if (it.leader >= 0) {
            it.up = GroupMember.add(it.up, new Up.Leaves(it.versions.newest()));
        }
    }

    // ---- crashes

    private void crash(GroupMember it, int kept) {
        Request write = it.request;
        it.request = null;
        if (write != null && write.done() == null) {
            late = GroupMember.add(late, write);
        }
        it.coordinator = null;
        for (int each = 0; each < MEMBERS; each++) {
            if (members[each].leader == it.index && each != it.index) {
                GroupMember follower = member(each);
                follower.leader = -1;
                follower.up = List.of();
                follower.down = List.of();
            }
        }
        unlink(it);
        close(it);
        it.start++;
        it.runs = false;
        it.leaving = false;
        it.ended = false;
        it.epoch = head.epoch();
        it.journal = List.copyOf(it.journal.subList(0, kept));
        it.forced = kept;
        it.recover(broken != Broken.D10_PASSED_NOT_READ);
        if (broken == Broken.D13_START_TRUSTED) {
            greet(it);
        }
    }

    private void close(GroupMember it) {
        for (int peer = 0; peer < MEMBERS; peer++) {
            if (peer != it.index) {
                GroupMember other = member(peer);
                other.linked[it.index] = false;
                other.out.set(it.index, List.of());
                it.held.set(peer, Map.of());
            }
        }
    }

    // ---- the head

    private void claim(GroupMember it) {
        GroupHead next = head.claimed(it.index, it.start * 10L + it.index, "m" + it.index + ":1");
        it.request = new Request(next, version, true, null);
        if (size.claims() + size.breaks() == 0) {
            land(it);
            if (it.request != null) {
                hear(it);
            }
        }
    }

    private boolean set(Request write) {
        if (write.version() != version) {
            return false;
        }
        GroupHead next = write.head();
        // A rule is broken: what was noted stays.
        if (broken == Broken.D13_NOTE_STAYS && next.world() == head.world()) {
            next = withNotes(next);
        }
        if (next.world() > head.world()) {
            decided = GroupMember.add(decided, next.decision().cuts());
        }
        head = next;
        version++;
        late = late.stream().filter(it -> it.version() >= version).toList();
        return true;
    }

    private GroupHead withNotes(GroupHead next) {
        GroupHead noted = next;
        for (int each = 0; each < MEMBERS; each++) {
            OptionalLong left = head.members().get(each).left();
            if (left.isPresent()) {
                noted = noted.left(each, left.getAsLong());
            }
        }
        return noted;
    }

    private void land(GroupMember it) {
        Request write = it.request;
        it.request = new Request(write.head(), write.version(), write.claim(), set(write));
        if (!isAllowed(Kind.CRASH, size.crashes()) && !isAllowed(Kind.BREAK, size.breaks())) {
            hear(it);
        }
    }

    private void lateLands(int index) {
        Request write = late.get(index);
        late = late.stream().filter(it -> !it.equals(write)).toList();
        boolean unused = set(write);
    }

    private void hear(GroupMember it) {
        Request write = it.request;
        it.request = null;
        if (write.done()) {
            done(it, write);
        } else {
            unknown(it, write);
        }
    }

    private void breaks(GroupMember it) {
        Request write = it.request;
        it.request = null;
        if (write.done() == null) {
            late = GroupMember.add(late, write);
        }
        unknown(it, write);
    }

    private void done(GroupMember it, Request write) {
        if (write.claim()) {
            it.coordinator = Coordinator.of(write.head(), write.version() + 1);
        } else {
            perform(it, it.coordinator.wrote(write.version() + 1));
            if (broken == Broken.D13_NOTE_STAYS && !head.equals(write.head())) {
                it.coordinator = Coordinator.of(head, version);
                for (GroupMember each : members) {
                    if (each.leader == it.index) {
                        it.coordinator =
                                it.coordinator
                                        .listed(each.index, each.versions.listing())
                                        .coordinator();
                    }
                }
            }
        }
    }

    /** Reads the head. */
    private void unknown(GroupMember it, Request write) {
        if (write.claim()) {
            if (head.equals(write.head())) {
                done(it, write);
            } else if (version == write.version()) {
                it.request = new Request(write.head(), version, true, null);
            }
            return;
        }
        Coordinator.Next next = it.coordinator.unknown();
        if (!next.actions().isEmpty()) {
            perform(it, next.coordinator().seen(Optional.of(head), version));
        }
    }

    private void perform(GroupMember it, Coordinator.Next next) {
        it.coordinator = next.coordinator();
        for (Action action : next.actions()) {
            if (action instanceof Action.Write write) {
                it.request = new Request(write.head(), write.version(), false, null);
                if (broken == Broken.D8_TOLD_BEFORE_WRITTEN
                        && write.head().world() > it.coordinator.head().world()) {
                    for (int each = 0; each < MEMBERS; each++) {
                        tell(
                                it,
                                each,
                                new Action.Decided(
                                        each, write.head().epoch(), write.head().decision()));
                    }
                }
            } else if (action instanceof Action.Decided decided) {
                tell(it, decided.member(), decided);
            } else if (action instanceof Action.Boundary boundary) {
                tell(it, boundary.member(), boundary);
            } else if (action instanceof Action.Admitted admitted) {
                tell(it, admitted.member(), admitted);
            } else if (action instanceof Action.Left left) {
                tell(it, left.member(), left);
            } else if (action instanceof Action.Refuse refuse) {
                fail("member " + refuse.member() + " is refused: " + refuse.reason());
            } else if (action instanceof Action.Over) {
                over(it);
            }
        }
    }

    private void tell(GroupMember by, int to, Action action) {
        if (members[to].leader != by.index) {
            return;
        }
        GroupMember it = member(to);
        if (action instanceof Action.Boundary
                && (isIdle(to) || !size.slow())
                && it.down.isEmpty()) {
            it.down = List.of(action);
            down(it);
            return;
        }
        List<Action> down = it.down;
        // The newer boundary says all that the older one does.
        if (action instanceof Action.Boundary newer
                && !down.isEmpty()
                && down.get(down.size() - 1) instanceof Action.Boundary older
                && older.world() == newer.world()) {
            down = down.subList(0, down.size() - 1);
        }
        it.down = GroupMember.add(down, action);
    }

    /** Whether a member does nothing but coordinate, perhaps. */
    private boolean isIdle(int member) {
        for (int peer = 0; peer < MEMBERS; peer++) {
            if (size.program().talks(member, peer) || size.program().talks(peer, member)) {
                return false;
            }
        }
        return !size.program().isAsked(member);
    }

    private void over(GroupMember it) {
        it.coordinator = null;
        it.request = null;
        for (int each = 0; each < MEMBERS; each++) {
            if (members[each].leader == it.index) {
                GroupMember follower = member(each);
                follower.leader = -1;
                follower.up = List.of();
                follower.down = List.of();
            }
        }
    }

    // ---- what must hold

    private void check() {
        for (GroupMember each : members) {
            List<Turn> history = each.history();
            if (history.size() < each.told.size()
                    || !history.subList(0, each.told.size()).equals(each.told)) {
                fail(each.index + " told of " + each.told + ", and has " + history);
            }
            for (Turn turn : each.told) {
                if (turn.from() >= 0) {
                    Sent known = new Sent(each.index, turn.number(), turn.id());
                    if (!members[turn.from()].sent(each.index).contains(known)) {
                        fail(turn + " of " + each.index + " is final, and was not sent");
                    }
                }
            }
            long world = each.versions.world();
            for (long after = world; after < head.world(); after++) {
                if (!decided.get((int) after - 1).covers(each.versions.boundary())) {
                    fail(each.index + " heard " + each.versions.boundary() + ", and " + decided);
                }
            }
            for (Entry entry : each.journal) {
                if (entry.record() instanceof Sealed it) {
                    for (int on = 0; on < MEMBERS; on++) {
                        if (it.dependencies().at(on) > it.version()) {
                            fail(it + " of " + each.index + " points upwards");
                        }
                    }
                }
            }
        }
    }
}
