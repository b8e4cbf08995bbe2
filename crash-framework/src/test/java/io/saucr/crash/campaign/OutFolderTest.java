package io.saucr.crash.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an interrupted run leaves in its folder. */
class OutFolderTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    @TempDir Path temp;
    private OutFolder folder;

    @BeforeEach
    void open() throws Exception {
        folder =
                new OutFolder(
                        temp.resolve("out"), new PrintStream(said, true, StandardCharsets.UTF_8));
    }

    @Test
    void anIncompleteLineIsDropped() throws Exception {
        folder.append("lines", List.of(1));
        folder.append("lines", List.of(2));
        Path file = folder.path().resolve("lines");
        Files.writeString(file, "[3", StandardOpenOption.APPEND);
        assertThat(folder.read("lines", List.class)).hasSize(2);
        assertThat(said.toString(StandardCharsets.UTF_8)).contains("dropped").contains("lines");
        folder.append("lines", List.of(3));
        assertThat(folder.read("lines", List.class)).hasSize(3);
        assertThat(folder.read("nothing", List.class)).isEmpty();
    }

    @Test
    void logsOfARunWithALongNameAreKept() throws Exception {
        Path server = Files.createDirectories(folder.freshWork().resolve("server-1"));
        Files.writeString(server.resolve("server.log"), "log");
        String run = "saucr 12345" + ">->12345".repeat(50);
        folder.keepLogs(run);
        folder.keepLogs(run + ">->12345");
        try (Stream<Path> kept = Files.list(folder.path().resolve("failures"))) {
            assertThat(kept).hasSize(2).allMatch(one -> Files.exists(one.resolve("server-1.log")));
        }
    }

    @Test
    void aServerThatStillRunsIsNamedAndEnded() throws Exception {
        Path work = folder.freshWork();
        Process left =
                new ProcessBuilder(
                                "sh",
                                "-c",
                                "while :; do sleep 1; done",
                                "-Dsaucr.crash.home=" + work.resolve("server-1"))
                        .start();
        Process other =
                new ProcessBuilder(
                                "sh",
                                "-c",
                                "while :; do sleep 1; done",
                                "-Dsaucr.crash.home=" + temp.resolve("elsewhere/run/server-1"))
                        .start();
        try {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> left.info().commandLine().orElse("").contains("server-1"));
            folder.removeLeftovers();
            assertThat(left.isAlive()).isFalse();
            assertThat(other.isAlive()).isTrue();
            assertThat(said.toString(StandardCharsets.UTF_8))
                    .contains("process " + left.pid())
                    .contains("removed: " + work);
            assertThat(work).doesNotExist();
        } finally {
            left.destroyForcibly();
            other.destroyForcibly();
        }
    }
}
