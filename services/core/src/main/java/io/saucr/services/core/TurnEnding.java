package io.saucr.services.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Ends the turn that runs: records what its handler did (K3), answers what needs no record, tries
 * again later what failed, and puts aside what cannot be done (K12). Turn thread.
 */
final class TurnEnding {

    private final String name;
    private final Limits limits;
    private final CoreState state;
    private final Past past;
    private final Attempts attempts;
    private final Askers askers;
    private final Inputs inputs;
    private final Recorder recorder;
    private final Release release;

    TurnEnding(CoreState state, Askers askers, Inputs inputs, Recorder recorder, Release release) {
        this.state = state;
        this.askers = askers;
        this.inputs = inputs;
        this.recorder = recorder;
        this.release = release;
        name = state.name;
        limits = state.limits;
        past = state.past;
        attempts = state.attempts;
    }

    /**
     * The handler returned: what is to be appended to the journal, with what it changed in the
     * state (K3).
     *
     * @throws IllegalArgumentException where a reply is to somebody who does not wait, or a name is
     *     not one; the input still runs
     */
    Delta commit(Effects effects) {
        Inputs.Running ended = expectRunning();
        check(ended.input(), effects);
        List<Change> changes = new ArrayList<>();
        consumption(ended, changes);
        if (effects.detached()) {
            detach(ended, changes);
        }
        List<Release.Later> answers = new ArrayList<>();
        release.beginTurn();
        for (Effects.Send send : effects.sends()) {
            changes.add(new Change.Sent(send.service(), 0, Optional.empty(), send.body()));
        }
        boolean answered = false;
        for (Effects.Reply reply : effects.replies()) {
            answered |= reply(ended, reply, changes, answers);
        }
        for (Effects.TimerSet timer : effects.timers()) {
            changes.add(new Change.TimerSet(timer.id(), timer.dueMillis(), timer.body()));
        }
        for (long id : effects.cancelled()) {
            if (inputs.isSet(id)) {
                changes.add(new Change.TimerGone(id));
            }
        }
        if (effects.newestTimer() > past.newestTimer) {
            changes.add(new Change.TimersUpTo(effects.newestTimer()));
        }
        for (Body output : effects.outputs()) {
            changes.add(new Change.OutputMade(output));
        }
        if (ended.input() instanceof Input.Outside ask && !answered && !effects.detached()) {
            answers.add(
                    later(
                            ask.caller(),
                            ask.request(),
                            () -> release.answer(ask, Optional.empty())));
        }
        Delta delta = recorder.record(changes);
        answers.forEach(release::after);
        inputs.consumed(ended, delta.turn());
        return delta;
    }

    /** An answer of the turn that is about to be recorded. */
    private Release.Later later(String caller, long request, Runnable what) {
        return new Release.Later(past.turn + 1, what, caller, request);
    }

    private void check(Input input, Effects effects) {
        effects.sends().forEach(send -> ServiceCore.checkName(send.service()));
        for (Effects.Reply reply : effects.replies()) {
            if (!Askers.isCaller(input, reply.peer(), reply.number())
                    && !waits(reply.peer(), reply.number())) {
                throw new IllegalArgumentException(
                        "number "
                                + reply.number()
                                + " of "
                                + reply.peer()
                                + " does not wait for an answer");
            }
        }
        if (effects.detached()
                && !(input instanceof Input.Message || input instanceof Input.Outside)) {
            throw new IllegalArgumentException("nobody waits for an answer to this input");
        }
    }

    private void detach(Inputs.Running ended, List<Change> changes) {
        if (ended.input() instanceof Input.Message message) {
            changes.add(new Change.Waits(message.peer(), message.number()));
        } else if (ended.input() instanceof Input.Outside ask) {
            askers.detach(ask);
        }
    }

