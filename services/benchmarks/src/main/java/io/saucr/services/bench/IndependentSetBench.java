package io.saucr.services.bench;

import io.saucr.bench.measure.WorkFolder;
import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import io.saucr.services.examples.auction.Killed;
import io.saucr.services.examples.independentset.Graph;
import io.saucr.services.examples.independentset.IndependentSetProcess;
import io.saucr.services.examples.independentset.Part;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The independent set of section 5.2: the same code in processes of its own as services, as
 * services that are all killed at once, and without any durability. Each must find the set that one
 * thread finds. The clock runs from the question to the answer, when all processes serve.
 */
@Command(
        name = "set",
        description =
                "Finds a maximal independent set of a graph whose parts are services, each in a process of"
                        + " its own: with and without killing them all at once, and by the same code"
                        + " without durability.",
        mixinStandardHelpOptions = true)
final class IndependentSetBench implements Callable<Integer> {

    static final String MEMORY = "memory";
    static final String SERVICES = "services";
    static final String KILLED = "services-killed";

    static final String SECONDS = "seconds";
    static final String KILLS = "processes killed";
    static final String WRONG = "wrong sets";

    private static final int HEAP_MEGABYTES = 512;
    private static final int MOST_PARTS = 16;
    private static final int PATIENCE_MINUTES = 10;
    private static final int POLL_MILLIS = 10;

    @Mixin private RoundsOptions options;

    @Option(
            names = "--vertices",
            paramLabel = "N",
            defaultValue = "100000",
            description = "Of the graph (default: ${DEFAULT-VALUE}).")
    private int vertices;

    @Option(
            names = "--edges",
            paramLabel = "N",
            defaultValue = "8",
            description = "That are drawn for each vertex (default: ${DEFAULT-VALUE}).")
    private int edges;

    @Option(
            names = "--parts",
            paramLabel = "N",
            defaultValue = "4",
            description = "Processes, each with one part (default: ${DEFAULT-VALUE}).")
    private int parts;

    private ServerAlone ensemble;
    private int runs;

    @Override
    public Integer call() throws Exception {
        options.check();
        RoundsOptions.check("--parts", parts, 1, MOST_PARTS);
        Graph graph = new Graph(vertices, edges, 1);
        Set<Integer> set = graph.independentSet();
        Part.Solved expected = new Part.Solved(set.size(), Graph.digest(set));
        Map<String, RoundsOptions.Trial> trials = new LinkedHashMap<>();
        trials.put(
                MEMORY,
                new RoundsOptions.Trial(
                        "the same code in " + parts + " processes, without durability, over TCP",
                        folder -> inMemory(folder, graph, expected)));
        trials.put(
                SERVICES,
                new RoundsOptions.Trial(
                        "services in " + parts + " processes, each turn forced",
                        folder -> asServices(folder, graph, expected, false)));
        trials.put(
                KILLED,
                new RoundsOptions.Trial(
                        "the same, all killed at once when half of the graph is read, and started",
                        folder -> asServices(folder, graph, expected, true)));
        List<Measurement> measured;
        Path data = Files.createTempDirectory("saucr-bench-set-");
        try (ServerAlone server = new ServerAlone(data)) {
            ensemble = server;
            measured = options.measure(trials);
        }
        WorkFolder.delete(data);
        options.report(
                options.folder(),
                "The independent set of " + graph,
                trials,
                List.of(
                        new Figure(SECONDS, true),
                        new Figure(KILLS, false),
                        new Figure(WRONG, false)),
                measured);
        return measured.stream().allMatch(it -> it.figures().get(WRONG) == 0) ? 0 : 1;
    }

    private Map<String, Double> inMemory(Path folder, Graph graph, Part.Solved expected)
            throws Exception {
        List<String> ports = TableCluster.freePorts(parts).stream().map(String::valueOf).toList();
        List<Killed> processes = new ArrayList<>();
        try {
            for (int part = 0; part < parts; part++) {
                List<String> arguments = new ArrayList<>(List.of(Integer.toString(part)));
                arguments.addAll(ports);
                processes.add(process(folder, part, MemoryPart.class, arguments));
            }
            for (String port : ports) {
                MemoryPart.connect(Integer.parseInt(port)).close();
            }
            try (Socket first = MemoryPart.connect(Integer.parseInt(ports.get(0)))) {
                long begun = System.nanoTime();
                Part.Solved solved = MemoryPart.solve(first, new Part.Solve(graph));
                return figures(begun, 0, solved.equals(expected));
            }
        } finally {
            processes.forEach(Killed::close);
        }
    }

    private Map<String, Double> asServices(
            Path folder, Graph graph, Part.Solved expected, boolean killed) throws Exception {
        String place = ensemble.connect() + "/set" + runs++;
        List<Killed> processes = new ArrayList<>();
        List<Client> clients = new ArrayList<>();
        try {
            for (int part = 0; part < parts; part++) {
                processes.add(
                        process(
                                folder,
                                part,
                                IndependentSetProcess.class,
                                List.of(
                                        "serve",
                                        place,
                                        folder.resolve("services").toString(),
                                        Integer.toString(parts),
                                        "part" + part)));
            }
            for (int part = 0; part < parts; part++) {
                Client asker = Services.at(place + "/part" + part).client();
                clients.add(asker);
                Part.Progress unused = progress(asker);
            }
            Client asking =
                    Services.at(place + "/part0").client("solves", folder.resolve("client"));
            clients.add(asking);
            long begun = System.nanoTime();
            CompletableFuture<Part.Solved> solved =
                    asking.ask(new Part.Solve(graph), Part.Solved.class);
            int kills = 0;
            if (killed) {
                while (progress(clients.get(0)).read() < graph.vertices() / 2) {
                    Thread.sleep(POLL_MILLIS);
                }
                for (Killed each : processes) {
                    each.kill();
                    kills++;
                }
                for (Killed each : processes) {
                    each.start();
                }
            }
            Part.Solved found = solved.get(PATIENCE_MINUTES, TimeUnit.MINUTES);
            return figures(begun, kills, found.equals(expected));
        } finally {
            clients.forEach(Client::close);
            processes.forEach(Killed::close);
        }
    }

    private static Killed process(Path folder, int part, Class<?> program, List<String> arguments)
            throws IOException {
        return new Killed(
                "part " + part,
                folder.resolve("log").resolve("part" + part),
                HEAP_MEGABYTES,
                program,
                arguments.toArray(String[]::new));
    }

    /** Asks until it is answered: the part may not serve yet. */
    private static Part.Progress progress(Client asker)
            throws InterruptedException, TimeoutException {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
        while (true) {
            try {
                return asker.ask(new Part.Ask(), Part.Progress.class).get(2, TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException e) {
                if (System.nanoTime() > end) {
                    throw new TimeoutException("a part did not answer: " + e);
                }
                Thread.sleep(POLL_MILLIS);
            }
        }
    }

    private static Map<String, Double> figures(long begun, int kills, boolean same) {
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put(SECONDS, (System.nanoTime() - begun) / 1e9);
        figures.put(KILLS, (double) kills);
        figures.put(WRONG, same ? 0.0 : 1.0);
        return figures;
    }
}
