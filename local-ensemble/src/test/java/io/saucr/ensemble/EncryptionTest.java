package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.ensemble.Encryption.Tls;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys, settings and ports of ensembles that use TLS. */
class EncryptionTest {
    private static final List<String> ADDRESSES = List.of("10.77.0.1", "10.77.1.1");

    @TempDir Path folder;

    @Test
    void theKeyIsMadeOnceAndNamesTheAddresses() throws Exception {
        Encryption made = Encryption.of(Tls.ALL, folder, ADDRESSES);
        byte[] bytes = Files.readAllBytes(made.keys());
        assertThat(Encryption.of(Tls.ALL, folder, List.of())).isEqualTo(made);
        assertThat(made.keys()).hasBinaryContent(bytes);
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(made.keys())) {
            store.load(in, made.settings().get("ssl.keyStore.password").toCharArray());
        }
        assertThat(store.isKeyEntry("own")).isTrue();
        X509Certificate certificate = (X509Certificate) store.getCertificate("trusted");
        assertThat(certificate.getSubjectAlternativeNames())
                .extracting(name -> name.get(1).toString())
                .contains("127.0.0.1", "localhost")
                .containsAll(ADDRESSES);
    }

    @Test
    void aStoreThatIsNotFinishedIsMadeAnew() throws Exception {
        Files.writeString(folder.resolve("new-keys.p12"), "interrupted");
        assertThat(Encryption.of(Tls.QUORUM, folder, List.of()).keys()).exists();
        assertThat(folder.resolve("new-keys.p12")).doesNotExist();
    }

    @Test
    void anAddressThatIsNoneIsRefused() {
        assertThatThrownBy(() -> Encryption.of(Tls.ALL, folder, List.of("nowhere")))
                .hasMessageContaining("the keys for TLS cannot be made")
                .hasMessageContaining("nowhere");
        assertThat(folder.resolve("keys.p12")).doesNotExist();
    }

    @Test
    void withTlsEverywhereServersHaveAPortMoreAndClientsConnectToIt() throws Exception {
        Encryption everywhere = Encryption.of(Tls.ALL, folder, List.of());
        try (Ensemble ensemble = ensemble(everywhere)) {
            for (ServerProcess server : ensemble.servers()) {
                Properties written = configuration(server);
                assertThat(written).containsEntry("sslQuorum", "true");
                String secure = "127.0.0.1:" + written.getProperty("secureClientPort");
                assertThat(ensemble.client(server.id()))
                        .isEqualTo(secure)
                        .isNotEqualTo(server.address().client());
                assertThat(ensemble.connectString()).contains(secure);
            }
        }
    }

    @Test
    void betweenServersAloneClientsDoWithoutTls() throws Exception {
        try (Ensemble ensemble = ensemble(Encryption.of(Tls.QUORUM, folder, List.of()))) {
            ServerProcess server = ensemble.server(1);
            assertThat(configuration(server))
                    .containsEntry("sslQuorum", "true")
                    .doesNotContainKeys("secureClientPort", "ssl.keyStore.location");
            assertThat(ensemble.client(1)).isEqualTo(server.address().client());
        }
    }

    @Test
    void withoutTlsNothingIsSet() throws Exception {
        assertThat(Encryption.of(Tls.NONE, folder, ADDRESSES)).isEqualTo(Encryption.NONE);
        assertThat(Encryption.NONE.settings()).isEmpty();
        assertThat(folder).isEmptyDirectory();
    }

    private Ensemble ensemble(Encryption encryption) throws Exception {
        return Ensemble.of(Distribution.stock(), folder.resolve("servers"))
                .jvm(List.of())
                .encryption(encryption)
                .build();
    }

    private static Properties configuration(ServerProcess server) throws Exception {
        Properties written = new Properties();
        try (InputStream in = Files.newInputStream(server.configurationFile())) {
            written.load(in);
        }
        return written;
    }
}
