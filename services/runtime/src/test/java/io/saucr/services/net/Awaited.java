package io.saucr.services.net;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** Waits for what is to come. */
final class Awaited {

    private static final Duration LONGEST = Duration.ofSeconds(30);

    private Awaited() {}

    /** The value, as soon as there is one. */
    static <T> T until(Supplier<Optional<T>> look) {
        return await().atMost(LONGEST)
                .pollInterval(Duration.ofMillis(2))
                .until(look::get, Optional::isPresent)
                .orElseThrow();
    }

    /** Waits until it holds. */
    static void until(String what, Supplier<Boolean> look) {
        await(what).atMost(LONGEST).pollInterval(Duration.ofMillis(2)).until(look::get);
    }
}
