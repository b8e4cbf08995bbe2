package io.saucr.services.examples;

import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.core.standby.StandbyHead;
import io.saucr.services.examples.auction.Killed;
import io.saucr.services.examples.mapreduce.Coordinator;
import io.saucr.services.examples.mapreduce.CoordinatorTasks;
import io.saucr.services.examples.mapreduce.MapReduceProcess;
import io.saucr.services.examples.mapreduce.PlainCoordinator;
import io.saucr.services.examples.mapreduce.Worker;
import io.saucr.services.examples.product.PlainProduct;
import io.saucr.services.examples.product.Product;
import io.saucr.services.examples.product.ProductProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The applications of the paper with a standby, which takes over in the middle of the work. */
class StandbyExamplesIT {

    private static final int HEAP_MEGABYTES = 96;
    private static final int TICK_MILLIS = 500;
    private static final int SESSION_MILLIS = 20_000;

    @TempDir private Path work;

    private final List<Killed> members = new ArrayList<>();
    private NIOServerCnxnFactory ensemble;
    private ZooKeeper session;
    private String place;

    @BeforeEach
    void startEnsemble() throws Exception {
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        String servers = "127.0.0.1:" + ensemble.getLocalPort();
        session = new ZooKeeper(servers, SESSION_MILLIS, event -> {});
        place = servers + "/example";
    }

    @AfterEach
    void endAll() throws Exception {
        members.forEach(Killed::close);
        session.close();
        ensemble.shutdown();
    }

    /** Two members, each with all segments. */
    private void start(Class<?> program, String... more) throws Exception {
        for (String name : List.of("first", "second")) {
            List<String> arguments =
                    new ArrayList<>(
                            List.of("serve", "standby", place, work.resolve(name).toString()));
            arguments.addAll(List.of(more));
            members.add(
                    new Killed(
                            name,
                            work.resolve("log").resolve(name),
                            HEAP_MEGABYTES,
                            program,
                            arguments.toArray(String[]::new)));
            waitFor(() -> head().holders().size() == members.size());
        }
    }

    private StandbyHead head() throws Exception {
        return StandbyHead.decode(session.getData("/example/head", false, null));
    }

    private static void waitFor(Callable<Boolean> condition) {
        await().atMost(Duration.ofMinutes(1))
                .pollInterval(Duration.ofMillis(10))
                .ignoreExceptions()
                .until(condition);
    }

    /** Whoever that is by now: a machine under load may move the office. */
    private void killTheOneInOffice() throws Exception {
        StandbyHead head = head();
        for (Killed each : members) {
            String identity = Files.readString(work.resolve(each.name()).resolve("member"));
            if (identity.contains("member " + head.member() + "\n")) {
                each.kill();
                waitFor(() -> head().holder().number() > head.holder().number());
                each.start();
                return;
            }
        }
        throw new IllegalStateException("whose is " + head + "?");
    }

    @Test
    void workersCountOnWhenTheCoordinatorDies() throws Exception {
        List<String> texts = new ArrayList<>();
        for (int text = 0; text < 40; text++) {
            texts.add("a rose is a rose " + "x".repeat(text % 3 + 1));
        }
        PlainCoordinator plain = new PlainCoordinator();
        plain.begin(texts, 3);
        int unused = new Worker(plain).work();

        start(MapReduceProcess.class);
        try (Client begins = Services.at(place).client("begins")) {
            begins.ask(new Coordinator.Begin(texts, 3), Coordinator.Noted.class).get(1, MINUTES);
            Set<CompletableFuture<Integer>> workers = new HashSet<>();
            for (String name : List.of("one", "two")) {
                workers.add(CompletableFuture.supplyAsync(() -> work(name)));
            }
            killTheOneInOffice();
            int done = 0;
            for (CompletableFuture<Integer> each : workers) {
                done += each.get(1, MINUTES);
            }
            assertThat(done).isGreaterThanOrEqualTo(texts.size() + 3);
            assertThat(
                            begins.ask(new Coordinator.Ask(), Coordinator.Counts.class)
                                    .get(30, SECONDS)
                                    .byWord())
                    .isEqualTo(plain.result());
        }
    }

    private int work(String name) {
        try (Client client = Services.at(place).client(name)) {
            return new Worker(new CoordinatorTasks(client)).work();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aLongComputationGoesOnWhereItWas() throws Exception {
        int size = 300;
        start(ProductProcess.class, Integer.toString(size), "5");
        try (Client client = Services.at(place).client("multiplies");
                Client asker = Services.at(place).client()) {
            CompletableFuture<Product.Sum> sum =
                    client.ask(new Product.Multiply(), Product.Sum.class);
            waitFor(
                    () ->
                            asker.ask(new Product.Ask(), Product.Progress.class)
                                            .get(2, SECONDS)
                                            .rows()
                                    > 20);
            killTheOneInOffice();
            assertThat(sum.get(1, MINUTES).sum()).isEqualTo(new PlainProduct(size, 5).multiply());
        }
    }
}
