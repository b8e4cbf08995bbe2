package io.saucr.services.examples.dht;

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
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Runs nodes of a distributed hash table as a process of their own, or asks one of them. */
public final class DhtProcess {

    private static final int MOST_NODES = 1_000;
    private static final String USAGE =
            "arguments: serve PLACE FOLDER NODES NAME... | put PLACE NAME KEY VALUE"
                    + " | get PLACE NAME KEY\n"
                    + "  PLACE   as 127.0.0.1:2181/dht\n"
                    + "  FOLDER  each node has one of its name in it\n"
                    + "  NODES   how many nodes there are in all, the same for each process\n"
                    + "  NAME    node0, node1, ...";

    private DhtProcess() {}

    /** Serves until it is killed, or asks once. */
    public static void main(String[] arguments) throws Exception {
        String what = arguments.length == 0 ? "" : arguments[0];
        if (what.equals("serve") && arguments.length >= 5) {
            serve(
                    arguments[1],
                    Path.of(arguments[2]),
                    Integer.parseInt(arguments[3]),
                    List.of(arguments).subList(4, arguments.length));
        } else if (what.equals("put") && arguments.length == 5) {
            ask(arguments[1], arguments[2], new DhtNode.Put(arguments[3], arguments[4]));
        } else if (what.equals("get") && arguments.length == 4) {
            ask(arguments[1], arguments[2], new DhtNode.Get(arguments[3]));
        } else {
            System.err.println(USAGE);
            System.exit(2);
        }
    }

    private static void serve(String place, Path folder, int nodes, List<String> names)
            throws Exception {
        List<RunningService> running = new ArrayList<>();
        for (String name : names) {
            running.add(
                    Services.at(place + "/" + name)
                            .folder(folder.resolve(name))
                            .listen(new Address("127.0.0.1", 0))
                            .segmentBytes(1 << 20)
                            .foldBytes(1 << 18)
                            .onHalt(Halt.process())
                            .run(
                                    constructor(name, nodes),
                                    Protection.local().force(ForceMode.always())));
        }
        for (RunningService each : running) {
            each.join();
        }
    }

    private static void ask(String place, String name, Object request) throws Exception {
        try (Client client = Services.at(place + "/" + name).client()) {
            System.out.println(
                    client.ask(request, DhtNode.Found.class)
                            .orTimeout(30, TimeUnit.SECONDS)
                            .join());
        }
    }

    /**
     * The node of a name.
     *
     * @param nodes how many there are in all, from 1 to 1,000
     * @throws IllegalArgumentException where one of the two is not allowed
     */
    static Function<State, Service> constructor(String name, int nodes) {
        if (nodes < 1 || nodes > MOST_NODES) {
            throw new IllegalArgumentException(
                    "a table has 1 to " + MOST_NODES + " nodes, not " + nodes);
        }
        List<String> all = IntStream.range(0, nodes).mapToObj(number -> "node" + number).toList();
        if (!all.contains(name)) {
            throw new IllegalArgumentException(
                    "a node is called node0 to node" + (nodes - 1) + ", not " + name);
        }
        return state -> new DhtNode(state, name, all);
    }
}
