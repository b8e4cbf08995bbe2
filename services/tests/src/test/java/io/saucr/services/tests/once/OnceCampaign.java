package io.saucr.services.tests.once;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Many clients, many faults, on an ensemble of real servers: whether each operation took effect
 * exactly once, in order. The full size of what the tests do in small.
 */
@Command(
        name = "once",
        mixinStandardHelpOptions = true,
        description =
                "Kills clients and cuts their connections; compares what is left with exactly once.")
public final class OnceCampaign implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int MOST_SHOWN = 20;

    @Option(names = "--way", description = "${COMPLETION-CANDIDATES}; preset: ${DEFAULT-VALUE}")
    private Writer.Way way = Writer.Way.PLAIN;

    @Option(names = "--clients", description = "preset: ${DEFAULT-VALUE}")
    private int clients = 8;

    @Option(names = "--operations", description = "of all clients; preset: ${DEFAULT-VALUE}")
    private int operations = 10_000;

    @Option(names = "--depth", description = "most under way at once; preset: ${DEFAULT-VALUE}")
    private int depth = 64;

    @Option(names = "--faults", description = "for each client; preset: ${DEFAULT-VALUE}")
    private int faults = 20;

    @Option(names = "--server-kills", description = "one at a time; preset: ${DEFAULT-VALUE}")
    private int serverKills;

    @Option(
            names = "--minutes",
            description = "after which a run that has not ended fails; preset: ${DEFAULT-VALUE}")
    private int minutes = 10;

    @Option(names = "--seed", description = "of the first run; preset: ${DEFAULT-VALUE}")
    private long seed = 1;

    @Option(names = "--runs", description = "preset: ${DEFAULT-VALUE}")
    private int runs = 1;

    @Option(
            names = "--distribution",
            description = "unpacked folder of the servers; preset: Apache's release")
    private Path distribution;

    @Option(names = "--out", description = "folder of the servers and clients", required = true)
    private Path out;

    /** Ends with 1 if a run has shown a violation. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new OnceCampaign()).execute(args));
    }

    @Override
    public Integer call() throws Exception {
        Files.createDirectories(out);
        int bad = 0;
        Ensemble.Builder described =
                distribution == null
                        ? Ensemble.of(Distribution.stock(), out.resolve("servers"))
                        : Ensemble.of(Distribution.folder(distribution), out.resolve("servers"))
                                .set("saucr.enabled", "true");
        try (Ensemble servers = described.voters(3).build()) {
            servers.start();
            servers.awaitServing(PATIENCE);
            for (int run = 0; run < runs; run++) {
                List<String> violations = one(servers, seed + run);
                bad += violations.isEmpty() ? 0 : 1;
                violations.stream()
                        .limit(MOST_SHOWN)
                        .forEach(each -> System.out.println("  " + each));
            }
        }
        System.out.println(runs + " runs, " + bad + " with violations");
        return bad == 0 ? 0 : 1;
    }

    private List<String> one(Ensemble servers, long runSeed) throws Exception {
        OnceRun.Plan plan =
                new OnceRun.Plan(
                        way,
                        servers.connectString(),
                        way.name().toLowerCase(Locale.ROOT) + "-" + runSeed,
                        clients,
                        operations / clients,
                        runSeed,
                        depth,
                        out);
        List<SeededFates> fates = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            fates.add(new SeededFates(runSeed * 1009 + client, faults));
        }
        long start = System.nanoTime();
        AtomicBoolean over = new AtomicBoolean();
        Thread killer = new Thread(() -> killServers(servers, new Random(runSeed), over), "killer");
        try (OnceRun run = new OnceRun(plan, List.copyOf(fates))) {
            for (int client = 0; client < clients; client++) {
                fates.get(client).strike(run.line(client), run.process(client));
            }
            run.start();
            killer.start();
            run.awaitDone(Duration.ofMinutes(minutes));
            over.set(true);
            killer.join();
            servers.awaitServing(PATIENCE);
            run.releaseAll();
            List<String> violations = run.violations();
            System.out.println(
                    plan.name()
                            + ": "
                            + plan.workload().operations()
                            + " operations, "
                            + Duration.ofNanos(System.nanoTime() - start).toMillis()
                            + " ms, "
                            + violations.size()
                            + " violations; "
                            + fates.stream().map(SeededFates::summary).toList());
            return violations;
        } finally {
            over.set(true);
            killer.join();
        }
    }

    private void killServers(Ensemble servers, Random random, AtomicBoolean over) {
        for (int i = 0; i < serverKills && !over.get(); i++) {
            int id = 1 + random.nextInt(servers.size());
            try {
                servers.server(id).kill();
                Thread.sleep(random.nextInt(1000));
                servers.server(id).start();
                servers.awaitServing(PATIENCE);
                Thread.sleep(random.nextInt(1000));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
