package io.saucr.services.turns;

import io.saucr.services.Asks;
import io.saucr.services.Continuation;
import io.saucr.services.Handlers;
import io.saucr.services.Query;
import io.saucr.services.Returned;
import io.saucr.services.Service;
import io.saucr.services.core.ServiceCore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which handler takes which type of message of one service: filled by {@link Service#handlers},
 * then fixed. Types are told apart by the name under which they are sent, so two classes of one
 * name are refused. One thread fills it; any thread reads it afterwards.
 */
public final class HandlerTable implements Handlers {

    private static final Duration SHORTEST_PERIOD = Duration.ofMillis(1);

    private final Map<String, Class<?>> classes = new HashMap<>();
    private final Map<String, MessageHandler<Object>> messages = new HashMap<>();
    private final Map<String, MessageHandler<Returned<Object>>> returned = new HashMap<>();
    private final Map<String, QueryHandler<Object>> queries = new HashMap<>();
    private final Map<String, OutputHandler<Object>> outputs = new HashMap<>();
    private final Map<String, Repeated> repeated = new HashMap<>();

    /** By the names of continuations, which do not travel: peers cannot name one. */
    private final Map<String, Answering> answers = new HashMap<>();

    private final Map<String, UnansweredHandler<Object>> unanswered = new HashMap<>();
    private boolean complete;

    /**
     * A message that the service gives itself again and again.
     *
     * @param period from one to the next
     * @param message what
     */
    record Repeated(Duration period, Object message) {}

    /**
     * What takes answers.
     *
     * @param continuation of which class
     * @param answer of which type
     */
    record Answering(
            Class<?> continuation, Class<?> answer, AnswerHandler<Object, Object> handler) {}

    private final MessageTypes types;

    private HandlerTable(MessageTypes types) {
        this.types = types;
    }

    /**
     * Asks a service for its handlers.
     *
     * @throws IllegalArgumentException as the methods of {@link Handlers} do
     */
    static HandlerTable of(Service service, MessageTypes types) {
        HandlerTable table = new HandlerTable(types);
        service.handlers(table);
        table.complete = true;
        for (Repeated each : table.repeated.values()) {
            String type = table.types.name(each.message().getClass());
            if (!table.messages.containsKey(type)) {
                throw new IllegalArgumentException(
                        "every("
                                + each.period()
                                + ") gives "
                                + type
                                + ", which no message handler takes: add one");
            }
        }
        Set<String> deaf = new TreeSet<>(table.answers.keySet());
        deaf.removeAll(table.unanswered.keySet());
        if (!deaf.isEmpty()) {
            throw new IllegalArgumentException(
                    "answer("
                            + deaf.iterator().next()
                            + ") has no unanswered handler of that type: add one, which says what"
                            + " happens where no answer comes");
        }
        return table;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <M> void message(Class<M> type, MessageHandler<? super M> handler) {
        if (Query.class.isAssignableFrom(type)) {
            throw new IllegalArgumentException(
                    type.getName()
                            + " is a Query, which changes nothing and may be asked again: answer"
                            + " it by query(...), or let it implement Asks");
        }
        put(messages, "message", type, (MessageHandler<Object>) handler);
        if (queries.containsKey(types.name(type))) {
            throw takenTwice("message", type);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public <Q> void query(Class<Q> type, QueryHandler<? super Q> handler) {
        put(queries, "query", type, (QueryHandler<Object>) handler);
        if (messages.containsKey(types.name(type))) {
            throw takenTwice("query", type);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public <C> void output(Class<C> type, OutputHandler<? super C> handler) {
        put(outputs, "output", type, (OutputHandler<Object>) handler);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <M> void returned(Class<M> type, MessageHandler<Returned<M>> handler) {
        put(
                returned,
                "returned",
                type,
                (MessageHandler<Returned<Object>>) (MessageHandler<?>) handler);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <A, C extends Continuation<A>> void answer(
            Class<C> type, AnswerHandler<? super C, ? super A> handler) {
        throwIfComplete();
        types.check(type);
        Class<?> answer = Asks.parameter(type, Continuation.class);
        types.checkAnswer(answer);
        Answering answering =
                new Answering(
                        type,
                        answer,
                        (AnswerHandler<Object, Object>) (AnswerHandler<?, ?>) handler);
        if (answers.putIfAbsent(types.name(type), answering) != null) {
            throw takenTwice("answer", type);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public <C extends Continuation<?>> void unanswered(
            Class<C> type, UnansweredHandler<? super C> handler) {
        throwIfComplete();
        types.check(type);
        if (unanswered.putIfAbsent(types.name(type), (UnansweredHandler<Object>) handler) != null) {
            throw takenTwice("unanswered", type);
        }
    }

    @Override
    public void every(Duration period, Object message) {
        throwIfComplete();
        if (period.compareTo(SHORTEST_PERIOD) < 0) {
            throw new IllegalArgumentException(
                    "a period is at least " + SHORTEST_PERIOD + ", not " + period);
        }
        name(message.getClass());
        String type = types.name(message.getClass());
        if (repeated.putIfAbsent(type, new Repeated(period, message)) != null) {
            throw takenTwice("every", message.getClass());
        }
    }

    private <H> void put(Map<String, H> handlers, String what, Class<?> type, H handler) {
        throwIfComplete();
        if (handlers.putIfAbsent(name(type), handler) != null) {
            throw takenTwice(what, type);
        }
    }

    private String name(Class<?> type) {
        types.check(type);
        String name = types.name(type);
        if (name.indexOf(ServiceCore.RESERVED) >= 0) {
            throw new IllegalArgumentException(
                    type.getName() + " is called " + name + ", which must have no '#'");
        }
        Class<?> other = classes.putIfAbsent(name, type);
        if (other != null && other != type) {
            throw new IllegalArgumentException(
                    type.getName()
                            + " and "
                            + other.getName()
                            + " would both be sent as \""
                            + name
                            + "\": give one of them another name");
        }
        return name;
    }

    private static IllegalArgumentException takenTwice(String what, Class<?> type) {
        return new IllegalArgumentException(
                what + "(" + type.getName() + ") is there already: a type has one handler");
    }

    private void throwIfComplete() {
        if (complete) {
            throw new IllegalStateException(
                    "handlers are added while Service.handlers runs, not afterwards");
        }
    }

    Optional<Class<?>> type(String name) {
        return Optional.ofNullable(classes.get(name));
    }

    Optional<MessageHandler<Object>> message(String type) {
        return Optional.ofNullable(messages.get(type));
    }

    Optional<MessageHandler<Returned<Object>>> returned(String type) {
        return Optional.ofNullable(returned.get(type));
    }

    /** Whether the service asks others, so that questions are a part of its state. */
    boolean asks() {
        return !answers.isEmpty();
    }

    Optional<Answering> answering(String continuation) {
        return Optional.ofNullable(answers.get(continuation));
    }

    UnansweredHandler<Object> unanswered(String continuation) {
        return unanswered.get(continuation);
    }

    Optional<QueryHandler<Object>> query(String type) {
        return Optional.ofNullable(queries.get(type));
    }

    Optional<OutputHandler<Object>> output(String type) {
        return Optional.ofNullable(outputs.get(type));
    }

    List<Repeated> repeated() {
        return new ArrayList<>(repeated.values());
    }
}
