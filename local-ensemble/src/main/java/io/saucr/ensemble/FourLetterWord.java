package io.saucr.ensemble;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** ZooKeeper's four-letter commands, asked on a connection each. Stateless. */
public final class FourLetterWord {
    private FourLetterWord() {}

    /**
     * Sends the word to a client port and reads the whole answer.
     *
     * @throws IOException if the server does not answer within the timeout
     */
    public static String ask(String host, int port, String word, Duration timeout)
            throws IOException {
        int millis = Math.max(1, (int) timeout.toMillis());
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), millis);
            socket.setSoTimeout(millis);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The answer to {@code mntr} or {@code conf}-like words, by key. */
    public static Map<String, String> table(String answer) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String line : answer.split("\n", -1)) {
            int tab = line.indexOf('\t');
            if (tab > 0) {
                values.put(line.substring(0, tab), line.substring(tab + 1).trim());
            }
        }
        return values;
    }
}
