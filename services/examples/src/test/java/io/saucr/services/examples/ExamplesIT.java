package io.saucr.services.examples;

import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.examples.auction.Killed;
import io.saucr.services.examples.counters.Counter;
import io.saucr.services.examples.counters.CountersProcess;
import io.saucr.services.examples.dht.DhtNode;
import io.saucr.services.examples.dht.DhtProcess;
import io.saucr.services.examples.independentset.Graph;
import io.saucr.services.examples.independentset.IndependentSetProcess;
import io.saucr.services.examples.independentset.Part;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples as real processes, two each, that are killed by SIGKILL. */
class ExamplesIT {

    private static final int HEAP_MEGABYTES = 96;
    private static final int TICK_MILLIS = 500;

    @TempDir private Path work;

    private final List<Killed> processes = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private NIOServerCnxnFactory ensemble;
    private String place;

    @BeforeEach
    void startEnsemble() throws Exception {
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        place = "127.0.0.1:" + ensemble.getLocalPort() + "/example";
    }

    @AfterEach
    void endAll() {
        clients.forEach(Client::close);
        processes.forEach(Killed::close);
        ensemble.shutdown();
    }

    private void start(Class<?> program, String... more) throws IOException {
        List<String> arguments = new ArrayList<>();
        arguments.addAll(List.of("serve", place, work.resolve("services").toString()));
        arguments.addAll(List.of(more));
        String name = "process" + processes.size();
        processes.add(
                new Killed(
                        name,
                        work.resolve("log").resolve(name),
                        HEAP_MEGABYTES,
                        program,
                        arguments.toArray(String[]::new)));
    }

    private void killAllAtOnce() throws Exception {
        for (Killed each : processes) {
            each.kill();
        }
        for (Killed each : processes) {
            each.start();
        }
    }

    private Client client(String service) throws IOException {
        Client client =
                Services.at(place + "/" + service)
                        .client("test", work.resolve("clients").resolve("of-" + service));
        clients.add(client);
        return client;
    }

    private Client asker(String service) throws IOException {
        Client client = Services.at(place + "/" + service).client();
        clients.add(client);
        return client;
    }

    /** Asks again and again, as the service may be down. */
    private static <A> A answer(Client asker, Object query, Class<A> type) {
        List<A> answers = new ArrayList<>();
        waitFor(() -> answers.add(asker.ask(query, type).get(2, SECONDS)));
        return answers.get(0);
    }

    private static void waitFor(Callable<Boolean> condition) {
        await().atMost(Duration.ofMinutes(1))
                .pollInterval(Duration.ofMillis(10))
                .ignoreExceptions()
                .until(condition);
    }

    private static <T> T done(CompletableFuture<T> future) throws Exception {
        return future.get(1, MINUTES);
    }

    @Test
    void pairsCountOn() throws Exception {
        int pairs = 3;
        long upTo = 600;
        start(CountersProcess.class, "ping0", "pong1", "ping2");
        start(CountersProcess.class, "pong0", "ping1", "pong2");
        List<CompletableFuture<Counter.Reached>> reached = new ArrayList<>();
        for (int pair = 0; pair < pairs; pair++) {
            reached.add(client("ping" + pair).ask(new Counter.Count(upTo), Counter.Reached.class));
        }
        Client asker = asker("ping0");
        int step = 0;
        for (long from : new long[] {100, 200, 400}) {
            waitFor(
                    () ->
                            asker.ask(new Counter.Ask(), Counter.Progress.class)
                                            .get(2, SECONDS)
                                            .number()
                                    >= from);
            if (step == 2) {
                killAllAtOnce();
            } else {
                processes.get(step % 2).killAndStart();
            }
            step++;
        }
        for (CompletableFuture<Counter.Reached> each : reached) {
            assertThat(done(each)).isEqualTo(new Counter.Reached(upTo));
        }
        for (int pair = 0; pair < pairs; pair++) {
            Counter.Progress ping =
                    answer(asker("ping" + pair), new Counter.Ask(), Counter.Progress.class);
            Client pongs = asker("pong" + pair);
            // The last number may still be on its way to it.
            waitFor(
                    () ->
                            pongs.ask(new Counter.Ask(), Counter.Progress.class)
                                    .get(2, SECONDS)
                                    .equals(new Counter.Progress(upTo, upTo / 2, 0)));
            assertThat(ping).isEqualTo(new Counter.Progress(upTo, upTo / 2, 0));
        }
    }

