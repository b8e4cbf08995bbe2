package io.saucr.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One run: starts an ensemble for each configuration, all of which stay up, and measures them slice
 * by slice, for each case one configuration after the other, in rounds. Used by one thread.
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
    private final Workloads workloads;
    private final List<BenchEnsemble> ensembles = new ArrayList<>();
    private final Map<BenchEnsemble, Map<String, ClosedLoop>> loads = new HashMap<>();
    private final List<Slice> slices = new ArrayList<>();

    Benchmark(RunPlan plan, Path work, Workloads workloads, Listener listener) {
        this.plan = plan;
        this.work = work;
        this.listener = listener;
        this.workloads = workloads;
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
        List<String> names = plan.cases().stream().map(Case::workload).distinct().toList();
        Map<String, ClosedLoop> own = new HashMap<>();
        for (String name : names) {
            Load load = workloads.load(name, plan.records(), plan.valueBytes());
            load.prepare(ensemble.addresses().get(0));
            own.put(name, new ClosedLoop(load));
        }
        loads.put(ensemble, own);
        for (String name : names) {
            if (!plan.compile().isZero()) {
                listener.step("warming up " + configuration.name() + ", " + name);
                own.get(name)
                        .run(
                                ensemble.addresses(),
                                COMPILE_CLIENTS,
                                plan.compile().dividedBy(names.size()),
                                plan.warmUp(),
                                0,
                                NOT_COUNTED);
            }
        }
        if (plan.failedServers() > 0) {
            listener.step("killing servers of " + configuration.name());
            ensemble.fail(plan.failedServers());
        }
        ensemble.awaitMode(plan.voters() - plan.failedServers());
    }

    private static final ClosedLoop.Window NOT_COUNTED =
            new ClosedLoop.Window() {
                @Override
                public void begins() {}

                @Override
                public void ends() {}
            };

    private void runRound(int round) throws Exception {
        for (Case measured : plan.cases()) {
            for (BenchEnsemble ensemble : ensembles) {
                listener.step(
                        "round "
                                + round
                                + ", "
                                + measured
                                + ", "
                                + ensemble.configuration().name());
                measure(ensemble, measured, round);
            }
        }
    }

    private void measure(BenchEnsemble ensemble, Case measured, int round) throws Exception {
        ensemble.device(measured.device());
        Meter meter = new Meter(ensemble);
        LoadResult result =
                loads.get(ensemble)
                        .get(measured.workload())
                        .run(
                                ensemble.addresses(),
                                measured.clients(),
                                plan.warmUp(),
                                plan.slice(),
                                round * 1000L + measured.clients(),
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
                        measured,
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
    private static final class Meter implements ClosedLoop.Window {
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
