package io.saucr.services.turns;

import io.saucr.services.Asks;
import io.saucr.services.Caller;
import io.saucr.services.EnsembleOutcome;
import io.saucr.services.Handlers.MessageHandler;
import io.saucr.services.Handlers.QueryHandler;
import io.saucr.services.Measures;
import io.saucr.services.Returned;
import io.saucr.services.Sent;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.core.AdminCommands;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Effects;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Input;
import io.saucr.services.core.Link;
import io.saucr.services.core.Moment;
import io.saucr.services.core.Repeat;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.core.ServiceCore.Intake;
import io.saucr.services.once.Operation;
import io.saucr.services.once.TurnGuard;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the turns of one service: the core says which input comes next and what may leave, the state
 * holds what handlers remember, {@link Guard} says which turns are final, and {@link
 * Endpoint.Border} takes what leaves.
 *
 * <p>{@link #open} recovers on the thread that starts the service. From {@link #begin} on all
 * methods but {@link #name} belong to the turn thread. Whatever they throw must end the process, as
 * core and state may then disagree.
 */
public final class Turns implements Endpoint, OutputCalls.Maker {

    private static final Logger LOG = LoggerFactory.getLogger(Turns.class);

    private static final int LONGEST_REASON = 500;

    private final String name;
    private final StateStore state;
    private final Guard guard;
    private final TurnOptions options;
    private final ServiceCore core;
    private final Supplier<Moment> clock;
    private final RandomGenerator random;
    private final Recording recording;
    private final MessageTypes types;
    private final HandlerTable handlers;
    private final RequestKeys keys;
    private final Optional<OnceNotes> onceNotes;

    /** Questions to others, of a service that asks. */
    private final Optional<Questions> questions;

    private final DoorRequests requests;
    private final Guard.Start start;
    private final TreeMap<Long, List<Runnable>> whenFinal = new TreeMap<>();
    private final Consumer<Runnable> between;

    /** What the next turn is to change in the state before any input runs. */
    private final List<Note> notes = new ArrayList<>();

    /** Whether replies to clients may leave before their turn is final (C7). */
    private final boolean early;

    private volatile boolean noRoom;
    private volatile boolean scarce;
    private volatile boolean held;
    private volatile Measures measures = Measures.NONE;
    private boolean hasBegun;

    /** When the handler began that runs; 0 where none does. */
    private volatile long handlerSinceNanos;

    /** When the last one ended. */
    private volatile long handlerEndedNanos;

    /** When turns began that are not final, where somebody measures. */
    private final ArrayDeque<Begun> begun = new ArrayDeque<>();

    private final OpenTurn.Past past = new PastOfCore();

    /** Null where a service has no lanes. */
    private final SideBySide sideBySide;

    /**
     * What a service or client runs with.
     *
     * @param clock of the machine
     * @param random for handlers
     * @param folding writes one base at a time, and reads what waits in files
     * @param between runs something on the endpoint's thread, between turns
     * @param lanes runs handlers ahead of their turns, where a service has lanes
     */
    public record Surroundings(
            Supplier<Moment> clock,
            RandomGenerator random,
            Executor folding,
            Consumer<Runnable> between,
            Executor lanes) {

        /** Without lanes. */
        public Surroundings(
                Supplier<Moment> clock,
                RandomGenerator random,
                Executor folding,
                Consumer<Runnable> between) {
            this(clock, random, folding, between, Runnable::run);
        }

        /** What the clocks of this machine say. */
        public static Moment moment() {
            return new Moment(System.currentTimeMillis(), System.nanoTime() / 1_000_000);
        }
    }

    private record Begun(long turn, long nanos) {}

    private record Note(Consumer<Predicate<String>> change, Runnable isFinal) {}

    private Turns(
            String name,
            Function<State, ? extends Service> constructor,
            Guard guard,
            TurnOptions options,
            Surroundings surroundings)
            throws IOException {
        this.name = name;
        this.guard = guard;
        this.options = options;
        this.clock = surroundings.clock();
        this.random = surroundings.random();
        this.between = surroundings.between();
        this.core = new ServiceCore(name, options.limits());
        Guard.Traits traits = guard.traits();
        if (traits.provesReads()) {
            core.proveReads();
        }
        if (traits.keepsEpochs()) {
            core.keepEpochs();
        }
        early = traits.leaseMillis() > 0;
        if (early) {
            // Who asks by HTTP could not be told of a loss.
            core.answerEarly(traits.leaseMillis(), link -> !DoorRequests.isRequest(link));
        }
        // Half of the first birth: who chooses keys does not know it, and it stays the same.
        state = new StateStore(name, traits.first().low(), options.checksValues());
        keys = state.reserve(it -> RequestKeys.of(it, options.limits().outsideSilenceMillis()));
        onceNotes =
                traits.notesWrites() ? Optional.of(state.reserve(OnceNotes::of)) : Optional.empty();
        Service service = constructor.apply(state);
        FieldCheck.check(service);
        types = new RecordMessages(state.codec());
        handlers = HandlerTable.of(service, types);
        questions =
                handlers.asks()
                        ? Optional.of(new Questions(name, state, core, handlers, types))
                        : Optional.empty();
        recording =
                new Recording(
                        name, core, guard, state::snapshot, options.foldBytes(), surroundings);
        requests = new DoorRequests(core, keys, clock, recording::perform);
        sideBySide =
                options.lanes() == 0
                        ? null
                        : new SideBySide(
                                name,
                                constructor,
                                state,
                                core,
                                past,
                                options,
                                surroundings,
                                new AheadRules());
        guard.speculation().ifPresent(core::group);
        start = guard.recover(new Survived());
        core.under(start.formers(), start.incarnations());
        recording.recovered();
    }

    /**
     * Constructs a service and recovers what survived.
     *
     * @param constructor makes the service from its state
     * @throws IllegalArgumentException where the service or one of its types is not allowed; the
     *     message says which and why
     * @throws IOException where what survived cannot be read; says what to do
     */
    public static Turns open(
            String name,
            Function<State, ? extends Service> constructor,
            Guard guard,
            TurnOptions options,
            Surroundings surroundings)
            throws IOException {
        return new Turns(name, constructor, guard, options, surroundings);
    }

    /**
     * Constructs a service for nothing but to see that it and its types are allowed.
     *
     * @throws IllegalArgumentException where they are not; the message says which and why
     */
    public static void check(String name, Function<State, ? extends Service> constructor) {
        StateStore store = new StateStore(name, 0, false);
        Service service = constructor.apply(store);
        FieldCheck.check(service);
        HandlerTable unused = HandlerTable.of(service, new RecordMessages(store.codec()));
    }

    private void load(String section, InputStream content) throws IOException {
        if (StateStore.isSection(section)) {
            state.load(section, content);
        } else if (Recording.isSection(section)) {
            recording.load(content);
        } else if (!SurvivingVersions.isSection(section)) {
            throw new IOException(
                    "the base of "
                            + name
                            + " has a section "
                            + section
                            + ", which this release does not know: start the release that wrote"
                            + " it");
        }
    }

    /** Goes into state and core. */
    private final class Survived implements Guard.Recovery {

        @Override
        public void section(String section, InputStream content) throws IOException {
            load(section, content);
        }

        @Override
        public void turn(long turn, ByteBuffer bytes) throws IOException {
            Delta delta = recording.apply(turn, bytes);
            state.apply(Changes.decode(delta.state()));
        }

        @Override
        public void memory(Memory of) throws IOException {
            recording.recover(of);
            state.restore(of.state());
        }

        @Override
        public Memory soFar() {
            return recording.soFar();
        }
    }

    /** The newest turn that survived; 0 where none did. Any thread. */
    public long recovered() {
        return start.newestTurn();
    }

    public String name() {
        return name;
    }

    /** The start that runs. Any thread. */
    Guard.Start start() {
        return start;
    }

    @Override
    public void begin(Border border) {
        hasBegun = true;
        recording.begin(requests.before(border));
        if (sideBySide != null) {
            sideBySide.begin();
        }
        List<Repeat> repeats =
                handlers.repeated().stream()
                        .map(it -> new Repeat(it.period().toMillis(), body(it.message())))
                        .toList();
        recording.perform(core.begin(repeats, clock.get()));
    }

    private Body body(Object message) {
        return new Body(types.name(message.getClass()), types.encode(message));
    }

    @Override
    public void linkUp(Link link) {
        recording.perform(core.linkUp(link));
    }

    @Override
    public void frame(Link link, Frame frame) {
        if (frame instanceof Frame.Tagged it && guard.speculation().isPresent()) {
            switch (guard.speculation().get().heard(link.peer(), it)) {
                case TAKEN -> recording.perform(core.frame(link, it.message(), clock.get()));
                case DROPPED -> LOG.debug("{}: {} of {} is not taken", name, it.of(), link.peer());
                case REFUSED -> recording.perform(core.frame(link, it, clock.get()));
            }
            return;
        }
        recording.perform(core.frame(link, frame, clock.get()));
    }

    @Override
    public void linkDown(Link link) {
        recording.perform(core.linkDown(link));
    }

    /** A request came by HTTP. */
    public void request(DoorRequest request) {
        requests.request(request, handlers.message(request.body().type()).isPresent());
    }

    /** Nobody waits any longer for the outcome of a request that came by HTTP. */
    public void giveUp(long request) {
        requests.giveUp(request);
    }

    /** How many keys of requests that came by HTTP are remembered. */
    public int requestKeys() {
        state.beginQuery();
        int size = keys.size();
        state.rollback();
        return size;
    }

    /** The class of the messages or queries of this type that clients may send. Any thread. */
    public Optional<Class<?>> asked(String type) {
        return handlers.message(type).isPresent() || handlers.query(type).isPresent()
                ? handlers.type(type)
                : Optional.empty();
    }

    /** A message or query as it travels; throws as a client's call does. Any thread. */
    public Body encoded(Object message) {
        return body(message);
    }

    /** A call to the world returned (K17). */
    public void result(long output, Optional<Body> answer) {
        recording.perform(core.result(output, answer));
    }

    @Override
    public Optional<Body> callOnce(String id, Body call) throws Exception {
        return OutputCalls.once(
                handlers, types, id, call, handlers.output(call.type()).orElseThrow());
    }

    /** A write to the ensemble, where a call is one. Any thread. */
    public static Optional<Operation> ensembleWrite(Body call) {
        return call.type().equals(OpenTurn.ENSEMBLE_WRITE)
                ? Optional.of(Operation.decode(call.bytes()))
                : Optional.empty();
    }

    /** What is noted of writes to the ensemble, where that is a part of the state. Any thread. */
    Optional<OnceNotes> onceNotes() {
        return onceNotes;
    }

    /** How a once client notes that. Any thread. */
    OnceNotes.Turns noting() {
        return new ByOwnTurns();
    }

    /** What the service is told of a write to the ensemble, where it wants to know. Any thread. */
    public Optional<Body> told(EnsembleOutcome outcome) {
        if (handlers.message(types.name(EnsembleOutcome.class)).isPresent()) {
            return Optional.of(body(outcome));
        }
        if (!outcome.happened()) {
            LOG.warn(
                    "{}: a write to the ensemble did not happen, or nobody knows, and nobody hears"
                            + " it: {}",
                    name,
                    outcome);
        }
        return Optional.empty();
    }

    @Override
    public boolean makes(String callType) {
        return handlers.output(callType).isPresent();
    }

    /** Whether the disk has so little room that clients' inputs wait (K13). Any thread. */
    public void scarce(boolean little) {
        scarce = little;
    }

    /** Whether no inputs are taken, whatever room there is. Any thread. */
    public void hold(boolean now) {
        held = now;
    }

    /** Whether the disk has room for more than acks and folding (K13). Any thread. */
    public void room(boolean enough) {
        noRoom = !enough;
    }

    /**
     * A person removes what was put aside (K12).
     *
     * @throws IllegalArgumentException where nothing has that id
     */
    public void discardParked(long id) {
        recording.perform(core.admin().discardParked(id));
    }

    /**
     * A person has what was put aside tried again, as {@link AdminCommands#retryParked} says (K12).
     *
     * @throws IllegalArgumentException where nothing has that id, or no handler takes it
     */
    public void retryParked(long id) {
        core.report().parked().stream()
                .filter(it -> it.id() == id)
                .map(it -> it.body().type())
                .forEach(type -> expectHandler(type, core.report().cameBack(id)));
        recording.perform(core.admin().retryParked(id));
    }

    private void expectHandler(String type, boolean back) {
        if (back ? handlers.returned(type).isEmpty() : handlers.message(type).isEmpty()) {
            throw new IllegalArgumentException(
                    name
                            + (back
                                    ? " has no handler for a returned "
                                    : " has no message handler for ")
                            + type
                            + ", so it can only be discarded");
        }
    }

    /**
     * An operator says that a peer's birth never comes back (K15).
     *
     * @throws IllegalArgumentException where no such service or birth is known; says which are
     */
    public void declareLost(String service, Birth birth) {
        recording.perform(
                core.admin()
                        .declareLost(
                                service,
                                birth,
                                "an operator declared generation " + birth + " gone"));
    }

    /**
     * An operator gives up what waits for a service that has no birth.
     *
     * @throws IllegalArgumentException where no such service is known, or it has a birth
     */
    public void giveUp(String service) {
        recording.perform(
                core.admin()
                        .giveUp(
                                service,
                                "an operator gave up what waited for "
                                        + service
                                        + ", which was not there: it was not consumed"));
    }

    /**
     * A person lets a channel continue that waits (K12).
     *
     * @throws IllegalArgumentException where no channel of that name waits
     */
    public void resume(String channel) {
        if (!core.report().stopped().contains(channel)) {
            throw new IllegalArgumentException(
                    "no channel " + channel + " waits; there are " + core.report().stopped());
        }
        core.admin().resume(channel);
    }

    /** Whether this type of message is a query. */
    public boolean isQuery(String type) {
        return handlers.query(type).isPresent();
    }

    /** Writes a base of the newest turn once that is final, whether or not one is due. */
    public void fold() {
        recording.fold();
    }

    /** Whether a base holds all turns. */
    boolean isFolded() {
        return recording.isFolded();
    }

    /** The same where one is due, though no turn became final. */
    void foldIfDue() {
        recording.foldIfDue();
    }

    /** What the core knows, for questions between two turns. */
    public ServiceCore core() {
        return core;
    }

    @Override
    public void moved(Finals now) {
        recording.moved(now);
        long turn = core.finals().outside();
        if (!begun.isEmpty()) {
            tellFinal(turn);
        }
        while (!whenFinal.isEmpty() && whenFinal.firstKey() <= turn) {
            whenFinal.pollFirstEntry().getValue().forEach(Runnable::run);
        }
    }

    @Override
    public void undone(long upTo, String reason) {
        if (!hasBegun) {
            // It did nothing, and heard nothing: the next life hears all of it.
            return;
        }
        String undone = "it did not happen, as its turn was undone (" + reason + "); ask again";
        requests.undone(() -> recording.perform(core.undone(upTo, undone)));
    }

    private void tellFinal(long turn) {
        long now = System.nanoTime();
        while (!begun.isEmpty() && begun.element().turn() <= turn) {
            measures.becameFinal(now - begun.remove().nanos());
        }
    }

    /** Says how long things take from now on. Any thread. */
    public void measure(Measures by) {
        measures = by;
    }

    /** Runs something once a turn is final; at once where it is. */
    public void whenFinal(long turn, Runnable what) {
        if (turn <= core.finals().outside()) {
            what.run();
        } else {
            whenFinal.computeIfAbsent(turn, it -> new ArrayList<>()).add(what);
        }
    }

    @Override
    public boolean turn() {
        Moment at = clock.get();
        requests.tidy();
        if (sideBySide != null) {
            core.runsAhead(sideBySide.anyRuns());
        }
        recording.perform(core.tick(at));
        boolean noted = note();
        questions.ifPresent(it -> recording.perform(it.orphans()));
        long notFinal = guard.room().bytesNotFinal();
        core.take(
                noRoom || held
                        ? Intake.NOTHING
                        : notFinal < options.unforcedBytes()
                                        && !scarce
                                        && guard.room().outbox().bytes() < options.outboxBytes()
                                ? Intake.ALL
                                : notFinal < 4 * options.unforcedBytes()
                                        ? Intake.SERVICES
                                        : Intake.NOTHING);
        if (sideBySide != null && sideBySide.waits(at)) {
            return noted;
        }
        Optional<Input> next = core.next(at);
        if (next.isPresent()) {
            measured(next.get());
        }
        return next.isPresent() || noted;
    }

    /** All that is to be noted, by one turn; while turns are held it waits as inputs do. */
    private boolean note() {
        if (held || notes.isEmpty()) {
            return false;
        }
        List<Note> all = List.copyOf(notes);
        notes.clear();
        state.begin();
        all.forEach(it -> it.change().accept(this::isOpenWrite));
        Changes changes = sealed();
        Optional<Delta> delta = core.note();
        delta.ifPresent(
                it -> {
                    recording.append(it, changes);
                    all.forEach(each -> whenFinal(it.turn(), each.isFinal()));
                });
        return delta.isPresent();
    }

    /** Whether the write with this id may be made again (K17). */
    private boolean isOpenWrite(String id) {
        return core.isOpen(Long.parseLong(id.substring(id.lastIndexOf('-') + 1)));
    }

    @Override
    public long waitMillis() {
        return core.waitMillis(clock.get());
    }

    private Changes sealed() {
        Changes changes = state.seal();
        if (sideBySide != null && !changes.isEmpty()) {
            sideBySide.changed();
        }
        return changes;
    }

    private void measured(Input input) {
        Measures by = measures;
        if (by == Measures.NONE) {
            run(input);
            return;
        }
        long before = core.newestTurn();
        long inLane = done(input).map(SideBySide.Done::nanos).orElse(0L);
        long from = System.nanoTime() - inLane;
        run(input);
        by.ran(System.nanoTime() - from);
        if (core.newestTurn() > before) {
            begun.add(new Begun(core.newestTurn(), from));
        }
    }

    private void run(Input input) {
        String type = input.body().type();
        if (input instanceof Input.Message && type.equals(ServiceCore.NOTHING.type())) {
            recording.append(core.commit(Effects.none(core.newestTimer())), Changes.NONE);
            return;
        }
        if (!isAllowed(input)) {
            LOG.warn("{}: {} came from somebody who may not send it: {}", name, type, input);
            recording.perform(core.forbidden("you may not send " + type + " to " + name));
            return;
        }
        if (isAgain(input)) {
            return;
        }
        Optional<Taking> answer = questions.flatMap(it -> it.of(input));
        if (answer.isPresent()) {
            take(input, input.body(), answer.get());
            return;
        }
        Optional<QueryHandler<Object>> query = handlers.query(type);
        if (query.isPresent()
                && (input instanceof Input.Outside || input instanceof Input.Message)) {
            query(input, query.get());
            return;
        }
        Optional<Taking> taking =
                input instanceof Input.Returned returned
                        ? handlers.returned(type).map(it -> returned(it, returned))
                        : handlers.message(type).map(it -> it::take);
        if (taking.isEmpty()) {
            boolean cameBack = input instanceof Input.Returned;
            LOG.warn("{} has no handler for {}{}", name, type, cameBack ? " that came back" : "");
            recording.perform(cameBack ? core.unclaimed() : core.unknownType());
            return;
        }
        take(input, taking.get());
    }

    /** Whether it is a request whose key says what became of it; then that is told. */
    private boolean isAgain(Input input) {
        Optional<DoorRequest.Key> key = requests.begins(input);
        if (key.isEmpty()) {
            return false;
        }
        state.beginQuery();
        Optional<DoorRequest.Outcome> outcome = keys.look(key.get(), core.nowMillis());
        state.rollback();
        outcome.ifPresent(
                it -> {
                    requests.decide(input, it);
                    recording.perform(core.answered(DoorRequests.NOTHING));
                });
        return outcome.isPresent();
    }

    private boolean isAllowed(Input input) {
        String type = input.body().type();
        if (input instanceof Input.Message it) {
            boolean outside = it.peer().indexOf(ServiceCore.RESERVED) >= 0;
            return it.peer().equals(name) || options.allows(type, it.name(), outside);
        }
        return !(input instanceof Input.Outside) || options.allows(type, "", true);
    }

    /** Gives a message to its handler. */
    interface Taking {
        void take(Object message, OpenTurn turn) throws Exception;
    }

    private static Taking returned(MessageHandler<Returned<Object>> handler, Input.Returned input) {
        Sent sent = new Sent(input.service(), input.number());
        return (message, turn) ->
                handler.take(
                        new Returned<>(sent, message, input.perhapsConsumed(), input.reason()),
                        turn);
    }

    /**
     * Null where the bytes are not of that type, or another partition's; the input is a dead letter
     * then (K12).
     */
    private Object decoded(Input input) {
        Class<?> type = handlers.type(input.body().type()).orElseThrow();
        try {
            Object message = types.decode(type, input.body().bytes());
            Optional<String> refusal =
                    input instanceof Input.Message || input instanceof Input.Outside
                            ? options.routing().refusal(message)
                            : Optional.empty();
            if (refusal.isPresent()) {
                LOG.warn("{}: {}: {}", name, type, refusal.get());
                recording.perform(core.forbidden(refusal.get()));
                return null;
            }
            return message;
        } catch (IllegalArgumentException e) {
            LOG.warn("{} cannot read a message of type {}", name, input.body().type(), e);
            recording.perform(core.forbidden("it cannot be read: " + e.getMessage()));
            return null;
        }
    }

    private static Optional<String> sender(Input input) {
        if (input instanceof Input.Message it) {
            return Optional.of(it.name());
        }
        return input instanceof Input.Outside it ? it.name() : Optional.empty();
    }

    private Optional<Caller> caller(Input input) {
        if (input instanceof Input.Message it) {
            return Optional.of(new Caller(it.peer(), it.number(), core.pairWith(it.peer())));
        }
        return input instanceof Input.Outside it
                ? requests.caller(input)
                        .or(() -> Optional.of(new Caller(it.caller(), it.request())))
                : Optional.empty();
    }

    private OpenTurn open(Input input, boolean query) {
        return new OpenTurn(
                name,
                handlers,
                types,
                past,
                Instant.ofEpochMilli(
                        sideBySide == null ? core.nowMillis() : sideBySide.nowMillis(input)),
                sideBySide == null ? random : sideBySide.numbers(input),
                sender(input),
                caller(input),
                query,
                options.largestMessageBytes(),
                options.noEnsemble(),
                options.routing());
    }

    /** Which inputs may run in a lane: messages, without what the turn thread alone knows of. */
    private final class AheadRules implements SideBySide.Rules {

        @Override
        public boolean mayRunAhead(Input input) {
            String type = input.body().type();
            boolean unasked =
                    input instanceof Input.Outside
                            || (input instanceof Input.Message it && it.answers() == 0);
            return unasked
                    && handlers.message(type).isPresent()
                    && handlers.query(type).isEmpty()
                    && isAllowed(input)
                    && requests.caller(input).isEmpty();
        }

        @Override
        public Optional<String> sender(Input input) {
            return Turns.sender(input);
        }

        @Override
        public Optional<Caller> caller(Input input) {
            return Turns.this.caller(input);
        }

        @Override
        public void again() {
            measures.again();
        }
    }

    private Optional<SideBySide.Done> done(Input input) {
        return sideBySide == null ? Optional.empty() : sideBySide.done(input);
    }

    private void take(Input input, Taking taking) {
        Optional<SideBySide.Done> done = done(input);
        if (done.isPresent()) {
            commit(input, done.get());
            return;
        }
        Object message = decoded(input);
        if (message != null) {
            take(input, message, taking);
        }
    }

    private void take(Input input, Object message, Taking taking) {
        if (!isStateSound(input)) {
            return;
        }
        OpenTurn turn = open(input, false);
        state.begin();
        Throwable thrown =
                call(
                        turn,
                        () -> {
                            if (message instanceof Asks<?> asks) {
                                turn.take(asks);
                            }
                            taking.take(message, turn);
                            turn.throwUnlessAnswered(message);
                            requests.remember(input, turn);
                        });
        commit(input, turn, thrown);
    }

    /** Commits what a handler did in a lane, of which all that it saw is as it was (P1). */
    private void commit(Input input, SideBySide.Done done) {
        if (!isStateSound(input)) {
            return;
        }
        state.begin();
        Throwable thrown = done.thrown();
        if (thrown == null) {
            try {
                done.written().makeIn(state);
                requests.remember(input, done.turn());
            } catch (RuntimeException e) {
                thrown = e;
            }
        }
        commit(input, done.turn(), thrown);
    }

    /** Whether no value was changed in place, where a checkpoint begins; else the input fails. */
    private boolean isStateSound(Input input) {
        if (guard.folding().beginsCheckpoint()) {
            try {
                state.check();
            } catch (IllegalStateException e) {
                failed(input, e);
                return false;
            }
        }
        return true;
    }

    private void commit(Input input, OpenTurn turn, Throwable thrown) {
        Changes changes;
        try {
            if (thrown != null) {
                state.rollback();
                failed(input, thrown);
                return;
            }
            changes = sealed();
        } catch (IllegalStateException e) {
            // A value was changed in place; the turn is rolled back already (C12).
            failed(input, e);
            return;
        }
        Effects effects = requests.known(turn.effects(), input, turn);
        Delta delta = core.commit(effects);
        requests.committed(input, turn, delta.turn());
        recording.append(delta, changes);
        leaveEarly();
    }

    /** The replies of the turn that was just given away may leave at once (C7, C9). */
    private void leaveEarly() {
        if (early) {
            lookAtOffice();
            recording.perform(core.early(clock.get()));
        }
    }

    private void lookAtOffice() {
        guard.officeSince().ifPresent(core::provenSince);
    }

    private void query(Input input, QueryHandler<Object> handler) {
        Object message = decoded(input);
        if (message == null) {
            return;
        }
        OpenTurn turn = open(input, true);
        Body[] answer = new Body[1];
        state.beginQuery();
        Throwable thrown =
                call(
                        turn,
                        () -> {
                            if (message instanceof Asks<?> asks) {
                                turn.take(asks);
                            }
                            Object given = handler.answer(message, turn);
                            if (given != null) {
                                turn.throwUnlessAskedFor(given);
                            }
                            answer[0] = answer(input, given);
                            requests.queried(input, given);
                        });
        try {
            state.rollback();
        } catch (IllegalStateException e) {
            // A value was changed in place; the query is ended all the same (C12).
            thrown = thrown == null ? e : thrown;
        }
        if (thrown != null) {
            failed(input, thrown);
        } else if (input instanceof Input.Message it) {
            // It has a number, so that it is consumed by a turn.
            recording.append(core.commit(replyOnly(it, answer[0])), Changes.NONE);
            leaveEarly();
        } else if (early) {
            lookAtOffice();
            recording.perform(core.answered(answer[0], clock.get()));
        } else {
            recording.perform(core.answered(answer[0]));
        }
    }

    private Body answer(Input input, Object given) {
        if (given == null) {
            throw new IllegalArgumentException(
                    "the query handler of " + input.body().type() + " answered null");
        }
        Body answer = body(given);
        if (answer.bytes().length > options.largestMessageBytes()) {
            throw new IllegalArgumentException(
                    "the answer has "
                            + answer.bytes().length
                            + " bytes, and at most "
                            + options.largestMessageBytes()
                            + " are allowed: ask for a part");
        }
        return answer;
    }

    private Effects replyOnly(Input.Message to, Body answer) {
        return new Effects(
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(new Effects.Reply(to.peer(), to.number(), answer)),
                core.newestTimer(),
                false);
    }

    /** Runs a handler; says what it threw. Exhausted memory ends the process. */
    private Throwable call(OpenTurn turn, Callable handler) {
        TurnGuard.enter(name);
        handlerSinceNanos = System.nanoTime();
        try {
            handler.call();
            return null;
        } catch (Throwable e) {
            if (e instanceof VirtualMachineError error && !(e instanceof StackOverflowError)) {
                throw error;
            }
            return e;
        } finally {
            handlerEndedNanos = System.nanoTime();
            handlerSinceNanos = 0;
            TurnGuard.leave();
            turn.end();
            // A handler that was interrupted, or says so, must not wake the thread for ever.
            boolean unused = Thread.interrupted();
        }
    }

    /** How long the handler that runs has taken so far, in ms; 0 where none runs. Any thread. */
    long handlerMillis() {
        long since = handlerSinceNanos;
        if (since == 0 && sideBySide != null) {
            since = sideBySide.sinceNanos();
        }
        return since == 0 ? 0 : (System.nanoTime() - since) / 1_000_000;
    }

    /**
     * How long the thread has been in one step, and in no handler, in ms: it waits for something,
     * though it must not (K8). Any thread.
     *
     * @param stepSinceNanos when the step began; 0 where none runs
     */
    long blockedMillis(long stepSinceNanos) {
        if (stepSinceNanos == 0 || handlerSinceNanos != 0) {
            return 0;
        }
        // A handler may be the first part of the step.
        long ended = handlerEndedNanos;
        long since = ended - stepSinceNanos > 0 ? ended : stepSinceNanos;
        return (System.nanoTime() - since) / 1_000_000;
    }

    /** Lets no handler in a lane wait for the turn thread, as that runs no more. Any thread. */
    void over() {
        if (sideBySide != null) {
            sideBySide.over();
        }
    }

    private interface Callable {
        void call() throws Exception;
    }

    private void failed(Input input, Throwable e) {
        measures.failed();
        LOG.warn("{}: a handler of {} failed", name, input.body().type(), e);
        String whole = e.getClass().getSimpleName() + ": " + e.getMessage();
        // It is kept and sent: the one that wants all of it looks into the log.
        String reason = whole.substring(0, Math.min(whole.length(), LONGEST_REASON));
        recording.perform(core.failed(reason, clock.get()));
    }

    /** Notes come by turns that no input led to. */
    private final class ByOwnTurns implements OnceNotes.Turns {

        @Override
        public void look(Runnable look) {
            state.beginQuery();
            try {
                look.run();
            } finally {
                state.rollback();
            }
        }

        @Override
        public void note(Consumer<Predicate<String>> change, Runnable isFinal) {
            between.accept(() -> notes.add(new Note(change, isFinal)));
        }
    }

    /** What turns ask of those before. */
    private final class PastOfCore implements OpenTurn.Past {

        @Override
        public long sentTo(String service) {
            return core.sentTo(service);
        }

        @Override
        public boolean numbersMessages() {
            return sideBySide == null;
        }

        @Override
        public boolean acked(String service, long number) {
            return core.acked(service, number);
        }

        @Override
        public long newestTimer() {
            return core.newestTimer();
        }

        @Override
        public boolean isSet(long timer) {
            return core.isSet(timer);
        }

        @Override
        public boolean waits(Caller caller) {
            return RequestKeys.isCaller(caller)
                    ? keys.waits(caller.number())
                    : core.waits(caller.peer(), caller.number());
        }

        @Override
        public void ask(Sent sent, Questions.Question question) {
            questions.orElseThrow().put(sent, question);
        }

        @Override
        public boolean isOver(Caller caller) {
            return caller.pair() != 0 && caller.pair() != core.pairWith(caller.peer());
        }
    }
}
