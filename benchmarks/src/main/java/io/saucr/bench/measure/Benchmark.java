package io.saucr.bench.measure;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.ensemble.ConnectedEnsemble;
import io.saucr.bench.ensemble.MeasuredEnsemble;
import io.saucr.bench.ensemble.TcpSegments;
import io.saucr.bench.load.BusyProcesses;
import io.saucr.bench.load.ClientLoop;
import io.saucr.bench.load.FillerNodes;
import io.saucr.bench.load.Load;
import io.saucr.bench.load.Workloads;
import io.saucr.bench.result.Case;
import io.saucr.bench.result.Comparison;
import io.saucr.bench.result.EnsembleUsage;
import io.saucr.bench.result.LoadResult;
import io.saucr.bench.result.ProcessUsage;
import io.saucr.bench.result.Slice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One run: starts an ensemble for each configuration, all of which stay up, and measures them slice
 * by slice, for each case one configuration after the other, in rounds; who begins changes from
 * round to round, because places in a round are not equal. Ensembles of another size come after
 * those of the first have ended. Used by one thread.
 */
public final class Benchmark {
    /** Told of everything that happens; called by the thread that runs the benchmark. */
    interface Listener {
        /** What is done now, for a person who waits. */
        void step(String what);

        /** A slice has been measured. */
        void measured(Slice slice, LoadResult load) throws IOException;

        /** A round of ensembles of one size is complete; more may follow. */
        void roundEnded(int round);

        /** Ensembles of one size are at their end, for good or bad: the log is as it will be. */
        void ended(String configuration, int server, Path log) throws IOException;
    }

    private static final int COMPILE_CLIENTS = 16;

    private final RunPlan plan;
    private final Path work;
    private final Listener listener;
    private final Workloads workloads;
    private final boolean allocations;
    private final List<Slice> slices;
    private int started;

    /**
     * @param work an empty folder for the servers' data
     * @param allocations whether servers are asked how much they allocate
     * @param before slices of complete rounds of the same plan that were measured earlier
     */
    public Benchmark(
            RunPlan plan,
            Path work,
            Workloads workloads,
            boolean allocations,
            List<Slice> before,
            Listener listener) {
        this.plan = plan;
        this.work = work;
        this.listener = listener;
        this.workloads = workloads;
        this.allocations = allocations;
        this.slices = new ArrayList<>(before);
    }

    /**
     * Runs to the end of the plan.
     *
     * @return the slices of all rounds, in order
     * @throws IllegalStateException if an ensemble does not do what it should
     */
    public List<Slice> run() throws Exception {
        for (Case.EnsembleKey key : plan.ensembles()) {
            int done = roundsDone(key);
            if (!enough(key, done)) {
                try (Group group = new Group(key)) {
                    group.run(done);
                }
            }
        }
        return List.copyOf(slices);
    }

    private List<Slice> slices(Case.EnsembleKey key) {
        return slices.stream().filter(slice -> slice.measured().ensemble().equals(key)).toList();
    }

    private int roundsDone(Case.EnsembleKey key) {
        return slices(key).stream().mapToInt(Slice::round).max().orElse(0);
    }

    private boolean enough(Case.EnsembleKey key, int rounds) {
        return rounds >= plan.maxRounds() || (rounds >= plan.rounds() && preciseEnough(key));
    }

    private boolean preciseEnough(Case.EnsembleKey key) {
        return plan.precision() == 0
                || new Comparison(slices(key))
                        .rows().stream()
                                .allMatch(
                                        row ->
                                                row.throughput().relativeHalfWidth()
                                                        <= plan.precision());
    }

    /** The ensembles of one kind, with their loads. */
    private final class Group implements AutoCloseable {
        private final Case.EnsembleKey key;
        private final List<Case> cases;
        private final List<MeasuredEnsemble> ensembles = new ArrayList<>();
        private final Map<MeasuredEnsemble, Map<Case.LoadKey, ClientLoop>> loads = new HashMap<>();
        private final Map<MeasuredEnsemble, Surroundings> surroundings = new HashMap<>();

        Group(Case.EnsembleKey key) {
            this.key = key;
            this.cases = plan.cases(key);
        }

        void run(int roundsDone) throws Exception {
            for (Configuration configuration : plan.configurations()) {
                prepare(configuration);
            }
            // Those that were prepared first have had a busy machine since.
            for (MeasuredEnsemble ensemble : ensembles) {
                ensemble.awaitMode();
            }
            if (plan.processors() > 0) {
                for (MeasuredEnsemble ensemble : ensembles) {
                    ensemble.limit(plan.processors());
                }
            }
            try (BusyProcesses busy = BusyProcesses.start(plan.busy())) {
                int round = roundsDone;
                do {
                    round++;
                    for (Case measured : cases) {
                        for (int turn = 0; turn < ensembles.size(); turn++) {
                            MeasuredEnsemble ensemble =
                                    ensembles.get((turn + round - 1) % ensembles.size());
                            String name = ensemble.configuration().name();
                            listener.step("round " + round + ", " + measured + ", " + name);
                            measure(ensemble, measured, round);
                            busy.requireAlive();
                        }
                    }
                    listener.roundEnded(round);
                } while (!enough(key, round));
            }
        }

