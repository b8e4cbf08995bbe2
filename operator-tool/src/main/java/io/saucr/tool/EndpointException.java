package io.saucr.tool;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Locale;
import javax.net.ssl.SSLException;

/**
 * Why a server did not answer as it should. The message is a sentence without the server's name,
 * for the code that prints it knows of which one it speaks.
 */
final class EndpointException extends IOException {
    /** The sentence for a connection that ends before an answer. */
    static final String CLOSES = "closes the connection without an answer";

    /** The sentence for a port that nothing listens at. */
    static final String NOTHING_THERE = "refuses connections: nothing listens there";

    private static final long serialVersionUID = 1;

    /** What callers tell apart. */
    enum Reason {
        /** Nothing that speaks the protocol was reached. */
        UNREACHABLE,
        /** It answers, but does not know what it was asked. */
        UNKNOWN_COMMAND,
        /** It answers that it does not serve at present. */
        NOT_SERVING,
        /** It answers, and refuses. */
        REFUSED,
        /** It answers that its log does not have the entries. */
        GONE
    }

    private final Reason reason;

    EndpointException(Reason reason, String sentence) {
        this(reason, sentence, null);
    }

    private EndpointException(Reason reason, String sentence, Throwable cause) {
        super(sentence, cause);
        this.reason = reason;
    }

    Reason reason() {
        return reason;
    }

    /**
     * The same with the AdminServer's name in front.
     *
     * @param lacks what a server does that does not know the command, as a sentence continues after
     *     its name
     */
    EndpointException of(Endpoint endpoint, String lacks) {
        return new EndpointException(
                reason,
                endpoint.adminName()
                        + " "
                        + (reason == Reason.UNKNOWN_COMMAND
                                ? lacks
                                        + ": this is a server of Apache's, an older version, or one"
                                        + " with SAUCR off"
                                : getMessage()));
    }

    /** No answer in time from a server that accepts connections. */
    static EndpointException silent(Duration patience) {
        return new EndpointException(
                Reason.UNREACHABLE,
                "accepts connections, but does not answer within " + Durations.readable(patience));
    }

    /**
     * @param patience how long was waited, for time-outs
     */
    static EndpointException of(IOException cause, Duration patience) {
        if (cause instanceof EndpointException known) {
            return known;
        }
        return new EndpointException(Reason.UNREACHABLE, sentence(cause, patience), cause);
    }

    /**
     * The answer began, and did not come to its end.
     *
     * @param patience how long was waited, for time-outs
     */
    static EndpointException brokenOff(IOException cause, Duration patience) {
        String said = String.valueOf(cause.getMessage());
        String why =
                cause instanceof SocketTimeoutException
                        ? ": nothing more came within " + Durations.readable(patience)
                        : said.equals("Premature EOF") ? "" : ": " + said;
        return new EndpointException(
                Reason.UNREACHABLE, "broke off in the middle of what it sent" + why, cause);
    }

    private static String sentence(IOException cause, Duration patience) {
        String said = String.valueOf(cause.getMessage());
        String lower = said.toLowerCase(Locale.ROOT);
        if (cause instanceof SSLException) {
            return tls(said, lower);
        }
        if (cause instanceof UnknownHostException) {
            return "unknown host";
        }
        if (cause instanceof SocketTimeoutException) {
            return lower.contains("connect")
                    ? "accepts no connection within " + Durations.readable(patience)
                    : silent(patience).getMessage();
        }
        if (cause instanceof ConnectException && lower.contains("refused")) {
            return NOTHING_THERE;
        }
        if (cause instanceof NoRouteToHostException) {
            return "no route to the host";
        }
        if (cause instanceof EOFException
                || lower.contains("unexpected end of file")
                || (cause instanceof SocketException
                        && (lower.contains("reset") || lower.contains("broken pipe")))) {
            return CLOSES;
        }
        return said.isEmpty() ? cause.toString() : said;
    }

    private static String tls(String said, String lower) {
        if (lower.contains("unable to find valid certification path")
                || lower.contains("pkix")
                || lower.contains("trustanchors")) {
            return "TLS: its certificate is not trusted by the trust store (" + said + ")";
        }
        if (lower.contains("no subject alternative")
                || lower.contains("no name matching")
                || lower.contains("hostname")) {
            return "TLS: its certificate is of another host (" + said + ")";
        }
        if (lower.contains("unsupported or unrecognized ssl message")) {
            return "does not speak TLS there";
        }
        if (lower.contains("bad_certificate")
                || lower.contains("certificate_required")
                || lower.contains("certificate_unknown")) {
            return "TLS: it does not accept the certificate of the key store, or wants one ("
                    + said
                    + ")";
        }
        if (lower.contains("remote host terminated the handshake")) {
            return "TLS: it ends the handshake; it speaks no TLS there, or wants a certificate";
        }
        return "TLS: " + said;
    }
}
