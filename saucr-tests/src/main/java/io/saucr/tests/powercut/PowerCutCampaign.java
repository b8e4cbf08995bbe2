package io.saucr.tests.powercut;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.crash.fault.Enclosure;
import io.saucr.crash.fault.RootBackend;
import io.saucr.crash.process.Distribution;
import io.saucr.crash.process.Ensemble;
import io.saucr.crash.process.ServerProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Cuts the power of real servers under load, round after round, and looks whether every
 * acknowledged write is there and how soon the ensemble serves again. One ensemble serves all
 * rounds of a run. Needs root: it runs in namespaces of its own.
 */
@Command(
        name = "saucr-powercut",
        mixinStandardHelpOptions = true,
        description = "Power cuts of servers under load, with loss of all that was not forced.")
public final class PowerCutCampaign implements Callable<Integer> {
    private static final Duration FAST_WAIT = Duration.ofSeconds(60);
    private static final Duration SERVING_WAIT = Duration.ofSeconds(60);
    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final int CLIENTS = 8;
    private static final int LOST = 2;

    @Option(names = "--distribution", required = true, description = "An unpacked distribution.")
    private Path distribution;

    @Option(names = "--work", required = true, description = "An empty folder for the run.")
    private Path work;

    @Option(names = "-n", defaultValue = "5", description = "Number of servers (${DEFAULT-VALUE}).")
    private int servers;

    @Option(names = "--rounds", defaultValue = "1", description = "Rounds of every scenario.")
    private int rounds;

    @Option(names = "--gap", defaultValue = "50", description = "Milliseconds between cuts.")
    private int gapMillis;

    @Option(
            names = "--pause",
            defaultValue = "5",
            description =
                    "Milliseconds between an answer and a client's next write (${DEFAULT-VALUE}).")
    private int pauseMillis;

    @Option(
            names = "--scenarios",
            split = ",",
            description = "Which, by default all: ${COMPLETION-CANDIDATES}")
    private PowerCutScenario[] scenarios = PowerCutScenario.values();

    @Option(
            names = "--log-dir",
            description = "Logs lie in a folder of their own (dataLogDir), on the same disk.")
    private boolean logDirectory;

    private Ensemble ensemble;
    private RootBackend backend;
    private Counters counters;
    private final Map<String, List<Round>> results = new LinkedHashMap<>();

    /**
     * One power cut and what came of it.
     *
     * @param acknowledged writes before the cut
     * @param servingMillis from the last start to serving; -1 if it did not
     * @param missing acknowledged writes that are not there
     */
    record Round(
            String verdict,
            long acknowledged,
            long servingMillis,
            List<String> missing,
            List<String> notes) {}

    /** Runs the campaign in an enclosure; exit status 0 if nothing was lost, 2 if something was. */
    public static void main(String[] args) throws Exception {
        if (Enclosure.inside()) {
            Enclosure.enter();
            System.exit(new CommandLine(new PowerCutCampaign()).execute(args));
        }
        System.exit(enclosed(List.of(args)));
    }

    /** Runs the campaign from outside an enclosure and returns its exit status. */
    public static int enclosed(List<String> args) throws IOException, InterruptedException {
        return Enclosure.run(PowerCutCampaign.class, List.of("-Xmx256m"), args);
    }

    @Override
    public Integer call() throws Exception {
        Files.createDirectories(work);
        backend = new RootBackend(work, servers);
        ensemble =
                Ensemble.of(Distribution.folder(distribution), work)
                        .voters(servers)
                        .hosting(backend)
                        .set("tickTime", "500")
                        .set("initLimit", "20")
                        .set("syncLimit", "5")
                        .set("saucr.enabled", "true")
                        .build();
        if (logDirectory) {
            for (ServerProcess server : ensemble.servers()) {
                server.configure("dataLogDir", logs(server).toString());
            }
        }
        boolean lost = false;
        try (Ensemble running = ensemble) {
            running.start();
            running.awaitServing(SERVING_WAIT);
            counters = new Counters(running.connectString(), CLIENTS, pauseMillis);
            counters.start();
            for (int round = 1; round <= rounds; round++) {
                for (PowerCutScenario scenario : scenarios) {
                    Round result = run(scenario);
                    lost |= !result.missing.isEmpty();
                    results.computeIfAbsent(scenario.name(), name -> new ArrayList<>()).add(result);
                    System.out.printf(
                            "n=%d round %d/%d %-27s %-12s %6d acked, serving after %5d ms %s %s%n",
                            servers,
                            round,
                            rounds,
                            scenario,
                            result.verdict,
                            result.acknowledged,
                            result.servingMillis,
                            result.missing.isEmpty() ? "" : result.missing,
                            result.notes.isEmpty() ? "" : result.notes);
                    Files.writeString(
                            work.resolve("powercut.json"),
                            new ObjectMapper().writeValueAsString(results));
                    if (result.verdict.equals("stuck") || lost) {
                        return LOST;
                    }
                }
            }
        } finally {
            if (counters != null) {
                counters.close();
            }
        }
        return 0;
    }

