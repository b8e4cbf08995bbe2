package io.saucr.services.wire;

import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.NotSslRecordException;
import java.io.IOException;
import java.security.SignatureException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says to people why a connection broke, and what to do about it. */
public final class LinkFailure {

    private static final Logger LOG = LoggerFactory.getLogger(LinkFailure.class);

    private LinkFailure() {}

    /**
     * The reason.
     *
     * @param thrown by a handler of the connection
     * @param who is at the other end
     * @param doubt what may be wrong with the address, or empty
     */
    public static String reason(Throwable thrown, String who, String doubt, NetOptions options) {
        Throwable cause =
                thrown instanceof DecoderException && thrown.getCause() != null
                        ? thrown.getCause()
                        : thrown;
        if (cause instanceof BadFrameException) {
            return who + " sent what is no frame: " + cause.getMessage();
        }
        if (cause instanceof NotSslRecordException) {
            return who + " does not speak TLS, and this side does: set ssl.* on both, or on none";
        }
        if (cause instanceof SSLException) {
            return "TLS with " + who + " failed: " + tlsReason(cause, options);
        }
        if (cause instanceof IOException) {
            return "the connection with " + who + " broke: " + cause.getMessage() + doubt;
        }
        LOG.error("the connection with {} failed on this side; report this", who, thrown);
        return "the connection with " + who + " failed on this side: " + cause;
    }

    private static String tlsReason(Throwable cause, NetOptions options) {
        Throwable deepest = cause;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        String said = String.valueOf(deepest.getMessage());
        String files = options.tls().map(t -> t.trustStore().toString()).orElse("ssl.trustStore");
        if (said.contains("Received fatal alert")) {
            return said
                    + ": the other side refused this side's certificate or settings; its log says"
                    + " why";
        }
        if (deepest instanceof CertificateExpiredException
                || deepest instanceof CertificateNotYetValidException) {
            return said + ": its certificate counts between its dates only; it needs a new one";
        }
        if (deepest instanceof SignatureException) {
            return said
                    + ": "
                    + files
                    + " has another certificate of the name that issued this one; it may have been"
                    + " renewed since: put the new one there";
        }
        if (said.contains("certification path") || said.contains("trust anchor")) {
            return said + ": who issued its certificate must be in " + files;
        }
        if (said.contains("Empty") && said.contains("certificate chain")) {
            return said + ": the other side must have a key store";
        }
        return said;
    }
}
