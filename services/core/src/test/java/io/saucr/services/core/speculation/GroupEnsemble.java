package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.GroupMember.Request;
import io.saucr.services.core.speculation.GroupStep.Kind;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The znode that is the head of the modelled group, and writes of it that land, get lost on the
 * way, or land late (D8).
 */
final class GroupEnsemble {

    private final Group group;
    private final GroupSize size;
    private final Broken broken;
    private final GroupMember[] members;

    GroupEnsemble(Group group) {
        this.group = group;
        size = group.size;
        broken = group.broken;
        members = group.members;
    }

    void claim(GroupMember it) {
        if (it.coordinator != null) {
            // The head shows another one.
            group.coordination.over(it);
        }
        GroupHead next = group.head.claimed(it.index, unusedNonce(it), "m" + it.index + ":1");
        it.request = new Request(next, group.version, true, null);
        if (size.claims() + size.breaks() == 0) {
            land(it);
            if (it.request != null) {
                hear(it);
            }
        }
    }

    /**
     * One that no other write has; the same wherever that can be, so that states do not differ by
     * what is over.
     */
    private long unusedNonce(GroupMember it) {
        long nonce = 10 * group.head.epoch() + it.index;
        while (isUsed(nonce)) {
            nonce += 1_000;
        }
        return nonce;
    }

    private boolean isUsed(long nonce) {
        return group.head.nonce() == nonce
                || group.late.stream().anyMatch(it -> it.head().nonce() == nonce)
                || Arrays.stream(members)
                        .anyMatch(it -> it.request != null && it.request.head().nonce() == nonce);
    }

    private boolean set(Request write) {
        if (write.version() != group.version) {
            return false;
        }
        GroupHead next = write.head();
        if (broken == Broken.D19_LEFT_NOT_NOTED) {
            next = withoutKnown(next);
        }
        // A rule is broken: what was noted stays.
        if (broken == Broken.D13_NOTE_STAYS && next.world() == group.head.world()) {
            next = withNotes(next);
        }
        if (next.world() > group.head.world()) {
            group.decided = GroupMember.add(group.decided, next.decision().cuts());
        }
        group.head = next;
        group.version++;
        group.late = group.late.stream().filter(it -> it.version() >= group.version).toList();
        return true;
    }

    private GroupHead withNotes(GroupHead next) {
        GroupHead noted = next;
        for (int each = 0; each < Group.MEMBERS; each++) {
            OptionalLong left = group.head.members().get(each).left();
            if (left.isPresent()) {
                noted = noted.left(each, left.getAsLong(), VersionVector.NONE);
            }
        }
        return noted;
    }

    /** A rule is broken: of members that have not left, the cuts alone are in the head. */
    private static GroupHead withoutKnown(GroupHead next) {
        List<GroupHead.Member> members =
                next.members().stream()
                        .map(
                                it ->
                                        new GroupHead.Member(
                                                it.name(),
                                                it.birth(),
                                                it.cut(),
                                                it.left(),
                                                it.left().orElse(it.cut()),
                                                it.gone()))
                        .toList();
        return new GroupHead(
                next.epoch(), next.nonce(), next.leader(), next.address(), next.world(), members);
    }

    /** An operator gives a member up, whatever is under way. */
    void giveUp(int member) {
        long nonce = 10 * group.head.epoch() + Group.MEMBERS;
        while (isUsed(nonce)) {
            nonce += 1_000;
        }
        boolean unused =
                set(new Request(group.head.givenUp(member, nonce), group.version, false, null));
    }

    void land(GroupMember it) {
        Request write = it.request;
        it.request = new Request(write.head(), write.version(), write.claim(), set(write));
        if (!group.isAllowed(Kind.CRASH, size.crashes())
                && !group.isAllowed(Kind.BREAK, size.breaks())) {
            hear(it);
        }
    }

    void lateLands(int index) {
        Request write = group.late.get(index);
        group.late = group.late.stream().filter(it -> !it.equals(write)).toList();
        boolean unused = set(write);
    }

    void hear(GroupMember it) {
        Request write = it.request;
        it.request = null;
        if (write.done()) {
            done(it, write);
        } else {
            unknown(it, write);
        }
    }

    void breaks(GroupMember it) {
        Request write = it.request;
        it.request = null;
        if (write.done() == null) {
            group.late = GroupMember.add(group.late, write);
        }
        unknown(it, write);
    }

    private void done(GroupMember it, Request write) {
        if (write.claim()) {
            it.coordinator = Coordinator.of(write.head(), write.version() + 1);
        } else {
            group.coordination.perform(it, it.coordinator.wrote(write.version() + 1));
            if (broken == Broken.D13_NOTE_STAYS && !group.head.equals(write.head())) {
                it.coordinator = Coordinator.of(group.head, group.version);
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
            if (group.head.equals(write.head())) {
                done(it, write);
            } else if (group.version == write.version()) {
                it.request = new Request(write.head(), group.version, true, null);
            }
            return;
        }
        Coordinator.Next next = it.coordinator.unknown();
        if (!next.actions().isEmpty()) {
            group.coordination.perform(
                    it, next.coordinator().seen(Optional.of(group.head), group.version));
        }
    }
}
