package io.saucr.bench.report;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.result.Comparison;
import io.saucr.bench.result.DeviceProfile;
import java.util.List;
import java.util.Optional;

/**
 * What the paper says about its figures (OSDI '18, section 5.2; five machines of 20 cores, 10 Gb/s
 * network). Bars without a number in the text are not here. Stateless.
 */
final class PaperFigures {
    private static final String ABOUT_100 = "about 100";
    private static final String WRITE_HEAVY = "load workloada workloadf";
    private static final String READ_HEAVY = "workloadb workloadd";

    private PaperFigures() {}

    /** Sentences for a report, by the name of the subcommand. */
    static List<String> remarks(String title) {
        return switch (title) {
            case "table1" ->
                    List.of(
                            "HDD: 3050.1 operations/s without fsync (327.86 microseconds), 60.0 with"
                                    + " (16665.18): 50.8 times.",
                            "SSD: 2168.34 operations/s without fsync (461.2 microseconds), 973.4 with"
                                    + " (1027.3): 2.3 times.");
            case "fig7" ->
                    List.of(
                            "SAUCR is within 9 % of memory-durable in the worst case.",
                            "Both are about 100 times faster than disk-durable on HDDs, and with a"
                                    + " single client about 2.1 times on SSDs.");
            case "fig8" ->
                    List.of(
                            "Load, A, F: SAUCR is within 4 to 9 % of memory-durable; both are about 100"
                                    + " (HDD) and 2.5 (SSD) times faster than disk-durable.",
                            "B, D: within 1 to 4 %; about 25 times (HDD) and 40 % (SSD) faster.",
                            "C: all the same.");
            case "fig9" ->
                    List.of(
                            "SAUCR switches to slow mode when only a bare majority is left, and back to"
                                    + " fast mode when enough servers have returned.");
            case "fig10" ->
                    List.of(
                            "With intervals of 1 ms and more the throughput remains mostly unaffected,"
                                    + " few flushes are spurious and few requests commit in slow mode.");
            default -> List.of();
        };
    }

    /** What the paper says about the ratio of two throughputs, if it does. */
    static Optional<String> throughputRatio(String title, Comparison.Row row) {
        String workload = row.measured().workload();
        boolean hdd = row.measured().device() == DeviceProfile.HDD;
        if (!hdd && row.measured().device() != DeviceProfile.SSD) {
            return Optional.empty();
        }
        boolean againstMemory = row.other().equals(Configuration.MEMORY_DURABLE);
        boolean againstDisk = row.other().equals(Configuration.DISK_DURABLE);
        return Optional.ofNullable(
                switch (title) {
                    case "table1" -> againstDisk ? (hdd ? "50.8" : "2.3") : null;
                    case "fig7" ->
                            againstMemory
                                    ? "0.91 or more"
                                    : againstDisk
                                            ? fig7AgainstDisk(hdd, row.measured().clients())
                                            : null;
                    case "fig8" ->
                            againstMemory
                                    ? fig8AgainstMemory(workload)
                                    : againstDisk ? fig8AgainstDisk(workload, hdd) : null;
                    case "fig10" -> "about 1";
                    default -> null;
                });
    }

    private static String fig7AgainstDisk(boolean hdd, int clients) {
        if (hdd) {
            return ABOUT_100;
        }
        return clients == 1 ? "about 2.1" : null;
    }

    private static String fig8AgainstMemory(String workload) {
        if (WRITE_HEAVY.contains(workload)) {
            return "0.91 to 0.96";
        }
        if (READ_HEAVY.contains(workload)) {
            return "0.96 to 0.99";
        }
        return workload.equals("workloadc") ? "1" : null;
    }

    private static String fig8AgainstDisk(String workload, boolean hdd) {
        if (WRITE_HEAVY.contains(workload)) {
            return hdd ? ABOUT_100 : "about 2.5";
        }
        if (READ_HEAVY.contains(workload)) {
            return hdd ? "about 25" : "about 1.4";
        }
        return workload.equals("workloadc") ? "1" : null;
    }
}