        private void prepare(Configuration configuration) throws Exception {
            String name = configuration.name();
            MeasuredEnsemble ensemble = open(configuration);
            Surroundings around = new Surroundings();
            surroundings.put(ensemble, around);
            List<Case.LoadKey> keys = cases.stream().map(Case::load).distinct().toList();
            Map<Case.LoadKey, ClientLoop> own = new HashMap<>();
            for (Case.LoadKey each : keys) {
                Load load = workloads.load(each.workload(), plan.records(), each.valueBytes());
                load.prepare(ensemble.addresses().get(0));
                own.put(each, new ClientLoop(around.counted(load)));
            }
            loads.put(ensemble, own);
            FillerNodes.create(ensemble.addresses().get(0), key.znodes());
            for (Case.LoadKey each : keys) {
                if (!plan.compile().isZero()) {
                    listener.step("warming up " + name + ", " + each.workload());
                    own.get(each)
                            .run(
                                    ensemble.addresses(),
                                    COMPILE_CLIENTS,
                                    0,
                                    plan.compile().dividedBy(keys.size()),
                                    plan.warmUp(),
                                    0,
                                    ClientLoop.Window.NOT_COUNTED);
                }
            }
            if (plan.failedServers() > 0) {
                listener.step("killing servers of " + name);
                ensemble.fail(plan.failedServers());
            }
            ensemble.awaitMode();
        }

        private MeasuredEnsemble open(Configuration configuration) throws Exception {
            if (configuration.connect() != null) {
                listener.step("connecting to " + configuration.name());
                ensembles.add(ConnectedEnsemble.open(configuration));
                return ensembles.get(ensembles.size() - 1);
            }
            listener.step(
                    "starting %s, %s servers"
                            .formatted(configuration.name(), key.voters() + key.observers()));
            BenchEnsemble ensemble =
                    new BenchEnsemble(
                            configuration,
                            key.voters(),
                            key.observers(),
                            plan.jvmFlags(),
                            work.resolve("ensemble-" + ++started));
            ensembles.add(ensemble);
            ensemble.start();
            if (allocations) {
                ensemble.meterAllocations();
            }
            return ensemble;
        }

        private void measure(MeasuredEnsemble ensemble, Case measured, int round) throws Exception {
            ensemble.device(measured.device());
            Surroundings around = surroundings.get(ensemble);
            around.become(measured.sizes(), ensemble.addresses());
            Meter meter = new Meter(ensemble);
            LoadResult result =
                    loads.get(ensemble)
                            .get(measured.load())
                            .run(
                                    ensemble.addresses(),
                                    measured.clients(),
                                    measured.rate(),
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
            around.check();
            Slice slice = meter.slice(measured, round, result);
            slices.add(slice);
            listener.measured(slice, result);
        }

        @Override
        public void close() throws IOException {
            surroundings.values().forEach(Surroundings::close);
            ensembles.forEach(MeasuredEnsemble::close);
            for (MeasuredEnsemble ensemble : ensembles) {
                for (Map.Entry<Integer, Path> log : ensemble.logs().entrySet()) {
                    listener.ended(ensemble.configuration().name(), log.getKey(), log.getValue());
                }
            }
        }
    }

    /** Reads what servers and clients use at both ends of the time that counts. */
    private static final class Meter implements ClientLoop.Window {
        private static final long SELF = ProcessHandle.current().pid();

        private final MeasuredEnsemble ensemble;
        private EnsembleUsage servers;
        private ProcessUsage clients;
        private long allocated;
        private long segments;

        Meter(MeasuredEnsemble ensemble) {
            this.ensemble = ensemble;
        }

        @Override
        public void begins() {
            allocated = ensemble.allocatedBytes();
            servers = ensemble.usage();
            clients = ProcessUsage.of(SELF);
            segments = TcpSegments.sent();
        }

        @Override
        public void ends() {
            segments = TcpSegments.sent() - segments;
            clients = ProcessUsage.of(SELF).since(clients);
            servers = ensemble.usage().since(servers);
            allocated = ensemble.allocatedBytes() - allocated;
        }

        Slice slice(Case measured, int round, LoadResult result) {
            return Slice.of(
                    ensemble.configuration().name(),
                    measured,
                    round,
                    result,
                    servers,
                    clients,
                    allocated,
                    segments);
        }
    }
}
