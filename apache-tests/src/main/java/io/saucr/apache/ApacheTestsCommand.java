package io.saucr.apache;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Runs ZooKeeper's own published tests on Apache's jar and on ours, SAUCR off and on, and reports
 * the differences. An interrupted run can be continued.
 */
@Command(
        name = "saucr-apache-tests",
        mixinStandardHelpOptions = true,
        description = "Runs ZooKeeper's own published tests on stock and on SAUCR ZooKeeper.",
        subcommands = {
            ApacheTestsCommand.Run.class,
            ApacheTestsCommand.Report.class,
            ApacheTestsCommand.Names.class
        })
public final class ApacheTestsCommand implements Runnable {
    private static final int DIFFERENT = 2;

    @Spec private CommandSpec spec;

    public static void main(String[] args) {
        System.exit(
                new CommandLine(new ApacheTestsCommand())
                        .setCaseInsensitiveEnumValuesAllowed(true)
                        .execute(args));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "say what to do: run, report or list");
    }

    /** Which classes there are. */
    static List<String> classes(Path libraries, String pattern) throws IOException {
        Pattern wanted = Pattern.compile(pattern);
        try (ZipFile tests = new ZipFile(testsJar(libraries).toFile())) {
            return tests.stream()
                    .map(ZipEntry::getName)
                    .filter(name -> name.endsWith("Test.class") && !name.contains("$"))
                    .map(name -> name.substring(0, name.length() - 6).replace('/', '.'))
                    .filter(name -> wanted.matcher(name).find())
                    .sorted()
                    .toList();
        }
    }

    private static Path testsJar(Path libraries) throws IOException {
        try (var jars = Files.list(libraries)) {
            return jars.filter(jar -> jar.toString().endsWith("-tests.jar"))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no *-tests.jar in " + libraries));
        }
    }

    /** Where everything is. */
    static final class Places {
        @Option(
                names = "--libraries",
                required = true,
                description = "Folder with Apache's jar, its tests and what they need.")
        private Path libraries;

        @Option(
                names = "--out",
                required = true,
                description = "Folder for results; a run continues with those that are there.")
        private Path out;

        @Option(
                names = "--classes",
                defaultValue = ".",
                description = "Regular expression that a class's full name contains.")
        private String pattern;

        @Spec(Spec.Target.MIXEE)
        private CommandSpec command;

        @Option(
                names = "--subset",
                description = "Only the classes of the project's subset of this name: ci or more.")
        private String subset;

        /** What is asked for, of what there is. */
        private List<String> classes() throws IOException {
            List<String> found = ApacheTestsCommand.classes(libraries, pattern);
            if (subset == null) {
                return found;
            }
            try {
                Subset wanted = Subset.named(subset);
                return found.stream().filter(wanted::contains).toList();
            } catch (IllegalArgumentException e) {
                throw new ParameterException(command.commandLine(), e.getMessage(), e);
            }
        }

        private Path file(String testClass, Column column) {
            return out.resolve("results").resolve(column + "-" + testClass + ".json");
        }

        private Comparison comparison() throws IOException {
            List<ClassResult> results = new ArrayList<>();
            for (String testClass : classes()) {
                for (Column column : Column.values()) {
                    Path file = file(testClass, column);
                    if (Files.exists(file)) {
                        results.add(new ObjectMapper().readValue(file.toFile(), ClassResult.class));
                    }
                }
            }
            return Comparison.of(results, Exclusions.ofThisProject());
        }

        /** The exit status that the results deserve. */
        private int status(Comparison comparison) {
            return comparison.count(Comparison.Verdict.DIFFERS) == 0 ? 0 : DIFFERENT;
        }
    }

    /** Prints the names. */
    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Lists the test classes of Apache's artifact.")
    static final class Names implements Callable<Integer> {
        @Mixin private Places places;

        @Override
        public Integer call() throws IOException {
            places.classes().forEach(System.out::println);
            return 0;
        }
    }

    /** Shows results. */
    @Command(
            name = "report",
            mixinStandardHelpOptions = true,
            description = "Compares the results that are there; exit status 2 if ours is worse.")
    static final class Report implements Callable<Integer> {
        enum Format {
            TEXT,
            JSON,
            HTML
        }

        @Mixin private Places places;

        @Option(
                names = "--format",
                defaultValue = "TEXT",
                description = "${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
        private Format format;

        @Override
        public Integer call() throws IOException {
            Comparison comparison = places.comparison();
            System.out.println(
                    switch (format) {
                        case TEXT -> comparison.text();
                        case JSON -> comparison.json();
                        case HTML -> comparison.html();
                    });
            return places.status(comparison);
        }
    }

    /** Runs classes. */
    @Command(
            name = "run",
            mixinStandardHelpOptions = true,
            description =
                    "Runs what has no result yet, then compares; exit status 2 if ours is worse.")
    static final class Run implements Callable<Integer> {
        @Mixin private Places places;

        @Option(
                names = "--server",
                required = true,
                split = ":",
                description = "Our server's jars, separated by colons.")
        private List<Path> server;

        @Option(
                names = "--own-classes",
                required = true,
                description = "This project's compiled tests.")
        private Path ownClasses;

        @Option(
                names = "--columns",
                split = ",",
                description = "Which, by default all: ${COMPLETION-CANDIDATES}.")
        private Set<Column> columns = EnumSet.allOf(Column.class);

        @Option(names = "--forks", defaultValue = "2", description = "JVMs at a time.")
        private int forks;

        @Option(
                names = "--limit-seconds",
                defaultValue = "1800",
                description = "Time for one class, default ${DEFAULT-VALUE}.")
        private int limitSeconds;

        @Option(
                names = "--attempts",
                defaultValue = "2",
                description = "How often a class with a failure runs, default ${DEFAULT-VALUE}.")
        private int attempts;

        @Option(
                names = "--method",
                defaultValue = "",
                description = "Run this method alone; its results belong in an --out of their own.")
        private String method;

        @Option(
                names = "--again",
                description = "Run also the classes whose results show a failure.")
        private boolean again;

        @Option(
                names = "--broken",
                description = "Break our commit rule on purpose: the tests must notice.")
        private boolean broken;

        private ForkedClass forked;
        private Exclusions exclusions;
        private int total;
        private int done;
        private long started;

        /** One class in one column. */
        private record Job(String testClass, Column column) {}

        @Override
        public Integer call() throws Exception {
            exclusions = Exclusions.ofThisProject();
            Files.createDirectories(places.out.resolve("results"));
            forked =
                    new ForkedClass(
                            places.libraries.toAbsolutePath(),
                            ownClasses.toAbsolutePath(),
                            server.stream().map(Path::toAbsolutePath).toList(),
                            places.out.toAbsolutePath(),
                            new TestKeys(places.out.toAbsolutePath()),
                            forks,
                            Duration.ofSeconds(limitSeconds),
                            broken,
                            method);
            List<Job> jobs = jobs();
            total = jobs.size();
            started = System.nanoTime();
            execute(jobs);
            Comparison comparison = places.comparison();
            Files.writeString(places.out.resolve("report.html"), comparison.html());
            Files.writeString(places.out.resolve("report.json"), comparison.json());
            System.out.println(comparison.text());
            return places.status(comparison);
        }

        private List<Job> jobs() throws IOException {
            List<Job> jobs = new ArrayList<>();
            for (String testClass : places.classes()) {
                if (exclusions.excludesClass(testClass)) {
                    continue;
                }
                for (Column column : columns) {
                    Path file = places.file(testClass, column);
                    if (!Files.exists(file)
                            || (again
                                    && !new ObjectMapper()
                                            .readValue(file.toFile(), ClassResult.class)
                                            .good())) {
                        jobs.add(new Job(testClass, column));
                    }
                }
            }
            return jobs;
        }

        private void execute(List<Job> jobs) throws InterruptedException, ExecutionException {
            BlockingQueue<Integer> free = new ArrayBlockingQueue<>(forks);
            Collections.addAll(
                    free, IntStream.rangeClosed(1, forks).boxed().toArray(Integer[]::new));
            ExecutorService threads = Executors.newFixedThreadPool(forks);
            try {
                List<Future<?>> running = new ArrayList<>();
                for (Job job : jobs) {
                    running.add(
                            threads.submit(
                                    () -> {
                                        int fork = free.take();
                                        try {
                                            run(job, fork);
                                        } finally {
                                            free.add(fork);
                                        }
                                        return null;
                                    }));
                }
                for (Future<?> job : running) {
                    job.get();
                }
            } finally {
                threads.shutdownNow();
            }
        }

        private void run(Job job, int fork) throws IOException, InterruptedException {
            Set<String> leftOut = exclusions.excludedMethods(job.testClass);
            ClassResult result = forked.run(job.testClass, job.column, fork, leftOut, attempts);
            save(result);
            report(result);
        }

        private void save(ClassResult result) throws IOException {
            Path file = places.file(result.testClass(), result.column());
            Path half = file.resolveSibling(file.getFileName() + ".half");
            Files.writeString(half, new ObjectMapper().writeValueAsString(result));
            Files.move(
                    half,
                    file,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        }

        private synchronized void report(ClassResult result) {
            done++;
            long bad = result.tests().stream().filter(test -> test.state().bad()).count();
            long elapsedSeconds = Duration.ofNanos(System.nanoTime() - started).toSeconds();
            long leftSeconds = elapsedSeconds * (total - done) / done;
            System.out.printf(
                    "%d/%d %-9s %-70s %3d tests, %d failed, %d s; %d min left%n",
                    done,
                    total,
                    result.column().title(),
                    result.testClass().replace("org.apache.zookeeper.", ""),
                    result.tests().size(),
                    bad,
                    result.millis() / 1000,
                    (leftSeconds + 59) / 60);
        }
    }
}
