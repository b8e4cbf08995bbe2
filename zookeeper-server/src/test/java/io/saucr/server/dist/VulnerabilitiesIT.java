package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code packaging/vulnerabilities}: the libraries of the distribution have no known vulnerability.
 */
class VulnerabilitiesIT {
    private static final Path SCRIPT =
            Path.of("").toAbsolutePath().resolveSibling("packaging/vulnerabilities");
    private static final Path KNOWN = SCRIPT.resolveSibling("vulnerabilities.json");
    private static final String DISTRIBUTION = System.getProperty("saucr.distribution");

    @TempDir Path folder;
    private Path list;

    @BeforeEach
    void copyOfTheList() throws Exception {
        assumeTrue(hasPython(), "no python3 on the PATH");
        list = Files.copy(KNOWN, folder.resolve("list.json"));
    }

    private static boolean hasPython() throws InterruptedException {
        try {
            return Scripts.run(new ProcessBuilder("python3", "--version"), Scripts.LIMIT).exitCode()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void noLibraryHasAKnownVulnerability() throws Exception {
        Scripts.Result result = run("check", DISTRIBUTION);
        assertThat(result.exitCode()).as(result.output()).isZero();
        assertThat(result.output()).contains(" 0 to be dealt with");
    }

    @Test
    void aVulnerableVersionIsNamed() throws Exception {
        vulnerability(
                "CVE-A", "io.netty:netty-codec", "\"introduced\": \"4.1.0\", \"fixed\": \"99.0\"");
        vulnerability("CVE-B", "io.netty:netty-codec", "\"introduced\": \"99.0\"");
        vulnerability(
                "CVE-C", "io.netty:netty-codec", "\"introduced\": \"0\", \"fixed\": \"4.1.1\"");
        vulnerability("CVE-D", "io.netty:netty-common", "\"introduced\": \"0\"");
        Scripts.Result result = run("check", DISTRIBUTION, "--list", list.toString());
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.output())
                .containsPattern("VULNERABLE CVE-A: io.netty:netty-codec 4\\S+, fixed in 99.0")
                .containsPattern(
                        "VULNERABLE CVE-D: io.netty:netty-common 4\\S+, fixed in no version")
                .doesNotContain("CVE-B", "CVE-C")
                .contains(" 2 to be dealt with");
    }

    @Test
    void whatIsAcceptedNeedsAVulnerability() throws Exception {
        accept("CVE-0", "of old");
        Scripts.Result result = run("check", DISTRIBUTION, "--list", list.toString());
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.output()).contains("NEEDLESS CVE-0 is accepted in " + list);
    }

