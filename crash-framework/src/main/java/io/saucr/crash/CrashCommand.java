package io.saucr.crash;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.crash.campaign.Campaign;
import io.saucr.crash.campaign.FaultPlan;
import io.saucr.crash.campaign.Outcome;
import io.saucr.crash.campaign.Report;
import io.saucr.crash.campaign.Sequence;
import io.saucr.crash.campaign.SequenceGenerator;
import io.saucr.crash.campaign.SystemUnderTest;
import io.saucr.crash.campaign.Verdict;
import io.saucr.crash.fault.Backend;
import io.saucr.crash.fault.Enclosure;
import io.saucr.crash.process.Distribution;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
            CrashCommand.WriteReport.class
        },
        footer = {
            "",
            "Exit status: 0 nothing lost; 1 the test itself failed; 2 wrong usage;"
                    + " 3 acknowledged writes were lost."
        })
public final class CrashCommand implements Runnable {
    private static final int STATUS_LOST = 3;

    private final String[] arguments;

    @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

    private CrashCommand(String[] arguments) {
        this.arguments = arguments.clone();
    }

    public static void main(String[] arguments) {
        // Nothing of the client library's chatter; must be set before it is loaded.
        System.setProperty("logback.configurationFile", "io/saucr/crash/quiet-logback.xml");
        System.exit(execute(arguments));
    }

    /** Runs one command line; returns its exit status. */
    static int execute(String... arguments) {
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
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "which command?");
    }

    /** Which sequences. */
    static final class Generation {
        @Option(
                names = {"-n", "--servers"},
                defaultValue = "5",
                description = "Servers, 3 to 9. Default: ${DEFAULT-VALUE}.")
        int servers;

        @Option(names = "--count", defaultValue = "10", description = "Default: ${DEFAULT-VALUE}.")
        int count;

        @Option(names = "--seed", defaultValue = "1", description = "Default: ${DEFAULT-VALUE}.")
        long seed;

        List<Sequence> sequences() {
            return new SequenceGenerator(servers, seed).generate(count);
        }
    }

    /** How to carry them out, on what. */
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
                names = "--backend",
                description =
                        "${COMPLETION-CANDIDATES}. Default: the best that this machine allows.")
        Backend backend;

        @Option(
                names = "--stock",
                description =
                        "Folder of an unpacked stock ZooKeeper. Default: the release that this"
                                + " program was built with.")
        Path stock;

        @Option(
                names = "--distribution",
                description = "Folder of an unpacked SAUCR distribution, for the system saucr.")
        Path distribution;

        @Option(
                names = "--set",
                description = "KEY=VALUE of zoo.cfg for every system; may be repeated.")
        Map<String, String> settings = new LinkedHashMap<>();

        @Option(
                names = {"-o", "--out"},
                defaultValue = "saucr-crash-out",
                description =
                        "Folder for outcomes, logs and report; a campaign in it is resumed."
                                + " Default: ${DEFAULT-VALUE}.")
        Path out;

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
                            basis.seed());
            return orders.stream().map(chosen::withOrder).toList();
        }

        SystemUnderTest system(String name) throws IOException {
            SystemUnderTest system =
                    switch (name) {
                        case "zk-disk" -> SystemUnderTest.diskDurable(stock());
                        case "zk-mem" -> SystemUnderTest.memoryDurable(stock());
                        case "saucr" -> {
                            if (distribution == null) {
                                throw new IOException("the system saucr needs --distribution");
                            }
                            yield SystemUnderTest.situationAware(Distribution.folder(distribution));
                        }
                        default ->
                                throw new IOException(
                                        "system "
                                                + name
                                                + ": expected zk-disk, zk-mem, saucr or vr-ideal");
                    };
            Map<String, String> all = new LinkedHashMap<>(system.settings());
            all.putAll(settings);
            return new SystemUnderTest(system.name(), system.distribution(), all);
        }

        private Distribution stock() throws IOException {
            return stock == null ? Distribution.stock() : Distribution.folder(stock);
        }
    }

    /** What all commands that crash servers share. */
    abstract static class Crashing implements Callable<Integer> {
        @CommandLine.ParentCommand private CrashCommand command;
        @Mixin private Conditions conditions;

        abstract List<Sequence> sequences() throws IOException;

        abstract List<String> systems();

        @Override
        public Integer call() throws Exception {
            List<String> names = new ArrayList<>(systems());
            final boolean model = names.remove("vr-ideal");
            List<SystemUnderTest> systems = new ArrayList<>();
            for (String name : names) {
                systems.add(conditions.system(name));
            }
            final List<Sequence> sequences = sequences();
            Backend backend = conditions.backend == null ? Backend.best() : conditions.backend;
            if (backend.obstacle().isPresent()) {
                throw new IOException(
                        "the "
                                + backend
                                + " back end does not work here: "
                                + backend.obstacle().get());
            }
            if (backend == Backend.ROOT) {
                if (!Enclosure.inside()) {
                    return Enclosure.run(
                            CrashCommand.class, List.of("-Xmx256m"), List.of(command.arguments));
                }
                Enclosure.enter();
            } else if (conditions.backend == null) {
                System.out.println("no root back end: " + Backend.ROOT.obstacle().orElseThrow());
            }
            Campaign campaign = new Campaign(conditions.out, backend, System.out);
            List<Outcome> outcomes = campaign.run(systems, conditions.plans(), sequences);
            if (model) {
                campaign.model(conditions.plans(), sequences);
                outcomes = campaign.outcomes();
            }
            WriteReport.write(conditions.out, outcomes);
            boolean lost = outcomes.stream().anyMatch(o -> o.verdict() == Verdict.DATA_LOSS);
            return lost ? STATUS_LOST : 0;
        }
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

        @Option(
                names = "--system",
                split = ",",
                defaultValue = "zk-disk",
                description =
                        "One or more of zk-disk, zk-mem, saucr, vr-ideal. Default:"
                                + " ${DEFAULT-VALUE}.")
        private List<String> systems;

        @Override
        List<Sequence> sequences() {
            return generation.sequences();
        }

        @Override
        List<String> systems() {
            return systems;
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
                names = "--system",
                split = ",",
                defaultValue = "zk-disk",
                description =
                        "One or more of zk-disk, zk-mem, saucr, vr-ideal. Default:"
                                + " ${DEFAULT-VALUE}.")
        private List<String> systems;

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
            return texts.stream().map(Sequence::parse).toList();
        }

        @Override
        List<String> systems() {
            return systems;
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

    @Command(
            name = "report",
            description = "Writes report.html and report.json from the outcomes in a folder.",
            mixinStandardHelpOptions = true)
    static final class WriteReport implements Callable<Integer> {
        @Option(
                names = {"-o", "--out"},
                defaultValue = "saucr-crash-out",
                description = "Default: ${DEFAULT-VALUE}.")
        private Path out;

        @Override
        public Integer call() throws IOException {
            if (!Files.exists(out.resolve(Campaign.OUTCOMES))) {
                throw new IOException(out + " holds no " + Campaign.OUTCOMES);
            }
            write(out, new Campaign(out, Backend.UNPRIVILEGED, System.out).outcomes());
            return 0;
        }

        static void write(Path folder, List<Outcome> outcomes) throws IOException {
            Path page = folder.resolve("report.html");
            Files.writeString(page, Report.html(outcomes));
            new ObjectMapper()
                    .writerWithDefaultPrettyPrinter()
                    .writeValue(folder.resolve("report.json").toFile(), outcomes);
            System.out.println("report: " + page);
        }
    }
}
