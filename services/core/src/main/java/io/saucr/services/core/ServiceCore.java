package io.saucr.services.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Decides what a service does: which input runs next (K1), what is recorded (K3), what may leave
 * when (K2, K4, K5), what is sent again (K6), what is a duplicate (K7), which births talk to each
 * other (K11, K15), which input is put aside (K12) and who is behind its own past (K14). No I/O, no
 * threads, no state.clock: the service's turn thread drives it, and so do simulator and model
 * checker.
 *
 * <p>A start: construct, {@link #recover} the base and each Delta above it, {@link #begin}. Then,
 * again and again: events ({@link #linkUp}, {@link #frame}, {@link #linkDown}, {@link #result},
 * {@link #moved}); {@link #tick}; {@link #next}, and where that gives an input, exactly one of
 * {@link #commit}, {@link #answered}, {@link #failed}, {@link #forbidden}, {@link #unknownType},
 * before any other event. Whatever returns actions: do them at once, in their order. Calls out of
 * that order throw {@link IllegalStateException}.
 */
public final class ServiceCore {

    /** No service or client has this in its name, so channels of the core's own are told apart. */
    public static final char RESERVED = '#';

    /** What a message became that was withdrawn: it is consumed, and no handler runs. */
    public static final Body NOTHING = new Body("#nothing", new byte[0]);

    private static final long FORGET_EVERY_MILLIS = 60L * 60 * 1000;

    /** Which inputs may run, for back pressure (K13). */
    public enum Intake {
        /** All. */
        ALL,
        /** None of outside clients. */
        SERVICES,
        /** None; acks and folding continue. */
        NOTHING
    }

    private final String name;
    private final CoreState state;
    private final Past past;
    private final Attempts attempts;
    private final Askers askers = new Askers();
    private final Inputs inputs;
    private final Release release;
    private final Recorder recorder;
    private final Pairs pairs;
    private final TurnEnding ending;
    private final AdminCommands admin;
    private final CoreReport report;

    /** The start that ran the newest turn of those that were recovered. */
    private long recoveredOf;

    private long forgetAtMillis;
    private boolean runsAhead;

    /** What is known to be final of what was recovered; null where all is. */
    private Recovered recovered;

    /** What the last final turn left: the newest call, and room that can be made in files. */
    private record Recovered(long turn, long outputs, List<Action.Release> rooms) {}

    /**
     * Begins a start of which it is not known yet under which number: a standby takes what others
     * recorded until it takes over. {@link #under} has to be called before {@link #begin}.
     *
     * @throws IllegalArgumentException where the name holds a {@value #RESERVED}
     */
    public ServiceCore(String name, Limits limits) {
        checkName(name);
        this.name = name;
        state = new CoreState(name, limits);
        past = state.past;
        attempts = state.attempts;
        inputs = new Inputs(state);
        release = new Release(state, askers);
        recorder = new Recorder(state, release);
        pairs = new Pairs(state, askers, inputs, recorder, release);
        ending = new TurnEnding(state, askers, inputs, recorder, release);
        admin = new AdminCommands(state, inputs, recorder, pairs);
        report = new CoreReport(state, inputs, pairs);
    }

    /**
     * Begins a start.
     *
     * @param name of the service
     * @param starts all that its folder knows, with their nonces, this one last (K14)
     * @throws IllegalArgumentException where the name holds a {@value #RESERVED}, or there is no
     *     start or one of another birth
     */
    public ServiceCore(String name, List<Incarnation> starts, Limits limits) {
        this(name, List.of(), starts, limits);
    }

    /**
     * Begins a start of a folder that was given a new birth (K11): the first such start ends all
     * pairs, by a turn.
     *
     * @param formers births that were replaced, the first one first
     */
    public ServiceCore(String name, List<Birth> formers, List<Incarnation> starts, Limits limits) {
        this(name, limits);
        under(formers, starts);
    }

    /**
     * Says under which start this one runs; once, before {@link #begin}.
     *
     * @param births that were replaced, the first one first (K11)
     * @param starts all that are known, with their nonces, this one last (K14)
     * @throws IllegalArgumentException where there is no start or one of another birth
     */
    public void under(List<Birth> births, List<Incarnation> starts) {
        if (state.self != null) {
            throw new IllegalStateException(name + " runs under " + state.self + " already");
        }
        if (starts.isEmpty()) {
            throw new IllegalArgumentException("a service runs under a start of its folder");
        }
        Incarnation last = starts.get(starts.size() - 1);
        if (starts.stream().anyMatch(it -> !it.birth().equals(last.birth()))) {
            throw new IllegalArgumentException("starts of several generations: " + starts);
        }
        state.formers = List.copyOf(births);
        state.ownPast = new OwnPast(starts);
        state.self = last;
    }

    static void checkName(String name) {
        if (name.isBlank() || name.indexOf(RESERVED) >= 0) {
            throw new IllegalArgumentException(
                    "the name of a service or client is not empty and has no '"
                            + RESERVED
                            + "': \""
                            + name
                            + "\"");
        }
    }

    /**
     * From now on the answer of a query waits for a proof that this start was primary after the
     * query came, as {@link Action.Prove} says (C8): elsewhere another start may have gone on, and
     * this one would answer by what is over. Before {@link #begin}.
     */
    public void proveReads() {
        if (state.clock != null) {
            throw new IllegalStateException("whether reads are proven is said before the begin");
        }
        release.proveReads();
    }

    /**
     * From now on the state says behind which turn each start began, and outside clients hear it
     * first (C11). Before {@link #begin}.
     */
    public void keepEpochs() {
        if (state.clock != null) {
            throw new IllegalStateException("whether epochs are kept is said before the begin");
        }
        state.keepsEpochs = true;
    }

    /**
     * From now on replies to outside clients leave at once, while the lease holds (C7, C9): {@link
     * #early} says which, and {@link #provenSince} keeps the lease. With {@link #keepEpochs} and
     * {@link #proveReads}; before {@link #begin}.
     *
     * @param leaseMillis from 1
     * @param links to which they may; others wait for the turn
     */
    public void answerEarly(long leaseMillis, Predicate<Link> links) {
        if (state.clock != null || !state.keepsEpochs || !release.provesReads()) {
            throw new IllegalStateException(
                    "whether replies leave early is said before the begin, of a service that keeps"
                            + " its epochs and proves its reads");
        }
        release.answerEarly(leaseMillis, links);
    }

    /** The service is a member of this group; of none without this. Before {@link #begin}. */
    public void group(Group of) {
        if (state.clock != null) {
            throw new IllegalStateException("which group it is in is said before the begin");
        }
        state.group = of;
    }

    /**
     * Takes what survived: the base, if there is one, then each turn's above it (K9).
     *
     * @throws IllegalArgumentException where it is not of a later turn (K10)
     */
    public void recover(Delta delta) {
        if (state.clock != null) {
            throw new IllegalStateException("recovery ends when the start begins");
        }
        past.apply(delta);
        recoveredOf = delta.incarnation();
    }

    /**
     * Takes a turn that survived and may still be undone, behind all that is final: what it caused
     * waits (D7, D11). After {@link #group}.
     */
    public void keep(Delta delta) {
        recoveredIsFinal();
        recover(delta);
        recorder.kept(delta);
    }

    /** All that was recovered so far is final, unless that was said before. */
    private void recoveredIsFinal() {
        if (recovered == null) {
            recovered = new Recovered(past.turn, past.newestOutput, past.outboxes.over());
            pairs.areFinal();
        }
    }

    /**
     * Everything was recovered and is forced.
     *
     * @param repeated what the service gives itself again and again
     */
    public List<Action> begin(List<Repeat> repeated, Moment at) {
        if (state.self == null) {
            throw new IllegalStateException(
                    "nobody said yet under which start " + name + " runs: call under first");
        }
        state.clock = new ServiceClock(past.nowMillis, at);
        recoveredIsFinal();
        state.finals = Finals.turns(recovered.turn());
        forgetAtMillis = state.clock.nowMillis() + FORGET_EVERY_MILLIS;
        List<Action> out = new ArrayList<>();
        if (state.keepsEpochs) {
            Epochs.Begun epoch = new Epochs.Begun(state.self.number(), past.turn);
            recorder.own(List.of(new Change.EpochBegan(epoch)), out);
        }
        boolean anew = !state.formers.isEmpty() && !state.self.birth().equals(past.bornAs);
        if (anew) {
            beginAnew(out);
        }
        pairs.begin(anew, out);
        past.outputs.forEach(
                (output, body) -> {
                    if (output <= recovered.outputs()) {
                        out.add(recorder.call(output, body));
                    }
                });
        past.outboxes.begin(Optional.ofNullable(past.peers.get(name)));
        out.addAll(recovered.rooms());
        out.addAll(past.outboxes.over());
        List<Change> repeats = inputs.begin(repeated);
        if (!repeats.isEmpty()) {
            recorder.own(repeats, out);
        }
        return out;
    }

    private void beginAnew(List<Action> out) {
        Birth before = past.bornAs == null ? state.formers.get(0) : past.bornAs;
        String reason =
                name
                        + " has a new generation, "
                        + state.self.birth()
                        + ", instead of "
                        + before
                        + " (K11)";
        recorder.own(List.of(new Change.BornAnew(before, state.self.birth(), reason)), out);
    }

    // ---- turns

    /** What time alone brings about; call it before {@link #next}. */
    public List<Action> tick(Moment at) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        if (state.halted) {
            return out;
        }
        long now = state.clock.advance(at);
        inputs.lookAtTimers(now);
        pairs.lookAgain(now, out);
        if (now >= forgetAtMillis) {
            forgetAtMillis = now + FORGET_EVERY_MILLIS;
            pairs.forgetSilentClients(now, out);
        }
        if (past.outboxes.anyOver() && recorder.anyAcks()) {
            // Else room would be made only with the next turn, whenever that is.
            recorder.own(List.of(), out);
        }
        past.outboxes.fetch(!inputs.isFirstReturnedHere(), out);
        if (attempts.anyUnproven() && !runsAhead) {
            inputs.tryFirsts(at, first -> ending.putOnTrial(first, out));
        }
        return out;
    }

    /**
     * What nobody needs any more since turns were recovered, where recovery takes long: room can be
     * made in files whose messages no base needs that is written from now on (K13). Before {@link
     * #begin}, which tells the rest.
     */
    public List<Action.Release> released() {
        if (state.clock != null) {
            throw new IllegalStateException("from its begin on a start releases by actions");
        }
        return past.outboxes.over();
    }

    /**
     * Messages beyond their windows, of all turns that were recovered or recorded since this was
     * asked before: each is to be kept in a file, until {@link Action.Release} (K13). Before a base
     * names them the files are forced; a start cuts off what its base does not name, as it is told
     * of that again. Ask before {@link Action.Fetch} is done.
     */
    public List<Stored> stored() {
        return past.outboxes.stored();
    }

    /**
     * What was asked for by {@link Action.Fetch}, without gaps.
     *
     * @param messages at least one
     */
    public List<Action> fetched(long stream, long after, List<Change.Unacked> messages) {
        expectIdle();
        Optional<Peer> peer = past.outboxes.fetched(stream, after, messages, past.turn);
        List<Action> out = new ArrayList<>();
        if (peer.isEmpty()) {
            for (Change.ReturnIs back : past.outboxes.back(stream, after, messages)) {
                past.returned.put(back.id(), back.returned());
            }
            inputs.look(Inputs.RETURNED);
        } else if (peer.get().key.equals(name)) {
            inputs.look(name);
        } else {
            pairs.fetched(peer.get(), out);
        }
        return state.unlessHalted(out);
    }

    /** The input of the next turn (K1), which runs from now on; empty where none may run. */
    public Optional<Input> next(Moment at) {
        expectIdle();
        return state.halted ? Optional.empty() : inputs.next(at);
    }

    /**
     * The inputs of the next turns, in their order if nothing else happens meanwhile. The first one
     * is that of {@link #next}; the others may run ahead of their turns.
     */
    public List<Ahead> expected(int most, Moment at) {
        expectIdle();
        return state.halted ? List.of() : inputs.expected(most, at);
    }

    /** Whether an input runs ahead of its turn now: then none is put on trial (K12). */
    public void runsAhead(boolean any) {
        runsAhead = any;
    }

    static String nameOf(String key) {
        int end = key.indexOf(RESERVED);
        return end < 0 ? key : key.substring(0, end);
    }

    /**
     * In how many milliseconds {@link #tick} or {@link #next} has something to do though nothing
     * happens; {@link Long#MAX_VALUE} for never. Asked when {@link #next} gave nothing.
     */
    public long waitMillis(Moment at) {
        long now = state.clock.advance(at);
        long next = Math.min(forgetAtMillis, pairs.nextLookMillis());
        return Math.min(
                Math.min(inputs.waitMillis(now), attempts.waitMillis(at.steadyMillis())),
                Math.max(1, next - now));
    }

    /** Whether any input waits for its turn, may it run now or not. */
    public boolean hasInputs() {
        return inputs.any();
    }

    /** The time of the turn that runs, or of the last one (K16). */
    public long nowMillis() {
        return state.clock.nowMillis();
    }

    /** Which inputs may run from now on (K13). */
    public void take(Intake which) {
        inputs.take(which);
    }

    /**
     * The handler returned: what is to be appended to the journal, with what it changed in the
     * state (K3).
     *
     * @throws IllegalArgumentException where a reply is to somebody who does not wait, or a name is
     *     not one; the input still runs
     */
    public Delta commit(Effects effects) {
        return ending.commit(effects);
    }

    /**
     * Something proved the office that began then, by the steady state.clock: the lease begins
     * anew.
     */
    public void provenSince(long steadyMillis) {
        release.provenSince(steadyMillis);
    }

    /**
     * Replies of the turn that was committed last, which leave before that is final (C7, C9). To be
     * asked once the turn was given away to become final, and before any other event.
     */
    public List<Action> early(Moment at) {
        expectIdle();
        return release.early(at);
    }

    /**
     * The input was a query: nothing is recorded, and its answer leaves when the newest turn is
     * final (K4), and proven where {@link #proveReads} says so. Only for {@link Input.Outside}.
     */
    public List<Action> answered(Body answer) {
        return ending.answered(answer);
    }

    /** The same; the answer leaves at once where {@link #answerEarly} says so (C7, C9). */
    public List<Action> answered(Body answer, Moment at) {
        return ending.answered(answer, at);
    }

    /** The handler threw: nothing of it remains; tried again later, or put aside (K12). */
    public List<Action> failed(String reason, Moment at) {
        return ending.failed(reason, at);
    }

    /** The sender may not send this: put aside without another attempt (K12). */
    public List<Action> forbidden(String reason) {
        return ending.forbidden(reason);
    }

    /** No handler takes this type: its channel waits for a start that has one (K12). */
    public List<Action> unknownType() {
        return ending.unknownType();
    }

    /**
     * A message came back, and no handler takes it: put aside, as its channel would wait for a
     * release that nobody may ever write (K12). What this service refused to itself lies aside
     * already.
     */
    public List<Action> unclaimed() {
        return ending.unclaimed();
    }

    private void expectIdle() {
        if (state.clock == null) {
            throw new IllegalStateException("the start has not begun");
        }
        if (inputs.running() != null) {
            throw new IllegalStateException(
                    "a turn runs; end it first: " + inputs.running().input());
        }
    }

    /**
     * Sends a message that no input led to, in a turn of its own: the call of an outside client,
     * for whom this core keeps numbers and outbox. {@link #sentTo} says its number afterwards.
     *
     * @throws IllegalArgumentException where the name is not one
     */
    public List<Action> submit(String service, Body body) {
        expectIdle();
        checkName(service);
        List<Action> out = new ArrayList<>();
        if (!state.halted) {
            recorder.own(List.of(new Change.Sent(service, 0, Optional.empty(), body)), out);
            inputs.look(name);
        }
        return out;
    }

    /**
     * Takes a message back that was not consumed for good: under its number nothing is sent from
     * now on, in a turn of its own. One that was acked, or waits in a file, stays.
     *
     * @param count as {@link #sentTo} said it
     */
    public List<Action> withdraw(String service, long count) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        if (!state.halted && past.peers.containsKey(service)) {
            recorder.own(List.of(new Change.Withdrawn(service, count)), out);
        }
        return out;
    }

    /** Where a number of the pair is in the count of all messages to a service. */
    public long countOf(String service, long number) {
        Peer peer = past.peers.get(service);
        return peer == null ? number : peer.countOf(number);
    }

    /** Whether a message that is submitted now stays in memory, and needs no file (K13). */
    public boolean staysInMemory(String service, Body body) {
        Peer peer = past.peers.get(service);
        return peer == null
                || past.outboxes.hasRoom(peer, new Change.Unacked(0, 0, 0, Optional.empty(), body));
    }

    /**
     * A turn that no input led to, for what the runtime changes in the state (K3); empty where the
     * service must not continue.
     */
    public Optional<Delta> note() {
        expectIdle();
        return state.halted ? Optional.empty() : Optional.of(recorder.record(List.of()));
    }

    // ---- what is final

    /**
     * More may be told: what it was that caused leaves (K4, K5, C8). What was told before stays so,
     * where this says less.
     *
     * @throws IllegalArgumentException where there was no such turn or read
     */
    public List<Action> moved(Finals now) {
        expectIdle();
        if (now.group() > past.turn) {
            throw new IllegalArgumentException(
                    "turn " + now.group() + " cannot be final, as the newest is " + past.turn);
        }
        release.expectRead(now.reads());
        state.finals = state.finals.and(now);
        attempts.finalUpTo(state.finals.outside());
        pairs.finalUpTo(state.finals.outside());
        return release.moved();
    }

    /**
     * Turns above this one are undone, and this core with them (K21); all up to it is final, and
     * leaves. Requests without a number of the others, or of no turn yet, are refused, as they did
     * not happen; what has a number comes again (K6). The last event.
     */
    public List<Action> undone(long upTo, String reason) {
        return undone(upTo, upTo, reason);
    }

    /**
     * The same where turns up to {@code kept} stay, and are not final: nobody hears what became of
     * requests of those (D11).
     */
    public List<Action> undone(long upTo, long kept, String reason) {
        List<Action> out = new ArrayList<>(moved(Finals.turns(Math.min(upTo, past.turn))));
        if (!state.halted) {
            release.undone(kept, reason, out);
            inputs.outside().forEach(it -> askers.refuse(it.caller(), it.request(), reason, out));
        }
        return out;
    }

    /** A call to the world returned (K17); becomes an input where there is an answer. */
    public List<Action> result(long output, Optional<Body> answer) {
        expectIdle();
        if (past.outputs.containsKey(output)) {
            if (answer.isPresent()) {
                inputs.result(output, answer.get());
            } else if (!inputs.hasResult(output)) {
                recorder.done(new Change.OutputDone(output));
            }
        }
        return new ArrayList<>();
    }

    // ---- links and frames

    /**
     * A link is there, and the other end's name is known.
     *
     * @throws IllegalArgumentException where the name holds a {@value #RESERVED}
     */
    public List<Action> linkUp(Link link) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        if (!link.outside()) {
            checkName(link.peer());
        }
        pairs.linkUp(link, out);
        return state.unlessHalted(out);
    }

    /** A link is closed. What was sent over it and not acked is sent again over the next (K6). */
    public List<Action> linkDown(Link link) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        pairs.linkDown(link, out);
        return state.unlessHalted(out);
    }

    /** A frame came over a link; one over a link that is closed already is dropped. */
    public List<Action> frame(Link link, Frame frame, Moment at) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        if (!state.halted && pairs.isThere(link)) {
            state.clock.advance(at);
            pairs.frame(link, frame, out);
        }
        return state.halted ? onlyHalt(out) : out;
    }

    private static List<Action> onlyHalt(List<Action> out) {
        return out.stream().filter(it -> it instanceof Action.Halt).toList();
    }

    /** What an operator may order between two turns. */
    public AdminCommands admin() {
        expectIdle();
        return admin;
    }

    // ---- questions

    /** How channels, dead letters, timers and calls are, for people. */
    public CoreReport report() {
        return report;
    }

    /** All that the turns so far did, as one Delta of the newest turn: the base (K10). */
    public Delta snapshot() {
        return past.snapshot(state.self == null ? recoveredOf : state.self.number());
    }

    /** The newest turn; 0 before the first. */
    public long newestTurn() {
        return past.turn;
    }

    /** How far what was done can be told. */
    public Finals finals() {
        return state.finals;
    }

    /** How many messages to this service were sent by all turns so far. */
    public long sentTo(String service) {
        Peer peer = past.peers.get(service);
        return peer == null ? 0 : peer.sent;
    }

    /** Whether the turn that consumed that message is final at the receiver (K5). */
    public boolean acked(String service, long number) {
        Peer peer = past.peers.get(service);
        return peer != null && number >= 1 && peer.isAcked(number);
    }

    /** How many pairs ended so far, in this start. */
    public long pairsOver() {
        return past.pairsOver;
    }

    /**
     * Whether nothing can answer a message any more: the generation consumed it with which the pair
     * is over (K11). What it did not consume comes back instead (K15).
     */
    public boolean isOrphan(String service, long number) {
        Peer peer = past.peers.get(service);
        return peer != null
                && !service.equals(name)
                && peer.isAcked(number)
                && (!peer.known || number <= peer.numbersAfter);
    }

    /** How many messages came again and were dropped, in this start (K7). */
    public long duplicates() {
        return pairs.duplicates();
    }

    /** The largest id that was given to a timer. */
    public long newestTimer() {
        return past.newestTimer;
    }

    /** Whether that timer is set; not the one whose turn this is, as it went off. */
    public boolean isSet(long timer) {
        return inputs.isSet(timer);
    }

    /** What a client without a birth is called as a caller: by its link. */
    public static String caller(Link link) {
        return Askers.caller(link);
    }

    /** Whether such a caller is a client without a birth, who is known by its link alone. */
    public static boolean isLinkOnly(String caller) {
        return Askers.isLinkOnly(caller);
    }

    /**
     * Stands for the generations of this service and of a peer, to which numbers of messages belong
     * (K11): the same after each start, and another one for each other pair. 0 for the service
     * itself, which keeps its numbers, and where there is no pair.
     */
    public long pairWith(String peer) {
        Peer other = past.peers.get(peer);
        if (other == null || other.birth == null || peer.equals(name)) {
            return 0;
        }
        Birth mine = state.self.birth();
        long mixed = 31 * (31 * mine.high() + mine.low()) + 31 * other.birth.high();
        mixed += other.birth.low();
        return mixed == 0 ? 1 : mixed;
    }

    /** Whether the sender of that message waits for an answer of a later turn. */
    public boolean waits(String peer, long number) {
        return past.waits(peer, number) || askers.waits(peer, number);
    }

    /** Whether a call to the world has not returned, or its result has had no turn (K17). */
    public boolean isOpen(long output) {
        return past.outputs.containsKey(output);
    }
}
