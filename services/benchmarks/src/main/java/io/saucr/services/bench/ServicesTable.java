package io.saucr.services.bench;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.examples.auction.Killed;
import io.saucr.services.examples.dht.DhtNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** The table of section 5.3 as services: each key lies on one node, and on its disk. */
final class ServicesTable implements TableCluster {

    private static final int HEAP_MEGABYTES = 128;
    private static final int PATIENCE_SECONDS = 30;

    private final List<Killed> processes = new ArrayList<>();
    private final List<Relay> relays = new ArrayList<>();
    private final Map<Integer, Client> clients = new HashMap<>();
    private final List<Integer> ports;

    ServicesTable(Path folder, int count, int nodesEach, Duration hop) throws IOException {
        int nodes = count * nodesEach;
        ports = TableCluster.freePorts(nodes);
        List<Integer> reached = new ArrayList<>(ports);
        if (!hop.isZero()) {
            reached.clear();
            for (int port : ports) {
                Relay relay = new Relay(port, hop);
                relays.add(relay);
                reached.add(relay.port());
            }
        }
        for (int process = 0; process < count; process++) {
            processes.add(
                    new Killed(
                            "process " + process,
                            folder.resolve("log").resolve("process" + process),
                            HEAP_MEGABYTES,
                            ServicesNode.class,
                            folder.resolve("services").toString(),
                            Integer.toString(process * nodesEach),
                            Integer.toString(process * nodesEach + nodesEach - 1),
                            joined(reached),
                            joined(ports)));
        }
    }

    private static String joined(List<Integer> ports) {
        return ports.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    @Override
    public List<Killed> processes() {
        return processes;
    }

    @Override
    public boolean serves(int node) throws InterruptedException {
        try {
            client(node).ask(new DhtNode.Ask(), DhtNode.Holds.class).get(2, TimeUnit.SECONDS);
            return true;
        } catch (IOException | ExecutionException | TimeoutException e) {
            return false;
        }
    }

    private Client client(int node) throws IOException {
        Client known = clients.get(node);
        if (known == null) {
            String name = "node" + node;
            known =
                    Services.without(name, Map.of(name, new Address("127.0.0.1", ports.get(node))))
                            .client();
            clients.put(node, known);
        }
        return known;
    }

    private DhtNode.Found ask(int node, Object request) throws IOException, InterruptedException {
        try {
            return client(node)
                    .ask(request, DhtNode.Found.class)
                    .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("node" + node + " did not answer " + request, e);
        }
    }

    @Override
    public void put(int node, String key, String value) throws IOException, InterruptedException {
        DhtNode.Found unused = ask(node, new DhtNode.Put(key, value));
    }

    @Override
    public String get(int node, String key) throws IOException, InterruptedException {
        return ask(node, new DhtNode.Get(key)).value();
    }

    @Override
    public void close() {
        clients.values().forEach(Client::close);
        processes.forEach(Killed::close);
        for (Relay relay : relays) {
            try {
                relay.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
