package io.saucr.server.admin;

import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.net.ssl.X509TrustManager;
import org.apache.zookeeper.common.QuorumX509Util;
import org.apache.zookeeper.common.X509Util;
import org.apache.zookeeper.common.ZKConfig;

/**
 * The key and the authorities of the AdminServers, which are those of the quorum port: for this
 * one, and for asking others where {@code admin.forceHttps} is set.
 */
public final class AdminTls {
    private AdminTls() {}

    private record Stores(
            KeyManagerFactory keys, TrustManagerFactory trusted, boolean checksHost) {}

    static boolean isForced() {
        return Boolean.getBoolean("zookeeper.admin.forceHttps");
    }

    /**
     * Checks the other's host, unless {@code ssl.quorum.hostnameVerification} is {@code false}.
     *
     * @throws IOException if the stores cannot be read
     */
    static SSLContext context() throws IOException {
        try {
            Stores stores = stores();
            TrustManager[] trust = stores.trusted().getTrustManagers();
            if (!stores.checksHost()) {
                trust =
                        Arrays.stream(trust)
                                .map(each -> new AnyHost((X509TrustManager) each))
                                .toArray(TrustManager[]::new);
            }
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(stores.keys().getKeyManagers(), trust, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /**
     * For connections to this AdminServer.
     *
     * @param needsClient whether a client has to show a certificate
     * @throws IOException if the stores cannot be read
     * @throws GeneralSecurityException if their content cannot be used
     */
    public static SslContext ofServer(boolean needsClient)
            throws IOException, GeneralSecurityException {
        Stores stores = stores();
        return SslContextBuilder.forServer(stores.keys())
                .trustManager(stores.trusted())
                .clientAuth(needsClient ? ClientAuth.REQUIRE : ClientAuth.NONE)
                .sslProvider(SslProvider.JDK)
                .build();
    }

    private static Stores stores() throws IOException, GeneralSecurityException {
        ZKConfig config = new ZKConfig();
        try (QuorumX509Util quorum = new QuorumX509Util()) {
            String password =
                    quorum.getPasswordFromConfigPropertyOrFile(
                            config,
                            quorum.getSslKeystorePasswdProperty(),
                            quorum.getSslKeystorePasswdPathProperty());
            KeyManagerFactory keys =
                    KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(
                    X509Util.loadKeyStore(
                            config.getProperty(quorum.getSslKeystoreLocationProperty(), ""),
                            password,
                            config.getProperty(quorum.getSslKeystoreTypeProperty(), "")),
                    password.toCharArray());
            TrustManagerFactory trusted =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trusted.init(
                    X509Util.loadTrustStore(
                            config.getProperty(quorum.getSslTruststoreLocationProperty(), ""),
                            quorum.getPasswordFromConfigPropertyOrFile(
                                    config,
                                    quorum.getSslTruststorePasswdProperty(),
                                    quorum.getSslTruststorePasswdPathProperty()),
                            config.getProperty(quorum.getSslTruststoreTypeProperty(), "")));
            return new Stores(keys, trusted, quorum.isServerHostnameVerificationEnabled(config));
        }
    }

    /** A signed certificate is enough, whatever host it names. Java's HTTP client always asks. */
    private static final class AnyHost extends X509ExtendedTrustManager {
        private final X509TrustManager signatures;

        AnyHost(X509TrustManager signatures) {
            this.signatures = signatures;
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type)
                throws CertificateException {
            signatures.checkServerTrusted(chain, type);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            signatures.checkServerTrusted(chain, type);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            signatures.checkServerTrusted(chain, type);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type)
                throws CertificateException {
            signatures.checkClientTrusted(chain, type);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            signatures.checkClientTrusted(chain, type);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            signatures.checkClientTrusted(chain, type);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return signatures.getAcceptedIssuers();
        }
    }
}
