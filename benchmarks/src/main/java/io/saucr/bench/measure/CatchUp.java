package io.saucr.bench.measure;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * How long one follower takes from the start of its process until it serves, when the others have
 * entries that it lacks. A situation-aware one had them in memory, and lost them with its power:
 * its disk is put back to what it was before them. A stock one was down while they were written.
 * Both start with the same disk otherwise, in an ensemble of their own that lives for one
 * measurement. Used by one thread.
 */
public final class CatchUp {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final long POLL_MILLIS = 5;
    private static final Pattern COPIED =
            Pattern.compile("Recovered through .* (\\d+) entries, \\d+ bytes copied");

    private final Configuration configuration;
    private final int servers;
    private final int valueBytes;
    private final List<String> jvmFlags;

    /**
     * What one took.
     *
     * @param copied entries that its recovery copied, by its own count; 0 of a stock server
     */
    public record Time(double seconds, long copied) {}

    /**
     * @param servers of the ensemble, at least 3
     * @param valueBytes size of each value, 1 to 1,000,000
     * @param jvmFlags of the servers
     */
    public CatchUp(
            Configuration configuration, int servers, int valueBytes, List<String> jvmFlags) {
        this.configuration = configuration;
        this.servers = servers;
        this.valueBytes = valueBytes;
        this.jvmFlags = jvmFlags;
    }

    /**
     * @param entries that the follower lacks
     * @param work an empty folder
     * @throws IllegalStateException if the servers do not reach the state in which the measurement
     *     begins or ends
     */
    public Time measure(int entries, Path work) throws Exception {
        Ensemble.Builder builder =
                Ensemble.of(configuration.distribution(), work)
                        .voters(servers)
                        .disk(LoopbackHosting.Disk.PLAIN)
                        .jvm(jvmFlags)
                        .set("tickTime", "2000")
                        .set("initLimit", "30")
                        .set("syncLimit", "10")
                        // A snapshot would force what the follower is to lose.
                        .set("snapCount", "100000000");
        if (configuration.situationAware()) {
            // A server that gets no processor time would have the same effect: its silence makes
            // the others force their logs.
            builder.set("saucr.backgroundFlushInterval", "1h")
                    .set("saucr.idleFlush", "1h")
                    .set("saucr.heartbeatInterval", "2s");
        }
        configuration.settings().forEach(builder::set);
        try (Ensemble ensemble = builder.build()) {
            ensemble.start();
            ensemble.awaitServing(PATIENCE);
            int leader = ensemble.awaitLeader(PATIENCE);
            ServerProcess follower = ensemble.server(leader == 1 ? 2 : 1);
            return configuration.situationAware()
                    ? recover(ensemble, leader, follower, entries, work)
                    : rejoin(ensemble, leader, follower, entries);
        }
    }

    private Time recover(
            Ensemble ensemble, int leader, ServerProcess follower, int entries, Path work)
            throws Exception {
        String address = ensemble.server(leader).address().client();
        await(ensemble.server(leader), "zk_saucr_mode", "1");
        load(address, 1);
        Path data = follower.dataDirectory().resolve("version-2");
        Path before = work.resolve("before");
        copy(data, before);
        load(address, entries);
        follower.kill();
        clear(data);
        copy(before, data);
        ensemble.reboot(follower.id());
        double seconds = start(follower);
        long copied = copiedSaysItsLog(follower);
        if (copied < entries) {
            throw new IllegalStateException(
                    "only %s of %s entries were copied\n%s"
                            .formatted(copied, entries, follower.logTail(30)));
        }
        return new Time(seconds, copied);
    }

    private Time rejoin(Ensemble ensemble, int leader, ServerProcess follower, int entries)
            throws Exception {
        String address = ensemble.server(leader).address().client();
        load(address, 1);
        follower.kill();
        load(address, entries);
        return new Time(start(follower), 0);
    }

    private void load(String address, int entries) throws Exception {
        new UpdateLoad(entries, valueBytes).prepare(address);
    }

    private static double start(ServerProcess follower) throws Exception {
        long started = System.nanoTime();
        follower.start();
        while (!follower.role().equals("follower")) {
            if (System.nanoTime() - started > PATIENCE.toNanos() || !follower.isAlive()) {
                throw new IllegalStateException(
                        "server " + follower.id() + " does not serve\n" + follower.logTail(30));
            }
            Thread.sleep(POLL_MILLIS);
        }
        return (System.nanoTime() - started) / 1e9;
    }

    private static long copiedSaysItsLog(ServerProcess server) throws IOException {
        Matcher matcher = COPIED.matcher(Files.readString(server.logFile()));
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    private static void await(ServerProcess server, String metric, String value) throws Exception {
        Deadline.await(
                PATIENCE,
                POLL_MILLIS,
                () -> value.equals(server.mntr().get(metric)),
                () -> metric + " does not become " + value + "\n" + server.logTail(30));
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private static void clear(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }
}
