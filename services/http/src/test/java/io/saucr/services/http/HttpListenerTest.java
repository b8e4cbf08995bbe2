package io.saucr.services.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.http.HttpListener.Asker;
import io.saucr.services.http.HttpListener.Bounds;
import io.saucr.services.http.HttpListener.Head;
import io.saucr.services.http.HttpListener.Response;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Askers who are slow, silent, hasty or endless, over real sockets. */
class HttpListenerTest {

    private static final int LARGEST = 1_000;
    private static final int ANSWERS_WITHIN_MILLIS = 60_000;
    private static final Duration LONG = Duration.ofMinutes(10);

    private final List<AutoCloseable> open = new ArrayList<>();
    private final BlockingQueue<Asker> later = new LinkedBlockingQueue<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    /** Answers with what it is sent; /later waits for the test; /no is refused by its head. */
    private final class Echo implements HttpListener.Pages {

        @Override
        public Optional<Response> refuse(Head head) {
            if (head.path().equals("/broken")) {
                throw new IllegalStateException("on purpose");
            }
            return head.path().equals("/no") ? Optional.of(error(403, "no")) : Optional.empty();
        }

        @Override
        public void take(Head head, byte[] body, Asker asker) {
            if (head.path().equals("/later")) {
                later.add(asker);
            } else {
                String text = head.query() + new String(body, StandardCharsets.UTF_8);
                asker.answer(new Response(200, Map.of(), text));
                asker.answer(new Response(200, Map.of(), "a second answer goes nowhere"));
            }
        }

        @Override
        public Response error(int status, String reason) {
            return new Response(status, Map.of(), reason);
        }
    }

    private HttpListener listener(Duration patience) throws IOException {
        HttpListener listener =
                new HttpListener(
                        "echo",
                        new Address("localhost", 0),
                        new Bounds(LARGEST, patience),
                        new Echo());
        open.add(listener);
        return listener;
    }

    /** A connection that writes what it likes. */
    private final class Wire {
        final Socket socket;
        final BufferedReader in;

        Wire(HttpListener to) throws IOException {
            socket = new Socket(to.address().host(), to.address().port());
            socket.setSoTimeout(ANSWERS_WITHIN_MILLIS);
            in =
                    new BufferedReader(
                            new InputStreamReader(
                                    socket.getInputStream(), StandardCharsets.US_ASCII));
            open.add(socket);
        }

        void write(String text) throws IOException {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        }

        /** Status and body of the next answer. */
        String answer() throws IOException {
            String status = in.readLine().split(" ", 3)[1];
            int length = 0;
            for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
                if (line.startsWith("content-length: ")) {
                    length = Integer.parseInt(line.substring("content-length: ".length()));
                }
            }
            char[] body = new char[length];
            for (int at = 0; at < length; ) {
                at += in.read(body, at, length - at);
            }
            return length == 0 ? status : status + " " + new String(body);
        }

