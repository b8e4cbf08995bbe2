package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.GroupMember.Frame;
import io.saucr.services.core.speculation.GroupMember.MessageId;
import io.saucr.services.core.speculation.GroupMember.Sent;
import io.saucr.services.core.speculation.GroupMember.Turn;
import io.saucr.services.core.speculation.Versions.Taking;
import java.util.ArrayList;
import java.util.List;

/** Turns of the modelled group, and the messages between its members (D2 to D4, D12, D17, D18). */
final class GroupLinks {

    private final Group group;
    private final GroupSize size;
    private final Broken broken;
    private final GroupMember[] members;

    GroupLinks(Group group) {
        this.group = group;
        size = group.size;
        broken = group.broken;
        members = group.members;
    }

    void request(GroupMember it) {
        it.versions = it.versions.turn();
        turn(it, -1, it.consumed(-1) + 1, new MessageId(0));
    }

    private void turn(GroupMember it, int from, int number, MessageId id) {
        List<Sent> sends = new ArrayList<>();
        List<Integer> receivers = from < -1 ? List.of() : size.program().sends(it.index, from);
        for (int to : receivers) {
            int next = it.sent(to).size() + 1;
            sends.add(new Sent(to, next, unusedId(it, to, next)));
        }
        it.open = GroupMember.add(it.open, new Turn(from, number, id, List.copyOf(sends)));
        for (Sent each : sends) {
            if (each.to() == it.index) {
                it.calls = GroupMember.add(it.calls, each);
            } else {
                send(it, each, it.versions.vertex(it.versions.open()));
            }
        }
    }

    private MessageId unusedId(GroupMember it, int to, int number) {
        for (int id = 1; ; id++) {
            Sent sent = new Sent(to, number, new MessageId(id));
            if (!it.knows(each -> each.sent().contains(sent))
                    && !it.calls.contains(sent)
                    && !members[to].knows(
                            each -> each.from() == it.index && sent.is(each.number(), each.id()))
                    && it.out.get(to).stream()
                            .noneMatch(
                                    each ->
                                            each instanceof Frame.Msg msg
                                                    && sent.is(msg.number(), msg.id()))) {
                return sent.id();
            }
        }
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
        List<Frame> again = new ArrayList<>();
        int freed = Math.max(it.acked.get(to), it.consumed(Turn.earlyAckOf(to)));
        for (Sent each : it.sent(to)) {
            if (each.number() > Math.max(after, freed)) {
                Vertex of = it.versions.vertex(it.versionOf(each));
                if (broken == Broken.D2_EMPTY_VERTEX) {
                    of = it.versions.vertex(it.versions.open());
                } else if (size.files()) {
                    of = it.versions.newestVertex();
                }
                again.add(new Frame.Msg(each.number(), each.id(), of));
            }
        }
        if (it.linked[to] && !areOnTheirWay(it.out.get(to), again)) {
            again.forEach(each -> put(it, to, each));
        }
    }

    /** Whether they arrive, in their order. */
    private static boolean areOnTheirWay(List<Frame> frames, List<Frame> wanted) {
        int next = 0;
        for (Frame each : frames) {
            if (next < wanted.size() && each.equals(wanted.get(next))) {
                next++;
            }
        }
        return next == wanted.size();
    }

    void deliver(GroupMember from, GroupMember to) {
        Frame frame = from.out.get(to.index).get(0);
        from.out.set(to.index, GroupMember.rest(from.out.get(to.index)));
        if (frame instanceof Frame.Msg it) {
            arrived(to, from.index, it);
        } else if (frame instanceof Frame.Early it) {
            freed(to, from.index, it);
        } else if (frame instanceof Frame.Hello it) {
            compare(to, from.index, it);
            to.linked[from.index] = true;
            if (it.world() == to.versions.world() && broken != Broken.D4_NO_RESEND) {
                sendAgain(to, from.index, it.consumed());
            }
        }
    }

    /** Halts a member that has lost what the other end knows as final (K14, D12). */
    private void compare(GroupMember to, int from, Frame.Hello it) {
        boolean all = broken == Broken.D12_SPECULATIVE_COMPARED;
        int consumed = all ? it.consumed() : it.spared();
        int sent = all ? it.left() : it.sent();
        if (consumed > (all ? to.left(from) : to.sent(from).size())
                || (all ? to.consumed(from) : to.spared(from)) > sent) {
            group.fail(to.index + " is behind its own past, says " + it + " of " + from);
        }
    }

    private void arrived(GroupMember to, int from, Frame.Msg it) {
        int next = to.consumed(from) + 1;
        if (it.number() == next && isTaken(to, it.of())) {
            consume(to, from, it);
        }
    }

    private boolean isTaken(GroupMember to, Vertex of) {
        return to.versions.taking(of) != Taking.SENT_AGAIN
                || (broken == Broken.D4_LOWER_WORLD_TAKEN && of.world() < to.versions.world())
                || (broken == Broken.D4_HIGHER_WORLD_TAKEN && of.world() > to.versions.world());
    }

