package io.saucr.bench.cli;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.measure.CatchUp;
import io.saucr.bench.measure.TimeRounds;
import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.report.RunFolder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Recovery time against the number of entries that were lost, beside the time in which a stock
 * follower catches up over the same distance; the two take turns.
 */
@Command(
        name = "recovery",
        description =
                "How long a server takes that lost entries with its memory, from the start of its"
                        + " process until it serves, beside a stock follower that was down while as"
                        + " many were written.",
        mixinStandardHelpOptions = true)
final class RecoveryComparison implements Callable<Integer> {
    static final String TITLE = "recovery";
    static final List<String> PRESETS = List.of(Configuration.SAUCR, Configuration.DISK_DURABLE);

    @Mixin private SystemOptions system;
    @Mixin private OutputOptions output;

    @Option(
            names = "--entries",
            split = ",",
            paramLabel = "N",
            description = "Numbers of lost entries (default: ${DEFAULT-VALUE}).",
            defaultValue = "1000,10000,100000")
    private List<Integer> entries;

    @Option(
            names = "--value-bytes",
            paramLabel = "N",
            description = "Size of the values (default: ${DEFAULT-VALUE}).",
            defaultValue = "1024")
    private int valueBytes;

    @Option(
            names = "--servers",
            paramLabel = "N",
            description = "Voters of each ensemble (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private int servers;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description =
                    "Rounds; six or more for an interval of 95 %% (default: ${DEFAULT-VALUE}).",
            defaultValue = "6")
    private int rounds;

    @Override
    public Integer call() throws Exception {
        system.requireOwnServers(TITLE, "takes the memory of servers away");
        try (WorkFolder work = output.work()) {
            List<Configuration> configurations = system.configurations(PRESETS, work);
            TimeRounds times =
                    plan(
                            configurations,
                            entries,
                            servers,
                            valueBytes,
                            rounds,
                            system.jvmFlags(SystemOptions.JVM_WITH_ROOM));
            times.measure(output.open(TITLE, times.plan()), work);
        }
        return 0;
    }

    /** What one call measures. */
    static TimeRounds plan(
            List<Configuration> configurations,
            List<Integer> entries,
            int servers,
            int valueBytes,
            int rounds,
            List<String> jvmFlags) {
        Map<String, Object> parameters = new LinkedHashMap<>();
        parameters.put("entries", entries);
        parameters.put("servers", servers);
        parameters.put("valueBytes", valueBytes);
        parameters.put("jvmFlags", jvmFlags);
        List<TimeRounds.Subject> subjects = new ArrayList<>();
        for (int lost : entries) {
            subjects.add(
                    new TimeRounds.Subject() {
                        @Override
                        public String name() {
                            return "recovery of " + lost + " entries";
                        }

                        @Override
                        public List<String> measures() {
                            return List.of(name());
                        }

                        @Override
                        public Map<String, Double> measure(
                                Configuration configuration, Path work, RunFolder results)
                                throws Exception {
                            CatchUp.Time time =
                                    new CatchUp(configuration, servers, valueBytes, jvmFlags)
                                            .measure(lost, work);
                            return Map.of(name(), time.seconds());
                        }
                    });
        }
        return new TimeRounds(TITLE, configurations, subjects, rounds, parameters);
    }
}
