package io.saucr.bench.ensemble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the threads of a server have used so far, by the stage of the pipeline that they are, from
 * the scheduler's own counts in {@code /proc}. Immutable.
 *
 * @param byStage times and switches of each stage's threads
 * @param serving of each thread by its number in the system, without the JVM's compilers and
 *     collectors
 */
public record ServerThreads(Map<String, Usage> byStage, Map<Long, Usage> serving) {
    public static final ServerThreads NONE = new ServerThreads(Map.of(), Map.of());

    public static final String OTHER = "other threads of the JVM";

    /**
     * @param cpuNanos on a processor
     * @param waitNanos ready to run, without a processor
     * @param switches times that a thread was put on a processor
     */
    public record Usage(long cpuNanos, long waitNanos, long switches) {
        static final Usage NONE = new Usage(0, 0, 0);

        Usage plus(Usage other) {
            return new Usage(
                    cpuNanos + other.cpuNanos,
                    waitNanos + other.waitNanos,
                    switches + other.switches);
        }

        /**
         * What was used since an earlier reading; never less than 0, because a thread that has
         * ended meanwhile takes its counts with it.
         */
        Usage since(Usage earlier) {
            return new Usage(
                    Math.max(0, cpuNanos - earlier.cpuNanos),
                    Math.max(0, waitNanos - earlier.waitNanos),
                    Math.max(0, switches - earlier.switches));
        }
    }

    private static final String COMPILER = "JIT compiler";
    private static final String COLLECTOR = "garbage collector, VM";

    /** Stages by how the names of their threads begin; Linux keeps 15 characters of a name. */
    private static final List<Map.Entry<String, String>> STAGES =
            List.of(
                    Map.entry("CommitProcessor", "CommitProcessor, Final: applies, answers"),
                    Map.entry("CommitProcWork", "CommitProcessor, Final: applies, answers"),
                    Map.entry("NIOWorkerThread", "NIO: client connections"),
                    Map.entry("NIOServerCxnFac", "NIO: client connections"),
                    Map.entry("SyncThread", "Sync: log"),
                    Map.entry("SaucrBackground", "background flush"),
                    Map.entry("QuorumPeer", "QuorumPeer: packets from the leader"),
                    Map.entry("Sender-", "Sender: packets to followers"),
                    Map.entry("LearnerHandler", "LearnerHandler: packets from followers"),
                    Map.entry("LearnerCnxAccep", "LearnerHandler: packets from followers"),
                    Map.entry("ProcessThread", "Prep: validates, proposes"),
                    Map.entry("FollowerRequest", "FollowerRequest: forwards"),
                    Map.entry("RequestThrottle", "RequestThrottler"),
                    Map.entry("SessionTracker", "session tracker"),
                    Map.entry("Saucr", "heartbeats, watch of the leader"),
                    Map.entry("C1 CompilerThre", COMPILER),
                    Map.entry("C2 CompilerThre", COMPILER),
                    Map.entry("VM Thread", COLLECTOR));

    /** The stage of a thread, by its name, which may be cut to 15 characters. */
    public static String stage(String thread) {
        for (Map.Entry<String, String> stage : STAGES) {
            if (thread.startsWith(stage.getKey())) {
                return stage.getValue();
            }
        }
        return OTHER;
    }

    /**
     * Reads all threads of a process that live.
     *
     * @throws UncheckedIOException if there is no such process, or the kernel has no schedstat
     */
    public static ServerThreads of(long pid) {
        Map<String, Usage> stages = new HashMap<>();
        Map<Long, Usage> serving = new HashMap<>();
        Path tasks = Path.of("/proc", Long.toString(pid), "task");
        try (DirectoryStream<Path> all = Files.newDirectoryStream(tasks)) {
            for (Path task : all) {
                try {
                    String stage = stage(Files.readString(task.resolve("comm")).strip());
                    String[] counts =
                            Files.readString(task.resolve("schedstat")).strip().split(" ");
                    Usage usage =
                            new Usage(
                                    Long.parseLong(counts[0]),
                                    Long.parseLong(counts[1]),
                                    Long.parseLong(counts[2]));
                    stages.merge(stage, usage, Usage::plus);
                    if (!stage.equals(COMPILER) && !stage.equals(COLLECTOR)) {
                        serving.put(Long.parseLong(task.getFileName().toString()), usage);
                    }
                } catch (NoSuchFileException e) {
                    if (!Files.exists(Path.of("/proc/self/schedstat"))) {
                        throw e;
                    }
                    // The thread has ended meanwhile.
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "the threads of process " + pid + " cannot be measured", e);
        }
        return new ServerThreads(stages, serving);
    }

    /** What both used together, stage by stage; of different servers. */
    public ServerThreads plus(ServerThreads other) {
        return new ServerThreads(plus(byStage, other.byStage), plus(serving, other.serving));
    }

    private static <K> Map<K, Usage> plus(Map<K, Usage> one, Map<K, Usage> other) {
        Map<K, Usage> sum = new HashMap<>(one);
        other.forEach((key, usage) -> sum.merge(key, usage, Usage::plus));
        return sum;
    }

    /** What was used since an earlier reading. */
    public ServerThreads since(ServerThreads earlier) {
        return new ServerThreads(since(byStage, earlier.byStage), since(serving, earlier.serving));
    }

    private static <K> Map<K, Usage> since(Map<K, Usage> now, Map<K, Usage> earlier) {
        Map<K, Usage> difference = new HashMap<>();
        now.forEach(
                (key, usage) ->
                        difference.put(key, usage.since(earlier.getOrDefault(key, Usage.NONE))));
        return difference;
    }

    /**
     * The thread that was longest on a processor: with processors of its own for each, it is the
     * one that limits the server.
     */
    public Usage busiest() {
        return serving.values().stream()
                .max(Comparator.comparingLong(Usage::cpuNanos))
                .orElse(Usage.NONE);
    }
}
