package io.saucr.bench.ensemble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the threads of a server have used so far, by the stage of the pipeline that they are, from
 * the scheduler's own counts in {@code /proc}. Immutable.
 *
 * @param byStage times and switches of each stage's threads
 */
public record ServerThreads(Map<String, Usage> byStage) {
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
                    Map.entry("C1 CompilerThre", "JIT compiler"),
                    Map.entry("C2 CompilerThre", "JIT compiler"),
                    Map.entry("VM Thread", "garbage collector, VM"));

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
        Path tasks = Path.of("/proc", Long.toString(pid), "task");
        try (DirectoryStream<Path> all = Files.newDirectoryStream(tasks)) {
            for (Path task : all) {
                try {
                    String name = Files.readString(task.resolve("comm")).strip();
                    String[] counts =
                            Files.readString(task.resolve("schedstat")).strip().split(" ");
                    stages.merge(
                            stage(name),
                            new Usage(
                                    Long.parseLong(counts[0]),
                                    Long.parseLong(counts[1]),
                                    Long.parseLong(counts[2])),
                            Usage::plus);
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
        return new ServerThreads(stages);
    }

    /** What both used together, stage by stage. */
    public ServerThreads plus(ServerThreads other) {
        Map<String, Usage> sum = new HashMap<>(byStage);
        other.byStage.forEach((stage, usage) -> sum.merge(stage, usage, Usage::plus));
        return new ServerThreads(sum);
    }

    /** What was used since an earlier reading. */
    public ServerThreads since(ServerThreads earlier) {
        Map<String, Usage> difference = new HashMap<>();
        byStage.forEach(
                (stage, usage) ->
                        difference.put(
                                stage,
                                usage.since(earlier.byStage.getOrDefault(stage, Usage.NONE))));
        return new ServerThreads(difference);
    }
}
