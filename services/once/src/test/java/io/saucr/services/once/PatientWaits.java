package io.saucr.services.once;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/**
 * Awaitility waits ten seconds by default. On a busy machine the end of a session or of a lease may
 * take longer.
 */
public final class PatientWaits {
    private PatientWaits() {}

    /** Waits for up to a minute. */
    public static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofMinutes(1));
    }
}
