package io.saucr.crash.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.FsyncShim;
import io.saucr.ensemble.ServerProcess;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;

/** What a back end must do to three stock servers, the same for both back ends. */
final class MachineScenarios {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private MachineScenarios() {}

    static void run(String name, Ensemble ensemble, FaultBackend backend) throws Exception {
        ensemble.start();
        ensemble.awaitServing(PATIENCE);
        switch (name) {
            case "powerCutOfAllForced" -> powerCutOfAllForced(ensemble, backend);
            case "powerCutOfAllUnforced" -> powerCutOfAllUnforced(ensemble, backend);
            case "silence" -> silence(ensemble, backend);
            case "partition" -> partition(ensemble, backend);
            case "disks" -> disks(ensemble, backend);
            case "lostDisks" -> lostDisks(ensemble, backend);
            default -> throw new IllegalArgumentException(name);
        }
    }

    static ZooKeeper connect(Ensemble ensemble) throws Exception {
        return connect(ensemble.connectString());
    }

    private static ZooKeeper connect(String servers) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client =
                new ZooKeeper(
                        servers,
                        15_000,
                        event -> {
                            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        assertThat(connected.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return client;
    }

    private static void write(Ensemble ensemble, String prefix, int count) throws Exception {
        write(ensemble.connectString(), prefix, count);
    }

    private static void write(String servers, String prefix, int count) throws Exception {
        ZooKeeper client = connect(servers);
        for (int i = 0; i < count; i++) {
            client.create(
                    prefix + i,
                    "v".getBytes(StandardCharsets.UTF_8),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT);
        }
        client.close();
    }

    private static long present(Ensemble ensemble, String prefix) throws Exception {
        ZooKeeper client = connect(ensemble);
        client.sync("/", (status, path, context) -> {}, null);
        long count =
                client.getChildren("/", false).stream()
                        .filter(child -> child.startsWith(prefix))
                        .count();
        client.close();
        return count;
    }

    /** Stock servers do not force their first snapshot (H16). */
    private static void grownUp(Ensemble ensemble, FaultBackend backend) throws Exception {
        write(ensemble, "/young-", 5);
        for (ServerProcess server : ensemble.servers()) {
            backend.harden(server.id());
        }
    }

    private static void powerCutOfAllForced(Ensemble ensemble, FaultBackend backend)
            throws Exception {
        grownUp(ensemble, backend);
        write(ensemble, "/a-", 200);
        List<String> boots = bootIds(ensemble, backend);
        ensemble.killAll();
        ensemble.start();
        ensemble.awaitServing(PATIENCE);
        assertThat(bootIds(ensemble, backend)).isEqualTo(boots);
        Duration width = backend.powerCut(ensemble.servers()).width();
        System.out.println("power cut of three within " + width.toNanos() / 1000 + " us");
        // Some milliseconds on an idle machine.
        assertThat(width).isLessThan(Duration.ofSeconds(5));
        ensemble.start();
        ensemble.awaitServing(PATIENCE);
        assertThat(bootIds(ensemble, backend)).doesNotContainAnyElementsOf(boots);
        assertThat(present(ensemble, "a-")).isEqualTo(200);
    }

    private static List<String> bootIds(Ensemble ensemble, FaultBackend backend) {
        return ensemble.servers().stream().map(server -> backend.bootId(server.id())).toList();
    }

    private static void powerCutOfAllUnforced(Ensemble ensemble, FaultBackend backend)
            throws Exception {
        grownUp(ensemble, backend);
        write(ensemble, "/a-", 200);
        Duration gap = Duration.ofMillis(50);
        List<PowerCut> cuts = backend.powerCuts(ensemble.servers(), gap);
        for (int i = 1; i < cuts.size(); i++) {
            assertThat(cuts.get(i).began() - cuts.get(i - 1).began())
                    .isGreaterThanOrEqualTo(gap.toNanos());
        }
        ensemble.start();
        ensemble.awaitServing(PATIENCE);
        // Nothing of the log was forced, except by chance of the page cache's own writing back.
        assertThat(present(ensemble, "a-")).isLessThan(200);
    }

    /** The peers of a server without power hear nothing: no end of a connection, no refusal. */
    private static void silence(Ensemble ensemble, FaultBackend backend) throws Exception {
        int leader = ensemble.awaitLeader(PATIENCE);
        ServerProcess follower = ensemble.server(leader % 3 + 1);
        grownUp(ensemble, backend);
        write(ensemble, "/a-", 1);
        long start = System.nanoTime();
        backend.powerCut(List.of(ensemble.server(leader)));
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> follower.role().isEmpty());
        Duration noticed = Duration.ofNanos(System.nanoTime() - start);
        System.out.println("loss of the leader noticed after " + noticed.toMillis() + " ms");
        // A closed socket would be noticed at once; silence takes a good part of syncLimit *
        // tickTime.
        assertThat(noticed).isGreaterThan(Duration.ofSeconds(1));
        ensemble.awaitServing(PATIENCE);
        ensemble.server(leader).start();
        ensemble.awaitServing(PATIENCE);
        assertThat(present(ensemble, "a-")).isEqualTo(1);
    }

    private static void partition(Ensemble ensemble, FaultBackend backend) throws Exception {
        int leader = ensemble.awaitLeader(PATIENCE);
        Set<Integer> others = Set.of(leader % 3 + 1, (leader + 1) % 3 + 1);
        backend.partition(List.of(Set.of(leader), others));
        Awaitility.await()
                .atMost(PATIENCE)
                .until(
                        () ->
                                others.stream()
                                                .anyMatch(
                                                        id ->
                                                                ensemble.server(id)
                                                                        .role()
                                                                        .equals("leader"))
                                        && ensemble.server(leader).role().isEmpty());
        backend.heal();
        ensemble.awaitServing(PATIENCE);
        Awaitility.await()
                .atMost(PATIENCE)
                .until(() -> ensemble.server(leader).role().equals("follower"));
        // Nobody is in a group: everyone is alone.
        backend.partition(List.of());
        Awaitility.await().atMost(PATIENCE).until(() -> ensemble.leader().isEmpty());
        backend.heal();
        ensemble.awaitServing(PATIENCE);
        write(ensemble, "/a-", 1);
        try {
            write(ensemble, "/a-", 1);
            fail("written twice");
        } catch (KeeperException.NodeExistsException e) {
            // As it should be.
        }
    }

    /**
     * A disk becomes slow, fails and is full while its server runs. A slow one delays writes; with
     * the other two the server serves nobody, and the rest of the ensemble goes on without it.
     */
    private static void disks(Ensemble ensemble, FaultBackend backend) throws Exception {
        int leader = ensemble.awaitLeader(PATIENCE);
        ServerProcess follower = ensemble.server(leader % 3 + 1);
        grownUp(ensemble, backend);

        for (ServerProcess server : ensemble.servers()) {
            backend.shim(server.id()).delay(Duration.ofMillis(150));
        }
        long start = System.nanoTime();
        write(ensemble, "/slow-", 4);
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isGreaterThan(Duration.ofMillis(600));
        for (ServerProcess server : ensemble.servers()) {
            backend.shim(server.id()).delay(Duration.ZERO);
        }

        FsyncShim disk = backend.shim(follower.id());
        disk.failForces(true);
        outOfService(ensemble, follower, "/failing-");
        assertThat(disk.failedForces()).isPositive();
        disk.failForces(false);
        backInService(ensemble, follower);

        disk.fullDisk(true);
        outOfService(ensemble, follower, "/full-");
        assertThat(disk.refusedWrites()).isPositive();
        disk.fullDisk(false);
        backInService(ensemble, follower);
        for (String prefix : List.of("slow-", "failing-", "full-")) {
            assertThat(present(ensemble, prefix)).as(prefix).isEqualTo(4);
        }
    }

    /**
     * A follower's log goes, then its whole disk, with the power; it copies everything each time.
     */
    private static void lostDisks(Ensemble ensemble, FaultBackend backend) throws Exception {
        int leader = ensemble.awaitLeader(PATIENCE);
        ServerProcess follower = ensemble.server(leader % 3 + 1);
        grownUp(ensemble, backend);
        write(ensemble, "/a-", 20);
        follower.kill();
        Path history = follower.dataDirectory().resolve("version-2");
        backend.lose(follower.id(), history);
        assertThat(history).doesNotExist();
        backInService(ensemble, follower);
        backend.powerCut(List.of(follower));
        backend.lose(follower.id(), follower.dataDirectory());
        try (Stream<Path> left = Files.list(follower.dataDirectory())) {
            assertThat(left.map(path -> path.getFileName().toString())).containsExactly("myid");
        }
        backInService(ensemble, follower);
        write(ensemble, "/b-", 20);
        backend.powerCut(ensemble.servers());
        ensemble.start();
        ensemble.awaitServing(PATIENCE);
        assertThat(present(ensemble, "a-")).isEqualTo(20);
        assertThat(present(ensemble, "b-")).isEqualTo(20);
    }

    /** The client is not the follower's: it would lose its connection in the middle of a write. */
    private static void outOfService(Ensemble ensemble, ServerProcess follower, String prefix)
            throws Exception {
        String others =
                ensemble.servers().stream()
                        .filter(server -> server.id() != follower.id())
                        .map(server -> server.address().client())
                        .collect(Collectors.joining(","));
        write(others, prefix, 4);
        Awaitility.await().atMost(PATIENCE).until(() -> follower.role().isEmpty());
        assertThat(ensemble.leader()).isPresent();
    }

    private static void backInService(Ensemble ensemble, ServerProcess follower) throws Exception {
        Awaitility.await()
                .atMost(PATIENCE)
                .until(
                        () -> {
                            if (!follower.isAlive()) {
                                follower.start();
                            }
                            return follower.role().equals("follower");
                        });
        ensemble.awaitServing(PATIENCE);
    }
}
