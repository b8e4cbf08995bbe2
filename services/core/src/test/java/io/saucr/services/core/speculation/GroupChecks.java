package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.GroupMember.Entry;
import io.saucr.services.core.speculation.GroupMember.MessageId;
import io.saucr.services.core.speculation.GroupMember.Sent;
import io.saucr.services.core.speculation.GroupMember.Turn;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.List;
import java.util.stream.Stream;

/** What must hold of the modelled group after each step, and once nothing is left to do. */
final class GroupChecks {

    private final Group group;
    private final GroupSize size;
    private final GroupMember[] members;

    GroupChecks(Group group) {
        this.group = group;
        size = group.size;
        members = group.members;
    }

    /** Nothing is left to do: all was consumed once, in order, and is final. */
    void checkRest() {
        for (GroupMember each : members) {
            if (group.isGivenUp(each.index)) {
                checkKept(each);
                continue;
            }
            if (!each.runs
                    || each.told.size() != each.history().size()
                    || each.versions.world() != group.head.world()) {
                group.fail("it rests with member " + each.index + ":\n" + group.text());
            }
            if (size.program().isAsked(each.index) && each.consumed(-1) < size.requests()) {
                group.fail("it rests with requests of member " + each.index);
            }
            for (GroupMember to : members) {
                if (group.isGivenUp(to.index)) {
                    continue;
                }
                List<MessageId> sent = each.sent(to.index).stream().map(Sent::id).toList();
                List<MessageId> taken =
                        to.history().stream()
                                .filter(it -> it.from() == each.index)
                                .map(Turn::id)
                                .toList();
                if (!sent.equals(taken)) {
                    group.fail(
                            each.index + " sent " + sent + ", and " + to.index + " took " + taken);
                }
            }
        }
    }

    /**
     * All have of a member that was given up what its cut says or was final by its own fsync,
     * unless one has forgotten what was final of it (D19).
     */
    private void checkKept(GroupMember gone) {
        long cut = group.head.members().get(gone.index).cut();
        for (GroupMember to : members) {
            List<Sent> left =
                    Stream.concat(
                                    gone.upTo(cut).stream().flatMap(it -> it.turns().stream()),
                                    gone.told.stream())
                            .flatMap(it -> it.sent().stream())
                            .filter(it -> it.to() == to.index)
                            .toList();
            List<Sent> taken =
                    to.history().stream()
                            .filter(it -> it.from() == gone.index)
                            .map(it -> new Sent(to.index, it.number(), it.id()))
                            .toList();
            if (!group.isForgotten(gone.index) && !left.containsAll(taken)) {
                group.fail(to.index + " took " + taken + " of a member that has sent " + left);
            }
        }
    }

    void check() {
        for (GroupMember each : members) {
            List<Turn> history = each.history();
            if (history.size() < each.told.size()
                    || !history.subList(0, each.told.size()).equals(each.told)) {
                group.fail(each.index + " told of " + each.told + ", and has " + history);
            }
            if (group.isGivenUp(each.index)) {
                continue;
            }
            for (Turn turn : each.told) {
                if (turn.from() >= 0
                        && !(group.isGivenUp(turn.from()) && group.isForgotten(turn.from()))) {
                    Sent known = new Sent(each.index, turn.number(), turn.id());
                    if (!members[turn.from()].sent(each.index).contains(known)) {
                        group.fail(turn + " of " + each.index + " is final, and was not sent");
                    }
                }
            }
            long world = each.versions.world();
            for (long after = world; after < group.head.world(); after++) {
                if (!group.decided.get((int) after - 1).covers(each.versions.boundary())) {
                    group.fail(
                            each.index
                                    + " heard "
                                    + each.versions.boundary()
                                    + ", and "
                                    + group.decided);
                }
            }
            for (Entry entry : each.journal) {
                if (entry.record() instanceof Sealed it) {
                    for (int on = 0; on < Group.MEMBERS; on++) {
                        if (it.dependencies().at(on) > it.version()) {
                            group.fail(it + " of " + each.index + " points upwards");
                        }
                    }
                }
            }
        }
    }
}
