package io.saucr.services.core.speculation;

import io.saucr.services.core.Birth;
import io.saucr.services.core.speculation.GroupMember.Request;
import io.saucr.services.core.speculation.GroupMember.Sent;
import io.saucr.services.core.speculation.GroupStep.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

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

    final GroupSize size;
    final Broken broken;
    final GroupMember[] members;
    private final boolean[] own = new boolean[MEMBERS];
    GroupHead head;

    /** Of the head. */
    int version;

    /** Writes of the head of processes that do not wait for them any more. */
    List<Request> late = List.of();

    /** The cuts with which each world began, from the second one on. */
    List<VersionVector> decided = List.of();

    /** A bit for each member that has crashed; of no meaning where nobody is given up. */
    private int crashed;

    private final Map<Kind, Integer> used = new EnumMap<>(Kind.class);
    private String violation;

    final GroupLinks links;
    final GroupDisks disks;
    final GroupCoordination coordination;
    final GroupEnsemble ensemble;

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
        links = new GroupLinks(this);
        disks = new GroupDisks(this);
        coordination = new GroupCoordination(this);
        ensemble = new GroupEnsemble(this);
    }

    private Group(Group of) {
        size = of.size;
        broken = of.broken;
        members = of.members.clone();
        head = of.head;
        version = of.version;
        late = of.late;
        decided = of.decided;
        crashed = of.crashed;
        used.putAll(of.used);
        links = new GroupLinks(this);
        disks = new GroupDisks(this);
        coordination = new GroupCoordination(this);
        ensemble = new GroupEnsemble(this);
    }

    /**
     * A copy after steps.
     *
     * @param steps as {@link GroupStep#toString} has them, with a comma and a blank between two
     */
    Group after(String steps) {
        Group now = this;
        for (String each : steps.isBlank() ? new String[0] : steps.strip().split(", +")) {
            GroupStep next =
                    now.all().stream()
                            .filter(it -> it.toString().equals(each))
                            .findFirst()
                            .orElseThrow(() -> new IllegalArgumentException("no " + each));
            now = now.after(next);
        }
        return now;
    }

    /** A copy after a step. */
    Group after(GroupStep step) {
        Group next = new Group(this);
        try {
            next.take(step);
            new GroupChecks(next).check();
        } catch (IllegalStateException | IllegalArgumentException e) {
            next.fail(e.toString());
        }
        return next;
    }

    String violation() {
        return violation;
    }

    void fail(String what) {
        violation = violation == null ? what : violation;
    }

    /** To be changed. */
    GroupMember member(int index) {
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
        long lowest = Arrays.stream(members).mapToLong(it -> it.versions.world()).min().orElse(1);
        return text.append(head)
                .append(version)
                .append(late)
                .append(decided.subList(Math.min((int) lowest - 1, decided.size()), decided.size()))
                .append(used)
                .append(size.givenUp() > 0 ? crashed : 0)
                .toString();
    }

    boolean isGivenUp(int member) {
        return head.members().get(member).isGone();
    }

    /** Whether another one than this may have forgotten what it heard. */
    boolean isForgotten(int member) {
        return (crashed & ~(1 << member)) != 0;
    }

    // ---- what may happen

    /** In an order that is the same wherever the text is. */
    List<GroupStep> steps() {
        List<GroupStep> steps = all();
        if (steps.size() > 1 && isCalm()) {
            return steps.subList(0, 1);
        }
        if (!isAllowed(Kind.CRASH, size.crashes())) {
            // Nothing depends on when this happens.
            for (GroupStep each : steps) {
                if (each.kind() == Kind.FORCE
                        || (each.kind() == Kind.DOWN && coordination.isIdle(each.member()))) {
                    return List.of(each);
                }
            }
        }
        return steps;
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
                || isAllowed(Kind.GIVE_UP, size.givenUp())
                || !late.isEmpty()
                || !leads(head.leader(), head.epoch())) {
            return false;
        }
        long world = head.world();
        Coordinator leader = members[head.leader()].coordinator;
        return !leader.isWriting()
                && leader.head().equals(head)
                && Arrays.stream(members)
                        .filter(it -> !isGivenUp(it.index) || !it.ended)
                        .allMatch(
                                it ->
                                        it.runs
                                                && !it.leaving
                                                && it.leader == head.leader()
                                                && it.epoch == head.epoch()
                                                && it.request == null
                                                && it.isOnlyOf(world));
    }

    private List<GroupStep> all() {
        List<GroupStep> steps = new ArrayList<>();
        for (GroupMember each : members) {
            int m = each.index;
            if (each.runs && !each.leaving) {
                if (size.program().isAsked(m) && each.consumed(-1) < size.requests()) {
                    steps.add(new GroupStep(Kind.REQUEST, m, -1));
                }
                for (int from = 0; from < MEMBERS; from++) {
                    if (!members[from].out.get(m).isEmpty()) {
                        steps.add(new GroupStep(Kind.DELIVER, m, from));
                    }
                }
                for (int call = 0; call < each.calls.size(); call++) {
                    Sent it = each.calls.get(call);
                    // Results in another order than the calls change nothing.
                    if (it.number() <= each.consumed(m) + 1 || !each.sent(m).contains(it)) {
                        steps.add(new GroupStep(Kind.RESULT, m, call));
                    }
                }
                if (each.versions.hasTurns()) {
                    steps.add(new GroupStep(Kind.SEAL, m, -1));
                } else if (isAllowed(Kind.LEAVE, size.leaves())
                        && each.told.size() == each.history().size()) {
                    steps.add(new GroupStep(Kind.LEAVE, m, -1));
                }
            }
            if (each.forced < each.journal.size()) {
                steps.add(new GroupStep(Kind.FORCE, m, -1));
            }
            if (!each.up.isEmpty()) {
                steps.add(new GroupStep(Kind.UP, m, -1));
            }
            if (!each.down.isEmpty()) {
                steps.add(new GroupStep(Kind.DOWN, m, -1));
            }
            if (!each.ended
                    && leads(head.leader(), head.epoch())
                    && (each.leader != head.leader() || each.epoch < head.epoch())
                    && (each.versions.hasPassed() || broken == Broken.D10_REPORTED_BEFORE_PASSED)) {
                steps.add(new GroupStep(Kind.LINK, m, -1));
            }
            boolean gone = isGivenUp(m);
            if (!gone && isAllowed(Kind.GIVE_UP, size.givenUp())) {
                steps.add(new GroupStep(Kind.GIVE_UP, m, -1));
            }
            if (each.ended && !gone) {
                steps.add(new GroupStep(Kind.RETURN, m, -1));
            } else if (!gone && each.request == null && !leads(m, head.epoch())) {
                if (isLeaderLost() && m == firstUp()) {
                    steps.add(new GroupStep(Kind.CLAIM, m, -1));
                } else if (!isLeaderLost() && isAllowed(Kind.HASTY, size.claims())) {
                    steps.add(new GroupStep(Kind.HASTY, m, -1));
                }
            }
            if (each.request != null) {
                boolean landed = each.request.done() != null;
                steps.add(new GroupStep(landed ? Kind.HEAR : Kind.LAND, m, -1));
                if (isAllowed(Kind.BREAK, size.breaks())) {
                    steps.add(new GroupStep(Kind.BREAK, m, -1));
                }
            }
            // A crash right after a start does nothing.
            boolean started = each.runs || each.leader >= 0 || each.coordinator != null;
            boolean crashes = started || each.request != null;
            if (!each.ended && crashes && isAllowed(Kind.CRASH, size.crashes())) {
                for (int kept = each.forced; kept <= each.journal.size(); kept++) {
                    steps.add(new GroupStep(Kind.CRASH, m, kept));
                }
            }
            if (each.leader >= 0
                    && each.leader != m
                    && each.runs
                    && isAllowed(Kind.CUT, size.cuts())) {
                steps.add(new GroupStep(Kind.CUT, m, -1));
            }
            if (each.leader < 0
                    && leads(head.leader(), head.epoch())
                    && isAllowed(Kind.OVERDUE, size.overdue())) {
                steps.add(new GroupStep(Kind.OVERDUE, m, head.leader()));
            }
        }
        for (int each = 0; each < late.size(); each++) {
            steps.add(new GroupStep(Kind.LATE, each, -1));
        }
        return steps;
    }

    boolean isAllowed(Kind kind, int most) {
        return used.getOrDefault(kind, 0) < most;
    }

    private boolean leads(int member, long epoch) {
        return members[member].coordinator != null
                && !members[member].coordinator.isOver()
                && members[member].coordinator.head().epoch() == epoch;
    }

    private int firstUp() {
        return Arrays.stream(members)
                .filter(it -> !it.ended && !isGivenUp(it.index))
                .findFirst()
                .orElseThrow()
                .index;
    }

    /** Nobody coordinates for the head, and nobody is about to. */
    private boolean isLeaderLost() {
        return !leads(head.leader(), head.epoch())
                && Arrays.stream(members).noneMatch(it -> it.request != null && it.request.claim());
    }

    private void take(GroupStep step) {
        if (step.fault() && step.kind() != Kind.LATE) {
            used.merge(step.kind(), 1, Integer::sum);
        }
        switch (step.kind()) {
            case REQUEST -> links.request(member(step.member()));
            case DELIVER -> links.deliver(member(step.other()), member(step.member()));
            case RESULT -> links.result(member(step.member()), step.other());
            case SEAL -> disks.seal(member(step.member()));
            case FORCE -> disks.force(member(step.member()), member(step.member()).journal.size());
            case UP -> coordination.up(member(step.member()));
            case DOWN -> coordination.down(member(step.member()));
            case LINK -> coordination.link(member(step.member()));
            case CLAIM, HASTY -> ensemble.claim(member(step.member()));
            case LAND -> ensemble.land(member(step.member()));
            case HEAR -> ensemble.hear(member(step.member()));
            case BREAK -> ensemble.breaks(member(step.member()));
            case LATE -> ensemble.lateLands(step.member());
            case CRASH -> {
                crashed |= 1 << step.member();
                disks.crash(member(step.member()), step.other());
            }
            case CUT -> coordination.unlink(member(step.member()));
            case OVERDUE -> coordination.overdue(step.member(), step.other());
            case LEAVE -> coordination.leave(member(step.member()));
            case GIVE_UP -> ensemble.giveUp(step.member());
            case RETURN -> disks.crash(member(step.member()), member(step.member()).journal.size());
        }
        disks.tell();
        links.dropWhatIsNothing();
    }
}
