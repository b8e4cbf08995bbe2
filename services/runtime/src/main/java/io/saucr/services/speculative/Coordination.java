package io.saucr.services.speculative;

import io.saucr.services.core.speculation.Coordinator;
import io.saucr.services.core.speculation.Coordinator.Action;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.group.GroupFrame;
import io.saucr.services.group.GroupLink;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Coordinates a group for one epoch: does what a {@link Coordinator} decides with the members'
 * links and the head (D6, D8, D9). The member of this process has no link. The group's thread.
 */
final class Coordination {

    /** What it asks of its owner. */
    interface Owner {

        /** Sets the head on this version; then {@link #wrote} or {@link #unknown}. */
        void write(GroupHead head, int version);

        /** Reads the head; then {@link #seen}. */
        void read();

        /** Says something to the member of this owner. */
        void tell(GroupFrame.Down frame);

        /** It coordinates no more; nothing follows. */
        void over(String reason);
    }

    private final int self;
    private final Owner owner;
    private final long graceNanos;
    private final Map<Integer, GroupLink> links = new HashMap<>();

    /** Since when others wait for a member, by the steady clock. */
    private final Map<Integer, Long> waitedFor = new HashMap<>();

    private Coordinator coordinator;
    private boolean over;

    /**
     * Begins.
     *
     * @param head that the claim of this process wrote
     * @param self index of this process's member
     * @param grace so long others wait for a member before a decision is made without it
     */
    Coordination(GroupHead head, int version, int self, Duration grace, Owner owner) {
        this.self = self;
        this.owner = owner;
        graceNanos = grace.toNanos();
        coordinator = Coordinator.of(head, version);
    }

    /** What the head says, as far as this one has written it. */
    GroupHead head() {
        return coordinator.head();
    }

    /** The names of members without which nothing is decided (D9). */
    List<String> missing() {
        return coordinator.missing().stream().map(it -> head().members().get(it).name()).toList();
    }

    // ---- members

    /** The member of this process says something. */
    void heard(GroupFrame.Up frame) {
        heard(self, frame);
    }

    /** A member says something over a link. */
    void heard(GroupLink link, GroupFrame.Up frame) {
        String name = link.hello().member();
        OptionalInt found = head().indexOf(name);
        if (found.isEmpty()) {
            link.close("the head of the group does not know " + name + " yet");
            return;
        }
        int member = found.getAsInt();
        GroupHead.Member known = head().members().get(member);
        if (!known.birth().equals(link.hello().start().birth())) {
            refuse(
                    link,
                    name
                            + " is generation "
                            + link.hello().start().birth()
                            + ", and the member of that name is generation "
                            + known.birth());
            return;
        }
        GroupLink before = links.get(member);
        if (before != null && before.id() != link.id()) {
            if (before.hello().start().number() > link.hello().start().number()) {
                refuse(link, "a later start of " + name + " is a member");
                return;
            }
            left(before);
            before.close("another link of " + name + " is there");
        }
        links.put(member, link);
        heard(member, frame);
    }

    private static void refuse(GroupLink link, String reason) {
        link.send(new GroupFrame.Refused(reason));
        link.close(reason);
    }

    private void heard(int member, GroupFrame.Up frame) {
        if (frame instanceof GroupFrame.Lists it) {
            perform(
                    it.starts()
                            ? coordinator.started(member, it.listing())
                            : coordinator.listed(member, it.listing()));
        } else if (frame instanceof GroupFrame.Reports it) {
            perform(coordinator.reported(member, it.world(), it.versions()));
        } else if (frame instanceof GroupFrame.Leaves it) {
            perform(coordinator.leaving(member, it.version()));
        }
    }

    /** A link has ended. */
    void left(GroupLink link) {
        OptionalInt member = head().indexOf(link.hello().member());
        if (member.isPresent() && links.remove(member.getAsInt(), link)) {
            perform(coordinator.unlinked(member.getAsInt()));
        }
    }

    /** Looks who is waited for too long; now and then. */
    void look(long nanos) {
        Set<Integer> now = coordinator.waitedFor();
        waitedFor.keySet().retainAll(now);
        for (int member : now) {
            long since = waitedFor.computeIfAbsent(member, it -> nanos);
            if (nanos - since >= graceNanos) {
                waitedFor.put(member, nanos);
                perform(coordinator.overdue(member));
            }
        }
    }

    // ---- the head

    void wrote(int version) {
        perform(coordinator.wrote(version));
    }

    void unknown() {
        perform(coordinator.unknown());
    }

    void seen(Optional<GroupHead> head, int version) {
        perform(coordinator.seen(head, version));
    }

    // ----

    private void perform(Coordinator.Next next) {
        coordinator = next.coordinator();
        for (Action action : next.actions()) {
            perform(action);
        }
    }

    private void perform(Action action) {
        if (action instanceof Action.Write it) {
            owner.write(it.head(), it.version());
        } else if (action instanceof Action.Read) {
            owner.read();
        } else if (action instanceof Action.Decided it) {
            tell(it.member(), new GroupFrame.Decided(it.epoch(), it.decision()));
        } else if (action instanceof Action.Boundary it) {
            tell(it.member(), new GroupFrame.Boundary(it.epoch(), it.world(), it.versions()));
        } else if (action instanceof Action.Admitted it) {
            tell(it.member(), new GroupFrame.Admitted(it.epoch(), it.decision()));
        } else if (action instanceof Action.Left it) {
            tell(it.member(), new GroupFrame.Left(it.epoch()));
        } else if (action instanceof Action.Refuse it) {
            tell(it.member(), new GroupFrame.Refused(it.reason()));
        } else if (action instanceof Action.Over it) {
            owner.over(it.reason());
        }
    }

    private void tell(int member, GroupFrame.Down frame) {
        if (over) {
            return;
        }
        if (member == self) {
            owner.tell(frame);
        } else if (links.containsKey(member)) {
            links.get(member).send(frame);
        }
    }

    /** Ends it: members look for another one. */
    void end(String reason) {
        over = true;
        List.copyOf(links.values()).forEach(it -> it.close(reason));
        links.clear();
    }
}
