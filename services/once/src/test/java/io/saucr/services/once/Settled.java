package io.saucr.services.once;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What a test waits for: a rule that is broken leaves it open, and the test fails with words. */
final class Settled {
    private static final long PATIENCE_SECONDS = 60;

    private Settled() {}

    /**
     * What it completes with.
     *
     * @throws ExecutionException where it fails
     * @throws AssertionError where it is still open after a minute
     */
    static <T> T settled(CompletableFuture<T> future)
            throws ExecutionException, InterruptedException {
        try {
            return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError(
                    "still open after " + PATIENCE_SECONDS + " s, neither done nor refused", e);
        }
    }
}
