package io.saucr.ensemble.cli;

import io.saucr.ensemble.ClientSession;
import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.EnsembleException;
import io.saucr.ensemble.HostPressure;
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
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A demonstration of one minute: the same load in fast mode and in slow mode, on the disk as it is
 * and on one whose forces take 10 ms; then followers are killed, one after the other, until a bare
 * majority is left, and come back. Exit code 0 only if every acknowledged write is there at the end
 * on every server, and the mode changed as it should (as far as the servers report one).
 */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description =
                "Compares fast and slow mode in one minute, on your disk and on a slow one; servers die"
                        + " and return; every write is checked.")
final class DemoCommand implements Callable<Integer> {
    private static final Duration CHANGE_LIMIT = Duration.ofSeconds(15);
    private static final Duration SERVING_LIMIT = Duration.ofSeconds(60);
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(30);
    private static final Duration DRAIN_LIMIT = Duration.ofSeconds(60);
    private static final Duration SLOW_DISK = Duration.ofMillis(10);
    private static final String AS_IS = "no added delay";
    private static final String SLOWED = SLOW_DISK.toMillis() + " ms per fsync";
    private static final String REASON = "./saucr demo";

    /** Compilers are done when a phase brings so little more than the one before. */
    private static final double STILL_WARMING = 1.05;

    private static final int MOST_WARM_UPS = 4;

    @Option(
            names = "--phase",
            paramLabel = "SECONDS",
            description = "Length of each phase (default: 5).")
    private long phaseSeconds = 5;

    @Option(names = "--clients", paramLabel = "N", description = "Sessions (default: 4).")
    private int clients = 4;

    @Option(
            names = "--in-flight",
            paramLabel = "N",
            description = "Writes that each session has in flight (default: 8).")
    private int inFlight = 8;

    @Spec private CommandSpec spec;

    private final Table summary =
            new Table(
                    "servers", "disk", "mode", "writes", "writes/s", "p50 ms", "p99 ms", "max ms");
    private final List<String> faults = new ArrayList<>();
    private PrintWriter out;
    private LocalEnsemble ensemble;
    private Registers registers;
    private WriteLoad load;
    private boolean reportsMode;
    private String disk = AS_IS;
    private ServerProcess pinned;
    private HostPressure pressure;
    private int phases;
    private int stalledPhases;

