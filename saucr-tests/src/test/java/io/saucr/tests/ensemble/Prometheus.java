package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Prometheus of this machine, on a free port of loopback, that asks every second and has rules
 * loaded. Used by one test thread; closing it ends it.
 */
final class Prometheus implements AutoCloseable {
    private static final String JOB = "ensemble";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern LISTENING =
            Pattern.compile("msg=\"Listening on\" address=127\\.0\\.0\\.1:(\\d+)");

    private final Path work;
    private final Process process;
    private final String api;

    /**
     * @param work an empty folder
     * @param rules a file of rules
     */
    Prometheus(Path work, Path rules) throws Exception {
        this.work = work;
        targets(Map.of());
        Path log = work.resolve("prometheus.log");
        Files.writeString(
                work.resolve("prometheus.yml"),
                """
                global:
                  scrape_interval: 1s
                  scrape_timeout: 1s
                  evaluation_interval: 1s
                rule_files: ['%s']
                scrape_configs:
                  - job_name: %s
                    file_sd_configs:
                      - files: [targets.json]
                        refresh_interval: 1s
                """
                        .formatted(rules, JOB));
        process =
                new ProcessBuilder(
                                program("prometheus"),
                                "--config.file=" + work.resolve("prometheus.yml"),
                                "--storage.tsdb.path=" + work.resolve("data"),
                                "--web.listen-address=127.0.0.1:0")
                        .directory(work.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        try {
            SaucrEnsemble.await(
                    "Prometheus",
                    () -> {
                        assertThat(process.isAlive()).as(Files.readString(log)).isTrue();
                        return LISTENING.matcher(Files.readString(log)).find();
                    });
            Matcher listening = LISTENING.matcher(Files.readString(log));
            assertThat(listening.find()).isTrue();
            String root = "http://127.0.0.1:" + listening.group(1);
            api = root + "/api/v1/";
            // It listens before it can answer.
            SaucrEnsemble.await("Prometheus, ready", () -> status(root + "/-/ready") == 200);
        } catch (Exception | Error e) {
            close();
            throw e;
        }
    }

    /** The path of a program of Prometheus' package. The test is skipped if it is not there. */
    static String program(String name) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseGet(() -> abort("no " + name + " on the PATH: install Prometheus"))
                .toString();
    }

    /** What a program said, and its exit status. */
    record Outcome(int status, String output) {}

    /** Runs {@code promtool} in a folder with a text as input. */
    static Outcome promtool(Path folder, String input, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(program("promtool")));
        command.addAll(List.of(arguments));
        Path in = Files.writeString(folder.resolve("promtool.in"), input);
        Path out = folder.resolve("promtool.out");
        Process promtool =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectInput(in.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(out.toFile())
                        .start();
        assertThat(promtool.waitFor(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .as("end of promtool")
                .isTrue();
        return new Outcome(promtool.exitValue(), Files.readString(out));
    }

    /**
     * Asks these from now on.
     *
     * @param addresses by the name of the instance, HOST:PORT
     */
    void targets(Map<String, String> addresses) throws IOException {
        List<Map<String, Object>> groups = new ArrayList<>();
        new TreeMap<>(addresses)
                .forEach(
                        (name, address) ->
                                groups.add(
                                        Map.of(
                                                "targets",
                                                List.of(address),
                                                "labels",
                                                Map.of("instance", name))));
        Path next = work.resolve("targets.json.next");
        JSON.writeValue(next.toFile(), groups);
        Files.move(next, work.resolve("targets.json"), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Names of the rules that Prometheus cannot evaluate, with the reason. */
    List<String> brokenRules() throws IOException {
        List<String> broken = new ArrayList<>();
        for (JsonNode group : get("rules").get("groups")) {
            for (JsonNode rule : group.get("rules")) {
                if (rule.get("health").asText().equals("err")) {
                    broken.add(rule.get("name").asText() + ": " + rule.path("lastError").asText());
                }
            }
        }
        return broken;
    }

    /**
     * Alerts that fire now: the name, and the instance if it has one, in front of it, as in {@code
     * server-1 SaucrPinnedSlow}.
     */
    Set<String> firing() throws IOException {
        Set<String> firing = new TreeSet<>();
        for (JsonNode alert : get("alerts").get("alerts")) {
            if (alert.get("state").asText().equals("firing")) {
                JsonNode labels = alert.get("labels");
                String instance = labels.path("instance").asText();
                firing.add(
                        (instance.isEmpty() ? "" : instance + " ")
                                + labels.get("alertname").asText());
            }
        }
        return firing;
    }

    /** The value of an expression that has one; NaN if it has none. */
    double value(String expression) throws IOException {
        JsonNode result =
                get("query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8))
                        .get("result");
        return result.size() == 1 ? result.get(0).get("value").get(1).asDouble() : Double.NaN;
    }

    private static int status(String address) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(address).toURL().openConnection();
        try {
            return connection.getResponseCode();
        } finally {
            connection.disconnect();
        }
    }

    private JsonNode get(String path) throws IOException {
        return JSON.readTree(URI.create(api + path).toURL()).get("data");
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }
}
