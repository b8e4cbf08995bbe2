package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.crash.campaign.Campaign;
import io.saucr.ensemble.FsyncShim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A few runs of each kind on the best back end that the machine has, with the distribution that
 * this build has made, all into one folder as a campaign does.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class CrashCommandIT {
    /** Everybody's memory is gone: what was not forced is lost for certain. */
    private static final String ALL_AT_ONCE = "123>->123";

    @TempDir static Path work;

    @RegisterExtension static final FailedRuns KEPT = new FailedRuns(() -> work);

    private static Path distribution;
    private static Path out;

    @BeforeAll
    static void unpack() throws Exception {
        assumeTrue(FsyncShim.available(), "no C compiler");
        out = work.resolve("out");
        distribution = UnpackedDistribution.shared();
    }

    private static String crash(int status, String... arguments) {
        List<String> line = new ArrayList<>(List.of(arguments));
        line.addAll(List.of("-o", out.toString(), "--distribution", distribution.toString()));
        return CommandOutput.run(status, line.toArray(String[]::new));
    }

    @Tag("long")
    @Test
    @Order(1)
    void allAtOnceMemoryLosesAndSaucrRefusesToServe() throws Exception {
        String[] line = {
            "replay", "--system", "zk-mem,saucr", "--order", "simultaneous", ALL_AT_ONCE
        };
        String said = crash(CrashCommand.STATUS_LOST, line);
        assertThat(said).contains("1/2  DATA_LOSS").contains("acknowledged writes are missing");
        assertThat(said).containsPattern("2/2  (TOO_FEW_RECOVERED|CORRECT)");
        try (Stream<Path> logs = Files.walk(out.resolve("failures"))) {
            assertThat(logs.filter(Files::isRegularFile)).hasSizeGreaterThanOrEqualTo(3);
        }
        assertThat(crash(CrashCommand.STATUS_LOST, line)).contains("0 runs, 2 done before");
    }

    @Tag("long")
    @Test
    @Order(2)
    void comparedSystems() throws Exception {
        // 123>13>123: no majority loses its memory, so that even memory alone is correct.
        crash(0, "compare", "-n", "3", "--count", "1", "--seed", "2", "--gap", "1000");
        List<JsonNode> outcomes = new ArrayList<>();
        for (String text : Files.readAllLines(out.resolve(Campaign.OUTCOMES))) {
            JsonNode outcome = new ObjectMapper().readTree(text);
            if (outcome.get("plan").textValue().contains("gap 1000 ms")) {
                outcomes.add(outcome);
            }
        }
        assertThat(outcomes)
                .hasSize(4)
                .allMatch(outcome -> outcome.get("verdict").textValue().equals("CORRECT"));
    }

    @Tag("long")
    @Test
    @Order(3)
    void otherOrdersAnIdlePauseAndYoungEnsembles() {
        String[] run = {"run", "-n", "3", "--count", "1", "--system", "saucr", "--seed", "3"};
        crash(0, with(run, "--order", "followers_first,simultaneous", "--gap", "1000"));
        String said = crash(0, with(run, "--idle", "1000", "--young", "--order", "simultaneous"));
        assertThat(said)
                .contains("1/1  CORRECT")
                .containsPattern("held +saucr loses no acknowledged write: 5 of 5")
                .containsPattern(
                        "held +saucr, servers failing one by one: serves in the end: 2 of 2")
                .containsPattern("held +saucr, idle before each failure: serves in the end: 1 of 1")
                .doesNotContain("BROKEN");
    }

    /** Clients reach the servers only by the ports that want TLS. */
    @Test
    @Order(4)
    void withTlsEverywhereANemesisRunIsLinearizable() {
        String said =
                CommandOutput.run(
                        0,
                        "nemesis",
                        "--tls",
                        "all",
                        "--system",
                        "saucr",
                        "-n",
                        "3",
                        "--seconds",
                        "5",
                        "--faults",
                        "kill,power_cut",
                        "-o",
                        work.resolve("tls").toString(),
                        "--distribution",
                        distribution.toString());
        assertThat(said).contains("1/1  LINEARIZABLE");
        assertThat(work.resolve("tls/tls/keys.p12")).exists();
        assertThat(System.getProperty("zookeeper.client.secure")).isNull();
    }

    @Test
    @Order(4)
    void aNemesisRunIsLinearizableAndItsHistoryCanBeCheckedAgain() throws Exception {
        String[] line = {
            "nemesis",
            "--system",
            "saucr",
            "-n",
            "3",
            "--seconds",
            "10",
            "--rate",
            "100",
            "--faults",
            "partition,pause,kill,power_cut,slow_disk"
        };
        assertThat(crash(0, line)).contains("1/1  LINEARIZABLE");
        Path history;
        try (Stream<Path> files = Files.list(out.resolve("histories"))) {
            history = files.findFirst().orElseThrow();
        }
        Path split = work.resolve("registers");
        CommandOutput.of(0, "check", history.toString(), "--split", split.toString())
                .contains(": linearizable, ");
        assertThat(split.resolve("register-0.edn")).isNotEmptyFile();
        assertThat(Files.readAllLines(split.resolve("register-0.edn")).get(0))
                .endsWith(":type :invoke, :process 0, :f :write, :value 0}");
        List<String> faults =
                Files.readAllLines(history).stream()
                        .filter(text -> text.contains(":process :nemesis"))
                        .map(text -> text.replaceFirst(".*:type", ""))
                        .toList();
        assertThat(faults).isNotEmpty();
        for (int i = 0; i < faults.size(); i += 2) {
            assertThat(faults.get(i + 1)).isEqualTo(faults.get(i));
        }
    }

    @Tag("long")
    @Test
    @Order(5)
    void withTimeBetweenFailuresEnoughServersAreSafe() throws Exception {
        crash(
                0,
                "figure11",
                "-n",
                "3",
                "--gaps",
                "0,3000",
                "--heartbeats",
                "200",
                "--order",
                "leader_first",
                "--rounds",
                "1");
        JsonNode report = new ObjectMapper().readTree(out.resolve("report.json").toFile());
        assertThat(report.get("figure11")).hasSize(2);
        for (JsonNode point : report.get("figure11")) {
            if (point.get("gapMillis").intValue() == 0) {
                assertThat(point.get("safe").intValue()).as(point + "").isLessThan(3);
            } else {
                assertThat(point.get("safe").intValue())
                        .as(point.toString())
                        .isGreaterThanOrEqualTo(point.get("needed").intValue());
            }
        }
        assertThat(Files.readString(out.resolve("report.html")))
                .contains("table 2 of the paper")
                .contains("Clients under faults")
                .contains("servers safe on disk");
        assertThat(out.resolve("report.txt")).content().contains("heartbeat  200 ms, leader first");
    }

    private static String[] with(String[] first, String... second) {
        return Stream.concat(Stream.of(first), Stream.of(second)).toArray(String[]::new);
    }
}
