package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.Hosting;
import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.LoopbackHosting.Disk;
import io.saucr.ensemble.ServerAddress;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers with other addresses than IPv4's: page, scripts and tool find them. */
class AddressesIT {
    private static final int VOTERS = 3;
    private static final String ALL_ANSWER = "all 3 servers answer";

    @TempDir Path folder;
    private Path local;

    @AfterEach
    void leaveNoProcess() throws Exception {
        if (local != null) {
            saucr("down", "--wipe");
        }
    }

    private static String join(IntFunction<String> each) {
        return IntStream.rangeClosed(1, VOTERS).mapToObj(each).collect(Collectors.joining(","));
    }

    private Shell.Result run(Map<String, String> variables, String command) throws Exception {
        Map<String, String> all = new HashMap<>(variables);
        all.put("JAVA_HOME", System.getProperty("java.home"));
        all.put("SAUCR_TIMEOUT", "2m");
        return new Shell(folder).run(BuiltDistribution.home(), all, command);
    }

    private Browser browse(String page) throws Exception {
        return new Browser(folder.resolve("browser"), page, 1280, 900);
    }

    private static void awaitWholePage(Browser browser) throws Exception {
        SaucrEnsemble.await(
                "every server on the page",
                () ->
                        said(browser, "#mode").equals("fast")
                                && said(browser, "#missing").contains(ALL_ANSWER));
    }

    /** Empty as long as the page is not there. */
    private static String said(Browser browser, String selector) throws Exception {
        return browser.evaluate("document.querySelector('" + selector + "')?.textContent").asText();
    }

    /** As compose files name hosts. Java's HTTP client takes such a name for none. */
    @Test
    void hostsWithAnUnderscore() throws Exception {
        Path hosts =
                Files.writeString(
                        folder.resolve("hosts"),
                        "127.0.0.1 localhost\n127.0.0.1 zk_1\n127.0.0.1 zk_2\n127.0.0.1 zk_3\n");
        LoopbackHosting hosting =
                new LoopbackHosting(SaucrEnsemble.folder("underscore"), VOTERS, Disk.PLAIN);
        IntFunction<String> admin = id -> "zk_" + id + ":" + hosting.address(id).adminPort();
        Ensemble.Builder described =
                SaucrEnsemble.describe("underscore", VOTERS)
                        .hosting(hosting)
                        .jvmFlag("-Djdk.net.hosts.file=" + hosts)
                        .set("admin.enableServer", "true")
                        .set("saucr.adminServers", join(id -> id + "=" + admin.apply(id)));
        try (SaucrEnsemble ensemble = SaucrEnsemble.start(described);
                Browser browser = browse(new AdminServer(ensemble.server(1)).url("saucr/ui"))) {
            ensemble.awaitFast();
            awaitWholePage(browser);
            String endpoints = join(id -> "zk_" + id + ":" + hosting.address(id).clientPort());
            for (String admins : List.of(join(admin), join(id -> "http://" + admin.apply(id)))) {
                Shell.Result mode =
                        run(
                                Map.of("JVMFLAGS", "-Djdk.net.hosts.file=" + hosts),
                                "bin/saucr mode --brief -e " + endpoints + " --admin " + admins);
                assertThat(mode.output()).isEqualTo("fast\n");
            }
        }
    }

