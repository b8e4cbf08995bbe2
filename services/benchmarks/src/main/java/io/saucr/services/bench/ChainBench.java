package io.saucr.services.bench;

import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What a chain of services pays for its disks: the time of a request that passes through all of
 * them, with each turn synced before its message leaves, compared with turns that are never synced,
 * and with a group, whose messages leave before. Turns that are never synced are the least that a
 * chain can take which syncs in the background.
 */
@Command(
        name = "chain",
        description =
                "Measures a request that passes through 1 to 8 services in a row, each turn synced before its"
                        + " message leaves, compared with turns that are never synced, and with members"
                        + " of a group.",
        mixinStandardHelpOptions = true)
final class ChainBench implements Callable<Integer> {

    @Mixin private RoundsOptions options;

    @Option(
            names = "--modes",
            paramLabel = "MODE",
            split = ",",
            defaultValue = "ALWAYS,OS,OFF,GROUP",
            description =
                    "What is compared with the first one: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private List<Chain.Mode> modes;

    @Option(
            names = "--services",
            paramLabel = "N",
            split = ",",
            defaultValue = "1,2,4,8",
            description = "How many services are in a row (default: ${DEFAULT-VALUE}).")
    private List<Integer> lengths;

    @Mixin private SlowForces forces;

    @Override
    public Integer call() throws Exception {
        options.check();
        lengths.forEach(it -> RoundsOptions.check("--services", it, 1, 8));
        forces.check();
        Map<String, RoundsOptions.Trial> trials = new LinkedHashMap<>();
        for (Chain.Mode mode : modes) {
            trials.put(
                    mode.name(),
                    new RoundsOptions.Trial(mode.meaning, folder -> measure(folder, mode)));
        }
        List<Measurement> measured = options.measure(trials);
        List<Figure> figures = new ArrayList<>();
        for (int length : lengths) {
            forces.millis().forEach(force -> figures.add(new Figure(figure(length, force), true)));
        }
        options.report(
                options.folder(),
                "A request through services in a row, ms",
                trials,
                figures,
                measured);
        return 0;
    }

    private static String figure(int length, int force) {
        return length + (length == 1 ? " service" : " services") + ", +" + force + " ms";
    }

    private Map<String, Double> measure(Path folder, Chain.Mode mode) throws Exception {
        if (!mode.hasGroup) {
            return measure(folder, mode, "");
        }
        try (ServerAlone ensemble = new ServerAlone(folder)) {
            return measure(folder, mode, ensemble.connect());
        }
    }

    private Map<String, Double> measure(Path folder, Chain.Mode mode, String ensemble)
            throws Exception {
        Map<String, Double> figures = new LinkedHashMap<>();
        for (int length : lengths) {
            forces.run(
                    folder,
                    "services-" + length,
                    ChainProcess.class,
                    List.of(Integer.toString(length), mode.name(), ensemble),
                    (force, process) ->
                            figures.put(
                                    figure(length, force),
                                    Double.parseDouble(process.next("millis"))));
        }
        return figures;
    }
}
