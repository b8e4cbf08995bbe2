package io.saucr.services.examples;

import static org.awaitility.Awaitility.await;

import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.examples.auction.Killed;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** Members of a group, a process each, and their ensemble in this process. One thread. */
public final class GroupProcesses implements AutoCloseable {

    private static final int HEAP_MEGABYTES = 96;
    private static final int TICK_MILLIS = 500;

    private final Path work;
    private final NIOServerCnxnFactory ensemble;
    private final Map<String, Killed> processes = new LinkedHashMap<>();
    private final Map<String, Client> askers = new LinkedHashMap<>();
    private final List<Client> clients = new ArrayList<>();

    /** Starts the ensemble. */
    public GroupProcesses(Path work) throws IOException, InterruptedException {
        this.work = work;
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
    }

    /** Servers, and the path above those of the services. */
    public String place() {
        return "127.0.0.1:" + ensemble.getLocalPort() + "/example";
    }

    /** The folder above those of the services. */
    public String folder() {
        return work.resolve("services").toString();
    }

    /** Starts a service. */
    public void start(String name, Class<?> program, String... arguments) throws IOException {
        processes.put(
                name,
                new Killed(
                        name,
                        work.resolve("log").resolve(name),
                        HEAP_MEGABYTES,
                        program,
                        arguments));
    }

    /** The process of a service. */
    public Killed of(String name) {
        return processes.get(name);
    }

    /** All of them, as they were started. */
    public Collection<Killed> all() {
        return processes.values();
    }

    /** All die, and then all start. */
    public void killAllAtOnce() throws IOException, InterruptedException {
        for (Killed each : processes.values()) {
            each.kill();
        }
        for (Killed each : processes.values()) {
            each.start();
        }
    }

    /** A client with a name, which repeats what is under way when a service is back. */
    public Client client(String service) throws IOException {
        Client client =
                Services.at(place() + "/" + service)
                        .client("ann", work.resolve("clients").resolve(service));
        clients.add(client);
        return client;
    }

    /** Asks again and again, as the service may be down. */
    public <A> A answer(String service, Object query, Class<A> type) throws IOException {
        if (!askers.containsKey(service)) {
            askers.put(service, Services.at(place() + "/" + service).client());
        }
        Client asker = askers.get(service);
        List<A> answers = new ArrayList<>();
        waitFor(() -> answers.add(asker.ask(query, type).get(2, TimeUnit.SECONDS)));
        return answers.get(0);
    }

    /** Waits for up to two minutes; a condition that throws does not hold yet. */
    public static void waitFor(Callable<Boolean> condition) {
        await().atMost(Duration.ofMinutes(2))
                .pollInterval(Duration.ofMillis(10))
                .ignoreExceptions()
                .until(condition);
    }

    @Override
    public void close() {
        clients.forEach(Client::close);
        askers.values().forEach(Client::close);
        processes.values().forEach(Killed::close);
        ensemble.shutdown();
    }
}
