package io.saucr.crash;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.crash.campaign.Campaign;
import io.saucr.crash.campaign.FaultPlan;
import io.saucr.crash.campaign.Outcome;
import io.saucr.crash.campaign.Sequence;
import io.saucr.crash.campaign.SequenceGenerator;
import io.saucr.crash.campaign.SystemUnderTest;
import io.saucr.crash.campaign.Verdict;
import io.saucr.crash.campaign.Workbench;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command line of the crash tester. */
@Command(
        name = "saucr-crash",
        description = "Crashes real ZooKeeper servers along sequences of cluster states.",
        mixinStandardHelpOptions = true,
        subcommands = {
            CrashCommand.Generate.class,
            CrashCommand.Run.class,
            CrashCommand.Replay.class,
            CrashCommand.Compare.class,
            AllCommand.class,
            NemesisCommand.class,
            CheckCommand.class,
            Figure11Command.class,
            ReportCommand.class
        },
        footer = {
            "",
            "Exit status: 0 nothing lost; 1 the test itself failed; 2 wrong usage; 3 acknowledged"
                    + " writes were lost; 4 a system did not serve, and nothing explains it."
        })
public final class CrashCommand implements Runnable {
    static final int STATUS_LOST = 3;
    static final int STATUS_UNAVAILABLE = 4;

    private final String[] arguments;

    @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

    private CrashCommand(String[] arguments) {
        this.arguments = arguments.clone();
    }

    public static void main(String[] arguments) {
        // Silences the client library's log; must be set before it is loaded.
        System.setProperty("logback.configurationFile", "io/saucr/crash/quiet-logback.xml");
        System.setProperty("java.awt.headless", "true"); // plots are drawn without a screen
        System.exit(execute(arguments));
    }

    /** Runs one command line; returns its exit status. */
    static int execute(String... arguments) {
        // Clients with TLS read theirs, see Encryption.
        Properties before = (Properties) System.getProperties().clone();
        try {
            return new CommandLine(new CrashCommand(arguments))
                    .setCaseInsensitiveEnumValuesAllowed(true)
                    .setExecutionExceptionHandler(
                            (failure, line, parsed) -> {
                                for (Throwable t = failure; t != null; t = t.getCause()) {
                                    line.getErr()
                                            .println(t == failure ? "" + t.getMessage() : "  " + t);
                                }
                                return 1;
                            })
                    .execute(arguments);
        } finally {
            System.setProperties(before);
        }
    }