    /** Whether the answer is to the input that ends. */
    private boolean reply(
            Inputs.Running ended,
            Effects.Reply reply,
            List<Change> changes,
            List<Release.Later> answers) {
        boolean mine = Askers.isCaller(ended.input(), reply.peer(), reply.number());
        if (Askers.isLinkOnly(reply.peer())) {
            if (askers.take(reply.peer(), reply.number()).isPresent() || mine) {
                Release.Reply given = release.reply(Optional.empty(), reply);
                // Without the request, as many wait to be covered.
                answers.add(later(reply.peer(), reply.number(), () -> release.isFinal(given)));
            }
        } else {
            if (!mine || waits(reply.peer(), reply.number())) {
                changes.add(new Change.Answered(reply.peer(), reply.number()));
            }
            changes.add(
                    new Change.Sent(reply.peer(), reply.number(), Optional.empty(), reply.body()));
            if (reply.peer().indexOf(ServiceCore.RESERVED) >= 0) {
                release.reply(Optional.of(reply.peer()), reply);
            }
        }
        return mine;
    }

    private void consumption(Inputs.Running ended, List<Change> changes) {
        switch (ended.channel()) {
            case Inputs.TIMERS -> {
                if (ended.input() instanceof Input.Repeat repeat) {
                    changes.add(nextRepeat(repeat));
                } else {
                    changes.add(new Change.TimerGone(ended.id()));
                }
            }
            case Inputs.RESULTS -> changes.add(new Change.OutputDone(ended.id()));
            case Inputs.RETURNED -> changes.add(new Change.ReturnTaken(ended.id()));
            case Inputs.OUTSIDE -> {}
            default -> {
                Incarnation from =
                        ended.channel().equals(name)
                                ? state.self
                                : state.conversation(ended.channel()).met;
                changes.add(new Change.Consumed(ended.channel(), Count.of(ended.id(), from)));
            }
        }
        if (past.tried.containsKey(ended.channel())) {
            changes.add(new Change.Tried(ended.channel(), "", 0));
        }
    }

    private Change nextRepeat(Input.Repeat repeat) {
        Change.RepeatDue due = past.repeats.get(repeat.body().type());
        long missed = Math.max(0, state.clock.nowMillis() - due.dueMillis()) / due.periodMillis();
        return new Change.RepeatDue(
                due.type(),
                due.periodMillis(),
                due.dueMillis() + (missed + 1) * due.periodMillis());
    }

    /**
     * The input was a query: nothing is recorded, and its answer leaves when the newest turn is
     * final (K4), and proven where {@link Release#proveReads} says so. Only for {@link
     * Input.Outside}.
     */
    List<Action> answered(Body answer) {
        Inputs.Running ended = expectRunning();
        if (!(ended.input() instanceof Input.Outside ask)) {
            throw new IllegalStateException(
                    "a query is a request without a number; this input is recorded by a turn");
        }
        inputs.consumed(ended, past.turn);
        return release.read(ask, () -> release.answer(ask, Optional.of(answer)));
    }

    /** The same; the answer leaves at once where {@link Release#answerEarly} says so (C7, C9). */
    List<Action> answered(Body answer, Moment at) {
        Inputs.Running ended = expectRunning();
        if (!(ended.input() instanceof Input.Outside ask)) {
            return answered(answer);
        }
        Optional<Link> link = release.early(ask, at);
        if (link.isEmpty()) {
            return answered(answer);
        }
        inputs.consumed(ended, past.turn);
        return release.answerEarly(link.get(), ask, answer, at);
    }

    /** The handler threw: nothing of it remains; tried again later, or put aside (K12). */
    List<Action> failed(String reason, Moment at) {
        Inputs.Running ended = expectRunning();
        if (ended.input() instanceof Input.Outside ask) {
            return refuse(ended, ask, reason);
        }
        inputs.ended();
        inputs.again(ended.channel());
        List<Action> out = new ArrayList<>();
        if (attempts.failed(ended.channel(), at.steadyMillis())) {
            if (limits.deadLetters()) {
                park(ended, reason, out);
            } else {
                attempts.stop(ended.channel());
            }
        }
        return out;
    }

