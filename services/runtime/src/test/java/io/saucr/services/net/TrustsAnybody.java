package io.saucr.services.net;

import java.security.cert.X509Certificate;
import javax.net.ssl.X509TrustManager;

/** Of a client that does not care whom it talks to. */
public final class TrustsAnybody implements X509TrustManager {

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
