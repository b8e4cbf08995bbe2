package io.saucr.bench.ensemble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes processors away from processes, as a container's limit does: each gets a control group of
 * its own whose threads may run for a part of every 100 ms. Works with both versions of Linux's
 * control groups, and needs the right to make one. Used by one thread; closing removes the groups,
 * and what still runs gets its processors back.
 */
final class ProcessorQuota implements AutoCloseable {
    private static final long PERIOD_MICROS = 100_000;
    private static final Path MOUNTS = Path.of("/proc/self/mounts");
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Path root;
    private final boolean unified;
    private final List<Path> groups = new ArrayList<>();

    private ProcessorQuota(Path root, boolean unified) {
        this.root = root;
        this.unified = unified;
    }

    /**
     * @param processors how many each process may use, above 0
     * @throws IOException if there is no control group for processors, or none may be made
     */
    static ProcessorQuota of(double processors, List<Long> processes) throws IOException {
        ProcessorQuota quota = mounted(Files.readAllLines(MOUNTS));
        try {
            for (long each : processes) {
                quota.limit(processors, each);
            }
        } catch (IOException e) {
            quota.close();
            throw new IOException(
                    "processors cannot be taken away by a control group below %s: %s"
                            .formatted(quota.root, e),
                    e);
        }
        return quota;
    }

    private static ProcessorQuota mounted(List<String> mounts) throws IOException {
        for (String mount : mounts) {
            String[] fields = mount.split(" ");
            Path at = Path.of(fields[1]);
            if (fields[2].equals("cgroup") && Arrays.asList(fields[3].split(",")).contains("cpu")) {
                return new ProcessorQuota(at, false);
            }
            if (fields[2].equals("cgroup2")
                    && Files.readString(at.resolve("cgroup.controllers"))
                            .matches("(?s)(.* )?cpu\\s.*")) {
                Files.writeString(at.resolve("cgroup.subtree_control"), "+cpu");
                return new ProcessorQuota(at, true);
            }
        }
        throw new IOException(
                "processors cannot be taken away: there is no control group for them in " + MOUNTS);
    }

    private void limit(double processors, long process) throws IOException {
        Path group =
                Files.createDirectory(
                        root.resolve(
                                "saucr-bench-" + ProcessHandle.current().pid() + "-" + process));
        groups.add(group);
        long quota = Math.max(1000, Math.round(processors * PERIOD_MICROS));
        if (unified) {
            Files.writeString(group.resolve("cpu.max"), quota + " " + PERIOD_MICROS);
        } else {
            Files.writeString(group.resolve("cpu.cfs_period_us"), Long.toString(PERIOD_MICROS));
            Files.writeString(group.resolve("cpu.cfs_quota_us"), Long.toString(quota));
        }
        Files.writeString(group.resolve("cgroup.procs"), Long.toString(process));
    }

    /** How often a process had used up its part of a period, so that it was stopped. */
    long stops() throws IOException {
        long stops = 0;
        for (Path group : groups) {
            Optional<String> line =
                    Files.readAllLines(group.resolve("cpu.stat")).stream()
                            .filter(each -> each.startsWith("nr_throttled "))
                            .findFirst();
            stops += line.map(each -> Long.parseLong(each.split(" ")[1])).orElse(0L);
        }
        return stops;
    }

    /**
     * @throws UncheckedIOException if a group cannot be removed
     */
    @Override
    public void close() {
        try {
            remove();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void remove() throws IOException {
        for (Path group : groups) {
            for (String process : Files.readAllLines(group.resolve("cgroup.procs"))) {
                try {
                    Files.writeString(root.resolve("cgroup.procs"), process);
                } catch (IOException e) {
                    if (ProcessHandle.of(Long.parseLong(process)).isPresent()) {
                        throw e;
                    }
                }
            }
            long deadline = System.nanoTime() + PATIENCE_NANOS;
            while (!removed(group)) {
                if (System.nanoTime() > deadline) {
                    throw new IOException("the control group " + group + " cannot be removed");
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
        groups.clear();
    }

    /** A process that has just ended keeps its group for a moment. */
    private static boolean removed(Path group) {
        try {
            return Files.deleteIfExists(group) || !Files.exists(group);
        } catch (IOException e) {
            return false;
        }
    }
}
