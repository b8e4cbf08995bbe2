package io.saucr.server.dist;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The chart with TLS: servers whose keys come from the files of a Secret, as cert-manager writes
 * them, are scaled, and take another certificate without a restart.
 */
@Tag("trial")
class PodTlsIT {
    private static final Duration LONG = Duration.ofMinutes(3);

    @TempDir static Path unpacked;
    @TempDir Path folder;

    /**
     * As kubelet writes a Secret: the names are links into a folder that is replaced as a whole.
     */
    private void issue(Pods pods, String name) throws Exception {
        Path secret = Files.createDirectories(pods.tlsSecret());
        Path content = Files.createDirectory(secret.resolve("..content-" + name));
        StringBuilder hosts = new StringBuilder();
        for (int id = 1; id <= Pods.MOST; id++) {
            hosts.append(id == 1 ? "IP:" : ",IP:").append(pods.host(id));
        }
        Path authority = folder.resolve("authority.pem");
        Path key = folder.resolve("authority.key");
        if (!Files.exists(authority)) {
            openssl(
                    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 10"
                            + " -subj /CN=authority -keyout %s -out %s".formatted(key, authority));
        }
        Path request = folder.resolve(name + ".csr");
        openssl(
                "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=%s -keyout %s -out %s"
                        .formatted(name, content.resolve("tls.key"), request));
        Path extensions =
                Files.writeString(folder.resolve(name + ".ext"), "subjectAltName=" + hosts + "\n");
        openssl(
                "x509 -req -in %s -CA %s -CAkey %s -CAcreateserial -days 5 -extfile %s -out %s"
                        .formatted(
                                request, authority, key, extensions, content.resolve("tls.crt")));
        Files.copy(authority, content.resolve("ca.crt"));
        Path link = Files.createSymbolicLink(secret.resolve("..data_tmp"), content.getFileName());
        Files.move(link, secret.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        for (String file : List.of("tls.key", "tls.crt", "ca.crt")) {
            if (!Files.exists(secret.resolve(file))) {
                Files.createSymbolicLink(secret.resolve(file), Path.of("..data/" + file));
            }
        }
    }

    private static void openssl(String words) throws Exception {
        ProcessBuilder openssl = new ProcessBuilder(("openssl " + words).split(" "));
        Scripts.Result result = Scripts.run(openssl, Scripts.LIMIT);
        assertThat(result.exitCode()).as(result.output()).isZero();
    }

    /** The subject of the certificate that a port shows; empty if there is none. */
    private static String subject(String host, int port) throws Exception {
        String[] subject = {""};
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(
                null,
                new TrustManager[] {
                    new X509TrustManager() {
                        @Override
                        public void checkClientTrusted(X509Certificate[] chain, String type) {}

                        @Override
                        public void checkServerTrusted(X509Certificate[] chain, String type) {
                            subject[0] = chain[0].getSubjectX500Principal().getName();
                        }

                        @Override
                        public X509Certificate[] getAcceptedIssuers() {
                            return new X509Certificate[0];
                        }
                    }
                },
                null);
        try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(host, port)) {
            socket.setSoTimeout(5000);
            socket.startHandshake();
        } catch (IOException withoutKey) {
            // It has shown its certificate, and refuses us.
        }
        return subject[0];
    }

    private static void awaitReady(Pods pods, int... ids) {
        for (int id : ids) {
            await().atMost(LONG).until(() -> pods.ask(id, "/readyz") == 200);
        }
    }

    /** Waits until every server shows this certificate to clients and to other servers. */
    private static void assertCertificate(Pods pods, String subject) {
        for (int id = 1; id <= Pods.MOST; id++) {
            String host = pods.host(id);
            for (String port : List.of("2281", "3888")) {
                await().atMost(LONG).until(() -> subject(host, pods.port(port)).equals(subject));
            }
        }
    }

    @Test
    void anEnsembleWithTlsGrowsAndTakesAnotherCertificate() throws Exception {
        Path home = Scripts.unpack(unpacked);
        try (Pods pods = new Pods(home, folder, "all")) {
            issue(pods, "first");
            for (int id = 1; id <= 3; id++) {
                pods.start(id);
            }
            awaitReady(pods, 1, 2, 3);
            // Nothing listens for clients without TLS.
            assertThat(pods.role(1)).isEmpty();
            pods.start(4);
            pods.start(5);
            Scripts.Result up = pods.exec(1, "pod.sh", "scale-up", "5");
            assertThat(up.exitCode()).as(up.output()).isZero();
            assertThat(up.output()).contains("servers 1 to 5 are voters");
            assertCertificate(pods, "CN=first");

            issue(pods, "second");
            assertCertificate(pods, "CN=second");
            // Peers with the new certificate find each other.
            pods.kill(2);
            pods.start(2);
            awaitReady(pods, 1, 2, 3, 4, 5);
            Scripts.Result list = pods.exec(1, "pod.sh", "saucr", "member", "list");
            assertThat(list.exitCode()).as(list.output()).isZero();
            assertThat(list.output().lines().filter(line -> line.contains(" voter "))).hasSize(5);

            // A key in another form is refused by name, before the server starts.
            pods.stop(5);
            Path keyFile = pods.tlsSecret().toRealPath().resolve("tls.key");
            Files.writeString(keyFile, "-----BEGIN EC PRIVATE KEY-----\n");
            Scripts.Result refused = pods.exec(5, "pod.sh", "start");
            assertThat(refused.exitCode()).isEqualTo(1);
            assertThat(refused.output()).contains("is no key in PKCS 8", "encoding: PKCS8");
        }
    }
}
