package io.saucr.bench.cli;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.measure.Experiment;
import io.saucr.bench.measure.Rounds;
import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.Sample;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of every subcommand that runs an experiment in rounds; filled in by picocli. */
final class RoundOptions {
    @Mixin private SystemOptions system;
    @Mixin private OutputOptions output;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description =
                    "Rounds; six or more for an interval of 95 %% (default: ${DEFAULT-VALUE}).")
    private int rounds;

    private List<Configuration> configurations;

    /**
     * @param rounds unless an option says otherwise
     */
    RoundOptions(int rounds) {
        this.rounds = rounds;
    }

    SystemOptions system() {
        return system;
    }

    /**
     * Measures what is not in the folder of the run yet, and ends it.
     *
     * @param presets as {@link Configuration#parse} reads them
     */
    <S extends Record & Sample> RunResult measure(Experiment<S> experiment, List<String> presets)
            throws Exception {
        try (WorkFolder work = output.work()) {
            configurations = system.configurations(presets, work);
            Rounds<S> measured = new Rounds<>(experiment, configurations, rounds);
            return measured.measure(output.open(experiment.title(), measured.plan()), work);
        }
    }

    /** What is measured, from {@link #measure} on. */
    List<Configuration> configurations() {
        return configurations;
    }

    /** Keys and values in turns, for the parameters of a plan. */
    static Map<String, Object> parameters(Object... keysAndValues) {
        Map<String, Object> parameters = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            parameters.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return parameters;
    }
}