    /** The arguments that this program was started with. */
    List<String> arguments() {
        return List.of(arguments);
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "which command?");
    }

    /** Options: which sequences are run. */
    static final class Generation {
        @Mixin private ServersOption ensemble;

        @Option(names = "--count", defaultValue = "10", description = "Default: ${DEFAULT-VALUE}.")
        int count;

        @Option(names = "--seed", defaultValue = "1", description = "Default: ${DEFAULT-VALUE}.")
        long seed;

        List<Sequence> sequences() {
            return new SequenceGenerator(ensemble.servers, seed).generate(count);
        }
    }

    /** Options: which systems are tested, for commands that leave the choice. */
    static final class ChosenSystems {
        @Option(
                names = "--system",
                split = ",",
                defaultValue = "zk-disk",
                description =
                        "One or more of " + SystemOptions.NAMES + ". Default: ${DEFAULT-VALUE}.")
        List<String> systems;
    }

    /** Options: how the sequences are carried out, and on what. */
    static final class Conditions {
        @Option(
                names = "--order",
                split = ",",
                defaultValue = "LEADER_FIRST",
                description = "One or more of ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
        List<FaultPlan.Order> orders;

        @Option(
                names = "--gap",
                defaultValue = "50",
                description =
                        "Milliseconds between the power cuts of one step. Default:"
                                + " ${DEFAULT-VALUE}.")
        long gapMillis;

        @Option(
                names = "--idle",
                defaultValue = "0",
                description = "Milliseconds without writes before each fault.")
        long idleMillis;

        @Option(
                names = "--young",
                description =
                        "Do not make the first snapshot durable, which stock ZooKeeper leaves"
                                + " unforced.")
        boolean young;

        @Option(
                names = "--steady",
                description =
                        "Each fault waits until servers of the system saucr are in fast mode with"
                                + " everyone who is up, and, with --idle, have everything on disk.")
        boolean steady;

        @Option(names = "--log-folder", description = "Logs in a folder of their own (dataLogDir).")
        boolean logFolder;

        List<FaultPlan> plans() {
            FaultPlan basis = FaultPlan.oneByOne();
            FaultPlan chosen =
                    new FaultPlan(
                            basis.order(),
                            Duration.ofMillis(gapMillis),
                            young,
                            Duration.ofMillis(idleMillis),
                            basis.dwell(),
                            basis.settle(),
                            basis.patience(),
                            steady,
                            logFolder,
                            basis.seed());
            return orders.stream().map(chosen::withOrder).toList();
        }
    }

    /** What all commands that crash servers share. */
    abstract static class Crashing implements Callable<Integer> {
        @CommandLine.ParentCommand private CrashCommand command;
        @Mixin private MachineOptions machines;
        @Mixin private SystemOptions systemOptions;
        @Mixin private Conditions conditions;

        abstract List<Sequence> sequences() throws IOException;

        abstract List<String> systems();

        @Override
        public Integer call() throws Exception {
            List<String> names = new ArrayList<>(systems());
            final boolean model = names.remove("vr-ideal");
            List<SystemUnderTest> systems = new ArrayList<>();
            for (String name : names) {
                systems.add(systemOptions.system(name, machines.out));
            }
            List<Sequence> sequences = sequences();
            List<FaultPlan> plans = conditions.plans();
            return machines.run(
                    command.arguments(),
                    backend -> {
                        Workbench bench = new Workbench(machines.out, backend, System.out);
                        Campaign campaign = new Campaign(bench);
                        if (model) {
                            campaign.model(plans, sequences);
                        }
                        try {
                            return status(campaign.run(systems, plans, sequences));
                        } finally {
                            ReportCommand.write(machines.out);
                        }
                    });
        }
    }

    private static int status(List<Outcome> outcomes) {
        if (outcomes.stream().anyMatch(o -> o.verdict() == Verdict.DATA_LOSS)) {
            return STATUS_LOST;
        }
        return outcomes.stream().anyMatch(o -> o.verdict() == Verdict.UNAVAILABLE)
                ? STATUS_UNAVAILABLE
                : 0;
    }

    @Command(
            name = "generate",
            description = "Prints seeded sequences, one a line, or as JSON.",
            mixinStandardHelpOptions = true)
    static final class Generate implements Callable<Integer> {
        @Mixin private Generation generation;

        @Option(names = "--json", description = "As a JSON array.")
        private boolean json;

        @Override
        public Integer call() throws IOException {
            List<Sequence> sequences = generation.sequences();
            if (json) {
                System.out.println(new ObjectMapper().writeValueAsString(sequences));
            } else {
                sequences.forEach(System.out::println);
            }
            return 0;
        }
    }

    @Command(
            name = "run",
            description = "Runs generated sequences against chosen systems.",
            mixinStandardHelpOptions = true)
    static final class Run extends Crashing {
        @Mixin private Generation generation;

        @Mixin private ChosenSystems chosen;

        @Override
        List<Sequence> sequences() {
            return generation.sequences();
        }

        @Override
        List<String> systems() {
            return chosen.systems;
        }
    }

    @Command(
            name = "replay",
            description = "Runs given sequences.",
            mixinStandardHelpOptions = true)
    static final class Replay extends Crashing {
        @Parameters(description = "Sequences such as \"12345>345>12345\".")
        private List<String> given = List.of();

        @Option(
                names = "--file",
                description = "Sequences, one a line or as a JSON array; # begins a comment.")
        private Path file;

        @Option(
                names = "--times",
                defaultValue = "1",
                description =
                        "Each sequence so many times over, by the same servers. Default:"
                                + " ${DEFAULT-VALUE}.")
        private int times;

        @Mixin private ChosenSystems chosen;

        @Override
        List<Sequence> sequences() throws IOException {
            List<String> texts = new ArrayList<>(given);
            if (file != null) {
                String content = Files.readString(file);
                if (content.trim().startsWith("[")) {
                    texts.addAll(List.of(new ObjectMapper().readValue(content, String[].class)));
                } else {
                    content.lines()
                            .map(line -> line.replaceAll("#.*", "").trim())
                            .filter(line -> !line.isEmpty())
                            .forEach(texts::add);
                }
            }
            if (texts.isEmpty()) {
                throw new IOException("no sequence given");
            }
            return texts.stream().map(text -> Sequence.parse(text).times(times)).toList();
        }

        @Override
        List<String> systems() {
            return chosen.systems;
        }
    }

    @Command(
            name = "compare",
            description = "Runs generated sequences against all systems side by side.",
            mixinStandardHelpOptions = true)
    static final class Compare extends Crashing {
        @Mixin private Generation generation;

        @Override
        List<Sequence> sequences() {
            return generation.sequences();
        }

        @Override
        List<String> systems() {
            return List.of("zk-mem", "vr-ideal", "zk-disk", "saucr");
        }
    }
}