    private Round run(PowerCutScenario scenario) throws Exception {
        List<String> notes = new ArrayList<>();
        awaitFast();
        awaitWrites(200);
        int leader = ensemble.leader().orElseThrow();
        if (scenario == PowerCutScenario.ALL_WHEN_IDLE) {
            counters.pause(true);
            awaitOnDisk();
        }
        List<ServerProcess> victims =
                scenario.victims(servers, leader).stream().map(ensemble::server).toList();
        long acknowledged = counters.total();
        if (scenario.atOnce()) {
            backend.powerCut(victims);
        } else {
            backend.powerCuts(victims, Duration.ofMillis(gapMillis));
        }
        for (ServerProcess victim : victims) {
            victim.start();
        }
        long started = System.nanoTime();
        counters.pause(false);
        boolean serving =
                scenario.mayStayDown()
                        ? awaitServingOrWaiting(started)
                        : awaitServing(SERVING_WAIT);
        long servingMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
        if (serving) {
            return new Round("correct", acknowledged, servingMillis, missing(), notes);
        }
        if (!scenario.mayStayDown()) {
            for (ServerProcess server : ensemble.servers()) {
                notes.add(server.id() + ": " + server.mntr());
            }
            return new Round("stuck", acknowledged, -1, List.of(), notes);
        }
        acceptLoss(notes);
        return new Round("unavailable", acknowledged, -1, List.of(), notes);
    }

    private Path logs(ServerProcess server) {
        return logDirectory ? server.dataDirectory().resolve("logs") : server.dataDirectory();
    }

    /** Everyone who recovers is named, stopped, and told to go on with what it has. */
    private void acceptLoss(List<String> notes) throws Exception {
        for (ServerProcess server : ensemble.servers()) {
            Map<String, String> mntr = server.mntr();
            if ("1".equals(mntr.get("zk_saucr_recovery_state"))) {
                notes.add(server.id() + " waits for " + mntr.get("zk_saucr_recovery_missing"));
                server.terminate(Duration.ofSeconds(20));
                Process tool =
                        new ProcessBuilder(
                                        distribution.resolve("bin/saucr-recovery").toString(),
                                        "accept-loss",
                                        server.dataDirectory().toString(),
                                        "--log-dir",
                                        logs(server).toString(),
                                        "--yes-i-accept-losing-acknowledged-writes")
                                .redirectErrorStream(true)
                                .start();
                String output =
                        new String(tool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                // It may have recovered by itself when the one before had accepted its loss.
                if (tool.waitFor() != 0 && !output.contains("no loss to accept")) {
                    throw new IOException("accept-loss: " + output);
                }
                server.start();
            }
        }
        counters.forget();
        if (!awaitServing(SERVING_WAIT)) {
            throw new IOException("not serving after accept-loss: " + notes);
        }
    }

    private List<String> missing() throws InterruptedException {
        KeeperException last = null;
        for (int attempt = 0; attempt < 20; attempt++) {
            try {
                return counters.missing();
            } catch (KeeperException e) {
                last = e;
            } catch (IOException e) {
                // Not connected yet.
            }
            TimeUnit.MILLISECONDS.sleep(200);
        }
        return List.of("unreadable: " + last);
    }

    private void awaitFast() throws Exception {
        await(
                "fast mode with everyone",
                FAST_WAIT,
                () -> {
                    var leader = ensemble.leader();
                    if (leader.isEmpty()) {
                        return false;
                    }
                    Map<String, String> mntr = ensemble.server(leader.getAsInt()).mntr();
                    return "1".equals(mntr.get("zk_saucr_mode"))
                            && Integer.toString(servers).equals(mntr.get("zk_saucr_prompt_voters"));
                });
    }

    private void awaitOnDisk() throws Exception {
        await(
                "everything on disk",
                FAST_WAIT,
                () ->
                        ensemble.servers().stream()
                                .allMatch(
                                        server ->
                                                "1".equals(server.mntr().get("zk_saucr_on_disk"))));
    }

    private void awaitWrites(long count) throws Exception {
        long target = counters.total() + count;
        await(count + " writes", FAST_WAIT, () -> counters.total() >= target);
    }

    private boolean awaitServing(Duration limit) throws InterruptedException {
        long target = counters.total() + 20;
        return poll(limit, () -> counters.total() >= target);
    }

    /** Not serving is a verdict only when servers say that they wait for others. */
    private boolean awaitServingOrWaiting(long started) throws InterruptedException {
        long target = counters.total() + 20;
        poll(
                SERVING_WAIT,
                () ->
                        counters.total() >= target
                                || (System.nanoTime() - started >= PATIENCE.toNanos()
                                        && someWait()));
        return counters.total() >= target;
    }

    private boolean someWait() {
        List<Map<String, String>> answers =
                ensemble.servers().stream().map(ServerProcess::mntr).toList();
        return answers.stream().noneMatch(Map::isEmpty)
                && answers.stream()
                        .anyMatch(mntr -> "1".equals(mntr.get("zk_saucr_recovery_state")));
    }

    private static void await(String what, Duration limit, Callable<Boolean> condition)
            throws Exception {
        if (!poll(limit, condition)) {
            throw new IOException("no " + what + " within " + limit);
        }
    }

    private static boolean poll(Duration limit, Callable<Boolean> condition)
            throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (System.nanoTime() - end < 0) {
            try {
                if (condition.call()) {
                    return true;
                }
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                // Not yet: servers are starting.
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return false;
    }
}