    @Test
    void whatCannotBeReadIsNamed() throws Exception {
        Files.writeString(list, "{}");
        Scripts.Result result = run("check", DISTRIBUTION, "--list", list.toString());
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.output()).contains(list + ": it is not a list of vulnerabilities");
        result = run("check", folder.resolve("no.tar.gz").toString());
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.output()).contains("no.tar.gz: this is not a distribution");
    }

    @Test
    void theListIsRenewedFromAllPages() throws Exception {
        accept("CVE-8", "the range is not ours");
        try (Api api = new Api()) {
            Scripts.Result result =
                    run("renew", DISTRIBUTION, "--list", list.toString(), "--api", api.address());
            assertThat(result.exitCode()).as(result.output()).isZero();
            assertThat(api.asked)
                    .anyMatch(asked -> asked.contains("\"io.netty:netty-codec\""))
                    .anyMatch(asked -> asked.contains("\"page_token\": \"next\""));
        }
        assertThat(Files.readString(list))
                .contains("\"date\": \"" + LocalDate.now(ZoneId.systemDefault()) + "\"")
                .contains("\"CVE-8\": \"the range is not ours\"")
                .contains(
                        "{\"id\": \"CVE-8\", \"package\": \"io.netty:netty-codec\", \"ranges\":"
                                + " [{\"introduced\": \"0\", \"fixed\": \"4.1.2\"}, {\"introduced\":"
                                + " \"4.1.9\", \"last_affected\": \"4.1.10\"}]}")
                .contains("{\"id\": \"GHSA-2\", \"package\": \"io.netty:netty-codec\"")
                .doesNotContain("GHSA-1", "GHSA-3", "CVE-2025-58057");
        Scripts.Result result = run("check", DISTRIBUTION, "--list", list.toString());
        assertThat(result.output()).contains("VULNERABLE GHSA-2: io.netty:netty-codec");
    }

    @Test
    void anAnswerThatIsMissingLeavesTheListAsItWas() throws Exception {
        String before = Files.readString(list);
        try (Api api = new Api()) {
            api.failing = true;
            Scripts.Result result =
                    run("renew", DISTRIBUTION, "--list", list.toString(), "--api", api.address());
            assertThat(result.exitCode()).isEqualTo(2);
            assertThat(result.output()).contains("The list stays as it was");
        }
        assertThat(Files.readString(list)).isEqualTo(before);
    }

    private void vulnerability(String id, String library, String range) throws IOException {
        replace(
                "\"vulnerabilities\": [",
                "\"vulnerabilities\": [\n    {\"id\": \"%s\", \"package\": \"%s\", \"ranges\": [{%s}]},"
                        .formatted(id, library, range));
    }

    private void accept(String id, String reason) throws IOException {
        String none = "\"accepted\": {\n\n";
        String entry = "\"accepted\": {\n    \"%s\": \"%s\"".formatted(id, reason);
        if (Files.readString(list).contains(none)) {
            replace(none, entry + "\n");
        } else {
            replace("\"accepted\": {", entry + ",");
        }
    }

    private void replace(String part, String with) throws IOException {
        String text = Files.readString(list);
        assertThat(text).containsOnlyOnce(part);
        Files.writeString(list, text.replace(part, with));
    }

    private static Scripts.Result run(String... arguments) throws Exception {
        return Scripts.run(
                new ProcessBuilder(
                        Stream.concat(Stream.of(SCRIPT.toString()), Stream.of(arguments)).toList()),
                Scripts.LIMIT);
    }

    /** Answers as OSV does: for Netty's codecs in two pages, with nothing for all others. */
    private static final class Api implements AutoCloseable {
        final List<String> asked = new ArrayList<>();
        volatile boolean failing;
        private final HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);

        Api() throws IOException {
            server.createContext(
                    "/v1/query",
                    exchange -> {
                        String body =
                                new String(
                                        exchange.getRequestBody().readAllBytes(),
                                        StandardCharsets.UTF_8);
                        asked.add(body);
                        byte[] answer = answer(body).getBytes(StandardCharsets.UTF_8);
                        exchange.sendResponseHeaders(failing ? 500 : 200, answer.length);
                        exchange.getResponseBody().write(answer);
                        exchange.close();
                    });
            server.start();
        }

        private static String answer(String body) {
            if (!body.contains("\"io.netty:netty-codec\"")) {
                return "{}";
            }
            String affected =
                    "\"affected\": [{\"package\": {\"name\": \"io.netty:netty-codec\"}, \"ranges\":"
                            + " [{\"type\": \"ECOSYSTEM\", \"events\": [%s]}]}]";
            String all = affected.formatted("{\"introduced\": \"0\"}");
            if (body.contains("\"page_token\": \"next\"")) {
                return "{\"vulns\": [{\"id\": \"GHSA-2\", "
                        + all
                        + "},"
                        + " {\"id\": \"GHSA-3\", \"withdrawn\": \"2026-01-01T00:00:00Z\", "
                        + all
                        + "}]}";
            }
            return "{\"vulns\": [{\"id\": \"GHSA-1\", \"aliases\": [\"CVE-8\"], "
                    + affected.formatted(
                            "{\"introduced\": \"0\"}, {\"fixed\": \"4.1.2\"}, {\"introduced\": \"4.1.9\"},"
                                    + " {\"last_affected\": \"4.1.10\"}")
                    + "}], \"next_page_token\": \"next\"}";
        }

        String address() {
            return "http://127.0.0.1:" + server.getAddress().getPort();
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }
}
