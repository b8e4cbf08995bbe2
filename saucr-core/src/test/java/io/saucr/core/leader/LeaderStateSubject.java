package io.saucr.core.leader;

import io.saucr.core.ScenarioInput;
import io.saucr.core.ScenarioSubject;
import io.saucr.core.Zxid;
import io.saucr.core.leader.LeaderDecisions.Closing;
import io.saucr.core.leader.LeaderDecisions.Turn;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.CommitRule;
import io.saucr.core.quorum.Quorums;
import io.saucr.core.quorum.View;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A leader with its followers, as its shell sees it. {@code new 1 voters=1,2,3} is elected; {@code
 * serve} lets the epoch begin and everybody connect and synchronise. Times are milliseconds; {@code
 * at=} moves the clock, on any line. {@code round heard=2,3} is a look at everyone after these were
 * heard, and {@code rounds through=500 heard=2,3} all of them up to then, each when the one before
 * asked for it; these do not show pings. What may be committed is committed at once, and an answer
 * to a sync that must come before says so. No-ops are proposed when the scenario says {@code noop}.
 * {@code settled=} is for how long nobody came or went before fast mode is left for a seal.
 */
public final class LeaderStateSubject implements ScenarioSubject {
    private static final long MILLI = 1_000_000;

    private LeaderState<String, String> state;
    private HandOver<String> handOver;
    private CommitRule rule;
    private LeaderDecisions<String, String> decisions;
    private List<Long> voters;
    private List<Long> nextVoters;
    private long self;
    private long now;
    private long last;
    private long again;
    private long committed;
    private long reconfiguration;
    private final Map<Long, FollowerConnection<String>> connections = new TreeMap<>();
    private final Set<Long> withoutViews = new HashSet<>();
    private final List<String> answers = new ArrayList<>();

    @Override
    public List<String> answer(ScenarioInput in) {
        answers.clear();
        now = in.number("at", now / MILLI) * MILLI;
        carryOutCommand(in);
        showDecisions();
        return List.copyOf(answers);
    }

    private void carryOutCommand(ScenarioInput in) {
        switch (in.command()) {
            case "new" -> begin(in);
            case "epoch" -> epoch();
            case "serve" -> {
                epoch();
                for (long sid : voters) {
                    if (sid != self) {
                        connect(sid, in);
                        state.forwarded(connections.get(sid));
                        uptodate(sid);
                    }
                }
            }
            case "connect" -> connect(in.number(), in);
            case "forward" -> state.forwarded(connections.get(in.number()));
            case "uptodate" -> uptodate(in.number());
            case "keepsViews" -> state.keepsViews(connections.get(in.number()));
            case "forwarded" -> answers.add("to " + forwarded());
            case "close" -> state.disconnected(connections.get(in.number()), now);
            case "restarted" -> state.restarted(in.number(), in.number("nonce", 0), now);
            case "propose" -> {
                for (long n = in.number("times", 1); n > 0; n--) {
                    propose();
                    if (!in.has("unlogged")) {
                        state.handedToLog(last, now);
                    }
                }
            }
            case "resume" -> resume(in);
            case "noop" -> proposeNoop();
            case "log" -> state.handedToLog(last, now);
            case "logWaited" -> state.logWaited(in.number() * MILLI, now);
            case "view" -> showView();
            case "reconfigure" -> {
                nextVoters = in.sids("voters");
                state.reconfigure(nextVoters, now);
                reconfiguration = last + 1;
                propose();
                state.handedToLog(last, now);
            }
            case "configured" -> state.configured(in.sids("voters"), now);
            case "ack" -> ack(in);
            case "sync" -> state.sync(in.word(), now);
            case "following" ->
                    state.stillFollowing(connections.get(in.number()), in.number(), now);
            case "round" -> {
                round(in);
                answers.add("again at " + again / (double) MILLI);
            }
            case "rounds" -> {
                long through = in.number("through", 0) * MILLI;
                while (again <= through) {
                    now = again;
                    round(in);
                    decisions.pings.clear();
                    decisions.greetings.clear();
                    int shown = answers.size();
                    showDecisions();
                    if (answers.size() > shown) {
                        answers.add(shown, "at " + now / (double) MILLI);
                    }
                }
                now = through;
            }
            case "look" -> {
                List<Long> unread = in.sids("unread");
                connections.forEach((sid, each) -> each.looked(unread.contains(sid), now));
            }
            case "heard" -> connections.get(in.number()).heard(now);
            case "drain" -> state.drain(now);
            case "handOver" -> {
                long limit = in.number("limit", 1000) * MILLI;
                String refusal = handOver.begin(state, in.number(), limit, now);
                answers.add(refusal == null ? "hand over to server " + handOver.to() : refusal);
            }
            case "lookAtHandOver" -> answers.add(handOver.look(state, now).toString());
            case "pin" -> state.pin(in.text("reason", "an operator asks"), now);
            case "unpin" -> state.unpin();
            case "mode" ->
                    answers.add(
                            (state.draining() ? "draining" : state.mode())
                                    + ", prompt "
                                    + state.promptVoters(now));
            default -> throw in.unknown();
        }
    }

