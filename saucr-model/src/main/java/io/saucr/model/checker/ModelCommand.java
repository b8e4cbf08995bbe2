package io.saucr.model.checker;

import io.saucr.model.checker.ModelChecker.Result;
import io.saucr.model.checker.ModelChecker.Task;
import io.saucr.model.cluster.Bounds;
import io.saucr.model.cluster.BrokenRule;
import io.saucr.model.cluster.StartingPoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Explores a cluster from the command line. Exit status: 0 nothing broke, 1 something did, 2 usage.
 */
@Command(
        name = "saucr-model",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Looks at everything that can happen to a small ensemble, nearest first.")
public final class ModelCommand implements Callable<Integer> {
    private static final int FEWEST_SERVERS = 3;
    private static final int MOST_SERVERS = 7;

    @Spec private CommandSpec spec;

    @Option(names = "--servers", defaultValue = "3", description = "voters, 3 to 7")
    private int servers;

    @Option(names = "--entries", defaultValue = "1", description = "what clients write")
    private int entries;

    @Option(names = "--noops", defaultValue = "1", description = "no-ops of leaders")
    private int noops;

    @Option(names = "--elections", defaultValue = "1", description = "leaders")
    private int elections;

    @Option(names = "--crashes", defaultValue = "0", description = "losses of power")
    private int crashes;

    @Option(
            names = "--kills",
            defaultValue = "0",
            description = "processes that die while their machine continues")
    private int kills;

    @Option(
            names = "--lost-disks",
            defaultValue = "0",
            description = "disks that are lost, each with its server's process")
    private int lostDisks;

    @Option(names = "--pins", defaultValue = "0", description = "orders to stay slow")
    private int pins;

    @Option(
            names = "--drains",
            defaultValue = "0",
            description = "times that proposals are held back")
    private int drains;

    @Option(
            names = "--misses",
            defaultValue = "0",
            description = "heartbeats of one follower that are missed")
    private int misses;

    @Option(
            names = "--pauses",
            defaultValue = "0",
            description = "times that a fast leader's process stands still")
    private int pauses;

    @Option(names = "--suspicions", defaultValue = "0", description = "switches to slow mode")
    private int suspicions;

    @Option(names = "--confirmations", defaultValue = "0", description = "switches to fast mode")
    private int confirmations;

    @Option(
            names = "--disconnects",
            defaultValue = "0",
            description = "connections that break, and leaders that give up")
    private int disconnects;

    @Option(names = "--forces", defaultValue = "0", description = "fsyncs by a flush")
    private int forces;

    @Option(names = "--syncs", defaultValue = "0", description = "syncs that clients ask for")
    private int syncs;

    @Option(
            names = "--partial-crashes",
            description = "a crash may leave a part of what was not synced")
    private boolean partialCrashes;

    @Option(
            names = "--kills-while-joining",
            description = "a process may also die while it logs its leader's history")
    private boolean killsWhileJoining;

    @Option(names = "--break", description = "a rule that does not hold: ${COMPLETION-CANDIDATES}")
    private Set<BrokenRule> broken = EnumSet.noneOf(BrokenRule.class);

    @Option(
            names = "--from",
            defaultValue = "START",
            description = {
                "where the search begins, whose steps are free of charge: a scenario's file, or",
                "START    nothing has happened yet (default)",
                "SLOW     everybody follows server 1, in slow mode",
                "ON_DISKS slow; a no-op is committed, and on all disks",
                "FAST     the same, and the mode is fast",
                "ACKED    fast; 2's ack of an entry is unread, which 3 and more lack",
                "COMMITTED  the same, and the entry is in all logs and committed",
                "SLOW_COMMITTED  slow; an entry is committed, and on all disks",
                "ON_OTHERS  slow; an entry is committed that the leader's log lacks",
                "LEFT     slow; 2 has left, and 3's ack of an entry is unread",
                "SEALED   a view is sealed that lacks the last server; fast with five or more"
            })
    private String from;

    @Option(names = "--liveness", description = "run every state on without faults, too")
    private boolean liveness;

    @Option(
            names = "--unreduced",
            description =
                    "look at every order of independent steps, too: slower, and a counterexample"
                            + " is one of the shortest")
    private boolean unreduced;

    @Option(names = "--threads", description = "how many work (default: one per core)")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--states", defaultValue = "1000000000", description = "give up after so many")
    private long states;

    @Option(names = "--minutes", defaultValue = "20", description = "give up after so many")
    private long minutes;

    @Option(names = "--save", description = "where a counterexample is written")
    private Path save;

    /** The command line. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new ModelCommand()).execute(args));
    }

    @Override
    public Integer call() throws IOException {
        if (servers < FEWEST_SERVERS || servers > MOST_SERVERS) {
            throw new ParameterException(
                    spec.commandLine(), "--servers is " + servers + "; allowed are 3 to 7");
        }
        Bounds bounds =
                new Bounds(
                        entries,
                        noops,
                        elections,
                        crashes,
                        suspicions,
                        confirmations,
                        disconnects,
                        forces,
                        syncs,
                        kills,
                        lostDisks,
                        pins,
                        drains,
                        misses,
                        pauses,
                        partialCrashes,
                        killsWhileJoining);
        Task task =
                new Task(
                        servers,
                        bounds,
                        broken,
                        prefix(),
                        !unreduced,
                        liveness,
                        threads,
                        states,
                        TimeUnit.MINUTES.toNanos(minutes));
        System.out.println(servers + " servers, " + bounds + ", broken: " + broken);
        long started = System.nanoTime();
        Result result = new ModelChecker(task, ModelCommand::report).run();
        System.out.printf(
                "%s: %,d states, %,d steps, depth %d, %.1f s%n",
                result.complete() ? "complete" : "not complete",
                result.states(),
                result.transitions(),
                result.depth(),
                (System.nanoTime() - started) / 1e9);
        if (result.violation() == null) {
            System.out.println("no violation");
            return 0;
        }
        List<String> scenario = Scenario.replay(scenario(result));
        if (save != null) {
            Files.write(save, scenario);
        }
        scenario.forEach(System.out::println);
        return 1;
    }

    private List<String> prefix() throws IOException {
        for (StartingPoint each : StartingPoint.values()) {
            if (each.name().equals(from)) {
                return Scenario.steps(servers, broken, each.steps(servers));
            }
        }
        try {
            return Scenario.steps(servers, broken, Files.readAllLines(Path.of(from)));
        } catch (NoSuchFileException e) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--from: there is no file %s, and the names are %s"
                            .formatted(from, Arrays.toString(StartingPoint.values())),
                    e);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    spec.commandLine(),
                    ("--from %s, %s; allowed are 'world N', steps as a counterexample"
                                    + " has them, and comments (#)")
                            .formatted(from, e.getMessage()),
                    e);
        }
    }

    private List<String> scenario(Result result) {
        List<String> lines = new ArrayList<>();
        lines.add("# " + result.violation() + " after " + result.steps().size() + " steps");
        StringBuilder first = new StringBuilder("world " + servers);
        if (!broken.isEmpty()) {
            first.append(" breaking");
            broken.forEach(rule -> first.append(' ').append(rule));
        }
        lines.add(first.toString());
        lines.addAll(result.steps());
        if (liveness) {
            lines.add("alone");
        }
        if (!broken.isEmpty()) {
            lines.add("intact");
        }
        return lines;
    }

    private static void report(long states, long waiting, int depth, long nanos) {
        System.err.printf(
                "%,d states, %,d waiting, depth %d, %,.0f states/s%n",
                states, waiting, depth, states / (nanos / 1e9));
    }
}
