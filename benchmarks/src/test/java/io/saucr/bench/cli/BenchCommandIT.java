package io.saucr.bench.cli;

import static io.saucr.bench.cli.BenchProgram.STEADY;
import static io.saucr.bench.cli.BenchProgram.onSmallServers;
import static io.saucr.bench.cli.BenchProgram.run;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.bench.cli.BenchProgram.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program as a user runs it, with real servers: throughput and its modes, what is refused. */
class BenchCommandIT {

    @TempDir Path folder;

    @Test
    void measuresTheThreeConfigurationsInTurns() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "fig7",
                        "--servers=3",
                        "--clients=1,3",
                        "--device=ssd",
                        "--rounds=2",
                        "--slice=0.4",
                        "--warm-up=0.2",
                        "--compile=0",
                        "--records=20");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        List<String> lines = Files.readAllLines(results.resolve("slices.csv"));
        assertThat(lines).hasSize(1 + 2 * 2 * 3);
        assertThat(lines.stream().skip(1).map(line -> line.substring(0, line.indexOf(','))))
                .startsWith("saucr", "memory-durable", "disk-durable", "saucr");
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(result.at("/plan/cases/1/device").asText()).isEqualTo("SSD");
        assertThat(result.at("/machine/processors").asInt()).isPositive();
        assertThat(result.at("/ratios")).hasSize(4);
        for (JsonNode slice : result.at("/slices")) {
            assertThat(slice.at("/operations").asLong()).isPositive();
            assertThat(slice.at("/serverCpuSeconds").asDouble()).isPositive();
            assertThat(slice.at("/serverAllocatedBytes").asLong()).isPositive();
            assertThat(slice.at("/tcpSegments").asLong()).isPositive();
            switch (slice.at("/configuration").asText()) {
                case "memory-durable" -> assertThat(slice.at("/logForces").asLong()).isZero();
                case "disk-durable" -> {
                    assertThat(slice.at("/logForces").asLong()).isPositive();
                    assertThat(slice.at("/meanForceMillis").asDouble()).isGreaterThanOrEqualTo(1);
                    assertThat(slice.at("/p50Millis").asDouble()).isGreaterThan(1);
                }
                default -> assertThat(slice.at("/mode").asText()).isIn("fast", "slow", "mixed");
            }
        }
        assertThat(outcome.out())
                .contains("saucr / memory-durable", "saucr / disk-durable", "at 50 %");
        assertThat(Files.readString(results.resolve("table.txt"))).contains("disk-durable");
        assertThat(Files.readString(results.resolve("report.html")))
                .contains("<svg", "In the paper: ");
        assertThat(results.resolve("latencies/n3-round-2.hlog")).isNotEmptyFile();
        assertThat(results.resolve("logs/disk-durable-3.log")).isNotEmptyFile();
        assertThat(folder.resolve("work")).isEmptyDirectory();

        Outcome again = run("quick", "--out=" + results, "--work=" + folder.resolve("work"));
        assertThat(again.status()).isEqualTo(1);
        assertThat(again.err()).contains("holds the results of another run");
    }

    @Test
    void everythingIsMeasuredWithTls() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "fig7",
                        "--tls=all",
                        "--configurations=saucr;memory-durable",
                        "--servers=3",
                        "--clients=2",
                        "--device=none",
                        "--rounds=1",
                        "--slice=0.4",
                        "--warm-up=0.2",
                        "--compile=0",
                        "--records=20");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(result.at("/plan/configurations/0/tls").asText()).isEqualTo("ALL");
        assertThat(result.at("/slices/0/errors").asLong()).isZero();
        // On a busy machine a follower may be late, and a commit slow.
        assertThat(result.at("/slices/0/mode").asText()).isIn("fast", "slow", "mixed");
        assertThat(Files.readString(results.resolve("logs/saucr-1.log")))
                .contains("NettyServerCnxnFactory", "(secure=127.0.0.1:", "TLSv1.3 - ");
        // Later clients of this JVM do without.
        assertThat(System.getProperty("zookeeper.client.secure")).isNull();
    }

    @Tag("long")
    @Test
    void withServersDownSaucrIsSlow() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "quick",
                        "--servers=3",
                        "--failed=1",
                        // With that one, mntr writes decimal fractions.
                        "--configurations=saucr,metricsProvider.httpPort=0,metricsProvider.className="
                                + "org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider",
                        "--device=nvme",
                        "--rounds=1",
                        "--slice=0.5",
                        "--warm-up=0.2",
                        "--compile=0",
                        "--records=20");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(result.at("/slices/0/mode").asText()).isEqualTo("slow");
        assertThat(result.at("/slices/0/logForces").asLong()).isPositive();
    }

    @Test
    void ycsbWorkloadsGoOnFromSliceToSlice() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "fig8",
                        "--workloads=load,workloadd,workloadf",
                        "--clients=2",
                        "--servers=3",
                        "--configurations=" + STEADY,
                        "--device=none",
                        "--rounds=2",
                        "--slice=0.4",
                        "--warm-up=0.1",
                        "--compile=0",
                        "--records=20");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out()).doesNotContain("operations failed");
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(result.at("/slices")).hasSize(2 * 3);
        for (JsonNode slice : result.at("/slices")) {
            assertThat(slice.at("/errors").asLong()).as(slice.toString()).isZero();
            assertThat(slice.at("/operations").asLong()).isPositive();
        }
    }

    @Test
    void throughputOverTimeShowsTheModes() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "fig9",
                        "--configurations=" + STEADY,
                        "--servers=3",
                        "--clients=2",
                        "--events=1:kill,3:return",
                        "--seconds=5",
                        "--compile=0",
                        "--device=none");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out()).containsPattern("slow.* follower \\d is killed");
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(result.at("/timeline")).hasSizeGreaterThan(3);
        assertThat(result.at("/events/1/what").asText()).endsWith("returns");
        assertThat(Files.readString(results.resolve("report.html")))
                .contains("slow mode", "switches to slow mode when only a bare majority is left");
    }

    @Test
    void anEnsembleThatDoesNotStartLeavesNoResult() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "quick",
                        "--servers=3",
                        "--configurations=disk-durable,tickTime=soon");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err())
                .contains("configuration disk-durable,tickTime=soon", "has ended", "soon");
        assertThat(results.resolve("result.json")).doesNotExist();
        assertThat(outcome.err()).contains("did not end and is no result", "--resume");
        assertThat(folder.resolve("work")).isEmptyDirectory();
    }

    @Test
    void badOptionsAreNamedBeforeAnythingStarts() {
        assertThat(run("fig7", "--failed=3").err()).contains("leave no majority");
        assertThat(run("fig7", "--configurations=fast").status()).isEqualTo(2);
        assertThat(run("fig7", "--clients=0").status()).isEqualTo(2);
        assertThat(run("fig7", "--device=tape").err()).contains("tape");
        assertThat(run("fig7", "--connect=a:1", "--failed=1").status()).isEqualTo(2);
        assertThat(run("failover", "--connect=a:1").err()).contains("servers that run elsewhere");
        assertThat(run("slowdisk", "--connect=a:1").err()).contains("servers that run elsewhere");
        assertThat(run("slowdisk", "--servers=1").err()).contains("fewer than 3");
        assertThat(run("slowdisk", "--seconds=0").status()).isEqualTo(2);
        assertThat(run("slowdisk", "--modes=lazy").err()).contains("lazy");
        assertThat(run("flapping", "--connect=a:1").err()).contains("servers that run elsewhere");
        assertThat(run("flapping", "--servers=1").err()).contains("fewer than 3");
        assertThat(run("flapping", "--interval=0").status()).isEqualTo(2);
        assertThat(run("flapping", "--busy=-1").err()).contains("--busy: 0 to 1000");
        assertThat(run("flapping", "--commit=main", "--configurations=saucr").err())
                .contains("--commit and --configurations");
        assertThat(run("bulk", "--connect=a:1").err()).contains("servers that run elsewhere");
        assertThat(run("bulk", "--multi=0").err()).contains("--multi: 1 to 5000");
        assertThat(run("bulk", "--most=1").err()).contains("--most leaves no case");
        assertThat(run("bulk", "--busy=-1").err()).contains("--busy: 0 to 1000");
        assertThat(run("bulk", "--rounds=0").status()).isEqualTo(2);
        assertThat(run("expiry", "--sessions=ten").err()).contains("'ten'", "such as 3000x10");
        assertThat(run("expiry", "--sessions=1x9999").err()).contains("at most 5000");
        assertThat(run("expiry", "--clients=0").status()).isEqualTo(2);
        assertThat(run("watchers", "--connect=a:1").err()).contains("servers that run elsewhere");
        assertThat(run("watchers", "--watchers=9999").err())
                .contains("0 to 5,000 watchers, not 9,999");
        assertThat(run("watchers", "--watchers=few").err()).contains("few");
        assertThat(run("sizes", "--sessions=-1").status()).isEqualTo(2);
        assertThat(run("sizes", "--znodes=5,5").err()).contains("a case that is given twice");
        assertThat(run("sizes", "--observers=10").err()).contains("0 to 9 observers, not 10");
        assertThat(run("sizes", "--busy=1001").err()).contains("--busy: 0 to 1000");
        assertThat(run("starved", "--cpus=0").err()).contains("--cpus must be above 0");
        assertThat(run("starved", "--connect=a:1", "--servers=3").status()).isEqualTo(2);
        assertThat(run("quick", "--connect=a:1", "--cpus=0.5").err())
                .contains("servers that run elsewhere");
        assertThat(run("fig9", "--events=5:nap").err()).contains("'5:nap'");
        assertThat(run("quick", "--resume").err()).contains("--resume needs --out");
        assertThat(run("merge", folder.resolve("no").toString()).status()).isEqualTo(1);
        assertThat(run("fig8", "--workloads=z", "--configurations=disk-durable").err())
                .contains("no workload z");
        assertThat(run("fig7", "--configurations=saucr", "--saucr=" + folder.resolve("no")).err())
                .contains("does not exist");
    }

    @Test
    void aBulkLoadIsMeasured() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "bulk",
                        "--configurations=" + STEADY + ";memory-durable",
                        "--servers=3",
                        "--multi=1,20",
                        "--outstanding=10",
                        "--updates=1000",
                        "--compile=0",
                        "--rounds=1");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(result.at("/bursts")).hasSize(4);
        JsonNode last = result.at("/bursts/2");
        assertThat(last.at("/burst").asText()).isEqualTo("multi of 20, 10 outstanding");
        assertThat(last.at("/configuration").asText()).isEqualTo(STEADY);
        assertThat(last.at("/operations").asLong()).isEqualTo(800);
        assertThat(last.at("/elections").asLong()).isZero();
        assertThat(result.at("/burstRatios/0/measure").asText()).isEqualTo("operations/s");
        assertThat(outcome.out()).contains("multi of 1, 10 outstanding: elections");
        assertThat(results.resolve("bulk.svg")).isNotEmptyFile();
    }

    @Tag("long")
    @Test
    void aProfileTellsStagesAndMethods() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "profile",
                        "--configurations=saucr",
                        "--servers=3",
                        "--clients=8",
                        "--rounds=1",
                        "--slice=1",
                        "--recording=1",
                        "--compile=0",
                        "--device=none");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .contains("Sync: log", "LearnerHandler: packets from followers", "saucr CPU us/op")
                .contains("busiest thread");
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        Map<String, Double> sums = new HashMap<>();
        for (JsonNode cost : result.at("/stages")) {
            sums.merge(cost.at("/role").asText(), cost.at("/cpuMicros").asDouble(), Double::sum);
        }
        assertThat(sums).containsOnlyKeys("leader", "followers", "busiest thread");
        assertThat(sums.get("busiest thread")).isPositive().isLessThan(sums.get("leader"));
    }
}
