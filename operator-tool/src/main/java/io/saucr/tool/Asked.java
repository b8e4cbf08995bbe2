package io.saucr.tool;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Questions to several servers at once. A server that hangs costs the others nothing, and its own
 * row the patience; the thread that waits for it ends with the process.
 */
final class Asked {
    /** So that the question's own time-out, which knows more, comes first. */
    private static final Duration GRACE = Duration.ofMillis(500);

    private static final ExecutorService THREADS =
            Executors.newCachedThreadPool(
                    work -> {
                        Thread thread = new Thread(work, "question");
                        thread.setDaemon(true);
                        return thread;
                    });

    private Asked() {}

    /** One question to one server. */
    interface Question<T> {
        T ask(Endpoint endpoint, Deadline deadline) throws EndpointException, InterruptedException;
    }

    /**
     * What came of it: an answer, or the problem.
     *
     * @param answer null if there is a problem
     * @param problem null if there is an answer
     */
    record Answer<T>(Endpoint endpoint, T answer, EndpointException problem) {
        boolean failed() {
            return problem != null;
        }
    }

    /** The answers of all of them, in their order. */
    static <T> List<Answer<T>> all(
            List<Endpoint> endpoints, Duration patience, Question<T> question)
            throws InterruptedException {
        Deadline end = Deadline.in(patience.plus(GRACE));
        List<Future<T>> futures = new ArrayList<>();
        for (Endpoint endpoint : endpoints) {
            futures.add(THREADS.submit(() -> question.ask(endpoint, Deadline.in(patience))));
        }
        List<Answer<T>> answers = new ArrayList<>();
        for (int i = 0; i < endpoints.size(); i++) {
            answers.add(await(endpoints.get(i), futures.get(i), end, patience));
        }
        return answers;
    }

    /**
     * The answer of one of them.
     *
     * @param end until when it is waited for
     * @param patience what is said of a server that has not answered by then
     */
    static <T> Answer<T> await(Endpoint endpoint, Future<T> future, Deadline end, Duration patience)
            throws InterruptedException {
        try {
            return new Answer<>(
                    endpoint, future.get(end.millisLeft(), TimeUnit.MILLISECONDS), null);
        } catch (TimeoutException e) {
            future.cancel(true);
            return new Answer<>(endpoint, null, EndpointException.silent(patience));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof EndpointException problem) {
                return new Answer<>(endpoint, null, problem);
            }
            throw new IllegalStateException("question to " + endpoint.name(), e.getCause());
        }
    }

    /** Runs something next to the caller. */
    static <T> Future<T> beside(Callable<T> work) {
        return THREADS.submit(work);
    }
}
