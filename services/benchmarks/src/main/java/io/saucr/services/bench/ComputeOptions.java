package io.saucr.services.bench;

import io.saucr.services.Client;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Option;

/** How commands ask a service whose handlers compute for a while. */
final class ComputeOptions {

    @Option(
            names = "--calls",
            paramLabel = "N",
            defaultValue = "16",
            description = "Under way at the same time (default: ${DEFAULT-VALUE}).")
    private int calls;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            defaultValue = "5",
            description = "After half of it that does not count (default: ${DEFAULT-VALUE}).")
    private double seconds;

    int calls() {
        return calls;
    }

    /**
     * Refuses what is not allowed.
     *
     * @throws IllegalArgumentException with option, value and what is allowed
     */
    void check() {
        RoundsOptions.check("--calls", calls, 1, 10_000);
        RoundsOptions.checkSeconds(seconds);
    }

    /** Begins to ask; what comes after this call counts. */
    ComputeLoad begin(Client client, int micros, int keys) throws InterruptedException {
        ComputeLoad load = new ComputeLoad(client, micros, keys);
        load.begin(calls);
        sleep(seconds / 2);
        return load;
    }

    /** Waits while it counts. */
    void measure() throws InterruptedException {
        sleep(seconds);
    }

    private static void sleep(double seconds) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
    }
}
