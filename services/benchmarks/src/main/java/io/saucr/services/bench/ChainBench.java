package io.saucr.services.bench;

import io.saucr.ensemble.FsyncShim;
import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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

    @Option(
            names = "--force",
            paramLabel = "MILLIS",
            split = ",",
            defaultValue = "0,1,5,10",
            description =
                    "How long each fsync takes at least, 0 for no added delay (default: ${DEFAULT-VALUE}).")
    private List<Integer> forces;

    @Option(
            names = "--warm-up",
            paramLabel = "MILLIS",
            defaultValue = "3000",
            description = "Requests before that do not count (default: ${DEFAULT-VALUE}).")
    private int warmUpMillis;

    @Option(
            names = "--slice",
            paramLabel = "MILLIS",
            defaultValue = "2000",
            description =
                    "How long each number of services is measured with each delay (default: ${DEFAULT-VALUE}).")
    private int sliceMillis;

    @Override
    public Integer call() throws Exception {
        options.check();
        lengths.forEach(it -> RoundsOptions.check("--services", it, 1, 8));
        forces.forEach(it -> RoundsOptions.check("--force", it, 0, 1_000));
        RoundsOptions.check("--warm-up", warmUpMillis, 0, 600_000);
        RoundsOptions.check("--slice", sliceMillis, 1, 600_000);
        if (forces.stream().anyMatch(it -> it > 0) && !FsyncShim.available()) {
            throw new IllegalArgumentException(
                    "--force: no C compiler was found, which slower fsyncs need; --force 0 goes without");
        }
        Map<String, RoundsOptions.Trial> trials = new LinkedHashMap<>();
        for (Chain.Mode mode : modes) {
            trials.put(
                    mode.name(),
                    new RoundsOptions.Trial(mode.meaning, folder -> measure(folder, mode)));
        }
        List<Measurement> measured = options.measure(trials);
        List<Figure> figures = new ArrayList<>();
        for (int length : lengths) {
            forces.forEach(force -> figures.add(new Figure(figure(length, force), true)));
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
            Path data = Files.createDirectory(folder.resolve("services-" + length));
            FsyncShim shim =
                    FsyncShim.available()
                            ? FsyncShim.create(data, folder.resolve("shim-" + length), false)
                            : null;
            try (TalkingProcess process =
                    new TalkingProcess(
                            folder.resolve("log").resolve("services-" + length),
                            List.of("-Xms256m", "-Xmx1g"),
                            shim == null ? Map.of() : shim.environment(),
                            ChainProcess.class,
                            data.toString(),
                            Integer.toString(length),
                            mode.name(),
                            ensemble,
                            Integer.toString(warmUpMillis),
                            Integer.toString(sliceMillis))) {
                String unused = process.next("warm");
                for (int force : forces) {
                    if (shim != null) {
                        shim.delay(Duration.ofMillis(force));
                    }
                    process.tell();
                    String millis = process.next("millis");
                    figures.put(figure(length, force), Double.parseDouble(millis));
                }
            }
        }
        return figures;
    }
}
