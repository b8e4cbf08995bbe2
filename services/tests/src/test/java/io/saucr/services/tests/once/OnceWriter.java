package io.saucr.services.tests.once;

import io.saucr.services.core.once.MarkerChain;
import io.saucr.services.once.OnceClient;
import io.saucr.services.once.Operation;
import io.saucr.services.once.Outcome;
import io.saucr.services.once.StoppedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The once client. Every step has a key, and whoever comes after a kill submits again all that he
 * has not been told of, so that what was accepted before is not done again (E10).
 */
final class OnceWriter implements Writer {
    /**
     * For every second client: few operations in a request, so that many requests are under way,
     * and not as many as the first process had, so that requests of both do not say the same; and
     * markers that are soon replaced (E8).
     */
    private static MarkerChain.Limits small(Path folder) {
        return new MarkerChain.Limits(256, Files.exists(folder) ? 3 : 4, 128 << 10, 5, 100, 1000);
    }

    @Override
    public void run(Task task, OutcomeFile outcomes)
            throws IOException, InterruptedException, Writer.StoppedException {
        List<Told> told = OutcomeFile.read(task.folder(), task.steps().size());
        Semaphore room = new Semaphore(task.depth());
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Path folder = task.folder().resolve("once");
        try (OnceClient client =
                OnceClient.at(task.connectString())
                        .name("client-" + task.client())
                        .folder(folder)
                        .limits(task.client() % 2 == 0 ? small(folder) : MarkerChain.Limits.usual())
                        .sessionTimeout(Duration.ofMillis(Task.SESSION_MILLIS))
                        .open()) {
            for (int number = 0; number < told.size() && failure.get() == null; number++) {
                if (told.get(number) == null) {
                    submit(client, task, number, room, failure, outcomes);
                }
            }
            room.acquire(task.depth());
        }
        if (failure.get() instanceof StoppedException stopped) {
            throw new Writer.StoppedException(stopped.getMessage());
        } else if (failure.get() != null) {
            throw new IOException("the once client failed", failure.get());
        }
    }

    private static void submit(
            OnceClient client,
            Task task,
            int number,
            Semaphore room,
            AtomicReference<Throwable> failure,
            OutcomeFile outcomes)
            throws InterruptedException {
        room.acquire();
        CompletableFuture<Outcome> unused =
                client.submit("step-" + number, Operation.multi(task.steps().get(number).ops()))
                        .whenComplete(
                                (outcome, problem) -> {
                                    try {
                                        if (problem == null) {
                                            outcomes.append(number, told(outcome));
                                        } else {
                                            failure.compareAndSet(null, problem);
                                        }
                                    } catch (IOException e) {
                                        failure.compareAndSet(null, e);
                                    } finally {
                                        room.release();
                                    }
                                });
    }

    private static Told told(Outcome outcome) {
        return outcome.refusal()
                .map(Told::refused)
                .orElseGet(() -> Told.created(outcome.created().orElse("")));
    }
}
