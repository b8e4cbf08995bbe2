package io.saucr.services.examples.counters;

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
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Runs counters as a process of their own, or lets them count. {@code ping0} and {@code pong0} are
 * a pair, and so on; which process runs which does not matter.
 */
public final class CountersProcess {

    private static final String USAGE =
            "arguments: serve PLACE FOLDER NAME... | count PLACE FOLDER PAIRS UP-TO\n"
                    + "  PLACE   as 127.0.0.1:2181/counters\n"
                    + "  FOLDER  each service, or each pair's client, has one of its name in it\n"
                    + "  NAME    ping0, pong0, ping1, pong1, ...";

    private CountersProcess() {}

    /** Serves until it is killed, or counts until all pairs are done. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length >= 4 && arguments[0].equals("serve")) {
            serve(
                    arguments[1],
                    Path.of(arguments[2]),
                    List.of(arguments).subList(3, arguments.length));
        } else if (arguments.length == 5 && arguments[0].equals("count")) {
            count(
                    arguments[1],
                    Path.of(arguments[2]),
                    Integer.parseInt(arguments[3]),
                    Long.parseLong(arguments[4]));
        } else {
            System.err.println(USAGE);
            System.exit(2);
        }
    }

    private static void serve(String place, Path folder, List<String> names) throws Exception {
        List<RunningService> running = new ArrayList<>();
        for (String name : names) {
            running.add(
                    Services.at(place + "/" + name)
                            .folder(folder.resolve(name))
                            .listen(new Address("127.0.0.1", 0))
                            .segmentBytes(1 << 20)
                            .foldBytes(1 << 18)
                            .onHalt(Halt.process())
                            .run(constructor(name), Protection.local().force(ForceMode.always())));
        }
        for (RunningService each : running) {
            each.join();
        }
    }

    private static void count(String place, Path folder, int pairs, long upTo) throws Exception {
        List<Client> clients = new ArrayList<>();
        List<CompletableFuture<Counter.Reached>> reached = new ArrayList<>();
        long begun = System.nanoTime();
        for (int pair = 0; pair < pairs; pair++) {
            String name = "ping" + pair;
            Client client =
                    Services.at(place + "/" + name).client("counts", folder.resolve("of-" + name));
            clients.add(client);
            reached.add(client.ask(new Counter.Count(upTo), Counter.Reached.class));
        }
        for (CompletableFuture<Counter.Reached> each : reached) {
            each.join();
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        clients.forEach(Client::close);
        System.out.printf(
                "%d pairs counted up to %,d in %.1f s%n",
                pairs, reached.get(0).join().number(), seconds);
    }

    /**
     * The service of a name.
     *
     * @throws IllegalArgumentException where it is not ping or pong with a number
     */
    static Function<State, Service> constructor(String name) {
        if (!name.matches("(ping|pong)[0-9]{1,4}")) {
            throw new IllegalArgumentException(
                    "a counter is called ping0, pong0, ping1 and so on, not " + name);
        }
        boolean first = name.startsWith("ping");
        String partner = (first ? "pong" : "ping") + name.substring(4);
        return state -> new Counter(state, partner, first);
    }
}
