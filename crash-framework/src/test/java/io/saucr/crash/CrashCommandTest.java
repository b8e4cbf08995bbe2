package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.saucr.crash.fault.Backend;
import io.saucr.ensemble.FsyncShim;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line, as far as it needs no distribution but stock ZooKeeper. */
@Tag("slow")
class CrashCommandTest {
    @TempDir Path work;

    @RegisterExtension final FailedRuns kept = new FailedRuns(() -> work);

    private static String out(int status, String... arguments) {
        return CommandOutput.run(status, arguments);
    }

    @Test
    void generatedSequencesAreOneALineOrJson() {
        String text = out(0, "generate", "-n", "3", "--count", "4", "--seed", "9");
        List<String> lines = text.lines().toList();
        assertThat(lines).hasSize(4).allMatch(line -> line.startsWith("123>"));
        assertThat(out(0, "generate", "-n", "3", "--count", "4", "--seed", "9", "--json"))
                .isEqualToIgnoringNewLines("[\"" + String.join("\",\"", lines) + "\"]");
    }

    @Test
    void badSequencesAndMissingFoldersAreRefused() {
        out(1, "replay", "123>21>123", "-o", work.toString());
        out(1, "replay", "--system", "saucr", "123>12>123", "-o", work.toString());
        out(1, "report", "-o", work.resolve("nothing").toString());
        out(2, "run", "--order", "sideways", "-o", work.toString());
        out(1, "all", "-o", work.toString());
    }

    /** The seed lets all servers lose power, one after the other, as the first fault. */
    @Test
    void memoryAloneIsNotLinearizable() {
        assumeTrue(FsyncShim.available(), "no C compiler");
        assertThat(
                        out(
                                3,
                                "nemesis",
                                "--backend",
                                "unprivileged",
                                "--system",
                                "zk-mem",
                                "--faults",
                                "POWER_CUT",
                                "-n",
                                "3",
                                "--seconds",
                                "10",
                                "--seed",
                                "6",
                                "-o",
                                work.toString()))
                .contains("1/1  NOT_LINEARIZABLE");
    }

    @ParameterizedTest
    @CsvSource({"KILL,root", "INT,unprivileged"})
    void nothingStaysBehindWhenTheToolIsStopped(String signal, String name) throws Exception {
        nothingStaysBehind(signal, name);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"INT,root", "KILL,unprivileged"})
    void nothingStaysBehindWhenTheToolIsStoppedByTheOtherSignal(String signal, String name)
            throws Exception {
        nothingStaysBehind(signal, name);
    }

    private void nothingStaysBehind(String signal, String name) throws Exception {
        Backend backend = Backend.valueOf(name.toUpperCase(Locale.ROOT));
        assumeTrue(backend.obstacle().isEmpty(), () -> backend.obstacle().get());
        Process tool =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx128m",
                                "-cp",
                                System.getProperty("java.class.path")
                                        + File.pathSeparator
                                        + System.getProperty("surefire.test.class.path", ""),
                                CrashCommand.class.getName(),
                                "replay",
                                "--backend",
                                backend.toString(),
                                "-o",
                                work.toString(),
                                "123>12>123")
                        .redirectErrorStream(true)
                        .redirectOutput(work.resolve("tool.log").toFile())
                        .start();
        Path serverLog = work.resolve("work/server-3/server.log");
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> Files.exists(serverLog) && Files.size(serverLog) > 0);
        assertThat(servers()).isNotEmpty();
        new ProcessBuilder("sh", "-c", "kill -" + signal + " " + tool.pid()).start().waitFor();
        tool.waitFor();
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> servers().isEmpty());
        assertThat(Files.readString(Path.of("/proc/self/mounts"))).doesNotContain(work.toString());
        if (backend == Backend.ROOT) {
            assertThat(Path.of("/run/netns/server1-1")).doesNotExist();
        }
    }

    /** Servers whose home is below this test's folder, seen from outside any namespace. */
    private List<String> servers() {
        return ProcessHandle.allProcesses()
                .map(process -> process.info().commandLine().orElse(""))
                .filter(line -> line.contains("-Dsaucr.crash.home=" + work))
                .toList();
    }
}
