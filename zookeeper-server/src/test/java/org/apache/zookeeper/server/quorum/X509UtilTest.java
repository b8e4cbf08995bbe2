package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.cert.X509Certificate;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.common.X509Util;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** ZooKeeper's own methods that read stores, which Netty's port calls for each connection. */
class X509UtilTest {
    @TempDir static Path made;
    @TempDir Path folder;

    private static TlsKeys keys;
    private static Path one;
    private static Path other;

    private Path store;

    @BeforeAll
    static void makeKeys() throws Exception {
        keys = new TlsKeys(made);
        one = keys.issued("one", TlsKeys.Host.LOOPBACK);
        other = keys.issued("other", TlsKeys.Host.ELSEWHERE);
    }

    @BeforeEach
    void install() throws Exception {
        store = Files.copy(one, folder.resolve("store.p12"));
    }

    private X509KeyManager keyManager(String password) throws X509Exception {
        return X509Util.createKeyManager(store.toString(), password, "PKCS12");
    }

    private static X509TrustManager trustManager(Path of, boolean hostNames) throws X509Exception {
        return X509Util.createTrustManager(
                of.toString(),
                TlsKeys.PASSWORD,
                "PKCS12",
                false,
                false,
                hostNames,
                hostNames,
                false,
                false);
    }

    private static X509Certificate certificate(X509KeyManager manager) {
        String alias = manager.getServerAliases("EC", null)[0];
        return manager.getCertificateChain(alias)[0];
    }

    @Test
    void aStoreThatHasNotChangedIsReadOnce() throws Exception {
        assertThat(keyManager(TlsKeys.PASSWORD)).isSameAs(keyManager(TlsKeys.PASSWORD));
        assertThat(trustManager(keys.trusted, true)).isSameAs(trustManager(keys.trusted, true));
    }

    @Test
    void aStoreThatIsReplacedIsReadAgain() throws Exception {
        X509KeyManager before = keyManager(TlsKeys.PASSWORD);
        Path next = Files.copy(other, folder.resolve("next.p12"));
        Files.move(next, store, StandardCopyOption.ATOMIC_MOVE);

        X509KeyManager after = keyManager(TlsKeys.PASSWORD);
        assertThat(certificate(after)).isNotEqualTo(certificate(before));
        assertThat(keyManager(TlsKeys.PASSWORD)).isSameAs(after);
    }

    @Test
    void aStoreThatIsWrittenInPlaceIsReadAgain() throws Exception {
        X509KeyManager before = keyManager(TlsKeys.PASSWORD);
        Files.setLastModifiedTime(store, FileTime.fromMillis(0));
        assertThat(keyManager(TlsKeys.PASSWORD)).isNotSameAs(before);
        Files.write(store, Files.readAllBytes(other));

        assertThat(certificate(keyManager(TlsKeys.PASSWORD))).isNotEqualTo(certificate(before));
    }

    /** As the projected volumes of Kubernetes renew a certificate. */
    @Test
    void aLinkThatLeadsElsewhereIsReadAgain() throws Exception {
        Files.delete(store);
        Files.createSymbolicLink(store, one);
        X509KeyManager before = keyManager(TlsKeys.PASSWORD);
        Path next = Files.createSymbolicLink(folder.resolve("next"), other);
        Files.move(next, store, StandardCopyOption.ATOMIC_MOVE);

        assertThat(certificate(keyManager(TlsKeys.PASSWORD))).isNotEqualTo(certificate(before));
    }

    @Test
    void whatIsKnownIsForTheSameArgumentsOnly() throws Exception {
        keyManager(TlsKeys.PASSWORD);
        assertThatThrownBy(() -> keyManager("wrong"))
                .isInstanceOf(X509Exception.KeyManagerException.class);
        assertThat(trustManager(keys.trusted, true)).isNotSameAs(trustManager(keys.trusted, false));
    }

    @Test
    void aStoreThatIsGoneIsNoLongerKnown() throws Exception {
        keyManager(TlsKeys.PASSWORD);
        Files.delete(store);
        assertThatThrownBy(() -> keyManager(TlsKeys.PASSWORD))
                .isInstanceOf(X509Exception.KeyManagerException.class);
    }
}