    /** In brackets, as an operator writes them, who knows them from the lines of the servers. */
    @Test
    void addressesInBrackets() throws Exception {
        Hosting hosting =
                new Ipv6(new LoopbackHosting(folder.resolve("ports"), VOTERS, Disk.PLAIN));
        Ensemble.Builder described =
                SaucrEnsemble.describe("ipv6", VOTERS)
                        .hosting(hosting)
                        .set("clientPortAddress", "[::1]")
                        .set("admin.enableServer", "true")
                        .set("admin.serverAddress", "[::1]")
                        .set(
                                "saucr.adminServers",
                                join(id -> id + "=" + hosting.address(id).admin()));
        try (SaucrEnsemble ensemble = SaucrEnsemble.start(described);
                Browser browser = browse("http://" + hosting.address(1).admin() + "/")) {
            ensemble.awaitFast();
            awaitWholePage(browser);
            for (int id = 1; id <= VOTERS; id++) {
                ServerProcess server = ensemble.server(id);
                Path conf = server.configurationFile();
                String script = "bin/zkServer.sh --config " + conf.getParent();
                Shell.Result await = run(Map.of(), script + " await 60");
                assertThat(await.status()).as(await.output()).isZero();
                Shell.Result status = run(Map.of(), script + " status");
                assertThat(status.status()).as(status.output()).isZero();
                assertThat(status.output())
                        .contains("Client address: ::1.")
                        .contains("SAUCR mode: fast");
                Shell.Result tool = run(Map.of(), "bin/saucr endpoint health --config " + conf);
                assertThat(tool.status()).as(tool.output()).isZero();
                assertThat(tool.output()).contains("[::1]:" + server.address().clientPort() + " ");
            }
        }
    }

    /** The addresses of another hosting on the loopback address of IPv6. */
    private record Ipv6(Hosting ports) implements Hosting {
        @Override
        public ServerAddress address(int id) {
            ServerAddress ipv4 = ports.address(id);
            return new ServerAddress(
                    id,
                    "::1",
                    ipv4.quorumPort(),
                    ipv4.electionPort(),
                    "::1",
                    ipv4.clientPort(),
                    ipv4.adminPort());
        }

        @Override
        public Path dataDirectory(int id) {
            return ports.dataDirectory(id);
        }

        @Override
        public List<String> commandPrefix(int id) {
            return ports.commandPrefix(id);
        }

        @Override
        public Map<String, String> environment(int id) {
            return ports.environment(id);
        }

        @Override
        public String bootId(int id) {
            return ports.bootId(id);
        }

        @Override
        public void beforeStart(int id) throws IOException {
            ports.beforeStart(id);
        }

        @Override
        public void close() throws IOException {
            ports.close();
        }
    }

    /** What a new user sees first: the address is printed, and the page knows every server. */
    @Test
    void thePageOfUp() throws Exception {
        local = folder.resolve("state");
        // Below the ports that the kernel gives to clients, and none of another test's.
        Shell.Result up = saucr("up", "-n", "3", "--port-base", "19200");
        assertThat(up.status()).as(up.output()).isZero();
        String page = pageIn(up.output());
        assertThat(pageIn(saucr("status").output())).isEqualTo(page);
        HttpClient http = HttpClient.newHttpClient();
        HttpResponse<String> root =
                http.send(
                        HttpRequest.newBuilder(URI.create(page).resolve("/")).build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(root.statusCode()).isEqualTo(302);
        assertThat(URI.create(page).resolve(root.headers().firstValue("Location").orElseThrow()))
                .hasToString(page);
        try (Browser browser = browse(URI.create(page).resolve("/").toString())) {
            awaitWholePage(browser);
            assertThat(browser.text()).doesNotContain("unreachable", "mode unknown");
        }
    }

    private static String pageIn(String output) {
        Matcher page = Pattern.compile("(?m)^Status page: +(http://\\S+)$").matcher(output);
        assertThat(page.find()).as(output).isTrue();
        return page.group(1);
    }

    /** The command line behind the script, which would build first. */
    private Shell.Result saucr(String... arguments) throws Exception {
        String java =
                "\"$JAVA_HOME/bin/java\" -XX:TieredStopAtLevel=1 -Xshare:auto -Xmx128m"
                        + " -Dsaucr.root="
                        + Path.of("..").toAbsolutePath().normalize()
                        + " -Dsaucr.state="
                        + local
                        + " io.saucr.ensemble.cli.SaucrCommand "
                        + String.join(" ", arguments);
        return run(Map.of("CLASSPATH", System.getProperty("java.class.path")), java);
    }
}
