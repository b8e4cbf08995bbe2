package io.saucr.services.bench;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.examples.dht.DhtNode;
import io.saucr.services.journal.ForceMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Nodes of the example's table in a process of their own, which find each other without an
 * ensemble.
 */
final class ServicesNode {

    private ServicesNode() {}

    /**
     * Serves until it is killed.
     *
     * @param arguments folder, first and last of its own nodes, where each node is reached (port),
     *     and where its own listen
     */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        int first = Integer.parseInt(arguments[1]);
        int last = Integer.parseInt(arguments[2]);
        String[] reached = arguments[3].split(",");
        String[] listen = arguments[4].split(",");
        List<String> names = new ArrayList<>();
        Map<String, Address> addresses = new HashMap<>();
        for (int node = 0; node < reached.length; node++) {
            names.add("node" + node);
            addresses.put("node" + node, new Address("127.0.0.1", Integer.parseInt(reached[node])));
        }
        List<RunningService> running = new ArrayList<>();
        for (int node = first; node <= last; node++) {
            String name = "node" + node;
            Map<String, Address> others = new HashMap<>(addresses);
            others.remove(name);
            running.add(
                    Services.without(name, others)
                            .folder(folder.resolve(name))
                            .listen(new Address("127.0.0.1", Integer.parseInt(listen[node])))
                            .segmentBytes(1 << 20)
                            .foldBytes(1 << 18)
                            .onHalt(Halt.process())
                            .run(
                                    state -> new DhtNode(state, name, names),
                                    Protection.local().force(ForceMode.always())));
        }
        for (RunningService each : running) {
            each.join();
        }
    }
}
