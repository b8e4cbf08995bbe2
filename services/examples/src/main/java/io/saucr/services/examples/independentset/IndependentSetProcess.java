package io.saucr.services.examples.independentset;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.journal.ForceMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Runs parts of a graph as a process of their own, or has them find the graph's set. */
public final class IndependentSetProcess {

    private static final int MOST_PARTS = 1_000;
    private static final String USAGE =
            "arguments: serve PLACE FOLDER PARTS NAME... | solve PLACE FOLDER VERTICES EDGES SEED\n"
                    + "  PLACE   as 127.0.0.1:2181/graph\n"
                    + "  FOLDER  each part, and the client, has one of its name in it\n"
                    + "  PARTS   how many parts there are in all, the same for each process\n"
                    + "  NAME    part0, part1, ...\n"
                    + "  EDGES   drawn for each vertex";

    private IndependentSetProcess() {}

    /** Serves until it is killed, or asks for the set and compares it with that of one thread. */
    public static void main(String[] arguments) throws Exception {
        String what = arguments.length == 0 ? "" : arguments[0];
        if (what.equals("serve") && arguments.length >= 5) {
            serve(
                    arguments[1],
                    Path.of(arguments[2]),
                    Integer.parseInt(arguments[3]),
                    List.of(arguments).subList(4, arguments.length));
        } else if (what.equals("solve") && arguments.length == 6) {
            Graph graph =
                    new Graph(
                            Integer.parseInt(arguments[3]),
                            Integer.parseInt(arguments[4]),
                            Long.parseLong(arguments[5]));
            System.exit(solve(arguments[1], Path.of(arguments[2]), graph) ? 0 : 1);
        } else {
            System.err.println(USAGE);
            System.exit(2);
        }
    }

    private static void serve(String place, Path folder, int parts, List<String> names)
            throws Exception {
        List<RunningService> running = new ArrayList<>();
        for (String name : names) {
            running.add(
                    Services.at(place + "/" + name)
                            .folder(folder.resolve(name))
                            .listen(new Address("127.0.0.1", 0))
                            .segmentBytes(4 << 20)
                            .foldBytes(1 << 20)
                            .onHalt(Halt.process())
                            .run(
                                    constructor(name, parts),
                                    Protection.local().force(ForceMode.always())));
        }
        for (RunningService each : running) {
            each.join();
        }
    }

    private static boolean solve(String place, Path folder, Graph graph) throws Exception {
        Services first = Services.at(place + "/" + Part.name(0));
        try (Client client = first.client("solves", folder.resolve("solves"))) {
            long begun = System.nanoTime();
            Part.Solved solved = client.ask(new Part.Solve(graph), Part.Solved.class).join();
            System.out.printf(
                    "%,d of %,d vertices, digest %016x, in %.1f s%n",
                    solved.size(),
                    graph.vertices(),
                    solved.digest(),
                    (System.nanoTime() - begun) / 1e9);
            Set<Integer> expected = graph.independentSet();
            boolean same = solved.equals(new Part.Solved(expected.size(), Graph.digest(expected)));
            System.out.println(
                    same ? "One thread finds the same." : "WRONG: one thread finds another.");
            return same;
        }
    }

    /**
     * The part of a name.
     *
     * @param parts how many there are in all, from 1 to 1,000
     * @throws IllegalArgumentException where one of the two is not allowed
     */
    static Function<State, Service> constructor(String name, int parts) {
        if (parts < 1 || parts > MOST_PARTS) {
            throw new IllegalArgumentException(
                    "a graph has 1 to " + MOST_PARTS + " parts, not " + parts);
        }
        for (int part = 0; part < parts; part++) {
            if (name.equals(Part.name(part))) {
                int number = part;
                return state -> new Part(state, number, parts);
            }
        }
        throw new IllegalArgumentException(
                "a part is called part0 to part" + (parts - 1) + ", not " + name);
    }
}
