package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command: what it refuses, and what a short run leaves. */
class ServicesBenchTest {

    @TempDir private Path folder;

    private final StringWriter errors = new StringWriter();

    private int run(String... arguments) {
        return ServicesBench.commandLine().setErr(new PrintWriter(errors)).execute(arguments);
    }

    @Test
    void aRunLeavesATextAPageAndSamples() throws Exception {
        Path out = folder.resolve("out");
        int code =
                run(
                        "--contenders", "raw-append,journal",
                        "--rounds", "2",
                        "--seconds", "0.1",
                        "--warm-up", "0.1",
                        "--force", "0",
                        "--work", folder.resolve("work").toString(),
                        "--out", out.toString());

        assertThat(code).as(errors.toString()).isZero();
        assertThat(out.resolve("table.txt"))
                .content()
                .contains("raw-append", "contender / raw-append");
        assertThat(out.resolve("report.html"))
                .content()
                .contains("<svg", "contender / raw-append", "</html>");
        JsonNode samples =
                new ObjectMapper().readTree(out.resolve("result.json").toFile()).get("samples");
        assertThat(samples).hasSize(4);
        // The order moves on by one in each round.
        assertThat(samples.get(0).get("contender").asText()).isEqualTo("raw-append");
        assertThat(samples.get(2).get("contender").asText()).isEqualTo("journal");
        assertThat(folder.resolve("work")).isEmptyDirectory();
    }

    @Test
    void wrongOptionsAreRefused() {
        assertThat(run("--contenders", "mysql")).isEqualTo(2);
        assertThat(run("--pairs", "0")).isEqualTo(2);
        assertThat(run("--force", "-1")).isEqualTo(2);
        assertThat(run("--rounds", "0")).isEqualTo(2);
        assertThat(run("--contenders", "restate,service", "--force", "0,1")).isEqualTo(2);
        assertThat(errors.toString())
                .contains(
                        "unknown contender 'mysql'",
                        "--pairs: allowed are 1 to 1000, not [0]",
                        "--force: allowed are 0 to 1000 ms, not [-1.0]",
                        "allowed: one round or more",
                        "--contenders: restate cannot be the first");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void aContenderThatFailsEndsTheRunWithWhatItSaid() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        assertThat(
                        run(
                                "--contenders",
                                "raw-append",
                                "--rounds",
                                "1",
                                "--force",
                                "0",
                                "--work",
                                file.toString()))
                .isEqualTo(1);
        assertThat(errors.toString()).contains("saucr-bench services: ").contains(file.toString());
    }
}
