package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.load.AckRecord;
import io.saucr.bench.load.RawSessions;
import io.saucr.bench.load.RunningClients;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.result.EnsembleUsage;
import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.ServerProcess;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What it costs others when many sessions with ephemeral nodes expire at once. */
@Command(
        name = "expiry",
        description = {
            "Sessions with ephemeral nodes expire at once while clients write: their writes per"
                    + " second, the longest gap, CPU time, mode switches, elections.",
            "The time counts from the first node that goes to the last."
        },
        mixinStandardHelpOptions = true)
final class ExpiryComparison implements Callable<Integer> {
    static final String TITLE = "expiry";
    private static final int RECORDS = 1000;
    private static final int VALUE_BYTES = 100;
    private static final int TIMEOUT_MILLIS = 10_000;
    private static final long POLL_MILLIS = 10;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int MOST_NODES = 5_000;
    private static final String COUNT = "zk_ephemerals_count";

    @Mixin private BurstOptions options;

    @Option(
            names = "--sessions",
            split = ",",
            paramLabel = "SESSIONSxNODES",
            description =
                    "How many sessions, and nodes of each; one or more (default:"
                            + " ${DEFAULT-VALUE}).",
            defaultValue = "3000x10,10x3000")
    private List<String> sessions;

    @Option(
            names = "--clients",
            paramLabel = "N",
            description = "Clients that write (default: ${DEFAULT-VALUE}).",
            defaultValue = "4")
    private int clients;

    @Override
    public Integer call() throws Exception {
        if (clients < 1) {
            throw new IllegalArgumentException("--clients must be above 0");
        }
        List<BurstOptions.Burst> bursts =
                sessions.stream().<BurstOptions.Burst>map(this::parsed).toList();
        options.measure(
                TITLE,
                bursts,
                RoundOptions.parameters(
                        "clients",
                        clients,
                        "valueBytes",
                        VALUE_BYTES,
                        "sessionTimeoutMillis",
                        TIMEOUT_MILLIS));
        return 0;
    }

    private Expiry parsed(String text) {
        if (!text.matches("[1-9]\\d{0,4}x[1-9]\\d{0,3}")) {
            throw new IllegalArgumentException(
                    "--sessions: '" + text + "' is not SESSIONSxNODES, such as 3000x10");
        }
        String[] parts = text.split("x");
        int nodes = Integer.parseInt(parts[1]);
        if (nodes > MOST_NODES) {
            throw new IllegalArgumentException("--sessions: at most " + MOST_NODES + " nodes each");
        }
        return new Expiry(Integer.parseInt(parts[0]), nodes);
    }

    private final class Expiry implements BurstOptions.Burst {
        private final int count;
        private final int nodes;

        Expiry(int count, int nodes) {
            this.count = count;
            this.nodes = nodes;
        }

        @Override
        public String name() {
            return String.format(Locale.ROOT, "%,d sessions of %,d nodes expire", count, nodes);
        }

        @Override
        public BurstOptions.Seen on(BenchEnsemble ensemble) throws Exception {
            List<String> addresses = ensemble.addresses();
            try (RunningClients writers =
                            RunningClients.start(
                                    new UpdateLoad(RECORDS, VALUE_BYTES), addresses, clients);
                    RawSessions open =
                            RawSessions.withEphemerals(addresses, count, nodes, TIMEOUT_MILLIS)) {
                open.cut();
                // Sessions expire at the earliest then; what runs before it is not measured.
                TimeUnit.MILLISECONDS.sleep(TIMEOUT_MILLIS - TIMEOUT_MILLIS / 10);
                return options.beside(() -> watch(ensemble, writers.acks()));
            }
        }

        private BurstOptions.Seen watch(BenchEnsemble ensemble, AckRecord acks) throws Exception {
            ServerProcess asked = ensemble.servers().servers().get(0);
            awaitFewer(asked, (long) count * nodes);
            acks.begin(System.nanoTime());
            double before = ensemble.cpuSeconds();
            awaitFewer(asked, 1);
            AckRecord.Window window = acks.window(System.nanoTime());
            return new BurstOptions.Seen(
                    window.seconds(),
                    window.operations(),
                    window.longestPause(),
                    ensemble.cpuSeconds() - before);
        }

        /** Returns when a server has fewer nodes. */
        private void awaitFewer(ServerProcess asked, long than) throws Exception {
            Deadline.await(
                    PATIENCE,
                    POLL_MILLIS,
                    () -> {
                        Map<String, String> answer = asked.mntr();
                        return answer.containsKey(COUNT)
                                && EnsembleUsage.number(answer, COUNT) < than;
                    },
                    () ->
                            "after %s s there are still ephemeral nodes of sessions that should have expired"
                                    .formatted(PATIENCE.toSeconds()));
        }
    }
}