    /** What the clients had of one phase. */
    private record Phase(double writesPerSecond, Histogram micros, Optional<String> stall) {}

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
        reportsMode = !ensemble.mode().equals(ServerReport.UNKNOWN);
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
        try (HostPressure watch = HostPressure.watch(this::processes);
                ClientSession owner = connect(ensemble.connectString());
                WriteLoad writes =
                        new WriteLoad(
                                () -> connect(ensemble.connectString()),
                                clients,
                                inFlight,
                                registers)) {
            pressure = watch;
            load = writes;
            registers.create(owner);
            writes.start();
            warmUp();
            compareModes(leader);
            for (ServerProcess victim : victims) {
                kill(victim);
            }
            phase(ServerReport.SLOW);
            restart(victims);
            if (ensemble.running().size() == ensemble.size()) {
                phase(ServerReport.FAST);
            }
            if (!writes.stop(DRAIN_LIMIT)) {
                throw new EnsembleException(
                        "a write has no outcome after " + DRAIN_LIMIT.toSeconds() + " s");
            }
            verify();
            registers.remove(owner);
        } finally {
            asItWas();
            Runtime.getRuntime().removeShutdownHook(notice);
        }
        out.println();
        out.println(summary);
        out.println();
        if (stalledPhases > 0) {
            say(
                    "The machine stalled in %d of %d phases: these numbers say little about the"
                            + " servers. Fast mode wants processors to spare; run the demo again when"
                            + " the machine is quiet.",
                    stalledPhases, phases);
            out.println();
        }
        faults.forEach(fault -> say("FAILED: %s", fault));
        if (faults.isEmpty()) {
            say("All %,d acknowledged writes are there, on every server.", load.acknowledged());
        }
        return faults.isEmpty() ? 0 : 1;
    }

    /**
     * New servers run uncompiled code at first: until that is over, the one that is measured last
     * wins.
     */
    private void warmUp() {
        say("Warming up, until the compilers of the new servers are done ...");
        double before = 0;
        for (int i = 0; i < MOST_WARM_UPS; i++) {
            double now = measure().writesPerSecond();
            if (now < before * STILL_WARMING) {
                return;
            }
            before = now;
        }
    }

    /** All servers are up, and the load is the same; only mode and disk differ. */
    private void compareModes(ServerProcess leader) throws InterruptedException {
        compareOnThisDisk(leader);
        if (!ensemble.canDelayForces()) {
            say("");
            say(
                    "No slower disk to compare with: that takes a C compiler, and servers that"
                            + " ./saucr has started.");
            return;
        }
        disk = SLOWED;
        ensemble.delayForces(SLOW_DISK);
        compareOnThisDisk(leader);
    }

    private void compareOnThisDisk(ServerProcess leader) throws InterruptedException {
        if (!reportsMode) {
            phase(ServerReport.UNKNOWN);
            return;
        }
        pinned = leader;
        ensemble.pin(leader, REASON);
        Phase slow = phase(ServerReport.SLOW);
        ensemble.unpin(leader, REASON);
        pinned = null;
        Phase fast = phase(ServerReport.FAST);
        say(
                "With %s fast mode has %.1f times the writes of slow mode, and a median of %s ms"
                        + " instead of %s ms.",
                disk,
                fast.writesPerSecond() / slow.writesPerSecond(),
                millis(fast.micros(), 50),
                millis(slow.micros(), 50));
    }

    /** Takes back what would slow the ensemble down after the demo. */
    private void asItWas() {
        ensemble.delayForces(Duration.ZERO);
        if (pinned != null && pinned.isAlive()) {
            ensemble.unpin(pinned, REASON);
        }
    }

    /** Followers to kill, one after the other: with the last one a bare majority is left. */
    private List<ServerProcess> victims(ServerProcess leader) {
        List<ServerProcess> followers =
                ensemble.servers().stream().filter(server -> server.id() != leader.id()).toList();
        return followers.subList(ensemble.majority() - 1, followers.size());
    }

    private void kill(ServerProcess victim) {
        boolean bareMajority = ensemble.running().size() - 1 == ensemble.majority();
        say("");
        say("Killing server %d (kill -9) ...", victim.id());
        long startNanos = System.nanoTime();
        victim.kill();
        if (reportsMode && bareMajority && awaitMode(ServerReport.SLOW)) {
            say(
                    "Only a bare majority of %d is left: slow after %d ms.",
                    ensemble.majority(),
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
        }
    }

    private void restart(List<ServerProcess> victims) {
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
        if (reportsMode && awaitMode(ServerReport.FAST)) {
            say(
                    "Fast again after %.1f s.",
                    (System.nanoTime() - startNanos) / (double) TimeUnit.SECONDS.toNanos(1));
        }
    }

    /**
     * Lets the clients write for a while, shows how it went, and adds a line to the summary.
     *
     * @param wanted the mode that is waited for first
     */
    private Phase phase(String wanted) throws InterruptedException {
        int up = ensemble.running().size();
        String mode = reportsMode ? wanted : ServerReport.UNKNOWN;
        String title =
                "%d of %d servers, %s, %s"
                        .formatted(
                                up,
                                ensemble.size(),
                                disk,
                                reportsMode ? mode + " mode" : "no mode");
        if (!awaitMode(mode)) {
            faults.add(title + ": the mode is " + ensemble.mode());
        }
        if (!load.await(load.acknowledged() + 1, CHANGE_LIMIT)) {
            faults.add(title + ": no write was acknowledged");
        }
        say("");
        say("--- %s ---", title);
        Phase phase = measure();
        String after = ensemble.mode();
        say(
                "  %,8.0f writes/s   p50 %s ms   p99 %s ms",
                phase.writesPerSecond(), millis(phase.micros(), 50), millis(phase.micros(), 99));
        phases++;
        phase.stall()
                .ifPresent(
                        stall -> {
                            stalledPhases++;
                            say("  %s", stall);
                        });
        summary.row(
                up + " of " + ensemble.size(),
                disk,
                // On a busy machine it may turn meanwhile.
                after.equals(mode) ? mode : mode + ", " + after,
                String.format(Locale.ROOT, "%,d", phase.micros().getTotalCount()),
                String.format(Locale.ROOT, "%,.0f", phase.writesPerSecond()),
                millis(phase.micros(), 50),
                millis(phase.micros(), 99),
                millis(phase.micros(), 100));
        return phase;
    }

    /** What belongs to the demo: this process and the servers. */
    private LongStream processes() {
        return LongStream.concat(
                LongStream.of(ProcessHandle.current().pid()),
                ensemble.running().stream().mapToLong(ServerProcess::pid));
    }

    private Phase measure() {
        pressure.read();
        load.measure();
        long startNanos = System.nanoTime();
        sleepMillis(TimeUnit.SECONDS.toMillis(phaseSeconds));
        Histogram micros = load.measure();
        double seconds = (System.nanoTime() - startNanos) / (double) TimeUnit.SECONDS.toNanos(1);
        return new Phase(micros.getTotalCount() / seconds, micros, pressure.read().complaint());
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
        Deadline deadline = Deadline.in(CHANGE_LIMIT);
        while (!deadline.hasPassed()) {
            if (ensemble.mode().equals(wanted)) {
                return true;
            }
            deadline.pause();
        }
        return false;
    }

    private void noticeOfInterruption(List<ServerProcess> victims) {
        asItWas();
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
