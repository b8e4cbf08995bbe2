package io.saucr.suites;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Table;
import io.saucr.suites.Outcome.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code bin/saucr-client-suites}. */
@Command(
        name = "saucr-client-suites",
        mixinStandardHelpOptions = true,
        description = "Runs other projects' client suites on Apache's servers and on ours.",
        subcommands = {ClientSuitesCommand.Run.class, ClientSuitesCommand.Report.class})
public final class ClientSuitesCommand implements Runnable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int DIFFERENT = 2;

    @Spec private CommandSpec spec;

    public static void main(String[] args) {
        System.exit(
                new CommandLine(new ClientSuitesCommand())
                        .setCaseInsensitiveEnumValuesAllowed(true)
                        .execute(args));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "say what to do: run or report");
    }

    /** Where the results are. */
    static final class Results {
        @Option(
                names = "--out",
                defaultValue = "client-suites/target/out",
                description = "Folder for suites and results; default ${DEFAULT-VALUE}.")
        private Path out;

        private Path file(Suite suite, Column column) {
            return out.resolve("results").resolve(column + "-" + suite + ".json");
        }

        /** Of a run of some tests, the results of the others stay. */
        private void keep(Suite suite, Column column, Outcome outcome, boolean all)
                throws IOException {
            Path file = file(suite, column);
            Files.createDirectories(file.getParent());
            Outcome kept = outcome;
            if (!all && Files.exists(file)) {
                kept = JSON.readValue(file.toFile(), Outcome.class).replacedBy(outcome);
            }
            JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), kept);
        }

        private Map<Column, Outcome> of(Suite suite) throws IOException {
            Map<Column, Outcome> outcomes = new EnumMap<>(Column.class);
            for (Column column : Column.values()) {
                Path file = file(suite, column);
                if (Files.exists(file)) {
                    outcomes.put(column, JSON.readValue(file.toFile(), Outcome.class));
                }
            }
            return outcomes;
        }

        /**
         * Prints all that is there.
         *
         * @return the exit status: 2 if a test passes on Apache's servers and not on ours
         */
        private int print() throws IOException {
            Table table = Table.ofNumbers("suite", "column", "passed", "failed", "skipped");
            Table different = new Table("suite", "test", "apache", "saucr", "killed");
            boolean worse = false;
            for (Suite suite : Suite.values()) {
                Map<Column, Outcome> outcomes = of(suite);
                Set<String> tests = new TreeSet<>();
                outcomes.forEach(
                        (column, outcome) -> {
                            table.row(
                                    suite.version(),
                                    column.toString(),
                                    Long.toString(outcome.count(Result.PASSED)),
                                    Long.toString(outcome.count(Result.FAILED)),
                                    Long.toString(outcome.count(Result.SKIPPED)));
                            tests.addAll(outcome.tests().keySet());
                        });
                for (String test : tests) {
                    List<String> row =
                            Stream.of(Column.values()).map(c -> result(outcomes, c, test)).toList();
                    if (row.contains("FAILED")
                            || row.stream().filter(r -> !r.equals("-")).distinct().count() > 1) {
                        different.row(suite.toString(), test, row.get(0), row.get(1), row.get(2));
                    }
                    worse |= row.get(0).equals("PASSED") && row.get(1).equals("FAILED");
                }
            }
            System.out.println(table);
            System.out.println(different);
            return worse ? DIFFERENT : 0;
        }

        private static String result(Map<Column, Outcome> outcomes, Column column, String test) {
            Outcome outcome = outcomes.get(column);
            Result result = outcome == null ? null : outcome.tests().get(test);
            return result == null ? "-" : result.toString();
        }
    }

    /** Shows results. */
    @Command(
            name = "report",
            mixinStandardHelpOptions = true,
            description = "Shows the results that are there; exit status 2 if ours is worse.")
    static final class Report implements Callable<Integer> {
        @Mixin private Results results;

        @Override
        public Integer call() throws IOException {
            return results.print();
        }
    }

    /** Runs suites. */
    @Command(
            name = "run",
            mixinStandardHelpOptions = true,
            description = "Runs suites, then shows the results; exit status 2 if ours is worse.")
    static final class Run implements Callable<Integer> {
        @Mixin private Results results;

        @Option(
                names = "--suites",
                split = ",",
                description = "Which, by default all: ${COMPLETION-CANDIDATES}.")
        private Set<Suite> suites = EnumSet.allOf(Suite.class);

        @Option(
                names = "--columns",
                split = ",",
                description = "Which, by default all: ${COMPLETION-CANDIDATES}.")
        private Set<Column> columns = EnumSet.allOf(Column.class);

        @Option(
                names = "--tests",
                defaultValue = ".",
                description = "Only tests whose names contain this, in the suite's own way.")
        private String tests;

        @Option(
                names = "--ours",
                required = true,
                hidden = true,
                description = "Our distribution's tarball.")
        private Path ours;

        @Option(
                names = "--apache",
                description = "An unpacked distribution of Apache's, instead of its artifact.")
        private Path apache;

        @Override
        public Integer call() throws IOException, InterruptedException {
            for (Suite suite : suites) {
                for (Column column : columns) {
                    System.out.println(suite.version() + " on " + column);
                    Path work = Files.createDirectories(results.out.resolve("runs")).toRealPath();
                    work = Files.createTempDirectory(work, suite + "-" + column + "-");
                    try (SharedEnsemble ensemble =
                            SharedEnsemble.start(
                                    column,
                                    distribution(column),
                                    work.resolve("ensemble"),
                                    suite.sharesServers())) {
                        boolean all = tests.equals(".");
                        for (String part : suite.parts(tests)) {
                            Path folder = Files.createTempDirectory(work, "part");
                            Outcome outcome = suite.outcome(results.out, folder, part, ensemble);
                            results.keep(suite, column, outcome, all);
                            all = false;
                        }
                    }
                }
            }
            return results.print();
        }

        private Distribution distribution(Column column) throws IOException {
            if (column != Column.APACHE) {
                return Distribution.folder(
                        Distribution.unpack(ours, results.out.toRealPath().resolve("ours")));
            }
            return apache == null ? Distribution.stock() : Distribution.folder(apache);
        }
    }
}
