package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.Coordinator.Action;
import io.saucr.services.core.speculation.GroupMember.Entry;
import io.saucr.services.core.speculation.GroupMember.Layer;
import io.saucr.services.core.speculation.GroupMember.Request;
import io.saucr.services.core.speculation.GroupMember.Up;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.List;

/**
 * Members of the modelled group and their coordinator: lists, reports, boundaries, decisions, and
 * the passage to a world (D6, D8 to D11, D13).
 */
final class GroupCoordination {

    private final Group group;
    private final GroupSize size;
    private final Broken broken;
    private final GroupMember[] members;

    GroupCoordination(Group group) {
        this.group = group;
        size = group.size;
        broken = group.broken;
        members = group.members;
    }

    void link(GroupMember it) {
        if (group.isGivenUp(it.index)) {
            // It reads so in the head, and ends.
            group.disks.crash(it, it.journal.size());
            it.ended = true;
            return;
        }
        GroupMember to = group.member(group.head.leader());
        if (broken == Broken.D9_OLD_EPOCH_OBEYED
                && it.leader >= 0
                && members[it.leader].coordinator != null) {
            it.epoch = group.head.epoch();
            perform(to, to.coordinator.listed(it.index, it.versions.listing()));
            return;
        }
        if (it.leader >= 0) {
            unlink(it);
        }
        it.leader = to.index;
        it.epoch = group.head.epoch();
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

    void unlink(GroupMember it) {
        int from = it.leader;
        it.leader = -1;
        it.up = List.of();
        it.down = List.of();
        if (from >= 0 && members[from].coordinator != null) {
            GroupMember leader = group.member(from);
            perform(leader, leader.coordinator.unlinked(it.index));
        }
    }

    void overdue(int index, int by) {
        GroupMember leader = group.member(by);
        perform(leader, leader.coordinator.overdue(index));
    }

    void up(GroupMember it) {
        Up what = it.up.get(0);
        it.up = GroupMember.rest(it.up);
        GroupMember to = group.member(it.leader);
        if (to.coordinator == null) {
            return;
        }
        if (what instanceof Up.Lists lists) {
            if (broken == Broken.D9_DECIDED_UNLISTED && lists.starts()) {
                believeAll(to);
            }
            boolean starts = lists.starts();
            if (to.coordinator.head().isDue()) {
                starts |= broken == Broken.D19_LOSS_KEPT;
                starts &= broken != Broken.D19_START_REMEMBERS;
            }
            perform(
                    to,
                    starts
                            ? to.coordinator.started(it.index, lists.listing())
                            : to.coordinator.listed(it.index, lists.listing()));
        } else if (what instanceof Up.Reports reports) {
            perform(to, to.coordinator.reported(it.index, reports.world(), reports.versions()));
            if (broken == Broken.D8_ANNOUNCED_WHILE_DECIDING && to.coordinator.isWriting()) {
                VersionVector closed = to.coordinator.closed();
                for (int each = 0; each < Group.MEMBERS; each++) {
                    boundary(to, each, reports.world(), closed);
                }
            }
        } else if (what instanceof Up.Leaves leaves) {
            perform(to, to.coordinator.leaving(it.index, leaves.at()));
        }
    }

    private void boundary(GroupMember by, int to, long world, VersionVector closed) {
        if (members[to].leader == by.index) {
            GroupMember it = group.member(to);
            long epoch = by.coordinator.head().epoch();
            it.down = GroupMember.add(it.down, new Action.Boundary(to, epoch, world, closed));
        }
    }

    /** A rule is broken: all count as having listed what the head knows. */
    private void believeAll(GroupMember to) {
        for (int each = 0; each < Group.MEMBERS; each++) {
            if (members[each].leader != to.index) {
                long cut = to.coordinator.head().decision().cuts().at(each);
                Listing none =
                        new Listing(
                                to.coordinator.head().world(), cut, List.of(), VersionVector.NONE);
                to.coordinator = to.coordinator.listed(each, none).coordinator();
            }
        }
    }

    void down(GroupMember it) {
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
                group.links.greet(it);
            }
        } else if (what instanceof Action.Left) {
            it.ended = true;
            it.runs = false;
            unlink(it);
            group.links.close(it);
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
                    group.fail(
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
            group.fail("the open version of " + it.index + " took nothing, and is lost");
        }
        it.layers = it.upTo(newest);
        it.open = openStays ? it.open : List.of();
        group.links.callAgain(it);
        it.versions = next;
        it.journal = GroupMember.add(it.journal, new Entry(next.passage(), List.of()));
        it.reported = decision.cuts().at(it.index);
        compareWithDisk(it);
        group.links.greet(it);
        if (broken == Broken.D10_REPORTED_BEFORE_PASSED) {
            group.disks.report(it);
        }
    }

    private Versions passed(GroupMember it, Decision decision) {
        VersionVector cuts = decision.cuts();
        boolean next = decision.world() == it.versions.world() + 1;
        Coordinator leader = members[group.head.leader()].coordinator;
        return switch (broken) {
            case D11_KEPT_ALL -> it.passKeeping(decision, on -> true);
            case D11_KEPT_NONE -> it.passKeeping(decision, on -> false);
            case D11_COMPARED_AFTER_A_MISS -> it.passKeeping(decision, cuts::covers);
            case D11_BOUNDARY_FOR_CUT -> {
                VersionVector now = leader == null ? cuts : cuts.and(leader.announced());
                yield it.passKeeping(decision, on -> on.isNone() || (next && now.covers(on)));
            }
            case D11_LEFT_FOR_CUT -> {
                VersionVector now = cuts.and(group.head.floor());
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
            group.fail(
                    "member " + it.index + " has " + it.layers + ", and its disk " + other.layers);
        }
    }

    void leave(GroupMember it) {
        it.leaving = true;
        if (it.leader >= 0) {
            it.up = GroupMember.add(it.up, new Up.Leaves(it.versions.newest()));
        }
    }

    void perform(GroupMember it, Coordinator.Next next) {
        it.coordinator = next.coordinator();
        for (Action action : next.actions()) {
            if (action instanceof Action.Write write) {
                it.request = new Request(write.head(), write.version(), false, null);
                if (broken == Broken.D8_TOLD_BEFORE_WRITTEN
                        && write.head().world() > it.coordinator.head().world()) {
                    for (int each = 0; each < Group.MEMBERS; each++) {
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
                group.fail("member " + refuse.member() + " is refused: " + refuse.reason());
            } else if (action instanceof Action.Over) {
                over(it);
            }
        }
    }

    private void tell(GroupMember by, int to, Action action) {
        if (members[to].leader != by.index) {
            return;
        }
        GroupMember it = group.member(to);
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
    boolean isIdle(int member) {
        for (int peer = 0; peer < Group.MEMBERS; peer++) {
            if (size.program().talks(member, peer) || size.program().talks(peer, member)) {
                return false;
            }
        }
        return !size.program().isAsked(member);
    }

    void over(GroupMember it) {
        it.coordinator = null;
        it.request = null;
        for (int each = 0; each < Group.MEMBERS; each++) {
            if (members[each].leader == it.index) {
                GroupMember follower = group.member(each);
                follower.leader = -1;
                follower.up = List.of();
                follower.down = List.of();
            }
        }
    }
}
