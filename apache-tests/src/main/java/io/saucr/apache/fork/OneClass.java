package io.saucr.apache.fork;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.apache.fork.TestResult.State;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import net.bytebuddy.agent.ByteBuddyAgent;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The program of a forked JVM: runs one test class. Writes each result as a line as soon as it is
 * known, so that results survive a crash or a time limit. Ends the JVM itself, even if a test left
 * threads behind, and ends when the runner does.
 */
public final class OneClass implements TestExecutionListener {
    /** Precedes the JSON of a {@link TestResult}. */
    public static final String RESULT = "result ";

    /** Precedes the JSON of the {@link Activity}; the last line of a class that ended. */
    public static final String END = "end ";

    /** How the servers of a test are made. */
    public enum Servers {
        /** As the tests make them. */
        AS_THEY_ARE,
        /** Situation-aware where they can be. */
        SITUATION_AWARE,
        /** Situation-aware, with a commit rule that is satisfied with a single ack. */
        BROKEN_COMMIT_RULE
    }

    private static final String QUORUM_BASE = "org.apache.zookeeper.test.QuorumBase";
    private static final int LONGEST_DETAIL = 6_000;
    private static final int EXIT_UNUSABLE = 3;
    private static final int EXIT_ALONE = 4;

    private final Path results;
    private final ObjectMapper json = new ObjectMapper();
    private final Map<String, Long> started = new ConcurrentHashMap<>();

    private OneClass(Path results) {
        this.results = results;
    }

    /**
     * @param args the class, the file for the results, one of {@link Servers}, the only method to
     *     run or nothing, then the methods to leave out
     */
    public static void main(String[] args) {
        ProcessHandle.current().parent().ifPresent(OneClass::endWith);
        try {
            Servers servers = Servers.valueOf(args[2]);
            if (servers != Servers.AS_THEY_ARE) {
                Instrumentation instrumentation = ByteBuddyAgent.install();
                SaucrInjection.install(instrumentation, servers == Servers.BROKEN_COMMIT_RULE);
                // Changing it takes seconds on a busy machine, which no test has to spare.
                Class.forName(QUORUM_BASE, false, OneClass.class.getClassLoader());
            }
            OneClass run = new OneClass(Path.of(args[1]));
            run.execute(args[0], args[3], Set.copyOf(Arrays.asList(args).subList(4, args.length)));
            run.write(
                    END,
                    servers == Servers.AS_THEY_ARE ? Activity.NONE : SaucrInjection.activity());
            Runtime.getRuntime().halt(0);
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(EXIT_UNUSABLE);
        }
    }

    private static void endWith(ProcessHandle runner) {
        Thread watch =
                new Thread(
                        () -> {
                            runner.onExit().join();
                            Runtime.getRuntime().halt(EXIT_ALONE);
                        },
                        "runner");
        watch.setDaemon(true);
        watch.start();
    }

    private void execute(String className, String only, Set<String> leftOut) {
        PostDiscoveryFilter filter =
                test ->
                        FilterResult.includedIf(
                                test.getSource()
                                        .filter(MethodSource.class::isInstance)
                                        .map(source -> ((MethodSource) source).getMethodName())
                                        .filter(
                                                method ->
                                                        leftOut.contains(method)
                                                                || !(only.isEmpty()
                                                                        || only.equals(method)))
                                        .isEmpty());
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(DiscoverySelectors.selectClass(className))
                                .filters(filter)
                                .build(),
                        this);
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        started.put(test.getUniqueId(), System.nanoTime());
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        write(RESULT, new TestResult(name(test), State.SKIPPED, 0, reason));
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        State state =
                switch (result.getStatus()) {
                    case SUCCESSFUL -> State.PASSED;
                    case ABORTED -> State.ABORTED;
                    case FAILED -> State.FAILED;
                };
        if (!test.isTest() && state == State.PASSED) {
            return;
        }
        long nanos = System.nanoTime() - started.get(test.getUniqueId());
        write(
                RESULT,
                new TestResult(
                        name(test),
                        state,
                        TimeUnit.NANOSECONDS.toMillis(nanos),
                        result.getThrowable().map(OneClass::stackTrace).orElse("")));
    }

    /**
     * The name of a test, which is the same in every run: its unique id without the parts that name
     * the engine and the class.
     */
    private static String name(TestIdentifier test) {
        StringBuilder name = new StringBuilder();
        for (UniqueId.Segment segment : UniqueId.parse(test.getUniqueId()).getSegments()) {
            switch (segment.getType()) {
                case "engine", "class", "runner" -> {}
                default -> {
                    String value = segment.getValue();
                    int parenthesis = value.indexOf('(');
                    name.append(name.length() == 0 ? "" : "/")
                            .append(parenthesis < 0 ? value : value.substring(0, parenthesis));
                }
            }
        }
        return name.length() == 0 ? TestResult.WHOLE_CLASS : name.toString();
    }

    private static String stackTrace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        String trace = text.toString();
        return trace.substring(0, Math.min(LONGEST_DETAIL, trace.length()));
    }

    private synchronized void write(String kind, Object value) {
        try {
            Files.writeString(
                    results,
                    kind + json.writeValueAsString(value) + "\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
