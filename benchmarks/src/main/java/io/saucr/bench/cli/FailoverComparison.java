package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.RunningClients;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.measure.Experiment;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.TimeSample;
import io.saucr.ensemble.ClassArchive;
import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How long an ensemble takes to start, and to continue after its leader was killed. */
@Command(
        name = "failover",
        description =
                "How long an ensemble takes from the start of its processes to the first acknowledged"
                        + " write, and, after its leader was killed under load, from the last"
                        + " acknowledged write before to the first after.",
        mixinStandardHelpOptions = true)
final class FailoverComparison implements Callable<Integer> {
    static final String TITLE = "failover";
    private static final String START = "start of the processes to first ack";
    private static final String FAIL_OVER = "last ack before the leader's death to first after";
    private static final int CLIENTS = 8;
    private static final int RECORDS = 100;
    private static final int VALUE_BYTES = 1024;
    private static final long LOAD_SECONDS = 3;

    @Mixin private RoundOptions rounds = new RoundOptions(6);

    @Option(
            names = "--servers",
            paramLabel = "N",
            description = "Voters of each ensemble (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private int servers;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description =
                    "How long an fsync takes at least: ${COMPLETION-CANDIDATES} (default:"
                            + " ${DEFAULT-VALUE}).",
            defaultValue = "SSD")
    private DeviceProfile device;

    @Option(
            names = "--class-archive",
            description =
                    "All servers start with an archive of their classes, as ours do after"
                            + " 'zkServer.sh class-archive'.")
    private boolean classArchive;

    @Override
    public Integer call() throws Exception {
        rounds.system().requireOwnServers(TITLE, "starts and kills servers");
        SystemOptions.requireShim(List.of(device));
        List<String> jvmFlags = rounds.system().jvmFlags(SystemOptions.JVM);
        rounds.measure(
                new Experiment<>(
                        TITLE,
                        Experiment.TIMES,
                        List.of(new Failover(servers, device, jvmFlags, classArchive)),
                        RoundOptions.parameters(
                                "servers",
                                servers,
                                "device",
                                device,
                                "clients",
                                CLIENTS,
                                "jvmFlags",
                                jvmFlags,
                                "classArchive",
                                classArchive)),
                Figure.ALL_THREE);
        return 0;
    }

    private record Failover(
            int servers, DeviceProfile device, List<String> jvmFlags, boolean classArchive)
            implements Experiment.Subject<TimeSample> {
        @Override
        public String name() {
            return "start, then death of the leader";
        }

        @Override
        public List<TimeSample> measure(
                Configuration configuration, int round, Path work, RunFolder results)
                throws Exception {
            List<String> flags = new ArrayList<>(jvmFlags);
            if (classArchive) {
                flags.addAll(ClassArchive.flags(configuration.distribution()));
            }
            return FailoverComparison.measure(configuration, servers, device, flags, work)
                    .entrySet()
                    .stream()
                    .map(
                            each ->
                                    new TimeSample(
                                            each.getKey(),
                                            configuration.name(),
                                            round,
                                            each.getValue()))
                    .toList();
        }
    }

    private static Map<String, Double> measure(
            Configuration configuration,
            int servers,
            DeviceProfile device,
            List<String> jvmFlags,
            Path work)
            throws Exception {
        Map<String, Double> seconds = new LinkedHashMap<>();
        try (BenchEnsemble ensemble = new BenchEnsemble(configuration, servers, jvmFlags, work)) {
            ensemble.device(device);
            long begin = System.nanoTime();
            ensemble.servers().start();
            seconds.put(START, (FirstAck.await(ensemble.servers().servers()) - begin) / 1e9);
            ensemble.awaitServing();
            ensemble.awaitMode();
            UpdateLoad load = new UpdateLoad(RECORDS, VALUE_BYTES);
            load.prepare(ensemble.addresses().get(0));
            List<ServerProcess> survivors =
                    ensemble.servers().servers().stream()
                            .filter(server -> server.id() != ensemble.leader())
                            .toList();
            List<String> followers =
                    survivors.stream().map(server -> server.address().client()).toList();
            try (RunningClients clients = RunningClients.start(load, followers, CLIENTS)) {
                TimeUnit.SECONDS.sleep(LOAD_SECONDS);
                ensemble.servers().server(ensemble.leader()).kill();
                long last = clients.lastNanos();
                long first = FirstAck.await(survivors);
                seconds.put(FAIL_OVER, (first - last) / 1e9);
            }
        }
        return seconds;
    }

    /** Waits for the first of several servers that acknowledges a write. Thread-safe. */
    private static final class FirstAck {
        private static final Duration PATIENCE = Duration.ofSeconds(90);

        /** Rarely enough that the answers cost little next to an election on two processors. */
        private static final long POLL_MILLIS = 10;

        private static final long CONNECT_MILLIS = 500;
        private static final int SESSION_TIMEOUT_MILLIS = 30_000;

        private final AtomicLong at = new AtomicLong();

        /**
         * Waits until one of the servers has acknowledged a write by a new client.
         *
         * @return when, {@link System#nanoTime}
         * @throws IllegalStateException if that does not happen in time
         */
        static long await(List<ServerProcess> servers) throws InterruptedException {
            FirstAck ack = new FirstAck();
            for (ServerProcess server : servers) {
                Thread thread = new Thread(() -> ack.probe(server), "bench probe");
                thread.setDaemon(true);
                thread.start();
            }
            try {
                Deadline.await(
                        PATIENCE,
                        POLL_MILLIS,
                        () -> ack.at.get() != 0,
                        () -> "no server acknowledges a write\n" + servers.get(0).logTail(30));
            } finally {
                ack.at.compareAndSet(0, -1);
            }
            return ack.at.get();
        }

        private void probe(ServerProcess server) {
            try {
                while (at.get() == 0) {
                    if (server.role().isEmpty()) {
                        Thread.sleep(POLL_MILLIS);
                    } else {
                        write(server.address().client());
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void write(String address) throws InterruptedException {
            CountDownLatch connected = new CountDownLatch(1);
            try {
                ZooKeeper client =
                        new ZooKeeper(
                                address,
                                SESSION_TIMEOUT_MILLIS,
                                event -> {
                                    if (event.getState() == KeeperState.SyncConnected) {
                                        connected.countDown();
                                    }
                                });
                try {
                    if (connected.await(CONNECT_MILLIS, TimeUnit.MILLISECONDS)) {
                        client.create(
                                "/first-ack-",
                                new byte[0],
                                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                                CreateMode.EPHEMERAL_SEQUENTIAL);
                        at.compareAndSet(0, System.nanoTime());
                    }
                } finally {
                    client.close(1);
                }
            } catch (KeeperException | IOException e) {
                // It does not serve yet.
            }
        }
    }
}
