package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PauseBenchTest extends CommandRun {

    @TempDir private Path folder;

    @Test
    void waitsAreMeasuredWithCheckpointsAndWithout() throws Exception {
        int code =
                run(
                        "pause",
                        "--roles=BARE,ASYNC",
                        "--entries=2000",
                        "--changed=100",
                        "--seconds=1",
                        "--rounds=1",
                        "--work=" + folder.resolve("work"),
                        "--out=" + folder.resolve("out"));

        assertThat(code).as(errors.toString()).isZero();
        assertThat(out.toString()).contains("bare-2000-g1", "async-2000-g1");
        assertThat(folder.resolve("work")).isEmptyDirectory();
        Path result = folder.resolve("out").resolve("changed-100").resolve("result.json");
        JsonNode measured = new ObjectMapper().readTree(result.toFile()).get("measurements");
        JsonNode bare = measured.get(0).get("figures");
        JsonNode async = measured.get(1).get("figures");
        for (JsonNode figures : new JsonNode[] {bare, async}) {
            assertThat(figures.get(PauseBench.WORST_TURN).asDouble()).isPositive();
            assertThat(figures.get(PauseBench.WORST_WAIT).asDouble())
                    .isGreaterThanOrEqualTo(figures.get(PauseBench.WAIT).asDouble());
            assertThat(figures.get(PauseBench.MEMORY).asDouble()).isPositive();
        }
        assertThat(bare.has(PauseBench.CHECKPOINTS)).isFalse();
        assertThat(async.get(PauseBench.CHANGED).asDouble()).isPositive();
    }

    @Test
    void wrongOptionsAreRefused() {
        assertThat(run("pause", "--entries", "0")).isEqualTo(2);
        assertThat(run("pause", "--changed", "0")).isEqualTo(2);
        assertThat(run("pause", "--value", "0")).isEqualTo(2);
        assertThat(run("pause", "--seconds", "0")).isEqualTo(2);
        assertThat(run("pause", "--roles", "SNAPSHOT")).isEqualTo(2);
        assertThat(run("pause", "--collectors", "EPSILON")).isEqualTo(2);
        assertThat(errors.toString())
                .contains(
                        "--entries: allowed are 1 to 100000000, not 0",
                        "--changed: allowed are 1 to 1000000, not 0",
                        "--value: allowed are 1 to 100000, not 0",
                        "--seconds: allowed are more than 0 to 3600, not 0.0",
                        "--roles: allowed are BARE, ASYNC, SYNC and FAST, not [SNAPSHOT]");
    }
}
