package io.saucr.ensemble.cli;

import io.saucr.ensemble.ClientSession;
import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.EnsembleException;
import io.saucr.ensemble.LocalEnsemble;
import io.saucr.ensemble.Registers;
import io.saucr.ensemble.ServerProcess;
import io.saucr.ensemble.ServerReport;
import io.saucr.ensemble.Table;
import io.saucr.ensemble.WriteLoad;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A guided minute: clients write all the time while followers are killed, one after the other,
 * until a bare majority is left, and then come back. Exit code 0 only if every acknowledged write
 * is there at the end on every server, and the mode changed as it should (as far as the servers
 * report one).
 */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description = "A guided minute: writes, servers die and return, every write is checked.")
final class DemoCommand implements Callable<Integer> {
    private static final Duration MODE_LIMIT = Duration.ofSeconds(15);
    private static final Duration SERVING_LIMIT = Duration.ofSeconds(60);
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(30);
    private static final Duration DRAIN_LIMIT = Duration.ofSeconds(60);
    private static final long TICK_MILLIS = 2000;
    private static final long WARM_UP_MILLIS = 5000;

    @Option(
            names = "--phase",
            paramLabel = "SECONDS",
            description = "Length of each phase (default: 8).")
    private long phaseSeconds = 8;

    @Option(names = "--clients", paramLabel = "N", description = "Sessions (default: 4).")
    private int clients = 4;

    @Option(
            names = "--in-flight",
            paramLabel = "N",
            description = "Writes that each session has in flight (default: 8).")
    private int inFlight = 8;

    @Spec private CommandSpec spec;

    private final Table summary =
            new Table("phase", "mode", "writes", "writes/s", "p50 ms", "p99 ms", "max ms");
    private final List<String> faults = new ArrayList<>();
    private PrintWriter out;
    private LocalEnsemble ensemble;
    private Registers registers;
    private WriteLoad load;

    @Override
    public Integer call() throws Exception {
        out = spec.commandLine().getOut();
        ensemble = SaucrCommand.ensemble();
        if (ensemble.running().size() < ensemble.size()) {
            throw new EnsembleException(
                    "the demo needs all servers; running are "
                            + ensemble.running().stream().map(ServerProcess::id).toList()
                            + " of "
                            + ensemble.size()
                            + ". ./saucr up or ./saucr start ID starts the others");
        }
        ensemble.awaitServing(ensemble.servers(), SERVING_LIMIT);
        ServerProcess leader =
                ensemble.leader().orElseThrow(() -> new EnsembleException("no server leads"));
        boolean reportsMode = !ensemble.mode().equals(ServerReport.UNKNOWN);
        List<ServerProcess> victims = victims(leader);

        say(
                "%d servers, server %d leads; %d clients keep %d writes of 100 bytes in flight each.",
                ensemble.size(), leader.id(), clients, inFlight);
        if (!reportsMode) {
            say("These servers do not report a mode: it is shown as \"-\".");
        }
        String root = "/saucr-demo-" + System.currentTimeMillis();
        Thread notice = new Thread(() -> noticeOfInterruption(victims), "notice");
        Runtime.getRuntime().addShutdownHook(notice);
        registers = new Registers(root, clients * inFlight);
        try (ClientSession owner = connect(ensemble.connectString());
                WriteLoad writes =
                        new WriteLoad(
                                () -> connect(ensemble.connectString()),
                                clients,
                                inFlight,
                                registers)) {
            load = writes;
            registers.create(owner);
            writes.start();
            say("Warming up ...");
            sleepMillis(Math.min(WARM_UP_MILLIS, phaseSeconds * 1000));
            if (reportsMode && !ensemble.awaitFast(MODE_LIMIT)) {
                faults.add("with all servers up the mode is not fast");
            }
            phase("all up");
            for (ServerProcess victim : victims) {
                kill(victim, reportsMode);
                phase(ensemble.size() - ensemble.running().size() + " down");
            }
            restart(victims, reportsMode);
            if (ensemble.running().size() == ensemble.size()) {
                phase("all back");
            }
            if (!writes.stop(DRAIN_LIMIT)) {
                throw new EnsembleException(
                        "a write has no outcome after " + DRAIN_LIMIT.toSeconds() + " s");
            }
            verify();
            registers.remove(owner);
        } finally {
            Runtime.getRuntime().removeShutdownHook(notice);
        }
        out.println();
        out.println(summary);
        out.println();
        faults.forEach(fault -> say("FAILED: %s", fault));
        if (faults.isEmpty()) {
            say("All %,d acknowledged writes are there, on every server.", load.acknowledged());
        }
        return faults.isEmpty() ? 0 : 1;
    }

    /** Followers to kill, one after the other: with the last one a bare majority is left. */
    private List<ServerProcess> victims(ServerProcess leader) {
        List<ServerProcess> followers =
                ensemble.servers().stream().filter(server -> server.id() != leader.id()).toList();
        return followers.subList(ensemble.majority() - 1, followers.size());
    }

