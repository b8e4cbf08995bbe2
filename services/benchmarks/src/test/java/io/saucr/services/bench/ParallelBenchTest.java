package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParallelBenchTest extends CommandRun {

    @TempDir private Path folder;

    @Test
    void turnsAreCountedWithLanesAndWithout() throws Exception {
        int code =
                run(
                        "parallel",
                        "--lanes=0,2",
                        "--micros=100",
                        "--keys=1",
                        "--seconds=1",
                        "--rounds=1",
                        "--work=" + folder.resolve("work"),
                        "--out=" + folder.resolve("out"));

        assertThat(code).as(errors.toString()).isZero();
        assertThat(out.toString()).contains("one-by-one", "lanes-2");
        assertThat(folder.resolve("work")).isEmptyDirectory();
        Path result = folder.resolve("out").resolve("micros-100-keys-1").resolve("result.json");
        JsonNode measured = new ObjectMapper().readTree(result.toFile()).get("measurements");
        for (JsonNode each : measured) {
            assertThat(each.get("figures").get(ParallelBench.TURNS).asDouble()).isPositive();
        }
        assertThat(measured.get(0).get("figures").get(ParallelBench.AGAIN).asDouble()).isZero();
    }

    @Test
    void wrongOptionsAreRefused() {
        assertThat(run("parallel", "--lanes", "65")).isEqualTo(2);
        assertThat(run("parallel", "--micros", "-1")).isEqualTo(2);
        assertThat(run("parallel", "--keys", "0")).isEqualTo(2);
        assertThat(run("parallel", "--calls", "0")).isEqualTo(2);
        assertThat(run("parallel", "--seconds", "0")).isEqualTo(2);
        assertThat(errors.toString())
                .contains(
                        "--lanes: allowed are 0 to 64, not 65",
                        "--micros: allowed are 0 to 1000000, not -1",
                        "--keys: allowed are 1 to 1000000, not 0",
                        "--calls: allowed are 1 to 10000, not 0",
                        "--seconds: allowed are more than 0 to 3600, not 0.0");
    }
}
