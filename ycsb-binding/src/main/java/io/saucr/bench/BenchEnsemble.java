package io.saucr.bench;

import io.saucr.crash.process.Ensemble;
import io.saucr.crash.process.FsyncShim;
import io.saucr.crash.process.LoopbackHosting;
import io.saucr.crash.process.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The running ensemble of one configuration, with what it uses. Used by one thread; closing it
 * kills the servers.
 */
final class BenchEnsemble implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final long POLL_MILLIS = 50;

    private final Configuration configuration;
    private final Ensemble ensemble;
    private int leader;

    BenchEnsemble(Configuration configuration, RunPlan plan, Path work) throws IOException {
        this.configuration = configuration;
        Ensemble.Builder builder =
                Ensemble.of(configuration.distribution(), work)
                        .voters(plan.voters())
                        .disk(LoopbackHosting.Disk.SHIM)
                        .jvm(plan.jvmFlags())
                        .set("tickTime", "2000")
                        .set("initLimit", "10")
                        .set("syncLimit", "5");
        configuration.settings().forEach(builder::set);
        this.ensemble = builder.build();
    }

    Configuration configuration() {
        return configuration;
    }

    /**
     * @throws IllegalStateException if it does not serve in time, with the tail of a server's log
     */
    void start() throws IOException, InterruptedException {
        try {
            ensemble.start();
            awaitServing();
        } catch (IllegalStateException e) {
            throw new IllegalStateException(
                    "configuration " + configuration.name() + ": " + e.getMessage(), e);
        }
    }

    private void awaitServing() throws InterruptedException {
        ensemble.awaitServing(PATIENCE);
        leader = ensemble.leader().orElseThrow(() -> new IllegalStateException("no leader"));
    }

    /** Kills followers, lowest number first, and waits until the others serve. */
    void fail(int followers) throws InterruptedException {
        int left = followers;
        for (ServerProcess server : ensemble.servers()) {
            if (left > 0 && server.id() != leader) {
                server.kill();
                left--;
            }
        }
        awaitServing();
    }

    /** From now on every force takes at least the profile's time. */
    void device(DeviceProfile profile) {
        for (int id = 1; id <= ensemble.size(); id++) {
            shim(id).delay(profile.forceDelay());
        }
    }

    /**
     * Waits for the mode in which a situation-aware ensemble works with the servers that run: fast
     * if they are more than a bare majority. Others have none to wait for.
     *
     * @throws IllegalStateException if it does not come
     */
    void awaitMode(int running) throws InterruptedException {
        if (!configuration.situationAware()) {
            return;
        }
        String wanted = running > ensemble.size() / 2 + 1 ? "1" : "0";
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!wanted.equals(ensemble.server(leader).mntr().get("zk_saucr_mode"))) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(
                        "configuration "
                                + configuration.name()
                                + ": the leader did not turn to "
                                + (wanted.equals("1") ? "fast" : "slow")
                                + " mode within "
                                + PATIENCE.toSeconds()
                                + " s\n"
                                + ensemble.server(leader).logTail(20));
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    /** Where clients connect: the running followers by number, then the leader. */
    List<String> addresses() {
        List<String> addresses = new ArrayList<>();
        for (ServerProcess server : running()) {
            if (server.id() != leader) {
                addresses.add(server.address().client());
            }
        }
        addresses.add(ensemble.server(leader).address().client());
        return addresses;
    }

    private List<ServerProcess> running() {
        return ensemble.servers().stream().filter(ServerProcess::isAlive).toList();
    }

    /**
     * What its running servers have used.
     *
     * @throws IllegalStateException if the leader has changed
     */
    EnsembleUsage usage() {
        ProcessUsage all = ProcessUsage.NONE;
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
            FsyncShim shim = shim(server.id());
            FsyncShim.Forces counted = shim.forces();
            forces += counted.total();
            logForces += counted.transactionLog();
            flushes += number(server.mntr(), "zk_saucr_flushes");
            forceSeconds += shim.timeInForces().toNanos() / 1e9;
        }
        Map<String, String> leaderSays = ensemble.server(leader).mntr();
        if (!"leader".equals(leaderSays.get("zk_server_state"))) {
            throw new IllegalStateException(
                    "configuration "
                            + configuration.name()
                            + ": server "
                            + leader
                            + " does not lead any more; its log ends with\n"
                            + ensemble.server(leader).logTail(20));
        }
        return new EnsembleUsage(
                all,
                leading,
                forces,
                logForces,
                forceSeconds,
                number(leaderSays, "zk_saucr_fast_commits"),
                number(leaderSays, "zk_saucr_slow_commits"),
                number(leaderSays, "zk_saucr_mode_switches"),
                flushes);
    }

    private static long number(Map<String, String> table, String key) {
        return (long) Double.parseDouble(table.getOrDefault(key, "0"));
    }

    /** What each server that was started has printed, by number. */
    Map<Integer, Path> logs() {
        Map<Integer, Path> logs = new TreeMap<>();
        for (ServerProcess server : ensemble.servers()) {
            if (Files.exists(server.logFile())) {
                logs.put(server.id(), server.logFile());
            }
        }
        return logs;
    }

    private FsyncShim shim(int id) {
        return ensemble.shim(id).orElseThrow();
    }

    @Override
    public void close() {
        ensemble.close();
    }
}
