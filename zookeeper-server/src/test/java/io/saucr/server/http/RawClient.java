package io.saucr.server.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

/** Sends bytes to a port of this machine, and reads what comes until the other side ends. */
public final class RawClient {
    private static final int LIMIT_MILLIS = 20_000;

    /**
     * An answer.
     *
     * @param head the first line; empty if none came
     * @param headers by their names in lower case
     * @param body as it came, with the lengths of its parts
     */
    public record Answer(String head, Map<String, String> headers, String body) {
        /** 0 if there was no answer. */
        public int status() {
            return head.isEmpty() ? 0 : Integer.parseInt(head.split(" ")[1]);
        }
    }

    private RawClient() {}

    /** A socket with a limit for everything. */
    public static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(LIMIT_MILLIS);
        return socket;
    }

    public static Answer ask(int port, String request) throws IOException {
        try (Socket socket = connect(port)) {
            return ask(socket, request);
        }
    }

    public static Answer askByTls(SSLContext tls, int port, String request) throws IOException {
        try (Socket socket = tls.getSocketFactory().createSocket("127.0.0.1", port)) {
            socket.setSoTimeout(LIMIT_MILLIS);
            return ask(socket, request);
        }
    }

    private static Answer ask(Socket socket, String request) throws IOException {
        send(socket, request);
        return parse(readAll(socket));
    }

    public static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
    }

    /** What comes until the other side ends, in whatever way. */
    public static String readAll(Socket socket) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = new byte[8_192];
        try {
            for (int n; (n = socket.getInputStream().read(part)) > 0; ) {
                all.write(part, 0, n);
            }
        } catch (SocketException | SSLException broken) {
            // What has come counts.
        }
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    public static Answer parse(String text) {
        int end = text.indexOf("\r\n\r\n");
        if (end < 0) {
            return new Answer("", Map.of(), text);
        }
        String[] lines = text.substring(0, end).split("\r\n");
        Map<String, String> headers = new TreeMap<>();
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            headers.put(
                    lines[i].substring(0, colon).toLowerCase(Locale.ROOT),
                    lines[i].substring(colon + 1).strip());
        }
        return new Answer(lines[0], headers, text.substring(end + 4));
    }
}
