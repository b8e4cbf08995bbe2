package io.saucr.bench.cli;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.ensemble.SaucrDistribution;
import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.FsyncShim;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import picocli.CommandLine.Option;

/** What is measured: which servers, and how they run; filled in by picocli. */
final class SystemOptions {
    /**
     * The JIT compiles fully; the heap is large enough for the default load, and always the same.
     */
    static final String JVM = "-Xms256m -Xmx256m -XX:+UseSerialGC -Xshare:auto -XX:-UsePerfData";

    /**
     * For trees that grow, or are large. In too small a heap the collector would slow down those
     * most that have inserted most.
     */
    static final String JVM_WITH_ROOM =
            "-Xms1g -Xmx1g -XX:+UseSerialGC -Xshare:auto -XX:-UsePerfData";

    @Option(
            names = "--configurations",
            split = ";",
            paramLabel = "CONF",
            description = {
                "Separated by ';', the first is compared with each other one; each figure has its own"
                        + " default.",
                "saucr, memory-durable (stock, forceSync=no), disk-durable (stock), or NAME=FOLDER"
                        + " of a distribution; each may be followed by ,KEY=VALUE for zoo.cfg."
            })
    private List<String> configurations;

    @Option(
            names = "--connect",
            paramLabel = "[NAME=]HOST:PORT,...",
            description =
                    "Measure an ensemble that runs elsewhere instead of starting servers; may be given"
                            + " several times to compare ensembles. What its servers use is not known"
                            + " then, and no delay is added to its disks.")
    private List<String> connect;

    @Option(
            names = "--saucr",
            paramLabel = "PATH",
            description = "SAUCR's distribution, tarball or folder (default: the one built here).")
    private Path saucr;

    @Option(
            names = "--jvm",
            paramLabel = "FLAGS",
            description =
                    "Flags of the servers' JVMs (default: fixed heap, serial collector, full JIT).")
    private String jvm;

    /** Whether the ensembles run elsewhere. */
    boolean elsewhere() {
        return connect != null;
    }

    /**
     * @throws IllegalArgumentException with what the command does, if it was told to connect
     */
    void requireOwnServers(String command, String does) {
        if (elsewhere()) {
            throw new IllegalArgumentException(
                    command + " " + does + ": that cannot be done to servers that run elsewhere");
        }
    }

    /**
     * @throws IllegalArgumentException with the option that says what is compared, if
     *     --configurations says it, too
     */
    void requirePresets(String option) {
        if (configurations != null) {
            throw new IllegalArgumentException(
                    option + " and --configurations: each says what is compared");
        }
    }

    /**
     * @throws IOException if a disk is to be simulated and there is no compiler for the shim
     */
    static void requireShim(Collection<DeviceProfile> devices) throws IOException {
        boolean slow = devices.stream().anyMatch(device -> device != DeviceProfile.NONE);
        if (slow && !FsyncShim.available()) {
            throw new IOException(
                    "there is no C compiler (cc, gcc, clang, or what CC names), which builds the shim"
                            + " that simulates disks: install gcc, or use --device none, which"
                            + " measures this machine's own disk (fsyncs are then not counted)");
        }
    }

    /**
     * @param presets as {@link Configuration#parse} reads them
     * @param work where a tarball is unpacked
     * @throws IOException if a distribution is missing
     * @throws IllegalArgumentException if one cannot be meant
     */
    List<Configuration> configurations(List<String> presets, WorkFolder work) throws IOException {
        List<Configuration> parsed = new ArrayList<>();
        if (elsewhere()) {
            if (configurations != null) {
                throw new IllegalArgumentException(
                        "--connect and --configurations: an ensemble either runs elsewhere or is"
                                + " started here");
            }
            connect.forEach(text -> parsed.add(Configuration.running(text)));
            return parsed;
        }
        SaucrDistribution distribution = distribution(work);
        for (String text : configurations != null ? configurations : presets) {
            parsed.add(Configuration.parse(text, distribution));
        }
        return parsed;
    }

    private SaucrDistribution distribution(WorkFolder work) throws IOException {
        Path given = saucr;
        if (given == null && System.getProperty("saucr.root") != null) {
            given = Distribution.tarball(Path.of(System.getProperty("saucr.root"))).orElse(null);
        }
        return new SaucrDistribution(given, work.path());
    }

    List<String> jvmFlags(String preset) {
        return List.of((jvm != null ? jvm : preset).trim().split("\\s+"));
    }
}
