package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.saucr.crash.campaign.Campaign;
import io.saucr.crash.fault.Backend;
import io.saucr.crash.fault.Enclosure;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line from end to end, against stock ZooKeeper. */
class CrashCommandTest {
    /** A majority that has forgotten everything meets while those that know are away. */
    private static final String CERTAIN_LOSS = "12345>1>12>2>234>12345";

    @TempDir Path work;

    private String out(int status, String... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        int actual;
        try {
            actual = CrashCommand.execute(arguments);
        } finally {
            System.setOut(before);
        }
        String text = bytes.toString(StandardCharsets.UTF_8);
        before.print(text);
        assertThat(actual).as(text).isEqualTo(status);
        return text;
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
    }

    @Test
    void memoryLosesDiskDoesNotAndACampaignGoesOnWhereItStopped() throws Exception {
        String folder = work.toString();
        String[] line = {"replay", "--backend", "unprivileged", "-o", folder, CERTAIN_LOSS};
        String first = out(3, concat(line, "--system", "zk-mem,vr-ideal"));
        assertThat(first).contains("1/1  DATA_LOSS").contains("acknowledged writes are missing");
        String second = out(3, concat(line, "--system", "zk-mem,zk-disk"));
        assertThat(second).contains("1 runs, 2 done before").contains("1/1  CORRECT");
        assertThat(Files.readString(work.resolve("report.html")))
                .contains("data loss")
                .contains("unavailable")
                .contains("<svg");
        assertThat(Files.readAllLines(work.resolve(Campaign.OUTCOMES))).hasSize(3);
        try (Stream<Path> logs = Files.walk(work.resolve("failures"))) {
            assertThat(logs.filter(Files::isRegularFile)).hasSize(5);
        }
    }

    @Test
    void theRootBackEndSeesTheSameLoss() {
        assumeTrue(Backend.ROOT.obstacle().isEmpty(), () -> Enclosure.obstacle().get());
        String text =
                out(
                        3,
                        "replay",
                        "--backend",
                        "root",
                        "--order",
                        "simultaneous",
                        "--system",
                        "zk-mem,zk-disk",
                        "-o",
                        work.toString(),
                        CERTAIN_LOSS);
        assertThat(text).contains("1/2  DATA_LOSS").contains("2/2  CORRECT").contains("root");
    }

    @ParameterizedTest
    @CsvSource({"INT,root", "KILL,root", "INT,unprivileged", "KILL,unprivileged"})
    void nothingStaysBehindWhenTheToolIsStopped(String signal, String name) throws Exception {
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
        new ProcessBuilder("kill", "-" + signal, Long.toString(tool.pid())).start().waitFor();
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

    private static String[] concat(String[] first, String... second) {
        return Stream.concat(Stream.of(first), Stream.of(second)).toArray(String[]::new);
    }
}
