package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.GroupMember.Layer;
import io.saucr.services.core.speculation.GroupMember.Request;
import io.saucr.services.core.speculation.GroupMember.Turn;
import io.saucr.services.core.speculation.GroupMember.Up;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.ArrayList;
import java.util.List;

/**
 * Seals, fsyncs and reports of the modelled group, what leaves once it is final (D5, D7), and
 * crashes that keep any part of what is not synced.
 */
final class GroupDisks {

    private final Group group;
    private final GroupSize size;
    private final Broken broken;
    private final GroupMember[] members;

    GroupDisks(Group group) {
        this.group = group;
        size = group.size;
        broken = group.broken;
        members = group.members;
    }

    void seal(GroupMember it) {
        it.seal();
        if (broken == Broken.D5_REPORTED_BEFORE_SYNC) {
            report(it);
        } else if (!size.slow()) {
            force(it, it.journal.size());
        }
    }

    void force(GroupMember it, int upTo) {
        for (int entry = it.forced; entry < upTo; entry++) {
            it.versions = it.versions.forced(it.journal.get(entry).record());
        }
        it.forced = upTo;
        if (broken != Broken.D10_PASSED_NOT_READ) {
            it.forget();
        }
        if (it.leaving && it.leader >= 0) {
            it.up = GroupMember.add(it.up, new Up.Leaves(it.versions.newest()));
        }
        report(it);
    }

    void report(GroupMember it) {
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
    void tell() {
        for (int index = 0; index < Group.MEMBERS; index++) {
            GroupMember each = members[index];
            long last = each.versions.finalVersion();
            if (broken == Broken.D7_LEAVES_ONCE_SYNCED) {
                last = each.synced();
            }
            List<Turn> left = new ArrayList<>();
            for (Layer layer : each.layers) {
                if (layer.version() <= last) {
                    left.addAll(layer.turns());
                }
            }
            if (left.size() > each.told.size()) {
                group.member(index).told = List.copyOf(left);
            }
        }
    }

    void crash(GroupMember it, int kept) {
        Request write = it.request;
        it.request = null;
        if (write != null && write.done() == null) {
            group.late = GroupMember.add(group.late, write);
        }
        it.coordinator = null;
        for (int each = 0; each < Group.MEMBERS; each++) {
            if (members[each].leader == it.index && each != it.index) {
                GroupMember follower = group.member(each);
                follower.leader = -1;
                follower.up = List.of();
                follower.down = List.of();
            }
        }
        group.coordination.unlink(it);
        group.links.close(it);
        it.runs = false;
        it.leaving = false;
        it.ended = false;
        it.epoch = group.head.epoch();
        it.journal = List.copyOf(it.journal.subList(0, kept));
        it.forced = kept;
        it.recover(broken != Broken.D10_PASSED_NOT_READ);
        it.acked = List.of(0, 0, 0);
        it.calls = it.openCalls();
        if (broken == Broken.D13_START_TRUSTED) {
            group.links.greet(it);
        }
    }
}
