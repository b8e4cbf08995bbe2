package io.saucr.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Server 1 asks server 2, whose AdminServer wants HTTPS and a certificate that it trusts. */
@Timeout(60)
class AdminTlsTest {
    private static final String PASSWORD = "correct horse";
    private static final String PREFIX = "zookeeper.ssl.quorum.";
    private static final List<String> PROPERTIES =
            List.of(
                    "keyStore.location",
                    "keyStore.password",
                    "trustStore.location",
                    "trustStore.password",
                    "hostnameVerification");

    /** Its certificate names the host localhost. */
    private static Path key;

    private static Path strangersKey;

    @TempDir static Path folder;

    private HttpsServer other;

    @BeforeAll
    static void makeKeys() throws Exception {
        key = keyFor("localhost");
        strangersKey = keyFor("elsewhere");
    }

    @BeforeEach
    void start() throws Exception {
        useKeys(key, key);
        SSLContext context = AdminTls.context();
        other = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.setHttpsConfigurator(
                new HttpsConfigurator(context) {
                    @Override
                    public void configure(HttpsParameters parameters) {
                        SSLParameters tls = context.getDefaultSSLParameters();
                        tls.setNeedClientAuth(true);
                        parameters.setSSLParameters(tls);
                    }
                });
        other.createContext(
                "/commands/saucr",
                exchange -> {
                    byte[] body = "{\"server\": 2}".getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(200, body.length);
                    exchange.getResponseBody().write(body);
                    exchange.close();
                });
        other.start();
    }

    @AfterEach
    void stop() {
        other.stop(0);
        PROPERTIES.forEach(name -> System.clearProperty(PREFIX + name));
    }

    @Test
    void itAsksWithTheKeyOfTheQuorumPort() {
        assertThat(row("localhost")).containsEntry("status", Map.of("server", 2));
    }

    @Test
    void aCertificateForAnotherHostIsNoneUnlessHostsAreNotToBeChecked() {
        assertThat(row("127.0.0.1").get("error").toString())
                .startsWith("no connection over HTTPS: ")
                .contains("127.0.0.1");
        System.setProperty(PREFIX + "hostnameVerification", "false");
        assertThat(row("127.0.0.1")).containsEntry("status", Map.of("server", 2));
    }

    @Test
    void whoIsNotTrustedGetsNoQuestionAndNoAnswer() throws Exception {
        useKeys(key, strangersKey);
        assertThat(row("localhost").get("error").toString())
                .startsWith("no connection over HTTPS: ");
        System.setProperty(PREFIX + "hostnameVerification", "false");
        assertThat(row("localhost").get("error").toString())
                .startsWith("no connection over HTTPS: ");
        useKeys(strangersKey, key);
        assertThat(row("localhost")).containsKey("error").doesNotContainKey("status");
    }

    @Test
    void whoHasNoKeysSaysSo() {
        System.setProperty(PREFIX + "keyStore.location", folder.resolve("none.p12").toString());
        assertThat(row("localhost").get("error").toString())
                .startsWith("this server cannot ask over HTTPS, for want of its own keys: ")
                .contains("none.p12");
    }

    private Map<String, Object> row(String host) {
        return new EnsembleView(
                        1,
                        "",
                        true,
                        () -> Map.of("server", 1),
                        () ->
                                List.of(
                                        new EnsembleView.Member(1, "not asked", List.of()),
                                        new EnsembleView.Member(
                                                2,
                                                host + ":" + other.getAddress().getPort(),
                                                List.of())))
                .servers()
                .get(1);
    }

    private static void useKeys(Path own, Path trusted) {
        System.setProperty(PREFIX + "keyStore.location", own.toString());
        System.setProperty(PREFIX + "keyStore.password", PASSWORD);
        System.setProperty(PREFIX + "trustStore.location", trusted.toString());
        System.setProperty(PREFIX + "trustStore.password", PASSWORD);
    }

    /** A store with a key and the certificate of it, which has signed itself. */
    private static Path keyFor(String host) throws IOException, InterruptedException {
        Path store = folder.resolve(host + ".p12");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-genkeypair", "-keyalg", "EC", "-dname", "CN=" + host));
        command.addAll(List.of("-ext", "SAN=dns:" + host, "-alias", "server"));
        command.addAll(List.of("-storetype", "PKCS12", "-storepass", PASSWORD));
        command.addAll(List.of("-keystore", store.toString()));
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve("keytool.log").toFile())
                        .start();
        assertThat(process.waitFor()).isZero();
        return store;
    }
}
