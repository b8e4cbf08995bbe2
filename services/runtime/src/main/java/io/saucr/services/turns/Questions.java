package io.saucr.services.turns;

import io.saucr.services.Bytes;
import io.saucr.services.MapState;
import io.saucr.services.Sent;
import io.saucr.services.Timer;
import io.saucr.services.Unanswered;
import io.saucr.services.core.Action;
import io.saucr.services.core.Body;
import io.saucr.services.core.Input;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.state.StateStore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The questions of a service to others that have no answer yet: a part of its state, changed by the
 * very turns that ask and that take the answer (K3). A question is found by the number of its
 * message, which answers and what comes back name within their pair (K11, K15). On the wire a
 * question is a message like any other. Turn thread.
 */
final class Questions {

    /** The type of a timer, or a message of the service to itself: a question has no answer. */
    private static final String UNANSWERED = "#unanswered";

    private static final String NAME = "#questions";

    /**
     * A question.
     *
     * @param type of its continuation; empty once its service heard that no answer came in time
     * @param timer that says so; 0 without one
     */
    record Question(String type, Bytes continuation, long timer) {

        /** An answer that comes after all is dropped. */
        private static final Question OVER = new Question("", Bytes.of(), 0);
    }

    private final String name;
    private final StateStore state;
    private final ServiceCore core;
    private final HandlerTable handlers;
    private final MessageTypes types;
    private final MapState<Sent, Question> questions;

    /**
     * How many pairs were over when it was looked last which questions nothing answers any more.
     */
    private long lookedAt = -1;

    Questions(
            String name,
            StateStore state,
            ServiceCore core,
            HandlerTable handlers,
            MessageTypes types) {
        this.name = name;
        this.state = state;
        this.core = core;
        this.handlers = handlers;
        this.types = types;
        questions = state.reserve(it -> it.map(NAME, Sent.class, Question.class));
    }

    /** In the turn that asks. */
    void put(Sent sent, Question question) {
        questions.put(sent, question);
    }

    /** That a question has no answer, as the service tells itself. */
    static Body unanswered(Sent question) {
        String text = question.number() + " " + question.service();
        return new Body(UNANSWERED, text.getBytes(StandardCharsets.UTF_8));
    }

    private static Sent question(Body body) {
        String text = new String(body.bytes(), StandardCharsets.UTF_8);
        int space = text.indexOf(' ');
        return new Sent(text.substring(space + 1), Long.parseLong(text.substring(0, space)));
    }

    /**
     * What follows from pairs that are over: of a question that its generation consumed the service
     * tells itself that nothing answers it any more. Those that it did not consume come back.
     * Between turns.
     */
    List<Action> orphans() {
        if (lookedAt == core.pairsOver()) {
            return List.of();
        }
        lookedAt = core.pairsOver();
        List<Sent> orphans = new ArrayList<>();
        state.beginQuery();
        for (Map.Entry<Sent, Question> each : questions.entries()) {
            if (isOrphan(each.getKey())) {
                orphans.add(each.getKey());
            }
        }
        state.rollback();
        List<Action> actions = new ArrayList<>();
        orphans.forEach(it -> actions.addAll(core.submit(name, unanswered(it))));
        return actions;
    }

    private boolean isOrphan(Sent question) {
        return core.isOrphan(question.service(), question.number());
    }

    /** What takes an input that answers a question, or says that nothing will. Between turns. */
    Optional<Turns.Taking> of(Input input) {
        Optional<Sent> subject = subject(input);
        if (subject.isEmpty()) {
            return Optional.empty();
        }
        Sent sent = subject.get();
        state.beginQuery();
        Question question = questions.get(sent);
        state.rollback();
        if (question == null) {
            return input.body().type().equals(UNANSWERED)
                    ? Optional.of((body, turn) -> {})
                    : Optional.empty();
        }
        if (question.type().isEmpty()) {
            return Optional.of((body, turn) -> questions.remove(sent));
        }
        // Without a handler it waits as a message of an unknown type does, for a release with one.
        return handlers.answering(question.type())
                .map(it -> (body, turn) -> take(input, sent, question, it, turn));
    }

    private Optional<Sent> subject(Input input) {
        if (input instanceof Input.Message it && it.answers() > 0) {
            return Optional.of(new Sent(it.name(), it.answers()));
        }
        if (input instanceof Input.Returned it) {
            return Optional.of(new Sent(it.service(), it.number()));
        }
        boolean own =
                input instanceof Input.Timer
                        || (input instanceof Input.Message it && it.peer().equals(name));
        return own && input.body().type().equals(UNANSWERED)
                ? Optional.of(question(input.body()))
                : Optional.empty();
    }

    private void take(
            Input input,
            Sent sent,
            Question question,
            HandlerTable.Answering answering,
            OpenTurn turn)
            throws Exception {
        if (input instanceof Input.Timer && !isOrphan(sent)) {
            questions.put(sent, Question.OVER);
        } else {
            Question unused = questions.remove(sent);
        }
        if (question.timer() != 0 && !(input instanceof Input.Timer)) {
            boolean unused = turn.cancel(new Timer(question.timer()));
        }
        Object continuation =
                types.decode(answering.continuation(), question.continuation().toArray());
        Body body = input.body();
        Optional<Class<?>> kind =
                input instanceof Input.Message
                        ? types.kind(answering.answer(), body.type()).map(it -> it)
                        : Optional.empty();
        if (kind.isPresent()) {
            answering.handler().take(continuation, types.decode(kind.get(), body.bytes()), turn);
        } else {
            handlers.unanswered(question.type())
                    .take(continuation, why(input, sent, answering.answer()), turn);
        }
    }

    private Unanswered why(Input input, Sent sent, Class<?> expected) {
        String service = sent.service();
        if (input instanceof Input.Returned it) {
            return new Unanswered(sent, it.perhapsConsumed(), it.reason());
        }
        if (input instanceof Input.Timer) {
            return new Unanswered(sent, true, service + " did not answer in time");
        }
        String type = input.body().type();
        return new Unanswered(
                sent,
                true,
                type.equals(UNANSWERED)
                        ? "the generation of " + service + " that consumed the question is lost"
                        : service
                                + " answered by "
                                + type
                                + ", and "
                                + types.name(expected)
                                + " was expected");
    }
}
