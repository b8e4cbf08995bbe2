package io.saucr.services.wire;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts whom the JDK's trust manager trusts, as long as the certificate has not expired. The JDK
 * looks at the dates of certificates that somebody issued, but takes one that stands in the trust
 * store itself for ever. Immutable.
 */
final class DatedTrust extends X509ExtendedTrustManager {

    private final X509ExtendedTrustManager jdk;

    /**
     * Narrows the JDK's.
     *
     * @param managers of the JDK's factory, which makes exactly one for X.509
     */
    DatedTrust(TrustManager[] managers) {
        this.jdk =
                Arrays.stream(managers)
                        .filter(X509ExtendedTrustManager.class::isInstance)
                        .map(X509ExtendedTrustManager.class::cast)
                        .findFirst()
                        .orElseThrow(
                                () ->
                                        new IllegalArgumentException(
                                                "the JVM has no trust manager for X.509"));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
            throws CertificateException {
        jdk.checkClientTrusted(chain, type);
        chain[0].checkValidity();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
            throws CertificateException {
        jdk.checkClientTrusted(chain, type, socket);
        chain[0].checkValidity();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
            throws CertificateException {
        jdk.checkClientTrusted(chain, type, engine);
        chain[0].checkValidity();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
            throws CertificateException {
        jdk.checkServerTrusted(chain, type);
        chain[0].checkValidity();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
            throws CertificateException {
        jdk.checkServerTrusted(chain, type, socket);
        chain[0].checkValidity();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
            throws CertificateException {
        jdk.checkServerTrusted(chain, type, engine);
        chain[0].checkValidity();
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return jdk.getAcceptedIssuers();
    }
}