    /** The sender may not send this: put aside without another attempt (K12). */
    List<Action> forbidden(String reason) {
        Inputs.Running ended = expectRunning();
        if (ended.input() instanceof Input.Outside ask) {
            return refuse(ended, ask, reason);
        }
        inputs.ended();
        List<Action> out = new ArrayList<>();
        park(ended, reason, out);
        return out;
    }

    /** No handler takes this type: its channel waits for a start that has one (K12). */
    List<Action> unknownType() {
        Inputs.Running ended = expectRunning();
        if (ended.input() instanceof Input.Outside ask) {
            return refuse(ended, ask, name + " takes no " + ask.body().type());
        }
        inputs.ended();
        inputs.again(ended.channel());
        attempts.stop(ended.channel());
        List<Action> out = new ArrayList<>();
        if (past.tried.containsKey(ended.channel())) {
            // It killed nothing, and may wait for many starts.
            own(List.of(new Change.Tried(ended.channel(), "", 0)), out);
        }
        return out;
    }

    /**
     * A message came back, and no handler takes it: put aside, as its channel would wait for a
     * release that nobody may ever write (K12). What this service refused to itself lies aside
     * already.
     */
    List<Action> unclaimed() {
        Inputs.Running ended = expectRunning();
        Input.Returned returned = (Input.Returned) ended.input();
        List<Action> out = new ArrayList<>();
        if (returned.service().equals(name)) {
            List<Change> changes = new ArrayList<>();
            consumption(ended, changes);
            inputs.ended();
            own(changes, out);
            inputs.consumed(ended, past.turn);
            return out;
        }
        if (!limits.deadLetters()) {
            return unknownType();
        }
        inputs.ended();
        park(
                ended,
                "it came back from "
                        + returned.service()
                        + ", and no handler takes back "
                        + returned.body().type()
                        + ": "
                        + returned.reason(),
                out);
        return out;
    }

    private List<Action> refuse(Inputs.Running ended, Input.Outside ask, String reason) {
        inputs.consumed(ended, past.turn);
        return release.read(
                ask,
                () -> {
                    Frame.Refused refused = new Frame.Refused(ask.request(), reason);
                    askers.link(ask.caller())
                            .ifPresent(it -> release.leaves(new Action.Send(it, refused)));
                });
    }

    /** Puts an input aside by a turn of its own, which tells the sender, too (K12). */
    private void park(Inputs.Running input, String reason, List<Action> out) {
        List<Change> changes = new ArrayList<>();
        consumption(input, changes);
        changes.add(
                input.input() instanceof Input.Returned returned
                        ? new Change.ReturnParked(input.channel(), reason, returned)
                        : new Change.Parked(input.channel(), reason, input.input().body()));
        if (input.input() instanceof Input.Message message) {
            changes.add(
                    new Change.Sent(
                            message.peer(), message.number(), Optional.of(reason), message.body()));
        }
        own(changes, out);
        inputs.consumed(input, past.turn);
    }

    /** Notes that an input is about to be tried, or puts aside what had all its attempts (K12). */
    void putOnTrial(Inputs.Running first, List<Action> out) {
        String channel = first.channel();
        String input = describe(first);
        Past.Attempt before = past.tried.get(channel);
        int times = before != null && before.input().equals(input) ? before.times() : 0;
        if (attempts.isSpent(times)) {
            String reason = "the process died " + times + " times while it was tried";
            if (limits.deadLetters()) {
                inputs.remove(channel);
                park(first, reason, out);
            } else {
                attempts.stop(channel);
            }
            return;
        }
        own(List.of(new Change.Tried(channel, input, times + 1)), out);
        attempts.recorded(channel, times + 1, past.turn);
    }

    private static String describe(Inputs.Running first) {
        return first.id() + " " + first.input().body().type();
    }

    private boolean waits(String peer, long number) {
        return past.waits(peer, number) || askers.waits(peer, number);
    }

    private Inputs.Running expectRunning() {
        return inputs.expectRunning();
    }

    private void own(List<Change> changes, List<Action> out) {
        recorder.own(changes, out);
    }
}
