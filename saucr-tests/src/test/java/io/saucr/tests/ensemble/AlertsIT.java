package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.Signal;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The rules of {@code conf/saucr-alerts.yml} and the metrics that they are about, judged by
 * Prometheus' own tool, and by a Prometheus that watches three servers.
 */
@Tag("trial")
class AlertsIT {
    private static final String RULES = "saucr-alerts.yml";
    private static final String RULE_TESTS = "saucr-alerts-test.yml";
    private static final Pattern WAITING_TIME = Pattern.compile("(?m)^( +for:) .*$");

    private static Path work;
    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        work = BuiltDistribution.target().resolve("prometheus");
        BuiltDistribution.deleteTree(work);
        Files.createDirectories(work);
        Files.copy(BuiltDistribution.home().resolve("conf").resolve(RULES), work.resolve(RULES));
        try (InputStream tests = AlertsIT.class.getResourceAsStream("/" + RULE_TESTS)) {
            Files.copy(tests, work.resolve(RULE_TESTS));
        }
        Ensemble.Builder builder =
                SaucrEnsemble.describe("alerts", 3)
                        .set("saucr.heartbeatInterval", "2s")
                        .set("saucr.fastModeConfirmations", "1");
        MetricsPage.SETTINGS.forEach(builder::set);
        ensemble = SaucrEnsemble.start(builder);
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @Test
    void everyRuleFiresWhenItShouldAndOnlyThen() throws Exception {
        assertThat(promtool("", "check", "rules", RULES).status()).isZero();
        Prometheus.Outcome tested = promtool("", "test", "rules", RULE_TESTS);
        assertThat(tested.status()).as(tested.output()).isZero();

        String tests = Files.readString(work.resolve(RULE_TESTS));
        for (String alert : alerts()) {
            assertThat(tests)
                    .as("a test in which it fires")
                    .containsPattern("alertname: " + alert + "\\s+exp_alerts:")
                    .as("a test in which it does not")
                    .contains("alertname: " + alert + "}");
        }
    }

    @Test
    void promtoolFindsNothingInOurMetrics() throws Exception {
        String page = new MetricsPage(ensemble.server(1)).text();
        String ours =
                page.lines()
                        .filter(line -> line.matches("(# (HELP|TYPE) )?saucr_.*"))
                        .collect(Collectors.joining("\n", "", "\n"));
        List<String> types = ours.lines().filter(line -> line.startsWith("# TYPE")).toList();
        assertThat(types)
                .hasSizeGreaterThanOrEqualTo(16)
                .contains(
                        "# TYPE saucr_mode gauge",
                        "# TYPE saucr_fast_commits_total counter",
                        "# TYPE saucr_flush_time_seconds summary");
        Prometheus.Outcome checked = promtool(ours, "check", "metrics");
        assertThat(checked.output()).isEmpty();
        assertThat(checked.status()).isZero();

        // The check finds something where something is wrong.
        String untold = ours.replaceFirst("(?m)^# HELP saucr_mode .*\n", "");
        assertThat(promtool(untold, "check", "metrics").output()).contains("saucr_mode no help");
    }

    @Test
    void withoutPrometheusTheTestsSayWhatIsMissing() {
        assertThatThrownBy(() -> Prometheus.program("no-such-program"))
                .hasMessageStartingWith("no no-such-program on the PATH: install Prometheus");
    }

    /**
     * With the rules as they are delivered, but for {@code for: 2s} in place of the minutes that
     * each of them waits.
     */
    @Tag("long")
    @Test
    void thatAServerIsDownAndThatNobodyLeadsIsSeen() throws Exception {
        Path impatient =
                Files.writeString(
                        work.resolve("impatient.yml"),
                        WAITING_TIME
                                .matcher(Files.readString(work.resolve(RULES)))
                                .replaceAll("$1 2s"));
        int leader = ensemble.awaitFast();
        int pinned = ensemble.followers().get(0);
        int killed = ensemble.followers().get(1);
        try (Prometheus prometheus = new Prometheus(work, impatient)) {
            prometheus.targets(addresses());
            SaucrEnsemble.await(
                    "three servers", () -> prometheus.value("sum(saucr_has_leader)") == 3);

            // A pinned follower leaves the ensemble fast, and is no reason to be silent later.
            Signal.PWR.send(List.of(ensemble.server(pinned).pid()));
            awaitFiring(prometheus, name(pinned) + " SaucrPinnedSlow");

            ensemble.kill(killed);
            awaitFiring(
                    prometheus,
                    name(pinned) + " SaucrPinnedSlow",
                    name(killed) + " SaucrServerDown",
                    "SaucrSlowForLong");

            ensemble.kill(pinned);
            awaitFiring(
                    prometheus,
                    name(pinned) + " SaucrServerDown",
                    name(killed) + " SaucrServerDown",
                    "SaucrNoLeader");
            assertThat(ensemble.running()).containsExactly(leader);

            ensemble.kill(leader);
            awaitFiring(
                    prometheus,
                    name(leader) + " SaucrServerDown",
                    name(pinned) + " SaucrServerDown",
                    name(killed) + " SaucrServerDown",
                    "SaucrNoLeader");

            ensemble.restart(leader, pinned, killed);
            ensemble.awaitServing();
            ensemble.awaitFast();
            prometheus.targets(addresses());
            awaitFiring(prometheus);
            assertThat(prometheus.brokenRules()).isEmpty();
        }
    }

    /** Exactly these, when all has settled. */
    private static void awaitFiring(Prometheus prometheus, String... alerts) {
        Set<String> expected = new TreeSet<>(List.of(alerts));
        SaucrEnsemble.await("alerts " + expected, () -> prometheus.firing().equals(expected));
    }

    private static String name(int id) {
        return "server-" + id;
    }

    private static Map<String, String> addresses() throws Exception {
        Map<String, String> addresses = new HashMap<>();
        for (int id : ensemble.running()) {
            addresses.put(name(id), new MetricsPage(ensemble.server(id)).address());
        }
        return addresses;
    }

    private static List<String> alerts() throws Exception {
        return Files.readAllLines(work.resolve(RULES)).stream()
                .map(String::strip)
                .filter(line -> line.startsWith("- alert: "))
                .map(line -> line.substring("- alert: ".length()))
                .toList();
    }

    private static Prometheus.Outcome promtool(String input, String... arguments) throws Exception {
        return Prometheus.promtool(work, input, arguments);
    }
}
