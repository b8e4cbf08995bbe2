package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that run the paper's applications: what they refuse, and a run of the shortest. */
class ApplicationsBenchTest extends CommandRun {

    @TempDir private Path folder;

    @Test
    void theSameSetIsFoundWithDurabilityAndWithout() {
        int code =
                run(
                        "set",
                        "--vertices=2000",
                        "--edges=3",
                        "--parts=2",
                        "--rounds=1",
                        "--work=" + folder.resolve("work"),
                        "--out=" + folder.resolve("out"));

        assertThat(code).as(errors.toString()).isZero();
        assertThat(out.toString()).contains("memory", "services-killed", "contender / memory");
        assertThat(folder.resolve("work")).isEmptyDirectory();
        assertThat(folder.resolve("out").resolve("result.json")).isNotEmptyFile();
    }

    @Test
    void aRequestPassesThroughAllServicesOfAChain() {
        int code =
                run(
                        "chain",
                        "--services=1,3",
                        "--force=0",
                        "--warm-up=0",
                        "--slice=300",
                        "--rounds=1",
                        "--work=" + folder.resolve("work"),
                        "--out=" + folder.resolve("out"));

        assertThat(code).as(errors.toString()).isZero();
        assertThat(out.toString())
                .contains("1 service, +0 ms", "3 services, +0 ms", "ALWAYS", "GROUP");
        assertThat(folder.resolve("work")).isEmptyDirectory();
        assertThat(folder.resolve("out").resolve("result.json")).isNotEmptyFile();
    }

    @Test
    void tripsAreBookedWithSpeculationAndWithout() throws Exception {
        int code =
                run(
                        "dse",
                        "--stores=2",
                        "--force=0",
                        "--callers=3",
                        "--warm-up=0",
                        "--slice=10",
                        "--rounds=1",
                        "--work=" + folder.resolve("work"),
                        "--out=" + folder.resolve("out"));

        assertThat(code).as(errors.toString()).isZero();
        assertThat(out.toString()).contains("contender / OFF", "GROUP", "ALWAYS");
        assertThat(folder.resolve("work")).isEmptyDirectory();
        assertThat(folder.resolve("out").resolve("report.html")).content().contains("<svg");
        JsonNode measured =
                new ObjectMapper()
                        .readTree(folder.resolve("out").resolve("result.json").toFile())
                        .get("measurements");
        assertThat(measured).hasSize(3);
        for (JsonNode each : measured) {
            for (String figure : List.of("median ms", "99 % ms", "trips/s")) {
                assertThat(each.get("figures").get("2 stores, +0 ms: " + figure).asDouble())
                        .isPositive();
            }
        }
    }

    @Test
    void wrongOptionsAreRefused() {
        assertThat(run("chain", "--services", "9")).isEqualTo(2);
        assertThat(run("chain", "--force", "-1")).isEqualTo(2);
        assertThat(run("chain", "--modes", "never")).isEqualTo(2);
        assertThat(run("dse", "--stores", "0")).isEqualTo(2);
        assertThat(run("dse", "--callers", "0")).isEqualTo(2);
        assertThat(run("dse", "--slice", "0")).isEqualTo(2);
        assertThat(run("set", "--parts", "0")).isEqualTo(2);
        assertThat(run("set", "--vertices", "0")).isEqualTo(2);
        assertThat(run("auction", "--seconds", "1")).isEqualTo(2);
        assertThat(run("auction", "--rounds", "0")).isEqualTo(2);
        assertThat(run("dht", "--processes", "1")).isEqualTo(2);
        assertThat(run("dht", "--hop", "-1")).isEqualTo(2);
        assertThat(errors.toString())
                .contains(
                        "--services: allowed are 1 to 8, not 9",
                        "--force: allowed are 0 to 1000, not -1",
                        "--stores: allowed are 1 to 8, not 0",
                        "--callers: allowed are 1 to 10000, not 0",
                        "--slice: allowed are 1 to 600000, not 0",
                        "--parts: allowed are 1 to 16, not 0",
                        "a graph has 1 to",
                        "--seconds: allowed are 5 to 3600, not 1",
                        "--rounds: allowed are 1 to 1000, not 0",
                        "--processes: allowed are 2 to 16, not 1",
                        "--hop: allowed are 0 to 1000, not -1");
    }
}
