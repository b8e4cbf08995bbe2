package io.saucr.apache;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.apache.Comparison.Verdict;
import io.saucr.apache.fork.Activity;
import io.saucr.apache.fork.TestResult;
import io.saucr.apache.fork.TestResult.State;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The subset {@code ci} of ZooKeeper's own tests, and in the long test the subset {@code more}, on
 * our server, SAUCR off and on. On Apache's jar a class runs only when it does not pass on ours:
 * what passes there must pass here. A test that may differ with SAUCR on is left out there: it
 * waits for its time limit, and proves nothing. The classes run in JVMs of their own, several at a
 * time, on ports that they take for granted: no other test runs beside it.
 */
class ApacheTestsIT {
    /** They wait most of the time. */
    private static final int FORKS = 6;

    private static final int ATTEMPTS = 2;
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Path FOLDER =
            Path.of(System.getProperty("saucr.tests.target")).toAbsolutePath();
    private static final Path LIBRARIES = FOLDER.resolve("lib");

    /** One class in one column. */
    private record Job(String testClass, Column column) {}

    private static final Map<Job, Future<ClassResult>> results = new LinkedHashMap<>();
    private static final BlockingQueue<Integer> freeForks = new ArrayBlockingQueue<>(FORKS);
    private static Exclusions exclusions;
    private static ForkedClass forked;
    private static ExecutorService threads;

    @BeforeAll
    static void start() throws IOException {
        exclusions = Exclusions.ofThisProject();
        forked =
                new ForkedClass(
                        LIBRARIES,
                        FOLDER.resolve("classes"),
                        Arrays.stream(
                                        System.getProperty("saucr.tests.server")
                                                .split(File.pathSeparator, -1))
                                .map(Path::of)
                                .map(Path::toAbsolutePath)
                                .toList(),
                        FOLDER.resolve("ci"),
                        new TestKeys(FOLDER.resolve("ci")),
                        FORKS,
                        LIMIT,
                        false,
                        "");
        IntStream.rangeClosed(1, FORKS).forEach(freeForks::add);
        threads = Executors.newFixedThreadPool(FORKS);
        jobs();
    }

    @AfterAll
    static void stop() {
        threads.shutdownNow();
    }

    private static Future<ClassResult> submit(Job job) {
        return threads.submit(
                () -> {
                    int fork = freeForks.take();
                    try {
                        return forked.run(job.testClass, job.column, fork, leftOut(job), ATTEMPTS);
                    } finally {
                        freeForks.add(fork);
                    }
                });
    }

    private static Set<String> leftOut(Job job) {
        Set<String> methods = new HashSet<>(exclusions.excludedMethods(job.testClass));
        if (job.column == Column.ON) {
            methods.addAll(exclusions.differingMethods(job.testClass));
        }
        return methods;
    }

    static Stream<Arguments> jobs() throws IOException {
        return begun("ci");
    }

    static Stream<Arguments> moreJobs() throws IOException {
        return begun("more");
    }

    /** Each class of a subset in each column; what has not begun yet does. */
    private static Stream<Arguments> begun(String subset) throws IOException {
        List<Job> jobs =
                Subset.named(subset).reasons().keySet().stream()
                        .flatMap(
                                name ->
                                        Stream.of(Column.ON, Column.OFF)
                                                .map(column -> new Job(name, column)))
                        .toList();
        jobs.forEach(job -> results.computeIfAbsent(job, ApacheTestsIT::submit));
        return jobs.stream().map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("jobs")
    void whatPassesOnStockPassesOnOurs(Job job) throws Exception {
        passesOnOurs(job);
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("moreJobs")
    void whatElsePassesOnStockPassesOnOurs(Job job) throws Exception {
        passesOnOurs(job);
    }

    private static void passesOnOurs(Job job) throws Exception {
        ClassResult off = results.get(new Job(job.testClass, Column.OFF)).get();
        ClassResult on = results.get(new Job(job.testClass, Column.ON)).get();
        assertThat(off.tests()).isNotEmpty();
        if (passes(off) && passes(on) && names(off).equals(names(on))) {
            return;
        }
        // Beside five others some of ZooKeeper's tests are too late: what failed runs again alone.
        for (Future<ClassResult> result : List.copyOf(results.values())) {
            result.get();
        }
        Map<Column, ClassResult> alone = new EnumMap<>(Column.class);
        for (Column column : List.of(Column.STOCK, Column.OFF, Column.ON)) {
            alone.put(column, submit(new Job(job.testClass, column)).get());
        }
        assertThat(Comparison.of(List.copyOf(alone.values()), exclusions).rows())
                .as(details(alone.get(job.column)))
                .noneMatch(
                        row ->
                                row.verdict() == Verdict.DIFFERS
                                        && !row.states().get(job.column).good());
    }

    private static boolean passes(ClassResult result) {
        return result.tests().stream()
                .allMatch(test -> test.state().good() || test.state() == State.SKIPPED);
    }

    /** The tests that have run, but for those that may differ with SAUCR on. */
    private static Set<String> names(ClassResult result) {
        return result.tests().stream()
                .map(TestResult::test)
                .filter(test -> exclusions.reasonToDiffer(result.testClass(), test).isEmpty())
                .collect(Collectors.toSet());
    }

    private static String details(ClassResult result) {
        return result.tests().stream()
                .filter(test -> test.state().bad())
                .map(test -> test.test() + " " + test.state() + ": " + test.detail())
                .collect(Collectors.joining("\n"));
    }

    @Test
    void saucrWasOn() throws Exception {
        Activity sum = Activity.NONE;
        for (Map.Entry<Job, Future<ClassResult>> result : results.entrySet()) {
            if (result.getKey().column == Column.ON) {
                sum = sum.plus(result.getValue().get().activity());
            }
        }
        System.out.println("ZooKeeper's own tests, SAUCR on: " + sum);
        assertThat(sum.peers()).isGreaterThan(50);
        assertThat(sum.fastCommits()).isGreaterThan(50);
    }

    @Test
    void everyClassOfTheSubsetExists() throws Exception {
        for (String subset : List.of("ci", "more")) {
            assertThat(ApacheTestsCommand.classes(LIBRARIES, "."))
                    .containsAll(Subset.named(subset).reasons().keySet());
        }
    }
}
