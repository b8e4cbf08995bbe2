package io.saucr.tool;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Speaks HTTP as an AdminServer does that sends files, in chunks, and breaks off where it is told
 * to. Its thread ends with it.
 */
final class AdminAnswers implements AutoCloseable {
    /** What becomes of an answer. */
    enum End {
        /** All of it is sent. */
        WHOLE,
        /** The half, and then the connection is closed. */
        CLOSES,
        /** The half, and then nothing. */
        SILENT
    }

    private static final class Answer {
        final byte[] sent;
        final String zxid;
        final End end;

        Answer(byte[] body, String zxid, End end) {
            this.sent = end == End.WHOLE ? body : Arrays.copyOf(body, body.length / 2);
            this.zxid = zxid;
            this.end = end;
        }
    }

    private final Map<String, Function<String, Answer>> answers = new ConcurrentHashMap<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final List<Socket> silent = new CopyOnWriteArrayList<>();
    private final ServerSocket listener;
    private final Thread thread;

    AdminAnswers() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        thread = new Thread(this::serve, "AdminServer");
        thread.start();
    }

    /** HOST:PORT. */
    String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** The commands so far, with what was said behind the question mark. */
    List<String> asked() {
        return List.copyOf(asked);
    }

    /** What it answers to a command from now on; to others it says that it does not know them. */
    AdminAnswers answer(String command, byte[] body, String zxid, End end) {
        Answer answer = new Answer(body, zxid, end);
        answers.put(command, question -> answer);
        return this;
    }

    /**
     * The same for an answer that depends on the question.
     *
     * @param body null for what it no longer has
     * @param zxid of an answer, as it is given
     */
    AdminAnswers answer(String command, Function<String, byte[]> body, Supplier<String> zxid) {
        answers.put(
                command,
                question -> {
                    byte[] found = body.apply(question);
                    return found == null ? null : new Answer(found, zxid.get(), End.WHOLE);
                });
        return this;
    }

    /** Makes a command one that it does not know. */
    void forget(String command) {
        answers.remove(command);
    }

    private void serve() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                if (!answer(socket)) {
                    socket.close();
                }
            } catch (IOException e) {
                // Whoever asked is gone, or this is closed.
            }
        }
    }

    /** Whether the connection is to stay. */
    private boolean answer(Socket socket) throws IOException {
        BufferedReader in =
                new BufferedReader(
                        new InputStreamReader(
                                socket.getInputStream(), StandardCharsets.ISO_8859_1));
        String question = in.readLine();
        for (String line = question; line != null && !line.isEmpty(); line = in.readLine()) {}
        String command = question.split(" ")[1].replaceFirst("^/commands/", "");
        asked.add(command);
        OutputStream out = socket.getOutputStream();
        Function<String, Answer> answering = answers.get(command.replaceFirst("\\?.*", ""));
        if (answering == null) {
            refuse("200 OK", "Unknown command: " + command, out);
            return false;
        }
        Answer answer = answering.apply(command);
        if (answer == null) {
            refuse("410 Gone", "the log after " + command.replaceFirst(".*=", ""), out);
            return false;
        }
        out.write(
                head(
                        "200 OK",
                        "application/octet-stream",
                        "last_zxid: " + answer.zxid,
                        "Transfer-Encoding: chunked"));
        out.write(
                (Integer.toHexString(answer.sent.length) + "\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
        out.write(answer.sent);
        out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
        if (answer.end == End.WHOLE) {
            out.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        if (answer.end == End.SILENT) {
            silent.add(socket);
            return true;
        }
        return false;
    }

    private static void refuse(String status, String error, OutputStream out) throws IOException {
        byte[] json = ("{\"error\": \"" + error + "\"}").getBytes(StandardCharsets.UTF_8);
        out.write(head(status, "application/json", "Content-Length: " + json.length));
        out.write(json);
    }

    private static byte[] head(String status, String type, String... headers) {
        return ("HTTP/1.1 "
                        + status
                        + "\r\nContent-Type: "
                        + type
                        + "\r\nConnection: close\r\n"
                        + String.join("\r\n", headers)
                        + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : silent) {
            socket.close();
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