    /** Frees a message that was consumed early: the version that does so depends on that (D18). */
    private void freed(GroupMember to, int from, Frame.Early it) {
        boolean next = it.number() == to.consumed(Turn.earlyAckOf(from)) + 1;
        if (!next || !isTaken(to, it.of())) {
            return;
        }
        if (broken == Broken.D18_NO_DEPENDENCY) {
            to.versions = to.versions.turn();
        } else {
            take(to, it.of());
        }
        turn(to, Turn.earlyAckOf(from), it.number(), new MessageId(0));
    }

    /** The result of a call is an input in the history of its turn (D17). */
    void result(GroupMember it, int index) {
        Sent call = it.calls.get(index);
        it.calls = it.calls.stream().filter(each -> !each.equals(call)).toList();
        boolean next = call.number() == it.consumed(it.index) + 1;
        if (next && (it.sent(it.index).contains(call) || broken == Broken.D17_NUMBER_ALONE)) {
            it.versions = it.versions.turn();
            turn(it, it.index, call.number(), call.id());
        }
    }

    /** Calls whose results were undone, and not their turns, are made again (D17). */
    void callAgain(GroupMember it) {
        for (Sent each : it.openCalls()) {
            if (!it.calls.contains(each) && broken != Broken.D17_RESULT_LOST) {
                it.calls = GroupMember.add(it.calls, each);
            }
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
            take(to, of);
        }
        turn(to, from, it.number(), it.id());
        if (size.early() && to.linked[from]) {
            put(to, from, new Frame.Early(it.number(), to.versions.vertex(to.versions.open())));
        }
        // It answers the message of that number.
        if (size.program() == Program.ECHO
                && size.program().isAsked(to.index)
                && (it.of().version() == 0 || broken == Broken.D12_ANSWER_IS_AN_ACK)) {
            List<Integer> acked = new ArrayList<>(to.acked);
            acked.set(from, it.number());
            to.acked = List.copyOf(acked);
        }
    }

    private static void take(GroupMember to, Vertex of) {
        if (to.versions.taking(of) == Taking.AFTER_A_SEAL) {
            to.seal();
        }
        to.versions = to.versions.took(of);
    }

    /** Says the world to all that it talks to, and sends again what it sent. */
    void greet(GroupMember it) {
        boolean begins = !it.runs;
        it.runs = true;
        for (int peer = 0; peer < Group.MEMBERS; peer++) {
            boolean talks =
                    size.program().talks(it.index, peer) || size.program().talks(peer, it.index);
            if (peer == it.index || !talks) {
                continue;
            }
            if (begins) {
                // Links of its last start end.
                it.out.set(peer, List.of());
                it.linked[peer] = members[peer].runs && !members[peer].ended;
            }
            if (it.linked[peer]) {
                put(it, peer, hello(it, peer));
                if (broken != Broken.D4_NO_RESEND) {
                    sendAgain(it, peer, 0);
                }
            }
        }
    }

    private Frame.Hello hello(GroupMember it, int peer) {
        return new Frame.Hello(
                it.versions.world(),
                it.consumed(peer),
                it.spared(peer),
                it.sent(peer).size(),
                broken == Broken.D12_SPECULATIVE_COMPARED ? it.left(peer) : 0);
    }

    void close(GroupMember it) {
        for (int peer = 0; peer < Group.MEMBERS; peer++) {
            if (peer != it.index) {
                GroupMember other = group.member(peer);
                other.linked[it.index] = false;
                other.out.set(it.index, List.of());
            }
        }
    }

    /** Frames that do nothing, whenever they arrive. */
    void dropWhatIsNothing() {
        if (broken == Broken.D4_LOWER_WORLD_TAKEN) {
            return;
        }
        for (int from = 0; from < Group.MEMBERS; from++) {
            for (int to = 0; to < Group.MEMBERS; to++) {
                List<Frame> frames = members[from].out.get(to);
                if (!frames.isEmpty()) {
                    int sender = from;
                    int receiver = to;
                    List<Frame> left =
                            frames.stream().filter(it -> !isNothing(it, sender, receiver)).toList();
                    if (left.size() < frames.size()) {
                        group.member(from).out.set(to, left);
                    }
                }
            }
        }
    }

    private boolean isNothing(Frame frame, int from, int to) {
        GroupMember it = members[to];
        long world = it.versions.world();
        if (frame instanceof Frame.Msg msg) {
            return msg.of().world() < world
                    || (msg.of().world() == world && msg.number() <= it.consumed(from));
        }
        if (frame instanceof Frame.Early early) {
            return early.of().world() < world;
        }
        Frame.Hello hello = (Frame.Hello) frame;
        if (hello.world() > world || (hello.world() == world && !isOnItsWay(it, from, hello))) {
            return false;
        }
        compare(it, from, hello);
        if (!it.linked[from]) {
            group.member(to).linked[from] = true;
        }
        return true;
    }

    /** Whether all messages that a greeting asks for are on their way. */
    private boolean isOnItsWay(GroupMember it, int to, Frame.Hello hello) {
        GroupMember copy = it.copy();
        copy.linked[to] = true;
        sendAgain(copy, to, hello.consumed());
        return copy.out.get(to).equals(it.out.get(to));
    }
}
