package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.load.BulkLoad;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What a bulk load costs: many transactions of many updates, far more than are answered yet. */
@Command(
        name = "bulk",
        description = {
            "A bulk load: multis of 1 to 2,000 updates, 100 to 3,200 of them outstanding. Updates per"
                    + " second, CPU time of an update, longest gap, mode switches, elections.",
            "What would need more than --most updates outstanding is left out."
        },
        mixinStandardHelpOptions = true)
final class BulkComparison implements Callable<Integer> {
    static final String TITLE = "bulk";

    /** Updates of one transaction that ZooKeeper takes in a packet of 1 MB. */
    private static final int MOST_UPDATES = 5_000;

    @Mixin private BurstOptions options;

    @Option(
            names = "--multi",
            split = ",",
            paramLabel = "N",
            description = "Updates of a transaction, one or more (default: ${DEFAULT-VALUE}).",
            defaultValue = "1,20,200,2000")
    private List<Integer> multis;

    @Option(
            names = "--outstanding",
            split = ",",
            paramLabel = "N",
            description =
                    "Transactions without an answer, one or more (default: ${DEFAULT-VALUE}).",
            defaultValue = "100,800,3200")
    private List<Integer> outstanding;

    @Option(
            names = "--most",
            paramLabel = "N",
            description =
                    "Updates outstanding at most, which all have to fit into the servers' heaps"
                            + " (default: ${DEFAULT-VALUE}).",
            defaultValue = "640000")
    private long most;

    @Option(
            names = "--updates",
            paramLabel = "N",
            description =
                    "Updates of each measurement at most: four times what is outstanding, and at least"
                            + " a tenth of this number (default: ${DEFAULT-VALUE}).",
            defaultValue = "640000")
    private long updates;

    @Option(
            names = "--patience",
            paramLabel = "SECONDS",
            description =
                    "After so long a measurement ends, whatever is answered (default:"
                            + " ${DEFAULT-VALUE}).",
            defaultValue = "300")
    private double patience;

    @Override
    public Integer call() throws Exception {
        if (multis.stream().anyMatch(each -> each < 1 || each > MOST_UPDATES)) {
            throw new IllegalArgumentException("--multi: 1 to " + MOST_UPDATES + " updates");
        }
        if (outstanding.stream().anyMatch(each -> each < 1)
                || most < 1
                || updates < 1
                || patience <= 0) {
            throw new IllegalArgumentException(
                    "--outstanding, --most, --updates and --patience must be above 0");
        }
        List<BurstOptions.Burst> bursts = new ArrayList<>();
        for (int multi : multis) {
            for (int each : outstanding) {
                if ((long) multi * each <= most) {
                    bursts.add(new Bulk(multi, each));
                }
            }
        }
        if (bursts.isEmpty()) {
            throw new IllegalArgumentException("--most leaves no case");
        }
        options.measure(
                TITLE,
                bursts,
                RoundOptions.parameters("updates", updates, "patienceSeconds", patience));
        return 0;
    }

    private final class Bulk implements BurstOptions.Burst {
        private final int multi;
        private final int atOnce;

        Bulk(int multi, int atOnce) {
            this.multi = multi;
            this.atOnce = atOnce;
        }

        @Override
        public String name() {
            return String.format(Locale.ROOT, "multi of %,d, %,d outstanding", multi, atOnce);
        }

        @Override
        public BurstOptions.Seen on(BenchEnsemble ensemble) throws Exception {
            // Small ones would take too long.
            long wanted = Math.min(updates, Math.max(4L * multi * atOnce, updates / 10));
            BulkLoad load = new BulkLoad(multi, atOnce, Math.max(1, wanted / multi));
            return options.beside(() -> measure(load, ensemble));
        }

        /** The same without an end: other transactions would leave code that is not compiled. */
        @Override
        public BulkLoad warmUp() {
            return new BulkLoad(multi, atOnce, Long.MAX_VALUE);
        }

        private BurstOptions.Seen measure(BulkLoad load, BenchEnsemble ensemble) throws Exception {
            double before = ensemble.cpuSeconds();
            BulkLoad.Outcome outcome =
                    load.run(ensemble.addresses(), Duration.ofMillis((long) (patience * 1000)));
            if (outcome.operations() == 0) {
                throw new IOException("no transaction of " + name() + " was answered");
            }
            return new BurstOptions.Seen(
                    outcome.seconds(),
                    outcome.operations(),
                    outcome.longestGap(),
                    ensemble.cpuSeconds() - before);
        }
    }
}
