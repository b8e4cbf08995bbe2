package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KvBenchTest extends CommandRun {

    @TempDir private Path folder;

    @Test
    void whatCheckpointsHoldIsReadFromTheMembersFolder() throws Exception {
        int code =
                run(
                        "kv",
                        "--stores=BARE,SYNC,ASYNC",
                        "--workloads=C",
                        "--clients=2",
                        "--keys=20",
                        "--warm-up=0",
                        "--seconds=0.5",
                        "--rounds=1",
                        "--work=" + folder.resolve("work"),
                        "--out=" + folder.resolve("out"));

        assertThat(code).as(errors.toString()).isZero();
        assertThat(out.toString()).contains("standby", "standby-async", "contender / bare");
        assertThat(folder.resolve("work")).isEmptyDirectory();
        JsonNode result =
                new ObjectMapper()
                        .readTree(
                                folder.resolve("out")
                                        .resolve("C-2")
                                        .resolve("result.json")
                                        .toFile());
        JsonNode figures = result.get("measurements").get(1).get("figures");
        assertThat(figures.get(KvBench.RATIO).asDouble()).isBetween(1.0, 1.5);
        assertThat(figures.get(KvBench.ALIVE).asDouble()).isBetween(1.0, 2.0);
    }

    @Test
    void wrongOptionsAreRefused() {
        assertThat(run("kv", "--keys", "0")).isEqualTo(2);
        assertThat(run("kv", "--clients", "1001")).isEqualTo(2);
        assertThat(run("kv", "--value", "0")).isEqualTo(2);
        assertThat(run("kv", "--seconds", "0")).isEqualTo(2);
        assertThat(run("kv", "--workloads", "D")).isEqualTo(2);
        assertThat(errors.toString())
                .contains(
                        "--keys: allowed are 1 to 10000000, not 0",
                        "--clients: allowed are 1 to 1000, not 1001",
                        "--value: allowed are 1 to 1000000, not 0",
                        "--seconds, --warm-up: allowed are more than 0, or 0, to 600, not 0.0, 5.0");
    }
}
