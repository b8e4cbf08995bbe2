package io.saucr.services.net;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.awaitility.core.ConditionTimeoutException;

/** Waits for what is to come. */
public final class Awaited {

    private static final Duration LONGEST = Duration.ofSeconds(30);

    private Awaited() {}

    /** The value, as soon as there is one. */
    public static <T> T until(Supplier<Optional<T>> look) {
        return until(look, () -> "no value");
    }

    /**
     * The value, as soon as there is one.
     *
     * @param instead what there is in its place, for who reads of the failure
     */
    public static <T> T until(Supplier<Optional<T>> look, Supplier<String> instead) {
        try {
            return await().atMost(LONGEST)
                    .pollInterval(Duration.ofMillis(2))
                    .until(look::get, Optional::isPresent)
                    .orElseThrow();
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(instead.get(), e);
        }
    }

    /** Waits until it holds. */
    public static void until(String what, Supplier<Boolean> look) {
        await(what).atMost(LONGEST).pollInterval(Duration.ofMillis(2)).until(look::get);
    }
}
