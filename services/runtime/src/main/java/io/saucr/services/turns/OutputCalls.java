package io.saucr.services.turns;

import io.saucr.services.Handlers.OutputHandler;
import io.saucr.services.core.Body;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the calls to the world that final turns asked for (K17), on threads that no turn waits for:
 * until a call returns, each attempt with the same id, further and further apart. Calls are made
 * side by side, in no order. What is not answered when the process ends is called again by the
 * next. Any thread.
 */
public final class OutputCalls {

    static final Duration FIRST_RETRY = Duration.ofMillis(100);
    static final Duration LAST_RETRY = Duration.ofMinutes(1);

    private static final Logger LOG = LoggerFactory.getLogger(OutputCalls.class);

    private final String service;
    private final HandlerTable handlers;
    private final MessageTypes types;
    private final ScheduledExecutorService executor;
    private final Answers answers;

    /** Takes what calls returned; on a thread of the executor. */
    interface Answers {

        /**
         * A call returned.
         *
         * @param number of the output
         * @param answer a message to the service, where there is one
         */
        void answered(long number, Optional<Body> answer);
    }

    /**
     * Calls.
     *
     * @param service its name
     * @param executor runs the calls and waits between attempts; ended by its owner, calls and all
     */
    OutputCalls(
            String service,
            HandlerTable handlers,
            MessageTypes types,
            ScheduledExecutorService executor,
            Answers answers) {
        this.service = service;
        this.handlers = handlers;
        this.types = types;
        this.executor = executor;
        this.answers = answers;
    }

    /**
     * Makes a call, now and again until it returns. Only for turns that are final (K4).
     *
     * @param number of the output
     * @param id of the output, the same across starts
     * @param call of a type that has a handler, else it waits for a start that has one
     */
    void call(long number, String id, Body call) {
        Optional<OutputHandler<Object>> handler = handlers.output(call.type());
        if (handler.isEmpty()) {
            LOG.warn(
                    "{}: output {} waits, as there is no output handler for {} any more",
                    service,
                    id,
                    call.type());
            return;
        }
        attempt(number, id, call, handler.get(), FIRST_RETRY, Duration.ZERO);
    }

    private void attempt(
            long number,
            String id,
            Body call,
            OutputHandler<Object> handler,
            Duration nextDelay,
            Duration delay) {
        try {
            // Nothing that a call throws ends in the future: it leads to another attempt.
            Future<?> unused =
                    executor.schedule(
                            () -> make(number, id, call, handler, nextDelay),
                            delay.toMillis(),
                            TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: output {} is left to the next start", service, id);
        }
    }

    /** One attempt, on this thread. */
    static Optional<Body> once(
            HandlerTable handlers,
            MessageTypes types,
            String id,
            Body call,
            OutputHandler<Object> handler)
            throws Exception {
        Class<?> type = handlers.type(call.type()).orElseThrow();
        Object returned = handler.call(types.decode(type, call.bytes()), id);
        return Optional.ofNullable(returned)
                .map(it -> new Body(types.name(it.getClass()), types.encode(it)));
    }

    private void make(
            long number, String id, Body call, OutputHandler<Object> handler, Duration delay) {
        Optional<Body> answer;
        try {
            answer = once(handlers, types, id, call, handler);
        } catch (Exception | Error e) {
            LOG.warn(
                    "{}: output {} of type {} failed and is tried again in {} ms",
                    service,
                    id,
                    call.type(),
                    delay.toMillis(),
                    e);
            Duration doubled = delay.multipliedBy(2);
            Duration next = doubled.compareTo(LAST_RETRY) > 0 ? LAST_RETRY : doubled;
            attempt(number, id, call, handler, next, delay);
            return;
        }
        answers.answered(number, answer);
    }
}
