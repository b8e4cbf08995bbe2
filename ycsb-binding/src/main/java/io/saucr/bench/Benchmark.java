package io.saucr.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One run: starts an ensemble for each configuration, all of which stay up, and measures them slice
 * by slice, for each number of clients one configuration after the other, in rounds. Used by one
 * thread.
 */
final class Benchmark {
    /** Told of everything that happens; called by the thread that runs the benchmark. */
    interface Listener {
        /** What is done now, for a person who waits. */
        void step(String what);

        /** A slice has been measured. */
        void measured(Slice slice, LoadResult load);

        /** A round is complete; more may follow. */
        void roundEnded(int round);

        /** The run is at its end, for good or bad: the server's log is as it will be. */
        void ended(String configuration, int server, Path log);
    }

    private static final int COMPILE_CLIENTS = 16;

    private final RunPlan plan;
    private final Path work;
    private final Listener listener;
    private final UpdateLoad load;
    private final List<BenchEnsemble> ensembles = new ArrayList<>();
    private final List<Slice> slices = new ArrayList<>();

    Benchmark(RunPlan plan, Path work, Listener listener) {
        this.plan = plan;
        this.work = work;
        this.listener = listener;
        this.load = new UpdateLoad(plan.records(), plan.valueBytes());
    }

    /**
     * Runs to the end of the plan.
     *
     * @return the slices of all rounds, in order
     * @throws IllegalStateException if an ensemble does not do what it should
     */
    List<Slice> run() throws Exception {
        try {
            for (Configuration configuration : plan.configurations()) {
                prepare(configuration);
            }
            for (int round = 1; round <= plan.maxRounds(); round++) {
                runRound(round);
                listener.roundEnded(round);
                if (round >= plan.rounds() && preciseEnough()) {
                    break;
                }
            }
            return List.copyOf(slices);
        } finally {
            ensembles.forEach(BenchEnsemble::close);
            for (BenchEnsemble ensemble : ensembles) {
                ensemble.logs()
                        .forEach(
                                (server, log) ->
                                        listener.ended(
                                                ensemble.configuration().name(), server, log));
            }
        }
    }

    private void prepare(Configuration configuration) throws Exception {
        listener.step("starting " + configuration.name());
        BenchEnsemble ensemble =
                new BenchEnsemble(
                        configuration, plan, work.resolve("ensemble-" + (ensembles.size() + 1)));
        ensembles.add(ensemble);
        ensemble.start();
        load.prepare(ensemble.addresses().get(0));
        if (!plan.compile().isZero()) {
            listener.step("warming up " + configuration.name());
            load.run(
                    ensemble.addresses(),
                    COMPILE_CLIENTS,
                    plan.compile(),
                    plan.warmUp(),
                    0,
                    NOT_COUNTED);
        }
        ensemble.device(plan.device());
        if (plan.failedServers() > 0) {
            listener.step("killing servers of " + configuration.name());
            ensemble.fail(plan.failedServers());
        }
        ensemble.awaitMode(plan.voters() - plan.failedServers());
    }

    private static final UpdateLoad.Window NOT_COUNTED =
            new UpdateLoad.Window() {
                @Override
                public void begins() {}

                @Override
                public void ends() {}
            };

    private void runRound(int round) throws Exception {
        for (int clients : plan.clientCounts()) {
            for (BenchEnsemble ensemble : ensembles) {
                listener.step(
                        "round "
                                + round
                                + ", "
                                + clients
                                + (clients == 1 ? " client, " : " clients, ")
                                + ensemble.configuration().name());
                measure(ensemble, clients, round);
            }
        }
    }

    private void measure(BenchEnsemble ensemble, int clients, int round) throws Exception {
        Meter meter = new Meter(ensemble);
        LoadResult result =
                load.run(
                        ensemble.addresses(),
                        clients,
                        plan.warmUp(),
                        plan.slice(),
                        round * 1000L + clients,
                        meter);
        if (result.operations() == 0) {
            throw new IllegalStateException(
                    "configuration "
                            + ensemble.configuration().name()
                            + ": no operation ended within the slice"
                            + (result.errors() > 0
                                    ? "; " + result.errors() + " errors: " + result.firstError()
                                    : ""));
        }
        Slice slice =
                Slice.of(
                        ensemble.configuration().name(),
                        clients,
                        round,
                        result,
                        meter.servers,
                        meter.clients);
        slices.add(slice);
        listener.measured(slice, result);
    }

    private boolean preciseEnough() {
        return plan.precision() == 0
                || new Comparison(slices)
                        .rows().stream()
                                .allMatch(
                                        row ->
                                                row.throughput().relativeHalfWidth()
                                                        <= plan.precision());
    }

    /** Reads what servers and clients use at both ends of the time that counts. */
    private static final class Meter implements UpdateLoad.Window {
        private static final long SELF = ProcessHandle.current().pid();

        private final BenchEnsemble ensemble;
        private EnsembleUsage servers;
        private ProcessUsage clients;

        Meter(BenchEnsemble ensemble) {
            this.ensemble = ensemble;
        }

        @Override
        public void begins() {
            servers = ensemble.usage();
            clients = ProcessUsage.of(SELF);
        }

        @Override
        public void ends() {
            clients = ProcessUsage.of(SELF).since(clients);
            servers = ensemble.usage().since(servers);
        }
    }
}
