package io.saucr.bench.ensemble;

import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.EnsembleUsage;
import io.saucr.bench.result.ProcessUsage;
import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.FsyncShim;
import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.Majority;
import io.saucr.ensemble.ServerProcess;
import io.saucr.ensemble.Signal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ensemble of one configuration, started on this machine, with what it uses. Used by one
 * thread; closing it kills the servers.
 */
public final class BenchEnsemble implements MeasuredEnsemble {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final long POLL_MILLIS = 50;
    private static final Pattern ZXID = Pattern.compile("(?m)^Zxid: 0x([0-9a-f]+)$");

    private final Configuration configuration;
    private final LoopbackHosting hosting;
    private final Ensemble ensemble;
    private final int voters;
    private final Map<Integer, JvmAllocations> allocations = new HashMap<>();
    private int leader;
    private boolean pinned;
    private ProcessorQuota quota;

    /** What processes used that were killed. */
    private ProcessUsage gone = ProcessUsage.NONE;

    /**
     * @param jvmFlags with {@link Ensemble#SMALL_JVM}, with which nothing is worth measuring,
     *     servers also start from an archive of their classes
     * @param work an empty folder for the servers' data
     */
    public BenchEnsemble(Configuration configuration, int voters, List<String> jvmFlags, Path work)
            throws IOException {
        this(configuration, voters, 0, jvmFlags, work);
    }

    /** The same with observers, whose numbers follow those of the voters. */
    public BenchEnsemble(
            Configuration configuration,
            int voters,
            int observers,
            List<String> jvmFlags,
            Path work)
            throws IOException {
        this.configuration = configuration;
        this.voters = voters;
        this.hosting =
                new LoopbackHosting(
                        Files.createDirectories(work).toRealPath(),
                        voters + observers,
                        FsyncShim.available()
                                ? LoopbackHosting.Disk.SHIM
                                : LoopbackHosting.Disk.PLAIN);
        Ensemble.Builder builder =
                Ensemble.of(configuration.distribution(), work)
                        .voters(voters)
                        .observers(observers)
                        .hosting(hosting)
                        .set("tickTime", "2000")
                        .set("maxClientCnxns", "0")
                        .set("initLimit", "10")
                        .set("syncLimit", "5");
        if (!jvmFlags.equals(Ensemble.SMALL_JVM)) {
            builder.jvm(jvmFlags);
        }
        configuration.security().settings().forEach(builder::set);
        builder.encryption(configuration.security().encryption());
        configuration.settings().forEach(builder::set);
        this.ensemble = builder.build();
    }

    @Override
    public Configuration configuration() {
        return configuration;
    }

    /** The servers' processes, for what is done to single ones. */
    public Ensemble servers() {
        return ensemble;
    }

    /** The number of the server that led when it was looked at last. */
    public int leader() {
        return leader;
    }

    /**
     * @throws IllegalStateException if it does not serve in time, with the tail of a server's log
     */
    public void start() throws IOException, InterruptedException {
        try {
            ensemble.start();
            awaitServing();
        } catch (IllegalStateException e) {
            throw failure(e.getMessage(), e);
        }
    }

    /** Waits until all running servers serve, and looks who leads. */
    public void awaitServing() throws InterruptedException {
        ensemble.awaitServing(PATIENCE);
        leader = ensemble.awaitLeader(PATIENCE);
    }

    private IllegalStateException failure(String what, Throwable cause) {
        return new IllegalStateException(what(what), cause);
    }

    private String what(String happened) {
        return "configuration " + configuration.name() + ": " + happened;
    }

    /**
     * Begins to measure what the servers allocate.
     *
     * @throws IOException if one of them cannot be asked
     */
    public void meterAllocations() throws IOException {
        for (ServerProcess server : running()) {
            allocations.put(server.id(), JvmAllocations.of(server.pid()));
        }
    }

    @Override
    public void fail(int followers) throws InterruptedException {
        int left = followers;
        for (ServerProcess server : ensemble.servers()) {
            if (left > 0 && server.id() != leader) {
                kill(server);
                left--;
            }
        }
        awaitServing();
    }

    /**
     * Kills a server (SIGKILL). What its process has used stays part of {@link #usage}.
     *
     * @throws IllegalStateException if it has ended before
     */
    public void kill(ServerProcess server) {
        if (!server.isAlive()) {
            throw failure(
                    "server " + server.id() + " has exited on its own\n" + server.logTail(20),
                    null);
        }
        forget(server.id());
        ProcessUsage used = ProcessUsage.of(server.pid());
        server.kill();
        gone = gone.plus(new ProcessUsage(used.cpuSeconds(), 0, used.readWriteCalls()));
    }

    private void forget(int id) {
        JvmAllocations asked = allocations.remove(id);
        if (asked != null) {
            asked.close();
        }
    }

    @Override
    public void device(DeviceProfile profile) {
        for (int id = 1; id <= ensemble.size(); id++) {
            ensemble.shim(id).ifPresent(shim -> shim.delay(profile.forceDelay()));
        }
    }

    @Override
    public void limit(double processors) throws IOException {
        quota = ProcessorQuota.of(processors, running().stream().map(ServerProcess::pid).toList());
    }