    @Tag("long")
    @Test
    void theSetOfAGraphIsTheSame() throws Exception {
        Graph graph = new Graph(8_000, 3, 1);
        int parts = 4;
        start(IndependentSetProcess.class, Integer.toString(parts), "part0", "part1");
        start(IndependentSetProcess.class, Integer.toString(parts), "part2", "part3");
        CompletableFuture<Part.Solved> solved =
                client("part0").ask(new Part.Solve(graph), Part.Solved.class);
        Client first = asker("part0");
        for (int share : new int[] {4, 2}) {
            waitFor(() -> progress(first).read() >= graph.vertices() / share);
            killAllAtOnce();
        }
        waitFor(() -> progress(first).decided() > 0 || solved.isDone());
        processes.get(1).killAndStart();
        Set<Integer> expected = graph.independentSet();
        assertThat(done(solved))
                .isEqualTo(new Part.Solved(expected.size(), Graph.digest(expected)));
        Set<Integer> members = new TreeSet<>();
        for (int part = 0; part < parts; part++) {
            Part.Members all = new Part.Members(0, graph.vertices());
            members.addAll(answer(asker("part" + part), all, Part.Vertices.class).numbers());
        }
        assertThat(members).isEqualTo(expected);
    }

    private static Part.Progress progress(Client asker) throws Exception {
        return asker.ask(new Part.Ask(), Part.Progress.class).get(2, SECONDS);
    }

    @Tag("long")
    @Test
    void eachGetFindsItsValueAfterAllWereKilled() throws Exception {
        int nodes = 4;
        int keys = 200;
        start(DhtProcess.class, Integer.toString(nodes), "node0", "node1");
        start(DhtProcess.class, Integer.toString(nodes), "node2", "node3");
        Client near = client("node0");
        // In memory, so that calls of a process that lives are under way while services die.
        Client far = Services.at(place + "/node3").client("test");
        clients.add(far);
        List<CompletableFuture<DhtNode.Found>> puts = new ArrayList<>();
        for (int key = 0; key < keys; key++) {
            Client client = key % 2 == 0 ? near : far;
            puts.add(client.ask(new DhtNode.Put("key" + key, "v" + key), DhtNode.Found.class));
            if (key == keys / 3) {
                done(puts.get(0));
                processes.get(0).killAndStart();
            } else if (key == 2 * keys / 3) {
                done(puts.get(keys / 3));
                processes.get(1).killAndStart();
            }
        }
        Set<String> owners = new TreeSet<>();
        for (int key = 0; key < keys; key++) {
            DhtNode.Found found = done(puts.get(key));
            assertThat(found.value()).isEqualTo("v" + key);
            assertThat(found.puts()).isEqualTo(1);
            owners.add(found.owner());
        }
        assertThat(owners).hasSizeGreaterThan(1);
        killAllAtOnce();
        List<CompletableFuture<DhtNode.Found>> gets = new ArrayList<>();
        for (int key = 0; key < keys; key++) {
            // Of the other node than it was put through.
            Client client = key % 2 == 0 ? far : near;
            gets.add(client.ask(new DhtNode.Get("key" + key), DhtNode.Found.class));
        }
        for (int key = 0; key < keys; key++) {
            DhtNode.Found found = done(gets.get(key));
            assertThat(found.value()).isEqualTo("v" + key);
            assertThat(found.puts()).isEqualTo(1);
        }
    }
}