    private void round(ScenarioInput in) {
        in.sids("heard").forEach(sid -> connections.get(sid).heard(now));
        long silent = in.has("diskSilentSince") ? now - in.number("diskSilentSince", 0) * MILLI : 0;
        again = state.round(now, 0, silent, !in.has("notServing"));
        // Whoever is heard answers at once.
        in.sids("heard").forEach(sid -> connections.get(sid).heard(now));
    }

    private void begin(ScenarioInput in) {
        again = now;
        self = in.number();
        voters = in.sids("voters");
        connections.clear();
        handOver = new HandOver<>();
        withoutViews.clear();
        FailureDetector detector =
                new FailureDetector(
                        in.number("interval", 50) * MILLI, in.number("tolerance", 20) * MILLI);
        rule = new CommitRule(self, voters);
        state =
                new LeaderState<>(
                        self,
                        detector,
                        in.number("diskTimeout", 1000) * MILLI,
                        in.number("settled", 5000) * MILLI,
                        rule,
                        new ModeController(
                                voters.size(),
                                (int) in.number("confirmations", 1),
                                detector.ackBoundNanos(),
                                LeaderState.confirmationNanos(detector)),
                        new ReadIndex<>(self),
                        sids ->
                                sids.stream().filter(voters::contains).count()
                                        >= Quorums.bareMajority(voters.size()),
                        now);
        decisions = state.decisions();
    }

    private void epoch() {
        last = Zxid.of(1, 0);
        committed = last;
        state.startEpoch(new ReplicationSet(self, LleMap.empty(), last), last, now);
    }

    /** Goes on behind the seal of a view, with everything committed, as a model does. */
    private void resume(ScenarioInput in) {
        last = in.zxid("last");
        committed = last;
        rule.startEpoch(last);
        ReplicationSet set = new ReplicationSet(self, LleMap.empty(), last);
        for (long sid : in.sids("connected")) {
            long number = rule.connect(sid, true);
            rule.join(sid, number);
            set.join(sid);
            connections.put(sid, state.adopt("server " + sid, sid, number, 1, true, now));
        }
        View view = new View(in.zxid("seal"), voters.size(), in.sids("members"));
        rule.resume(view);
        state.resume(set, null, view, last, committed, now);
    }

    private void connect(long sid, ScenarioInput in) {
        boolean stock = in.sids("stock").contains(sid);
        if (in.sids("withoutViews").contains(sid)) {
            withoutViews.add(sid);
        } else {
            withoutViews.remove(sid);
        }
        connections.put(
                sid, state.connected("server " + sid, sid, !stock, in.number("nonce", 1), now));
    }

    private void propose() {
        ProposalTag tag = state.propose(++last, now);
        proposed("", tag);
    }

