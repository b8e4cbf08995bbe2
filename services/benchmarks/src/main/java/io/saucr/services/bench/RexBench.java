package io.saucr.services.bench;

import io.saucr.ensemble.Deadline;
import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What a service with a standby costs whose handlers compute for a while: one by one, in lanes on
 * versions of the state, and in lanes whose order the standby replays.
 */
@Command(
        name = "rex",
        description =
                "Asks a service with one standby whose handlers compute for a while: one by one, with parallel(lanes),"
                        + " and with replay(lanes), round by round, in fresh JVMs.",
        mixinStandardHelpOptions = true)
final class RexBench implements Callable<Integer> {

    static final String REQUESTS = "requests/s";
    static final String PRIMARY = "primary's CPU us/request";
    static final String STANDBY = "standby's CPU us/request";
    static final String BYTES = "bytes/request on disk";

    private static final List<Figure> FIGURES =
            List.of(
                    new Figure(REQUESTS, true),
                    new Figure(PRIMARY, false),
                    new Figure(STANDBY, false),
                    new Figure(BYTES, false));

    private static final int STARTING_SECONDS = 60;

    @Mixin private RoundsOptions options;
    @Mixin private ComputeOptions asking;

    @Option(
            names = "--lanes",
            paramLabel = "N",
            split = ",",
            defaultValue = "1,2",
            description = "Of parallel(...) and replay(...) (default: ${DEFAULT-VALUE}).")
    private List<Integer> lanes;

    @Option(
            names = "--micros",
            paramLabel = "N",
            split = ",",
            defaultValue = "100,1000",
            description = "How long a handler computes, roughly (default: ${DEFAULT-VALUE}).")
    private List<Integer> micros;

    @Option(
            names = "--keys",
            paramLabel = "N",
            defaultValue = "10000",
            description = "Of the state; a handler changes one (default: ${DEFAULT-VALUE}).")
    private int keys;

    @Override
    public Integer call() throws Exception {
        options.check();
        lanes.forEach(it -> RoundsOptions.check("--lanes", it, 1, 64));
        micros.forEach(it -> RoundsOptions.check("--micros", it, 0, 1_000_000));
        RoundsOptions.check("--keys", keys, 1, 1_000_000);
        asking.check();
        Path folder = options.folder();
        for (int each : micros) {
            Map<String, RoundsOptions.Trial> trials = new LinkedHashMap<>();
            trials.put("standby", trial("standby", 0, each, "Protection.standby()"));
            for (int number : lanes) {
                trials.put(
                        "parallel-" + number,
                        trial(
                                "standby",
                                number,
                                each,
                                "Protection.standby().parallel(" + number + ")"));
            }
            for (int number : lanes) {
                trials.put(
                        "replay-" + number,
                        trial("replay", number, each, "Protection.replay(" + number + ", \"1\")"));
            }
            List<Measurement> measured = options.measure(trials);
            options.report(
                    folder.resolve("micros-" + each),
                    String.format(
                            Locale.ROOT,
                            "a standby, handlers compute for about %,d us, %,d keys, %d calls under"
                                    + " way",
                            each,
                            keys,
                            asking.calls()),
                    trials,
                    FIGURES,
                    measured);
        }
        return 0;
    }

    private RoundsOptions.Trial trial(String kind, int number, int each, String what) {
        return new RoundsOptions.Trial(what, it -> run(kind, number, each, it));
    }

    private Map<String, Double> run(String kind, int number, int each, Path folder)
            throws Exception {
        try (ServerAlone ensemble =
                new ServerAlone(Files.createDirectories(folder.resolve("zk")))) {
            String place = ensemble.connect() + "/computing";
            Path data = folder.resolve("primary");
            try (TalkingProcess primary = member(kind, number, place, data)) {
                await(primary, "primary true");
                try (TalkingProcess standby =
                                member(kind, number, place, folder.resolve("standby"));
                        Client client = Services.at(place).client()) {
                    await(standby, "standby true");
                    ComputeLoad load = asking.begin(client, each, keys);
                    long done = load.done();
                    long primaryNanos = primary.processorTime().toNanos();
                    long standbyNanos = standby.processorTime().toNanos();
                    long bytes = bytes(data.resolve("segments"));
                    long from = System.nanoTime();
                    asking.measure();
                    double requests = load.done() - done;
                    double nanos = System.nanoTime() - from;
                    double primaryUsed = primary.processorTime().toNanos() - primaryNanos;
                    double standbyUsed = standby.processorTime().toNanos() - standbyNanos;
                    double stored = bytes(data.resolve("segments")) - bytes;
                    load.end();
                    Map<String, Double> figures = new LinkedHashMap<>();
                    figures.put(REQUESTS, requests * 1e9 / nanos);
                    figures.put(PRIMARY, primaryUsed / 1e3 / requests);
                    figures.put(STANDBY, standbyUsed / 1e3 / requests);
                    figures.put(BYTES, stored / requests);
                    return figures;
                }
            }
        }
    }

    private static TalkingProcess member(String kind, int number, String place, Path folder)
            throws IOException {
        return new TalkingProcess(
                folder.resolveSibling("log").resolve(folder.getFileName()),
                List.of("-Xms256m", "-Xmx256m"),
                RexServer.class,
                kind,
                Integer.toString(number),
                place,
                folder.toString());
    }

    private static void await(TalkingProcess member, String wanted) throws Exception {
        String[] is = new String[1];
        Deadline.await(
                Duration.ofSeconds(STARTING_SECONDS),
                20,
                () -> {
                    member.tell();
                    is[0] = member.next("is");
                    return is[0].equals(wanted);
                },
                () ->
                        "a member is \"%s\" and not \"%s\" after %d s"
                                .formatted(is[0], wanted, STARTING_SECONDS));
    }

    /** Of all files in a folder; 0 if it is not there yet. */
    private static long bytes(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return 0;
        }
        long bytes = 0;
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                bytes += Files.size(file);
            }
        }
        return bytes;
    }
}
