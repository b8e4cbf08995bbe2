package io.saucr.services.turns;

import io.saucr.services.Asks;
import io.saucr.services.Bytes;
import io.saucr.services.Caller;
import io.saucr.services.Continuation;
import io.saucr.services.EnsembleWrites;
import io.saucr.services.Query;
import io.saucr.services.Sent;
import io.saucr.services.Timer;
import io.saucr.services.Turn;
import io.saucr.services.core.Body;
import io.saucr.services.core.Effects;
import io.saucr.services.core.ServiceCore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * The turn that a handler sees. It gathers what the handler wants to happen and lets nothing out
 * (K2); {@link #end} closes it, and from then on, as on any other thread, its methods throw. Thread
 * of the turn.
 */
public final class OpenTurn implements Turn {

    /** All messages of a turn together: what a turn does is one record. */
    static final int LARGEST_TURN_BYTES = 32 << 20;

    /** What a message takes in a record in addition to its bytes, roughly. */
    private static final int OVERHEAD_BYTES = 64;

    /** The type of outputs that are writes to the ensemble; no class has such a name. */
    static final String ENSEMBLE_WRITE = "#ensemble";

    private static final Duration LONGEST_DELAY = Duration.ofDays(36_500);

    /** What a turn asks of the turns before it. */
    interface Past {

        /** How many messages to this service were sent by all turns before. */
        long sentTo(String service);

        /** Whether that one's consuming turn is final at the receiver (K5). */
        boolean acked(String service, long number);

        /** Whether messages get their numbers in the turn, and not at its commit (P4). */
        default boolean numbersMessages() {
            return true;
        }

        /** The largest id of a timer that a turn before set. */
        long newestTimer();

        /** The id of the next timer of this turn. */
        default long nextTimer(long newestOfTurn) {
            return newestOfTurn + 1;
        }

        /** Whether that timer is set. */
        boolean isSet(long timer);

        /** Whether the sender of that message waits for an answer. */
        boolean waits(Caller caller);

        /** Refuses questions to others where this cannot keep one. */
        default void throwUnlessAsking() {}

        /**
         * Keeps a question until its answer is there; a part of the turn's changes of the state.
         */
        void ask(Sent sent, Questions.Question question);

        /**
         * Whether one of the two generations is lost, to which the caller's number belongs (K11).
         */
        boolean isOver(Caller caller);
    }

    private final Thread thread = Thread.currentThread();
    private final String service;
    private final HandlerTable handlers;
    private final MessageTypes types;
    private final Past past;
    private final Instant now;
    private final RandomGenerator random;
    private final Optional<String> sender;
    private final Optional<Caller> caller;
    private final boolean query;
    private final int largestMessageBytes;
    private final String noEnsemble;
    private final Routing routing;

    private final List<Effects.Send> sends = new ArrayList<>();
    private final Map<String, Long> sentTo = new HashMap<>();
    private final Map<Long, Effects.TimerSet> timers = new LinkedHashMap<>();
    private final Set<Long> cancelled = new HashSet<>();
    private final List<Body> outputs = new ArrayList<>();
    private final Map<Caller, Effects.Reply> replies = new LinkedHashMap<>();
    private final Map<Caller, Object> answers = new LinkedHashMap<>();
    private long newestTimer;
    private long bytes;
    private Class<?> answerType = Object.class;
    private boolean detached;
    private boolean over;

    /**
     * Opens a turn for the handler that runs next on this thread.
     *
     * @param service its name, for messages
     * @param handlers says which outputs and timers there are
     * @param types of messages
     * @param past the turns before
     * @param now its time
     * @param random for the handler
     * @param sender whose message it is
     * @param caller who waits for an answer
     * @param query whether it may change nothing
     * @param largestMessageBytes of the bytes of one message
     * @param noEnsemble why it cannot write to the ensemble, or null where it can
     * @param routing which services have partitions
     */
    OpenTurn(
            String service,
            HandlerTable handlers,
            MessageTypes types,
            Past past,
            Instant now,
            RandomGenerator random,
            Optional<String> sender,
            Optional<Caller> caller,
            boolean query,
            int largestMessageBytes,
            String noEnsemble,
            Routing routing) {
        this.service = service;
        this.handlers = handlers;
        this.types = types;
        this.past = past;
        this.now = now;
        this.random = random;
        this.sender = sender;
        this.caller = caller;
        this.query = query;
        this.largestMessageBytes = largestMessageBytes;
        this.noEnsemble = noEnsemble;
        this.routing = routing;
        this.newestTimer = past.newestTimer();
    }

    /** Ends the turn. */
    void end() {
        over = true;
    }

    /** What the handler wanted. */
    Effects effects() {
        return new Effects(
                List.copyOf(sends),
                List.copyOf(timers.values()),
                List.copyOf(cancelled),
                List.copyOf(outputs),
                List.copyOf(replies.values()),
                newestTimer,
                detached);
    }

    /**
     * The message of this turn asks for an answer.
     *
     * @throws IllegalArgumentException where its class does not say of which type
     */
    void take(Asks<?> message) {
        answerType = Asks.answerOf(message);
    }

    /** The message was taken: the sender of a question has an answer, or will have one. */
    void throwUnlessAnswered(Object message) {
        if (message instanceof Asks<?>
                && caller.isPresent()
                && !detached
                && !replies.containsKey(caller.get())) {
            throw new IllegalStateException(
                    message.getClass().getName()
                            + " asks for "
                            + answerType.getName()
                            + ", and its handler neither replied nor detached");
        }
    }

    /** An answer to this turn's message. */
    void throwUnlessAskedFor(Object answer) {
        if (!answerType.isInstance(answer)) {
            throw new IllegalArgumentException(
                    "the message asks for "
                            + answerType.getName()
                            + ", and its handler answers by "
                            + answer.getClass().getName());
        }
    }

    /** What was answered, and to whom; the answer to this turn's message among them. */
    Map<Caller, Object> answers() {
        return answers;
    }

    /** Who sent this turn's message and may have an answer. */
    Optional<Caller> caller() {
        return caller;
    }

    /** Whether the answer was left to a later turn. */
    boolean isDetached() {
        return detached;
    }

    @Override
    public Sent send(String name, Object message) {
        Sent sent = numbered(name, message);
        return past.numbersMessages() ? sent : new Sent(sent.service(), 0);
    }

    private Sent numbered(String name, Object message) {
        throwUnlessChanging("send");
        if (message instanceof Query<?>) {
            throw new IllegalArgumentException(
                    message.getClass().getName()
                            + " is a Query, which only clients ask: let it implement Asks, and the"
                            + " other service take it by message(...)");
        }
        Place.checkName(name);
        String to = routing.target(name, message);
        Body body = body(message, "a message to " + to);
        long number = sentTo.computeIfAbsent(to, past::sentTo) + 1;
        sentTo.put(to, number);
        sends.add(new Effects.Send(to, body));
        return new Sent(to, number);
    }

    @Override
    public <A> Sent ask(String to, Asks<A> message, Continuation<A> continuation) {
        return ask(to, message, continuation, Optional.empty());
    }

    @Override
    public <A> Sent ask(String to, Asks<A> message, Continuation<A> continuation, Duration within) {
        checkDelay(within);
        return ask(to, message, continuation, Optional.of(within));
    }

    private Sent ask(
            String to, Asks<?> message, Continuation<?> continuation, Optional<Duration> within) {
        throwUnlessChanging("ask");
        past.throwUnlessAsking();
        String type = types.name(continuation.getClass());
        if (handlers.answering(type).isEmpty()) {
            throw new IllegalArgumentException(
                    "an answer would go to "
                            + type
                            + ", which no answer handler of "
                            + service
                            + " takes: add one");
        }
        byte[] kept = body(continuation, "a continuation").bytes();
        Sent sent = numbered(to, message);
        long timer = within.map(it -> timer(it, Questions.unanswered(sent)).id()).orElse(0L);
        past.ask(sent, new Questions.Question(type, Bytes.of(kept), timer));
        return sent;
    }

    @Override
    public boolean acked(Sent sent) {
        throwUnlessOpen("acked");
        if (sent.number() == 0) {
            throw new IllegalArgumentException(
                    "a message to "
                            + sent.service()
                            + " has no number, as turns of "
                            + service
                            + " run in parallel: let the receiver answer, by an id of your own");
        }
        return past.acked(sent.service(), sent.number());
    }

    @Override
    public void reply(Object answer) {
        throwUnlessChanging("reply");
        Caller waiting = waiting();
        throwUnlessAskedFor(answer);
        replies.put(
                waiting,
                new Effects.Reply(waiting.peer(), waiting.number(), body(answer, "an answer")));
        answers.put(waiting, answer);
    }

    @Override
    public Caller detach() {
        throwUnlessChanging("detach");
        Caller waiting = waiting();
        detached = true;
        return waiting;
    }

    private Caller waiting() {
        Caller waiting =
                caller.orElseThrow(
                        () ->
                                new IllegalStateException(
                                        "nobody waits for an answer to this message: ask sender()"
                                                + " first, or send to a service by its name"));
        if (detached || replies.containsKey(waiting)) {
            throw new IllegalStateException(
                    detached
                            ? "the answer was left to a later turn: give it to the caller that"
                                    + " detach() returned"
                            : "this message was answered already, and gets one answer");
        }
        return waiting;
    }

    @Override
    public void reply(Caller to, Object answer) {
        throwUnlessChanging("reply");
        if (past.isOver(to)) {
            // Its number is another message's by now, or will be.
            return;
        }
        boolean mine = detached && caller.isPresent() && caller.get().equals(to);
        boolean waits = mine || past.waits(to);
        if (!waits && (ServiceCore.isLinkOnly(to.peer()) || RequestKeys.isCaller(to))) {
            // A client without a birth has gone, with its connection or with an earlier start; or a
            // key's time is over.
            return;
        }
        if (replies.containsKey(to) || !waits) {
            throw new IllegalArgumentException(
                    to + " does not wait for an answer: it has got one, or was never detached");
        }
        replies.put(to, new Effects.Reply(to.peer(), to.number(), body(answer, "an answer")));
        answers.put(to, answer);
    }

    @Override
    public Timer after(Duration delay, Object message) {
        throwUnlessChanging("after");
        checkDelay(delay);
        Body body = body(message, "a timer's message");
        if (handlers.message(body.type()).isEmpty()) {
            throw new IllegalArgumentException(
                    "a timer would give "
                            + body.type()
                            + ", which no message handler of "
                            + service
                            + " takes: add one");
        }
        return timer(delay, body);
    }

    private static void checkDelay(Duration delay) {
        if (delay.isNegative() || delay.compareTo(LONGEST_DELAY) > 0) {
            throw new IllegalArgumentException(
                    "a timer goes off after 0 to "
                            + LONGEST_DELAY.toDays()
                            + " days, not after "
                            + delay);
        }
    }

    private Timer timer(Duration delay, Body body) {
        // Not a part of a millisecond early.
        long dueMillis = now.toEpochMilli() + delay.plusNanos(999_999).toMillis();
        long id = past.nextTimer(newestTimer);
        newestTimer = id;
        timers.put(id, new Effects.TimerSet(id, dueMillis, body));
        return new Timer(id);
    }

    @Override
    public boolean cancel(Timer timer) {
        throwUnlessChanging("cancel");
        if (timers.remove(timer.id()) != null) {
            return true;
        }
        return past.isSet(timer.id()) && cancelled.add(timer.id());
    }

    @Override
    public void output(Object call) {
        throwUnlessChanging("output");
        Body body = body(call, "an output");
        if (handlers.output(body.type()).isEmpty()) {
            throw new IllegalArgumentException(
                    service + " has no output handler for " + body.type() + ": add one");
        }
        outputs.add(body);
    }

    @Override
    public EnsembleWrites ensemble() {
        throwUnlessChanging("ensemble");
        if (noEnsemble != null) {
            throw new IllegalStateException(noEnsemble);
        }
        return operation -> {
            throwUnlessChanging("a write to the ensemble");
            Body body = new Body(ENSEMBLE_WRITE, operation.encoded());
            outputs.add(checked(body, "a write to the ensemble"));
        };
    }

    @Override
    public Instant now() {
        throwUnlessOpen("now");
        return now;
    }

    @Override
    public RandomGenerator random() {
        throwUnlessOpen("random");
        return random;
    }

    @Override
    public Optional<String> sender() {
        throwUnlessOpen("sender");
        return sender;
    }

    private Body body(Object message, String what) {
        return checked(new Body(types.name(message.getClass()), types.encode(message)), what);
    }

    private Body checked(Body body, String what) {
        long more = bytes + OVERHEAD_BYTES + body.bytes().length;
        if (more > LARGEST_TURN_BYTES) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "a turn of %s sends more than %,d bytes: do it in several turns, by"
                                    + " messages to itself",
                            service,
                            LARGEST_TURN_BYTES));
        }
        if (body.bytes().length > largestMessageBytes) {
            throw new IllegalArgumentException(
                    what
                            + " of type "
                            + body.type()
                            + " has "
                            + body.bytes().length
                            + " bytes, and at most "
                            + largestMessageBytes
                            + " are allowed: send it in parts, or a name under which it is found");
        }
        bytes = more;
        return body;
    }

    private void throwUnlessChanging(String call) {
        throwUnlessOpen(call);
        if (query) {
            throw new IllegalStateException(
                    call
                            + " was called in a query of "
                            + service
                            + ", which changes nothing: take the question by a message handler");
        }
    }

    private void throwUnlessOpen(String call) {
        if (over || Thread.currentThread() != thread) {
            throw new IllegalStateException(
                    call
                            + " was called "
                            + (over ? "after its turn had ended" : "on another thread")
                            + " in "
                            + service
                            + ": a turn is of use within its handler alone. To continue later, set"
                            + " a timer or send a message; to let a later turn answer, detach");
        }
    }
}
