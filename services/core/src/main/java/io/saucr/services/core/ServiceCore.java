package io.saucr.services.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Decides what a service does: which input runs next (K1), what is recorded (K3), what may leave
 * when (K2, K4, K5), what is sent again (K6), what is a duplicate (K7), which births talk to each
 * other (K11, K15), which input is put aside (K12) and who is behind its own past (K14). No I/O, no
 * threads, no clock: the service's turn thread drives it, and so do simulator and model checker.
 *
 * <p>A start: construct, {@link #recover} the base and each Delta above it, {@link #begin}. Then,
 * again and again: events ({@link #linkUp}, {@link #frame}, {@link #linkDown}, {@link #result},
 * {@link #finalUpTo}, {@link #proven}); {@link #tick}; {@link #next}, and where that gives an
 * input, exactly one of {@link #commit}, {@link #answered}, {@link #failed}, {@link #forbidden},
 * {@link #unknownType}, before any other event. Whatever returns actions: do them at once, in their
 * order. Calls out of that order throw {@link IllegalStateException}.
 */
public final class ServiceCore {

    /** No service or client has this in its name, so channels of the core's own are told apart. */
    public static final char RESERVED = '#';

    /** What a message became that was withdrawn: it is consumed, and no handler runs. */
    public static final Body NOTHING = new Body("#nothing", new byte[0]);

    static final String TIMERS = "#timers";
    static final String RESULTS = "#results";
    static final String RETURNED = "#returned";
    static final String OUTSIDE = "#outside";
    private static final String ASKER = "#link ";
    private static final long FORGET_EVERY_MILLIS = 60L * 60 * 1000;

    /** So long nobody looks whether a service was made anew whose birth is of no use. */
    static final long LEFT_MILLIS = 10L * 60 * 1000;

    /** Which inputs may run, for back pressure (K13). */
    public enum Intake {
        /** All. */
        ALL,
        /** None of outside clients. */
        SERVICES,
        /** None; acks and folding go on. */
        NOTHING
    }

    private final String name;
    private final Limits limits;
    private final Past past;
    private final Attempts attempts;
    private final Map<String, Conversation> conversations = new TreeMap<>();
    private final Map<Link, Introduction> links = new LinkedHashMap<>();
    private final Map<String, Link> askers = new HashMap<>();

    /** Services that are not dialled, and until when. */
    private final Map<String, Long> leftUntilMillis = new HashMap<>();

    /** What is recorded with the next turn, whichever that is: acks and outputs without answer. */
    private final Map<String, Change.Acked> newAcks = new LinkedHashMap<>();

    private final List<Change> newDones = new ArrayList<>();

    /** What waits until a turn is final, in the order of turns (K4). */
    private final ArrayDeque<Later> later = new ArrayDeque<>();

    /** Answers that a turn did not record, in their order: they wait for a proof, too (C8). */
    private final ArrayDeque<Read> reads = new ArrayDeque<>();

    private boolean provesReads;
    private boolean keepsEpochs;

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
    private long provenRead;

    /** Channels with an input, in the order in which they run. */
    private final LinkedHashSet<String> ready = new LinkedHashSet<>();

    private final ArrayDeque<Input.Result> results = new ArrayDeque<>();
    private final Set<Long> resultsThere = new HashSet<>();
    private final ArrayDeque<Ask> asks = new ArrayDeque<>();
    private long duplicates;
    private final Set<Input.Outside> detachedAsks = new HashSet<>();
    private final Map<String, Body> repeats = new HashMap<>();

    /** The start that runs, null before it is known, and what its folder knows of others. */
    private Incarnation self;

    private List<Birth> formers;
    private OwnPast ownPast;

    /** The start that ran the newest turn of those that were recovered. */
    private long recoveredOf;

    private ServiceClock clock;
    private Intake intake = Intake.ALL;
    private long finalTurn;
    private long forgetAtMillis;
    private Running running;
    private boolean halted;

    /** What was said on a link: by the other end, and to it. */
    private static final class Introduction {
        Incarnation from;
        Frame.Hello said;
    }

    private record Later(long turn, Runnable what) {}

    private record Read(long number, long turn, String caller, Runnable what) {}

    /** A reply to an outside client: early, or with its turn. */
    private static final class Reply {
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

    private record Ask(Link link, Input.Outside input) {}

    private record Running(String channel, Input input, long id, Optional<String> refusal) {}

    /**
     * Begins a start of which it is not known yet under which number: a standby takes what others
     * recorded until it takes over. {@link #under} has to be called before {@link #begin}.
     *
     * @throws IllegalArgumentException where the name holds a {@value #RESERVED}
     */
    public ServiceCore(String name, Limits limits) {
        checkName(name);
        this.name = name;
        this.limits = limits;
        this.past = new Past(name, limits);
        this.attempts = new Attempts(limits);
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
        if (self != null) {
            throw new IllegalStateException(name + " runs under " + self + " already");
        }
        if (starts.isEmpty()) {
            throw new IllegalArgumentException("a service runs under a start of its folder");
        }
        Incarnation last = starts.get(starts.size() - 1);
        if (starts.stream().anyMatch(it -> !it.birth().equals(last.birth()))) {
            throw new IllegalArgumentException("starts of several generations: " + starts);
        }
        formers = List.copyOf(births);
        ownPast = new OwnPast(starts);
        self = last;
    }

    private static void checkName(String name) {
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
     * From now on the answer of a query waits for a proof that this start was in office after the
     * query came, as {@link Action.Prove} says (C8): elsewhere another start may have gone on, and
     * this one would answer by what is over. Before {@link #begin}.
     */
    public void proveReads() {
        if (clock != null) {
            throw new IllegalStateException("whether reads are proven is said before the begin");
        }
        provesReads = true;
    }

    /**
     * From now on the state says behind which turn each start began, and outside clients hear it
     * first (C11). Before {@link #begin}.
     */
    public void keepEpochs() {
        if (clock != null) {
            throw new IllegalStateException("whether epochs are kept is said before the begin");
        }
        keepsEpochs = true;
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
        if (clock != null || !keepsEpochs || !provesReads) {
            throw new IllegalStateException(
                    "whether replies leave early is said before the begin, of a service that keeps"
                            + " its epochs and proves its reads");
        }
        lease = new Lease(leaseMillis);
        takesEarly = links;
    }

    /**
     * Takes what survived: the base, if there is one, then each turn's above it (K9).
     *
     * @throws IllegalArgumentException where it is not of a later turn (K10)
     */
    public void recover(Delta delta) {
        if (clock != null) {
            throw new IllegalStateException("recovery ends when the start begins");
        }
        past.apply(delta);
        recoveredOf = delta.incarnation();
    }

    /**
     * Everything was recovered and is forced.
     *
     * @param repeated what the service gives itself again and again
     */
    public List<Action> begin(List<Repeat> repeated, Moment at) {
        if (self == null) {
            throw new IllegalStateException(
                    "nobody said yet under which start " + name + " runs: call under first");
        }
        clock = new ServiceClock(past.nowMillis, at);
        finalTurn = past.turn;
        forgetAtMillis = clock.nowMillis() + FORGET_EVERY_MILLIS;
        List<Action> out = new ArrayList<>();
        if (keepsEpochs) {
            own(List.of(new Change.EpochBegan(new Epochs.Begun(self.number(), past.turn))), out);
        }
        boolean anew = !formers.isEmpty() && !self.birth().equals(past.bornAs);
        if (anew) {
            beginAnew(out);
        }
        for (Peer peer : past.peers.values()) {
            if (peer.key.equals(name)) {
                attempts.distrust(name);
                continue;
            }
            Conversation conversation = conversation(peer.key);
            conversation.consumedFinal = peer.consumed;
            conversation.sentFinal = peer.sent;
            if (peer.birth != null) {
                attempts.distrust(peer.key);
            }
            reach(peer, out);
            if (anew && !peer.isWaitedFor()) {
                // It hears at once that the old birth is over, and has back what it sent that.
                out.add(new Action.Reach(peer.key));
            }
        }
        if (past.turn > 0) {
            attempts.distrust(TIMERS);
            attempts.distrust(RESULTS);
            attempts.distrust(RETURNED);
        }
        past.outputs.forEach((output, body) -> out.add(call(output, body)));
        past.outboxes.begin(Optional.ofNullable(past.peers.get(name)));
        out.addAll(past.outboxes.over());
        look(name);
        look(RETURNED);
        beginRepeats(repeated, out);
        return out;
    }

    private void beginAnew(List<Action> out) {
        Birth before = past.bornAs == null ? formers.get(0) : past.bornAs;
        String reason =
                name
                        + " has a new generation, "
                        + self.birth()
                        + ", instead of "
                        + before
                        + " (K11)";
        own(List.of(new Change.BornAnew(before, self.birth(), reason)), out);
    }

    private void beginRepeats(List<Repeat> repeated, List<Action> out) {
        List<Change> changes = new ArrayList<>();
        for (Repeat repeat : repeated) {
            String type = repeat.body().type();
            if (repeats.put(type, repeat.body()) != null) {
                throw new IllegalArgumentException(type + " is repeated twice");
            }
            Change.RepeatDue before = past.repeats.get(type);
            if (before == null || before.periodMillis() != repeat.periodMillis()) {
                long due = clock.nowMillis() + repeat.periodMillis();
                changes.add(new Change.RepeatDue(type, repeat.periodMillis(), due));
            }
        }
        for (String type : past.repeats.keySet()) {
            if (!repeats.containsKey(type)) {
                changes.add(new Change.RepeatGone(type));
            }
        }
        if (!changes.isEmpty()) {
            own(changes, out);
        }
    }

    // ---- turns

    /** What time alone brings about; call it before {@link #next}. */
    public List<Action> tick(Moment at) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        if (halted) {
            return out;
        }
        long now = clock.advance(at);
        lookAtTimers(now);
        if (!leftUntilMillis.isEmpty()) {
            lookAgain(now, out);
        }
        if (now >= forgetAtMillis) {
            forgetAtMillis = now + FORGET_EVERY_MILLIS;
            forgetSilentClients(now, out);
        }
        if (past.outboxes.anyOver() && !newAcks.isEmpty()) {
            // Else room would be made only with the next turn, whenever that is.
            own(List.of(), out);
        }
        past.outboxes.fetch(!isFirstReturnedHere(), out);
        if (attempts.anyUnproven()) {
            tryFirsts(at, out);
        }
        return out;
    }

    private boolean isFirstReturnedHere() {
        return !past.returned.isEmpty()
                && past.returned.firstKey() < past.outboxes.firstReturning();
    }

    /**
     * What nobody needs any more since turns were recovered, where recovery takes long: room can be
     * made in files whose messages no base needs that is written from now on (K13). Before {@link
     * #begin}, which tells the rest.
     */
    public List<Action.Release> released() {
        if (clock != null) {
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
            look(RETURNED);
        } else if (peer.get().key.equals(name)) {
            look(name);
        } else {
            conversation(peer.get().key).say(peer.get(), finalTurn, out);
        }
        return halted ? new ArrayList<>() : out;
    }

    /** Whether services that were left were made anew meanwhile. */
    private void lookAgain(long now, List<Action> out) {
        for (Map.Entry<String, Long> left : List.copyOf(leftUntilMillis.entrySet())) {
            Peer peer = past.peers.get(left.getKey());
            if (left.getValue() <= now) {
                leftUntilMillis.remove(left.getKey());
                if (peer != null) {
                    reach(peer, out);
                }
            }
        }
    }

    private void tryFirsts(Moment at, List<Action> out) {
        for (String channel : List.copyOf(ready)) {
            if (!hasInput(channel)) {
                ready.remove(channel);
                attempts.vanished(channel);
            } else if (takes(channel) && attempts.toRecord(channel, at.steadyMillis())) {
                putOnTrial(channel, out);
            }
        }
    }

    private void putOnTrial(String channel, List<Action> out) {
        Running first = first(channel);
        String input = describe(first);
        Past.Attempt before = past.tried.get(channel);
        int times = before != null && before.input().equals(input) ? before.times() : 0;
        if (attempts.isSpent(times)) {
            String reason = "the process died " + times + " times while it was tried";
            if (limits.deadLetters()) {
                ready.remove(channel);
                park(first, reason, out);
            } else {
                attempts.stop(channel);
            }
            return;
        }
        own(List.of(new Change.Tried(channel, input, times + 1)), out);
        attempts.recorded(channel, times + 1, past.turn);
    }

    private static String describe(Running first) {
        return first.id() + " " + first.input().body().type();
    }

    private void lookAtTimers(long now) {
        if (nextDue() <= now) {
            ready.add(TIMERS);
        }
    }

    private long nextDue() {
        long timer = past.timers.isEmpty() ? Long.MAX_VALUE : past.timers.firstKey().millis();
        return Math.min(
                timer, past.firstRepeat().map(Change.RepeatDue::dueMillis).orElse(Long.MAX_VALUE));
    }

    /** The input of the next turn (K1), which runs from now on; empty where none may run. */
    public Optional<Input> next(Moment at) {
        expectIdle();
        if (halted) {
            return Optional.empty();
        }
        lookAtTimers(clock.advance(at));
        for (Iterator<String> channels = ready.iterator(); channels.hasNext(); ) {
            String channel = channels.next();
            if (!hasInput(channel)) {
                channels.remove();
                attempts.vanished(channel);
            } else if (takes(channel) && attempts.mayRun(channel, finalTurn, at.steadyMillis())) {
                channels.remove();
                running = first(channel);
                attempts.begins(channel);
                return Optional.of(running.input());
            }
        }
        return Optional.empty();
    }

    private boolean takes(String channel) {
        return switch (intake) {
            case ALL -> true;
            case SERVICES -> !isOutside(channel);
            case NOTHING -> false;
        };
    }

    private boolean isOutside(String channel) {
        Peer peer = past.peers.get(channel);
        return channel.equals(OUTSIDE) || (peer != null && peer.outside);
    }

    private void look(String channel) {
        if (hasInput(channel)) {
            ready.add(channel);
        }
    }

    private boolean hasInput(String channel) {
        return switch (channel) {
            case TIMERS -> nextDue() <= clock.nowMillis();
            case RESULTS -> !results.isEmpty();
            case RETURNED -> isFirstReturnedHere();
            case OUTSIDE -> !asks.isEmpty();
            default -> {
                Peer peer = past.peers.get(channel);
                if (peer == null) {
                    yield false;
                }
                yield channel.equals(name)
                        ? peer.first().isPresent()
                        : conversation(channel).held.containsKey(peer.consumed.number() + 1);
            }
        };
    }

    private Running first(String channel) {
        switch (channel) {
            case TIMERS -> {
                return firstTimer();
            }
            case RESULTS -> {
                Input.Result result = results.element();
                return new Running(channel, result, result.output(), Optional.empty());
            }
            case RETURNED -> {
                Map.Entry<Long, Input.Returned> entry = past.returned.firstEntry();
                return new Running(channel, entry.getValue(), entry.getKey(), Optional.empty());
            }
            case OUTSIDE -> {
                Input.Outside input = asks.element().input();
                return new Running(channel, input, input.request(), Optional.empty());
            }
            default -> {
                return firstMessage(past.peers.get(channel));
            }
        }
    }

    private Running firstTimer() {
        Optional<Change.RepeatDue> repeat = past.firstRepeat();
        boolean timerFirst =
                !past.timers.isEmpty()
                        && repeat.map(it -> past.timers.firstKey().millis() <= it.dueMillis())
                                .orElse(true);
        if (timerFirst) {
            Past.Due due = past.timers.firstKey();
            Input.Timer input =
                    new Input.Timer(due.id(), due.millis(), past.timers.firstEntry().getValue());
            return new Running(TIMERS, input, due.id(), Optional.empty());
        }
        Change.RepeatDue due = repeat.orElseThrow();
        Input.Repeat input = new Input.Repeat(due.dueMillis(), repeats.get(due.type()));
        return new Running(TIMERS, input, due.dueMillis(), Optional.empty());
    }

    private Running firstMessage(Peer peer) {
        long number;
        Birth birth;
        Frame.Msg msg;
        if (peer.key.equals(name)) {
            number = peer.floor() + 1;
            birth = self.birth();
            Change.Unacked own = peer.first().orElseThrow().message();
            msg = new Frame.Msg(number, own.answers(), own.refusal(), own.body());
        } else {
            number = peer.consumed.number() + 1;
            birth = peer.birth;
            msg = conversation(peer.key).held.get(number);
        }
        long answers = msg.answers() == 0 ? 0 : peer.countOf(msg.answers());
        Input input;
        if (msg.refusal().isPresent()) {
            input =
                    new Input.Returned(
                            nameOf(peer.key), answers, false, msg.refusal().get(), msg.body());
        } else {
            input =
                    new Input.Message(
                            peer.key, nameOf(peer.key), birth, number, answers, msg.body());
        }
        return new Running(peer.key, input, number, msg.refusal());
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
        long now = clock.advance(at);
        long due = nextDue();
        long timers = due == Long.MAX_VALUE || due <= now ? Long.MAX_VALUE : due - now;
        long next = leftUntilMillis.values().stream().reduce(forgetAtMillis, Math::min);
        return Math.min(
                Math.min(timers, attempts.waitMillis(at.steadyMillis())), Math.max(1, next - now));
    }

    /** Whether any input waits for its turn, may it run now or not. */
    public boolean hasInputs() {
        return ready.stream().anyMatch(this::hasInput);
    }

    /** The time of the turn that runs, or of the last one (K16). */
    public long nowMillis() {
        return clock.nowMillis();
    }

    /** Which inputs may run from now on (K13). */
    public void take(Intake which) {
        intake = which;
    }

    /**
     * The handler returned: what is to be appended to the journal, with what it changed in the
     * state (K3).
     *
     * @throws IllegalArgumentException where a reply is to somebody who does not wait, or a name is
     *     not one; the input still runs
     */
    public Delta commit(Effects effects) {
        Running ended = expectRunning();
        check(effects);
        List<Change> changes = new ArrayList<>();
        consumption(ended, changes);
        if (effects.detached()) {
            detach(ended, changes);
        }
        List<Runnable> answers = new ArrayList<>();
        replies.clear();
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
            if (isSet(id)) {
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
            answers.add(() -> answer(ask, Optional.empty()));
        }
        Delta delta = record(changes);
        answers.forEach(answer -> later.add(new Later(delta.turn(), answer)));
        over(ended, delta.turn());
        return delta;
    }

    private void check(Effects effects) {
        effects.sends().forEach(send -> checkName(send.service()));
        for (Effects.Reply reply : effects.replies()) {
            if (!isCaller(running.input(), reply.peer(), reply.number())
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
                && !(running.input() instanceof Input.Message
                        || running.input() instanceof Input.Outside)) {
            throw new IllegalArgumentException("nobody waits for an answer to this input");
        }
    }

    private static boolean isCaller(Input input, String peer, long number) {
        return switch (kind(input)) {
            case MESSAGE -> {
                Input.Message message = (Input.Message) input;
                yield message.peer().equals(peer) && message.number() == number;
            }
            case OUTSIDE -> {
                Input.Outside ask = (Input.Outside) input;
                yield ask.caller().equals(peer) && ask.request() == number;
            }
            case OTHER -> false;
        };
    }

    private enum Kind {
        MESSAGE,
        OUTSIDE,
        OTHER
    }

    private static Kind kind(Input input) {
        if (input instanceof Input.Message) {
            return Kind.MESSAGE;
        }
        return input instanceof Input.Outside ? Kind.OUTSIDE : Kind.OTHER;
    }

    private void detach(Running ended, List<Change> changes) {
        if (ended.input() instanceof Input.Message message) {
            changes.add(new Change.Waits(message.peer(), message.number()));
        } else if (ended.input() instanceof Input.Outside ask) {
            detachedAsks.add(ask);
        }
    }

    /** Whether the answer is to the input that ends. */
    private boolean reply(
            Running ended, Effects.Reply reply, List<Change> changes, List<Runnable> answers) {
        boolean mine = isCaller(ended.input(), reply.peer(), reply.number());
        if (reply.peer().startsWith(ASKER)) {
            Input.Outside ask = mine ? (Input.Outside) ended.input() : detachedAsk(reply);
            if (ask != null) {
                detachedAsks.remove(ask);
                Reply given = early(Optional.empty(), reply);
                // Without the request, as many wait to be covered.
                answers.add(() -> isFinal(given));
            }
        } else {
            if (!mine || waits(reply.peer(), reply.number())) {
                changes.add(new Change.Answered(reply.peer(), reply.number()));
            }
            changes.add(
                    new Change.Sent(reply.peer(), reply.number(), Optional.empty(), reply.body()));
            if (reply.peer().indexOf(RESERVED) >= 0) {
                early(Optional.of(reply.peer()), reply);
            }
        }
        return mine;
    }

    /** A reply of the turn that is about to be recorded. */
    private Reply early(Optional<String> peer, Effects.Reply reply) {
        Reply given = new Reply(past.turn + 1, peer, reply.peer(), reply.number(), reply.body());
        if (lease != null) {
            replies.add(given);
        }
        return given;
    }

    private void isFinal(Reply reply) {
        if (reply.body != null) {
            answer(reply.caller, reply.request, Optional.of(reply.body));
        } else if (askers.containsKey(reply.caller)) {
            toCover.add(askers.get(reply.caller));
        }
    }

    /** Something proved the office that began then, by the steady clock: the lease begins anew. */
    public void provenSince(long steadyMillis) {
        lease.provenSince(steadyMillis);
    }

    /**
     * Replies of the turn that was committed last, which leave before that is final (C7, C9). To be
     * asked once the turn was given away to become final, and before any other event.
     */
    public List<Action> early(Moment at) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        for (Reply reply : replies) {
            Optional<Link> link =
                    reply.peer.isPresent()
                            ? conversation(reply.peer.get()).link()
                            : Optional.ofNullable(askers.get(reply.caller));
            if (link.filter(takesEarly).isPresent() && lease.holds(at.steadyMillis())) {
                leavesEarly(link.get(), reply.request, reply.turn, reply.body, at, out);
                reply.body = null;
            }
        }
        replies.clear();
        return halted ? new ArrayList<>() : out;
    }

    private void leavesEarly(
            Link link, long request, long turn, Body body, Moment at, List<Action> out) {
        lease.left(turn, at.steadyMillis());
        Mark mark = new Mark(self.number(), turn);
        out.add(new Action.Send(link, new Frame.Early(request, mark, body)));
    }

    private Input.Outside detachedAsk(Effects.Reply reply) {
        return detachedAsks.stream()
                .filter(it -> isCaller(it, reply.peer(), reply.number()))
                .findFirst()
                .orElse(null);
    }

    private void consumption(Running ended, List<Change> changes) {
        switch (ended.channel()) {
            case TIMERS -> {
                if (ended.input() instanceof Input.Repeat repeat) {
                    changes.add(nextRepeat(repeat));
                } else {
                    changes.add(new Change.TimerGone(ended.id()));
                }
            }
            case RESULTS -> changes.add(new Change.OutputDone(ended.id()));
            case RETURNED -> changes.add(new Change.ReturnTaken(ended.id()));
            case OUTSIDE -> {}
            default -> {
                Incarnation from =
                        ended.channel().equals(name) ? self : conversation(ended.channel()).met;
                changes.add(new Change.Consumed(ended.channel(), Count.of(ended.id(), from)));
            }
        }
        if (past.tried.containsKey(ended.channel())) {
            changes.add(new Change.Tried(ended.channel(), "", 0));
        }
    }

    private Change nextRepeat(Input.Repeat repeat) {
        Change.RepeatDue due = past.repeats.get(repeat.body().type());
        long missed = Math.max(0, clock.nowMillis() - due.dueMillis()) / due.periodMillis();
        return new Change.RepeatDue(
                due.type(),
                due.periodMillis(),
                due.dueMillis() + (missed + 1) * due.periodMillis());
    }

    /**
     * The input was a query: nothing is recorded, and its answer leaves when the newest turn is
     * final (K4), and proven where {@link #proveReads} says so. Only for {@link Input.Outside}.
     */
    public List<Action> answered(Body answer) {
        Running ended = expectRunning();
        if (!(ended.input() instanceof Input.Outside ask)) {
            throw new IllegalStateException(
                    "a query is a request without a number; this input is recorded by a turn");
        }
        over(ended, past.turn);
        return leaves(ask, () -> answer(ask, Optional.of(answer)));
    }

    /** The same; the answer leaves at once where {@link #answerEarly} says so (C7, C9). */
    public List<Action> answered(Body answer, Moment at) {
        Running ended = expectRunning();
        if (lease == null
                || !(ended.input() instanceof Input.Outside ask)
                || askers.get(ask.caller()) == null
                || !takesEarly.test(askers.get(ask.caller()))
                || !lease.holds(at.steadyMillis())) {
            return answered(answer);
        }
        over(ended, past.turn);
        Link link = askers.get(ask.caller());
        List<Action> out = new ArrayList<>();
        if (past.turn <= finalTurn) {
            out.add(new Action.Send(link, new Frame.Answer(ask.request(), Optional.of(answer))));
        } else {
            leavesEarly(link, ask.request(), past.turn, answer, at, out);
            coverLater(link);
        }
        return halted ? new ArrayList<>() : out;
    }

    /** The handler threw: nothing of it remains; tried again later, or put aside (K12). */
    public List<Action> failed(String reason, Moment at) {
        Running ended = expectRunning();
        if (ended.input() instanceof Input.Outside ask) {
            return refuse(ended, ask, reason);
        }
        running = null;
        ready.add(ended.channel());
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
    public List<Action> forbidden(String reason) {
        Running ended = expectRunning();
        if (ended.input() instanceof Input.Outside ask) {
            return refuse(ended, ask, reason);
        }
        running = null;
        List<Action> out = new ArrayList<>();
        park(ended, reason, out);
        return out;
    }

    /** No handler takes this type: its channel waits for a start that has one (K12). */
    public List<Action> unknownType() {
        Running ended = expectRunning();
        if (ended.input() instanceof Input.Outside ask) {
            return refuse(ended, ask, name + " takes no " + ask.body().type());
        }
        running = null;
        ready.add(ended.channel());
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
    public List<Action> unclaimed() {
        Running ended = expectRunning();
        Input.Returned returned = (Input.Returned) ended.input();
        List<Action> out = new ArrayList<>();
        if (returned.service().equals(name)) {
            List<Change> changes = new ArrayList<>();
            consumption(ended, changes);
            running = null;
            own(changes, out);
            over(ended, past.turn);
            return out;
        }
        if (!limits.deadLetters()) {
            return unknownType();
        }
        running = null;
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

    private List<Action> refuse(Running ended, Input.Outside ask, String reason) {
        over(ended, past.turn);
        return leaves(
                ask,
                () -> {
                    Link link = askers.get(ask.caller());
                    if (link != null) {
                        leaving.add(
                                new Action.Send(link, new Frame.Refused(ask.request(), reason)));
                    }
                });
    }

    /** Puts an input aside by a turn of its own, which tells the sender, too (K12). */
    private void park(Running input, String reason, List<Action> out) {
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
        over(input, past.turn);
    }

    private void over(Running ended, long turn) {
        running = null;
        switch (ended.channel()) {
            case RESULTS -> {
                results.remove();
                resultsThere.remove(ended.id());
            }
            case OUTSIDE -> asks.remove();
            case TIMERS, RETURNED -> {}
            default -> {
                if (!ended.channel().equals(name)) {
                    conversation(ended.channel()).held.headMap(ended.id(), true).clear();
                }
            }
        }
        attempts.consumed(ended.channel(), turn);
        look(ended.channel());
        look(name);
        look(RETURNED);
    }

    private Running expectRunning() {
        if (running == null) {
            throw new IllegalStateException("no input runs");
        }
        return running;
    }

    private void expectIdle() {
        if (clock == null) {
            throw new IllegalStateException("the start has not begun");
        }
        if (running != null) {
            throw new IllegalStateException("a turn runs; end it first: " + running.input());
        }
    }

    /** A turn of the core's own. */
    private void own(List<Change> changes, List<Action> out) {
        out.add(new Action.Append(record(changes)));
    }

    private Delta record(List<Change> changes) {
        List<Change> all = new ArrayList<>(newAcks.values());
        newAcks.clear();
        all.addAll(newDones);
        newDones.clear();
        all.addAll(changes);
        Delta delta = new Delta(past.turn + 1, self.number(), clock.nowMillis(), List.copyOf(all));
        long outputsBefore = past.newestOutput;
        past.apply(delta);
        for (Action.Release release : past.outboxes.over()) {
            later.add(new Later(delta.turn(), () -> leaving.add(release)));
        }
        for (Change change : delta.changes()) {
            if (change instanceof Change.Consumed it && !it.peer().equals(name)) {
                Birth birth = past.peers.get(it.peer()).birth;
                later.add(new Later(delta.turn(), () -> consumedFinally(it, birth)));
            } else if (change instanceof Change.Sent it && !it.peer().equals(name)) {
                long count = past.peers.get(it.peer()).sent;
                later.add(new Later(delta.turn(), () -> sentFinally(it.peer(), count)));
            } else if (change instanceof Change.Sent it) {
                // No link and no ack of it would ask for what found no room beside others'
                // messages.
                past.peers.get(it.peer()).mayFetch();
            } else if (change instanceof Change.PairOpened it) {
                later.add(new Later(delta.turn(), () -> talk(it.peer())));
            } else if (change instanceof Change.PairKnown it) {
                later.add(new Later(delta.turn(), () -> talk(it.peer())));
            } else if (change instanceof Change.OutputMade it) {
                long output = ++outputsBefore;
                later.add(new Later(delta.turn(), () -> leaving.add(call(output, it.body()))));
            }
        }
        return delta;
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
        if (!halted) {
            own(List.of(new Change.Sent(service, 0, Optional.empty(), body)), out);
            look(name);
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
        if (!halted && past.peers.containsKey(service)) {
            own(List.of(new Change.Withdrawn(service, count)), out);
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

    // ---- what is final

    private List<Action> leaving = new ArrayList<>();
    private final Set<String> toTalk = new LinkedHashSet<>();
    private final Set<String> relinked = new LinkedHashSet<>();
    private final Set<String> toHello = new HashSet<>();

    /** Peers whose pair is over by a turn that is not final: they do not hear of it yet (K4). */
    private final Map<String, Long> overTurns = new HashMap<>();

    /** Every turn up to this one is final: what they caused may leave (K4, K5). */
    public List<Action> finalUpTo(long turn) {
        expectIdle();
        if (turn > past.turn) {
            throw new IllegalArgumentException(
                    "turn " + turn + " cannot be final, as the newest is " + past.turn);
        }
        finalTurn = Math.max(finalTurn, turn);
        attempts.finalUpTo(finalTurn);
        if (lease != null) {
            lease.covered(finalTurn);
        }
        overTurns.values().removeIf(it -> it <= finalTurn);
        return release();
    }

    /**
     * Everything that proofs are asked for, up to this read, is proven: this start was in office
     * after these queries came (C8).
     *
     * @throws IllegalArgumentException where there was no such read
     */
    public List<Action> proven(long read) {
        expectIdle();
        if (read > newestRead) {
            throw new IllegalArgumentException(
                    "read " + read + " cannot be proven, as the newest is " + newestRead);
        }
        provenRead = Math.max(provenRead, read);
        return release();
    }

    /** What was read, and is recorded nowhere, is told once nothing can undo it (K4, C8). */
    private List<Action> leaves(Input.Outside ask, Runnable what) {
        if (!provesReads) {
            later.add(new Later(past.turn, what));
            return release();
        }
        reads.add(new Read(++newestRead, past.turn, ask.caller(), what));
        List<Action> out = release();
        if (!halted) {
            out.add(new Action.Prove(newestRead));
        }
        return out;
    }

    private List<Action> release() {
        while (!later.isEmpty() && later.element().turn() <= finalTurn) {
            later.remove().what().run();
        }
        while (!reads.isEmpty()
                && reads.element().turn() <= finalTurn
                && reads.element().number() <= provenRead) {
            reads.remove().what().run();
        }
        for (String key : toTalk) {
            Peer peer = past.peers.get(key);
            if (peer != null) {
                if (toHello.remove(key)) {
                    helloAgain(key, leaving);
                } else {
                    introduce(key, peer, leaving);
                }
                conversation(key).say(peer, finalTurn, leaving);
                reach(peer, leaving);
            }
        }
        toTalk.clear();
        for (Link link : toCover) {
            if (links.containsKey(link)) {
                leaving.add(covered(link));
            }
        }
        toCover.clear();
        List<Action> out = leaving;
        leaving = new ArrayList<>();
        return halted ? new ArrayList<>() : out;
    }

    private Action covered(Link link) {
        Mark upTo = new Mark(self.number(), finalTurn);
        return new Action.Send(link, new Frame.Covered(upTo));
    }

    private void talk(String key) {
        toTalk.add(key);
    }

    private void consumedFinally(Change.Consumed change, Birth birth) {
        Peer peer = past.peers.get(change.peer());
        // Numbers of a pair that is over mean nothing in the next one (K11).
        if (peer != null && birth.equals(peer.birth)) {
            Conversation conversation = conversation(change.peer());
            conversation.consumedFinal = change.last();
            if (conversation.met != null
                    && change.last().incarnation() < conversation.met.number()) {
                // It came of an earlier start, and was not final when the peer's new one was heard:
                // that may be of an old copy, which has given the number to something else (K14).
                toHello.add(change.peer());
            }
            talk(change.peer());
        }
    }

    /**
     * A turn that no input led to, for what the runtime changes in the state (K3); empty where the
     * service must not go on.
     */
    public Optional<Delta> note() {
        expectIdle();
        return halted ? Optional.empty() : Optional.of(record(List.of()));
    }

    private void sentFinally(String key, long count) {
        Conversation conversation = conversation(key);
        conversation.sentFinal = Math.max(conversation.sentFinal, count);
        talk(key);
    }

    private void answer(Input.Outside ask, Optional<Body> body) {
        answer(ask.caller(), ask.request(), body);
    }

    private void answer(String caller, long request, Optional<Body> body) {
        Link link = askers.get(caller);
        if (link != null) {
            leaving.add(new Action.Send(link, new Frame.Answer(request, body)));
        }
    }

    /** Once the newest turn is final, that is told to who saw it; once, where many queries did. */
    private void coverLater(Link link) {
        if (past.turn != lastSeenTurn || !link.equals(lastSeenBy)) {
            lastSeenTurn = past.turn;
            lastSeenBy = link;
            later.add(new Later(past.turn, () -> toCover.add(link)));
        }
    }

    private Action call(long output, Body body) {
        // The id stays, whatever birth makes the call again (K17).
        Birth made = past.birthOfOutput(output).orElse(self.birth());
        return new Action.Call(output, made + "-" + output, body);
    }

    private void reach(Peer peer, List<Action> out) {
        if (!peer.outside
                && !peer.key.equals(name)
                && peer.isWaitedFor()
                && !leftUntilMillis.containsKey(peer.key)
                && conversation(peer.key).link().isEmpty()) {
            out.add(new Action.Reach(peer.key));
        }
    }

    /** A call to the world returned (K17); becomes an input where there is an answer. */
    public List<Action> result(long output, Optional<Body> answer) {
        expectIdle();
        if (past.outputs.containsKey(output) && resultsThere.add(output)) {
            if (answer.isPresent()) {
                results.add(new Input.Result(output, answer.get()));
                look(RESULTS);
            } else {
                Change done = new Change.OutputDone(output);
                past.applyEarly(done);
                newDones.add(done);
                resultsThere.remove(output);
            }
        }
        return new ArrayList<>();
    }

    // ---- links and frames

    private Conversation conversation(String key) {
        return conversations.computeIfAbsent(key, it -> new Conversation(it, limits.window()));
    }

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
        links.put(link, new Introduction());
        if (link.outside()) {
            askers.put(caller(link), link);
            if (keepsEpochs) {
                out.add(new Action.Send(link, new Frame.Past(past.epochs)));
            }
            if (lease != null && past.turn <= finalTurn) {
                out.add(covered(link));
            } else if (lease != null) {
                // Over another link it may have seen any turn up to this one.
                coverLater(link);
            }
        } else {
            Peer peer = past.peers.get(link.peer());
            hello(link, link.peer(), peer == null ? null : peer.birth, out);
        }
        return halted ? new ArrayList<>() : out;
    }

    /** A link is gone. What was sent over it and not acked is sent again over the next (K6). */
    public List<Action> linkDown(Link link) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        drop(link);
        sayAgain(out);
        Peer peer = past.peers.get(link.peer());
        if (peer != null && !link.outside()) {
            reach(peer, out);
        }
        return halted ? new ArrayList<>() : out;
    }

    private void drop(Link link) {
        Introduction introduction = links.remove(link);
        if (introduction == null) {
            return;
        }
        if (link.outside()) {
            String asker = caller(link);
            askers.remove(asker);
            detachedAsks.removeIf(it -> it.caller().equals(asker));
            asks.removeIf(it -> it.link().equals(link));
            reads.removeIf(it -> it.caller().equals(asker));
        }
        if (introduction.from != null) {
            String key = key(link, introduction.from);
            conversation(key).left(link);
            relinked.add(key);
        }
    }

    /** Where a link ended, another one may be there: all that is unacked goes over that (K6). */
    private void sayAgain(List<Action> out) {
        for (String key : relinked) {
            Peer peer = past.peers.get(key);
            if (peer != null) {
                conversation(key).say(peer, finalTurn, out);
            }
        }
        relinked.clear();
    }

    private void close(Link link, String reason, List<Action> out) {
        drop(link);
        out.add(new Action.Close(link, reason));
    }

    private static String key(Link link, Incarnation from) {
        return link.outside() ? link.peer() + RESERVED + from.birth() : link.peer();
    }

    /** A frame came over a link; one over a link that is closed already is dropped. */
    public List<Action> frame(Link link, Frame frame, Moment at) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        Introduction introduction = links.get(link);
        if (halted || introduction == null) {
            return out;
        }
        clock.advance(at);
        if (frame instanceof Frame.Hello it) {
            hear(link, introduction, it, out);
        } else if (frame instanceof Frame.Gone it) {
            over(link, introduction, it, out);
        } else if (frame instanceof Frame.Ask it) {
            ask(link, it, out);
        } else if (frame instanceof Frame.Seen) {
            // It was told when its link came: what is lost it sees by itself.
            return out;
        } else if (introduction.from == null) {
            close(link, link.peer() + " spoke before it said who it is", out);
        } else if (frame instanceof Frame.Msg it) {
            message(link, key(link, introduction.from), it, out);
        } else if (frame instanceof Frame.Ack it) {
            acked(link, key(link, introduction.from), it, out);
        }
        // An answer or refusal without a number: a service asks nothing in this way.
        sayAgain(out);
        return halted ? onlyHalt(out) : out;
    }

    private static List<Action> onlyHalt(List<Action> out) {
        return out.stream().filter(it -> it instanceof Action.Halt).toList();
    }

    private void halt(String reason, List<Action> out) {
        halted = true;
        out.add(new Action.Halt(reason));
    }

    private void hello(Link link, String key, Birth to, List<Action> out) {
        Frame.Hello hello =
                conversation(key)
                        .hello(name, self, past.peers.get(key), Optional.ofNullable(to), finalTurn);
        links.get(link).said = hello;
        out.add(new Action.Send(link, hello));
    }

    /** Says it again where it has changed since it was said. */
    private void introduce(String key, Peer peer, List<Action> out) {
        for (Link link : conversation(key).links.keySet()) {
            Introduction introduction = links.get(link);
            Birth with = introduction.from.birth();
            if (toSay(introduction, key, peer, with)) {
                hello(link, key, with, out);
            }
        }
    }

    private void helloAgain(String key, List<Action> out) {
        for (Link link : conversation(key).links.keySet()) {
            hello(link, key, links.get(link).from.birth(), out);
        }
    }

    private boolean toSay(Introduction introduction, String key, Peer peer, Birth with) {
        Frame.Hello said = introduction.said;
        return said == null
                || !said.to().equals(Optional.of(with))
                || said.pair() != conversation(key).state(peer, Optional.of(with), finalTurn);
    }

    private void hear(Link link, Introduction introduction, Frame.Hello hello, List<Action> out) {
        Incarnation from = hello.from();
        String key = key(link, from);
        Peer peer = past.peers.get(key);
        Conversation conversation = conversation(key);
        if (!hello.name().equals(link.peer())) {
            close(link, "the name is " + link.peer() + ", and it said " + hello.name(), out);
            return;
        }
        if (introduction.from != null && !introduction.from.equals(from)) {
            close(link, key + " changed its start from " + introduction.from + " to " + from, out);
            return;
        }
        if (key.equals(name) || from.birth().equals(self.birth())) {
            close(link, "this is " + name + " itself; another place is meant", out);
            return;
        }
        if (peer != null && peer.gone.contains(from.birth())) {
            String reason = "generation " + from.birth() + " of " + key + " is gone here";
            boolean told = sayGone(link, key, from.birth(), out);
            close(link, reason, out);
            if (told && !link.outside()) {
                leave(key, reason + "; what is sent to it waits for another generation", out);
            }
            return;
        }
        if (peer != null && from.birth().equals(peer.refusedBy)) {
            String reason = refused(key, from.birth());
            close(link, reason, out);
            leave(key, reason, out);
            return;
        }
        Optional<String> old = older(conversation, peer, from);
        if (old.isPresent()) {
            close(link, key + ": " + old.get(), out);
            return;
        }
        if (peer != null && peer.birth != null && !peer.birth.equals(from.birth())) {
            end(peer, peer.birth, key + " was made anew, as generation " + from.birth(), out);
            peer = past.peers.get(key);
        }
        introduction.from = from;
        leftUntilMillis.remove(key);
        Frame.PairState state = hello.pair();
        if (!hello.to().equals(Optional.of(self.birth()))) {
            state = Frame.PairState.NEW;
        } else if (!judge(link, key, peer, hello, out)) {
            return;
        }
        conversation.joined(link, from, state).forEach(it -> close(it, key + " started anew", out));
        peer = past.peers.get(key);
        if (toSay(introduction, key, peer, from.birth())) {
            hello(link, key, from.birth(), out);
        }
        if (peer != null) {
            conversation.say(peer, finalTurn, out);
        }
    }

    private Optional<String> older(Conversation conversation, Peer peer, Incarnation from) {
        long number = 0;
        long nonce = 0;
        if (peer != null && from.birth().equals(peer.birth)) {
            number = peer.seen.incarnation();
            nonce = peer.seen.nonce();
        }
        Incarnation met = conversation.met;
        if (met != null && met.birth().equals(from.birth()) && met.number() >= number) {
            number = met.number();
            nonce = met.nonce();
        }
        if (from.number() < number) {
            return Optional.of("start " + from.number() + " is over, as " + number + " was seen");
        }
        if (from.number() == number && from.nonce() != nonce) {
            return Optional.of("two starts have the number " + number + "; one is a copy (K14)");
        }
        return Optional.empty();
    }

    /** What both know of the pair, put together (K11, K14); says whether the link is of use. */
    private boolean judge(Link link, String key, Peer peer, Frame.Hello hello, List<Action> out) {
        Birth birth = hello.from().birth();
        boolean mine = peer != null && birth.equals(peer.birth);
        if (!mine && hello.pair() == Frame.PairState.KNOWN) {
            behind(link, key, "it knows the pair, of which this folder knows nothing", hello, out);
            return false;
        }
        if (!mine) {
            Count seen = Count.of(0, hello.from());
            own(List.of(new Change.PairOpened(key, link.outside(), birth, seen)), out);
            return true;
        }
        Conversation conversation = conversation(key);
        Optional<String> behind =
                ownPast.behind(
                        peer,
                        hello,
                        conversation.sentNumber(peer, finalTurn),
                        conversation.consumedFinal.number());
        if (behind.isPresent()) {
            behind(link, key, behind.get(), hello, out);
            return false;
        }
        if (isBehind(peer, hello)) {
            // It learns so by what it is told, and halts.
            hello(link, key, birth, out);
            close(link, key + " is behind its own past: it knows less than it told before", out);
            return false;
        }
        if (!peer.known && hello.pair() != Frame.PairState.NEW) {
            own(List.of(new Change.PairKnown(key)), out);
        }
        return true;
    }

    private static boolean isBehind(Peer peer, Frame.Hello hello) {
        return (peer.known && hello.pair() == Frame.PairState.NEW)
                || peer.consumed.number() > hello.sent().number()
                || peer.acked.number() > hello.consumed().number();
    }

    private void behind(Link link, String key, String what, Frame.Hello hello, List<Action> out) {
        String reason =
                key
                        + " knows more of this service's past than its folder: "
                        + what
                        + ". The folder is an old copy or lost what was forced (K14)";
        if (link.outside()) {
            sayGone(link, key, hello.from().birth(), out);
            close(link, reason, out);
        } else {
            halt(reason + ". Put the newer folder back, or begin a new generation", out);
        }
    }

    /** Says so once that is final (K4). */
    private boolean sayGone(Link link, String key, Birth birth, List<Action> out) {
        if (overTurns.containsKey(key)) {
            return false;
        }
        out.add(new Action.Send(link, new Frame.Gone(birth)));
        return true;
    }

    private void leave(String key, String reason, List<Action> out) {
        leftUntilMillis.put(key, clock.nowMillis() + LEFT_MILLIS);
        out.add(new Action.Leave(key, reason));
    }

    /** What that birth of a peer said, and what to do. */
    private String refused(String key, Birth birth) {
        return "generation "
                + birth
                + " of "
                + key
                + " says that generation "
                + self.birth()
                + " of "
                + name
                + " is gone: it takes nothing of it any more (K15). To go on with it, stop "
                + name
                + " and give it a new generation: Services.newGeneration";
    }

    /** The pair is over (K15). */
    private void end(Peer peer, Birth birth, String reason, List<Action> out) {
        for (Link link : List.copyOf(conversation(peer.key).links.keySet())) {
            close(link, reason, out);
        }
        endSilently(peer, birth, reason, out);
    }

    private void endSilently(Peer peer, Birth birth, String reason, List<Action> out) {
        Conversation conversation = conversation(peer.key);
        own(List.of(new Change.PairOver(peer.key, birth, reason)), out);
        overTurns.put(peer.key, past.turn);
        if (peer.birth == null) {
            conversation.end();
            attempts.forget(peer.key);
        }
        if (peer.outside) {
            conversations.remove(peer.key);
        }
        look(RETURNED);
    }

    private void over(Link link, Introduction introduction, Frame.Gone gone, List<Action> out) {
        String reason = link.peer() + " says that generation " + gone.birth() + " is gone";
        Peer peer = past.peers.get(link.peer());
        Optional<Birth> from =
                Optional.ofNullable(introduction.from)
                        .map(Incarnation::birth)
                        .or(() -> Optional.ofNullable(peer).map(it -> it.birth));
        if (!link.outside() && gone.birth().equals(self.birth()) && from.isPresent()) {
            refuse(link.peer(), from.get(), out);
        } else if (!link.outside() && peer != null && gone.birth().equals(peer.birth)) {
            end(peer, peer.birth, reason, out);
        }
        if (links.get(link) == introduction) {
            close(link, reason, out);
        }
    }

    /** That birth takes nothing of this one any more (K15). */
    private void refuse(String key, Birth by, List<Action> out) {
        String reason = refused(key, by);
        Peer peer = past.peers.get(key);
        if (peer == null || !by.equals(peer.refusedBy)) {
            for (Link link : List.copyOf(conversation(key).links.keySet())) {
                close(link, reason, out);
            }
            own(List.of(new Change.PairRefused(key, by, reason)), out);
            conversation(key).end();
            attempts.forget(key);
            look(RETURNED);
        }
        leave(key, reason, out);
    }

    private void ask(Link link, Frame.Ask ask, List<Action> out) {
        if (!link.outside()) {
            close(link, link.peer() + " is a service, and asked without a number", out);
        } else if (asks.size() + reads.size() >= limits.outsideRequests()) {
            String reason = name + " has too many requests waiting; try again later";
            out.add(new Action.Send(link, new Frame.Refused(ask.request(), reason)));
        } else {
            Optional<String> given =
                    link.peer().isBlank() ? Optional.empty() : Optional.of(link.peer());
            String caller = caller(link);
            asks.add(new Ask(link, new Input.Outside(caller, given, ask.request(), ask.body())));
            look(OUTSIDE);
        }
    }

    /** K7. */
    private void message(Link link, String key, Frame.Msg msg, List<Action> out) {
        Peer peer = past.peers.get(key);
        Conversation conversation = conversation(key);
        if (!conversation.links.containsKey(link)
                || peer == null
                || peer.birth == null
                || peer.openedTurn > finalTurn) {
            close(link, key + " sent a message before both knew the pair (K11)", out);
            return;
        }
        long last = peer.consumed.number();
        if (msg.number() <= last) {
            duplicates++;
            if (msg.number() <= conversation.consumedFinal.number()) {
                conversation.ack(peer, link, out);
            }
        } else if (msg.number() > conversation.consumedFinal.number() + limits.window()) {
            close(link, key + " sent number " + msg.number() + " beyond its credit", out);
        } else if (acknowledge(link, peer, msg.answers(), out)) {
            // An answer is an ack, too: the turn that gave it consumed the message, and is final.
            if (conversation.held.putIfAbsent(msg.number(), msg) != null) {
                duplicates++;
            }
            look(key);
        }
    }

    /** K5, K6. */
    private void acked(Link link, String key, Frame.Ack ack, List<Action> out) {
        Peer peer = past.peers.get(key);
        Conversation conversation = conversation(key);
        if (peer == null || peer.birth == null || !conversation.links.containsKey(link)) {
            return;
        }
        if (acknowledge(link, peer, ack.number(), out)) {
            conversation.credited(ack.number() + ack.credit());
            conversation.say(peer, finalTurn, out);
        }
    }

    /** Whether that may be; else the link is closed. */
    private boolean acknowledge(Link link, Peer peer, long number, List<Action> out) {
        Conversation conversation = conversation(peer.key);
        long sent = conversation.sentNumber(peer, finalTurn);
        if (number > sent) {
            String reason = peer.key + " acked number " + number + ", and " + sent + " were sent";
            close(link, reason, out);
            if (!link.outside()) {
                halt(reason + ": this service is behind its own past (K14)", out);
            }
            return false;
        }
        if (number > peer.acked.number()) {
            Change.Acked change = new Change.Acked(peer.key, Count.of(number, conversation.met));
            past.applyEarly(change);
            newAcks.put(peer.key, change);
        }
        return true;
    }

    /** Pairs with outside clients that are silent for long go; they hear GONE then (K11). */
    private void forgetSilentClients(long now, List<Action> out) {
        for (Peer peer : List.copyOf(past.peers.values())) {
            if (peer.outside
                    && conversation(peer.key).links.isEmpty()
                    && now - peer.heardMillis >= limits.outsideSilenceMillis()) {
                end(peer, peer.birth, "silent for long", out);
            }
        }
    }

    /**
     * An operator says that this birth never comes back (K15): what it has not acked returns, and
     * it is told so, should it come back nevertheless.
     *
     * @throws IllegalArgumentException where no service of that name is known, or none with that
     *     birth; says which are
     */
    public List<Action> declareLost(String service, Birth birth, String reason) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        Peer peer = expectService(service);
        if (birth.equals(peer.birth)) {
            List<Link> there = List.copyOf(conversation(service).links.keySet());
            endSilently(peer, birth, reason, out);
            later.add(new Later(past.turn, () -> sayGone(there, birth, reason)));
        } else if (!peer.gone.contains(birth)) {
            throw new IllegalArgumentException(
                    name
                            + " knows no generation "
                            + birth
                            + " of "
                            + service
                            + (peer.birth == null
                                    ? ", and none that is there; what waits for it can be given up"
                                    : "; it knows " + peer.birth));
        }
        return out;
    }

    /**
     * An operator gives up what waits for a name under which nobody was met, or nobody after a
     * birth that is gone: it comes back, and was certainly not consumed.
     *
     * @throws IllegalArgumentException where no service of that name is known, or one is there,
     *     with a birth that can be declared gone
     */
    public List<Action> giveUp(String service, String reason) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        Peer peer = expectService(service);
        if (peer.birth != null) {
            throw new IllegalArgumentException(
                    service
                            + " has the generation "
                            + peer.birth
                            + ", which may have consumed what was sent to it. If it never comes"
                            + " back, declare that generation gone");
        }
        own(List.of(new Change.GivenUp(service, reason)), out);
        look(RETURNED);
        return out;
    }

    private Peer expectService(String service) {
        Peer peer = past.peers.get(service);
        if (peer == null || peer.outside || service.equals(name)) {
            throw new IllegalArgumentException(
                    name
                            + " knows no service "
                            + service
                            + "; it knows "
                            + past.peers.values().stream()
                                    .filter(it -> !it.outside && !it.key.equals(name))
                                    .map(it -> it.key)
                                    .toList());
        }
        return peer;
    }

    /** Says that the birth is gone where its links are still there. */
    private void sayGone(List<Link> there, Birth birth, String reason) {
        for (Link link : there) {
            if (links.containsKey(link)) {
                leaving.add(new Action.Send(link, new Frame.Gone(birth)));
                close(link, reason, leaving);
            }
        }
    }

    /**
     * A person removes what was put aside (K12).
     *
     * @throws IllegalArgumentException where nothing has that id
     */
    public List<Action> discardParked(long id) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        Change.ParkedIs unused = expectParked(id);
        own(List.of(new Change.ParkedGone(id)), out);
        return out;
    }

    /**
     * A person has what was put aside tried again (K12): what had come back comes back again; the
     * rest as a message of this service to itself, since who sent it was told that it did not go
     * through.
     *
     * @throws IllegalArgumentException where nothing has that id
     */
    public List<Action> retryParked(long id) {
        expectIdle();
        List<Action> out = new ArrayList<>();
        Change.ParkedIs parked = expectParked(id);
        if (past.parkedReturns.containsKey(id)) {
            // Its type may have another handler, for others' messages: it must not get there.
            own(List.of(new Change.ReturnAgain(id)), out);
            look(RETURNED);
        } else {
            own(
                    List.of(
                            new Change.ParkedGone(id),
                            new Change.Sent(name, 0, Optional.empty(), parked.body())),
                    out);
            look(name);
        }
        return out;
    }

    private Change.ParkedIs expectParked(long id) {
        Change.ParkedIs parked = past.parked.get(id);
        if (parked == null) {
            throw new IllegalArgumentException(
                    "nothing that is a dead letter by "
                            + name
                            + " has the id "
                            + id
                            + "; there are "
                            + past.parked.keySet());
        }
        return parked;
    }

    /** A person lets a channel go on that waits (K12), as {@link #stopped} named it. */
    public void resume(String channel) {
        attempts.resume(channel);
        look(channel);
    }

    // ---- questions

    /** All that the turns so far did, as one Delta of the newest turn: the base (K10). */
    public Delta snapshot() {
        return past.snapshot(self == null ? recoveredOf : self.number());
    }

    /** The newest turn; 0 before the first. */
    public long newestTurn() {
        return past.turn;
    }

    /** Up to which turn nothing can undo any more. */
    public long finalTurn() {
        return finalTurn;
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

    /** How many messages came again and were dropped, in this start (K7). */
    public long duplicates() {
        return duplicates;
    }

    /** The largest id that was given to a timer. */
    public long newestTimer() {
        return past.newestTimer;
    }

    /** Whether that timer is set; not the one whose turn this is, as it went off. */
    public boolean isSet(long timer) {
        boolean goesOff =
                running != null && running.input() instanceof Input.Timer due && due.id() == timer;
        return !goesOff && past.dueOf.containsKey(timer);
    }

    /** What a client without a birth is called as a caller: by its link. */
    public static String caller(Link link) {
        return ASKER + link.id();
    }

    /** Whether such a caller is a client without a birth, who is known by its link alone. */
    public static boolean isLinkOnly(String caller) {
        return caller.startsWith(ASKER);
    }

    /** Whether the sender of that message waits for an answer of a later turn. */
    public boolean waits(String peer, long number) {
        return (past.waiting.containsKey(peer) && past.waiting.get(peer).contains(number))
                || detachedAsks.stream().anyMatch(it -> isCaller(it, peer, number));
    }

    /** Channels that wait for a person or for a start that knows their next type (K12). */
    public List<String> stopped() {
        return ready.stream().filter(attempts::isStopped).toList();
    }

    /** What was put aside (K12). */
    public List<Change.ParkedIs> parked() {
        return List.copyOf(past.parked.values());
    }

    /**
     * How far a channel is, for people.
     *
     * @param peer a service's name, or a client's name and birth
     * @param birth of the pair; empty while there is none
     * @param linked whether the peer is there
     * @param sent how many messages were sent to that name
     * @param unacked how many of them were not acked
     * @param inFiles how many of these are in a file, not in memory (K13)
     * @param oldestMillis when the oldest of these was sent, since 1970; 0 without one
     * @param consumed the number of the last message that was consumed from it
     * @param held messages that wait for their turn
     */
    public record Channel(
            String peer,
            boolean outside,
            Optional<Birth> birth,
            boolean linked,
            long sent,
            long unacked,
            long inFiles,
            long oldestMillis,
            long consumed,
            int held) {}

    /** All channels, by name. */
    public List<Channel> channels() {
        List<Channel> all = new ArrayList<>();
        for (Peer peer : past.peers.values()) {
            Conversation conversation = conversations.get(peer.key);
            all.add(
                    new Channel(
                            peer.key,
                            peer.outside,
                            Optional.ofNullable(peer.birth),
                            conversation != null && conversation.link().isPresent(),
                            peer.sent,
                            peer.sent - peer.floor(),
                            peer.inFiles,
                            peer.oldestMillis(),
                            peer.consumed.number(),
                            conversation == null ? 0 : conversation.held.size()));
        }
        return all;
    }

    /** Services that say that this one's birth is gone, with what to do (K15). */
    public Map<String, String> refusedBy() {
        Map<String, String> reasons = new TreeMap<>();
        for (Peer peer : past.peers.values()) {
            if (peer.refusedBy != null) {
                reasons.put(peer.key, refused(peer.key, peer.refusedBy));
            }
        }
        return reasons;
    }

    /** Whether what was put aside with this id had come back (K12). */
    public boolean cameBack(long parked) {
        return past.parkedReturns.containsKey(parked);
    }

    /** Calls to the world that have not returned (K17). */
    public int openOutputs() {
        return past.outputs.size();
    }

    /** Whether a call to the world has not returned, or its result has had no turn (K17). */
    public boolean isOpen(long output) {
        return past.outputs.containsKey(output);
    }

    /** Births that were replaced, as far as turns under a later one have said so (K11). */
    public List<Birth> replaced() {
        return past.formers.stream().map(Change.Former::birth).toList();
    }

    /** Timers that are set. */
    public int timers() {
        return past.timers.size();
    }

    /** Services that have not acked all that was sent to them, for who waits on whom (K13). */
    public List<String> waitsFor() {
        return past.peers.values().stream()
                .filter(it -> !it.outside && !it.key.equals(name) && it.isWaitedFor())
                .map(it -> it.key)
                .toList();
    }
}
