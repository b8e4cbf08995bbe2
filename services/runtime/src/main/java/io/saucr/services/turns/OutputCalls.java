package io.saucr.services.turns;

import io.saucr.services.Handlers.OutputHandler;
import io.saucr.services.core.Body;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
    private final ScheduledExecutorService executor;
    private final Answers answers;

    /** Numbers of calls that did not return yet: a life that finds them open waits for them. */
    private final Set<Long> underWay = ConcurrentHashMap.newKeySet();

    /** The newest life's. */
    private volatile Maker maker;

    /** Makes single calls. Any thread. */
    interface Maker {

        /** Whether there is a handler for calls of this type; else they wait for another start. */
        boolean makes(String type);

        /**
         * Makes one call.
         *
         * @return the answer, where there is one
         * @throws Exception what the handler threw: to be called again
         */
        Optional<Body> callOnce(String id, Body call) throws Exception;
    }

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
    OutputCalls(String service, ScheduledExecutorService executor, Answers answers) {
        this.service = service;
        this.executor = executor;
        this.answers = answers;
    }

    /** This life makes the calls from now on, those that are tried again, too. */
    void serve(Maker life) {
        maker = life;
    }

    /**
     * Makes a call, now and again until it returns; one that is under way continues instead. Only
     * for turns that are final (K4), so that no other output ever has its number.
     *
     * @param number of the output
     * @param id of the output, the same across starts
     * @param call of a type that has a handler, else it waits for a start that has one
     */
    void call(long number, String id, Body call) {
        if (!maker.makes(call.type())) {
            LOG.warn(
                    "{}: output {} waits, as there is no output handler for {} any more",
                    service,
                    id,
                    call.type());
            return;
        }
        if (underWay.add(number)) {
            attempt(number, id, call, FIRST_RETRY, Duration.ZERO);
        }
    }

    private void attempt(long number, String id, Body call, Duration nextDelay, Duration delay) {
        try {
            // Nothing that a call throws ends in the future: it leads to another attempt.
            Future<?> unused =
                    executor.schedule(
                            () -> make(number, id, call, nextDelay),
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

    private void make(long number, String id, Body call, Duration delay) {
        Optional<Body> answer;
        try {
            answer = maker.callOnce(id, call);
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
            attempt(number, id, call, next, delay);
            return;
        }
        underWay.remove(number);
        answers.answered(number, answer);
    }
}
