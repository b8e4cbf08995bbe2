package io.saucr.services.bench;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What lanes give to a service, by how long its handlers compute and by how many keys they meet.
 */
@Command(
        name = "parallel",
        description =
                "Asks a service whose handlers compute for a while, with lanes and without, round by round, in"
                        + " fresh JVMs.",
        mixinStandardHelpOptions = true)
final class ParallelBench implements Callable<Integer> {

    static final String TURNS = "turns/s";
    static final String PROCESSOR = "CPU us/turn";
    static final String AGAIN = "runs again, % of turns";

    private static final List<Figure> FIGURES =
            List.of(
                    new Figure(TURNS, true),
                    new Figure(PROCESSOR, false),
                    new Figure(AGAIN, false));

    @Mixin private RoundsOptions options;
    @Mixin private ComputeOptions asking;

    @Option(
            names = "--lanes",
            paramLabel = "N",
            split = ",",
            defaultValue = "0,1,2",
            description = "0 for a service without lanes (default: ${DEFAULT-VALUE}).")
    private List<Integer> lanes;

    @Option(
            names = "--micros",
            paramLabel = "N",
            split = ",",
            defaultValue = "0,100,1000",
            description = "How long a handler computes, roughly (default: ${DEFAULT-VALUE}).")
    private List<Integer> micros;

    @Option(
            names = "--keys",
            paramLabel = "N",
            split = ",",
            defaultValue = "10000,1",
            description = "Of the state; a handler changes one (default: ${DEFAULT-VALUE}).")
    private List<Integer> keys;

    @Override
    public Integer call() throws Exception {
        options.check();
        lanes.forEach(it -> RoundsOptions.check("--lanes", it, 0, 64));
        micros.forEach(it -> RoundsOptions.check("--micros", it, 0, 1_000_000));
        keys.forEach(it -> RoundsOptions.check("--keys", it, 1, 1_000_000));
        asking.check();
        Path folder = options.folder();
        for (int each : micros) {
            for (int count : keys) {
                Map<String, RoundsOptions.Trial> trials = new LinkedHashMap<>();
                for (int number : lanes) {
                    String name = number == 0 ? "one-by-one" : "lanes-" + number;
                    trials.put(
                            name,
                            new RoundsOptions.Trial(
                                    "Protection.local()"
                                            + (number == 0 ? "" : ".parallel(" + number + ")"),
                                    it -> run(number, each, count, it)));
                }
                List<Measurement> measured = options.measure(trials);
                options.report(
                        folder.resolve("micros-" + each + "-keys-" + count),
                        String.format(
                                Locale.ROOT,
                                "handlers compute for about %,d us, %,d keys, %d calls under way",
                                each,
                                count,
                                asking.calls()),
                        trials,
                        FIGURES,
                        measured);
            }
        }
        return 0;
    }

    private Map<String, Double> run(int number, int each, int count, Path folder) throws Exception {
        try (TalkingProcess server =
                new TalkingProcess(
                        folder.resolve("log"),
                        List.of("-Xms256m", "-Xmx256m"),
                        ParallelServer.class,
                        Integer.toString(number),
                        folder.resolve("data").toString())) {
            String at = server.next("at");
            Address address = Address.parse(at);
            try (Client client =
                    Services.without(ParallelServer.NAME, Map.of(ParallelServer.NAME, address))
                            .client()) {
                ComputeLoad load = asking.begin(client, each, count);
                long done = load.done();
                long again = again(server);
                long processor = server.processorTime().toNanos();
                long from = System.nanoTime();
                asking.measure();
                double turns = load.done() - done;
                double nanos = System.nanoTime() - from;
                double used = server.processorTime().toNanos() - processor;
                double more = again(server) - again;
                load.end();
                Map<String, Double> figures = new LinkedHashMap<>();
                figures.put(TURNS, turns * 1e9 / nanos);
                figures.put(PROCESSOR, used / 1e3 / turns);
                figures.put(AGAIN, 100 * more / turns);
                return figures;
            }
        }
    }

    private static long again(TalkingProcess server) throws Exception {
        server.tell();
        return Long.parseLong(server.next("again"));
    }
}