        boolean isClosed() throws IOException {
            return in.read() < 0;
        }
    }

    private static String post(String path, String body) {
        return "POST "
                + path
                + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                + body.length()
                + "\r\n\r\n"
                + body;
    }

    @Test
    void itEndsWhileClientsComeAndGo() throws Exception {
        for (int i = 0; i < 50; i++) {
            HttpListener listener = listener(LONG);
            List<Wire> half = new ArrayList<>();
            for (int clients = 0; clients < 40; clients++) {
                Wire wire = new Wire(listener);
                wire.write("POST / HT");
                half.add(wire);
            }
            for (Wire wire : half) {
                wire.socket.close();
            }
            listener.close();
        }
    }

    @Test
    void whoIsSlowOrSilentCostsTheOthersNothing() throws Exception {
        HttpListener listener = listener(LONG);
        List<Wire> slow = new ArrayList<>();
        for (int count = 0; count < 300; count++) {
            Wire wire = new Wire(listener);
            String request = post("/slow", "body");
            wire.write(request.substring(0, (count * 7) % (request.length() - 1)));
            slow.add(wire);
        }
        Wire quick = new Wire(listener);
        quick.write(post("/", "quick"));
        assertThat(quick.answer()).isEqualTo("200 quick");
        Wire one = slow.get(1);
        one.write(post("/slow", "body").substring(7));
        assertThat(one.answer()).isEqualTo("200 body");
    }

    @Test
    void requestsThatAreSentAheadAreAnsweredInTheirOrder() throws Exception {
        HttpListener listener = listener(LONG);
        Wire wire = new Wire(listener);
        wire.write(post("/later", "") + post("/?x=%20", "b") + post("/no", "c") + post("/", "d"));
        later.take().answer(new Response(204, Map.of(), ""));
        assertThat(wire.answer()).isEqualTo("204");
        assertThat(wire.answer()).isEqualTo("200 x=%20b");
        assertThat(wire.answer()).isEqualTo("403 no");
        assertThat(wire.answer()).isEqualTo("200 d");
        wire.write("POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\ne");
        assertThat(wire.answer()).isEqualTo("200 e");
        assertThat(wire.isClosed()).isTrue();
    }

    @Test
    void aRequestThatDoesNotComeInTimeEndsItsConnection() throws Exception {
        HttpListener listener = listener(Duration.ofMillis(50));
        for (String begin : List.of("", "POST / HT", post("/", "body").replace("body", "bo"))) {
            Wire wire = new Wire(listener);
            wire.write(begin);
            assertThat(wire.isClosed()).as(begin).isTrue();
        }
        // The time that an answer takes is not the asker's.
        Wire patient = new Wire(listener);
        patient.write(post("/later", ""));
        Asker asker = later.take();
        Wire silent = new Wire(listener);
        assertThat(silent.isClosed()).isTrue();
        asker.answer(new Response(200, Map.of(), "at last"));
        assertThat(patient.answer()).isEqualTo("200 at last");
    }

    @Test
    void whatIsTooLargeIsRefusedHoweverItComes() throws Exception {
        HttpListener listener = listener(LONG);
        Wire wire = new Wire(listener);
        wire.write(post("/", "x".repeat(LARGEST + 1)));
        assertThat(wire.answer()).isEqualTo("413 a body has at most 1000 bytes");
        wire.write(post("/", "x".repeat(LARGEST)));
        assertThat(wire.answer()).isEqualTo("200 " + "x".repeat(LARGEST));
        wire.write("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int count = 0; count < 11; count++) {
            wire.write("64\r\n" + "y".repeat(100) + "\r\n");
        }
        wire.write("0\r\n\r\n");
        assertThat(wire.answer()).isEqualTo("413 a body has at most 1000 bytes");
        wire.write("POST / HTTP/1.1\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n");
        assertThat(wire.answer()).isEqualTo("413 a body has at most 1000 bytes");
        assertThat(wire.isClosed()).isTrue();
    }

    @Test
    void whoAsksBeforeItSendsIsToldToGoOn() throws Exception {
        Wire wire = new Wire(listener(LONG));
        wire.write("POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
        assertThat(wire.answer()).isEqualTo("100");
        wire.write("ok");
        assertThat(wire.answer()).isEqualTo("200 ok");
    }

    @Test
    void whatIsNoRequestIsRefused() throws Exception {
        HttpListener listener = listener(LONG);
        for (String wrong :
                List.of(
                        "\u0016\u0003\u0001 hello\r\n\r\n",
                        "POST / HTTP/1.1\r\nA: " + "b".repeat(20_000) + "\r\n\r\n",
                        "POST /" + "c".repeat(5_000) + " HTTP/1.1\r\n\r\n",
                        "POST /%zz HTTP/1.1\r\n\r\n",
                        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")) {
            Wire wire = new Wire(listener);
            wire.write(wrong);
            assertThat(wire.answer()).as(wrong).startsWith("400 this is no ");
            assertThat(wire.isClosed()).isTrue();
        }
        Wire broken = new Wire(listener);
        broken.write(post("/broken", "b"));
        assertThat(broken.answer()).isEqualTo("500 echo failed; its log says how");
    }

    @Test
    void moreConnectionsThanThereMayBeAreToldSo() throws Exception {
        HttpListener listener = listener(LONG);
        for (int count = 0; count < 1_000; count++) {
            new Wire(listener);
        }
        Wire refused = new Wire(listener);
        assertThat(refused.answer()).isEqualTo("503 too many connections; try again later");
        assertThat(refused.isClosed()).isTrue();
        ((Socket) open.get(1)).close();
        Wire taken;
        String answer;
        do { // The end of a connection is seen a moment later.
            taken = new Wire(listener);
            taken.write(post("/", "now"));
            answer = taken.answer();
        } while (answer.startsWith("503"));
        assertThat(answer).isEqualTo("200 now");
    }

    @Test
    void anAnswerIsTakenBeforeTheEnd() throws Exception {
        HttpListener listener = listener(LONG);
        Wire wire = new Wire(listener);
        wire.write(post("/later", ""));
        later.take().answer(new Response(200, Map.of(), "last"));
        listener.close();
        assertThat(wire.answer()).isEqualTo("200 last");
        assertThat(wire.isClosed()).isTrue();
        Address was = listener.address();
        assertThatThrownBy(() -> new Socket(was.host(), was.port()))
                .isInstanceOf(IOException.class);
    }
}
