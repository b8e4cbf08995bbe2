package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RexBenchTest extends CommandRun {

    @TempDir private Path folder;

    @Test
    void requestsAndBytesAreCountedOneByOneInLanesAndReplayed() throws Exception {
        int code =
                run(
                        "rex",
                        "--lanes=2",
                        "--micros=100",
                        "--keys=100",
                        "--seconds=1",
                        "--rounds=1",
                        "--work=" + folder.resolve("work"),
                        "--out=" + folder.resolve("out"));

        assertThat(code).as(errors.toString()).isZero();
        assertThat(out.toString()).contains("standby", "parallel-2", "replay-2");
        assertThat(folder.resolve("work")).isEmptyDirectory();
        Path results = folder.resolve("out").resolve("micros-100");
        assertThat(results.resolve("report.html")).isNotEmptyFile();
        assertThat(results.resolve("table.txt")).isNotEmptyFile();
        JsonNode measured =
                new ObjectMapper()
                        .readTree(results.resolve("result.json").toFile())
                        .get("measurements");
        assertThat(measured).hasSize(3);
        for (JsonNode each : measured) {
            for (String figure :
                    new String[] {
                        RexBench.REQUESTS, RexBench.PRIMARY, RexBench.STANDBY, RexBench.BYTES
                    }) {
                assertThat(each.get("figures").get(figure).asDouble()).as(figure).isPositive();
            }
        }
    }

    @Test
    void wrongOptionsAreRefused() {
        assertThat(run("rex", "--lanes", "0")).isEqualTo(2);
        assertThat(run("rex", "--micros", "-1")).isEqualTo(2);
        assertThat(run("rex", "--keys", "0")).isEqualTo(2);
        assertThat(run("rex", "--calls", "0")).isEqualTo(2);
        assertThat(run("rex", "--seconds", "0")).isEqualTo(2);
        assertThat(errors.toString())
                .contains(
                        "--lanes: allowed are 1 to 64, not 0",
                        "--micros: allowed are 0 to 1000000, not -1",
                        "--keys: allowed are 1 to 1000000, not 0",
                        "--calls: allowed are 1 to 10000, not 0",
                        "--seconds: allowed are more than 0 to 3600, not 0.0");
    }
}