    /**
     * Pins slow mode on every server by the signal that operators use.
     *
     * @throws IOException if the signal cannot be sent
     * @throws IllegalStateException if one does not say so in time
     */
    public void pinSlow() throws IOException, InterruptedException {
        Signal.PWR.send(running().stream().map(ServerProcess::pid).toList());
        for (ServerProcess server : running()) {
            Deadline.await(
                    PATIENCE,
                    POLL_MILLIS,
                    () -> EnsembleUsage.number(server.mntr(), "zk_saucr_pinned_slow") == 1,
                    () -> what("server " + server.id() + " is not pinned\n" + server.logTail(20)));
        }
        pinned = true;
    }

    /**
     * Waits for fast mode if more than a bare majority runs and slow mode is not pinned. Other
     * ensembles have no mode to wait for.
     */
    @Override
    public void awaitMode() throws InterruptedException {
        if (!configuration.situationAware()) {
            return;
        }
        long running = running().stream().filter(this::votes).count();
        boolean fast = !pinned && running > Majority.of(voters);
        Deadline.await(
                PATIENCE,
                POLL_MILLIS,
                () -> mode() == (fast ? 1 : 0),
                () ->
                        what(
                                "the leader did not turn to %s mode within %s s\n%s"
                                        .formatted(
                                                fast ? "fast" : "slow",
                                                PATIENCE.toSeconds(),
                                                ensemble.server(leader).logTail(20))));
    }

    /**
     * 1 or 0 as the leader reports it, or -1; a double, as Prometheus' provider writes decimal
     * fractions.
     */
    private double mode() {
        return Double.parseDouble(
                ensemble.server(leader).mntr().getOrDefault("zk_saucr_mode", "-1"));
    }

    private boolean votes(ServerProcess server) {
        return server.id() <= voters;
    }

    /** Where clients connect: the running followers by number, then the leader. */
    @Override
    public List<String> addresses() {
        List<String> addresses = new ArrayList<>();
        for (ServerProcess server : running()) {
            if (votes(server) && server.id() != leader) {
                addresses.add(ensemble.client(server.id()));
            }
        }
        addresses.add(ensemble.client(leader));
        return addresses;
    }

    private List<ServerProcess> running() {
        return ensemble.servers().stream().filter(ServerProcess::isAlive).toList();
    }

    @Override
    public EnsembleUsage usage() {
        ProcessUsage all = gone;
        ProcessUsage leading = ProcessUsage.NONE;
        long forces = 0;
        long logForces = 0;
        double forceSeconds = 0;
        long flushes = 0;
        for (ServerProcess server : running()) {
            ProcessUsage one = ProcessUsage.of(server.pid());
            all = all.plus(one);
            if (server.id() == leader) {
                leading = one;
            }
            if (ensemble.shim(server.id()).isPresent()) {
                FsyncShim shim = ensemble.shim(server.id()).get();
                FsyncShim.Forces counted = shim.forces();
                forces += counted.total();
                logForces += counted.transactionLog();
                forceSeconds += shim.timeInForces().toNanos() / 1e9;
            }
            flushes += EnsembleUsage.number(server.mntr(), "zk_saucr_flushes");
        }
        Map<String, String> leaderSays = ensemble.server(leader).mntr();
        if (!"leader".equals(leaderSays.get("zk_server_state"))) {
            throw failure(
                    "server %s does not lead any more; its log ends with\n%s"
                            .formatted(leader, ensemble.server(leader).logTail(20)),
                    null);
        }
        return EnsembleUsage.of(all, leading, forces, logForces, forceSeconds, leaderSays, flushes);
    }

    /** The zxid of the last proposal that the leader has applied. */
    public long lastZxid() {
        Matcher zxid = ZXID.matcher(ensemble.server(leader).ask("srvr"));
        if (!zxid.find()) {
            throw failure("the leader does not say its zxid", null);
        }
        return Long.parseUnsignedLong(zxid.group(1), 16);
    }

    /** Whether everything is on disk everywhere, so that nothing but heartbeats is left to do. */
    public boolean quiet() {
        return running().stream()
                .allMatch(server -> EnsembleUsage.number(server.mntr(), "zk_saucr_on_disk") == 1);
    }

    /** Processor time of its running servers so far, in steps of 10 ms; asks them nothing. */
    public double cpuSeconds() {
        return running().stream()
                .mapToDouble(server -> ProcessUsage.of(server.pid()).cpuSeconds())
                .sum();
    }

    @Override
    public long allocatedBytes() {
        return allocations.values().stream().mapToLong(JvmAllocations::bytes).sum();
    }

    @Override
    public Map<Integer, Path> logs() {
        Map<Integer, Path> logs = new TreeMap<>();
        for (ServerProcess server : ensemble.servers()) {
            if (Files.exists(server.logFile())) {
                logs.put(server.id(), server.logFile());
            }
        }
        return logs;
    }

    @Override
    public void close() {
        allocations.values().forEach(JvmAllocations::close);
        ensemble.close();
        if (quota != null) {
            quota.close();
        }
    }
}
