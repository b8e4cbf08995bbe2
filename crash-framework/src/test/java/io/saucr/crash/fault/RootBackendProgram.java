package io.saucr.crash.fault;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Runs one of {@link MachineScenarios} on the root back end, as the first program of an enclosure.
 * Why it failed stands in {@link #FAILURE} of the folder named first.
 */
final class RootBackendProgram {
    static final String FAILURE = "failure.txt";

    private RootBackendProgram() {}

    public static void main(String[] args) throws Exception {
        int status = 0;
        try {
            Enclosure.enter();
            Path work = Path.of(args[0]);
            for (String scenario : Arrays.asList(args).subList(1, args.length)) {
                Path folder = work.resolve(scenario);
                RootBackend backend = new RootBackend(folder, 3);
                try (Ensemble ensemble =
                        Ensemble.of(Distribution.stock(), folder)
                                .hosting(backend)
                                .set("forceSync", scenario.endsWith("Unforced") ? "no" : "yes")
                                .build()) {
                    MachineScenarios.run(scenario, ensemble, backend);
                }
            }
        } catch (Exception | AssertionError e) {
            StringWriter trace = new StringWriter();
            e.printStackTrace(new PrintWriter(trace, true));
            Files.writeString(Path.of(args[0], FAILURE), trace.toString());
            status = 1;
        }
        System.exit(status);
    }
}
