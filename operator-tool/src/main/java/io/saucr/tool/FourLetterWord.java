package io.saucr.tool;

import io.saucr.tool.EndpointException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** ZooKeeper's short questions on the clients' port: {@code srvr}, {@code mntr}. */
final class FourLetterWord {
    private static final int LONGEST_ANSWER = 4 << 20;

    /** As much of a stranger's answer as a row can show. */
    private static final int SHOWN = 80;

    private static final int TLS_ALERT = 0x15;
    private static final String WANTS_CERTIFICATE =
            "; it may want a certificate, or another one (--key-store)";

    private FourLetterWord() {}

    /**
     * What {@code srvr} says: the text behind the first colon of each line, by the text before it.
     *
     * @throws EndpointException if no server of ZooKeeper answers, if it does not serve ({@code
     *     NOT_SERVING}), or if the word is not in its whitelist ({@code UNKNOWN_COMMAND})
     */
    static Map<String, String> srvr(Endpoint endpoint, Connection connection, Deadline deadline)
            throws EndpointException {
        return lines(ask("srvr", endpoint, connection, deadline), ":");
    }

    /** What {@code mntr} says; a server of SAUCR's answers it while it does not serve, too. */
    static Map<String, String> mntr(Endpoint endpoint, Connection connection, Deadline deadline)
            throws EndpointException {
        return lines(ask("mntr", endpoint, connection, deadline), "\t");
    }

    private static Map<String, String> lines(String answer, String separator) {
        Map<String, String> lines = new LinkedHashMap<>();
        answer.lines()
                .forEach(
                        line -> {
                            int at = line.indexOf(separator);
                            if (at > 0) {
                                lines.put(
                                        line.substring(0, at).strip(),
                                        line.substring(at + 1)
                                                .strip()
                                                .replaceAll("\\p{Cntrl}", "?"));
                            }
                        });
        return lines;
    }

    private static String ask(
            String word, Endpoint endpoint, Connection connection, Deadline deadline)
            throws EndpointException {
        byte[] answer = send(word, endpoint, connection, deadline);
        String text = new String(answer, StandardCharsets.UTF_8);
        if (text.contains("not in the whitelist")) {
            throw new EndpointException(
                    Reason.UNKNOWN_COMMAND, word + " is not in its 4lw.commands.whitelist");
        }
        // A server of SAUCR's that recovers tells more after this line.
        if (text.startsWith("This ZooKeeper instance is not") && !text.contains("zk_")) {
            throw new EndpointException(Reason.NOT_SERVING, "does not serve at present");
        }
        if (text.startsWith("HTTP/") || (answer.length == 0 && speaksHttp(endpoint, deadline))) {
            throw new EndpointException(
                    Reason.UNREACHABLE,
                    "speaks HTTP: this is no port of clients, but that of an AdminServer?");
        }
        if (answer.length == 0 || answer[0] == TLS_ALERT) {
            throw new EndpointException(
                    Reason.UNREACHABLE,
                    EndpointException.CLOSES
                            + (endpoint.tls()
                                    ? WANTS_CERTIFICATE
                                    : "; a port with TLS needs --tls"));
        }
        if (!text.contains("Zookeeper version:") && !text.contains("zk_")) {
            throw new EndpointException(
                    Reason.UNREACHABLE, "answers what no ZooKeeper server answers: " + shown(text));
        }
        return text;
    }

    private static String shown(String answer) {
        String line = answer.lines().findFirst().orElse("");
        return (line.length() > SHOWN ? line.substring(0, SHOWN) + "..." : line)
                .replaceAll("\\P{Print}", "?");
    }

    private static byte[] send(
            String word, Endpoint endpoint, Connection connection, Deadline deadline)
            throws EndpointException {
        try (Socket plain = connect(endpoint, deadline);
                Socket socket = endpoint.tls() ? tls(plain, endpoint, connection) : plain) {
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            if (!endpoint.tls()) {
                socket.shutdownOutput();
            }
            return read(socket, deadline);
        } catch (SocketException e) {
            EndpointException problem = EndpointException.of(e, deadline.patience());
            // In TLS 1.3 a server refuses a certificate when the client takes the handshake for
            // done.
            throw endpoint.tls() && problem.getMessage().equals(EndpointException.CLOSES)
                    ? new EndpointException(
                            problem.reason(), problem.getMessage() + WANTS_CERTIFICATE)
                    : problem;
        } catch (IOException e) {
            throw EndpointException.of(e, deadline.patience());
        }
    }

    private static Socket connect(Endpoint endpoint, Deadline deadline) throws IOException {
        InetSocketAddress address = new InetSocketAddress(endpoint.host(), endpoint.port());
        if (address.isUnresolved()) {
            throw new UnknownHostException(endpoint.host());
        }
        Socket socket = new Socket();
        try {
            socket.connect(address, deadline.millisLeft());
            socket.setSoTimeout(deadline.millisLeft());
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private static Socket tls(Socket plain, Endpoint endpoint, Connection connection)
            throws IOException {
        SSLSocket socket =
                (SSLSocket)
                        connection
                                .clientTls()
                                .getSocketFactory()
                                .createSocket(plain, endpoint.host(), endpoint.port(), true);
        if (connection.verifiesHostnames()) {
            // In FIPS mode, ZooKeeper's default, its trust managers leave this to the socket.
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            socket.setSSLParameters(parameters);
        }
        socket.startHandshake();
        return socket;
    }

    private static byte[] read(Socket socket, Deadline deadline) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        byte[] part = new byte[8192];
        InputStream in = socket.getInputStream();
        try {
            while (answer.size() < LONGEST_ANSWER) {
                socket.setSoTimeout(deadline.millisLeft());
                int length = in.read(part);
                if (length < 0) {
                    break;
                }
                answer.write(part, 0, length);
            }
        } catch (SSLException e) {
            // Some servers end a connection without TLS's goodbye.
            if (answer.size() == 0) {
                throw e;
            }
        }
        return answer.toByteArray();
    }

    /** Whether something that was silent is talkative when asked as a browser asks. */
    private static boolean speaksHttp(Endpoint endpoint, Deadline deadline) {
        if (endpoint.tls()) {
            return false;
        }
        try (Socket socket = connect(endpoint, deadline)) {
            socket.getOutputStream()
                    .write("GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(read(socket, deadline), StandardCharsets.US_ASCII)
                    .startsWith("HTTP/");
        } catch (IOException e) {
            return false;
        }
    }
}
