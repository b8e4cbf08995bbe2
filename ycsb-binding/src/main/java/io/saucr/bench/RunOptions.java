package io.saucr.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The options that every subcommand with ensembles of its own has; filled in by picocli. */
final class RunOptions {
    /**
     * The JIT compiles fully; the heap is large enough for the default load, and always the same.
     */
    private static final String JVM =
            "-Xms256m -Xmx256m -XX:+UseSerialGC -Xshare:auto -XX:-UsePerfData";

    @Option(
            names = "--configurations",
            split = ";",
            paramLabel = "CONF",
            description = {
                "Separated by ';', the first is compared with each other one; each figure has its own",
                "preset.",
                "saucr, memory-durable (stock, forceSync=no), disk-durable (stock),",
                "or NAME=FOLDER of a distribution; each may be followed by ,KEY=VALUE for zoo.cfg."
            })
    private List<String> configurations;

    @Option(
            names = "--saucr",
            paramLabel = "PATH",
            description = "SAUCR's distribution, tarball or folder (default: the one built here).")
    private Path saucr;

    @Option(
            names = "--device",
            split = ",",
            paramLabel = "DEVICE",
            description =
                    "How long a force takes at least, one or more of ${COMPLETION-CANDIDATES}, that is"
                            + " 10, 1, 0.1 ms, no delay; each figure has its own preset.")
    private List<DeviceProfile> devices;

    @Option(
            names = "--servers",
            paramLabel = "N",
            description = "Voters of each ensemble (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private int servers;

    @Option(
            names = "--failed",
            paramLabel = "N",
            description = "Followers killed before it begins (default: ${DEFAULT-VALUE}).",
            defaultValue = "0")
    private int failed;

    @Option(
            names = "--value-bytes",
            paramLabel = "N",
            description = "Size of the values (default: ${DEFAULT-VALUE}).",
            defaultValue = "1024")
    private int valueBytes;

    @Option(
            names = "--records",
            paramLabel = "N",
            description = "Nodes that each load finds when it begins (default: ${DEFAULT-VALUE}).",
            defaultValue = "1000")
    private int records;

    @Option(
            names = "--slice",
            paramLabel = "SECONDS",
            description = "Length of one measurement (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private double slice;

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            description = "Load before each measurement (default: ${DEFAULT-VALUE}).",
            defaultValue = "1")
    private double warmUp;

    @Option(
            names = "--compile",
            paramLabel = "SECONDS",
            description =
                    "Load on each ensemble before the first round, for its JVMs (default:"
                            + " ${DEFAULT-VALUE}).",
            defaultValue = "15")
    private double compile;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description =
                    "Rounds at least; six or more for an interval of 95 %% (default: ${DEFAULT-VALUE}).",
            defaultValue = "8")
    private int rounds;

    @Option(
            names = "--max-rounds",
            paramLabel = "N",
            description = "Rounds at most, if --precision wants more (default: 40).")
    private Integer maxRounds;

    @Option(
            names = "--precision",
            paramLabel = "PART",
            description =
                    "Go on until each ratio's interval is within this part of it, for example 0.02"
                            + " (default: the rounds decide).",
            defaultValue = "0")
    private double precision;

    @Option(
            names = "--jvm",
            paramLabel = "FLAGS",
            description = "Flags of the servers' JVMs (default: ${DEFAULT-VALUE}).",
            defaultValue = JVM)
    private String jvm;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description = "Where the results go (default: a new folder in bench-results).")
    private Path out;

    @Option(
            names = "--work",
            paramLabel = "FOLDER",
            description =
                    "Where the servers' data goes; on the disk to be measured (default: a temporary"
                            + " folder). What the run puts there is removed at its end.")
    private Path work;

    /** Where the run may put its ensembles. */
    Path workParent() {
        return work != null ? work : Path.of(System.getProperty("java.io.tmpdir"));
    }

    Path resultFolder(String title) {
        if (out != null) {
            return out;
        }
        String now =
                LocalDateTime.now(ZoneId.systemDefault())
                        .format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss"));
        return Path.of("bench-results").resolve(title + "-" + now);
    }

    /**
     * @throws IOException if a distribution is missing
     * @throws IllegalArgumentException if an option is out of range
     */
    RunPlan plan(Figure figure, Path runFolder) throws IOException {
        Path given = saucr;
        if (given == null && System.getProperty("saucr.root") != null) {
            given = SaucrDistribution.builtIn(Path.of(System.getProperty("saucr.root")));
        }
        SaucrDistribution distribution = new SaucrDistribution(given, runFolder);
        List<Configuration> parsed = new ArrayList<>();
        for (String text : configurations != null ? configurations : figure.configurations()) {
            parsed.add(Configuration.parse(text, distribution));
        }
        List<Case> cases = new ArrayList<>();
        for (DeviceProfile device : devices != null ? devices : figure.devices()) {
            for (String workload : figure.workloads()) {
                for (int clients : figure.clients()) {
                    cases.add(new Case(workload, clients, device));
                }
            }
        }
        int most = maxRounds != null ? maxRounds : Math.max(rounds, precision > 0 ? 40 : rounds);
        return new RunPlan(
                figure.name(),
                parsed,
                servers,
                failed,
                cases,
                valueBytes,
                records,
                seconds(warmUp),
                seconds(slice),
                seconds(compile),
                rounds,
                most,
                precision,
                List.of(jvm.trim().split("\\s+")));
    }

    private static Duration seconds(double seconds) {
        return Duration.ofNanos((long) (seconds * 1e9));
    }
}
