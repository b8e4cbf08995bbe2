package io.saucr.crash.campaign;

import io.saucr.crash.fault.FaultBackend;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Sequences against systems, with the outcomes in the file {@value #OUTCOMES} of the workbench's
 * folder, and the servers' logs of every sequence that was not correct below {@code failures/}.
 * Used by one thread.
 */
public final class Campaign {
    public static final String OUTCOMES = "outcomes.jsonl";

    private final Workbench bench;

    public Campaign(Workbench bench) {
        this.bench = bench;
    }

    /** The plan, as outcomes and reports name it. */
    public static String words(FaultPlan plan) {
        String order = plan.order().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return order
                + (plan.order().atOnce() ? "" : ", gap " + plan.gap().toMillis() + " ms")
                + (plan.idle().isZero() ? "" : ", idle " + plan.idle().toMillis() + " ms")
                + (plan.young() ? ", young" : "")
                + (plan.steady() ? ", steady" : "")
                + (plan.logFolder() ? ", log folder" : "");
    }

    private record Task(SystemUnderTest system, FaultPlan plan, Sequence sequence) {}

    private final class Runs implements Workbench.Kind<Task, Outcome> {
        @Override
        public String file() {
            return OUTCOMES;
        }

        @Override
        public Class<Outcome> outcomeType() {
            return Outcome.class;
        }

        @Override
        public String key(Task task) {
            return Outcome.key(task.system().name(), Campaign.words(task.plan()), task.sequence());
        }

        @Override
        public String keyOf(Outcome outcome) {
            return outcome.key();
        }

        @Override
        public int servers(Task task) {
            return task.sequence().servers();
        }

        @Override
        public Outcome run(Task task, FaultBackend machines, Path work)
                throws IOException, InterruptedException {
            return SequenceRunner.run(
                    task.system(), task.plan(), task.sequence(), machines, work, bench.progress());
        }

        @Override
        public boolean asExpected(Outcome outcome) {
            return outcome.verdict() == Verdict.CORRECT;
        }

        @Override
        public String words(Outcome outcome) {
            return String.format(
                    Locale.ROOT,
                    "%-17s %5.1f s  %-7s %-28s %s%s",
                    outcome.verdict(),
                    outcome.millis() / 1000.0,
                    outcome.system(),
                    outcome.plan(),
                    outcome.sequence(),
                    outcome.reason().isEmpty() ? "" : "  " + outcome.reason());
        }
    }

    /**
     * Runs every sequence that has no outcome yet, with every system and plan.
     *
     * @return the outcomes of these, older ones included
     * @throws IOException if a system does not serve before any fault, or the back end fails
     */
    public List<Outcome> run(
            List<SystemUnderTest> systems, List<FaultPlan> plans, List<Sequence> sequences)
            throws IOException, InterruptedException {
        List<Task> tasks = new ArrayList<>();
        for (Sequence sequence : sequences) {
            for (FaultPlan plan : plans) {
                for (SystemUnderTest system : systems) {
                    tasks.add(new Task(system, plan, sequence));
                }
            }
        }
        return bench.run(new Runs(), tasks);
    }

    /** The ideal model of viewstamped replication, which needs no servers. */
    public static Outcome viewstamped(Sequence sequence, FaultPlan plan) {
        boolean serves = MemoryModel.viewstampedServes(sequence);
        return new Outcome(
                "vr-ideal",
                "model",
                sequence.servers(),
                sequence,
                words(plan),
                "model",
                serves ? Verdict.CORRECT : Verdict.TOO_FEW_RECOVERED,
                serves ? "" : "no majority remembers",
                0,
                0,
                List.of(),
                MemoryModel.lossPossible(sequence, state -> true),
                List.of(),
                0,
                List.of(),
                Activity.NONE,
                null);
    }

    /** Adds the model's outcomes for sequences that have none. */
    public void model(List<FaultPlan> plans, List<Sequence> sequences) throws IOException {
        Set<String> done = new HashSet<>();
        for (Outcome outcome : bench.folder().read(OUTCOMES, Outcome.class)) {
            done.add(outcome.key());
        }
        for (Sequence sequence : sequences) {
            for (FaultPlan plan : plans) {
                Outcome outcome = viewstamped(sequence, plan);
                if (done.add(outcome.key())) {
                    bench.folder().append(OUTCOMES, outcome);
                }
            }
        }
    }
}
