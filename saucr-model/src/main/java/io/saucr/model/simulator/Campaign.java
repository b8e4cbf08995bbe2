package io.saucr.model.simulator;

import io.saucr.model.cluster.BrokenRule;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Many schedules on several cores, in rounds of consecutive seeds: after a round every seed before
 * {@link #nextSeed()} has been run, so that a campaign can continue later from there. The seed
 * decides which size of ensemble it gets. Owned by one thread; the workers' threads are its own.
 */
final class Campaign implements AutoCloseable {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int FIRST_ROUND = 8;
    private static final int LARGEST_ROUND = 1 << 14;
    private static final long ROUND_NANOS = 1_000_000_000L;

    private final int[] sizes;
    private final Set<BrokenRule> broken;
    private final boolean powerAlone;
    private final boolean withModes;
    private final ExecutorService executor;
    private final List<Worker> workers = new ArrayList<>();
    private final Coverage before;
    private long nextSeed;
    private int round = FIRST_ROUND;

    /**
     * A schedule that broke something.
     *
     * @param broken the name of what it broke
     */
    @SuppressWarnings("ArrayRecordComponent") // the seed stands for its steps
    record Found(long seed, int servers, String broken, String explanation, int[] steps) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Found that && seed == that.seed && servers == that.servers;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(seed);
        }

        @Override
        public String toString() {
            return "n=" + servers + " seed=" + seed + " breaks " + broken + ": " + explanation;
        }
    }

    /** Runs seeds of its own until its round is over. */
    private final class Worker {
        private final Simulation[] simulations = new Simulation[sizes.length];
        private final List<Found> found = new ArrayList<>();
        private long cpuNanos;

        private Worker() {
            for (int i = 0; i < sizes.length; i++) {
                simulations[i] = simulation(sizes[i]);
            }
        }

        private Simulation simulation(int servers) {
            if (withModes) {
                return Simulation.withModes(servers, broken);
            }
            return powerAlone
                    ? Simulation.ofPowerAlone(servers, broken)
                    : new Simulation(servers, broken);
        }

        private Void run(AtomicLong next, long end) {
            long cpuBefore = THREADS.getCurrentThreadCpuTime();
            for (long seed = next.getAndIncrement(); seed < end; seed = next.getAndIncrement()) {
                int which = (int) Long.remainderUnsigned(seed, sizes.length);
                Simulation simulation = simulations[which];
                if (!simulation.run(seed)) {
                    found.add(
                            new Found(
                                    seed,
                                    sizes[which],
                                    simulation.violation(),
                                    simulation.explanation(),
                                    simulation.steps()));
                }
            }
            cpuNanos += THREADS.getCurrentThreadCpuTime() - cpuBefore;
            return null;
        }
    }

    /**
     * @param sizes numbers of voters
     * @param firstSeed the first seed, and {@code before} what earlier ones have reached
     */
    Campaign(int[] sizes, Set<BrokenRule> broken, int cores, long firstSeed, Coverage before) {
        this(sizes, broken, false, false, cores, firstSeed, before);
    }

    /**
     * As {@link #Campaign(int[], Set, int, long, Coverage)}.
     *
     * @param powerAlone whether no process dies and no disk is lost alone
     * @param withModes whether leaders are pinned, hold back, miss heartbeats and stand still
     */
    Campaign(
            int[] sizes,
            Set<BrokenRule> broken,
            boolean powerAlone,
            boolean withModes,
            int cores,
            long firstSeed,
            Coverage before) {
        this.sizes = sizes.clone();
        this.broken = broken;
        this.powerAlone = powerAlone;
        this.withModes = withModes;
        this.before = before;
        this.nextSeed = firstSeed;
        executor = Executors.newFixedThreadPool(cores);
        for (int i = 0; i < cores; i++) {
            workers.add(new Worker());
        }
    }

    /**
     * Runs the next seeds, for about a second.
     *
     * @param most no more than this many
     * @return those that broke something, in the order of their seeds
     */
    List<Found> round(long most) throws InterruptedException {
        long size = Math.min(most, (long) round * workers.size());
        long end = nextSeed + size;
        AtomicLong next = new AtomicLong(nextSeed);
        long start = System.nanoTime();
        List<Callable<Void>> tasks = new ArrayList<>();
        workers.forEach(worker -> tasks.add(() -> worker.run(next, end)));
        for (Future<Void> task : executor.invokeAll(tasks)) {
            try {
                task.get();
            } catch (ExecutionException e) {
                throw new IllegalStateException("a schedule from seed " + nextSeed + " on", e);
            }
        }
        if (System.nanoTime() - start < ROUND_NANOS / 2 && round < LARGEST_ROUND) {
            round *= 2;
        }
        nextSeed = end;
        List<Found> found = new ArrayList<>();
        for (Worker worker : workers) {
            found.addAll(worker.found);
            worker.found.clear();
        }
        found.sort((a, b) -> Long.compareUnsigned(a.seed(), b.seed()));
        return found;
    }

    /** The first seed that was not run. */
    long nextSeed() {
        return nextSeed;
    }

    /** Processor time that this campaign's schedules took, in nanoseconds. */
    long cpuNanos() {
        return workers.stream().mapToLong(worker -> worker.cpuNanos).sum();
    }

    /** What all seeds have reached. To be called between rounds. */
    Coverage coverage() {
        Coverage all = new Coverage();
        all.add(before);
        for (Worker worker : workers) {
            for (Simulation simulation : worker.simulations) {
                all.add(simulation.coverage());
            }
        }
        return all;
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
