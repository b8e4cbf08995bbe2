package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * What operators see: the AdminServer's answers and page, Prometheus metrics, alerts, the
 * dashboard.
 */
@Tag("trial")
@NeedsCompiler
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class VisibilityIT {
    private static final int VOTERS = 3;

    /** A PromQL word that is no function. */
    private static final Pattern WORD = Pattern.compile("\\b([a-z_:][a-z0-9_:]*)\\b(?!\\s*\\()");

    private static final String SLOW_EVENTS =
            "document.querySelectorAll('#timeline .event.slow').length";

    private static final String FLUSHES =
            "document.querySelectorAll('#timeline .event.flush').length";

    private static final Set<String> PROMQL =
            Set.of("by", "on", "and", "or", "unless", "without", "ignoring", "bool", "offset");

    private static SaucrEnsemble ensemble;

    /** The server that has the Prometheus provider; its mntr shows decimal fractions. */
    private static int prometheus;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        AdminServer.describe("visibility", VOTERS)
                                .set("saucr.ensembleName", "visible")
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                // So that nobody is elected while the leader stands still.
                                .set("saucr.missedHeartbeatsBeforeElection", "60")
                                .set("syncLimit", "240")
                                // So that a flush that is ordered has something to do.
                                .set("saucr.idleFlush", "1h"));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @Test
    @Order(1)
    void thePageShowsTheEnsembleLive() throws Exception {
        int leader = ensemble.awaitFast();
        int follower = ensemble.followers().get(0);
        AdminServer admin = new AdminServer(ensemble.server(leader));
        assertThat(admin.saucr().get("ensemble").asText()).isEqualTo("visible");
        HttpResponse<String> page = admin.get("saucr/ui");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/html");
        assertThat(page.body()).as("no assets").doesNotContain("src=", "href=", "url(", "import");

        try (Browser browser = browse(admin)) {
            // The others are asked in their own time: at first the page may know only its own
            // server.
            // A follower of a fast leader may have logged slow entries only. That is no trouble.
            String told =
                    "Server "
                            + leader
                            + " leads; responsive: 1, 2, 3 of 3 voters."
                            + " Asked: server "
                            + leader
                            + ".";
            SaucrEnsemble.await(
                    "fast mode on the page, and no trouble",
                    () ->
                            shows(browser, "#mode", "fast")
                                    && rows(browser, "fast") == 1
                                    && browser.evaluate(
                                                            "document.querySelectorAll('#servers"
                                                                    + " .mode').length")
                                                    .asInt()
                                            == 1
                                    && row(browser, follower).contains("following")
                                    && internals(browser).contains("logged ")
                                    && internals(browser).contains("1, 2, 3")
                                    && browser.text().contains(told));
            assertThat(rows(browser, "slow")).isZero();
            assertThat(facts(browser))
                    .contains("server " + leader, "fast", "none", "all 3 servers answer");
            assertThat(browser.evaluate("document.querySelector('#internals').open").asBoolean())
                    .as("internals are folded away")
                    .isFalse();
            long shown = updates(browser);
            try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/page", 4)) {

                // Not loaded anew from here on.
                ensemble.losePower(follower);
                exposeToPrometheus(follower);
                ensemble.server(follower).configure("saucr.adminServers", swapped(follower));
                SaucrEnsemble.await(
                        "slow mode and the dead server on the page",
                        () ->
                                shows(browser, "#mode", "slow")
                                        && shows(browser, pill(follower), "unreachable")
                                        && browser.evaluate(SLOW_EVENTS).asInt() > 0
                                        && facts(browser)
                                                .contains(
                                                        "server " + follower + " does not answer"));
                writes.awaitMore(20);
                SaucrEnsemble.await(
                        "the rate of the writes",
                        () ->
                                browser.evaluate(
                                                "document.querySelector('#rate"
                                                        + " b').textContent")
                                        .asText()
                                        .matches("[1-9][0-9,.]*"));
                ensemble.restart(follower);
                ensemble.awaitServing();
                ensemble.awaitFast();
                SaucrEnsemble.await(
                        "fast mode of all again",
                        () ->
                                shows(browser, "#mode", "fast")
                                        && rows(browser, "fast") == 1
                                        && rows(browser, "unreachable") == 0);
                writes.stop();
            }
            assertThat(admin.post("saucr/flush", "digest admin:secret", "for the page").status())
                    .isEqualTo(200);
            SaucrEnsemble.await(
                    "the switches and the flush with their reasons",
                    () -> {
                        String events =
                                browser.evaluate("document.querySelector('#events').innerText")
                                        .asText();
                        return events.contains("turned to slow")
                                && events.contains("server " + follower)
                                && events.contains("turned to fast")
                                && events.contains("for the page")
                                && browser.evaluate(FLUSHES).asInt() > 0;
                    });
            assertThat(updates(browser)).isGreaterThan(shown + 2);
            byte[] picture = browser.screenshot();
            assertThat(picture.length).isGreaterThan(10_000);
            Files.write(BuiltDistribution.target().resolve("saucr-ui.png"), picture);
        }
    }

    /** Of a telephone, with the internals unfolded, and the long reasons of switches below. */
    @Test
    @Order(3)
    void thePageIsAsWideAsTheScreen() throws Exception {
        int leader = ensemble.awaitFast();
        for (int width : new int[] {360, 420, 800, 1280}) {
            try (Browser browser =
                    new Browser(
                            BuiltDistribution.target().resolve("browser"),
                            new AdminServer(ensemble.server(leader)).url("saucr/ui"),
                            width,
                            900)) {
                SaucrEnsemble.await(
                        "the page", () -> facts(browser).contains("all 3 servers answer"));
                for (boolean open : new boolean[] {false, true}) {
                    browser.evaluate("document.querySelector('#internals').open = " + open);
                    assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
                            .as("at %d pixels, internals shown: %s", width, open)
                            .isLessThanOrEqualTo(width);
                }
            }
        }
    }

    /**
     * Three AdminServers on one host, and the one that is asked has the entries of the other two
     * swapped. Every row shows its own server or none.
     */
    @Test
    @Order(2)
    void thePageTakesNoServerForAnother() throws Exception {
        int leader = ensemble.awaitFast();
        int asked = prometheus;
        assertThat(asked).isNotEqualTo(leader);
        int third = 1 + 2 + 3 - leader - asked;
        try (Browser browser = browse(new AdminServer(ensemble.server(asked)))) {
            SaucrEnsemble.await(
                    "both, found where the other one should be",
                    () ->
                            row(browser, leader)
                                            .contains(
                                                    third + " answers there, not server " + leader)
                                    && row(browser, leader).contains("leading")
                                    && row(browser, third)
                                            .contains(
                                                    leader + " answers there, not server " + third)
                                    && row(browser, third).contains("following"));
            assertThat(rows(browser, "fast")).isEqualTo(1);
            assertThat(rows(browser, "unreachable")).isZero();

            ensemble.pause(third);
            SaucrEnsemble.await(
                    "the hung server",
                    () ->
                            row(browser, leader).contains("takes connections, but does not answer")
                                    && row(browser, leader).contains("leading")
                                    && shows(browser, pill(third), "unreachable"));
            ensemble.resume(third);
            SaucrEnsemble.await("its return", () -> row(browser, third).contains("following"));

            ensemble.kill(third);
            SaucrEnsemble.await(
                    "the dead server",
                    () ->
                            row(browser, leader).contains("nothing listens there")
                                    && row(browser, leader).contains("leading")
                                    && row(browser, third).contains("not server " + third)
                                    && shows(browser, pill(third), "unreachable"));
            ensemble.restart(third);
            ensemble.awaitServing();

            // Its followers are patient: its AdminServer is all that is missed.
            ensemble.pause(leader);
            SaucrEnsemble.await(
                    "a leader that others follow, and whose mode nobody tells",
                    () ->
                            shows(browser, "#mode", "mode unknown")
                                    && browser.text()
                                            .contains(
                                                    "Server "
                                                            + leader
                                                            + " leads, say those that follow it.")
                                    && row(browser, leader)
                                            .contains("Others follow the server itself.")
                                    && rows(browser, "unreachable") == 0);
            ensemble.resume(leader);
            SaucrEnsemble.await("the leader again", () -> row(browser, leader).contains("leading"));

            ensemble.pause(asked);
            SaucrEnsemble.await(
                    "that the page knows that it is old",
                    () ->
                            shows(browser, "#mode", "unknown")
                                    && browser.text().contains("has not answered since"));
            ensemble.resume(asked);
            SaucrEnsemble.await("the page again", () -> shows(browser, "#mode", "fast"));
        }
    }

    /** It answers heartbeats: what is late are its acks. */
    @Test
    @Order(4)
    void thePageSaysThatAServerAcknowledgesTooLate() throws Exception {
        try (SaucrEnsemble late = SaucrEnsemble.start(AdminServer.describe("late-acks", VOTERS))) {
            int leader = late.awaitFast();
            int slow = late.followers().get(0);
            try (Browser browser = browse(new AdminServer(late.server(leader)));
                    AckedWrites writes = new AckedWrites(late.connect(leader), "/late", 4)) {
                // Pinned it forces before it acks.
                assertThat(
                                new AdminServer(late.server(slow))
                                        .post("saucr/pin", "digest admin:secret", "for the page")
                                        .status())
                        .isEqualTo(200);
                late.shim(slow).delay(Duration.ofSeconds(1));
                SaucrEnsemble.await(
                        "why it is not prompt",
                        () -> row(browser, slow).contains("no, acknowledges too late"));
                late.shim(slow).delay(Duration.ZERO);
                writes.stop();
            }
        }
    }

    @Test
    @Order(5)
    void theAdminServerTellsSwitchesAndFlushesWithReasonAndDuration() throws Exception {
        int leader = ensemble.awaitFast();
        AdminServer admin = new AdminServer(ensemble.server(leader));
        JsonNode status = admin.saucr();
        assertThat(status.get("role").asText()).isEqualTo("leading");
        assertThat(status.get("mode").asText()).isEqualTo("fast");
        assertThat(status.get("pinnedSlow").isNull()).isTrue();
        assertThat(status.path("voters")).hasSize(VOTERS);
        assertThat(status.get("promptSet")).hasSize(VOTERS);
        assertThat(status.get("followers")).hasSize(VOTERS - 1);
        assertThat(status.get("lleMap")).hasSize(VOTERS);
        assertThat(status.get("recovery").get("recovering").asBoolean()).isFalse();
        assertThat(status.get("settings").get("heartbeatInterval").asText()).isEqualTo("PT2S");
        assertThat(status.path("settings").path("diskTimeout").asText()).isEqualTo("PT10S");
        assertThat(admin.get("saucr/ensemble").body()).containsPattern("\"now\" : [0-9]{13}");
        assertThat(status.get("lastSwitches"))
                .anySatisfy(
                        event -> {
                            assertThat(event.get("what").asText()).isEqualTo("slow");
                            assertThat(event.get("reason").asText()).contains("server");
                            assertThat(event.get("micros").asLong()).isPositive();
                        });
        assertThat(status.get("lastFlushes"))
                .anySatisfy(
                        event -> assertThat(event.get("reason").asText()).contains("for the page"))
                .allSatisfy(
                        event -> {
                            assertThat(event.get("reason").asText()).isNotEmpty();
                            assertThat(event.get("micros").asLong()).isNotNegative();
                        });
    }

    @Test
    @Order(6)
    void prometheusHasTheSummariesAndEveryMetricOfAlertsAndDashboardExists() throws Exception {
        String exposed = new MetricsPage(ensemble.server(prometheus)).text();
        for (String summary :
                List.of(
                        "saucr_flush_time_seconds",
                        "saucr_mode_switch_time_seconds",
                        "saucr_recovery_time_seconds")) {
            assertThat(exposed)
                    .contains(summary + "{quantile=\"0.99\",")
                    .contains(summary + "_count")
                    .contains(summary + "_sum");
        }
        // Prometheus makes that one itself.
        Set<String> metrics = new TreeSet<>(Set.of("up"));
        for (String line : exposed.lines().toList()) {
            if (!line.startsWith("#") && !line.isBlank()) {
                metrics.add(line.split("[ {]", 2)[0]);
            }
        }
        assertThat(metrics).contains("saucr_mode", "saucr_pinned_slow", "saucr_flush_causes_total");

        List<String> expressions = new ArrayList<>();
        String alerts = Files.readString(conf("saucr-alerts.yml"));
        for (String line : alerts.lines().toList()) {
            if (line.strip().startsWith("expr:")) {
                expressions.add(line.strip().substring("expr:".length()));
            }
        }
        assertThat(expressions).as("alerts").hasSizeGreaterThanOrEqualTo(6);
        JsonNode dashboard = new ObjectMapper().readTree(conf("saucr-grafana.json").toFile());
        int inAlerts = expressions.size();
        dashboard.findValues("expr").forEach(expression -> expressions.add(expression.asText()));
        assertThat(expressions.size() - inAlerts).as("panels").isGreaterThanOrEqualTo(8);

        for (String expression : expressions) {
            Set<String> used = metricsOf(expression);
            assertThat(used).as(expression).isNotEmpty();
            assertThat(metrics).as(expression).containsAll(used);
        }
    }

    /** Every alert of the rules is explained to operators. */
    @Test
    @Order(7)
    void theGuideExplainsEveryAlertAndEveryMetric() throws Exception {
        String guide =
                Files.readString(BuiltDistribution.home().resolve("docs/operate/metrics.md"));
        Matcher alert =
                Pattern.compile("alert: (\\w+)")
                        .matcher(Files.readString(conf("saucr-alerts.yml")));
        while (alert.find()) {
            assertThat(guide).contains("`" + alert.group(1) + "`");
        }
        ensemble.mntr(ensemble.leader()).keySet().stream()
                .filter(key -> key.contains("saucr"))
                .map(key -> key.replaceFirst("^zk_((avg|min|max|cnt|sum|p\\d+)_)?", ""))
                .map(key -> key.replaceFirst("^.*saucr_flush_causes$", "saucr_flush_causes"))
                .map(key -> key.replaceFirst("^\\d+_saucr_ack_time", "saucr_ack_time"))
                .forEach(metric -> assertThat(guide).contains("`" + metric + "`"));
    }

    static Set<String> metricsOf(String expression) {
        String bare = expression.replaceAll("\\{[^}]*}|\"[^\"]*\"|\\[[^\\]]*]", " ");
        bare = bare.replaceAll("\\b(by|without|on|ignoring)\\s*\\([^)]*\\)", " ");
        Set<String> result = new TreeSet<>();
        Matcher word = WORD.matcher(bare);
        while (word.find()) {
            if (!PROMQL.contains(word.group(1))) {
                result.add(word.group(1));
            }
        }
        return result;
    }

    private static Browser browse(AdminServer admin) throws Exception {
        return new Browser(
                BuiltDistribution.target().resolve("browser"), admin.url("saucr/ui"), 1280, 900);
    }

    /** For {@code saucr.adminServers} of one server: the others' entries, each for the other. */
    private static String swapped(int id) {
        int first = id == 1 ? 2 : 1;
        int second = 1 + 2 + 3 - id - first;
        return first + "=" + adminAddress(second) + "," + second + "=" + adminAddress(first);
    }

    private static String adminAddress(int id) {
        return "127.0.0.1:" + ensemble.server(id).address().adminPort();
    }

    private static String pill(int id) {
        return "tr[data-server='" + id + "'] .mode";
    }

    /** What the row of a server says. */
    private static String row(Browser browser, int id) throws Exception {
        return browser.evaluate(
                        "document.querySelector(\"tr[data-server='" + id + "']\")?.innerText")
                .asText();
    }

    /** What stands first. */
    private static String facts(Browser browser) throws Exception {
        return browser.evaluate("document.querySelector('dl')?.innerText").asText();
    }

    private static String internals(Browser browser) throws Exception {
        return browser.evaluate("document.querySelector('#internals')?.textContent").asText();
    }

    private static boolean shows(Browser browser, String selector, String text) throws Exception {
        return browser.evaluate("document.querySelector(\"" + selector + "\")?.textContent")
                .asText()
                .equals(text);
    }

    private static int rows(Browser browser, String mode) throws Exception {
        return browser.evaluate("document.querySelectorAll('#servers .mode." + mode + "').length")
                .asInt();
    }

    private static long updates(Browser browser) throws Exception {
        return browser.evaluate("document.body.dataset.updates").asLong();
    }

    private static Path conf(String name) {
        return BuiltDistribution.home().resolve("conf").resolve(name);
    }

    /** From its next start on. */
    private static void exposeToPrometheus(int id) throws Exception {
        for (var setting : MetricsPage.SETTINGS.entrySet()) {
            ensemble.server(id).configure(setting.getKey(), setting.getValue());
        }
        prometheus = id;
    }
}
