package io.saucr.services.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Decides what may leave when: what a turn caused once it is final (K4), what was read once that is
 * proven, too (C8), replies to outside clients earlier where a lease allows that (C7, C9). Turn
 * thread.
 */
final class Release {

    private final CoreState state;
    private final Past past;
    private final Askers askers;

    /** What waits until a turn is final, in the order of turns (K4). */
    private final ArrayDeque<Later> later = new ArrayDeque<>();

    /** What waits until members of the group may hear of a turn, in the order of turns. */
    private final ArrayDeque<Later> toMembers = new ArrayDeque<>();

    /** Answers that a turn did not record, in their order: they wait for a proof, too (C8). */
    private final ArrayDeque<Read> reads = new ArrayDeque<>();

    private boolean provesReads;

    /** Whether replies may leave before they are covered; null where none ever do (C9). */
    private Lease lease;

    private Predicate<Link> takesEarly;

    /** Replies of the turn that was committed last. */
    private final List<Reply> replies = new ArrayList<>();

    /** Links that hear, with what leaves next, how far turns are covered. */
    private final Set<Link> toCover = new LinkedHashSet<>();

    /** The newest that is to be told so for a query: who saw which turn. */
    private Link lastSeenBy;

    private long lastSeenTurn;

    private long newestRead;
    private List<Action> leaving = new ArrayList<>();
    private Consumer<List<Action>> pairs;

    /** Something of a turn; where it answers a client without a birth, whom, and which request. */
    record Later(long turn, Runnable what, String caller, long request) {}

    private record Read(long number, Later answer) {}

    /** A reply to an outside client: early, or with its turn. */
    static final class Reply {
        final long turn;
        final Optional<String> peer;
        final String caller;
        final long request;

        /** Null once it left: it is waited for to be covered, with many others. */
        Body body;

        Reply(long turn, Optional<String> peer, String caller, long request, Body body) {
            this.turn = turn;
            this.peer = peer;
            this.caller = caller;
            this.request = request;
            this.body = body;
        }
    }

    Release(CoreState state, Askers askers) {
        this.state = state;
        this.askers = askers;
        past = state.past;
    }

    /** Has the other ends of pairs told what became final, behind what waited for that. */
    void tell(Consumer<List<Action>> others) {
        pairs = others;
    }

    void proveReads() {
        provesReads = true;
    }

    boolean provesReads() {
        return provesReads;
    }

    void answerEarly(long leaseMillis, Predicate<Link> links) {
        lease = new Lease(leaseMillis);
        takesEarly = links;
    }

    /** Runs something once a turn is final. */
    void after(long turn, Runnable what) {
        after(new Later(turn, what, null, 0));
    }

    void after(Later what) {
        later.add(what);
    }

    /** Runs something once a turn may be heard there. */
    void after(long turn, Conversation by, Runnable what) {
        (by.isMember() ? toMembers : later).add(new Later(turn, what, null, 0));
    }

    /** It is final, and leaves with all that is. */
    void leaves(Action action) {
        leaving.add(action);
    }

    List<Action> leaving() {
        return leaving;
    }

    void expectRead(long read) {
        if (read > newestRead) {
            throw new IllegalArgumentException(
                    "read " + read + " cannot be proven, as the newest is " + newestRead);
        }
    }

    /** How many answers wait for a proof. */
    int reads() {
        return reads.size();
    }

    /** What was read, and is recorded nowhere, leaves once nothing can undo it (K4, C8). */
    List<Action> read(Input.Outside ask, Runnable what) {
        Later answer = new Later(past.turn, what, ask.caller(), ask.request());
        if (!provesReads) {
            after(answer);
            return moved();
        }
        reads.add(new Read(++newestRead, answer));
        List<Action> out = moved();
        if (!state.halted) {
            out.add(new Action.Prove(newestRead));
        }
        return out;
    }

    /** What may leave now. */
    List<Action> moved() {
        Finals now = state.finals;
        if (lease != null) {
            lease.covered(now.outside());
        }
        run(toMembers, now.group());
        run(later, now.outside());
        while (!reads.isEmpty()
                && reads.element().answer().turn() <= now.outside()
                && reads.element().number() <= now.reads()) {
            reads.remove().answer().what().run();
        }
        pairs.accept(leaving);
        for (Link link : toCover) {
            if (askers.link(Askers.caller(link)).isPresent()) {
                leaving.add(covered(link));
            }
        }
        toCover.clear();
        List<Action> out = leaving;
        leaving = new ArrayList<>();
        return state.unlessHalted(out);
    }

