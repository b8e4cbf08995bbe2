package io.saucr.server;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Awaitility waits ten seconds by default, which a busy machine may need for a single step. */
public final class PatientWaits {
    private PatientWaits() {}

    /** Waits for up to a minute. */
    public static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofMinutes(1));
    }

    /**
     * Waits for up to a minute.
     *
     * @param what is waited for, for the message of a failure
     */
    public static ConditionFactory await(String what) {
        return Awaitility.await(what).atMost(Duration.ofMinutes(1));
    }
}