    private void proposeNoop() {
        ProposalTag tag = state.proposeNoop(++last, now);
        View view = state.view();
        boolean seal = view != null && view.seal() == last;
        state.handedToLog(last, now);
        proposed(seal ? ", seals " + ScenarioInput.show(view) : "", tag);
    }

    private void proposed(String seal, ProposalTag tag) {
        state.sent(now);
        answers.add(
                ScenarioInput.show(last)
                        + " "
                        + state.mode(last)
                        + seal
                        + (tag == null ? "" : ", with a tag"));
    }

    private void showView() {
        View view = state.view();
        answers.add(
                view == null
                        ? "nothing is sealed"
                        : ScenarioInput.show(view) + " since " + ScenarioInput.show(view.seal()));
        show("followers in it: ", state.connections().stream().filter(state::inView).toList());
    }

    /** The follower has synchronised, and has said before that it keeps views, if it does. */
    private void uptodate(long sid) {
        if (!withoutViews.contains(sid)) {
            state.keepsViews(connections.get(sid));
        }
        state.synced(connections.get(sid), now);
    }

    private String forwarded() {
        List<String> endpoints = new ArrayList<>();
        for (int i = 0; i < state.forwardings(); i++) {
            endpoints.add(state.forwarding(i));
        }
        return endpoints.isEmpty() ? "nobody" : String.join(", ", endpoints);
    }

    private void ack(ScenarioInput in) {
        List<Long> sids = in.sids("by");
        for (long zxid : in.zxids("of")) {
            for (long sid : sids) {
                commit(
                        sid == self
                                ? state.ackedByLeader(zxid, now)
                                : state.acked(connections.get(sid), zxid, now));
                state.settled(now);
            }
        }
    }

    private void commit(long through) {
        while (committed < through) {
            committed++;
            for (String sync = state.nextSyncBefore(committed);
                    sync != null;
                    sync = state.nextSyncBefore(committed)) {
                answers.add("answer " + sync + " before " + ScenarioInput.show(committed));
            }
            state.committed(committed, now);
            answers.add("commit " + ScenarioInput.show(committed));
            if (committed == reconfiguration) {
                state.reconfigured(now);
                voters = nextVoters;
            }
        }
    }

    private void showDecisions() {
        if (decisions.slowDurableNanos() > 0) {
            answers.add("durable after " + decisions.slowDurableNanos() / MILLI + " ms");
        }
        for (Turn turn : decisions.turns()) {
            answers.add(
                    turn.mode()
                            + " after "
                            + ScenarioInput.show(turn.lastProposed())
                            + ": "
                            + turn.reason()
                            + (turn.heldBackNanos() == 0
                                    ? ""
                                    : ", held back for " + turn.heldBackNanos() / MILLI + " ms"));
        }
        if (decisions.drainOver()) {
            answers.add("the drain is over");
        }
        if (decisions.noop()) {
            handOver.noopIsDue();
            answers.add("propose a no-op");
        }
        show("greet ", decisions.greetings());
        show("ping ", decisions.pings());
        decisions.answers().forEach(sync -> answers.add("answer " + sync));
        if (decisions.question() != 0) {
            show("ask " + decisions.question() + " of ", decisions.asked());
        }
        for (Closing<String> each : decisions.closings()) {
            answers.add(
                    "close the connection of "
                            + each.connection().endpoint()
                            + ": "
                            + each.why()
                            + (each.lateNanos() == 0
                                    ? ""
                                    : " by " + each.lateNanos() / MILLI + " ms"));
        }
        if (decisions.stepDownNanos() > 0) {
            answers.add("step down, late for " + decisions.stepDownNanos() / MILLI + " ms");
        }
        decisions.clear();
    }

    private void show(String what, List<FollowerConnection<String>> followers) {
        if (!followers.isEmpty()) {
            answers.add(
                    what
                            + followers.stream()
                                    .map(each -> Long.toString(each.sid()))
                                    .collect(Collectors.joining(",")));
        }
    }
}