    private void kill(ServerProcess victim, boolean reportsMode) {
        boolean bareMajority = ensemble.running().size() - 1 == ensemble.majority();
        say("");
        say("Killing server %d (kill -9) ...", victim.id());
        long startNanos = System.nanoTime();
        victim.kill();
        if (!reportsMode) {
            return;
        }
        if (bareMajority) {
            if (awaitMode(ServerReport.SLOW)) {
                say(
                        "Only a bare majority of %d is left: slow after %d ms.",
                        ensemble.majority(),
                        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
            } else {
                faults.add("with a bare majority left the mode is not slow");
            }
        }
    }

    private void restart(List<ServerProcess> victims, boolean reportsMode) {
        say("");
        say(
                "Starting %s again ...",
                victims.stream()
                        .map(victim -> "server " + victim.id())
                        .collect(Collectors.joining(", ")));
        long startNanos = System.nanoTime();
        try {
            ensemble.start(victims);
            ensemble.awaitServing(victims, SERVING_LIMIT);
        } catch (EnsembleException e) {
            faults.add("a server does not come back: " + e.getMessage());
            return;
        }
        say(
                "They follow again after %.1f s.",
                (System.nanoTime() - startNanos) / (double) TimeUnit.SECONDS.toNanos(1));
        if (reportsMode) {
            if (ensemble.awaitFast(MODE_LIMIT)) {
                say(
                        "Fast again after %.1f s.",
                        (System.nanoTime() - startNanos) / (double) TimeUnit.SECONDS.toNanos(1));
            } else {
                faults.add("with all servers back the mode is not fast again");
            }
        }
    }

    /** Lets the clients write for a while, shows how it goes, and adds a line to the summary. */
    private void phase(String name) {
        say("");
        say("--- %s ---", name);
        load.measure();
        long startNanos = System.nanoTime();
        Histogram whole = new Histogram(3);
        String mode = ServerReport.UNKNOWN;
        Deadline end = Deadline.in(Duration.ofSeconds(phaseSeconds));
        long tickStart = startNanos;
        while (!end.hasPassed()) {
            sleepMillis(Math.min(TICK_MILLIS, phaseSeconds * 1000));
            Histogram tick = load.measure();
            whole.add(tick);
            mode = ensemble.mode();
            say(
                    "  mode %-5s %,8.0f writes/s   p50 %s ms   p99 %s ms",
                    mode, perSecond(tick, tickStart), millis(tick, 50), millis(tick, 99));
            tickStart = System.nanoTime();
        }
        summary.row(
                name,
                mode,
                String.format(Locale.ROOT, "%,d", whole.getTotalCount()),
                String.format(Locale.ROOT, "%,.0f", perSecond(whole, startNanos)),
                millis(whole, 50),
                millis(whole, 99),
                millis(whole, 100));
        if (whole.getTotalCount() == 0) {
            faults.add("no write was acknowledged in the phase \"" + name + "\"");
        }
    }

    private void verify() throws Exception {
        say("");
        say(
                "Reading back: %,d writes were acknowledged, %,d lost their connection before an"
                        + " answer came.",
                load.acknowledged(), load.uncertain());
        for (ServerProcess server : ensemble.running()) {
            List<String> missing;
            try (ClientSession session = connect(server.address().client())) {
                missing = registers.missing(session);
            }
            say(
                    "  server %d: %s",
                    server.id(),
                    missing.isEmpty() ? "complete" : missing.size() + " registers WRONG");
            for (String line : missing) {
                faults.add("server " + server.id() + ": " + line);
            }
        }
    }

    private static ClientSession connect(String servers) throws IOException, InterruptedException {
        return ClientSession.connected(servers, CONNECT_LIMIT);
    }

    private boolean awaitMode(String wanted) {
        Deadline deadline = Deadline.in(MODE_LIMIT);
        while (!deadline.hasPassed()) {
            if (ensemble.mode().equals(wanted)) {
                return true;
            }
            deadline.pause();
        }
        return false;
    }

    private void noticeOfInterruption(List<ServerProcess> victims) {
        String down =
                victims.stream()
                        .filter(victim -> !victim.isAlive())
                        .map(victim -> Integer.toString(victim.id()))
                        .collect(Collectors.joining(" "));
        if (!down.isEmpty()) {
            out.println();
            say("Interrupted. Servers that are still down: ./saucr start %s", down);
        }
    }

    private static double perSecond(Histogram histogram, long startNanos) {
        double seconds = (System.nanoTime() - startNanos) / (double) TimeUnit.SECONDS.toNanos(1);
        return histogram.getTotalCount() / seconds;
    }

    private static String millis(Histogram micros, double percentile) {
        if (micros.getTotalCount() == 0) {
            return ServerReport.UNKNOWN;
        }
        return String.format(Locale.ROOT, "%.2f", micros.getValueAtPercentile(percentile) / 1000.0);
    }

    private void say(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
        out.flush();
    }

    private static void sleepMillis(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EnsembleException("interrupted", e);
        }
    }
}
