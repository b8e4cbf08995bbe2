package io.saucr.bench.cli;

import static io.saucr.bench.cli.BenchProgram.SMALL;
import static io.saucr.bench.cli.BenchProgram.STEADY;
import static io.saucr.bench.cli.BenchProgram.onSmallServers;
import static io.saucr.bench.cli.BenchProgram.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.bench.cli.BenchProgram.Outcome;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.FsyncShim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program as a user runs it, with real servers: what else it measures, and runs of runs. */
class BenchKindsIT {

    @TempDir Path folder;

    @Tag("long")
    @Test
    void comparesARecoveryWithAStockServersCatchUp() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome = onSmallServers(folder, "recovery", "--entries=100", "--rounds=1");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(Files.readAllLines(results.resolve("times.csv"))).hasSize(1 + 2);
        JsonNode times = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(times.at("/times/0/configuration").asText()).isEqualTo("saucr");
        assertThat(times.at("/times/1/seconds").asDouble()).isPositive();
        assertThat(outcome.out()).contains("recovery of 100 entries");
        assertThat(folder.resolve("work")).isEmptyDirectory();
    }

    @Test
    void ensemblesWithoutLoadAreMeasuredTogether() throws Exception {
        Outcome outcome =
                run(
                        "idle",
                        "--servers=3",
                        "--configurations=saucr;disk-durable",
                        "--rounds=2",
                        "--slice=1",
                        "--compile=0.2",
                        "--saucr=" + BenchProgram.distribution(),
                        "--jvm=" + SMALL,
                        "--work=" + folder.resolve("work"));
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .contains("3 servers each, 2 rounds of 1 s")
                .containsPattern("(?m)^saucr +\\d+\\.\\d\\d .*1\\.00 \\[1\\.00, 1\\.00]$")
                .containsPattern("(?m)^disk-durable +\\d+\\.\\d\\d ");
        assertThat(folder.resolve("work")).isEmptyDirectory();
    }

    @Test
    void anEnsembleThatRunsElsewhereIsMeasuredByTwoGenerators() throws Exception {
        try (Ensemble ensemble =
                Ensemble.of(Distribution.stock(), folder.resolve("ensemble")).build()) {
            ensemble.start();
            ensemble.awaitServing(Duration.ofSeconds(90));
            for (String generator : List.of("one", "two")) {
                Outcome outcome =
                        run(
                                "quick",
                                "--connect=other=" + ensemble.connectString(),
                                "--clients=2",
                                "--rounds=1",
                                "--slice=0.4",
                                "--warm-up=0.1",
                                "--compile=0",
                                "--records=20",
                                "--out=" + folder.resolve(generator));
                assertThat(outcome.status()).as(outcome.err()).isZero();
                assertThat(outcome.out()).containsPattern("other +update +none +- +2 +1024");
            }
            ZooKeeper client = UpdateLoad.connect(ensemble.connectString());
            client.sync("/");
            assertThat(client.getChildren("/", false)).containsOnly("zookeeper");
            client.close();
        }
        Outcome merged =
                run(
                        "merge",
                        "--out=" + folder.resolve("sum.hlog"),
                        folder.resolve("one").toString(),
                        folder.resolve("two").toString());
        assertThat(merged.status()).as(merged.err()).isZero();
        assertThat(merged.out())
                .containsPattern("other/update/2-clients/none/n0/1024-bytes +2 ")
                .contains("0 %");
        assertThat(folder.resolve("sum.hlog")).isNotEmptyFile();

        Outcome both =
                run(
                        "report",
                        "--out=" + folder.resolve("both.html"),
                        folder.resolve("one").toString(),
                        folder.resolve("two").toString());
        assertThat(both.out()).contains("The report of 2 runs");
    }

    @Test
    void startAndFailOverAreMeasured() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "failover",
                        "--configurations=saucr",
                        "--servers=3",
                        "--rounds=1",
                        "--device=none");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(result.at("/times")).hasSize(2);
        for (JsonNode time : result.at("/times")) {
            assertThat(time.at("/seconds").asDouble()).isBetween(0.01, 90.0);
        }
    }

    @Test
    void pausesOfMaintenanceAreMeasured() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "maintenance",
                        "--configurations=saucr",
                        "--servers=3",
                        "--moves=3",
                        "--restarts=1",
                        "--clients=2",
                        "--device=none");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .containsPattern("saucr: [1-3] moves, \\d to another server than the named one")
                .containsPattern("[1-9][\\d,]* acknowledged writes, none is lost");
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        // Median, p99 and longest of moves for one client and for all, and of restarts.
        assertThat(result.at("/times").size()).isBetween(9, 12);
        for (JsonNode time : result.at("/times")) {
            assertThat(time.at("/seconds").asDouble()).isBetween(0.0001, 90.0);
        }
    }

    @Test
    void maintenanceOfNothingIsRefused() {
        assertThat(run("maintenance", "--moves=0", "--restarts=0").err())
                .contains("--moves and --restarts must be at least 0, and one of them above 0");
        assertThat(run("maintenance", "--connect=a:1").err())
                .contains("servers that run elsewhere");
    }

    @Tag("long")
    @Test
    void aSlowDiskIsComparedWithNoServer() throws Exception {
        assumeTrue(FsyncShim.available(), "no C compiler");
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "slowdisk",
                        "--servers=3",
                        "--modes=slow",
                        "--roles=leader",
                        "--force-time=0.5",
                        "--clients=3",
                        "--seconds=1",
                        "--slow-seconds=1.5",
                        "--compile=0",
                        "--rounds=1",
                        "--device=none");
        assertThat(results.resolve("result.json")).as(outcome.err()).exists();
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(result.at("/times")).hasSize(4 * 2);
        for (JsonNode time : result.at("/times")) {
            assertThat(time.at("/seconds").asDouble()).as(time.toString()).isPositive();
        }
        assertThat(result.at("/slowDisks")).hasSize(2);
        JsonNode saucr = result.at("/slowDisks/0");
        assertThat(saucr.at("/measured").asText()).isEqualTo("leader of 3, slow");
        assertThat(saucr.at("/configuration").asText()).isEqualTo("saucr");
        // How good it is here and now is for the benchmark itself, but its status says it.
        assertThat(outcome.status()).isEqualTo(saucr.at("/good").asBoolean() ? 0 : 3);
        assertThat(outcome.out()).containsPattern("leader of 3, slow +disk-durable +\\d");
        try (Stream<Path> logs = Files.list(results.resolve("logs"))) {
            List<Path> own =
                    logs.filter(log -> log.getFileName().toString().startsWith("saucr-")).toList();
            assertThat(own)
                    .hasSize(3)
                    .allSatisfy(log -> assertThat(log).content().contains("Pinned to slow mode"));
        }
        assertThat(folder.resolve("work")).isEmptyDirectory();
    }

    @Test
    void aBusyMachineIsMeasured() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "flapping",
                        "--configurations=" + STEADY,
                        "--servers=3",
                        "--clients=1",
                        "--busy=2",
                        "--seconds=1",
                        "--compile=0",
                        "--rounds=1",
                        "--device=none");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        JsonNode sample = result.at("/flapping/0");
        assertThat(sample.at("/kills").asInt()).isZero();
        assertThat(sample.at("/writes").asLong()).isPositive();
        assertThat(sample.at("/fastCommits").asLong()).isPositive();
        assertThat(outcome.out()).contains("mode switches/h", "committed fast");
    }

    @Test
    void sessionsThatExpireAreMeasured() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "expiry",
                        "--configurations=" + STEADY,
                        "--servers=3",
                        "--sessions=20x10",
                        "--clients=1",
                        "--busy=1",
                        "--compile=0",
                        "--rounds=1");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        JsonNode sample = result.at("/bursts/0");
        assertThat(sample.at("/burst").asText()).isEqualTo("20 sessions of 10 nodes expire");
        assertThat(sample.at("/seconds").asDouble()).isPositive();
        assertThat(sample.at("/longestGapSeconds").asDouble()).isPositive();
        assertThat(sample.at("/elections").asLong()).isZero();
    }

    @Test
    void whatWatchersCostIsMeasuredOnABusyMachine() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "watchers",
                        "--servers=3",
                        "--watchers=1,20",
                        "--clients=2",
                        "--busy=1",
                        "--device=none",
                        "--rounds=1",
                        "--slice=0.5",
                        "--warm-up=0.1",
                        "--compile=0");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(result.at("/plan/busy").asInt()).isEqualTo(1);
        assertThat(result.at("/slices")).hasSize(4);
        JsonNode few = result.at("/slices/0");
        JsonNode many = result.at("/slices/2");
        assertThat(few.at("/watchers").asInt()).isEqualTo(1);
        assertThat(many.at("/watchers").asInt()).isEqualTo(20);
        assertThat(many.at("/configuration").asText()).isEqualTo("saucr");
        for (JsonNode slice : List.of(few, many)) {
            assertThat(slice.at("/operations").asLong()).isPositive();
            assertThat(slice.at("/serverReadWriteCalls").asLong()).isPositive();
        }
        JsonNode ratio = result.at("/ratios/1");
        assertThat(ratio.at("/measured/sizes/watchers").asInt()).isEqualTo(20);
        assertThat(ratio.at("/other").asText()).isEqualTo("memory-durable");
        assertThat(ratio.at("/calls/ratio").asDouble()).isPositive();
        assertThat(outcome.out()).contains("update, 20 watchers", "calls/op");
        assertThat(Files.readString(results.resolve("report.html")))
                .contains("<svg", "watchers-none-CPU", "watchers-none-read");
        assertThat(folder.resolve("work")).isEmptyDirectory();
    }

    @Test
    void whatSizesCostIsMeasuredOneAtATime() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "sizes",
                        "--configurations=saucr",
                        "--servers=3",
                        "--znodes=700",
                        "--sessions=20",
                        "--watches=1500",
                        "--observers=1",
                        "--value-bytes=100,50000",
                        "--clients=2",
                        "--device=none",
                        "--rounds=1",
                        "--slice=0.3",
                        "--warm-up=0.1",
                        "--compile=0");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        List<String> sizes = new ArrayList<>();
        for (JsonNode slice : result.at("/slices")) {
            assertThat(slice.at("/operations").asLong()).isPositive();
            sizes.add(
                    Stream.of("valueBytes", "znodes", "sessions", "watches", "observers")
                            .map(key -> slice.at("/" + key).asText())
                            .collect(Collectors.joining(" ")));
        }
        assertThat(sizes)
                .containsExactlyInAnyOrder(
                        "100 0 0 0 0",
                        "50000 0 0 0 0",
                        "100 700 0 0 0",
                        "100 0 20 0 0",
                        "100 0 0 1500 0",
                        "100 0 0 0 1");
        assertThat(results.resolve("sizes-none-idle_sessions-CPU.svg")).isNotEmptyFile();
        assertThat(results.resolve("logs/saucr-4.log")).isNotEmptyFile();
        assertThat(results.resolve("latencies/n3-znodes700-round-1.hlog")).isNotEmptyFile();
    }

    @Tag("long")
    @Test
    void aFollowerThatGoesAndComesIsMeasured() throws Exception {
        Path results = folder.resolve("results");
        Outcome outcome =
                onSmallServers(
                        folder,
                        "flapping",
                        "--servers=3",
                        "--clients=3",
                        "--interval=0.2",
                        "--seconds=4",
                        "--compile=0",
                        "--rounds=1",
                        "--device=none");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(Files.readAllLines(results.resolve("flapping.csv"))).hasSize(1 + 2);
        JsonNode result = new ObjectMapper().readTree(results.resolve("result.json").toFile());
        assertThat(result.at("/flapping/0/configuration").asText()).isEqualTo("saucr");
        for (JsonNode sample : result.at("/flapping")) {
            assertThat(sample.at("/seconds").asDouble()).isGreaterThanOrEqualTo(4);
            assertThat(sample.at("/writes").asLong()).isPositive();
            assertThat(sample.at("/kills").asInt()).isPositive();
            assertThat(sample.at("/longestGapSeconds").asDouble()).isPositive();
            assertThat(sample.at("/p99Millis").asDouble()).isPositive();
            assertThat(sample.at("/serverCpuSeconds").asDouble()).isPositive();
        }
        // Of three, none may be missing in fast mode.
        assertThat(result.at("/flapping/0/modeSwitches").asLong()).isPositive();
        assertThat(result.at("/flapping/0/noops").asLong()).isPositive();
        // Stock servers propose nothing by themselves, which proves the count.
        assertThat(result.at("/flapping/1/noops").asLong()).isZero();
        assertThat(result.at("/flappingRatios/0/measure").asText()).isEqualTo("writes/s");
        assertThat(outcome.out()).containsPattern("writes/s +disk-durable +\\d.* at 0 %");
        assertThat(Files.readString(results.resolve("report.html")))
                .contains("while a server flaps");
        assertThat(results.resolve("logs/saucr-3.log")).isNotEmptyFile();
        assertThat(folder.resolve("work")).isEmptyDirectory();
    }

    @Test
    void whatHappensForEveryProposalAllocatesNothing() {
        Outcome outcome =
                run("micro", "--include=EveryProposal.commitFast", "--forks=0", "--seconds=0.1");
        assertThat(outcome.status()).as(outcome.out() + outcome.err()).isZero();
        assertThat(outcome.out()).containsPattern("EveryProposal.commitFast +5 .* 0\\n");
    }

    @Tag("long")
    @Test
    void allFiguresAreOneCallThatCanBeRepeated() throws Exception {
        String[] call = {
            "all",
            "--only=table1",
            "--out=" + folder.resolve("all"),
            "--with=--rounds=1",
            "--with=--slice=0.3",
            "--with=--compile=0",
            "--with=--device=none",
            "--with=--servers=3",
            "--with=--jvm=-Xmx160m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
            "--with=--work=" + folder.resolve("work")
        };
        Outcome outcome = run(call);
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains("The report of 1 of 1 figures");
        assertThat(folder.resolve("all/report.html")).isNotEmptyFile();
        assertThat(run(call).err()).contains("table1 is there already");
    }
}