    private static void run(ArrayDeque<Later> waiting, long turn) {
        while (!waiting.isEmpty() && waiting.element().turn() <= turn) {
            waiting.remove().what().run();
        }
    }

    private Action covered(Link link) {
        Mark upTo = new Mark(state.self.number(), state.finals.outside());
        return new Action.Send(link, new Frame.Covered(upTo));
    }

    /** An outside client has come: it hears how far turns are covered, where replies are early. */
    void joined(Link link, List<Action> out) {
        if (lease != null && past.turn <= state.finals.outside()) {
            out.add(covered(link));
        } else if (lease != null) {
            // Over another link it may have seen any turn up to this one.
            coverLater(link);
        }
    }

    /** Nobody hears what it read. */
    void left(Link link) {
        String caller = Askers.caller(link);
        reads.removeIf(it -> it.answer().caller().equals(caller));
    }

    /** Requests of turns above this one, whose answers still wait, did not happen (K21). */
    void undone(long kept, String reason, List<Action> out) {
        if (lease != null) {
            // They may have heard otherwise; the end of their links says that nobody knows.
            return;
        }
        for (Later each : later) {
            if (each.caller() != null && each.turn() > kept) {
                askers.refuse(each.caller(), each.request(), reason, out);
            }
        }
        reads.forEach(
                it -> askers.refuse(it.answer().caller(), it.answer().request(), reason, out));
    }

    void answer(Input.Outside ask, Optional<Body> body) {
        answer(ask.caller(), ask.request(), body);
    }

    private void answer(String caller, long request, Optional<Body> body) {
        askers.link(caller)
                .ifPresent(it -> leaving.add(new Action.Send(it, new Frame.Answer(request, body))));
    }

    /** Once the newest turn is final, its readers hear so; once, where many queries saw it. */
    private void coverLater(Link link) {
        if (past.turn != lastSeenTurn || !link.equals(lastSeenBy)) {
            lastSeenTurn = past.turn;
            lastSeenBy = link;
            after(past.turn, () -> toCover.add(link));
        }
    }

    // ---- replies before their turn is final

    /** A turn is about to be recorded. */
    void beginTurn() {
        replies.clear();
    }

    /** A reply of that turn. */
    Reply reply(Optional<String> peer, Effects.Reply reply) {
        Reply given = new Reply(past.turn + 1, peer, reply.peer(), reply.number(), reply.body());
        if (lease != null) {
            replies.add(given);
        }
        return given;
    }

    /** Its turn is final. */
    void isFinal(Reply reply) {
        if (reply.body != null) {
            answer(reply.caller, reply.request, Optional.of(reply.body));
        } else {
            askers.link(reply.caller).ifPresent(toCover::add);
        }
    }

    void provenSince(long steadyMillis) {
        lease.provenSince(steadyMillis);
    }

    List<Action> early(Moment at) {
        List<Action> out = new ArrayList<>();
        for (Reply reply : replies) {
            Optional<Link> link =
                    reply.peer.isPresent()
                            ? state.conversation(reply.peer.get()).link()
                            : askers.link(reply.caller);
            if (link.filter(takesEarly).isPresent() && lease.holds(at.steadyMillis())) {
                leavesEarly(link.get(), reply.request, reply.turn, reply.body, at, out);
                reply.body = null;
            }
        }
        replies.clear();
        return state.unlessHalted(out);
    }

    /** Where the answer of a query may leave at once (C7, C9). */
    Optional<Link> early(Input.Outside ask, Moment at) {
        return lease == null || !lease.holds(at.steadyMillis())
                ? Optional.empty()
                : askers.link(ask.caller()).filter(takesEarly);
    }

    /** The answer of a query leaves at once. */
    List<Action> answerEarly(Link link, Input.Outside ask, Body answer, Moment at) {
        List<Action> out = new ArrayList<>();
        if (past.turn <= state.finals.outside()) {
            out.add(new Action.Send(link, new Frame.Answer(ask.request(), Optional.of(answer))));
        } else {
            leavesEarly(link, ask.request(), past.turn, answer, at, out);
            coverLater(link);
        }
        return state.unlessHalted(out);
    }

    private void leavesEarly(
            Link link, long request, long turn, Body body, Moment at, List<Action> out) {
        lease.left(turn, at.steadyMillis());
        Mark mark = new Mark(state.self.number(), turn);
        out.add(new Action.Send(link, new Frame.Early(request, mark, body)));
    }
}
