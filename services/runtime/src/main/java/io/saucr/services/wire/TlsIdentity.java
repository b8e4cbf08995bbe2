package io.saucr.services.wire;

import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.apache.zookeeper.common.X509Util;

/**
 * The keys of one service or client, read once. Both sides of a connection must show a certificate
 * that the trust store vouches for. Immutable.
 */
public final class TlsIdentity {

    private static final int DNS_NAME = 2;

    public final SslContext accepting;
    public final SslContext dialling;

    private TlsIdentity(SslContext accepting, SslContext dialling) {
        this.accepting = accepting;
        this.dialling = dialling;
    }

    /**
     * Reads the keys of a client, whose certificate may bear any name.
     *
     * @throws IOException where a file cannot be used; says which file and what to do
     */
    public static TlsIdentity ofClient(String client, TlsOptions options) throws IOException {
        KeyStore keys = keyStore(options);
        ownNames(options, keys);
        return load(client, options, keys);
    }

    /** As {@link #ofService(String, TlsOptions)}, where there is TLS. */
    public static Optional<TlsIdentity> ofService(String service, Optional<TlsOptions> options)
            throws IOException {
        return options.isPresent()
                ? Optional.of(ofService(service, options.get()))
                : Optional.empty();
    }

    /**
     * Reads keys and trusted certificates.
     *
     * @param service whose name the certificate must bear
     * @throws IOException where a file cannot be used, or the certificate is another's; says which
     *     file and what to do
     */
    public static TlsIdentity ofService(String service, TlsOptions options) throws IOException {
        KeyStore keys = keyStore(options);
        Set<String> names = ownNames(options, keys);
        // Else every peer would refuse this service, each in its own log.
        if (!names.contains(service)) {
            throw new IOException(
                    "the certificate in "
                            + options.keyStore()
                            + " names "
                            + names
                            + ", and this service is "
                            + service
                            + ": peers would refuse it. Use a certificate with that common name or"
                            + " DNS name");
        }
        return load(service, options, keys);
    }

    private static TlsIdentity load(String self, TlsOptions options, KeyStore keys)
            throws IOException {
        KeyStore trusted = trustStore(options);
        try {
            KeyManagerFactory keyManagers =
                    KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keyManagers.init(keys, options.keyStorePassword().toCharArray());
            TrustManagerFactory trustManagers =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trustManagers.init(trusted);
            TrustManager dated = new DatedTrust(trustManagers.getTrustManagers());
            return new TlsIdentity(
                    build(SslContextBuilder.forServer(keyManagers), dated, options),
                    build(SslContextBuilder.forClient().keyManager(keyManagers), dated, options));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException(
                    self + " cannot use TLS: " + e.getMessage() + " (" + options + ")", e);
        }
    }

    private static SslContext build(
            SslContextBuilder builder, TrustManager trusted, TlsOptions options)
            throws IOException {
        builder.trustManager(trusted)
                .sslProvider(SslProvider.JDK)
                .clientAuth(ClientAuth.REQUIRE)
                .protocols(options.protocols());
        if (!options.cipherSuites().isEmpty()) {
            builder.ciphers(options.cipherSuites());
        }
        return builder.build();
    }

    private static KeyStore keyStore(TlsOptions options) throws IOException {
        try {
            return X509Util.loadKeyStore(
                    options.keyStore().toString(),
                    options.keyStorePassword(),
                    typeOrNull(options.keyStoreType()));
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw unreadable("ssl.keyStore", options.keyStore().toString(), e);
        }
    }

    private static KeyStore trustStore(TlsOptions options) throws IOException {
        KeyStore store;
        try {
            store =
                    X509Util.loadTrustStore(
                            options.trustStore().toString(),
                            options.trustStorePassword(),
                            typeOrNull(options.trustStoreType()));
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw unreadable("ssl.trustStore", options.trustStore().toString(), e);
        }
        if (size(store) == 0) {
            throw new IOException(
                    "the trust store "
                            + options.trustStore()
                            + " holds no certificate, so no peer could be trusted");
        }
        return store;
    }

    private static String typeOrNull(String type) {
        return type.isEmpty() ? null : type;
    }

    private static IOException unreadable(String setting, String file, Exception cause) {
        String why =
                cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new IOException(
                "cannot read "
                        + file
                        + ": "
                        + why
                        + "; check "
                        + setting
                        + ".location, .password and .type (PEM, PKCS12 or JKS)",
                cause);
    }

    private static int size(KeyStore store) throws IOException {
        try {
            return store.size();
        } catch (GeneralSecurityException e) {
            throw new IOException("cannot read a key store: " + e.getMessage(), e);
        }
    }

    private static Set<String> ownNames(TlsOptions options, KeyStore keys) throws IOException {
        Set<String> names = new TreeSet<>();
        boolean key = false;
        try {
            for (String alias : Collections.list(keys.aliases())) {
                if (keys.isKeyEntry(alias)
                        && keys.getCertificate(alias) instanceof X509Certificate certificate) {
                    key = true;
                    names.addAll(names(certificate));
                }
            }
        } catch (GeneralSecurityException e) {
            throw unreadable("ssl.keyStore", options.keyStore().toString(), e);
        }
        if (!key) {
            throw new IOException(
                    "the key store "
                            + options.keyStore()
                            + " holds no private key with a certificate");
        }
        return names;
    }

    /** The certificate that the other side of an established connection has shown. */
    public static X509Certificate certificate(SslHandler established) {
        try {
            return (X509Certificate) established.engine().getSession().getPeerCertificates()[0];
        } catch (SSLPeerUnverifiedException e) {
            throw new IllegalStateException("TLS without the peer's certificate", e);
        }
    }

    /** What a certificate says its owner is called: its common name first, then its DNS names. */
    public static Set<String> names(X509Certificate certificate) {
        Set<String> names = new LinkedHashSet<>();
        try {
            for (Rdn part :
                    new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
                if (part.getType().equalsIgnoreCase("CN")
                        && part.getValue() instanceof String name) {
                    names.add(name);
                }
            }
            Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
            if (alternatives != null) {
                for (List<?> alternative : alternatives) {
                    if (alternative.get(0) instanceof Integer type
                            && type == DNS_NAME
                            && alternative.get(1) instanceof String name) {
                        names.add(name);
                    }
                }
            }
        } catch (InvalidNameException | CertificateParsingException e) {
            // A name that cannot be read names nobody.
            return names;
        }
        return names;
    }
}
