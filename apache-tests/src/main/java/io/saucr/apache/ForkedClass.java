package io.saucr.apache;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.apache.fork.Activity;
import io.saucr.apache.fork.OneClass;
import io.saucr.apache.fork.TestResult;
import io.saucr.apache.fork.TestResult.State;
import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Runs test classes, each in a JVM and an empty folder of its own, as ZooKeeper's build does.
 * Thread-safe.
 *
 * @param libraries folder with Apache's jar, its tests and what they need
 * @param classes this project's compiled tests, which hold {@link OneClass}
 * @param server our jars, in the place of Apache's
 * @param keys that the classes find
 * @param forks how many run at a time: ZooKeeper's tests divide the ports by that number
 * @param limit for one class
 * @param broken whether the commit rule is broken in the column with SAUCR on
 * @param onlyMethod the only method to run, or empty
 */
record ForkedClass(
        Path libraries,
        Path classes,
        List<Path> server,
        Path work,
        TestKeys keys,
        int forks,
        Duration limit,
        boolean broken,
        String onlyMethod) {
    private static final String STOCK_JAR = "zookeeper-3.9.5.jar";
    private static final String SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
    private static final Duration TIME_FOR_STACKS = Duration.ofSeconds(2);

    /**
     * Runs the class, and again while it shows a failure.
     *
     * @param fork 1 to {@link #forks}, of no other class that runs now
     * @param attempts how often at most, 1 or more
     */
    ClassResult run(String testClass, Column column, int fork, Set<String> leftOut, int attempts)
            throws IOException, InterruptedException {
        ClassResult result = once(testClass, column, fork, leftOut);
        for (int attempt = 2; attempt <= attempts && !result.good(); attempt++) {
            result = result.then(once(testClass, column, fork, leftOut));
        }
        return result;
    }

    private ClassResult once(String testClass, Column column, int fork, Set<String> leftOut)
            throws IOException, InterruptedException {
        Path folder = work.resolve(column + "-" + testClass);
        delete(folder);
        Files.createDirectories(folder.resolve("data"));
        keys.copyTo(folder);
        Path results = folder.resolve("results");
        Path output = output(testClass, column);
        Files.createDirectories(output.getParent());
        long started = System.nanoTime();
        Process process =
                new ProcessBuilder(command(testClass, column, fork, leftOut, results))
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        boolean ended;
        try {
            ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
            if (!ended) {
                printStacks(process);
            }
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
        ClassResult result =
                read(testClass, column, millis, results, ended, process.exitValue(), output);
        delete(folder);
        if (result.good()) {
            Files.delete(output);
        }
        return result;
    }

    /** Where a class that failed left what it printed. */
    Path output(String testClass, Column column) {
        return work.resolve("output").resolve(column + "-" + testClass + ".txt");
    }

    private List<String> command(
            String testClass, Column column, int fork, Set<String> leftOut, Path results)
            throws IOException {
        OneClass.Servers servers =
                column != Column.ON
                        ? OneClass.Servers.AS_THEY_ARE
                        : broken
                                ? OneClass.Servers.BROKEN_COMMIT_RULE
                                : OneClass.Servers.SITUATION_AWARE;
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-Xmx512m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xshare:auto",
                        "-Djdk.attach.allowAttachSelf=true",
                        "-XX:+EnableDynamicAgentLoading",
                        "-javaagent:" + only("jmockit-"),
                        "-Dtest.junit.threads=" + forks,
                        "-Dzookeeper.junit.threadid=" + fork,
                        "-Dbuild.test.dir=" + results.resolveSibling("data"),
                        "-Dzookeeper.DigestAuthenticationProvider.superDigest=" + SUPER_DIGEST,
                        "-Dlogback.configurationFile=io/saucr/apache/fork-logback.xml"));
        if (column == Column.ON) {
            command.add("-Dzookeeper.saucr.enabled=true");
        }
        command.addAll(
                List.of(
                        "-cp",
                        classPath(column),
                        OneClass.class.getName(),
                        testClass,
                        results.toString(),
                        servers.name(),
                        onlyMethod));
        command.addAll(leftOut);
        return command;
    }

    private String classPath(Column column) throws IOException {
        List<String> path = new ArrayList<>();
        path.add(classes.toString());
        if (column != Column.STOCK) {
            server.forEach(jar -> path.add(jar.toString()));
        }
        try (var jars = Files.list(libraries)) {
            jars.filter(
                            jar ->
                                    column == Column.STOCK
                                            || !jar.getFileName().toString().equals(STOCK_JAR))
                    .sorted()
                    .forEach(jar -> path.add(jar.toString()));
        }
        return String.join(File.pathSeparator, path);
    }

    private Path only(String prefix) throws IOException {
        try (var jars = Files.list(libraries)) {
            return jars.filter(jar -> jar.getFileName().toString().startsWith(prefix))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no " + prefix + "*.jar in " + libraries));
        }
    }

    private static void printStacks(Process process) throws IOException, InterruptedException {
        new ProcessBuilder("sh", "-c", "kill -QUIT " + process.pid()).start().waitFor();
        process.waitFor(TIME_FOR_STACKS.toMillis(), TimeUnit.MILLISECONDS);
    }

    private ClassResult read(
            String testClass,
            Column column,
            long millis,
            Path results,
            boolean ended,
            int status,
            Path output)
            throws IOException {
        ObjectMapper json = new ObjectMapper();
        List<TestResult> tests = new ArrayList<>();
        Activity activity = null;
        if (Files.exists(results)) {
            for (String line : Files.readAllLines(results)) {
                if (line.startsWith(OneClass.END)) {
                    activity =
                            json.readValue(line.substring(OneClass.END.length()), Activity.class);
                } else if (line.endsWith("}")) {
                    tests.add(
                            json.readValue(
                                    line.substring(OneClass.RESULT.length()), TestResult.class));
                }
            }
        }
        if (activity == null) {
            tests.add(
                    new TestResult(
                            TestResult.WHOLE_CLASS,
                            ended ? State.CRASHED : State.TIMED_OUT,
                            millis,
                            ended
                                    ? "the JVM ended with status " + status + "; see " + output
                                    : "not done after "
                                            + limit.toSeconds()
                                            + " s; all stacks are in "
                                            + output));
        }
        return new ClassResult(
                testClass, column, millis, tests, activity == null ? Activity.NONE : activity);
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        Files.walkFileTree(
                folder,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                            throws IOException {
                        Files.delete(file);
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path visited, IOException error)
                            throws IOException {
                        Files.delete(visited);
                        return FileVisitResult.CONTINUE;
                    }
                });
    }
}
