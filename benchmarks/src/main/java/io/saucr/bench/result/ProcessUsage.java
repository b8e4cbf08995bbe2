package io.saucr.bench.result;

import io.saucr.ensemble.ProcStat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What a process has used so far, from {@code /proc}. Immutable.
 *
 * @param cpuSeconds user and system time, in steps of 10 ms
 * @param residentBytes resident memory now; when usages are added, their sum
 * @param readWriteCalls system calls that read or wrote, files and sockets alike
 */
public record ProcessUsage(double cpuSeconds, long residentBytes, long readWriteCalls) {
    public static final ProcessUsage NONE = new ProcessUsage(0, 0, 0);

    /** What Linux counts the times of {@code /proc/PID/stat} in, on every architecture of ours. */
    private static final double TICKS_PER_SECOND = 100;

    /**
     * @throws UncheckedIOException if there is no such process, or no {@code /proc}
     */
    public static ProcessUsage of(long pid) {
        Path proc = Path.of("/proc", Long.toString(pid));
        try {
            String[] fields = ProcStat.fields(proc);
            double ticks = Long.parseLong(fields[11]) + (double) Long.parseLong(fields[12]);
            return new ProcessUsage(
                    ticks / TICKS_PER_SECOND,
                    1024 * value(Files.readAllLines(proc.resolve("status")), "VmRSS:"),
                    readWriteCalls(proc));
        } catch (IOException e) {
            throw new UncheckedIOException("process " + pid + " cannot be measured", e);
        }
    }

    private static long readWriteCalls(Path proc) throws IOException {
        Path io = proc.resolve("io");
        if (!Files.isReadable(io)) {
            return 0;
        }
        List<String> lines = Files.readAllLines(io);
        return value(lines, "syscr:") + value(lines, "syscw:");
    }

    private static long value(List<String> lines, String key) {
        for (String line : lines) {
            if (line.startsWith(key)) {
                return Long.parseLong(line.substring(key.length()).trim().split(" ")[0]);
            }
        }
        return 0;
    }

    /** What both used together. */
    public ProcessUsage plus(ProcessUsage other) {
        return new ProcessUsage(
                cpuSeconds + other.cpuSeconds,
                residentBytes + other.residentBytes,
                readWriteCalls + other.readWriteCalls);
    }

    /** What was used since an earlier reading; resident memory as it is now. */
    public ProcessUsage since(ProcessUsage earlier) {
        return new ProcessUsage(
                cpuSeconds - earlier.cpuSeconds,
                residentBytes,
                readWriteCalls - earlier.readWriteCalls);
    }
}
