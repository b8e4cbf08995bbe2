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
 * What speculation gives to a group: bookings of trips that reserve at one store after the other
 * (figure 9 of the paper), with speculation on and off, in the same rounds, and as services without
 * a group.
 */
@Command(
        name = "dse",
        description =
                "Books trips that reserve at 1 to 8 stores in a row: members of a group with speculation and"
                        + " without, and services without a group.",
        mixinStandardHelpOptions = true)
final class DseBench implements Callable<Integer> {

    @Mixin private RoundsOptions options;
    @Mixin private SlowForces forces;

    @Option(
            names = "--modes",
            paramLabel = "MODE",
            split = ",",
            defaultValue = "OFF,GROUP,ALWAYS",
            description =
                    "What is compared with the first one: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private List<Chain.Mode> modes;

    @Option(
            names = "--stores",
            paramLabel = "N",
            split = ",",
            defaultValue = "1,2,4,8",
            description = "At how many stores each trip reserves (default: ${DEFAULT-VALUE}).")
    private List<Integer> stores;

    @Option(
            names = "--callers",
            paramLabel = "N",
            defaultValue = "64",
            description =
                    "How many trips are under way at once where their rate is measured (default:"
                            + " ${DEFAULT-VALUE}).")
    private int callers;

    @Override
    public Integer call() throws Exception {
        options.check();
        forces.check();
        stores.forEach(it -> RoundsOptions.check("--stores", it, 1, 8));
        RoundsOptions.check("--callers", callers, 1, 10_000);
        Map<String, RoundsOptions.Trial> trials = new LinkedHashMap<>();
        for (Chain.Mode mode : modes) {
            trials.put(
                    mode.name(),
                    new RoundsOptions.Trial(mode.meaning, folder -> measure(folder, mode)));
        }
        List<Measurement> measured = options.measure(trials);
        List<Figure> figures = new ArrayList<>();
        for (int count : stores) {
            for (int force : forces.millis()) {
                figures.add(new Figure(figure(count, force, "median ms"), true));
                figures.add(new Figure(figure(count, force, "99 % ms"), false));
                figures.add(new Figure(figure(count, force, "trips/s"), true));
            }
        }
        options.report(
                options.folder(),
                "Trips that reserve at stores in a row, " + callers + " at once for trips/s",
                trials,
                figures,
                measured);
        return 0;
    }

    private static String figure(int stores, int force, String what) {
        return stores + (stores == 1 ? " store" : " stores") + ", +" + force + " ms: " + what;
    }

    private Map<String, Double> measure(Path folder, Chain.Mode mode) throws Exception {
        Map<String, Double> figures = new LinkedHashMap<>();
        try (ServerAlone ensemble = new ServerAlone(folder)) {
            for (int count : stores) {
                forces.run(
                        folder,
                        "stores-" + count,
                        DseProcess.class,
                        List.of(
                                Integer.toString(count),
                                mode.name(),
                                ensemble.connect(),
                                Integer.toString(callers)),
                        (force, process) -> {
                            figures.put(
                                    figure(count, force, "median ms"),
                                    Double.parseDouble(process.next("median")));
                            figures.put(
                                    figure(count, force, "99 % ms"),
                                    Double.parseDouble(process.next("most")));
                            figures.put(
                                    figure(count, force, "trips/s"),
                                    Double.parseDouble(process.next("rate")));
                        });
            }
        }
        return figures;
    }
}
