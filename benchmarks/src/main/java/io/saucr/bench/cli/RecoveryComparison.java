package io.saucr.bench.cli;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.measure.CatchUp;
import io.saucr.bench.measure.Experiment;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.TimeSample;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Recovery time against the number of entries that were lost, next to the time in which a stock
 * follower catches up over the same distance; the two take turns.
 */
@Command(
        name = "recovery",
        description =
                "How long a server takes that lost entries with its memory, from the start of its"
                        + " process until it serves, compared with a stock follower that was down while as"
                        + " many were written.",
        mixinStandardHelpOptions = true)
final class RecoveryComparison implements Callable<Integer> {
    static final String TITLE = "recovery";

    @Mixin private RoundOptions rounds = new RoundOptions(6);

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

    @Override
    public Integer call() throws Exception {
        rounds.system().requireOwnServers(TITLE, "takes the memory of servers away");
        List<String> jvmFlags = rounds.system().jvmFlags(SystemOptions.JVM_WITH_ROOM);
        rounds.measure(
                new Experiment<>(
                        TITLE,
                        Experiment.TIMES,
                        entries.stream()
                                .<Experiment.Subject<TimeSample>>map(
                                        lost -> new Recovery(lost, servers, valueBytes, jvmFlags))
                                .toList(),
                        RoundOptions.parameters(
                                "entries",
                                entries,
                                "servers",
                                servers,
                                "valueBytes",
                                valueBytes,
                                "jvmFlags",
                                jvmFlags)),
                List.of(Configuration.SAUCR, Configuration.DISK_DURABLE));
        return 0;
    }

    /** The recovery of a server that lost so many entries. */
    private record Recovery(int lost, int servers, int valueBytes, List<String> jvmFlags)
            implements Experiment.Subject<TimeSample> {
        @Override
        public String name() {
            return "recovery of " + lost + " entries";
        }

        @Override
        public boolean has(TimeSample sample) {
            return sample.measure().equals(name());
        }

        @Override
        public List<TimeSample> measure(
                Configuration configuration, int round, Path work, RunFolder results)
                throws Exception {
            CatchUp.Time time =
                    new CatchUp(configuration, servers, valueBytes, jvmFlags).measure(lost, work);
            return List.of(new TimeSample(name(), configuration.name(), round, time.seconds()));
        }
    }
}
