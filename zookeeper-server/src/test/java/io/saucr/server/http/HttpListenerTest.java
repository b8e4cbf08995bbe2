package io.saucr.server.http;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.server.admin.AdminKeys;
import io.saucr.server.admin.AdminTls;
import io.saucr.server.http.HttpListener.Bounds;
import io.saucr.server.http.HttpListener.Tls;
import io.saucr.server.http.RawClient.Answer;
import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that are slow, silent, or hostile; and the others, who must notice nothing. */
@Timeout(60)
class HttpListenerTest {
    private static final String ASK = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String LAST = "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    private static final String POST = "POST /count HTTP/1.1\r\nHost: a\r\n";
    private static final long PATIENT = 30_000;
    private static final long HASTY = 300;

    private final Deque<Closeable> open = new ArrayDeque<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicLong counted = new AtomicLong();
    private final byte[] large = new byte[20 << 20];
    private HttpListener listener;

    private void start(int connections, int threads, long patience) throws IOException {
        start(connections, threads, patience, null);
    }

    private void start(int connections, int threads, long patience, Tls tls) throws IOException {
        listener =
                new HttpListener(
                        "test",
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        new Bounds(connections, threads, patience),
                        tls,
                        this::answer);
    }

    @AfterEach
    void stop() throws IOException {
        released.countDown();
        while (!open.isEmpty()) {
            open.pop().close();
        }
        if (listener != null) {
            listener.close();
        }
    }

    private void answer(Exchange exchange) throws IOException {
        switch (exchange.path()) {
            case "/a" -> exchange.answer(200, "a\n");
            case "/large" -> exchange.answer(200, null, large);
            case "/stream" -> exchange.stream(200, null, new ByteArrayInputStream(large));
            case "/broken" -> exchange.stream(200, null, new Broken());
            case "/fail" -> throw new IllegalStateException("as the test wants");
            case "/header" -> {
                exchange.addHeader("A", "b\r\nC: d");
                exchange.answer(200, "a\n");
            }
            case "/wait" -> {
                hold(released);
                exchange.answer(200, "released\n");
            }
            case "/count" -> {
                byte[] part = new byte[8_192];
                try (InputStream body = exchange.body()) {
                    for (int n; (n = body.read(part)) >= 0; ) {
                        counted.addAndGet(n);
                    }
                }
                exchange.answer(200, counted + "\n");
            }
            default -> {}
        }
    }

    private static void hold(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static final class Broken extends InputStream {
        @Override
        public int read() throws IOException {
            throw new IOException("as the test wants");
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            return read();
        }
    }

    private Socket client(String text) throws IOException {
        Socket socket = RawClient.connect(listener.port());
        open.push(socket);
        RawClient.send(socket, text);
        return socket;
    }

    private Answer ask(String request) throws IOException {
        return RawClient.ask(listener.port(), request);
    }

    private void others() throws IOException {
        assertThat(ask(LAST).body()).isEqualTo("a\n");
    }

    private static void endsWithout(Socket socket, String answer) throws IOException {
        assertThat(RawClient.readAll(socket)).doesNotContain(answer);
    }

    // ---- What every client may want ----

    @Test
    void oneConnectionServesManyRequestsOneAfterAnother() throws Exception {
        start(4, 2, PATIENT);
        Socket socket = client(ASK + ASK + POST + "Content-Length: 3\r\n\r\nabc" + LAST);
        String all = RawClient.readAll(socket);
        assertThat(all.split("HTTP/1.1 200 OK", -1)).hasSize(5);
        assertThat(all).containsSubsequence("a\n", "a\n", "3\n", "close", "a\n");
        assertThat(ask("GET /a HTTP/1.0\r\n\r\n").headers()).containsEntry("connection", "close");
        Socket old = client("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        RawClient.send(old, "GET /a HTTP/1.0\r\n\r\n");
        assertThat(RawClient.readAll(old).split("HTTP/1.1 200 OK", -1)).hasSize(3);
    }

    @Test
    void aLongAnswerComesWholeInPartsOrToTheEndOfTheConnection() throws Exception {
        start(4, 2, PATIENT);
        String parts = "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        assertThat(ask(parts).headers()).containsEntry("transfer-encoding", "chunked");
        assertThat(ask(parts).body()).endsWith("\r\n0\r\n\r\n").hasSizeGreaterThan(large.length);
        assertThat(ask("GET /stream HTTP/1.0\r\n\r\n").body()).hasSize(large.length);
        assertThat(ask(parts.replace("GET", "HEAD")).body()).isEmpty();
    }

    /** No client takes a part of it for the whole. */
    @Test
    void anAnswerThatBreaksHasNoEnd() throws Exception {
        start(4, 2, PATIENT);
        assertThat(ask("GET /broken HTTP/1.1\r\nHost: a\r\n\r\n").body()).doesNotContain("0\r\n");
        assertThat(ask("GET /header HTTP/1.1\r\nHost: a\r\n\r\n").head()).isEmpty();
        assertThat(ask(LAST.replace("/a", "/fail")).status()).isEqualTo(500);
        assertThat(ask(LAST.replace("/a", "/else")).status()).isEqualTo(404);
        others();
    }

    @Test
    void aClientThatWantsToBeAskedForItsBodyIsAsked() throws Exception {
        start(4, 2, PATIENT);
        Socket socket =
                client(
                        POST
                                + "Content-Length: 3\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n");
        byte[] first = socket.getInputStream().readNBytes(25);
        assertThat(new String(first, StandardCharsets.US_ASCII))
                .isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
        RawClient.send(socket, "abc");
        assertThat(RawClient.readAll(socket)).endsWith("3\n");
        // It sends nothing before it is asked, so its connection cannot be used again.
        assertThat(
                        ask(
                                "GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"))
                .extracting(Answer::body)
                .isEqualTo("a\n");
    }

    @Test
    void aBodyIsReadOnlyAsFarAsItIsWanted() throws Exception {
        start(4, 1, PATIENT);
        Socket waits = client(POST.replace("count", "wait") + "Content-Length: 1000000000\r\n\r\n");
        AtomicLong sent = new AtomicLong();
        Thread sender =
                new Thread(
                        () -> {
                            try {
                                while (true) {
                                    waits.getOutputStream().write(large, 0, 65_536);
                                    sent.addAndGet(65_536);
                                }
                            } catch (IOException closed) {
                                // The end of the test.
                            }
                        });
        sender.start();
        AtomicLong before = new AtomicLong(-1);
        // What has been sent lies in the buffers of the system.
        await().pollInterval(Duration.ofMillis(300))
                .until(() -> sent.get() > 0 && before.getAndSet(sent.get()) == sent.get());
        assertThat(sent.get()).isLessThan(large.length);
        waits.close();
        sender.join();
    }

    // ---- Hostile clients ----

    @Test
    void whoDoesNotFinishItsHeadersIsDropped() throws Exception {
        start(4, 1, HASTY);
        Socket silent = client("");
        Socket half = client("GET /a HTTP/1.1\r\nHost: a\r\nHalf: ");
        Socket drips = client("GET /a HTTP/1.1\r\n");
        // No byte of a header prolongs its time.
        assertThatThrownBy(
                        () -> {
                            while (true) {
                                RawClient.send(drips, "A: b\r\n");
                                Thread.sleep(20);
                            }
                        })
                .isInstanceOf(SocketException.class);
        endsWithout(silent, "HTTP");
        endsWithout(half, "200");
    }

    @Test
    void aBodyThatDoesNotComeEndsTheConnection() throws Exception {
        start(4, 1, HASTY);
        endsWithout(client(POST + "Content-Length: 10\r\n\r\nabc"), "200");
        endsWithout(client(POST + "Transfer-Encoding: chunked\r\n\r\n5\r\nab"), "200");
        endsWithout(client(POST + "Transfer-Encoding: chunked\r\n\r\nxyz\r\nab"), "200");
        Socket gone = client(POST + "Content-Length: 10\r\n\r\nabc");
        gone.close();
        others();
    }

    @Test
    void aBodyWithoutEndThatNobodyReadsEndsTheConnection() throws Exception {
        start(4, 1, PATIENT);
        Socket endless =
                client("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
        assertThat(new String(endless.getInputStream().readNBytes(15), StandardCharsets.US_ASCII))
                .isEqualTo("HTTP/1.1 200 OK");
        assertThatThrownBy(
                        () -> {
                            while (true) {
                                RawClient.send(endless, "3\r\nabc\r\n");
                            }
                        })
                .isInstanceOf(SocketException.class);
        others();
    }

    @Test
    void garbageAndWhatIsTooLongIsRefused() throws Exception {
        start(4, 1, PATIENT);
        assertThat(ask("\u0016\u0003\u0001 garbage\r\n\r\n\u0000").status()).isEqualTo(400);
        assertThat(ask("GET /" + "a".repeat(9_000)).status()).isEqualTo(414);
        assertThat(ask("GET /a HTTP/1.1\r\nA: " + "a".repeat(9_000)).status()).isEqualTo(431);
        assertThat(ask("GET /a HTTP/1.1\r\n" + "A: b\r\n".repeat(3_000)).status()).isEqualTo(431);
        assertThat(ask("GET /a HTTP/1.1\nHost: a\n\n").status()).isEqualTo(400);
        assertThat(ask("GET /a HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n").status()).isEqualTo(400);
        assertThat(ask("GET /a HTTP/1.1\r\nHost: a\r\nA: \u0000\r\n\r\n").status()).isEqualTo(400);
        others();
    }

    /** None of them hides a request from a proxy, or from us. */
    @Test
    void aRequestWhoseLengthIsInDoubtIsRefusedAndEndsTheConnection() throws Exception {
        start(4, 1, PATIENT);
        for (String headers :
                new String[] {
                    "Content-Length: 3\r\nTransfer-Encoding: chunked",
                    "Content-Length: 3\r\nContent-Length: 4",
                    "Content-Length: 3, 4",
                    "Content-Length: +3",
                    "Content-Length: 0x3",
                    "Transfer-Encoding: identity",
                    "Transfer-Encoding: xchunked",
                    "Transfer-Encoding: chunked, identity",
                    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
                    "Transfer-Encoding : chunked",
                    "Transfer-Encoding:\u000bchunked"
                }) {
            Answer answer = ask(POST + headers + "\r\n\r\n0\r\n\r\n" + ASK);
            assertThat(answer.status()).as(headers).isEqualTo(400);
            assertThat(answer.body()).as(headers).doesNotContain("200");
        }
        String old = "POST /count HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
        assertThat(ask(old).status()).isEqualTo(400);
        // A quoted end of line in a chunk's extension is none (CVE-2026-2332).
        String hidden = "1;a=\"\r\nX\r\n0\r\n\r\n" + ASK + "\"\r\nY\r\n0\r\n\r\n";
        Answer answer = ask(POST + "Transfer-Encoding: chunked\r\n\r\n" + hidden);
        assertThat(answer.body()).doesNotContain("a\n");
        others();
    }

    @Test
    void requestsAheadOfTheirAnswersAreBounded() throws Exception {
        start(4, 2, PATIENT);
        Socket socket = client(ASK.replace("/a", "/wait") + ASK.repeat(1_000));
        others();
        released.countDown();
        String all = RawClient.readAll(socket);
        assertThat(all).contains("close", "released").doesNotEndWith("a\n");
    }

    @Test
    void thousandsOfConnectionsThatDoNothingMakeRoom() throws Exception {
        start(50, 2, PATIENT);
        for (int i = 0; i < 1_000; i++) {
            client(i % 2 == 0 ? "" : "GET /a HTTP/1.1\r\nHalf: ");
            if (i % 100 == 0) {
                others();
            }
        }
        others();
    }

    @Test
    void answersThatNobodyReadMakeRoom() throws Exception {
        start(1_000, 2, PATIENT);
        long mostTwice = 2 * Math.max(32L << 20, Runtime.getRuntime().maxMemory() / 16);
        for (long bytes = 0; bytes < mostTwice; bytes += large.length) {
            Socket socket = client("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
            // Its answer is on its way then, and the oldest is who asked first.
            assertThat(socket.getInputStream().read()).isEqualTo('H');
        }
        Socket oldest = (Socket) open.peekLast();
        assertThat(RawClient.readAll(oldest).length()).isLessThan(large.length);
        others();
    }

    @Test
    void anAnswerThatIsNotReadInTimeIsDropped() throws Exception {
        start(4, 2, HASTY);
        for (String path : new String[] {"/large", "/stream"}) {
            Socket socket = client("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(socket.getInputStream().read()).isEqualTo('H');
            await().until(() -> isDropped(socket));
            others();
        }
    }

    /** The other side of a dropped connection refuses what comes. */
    private static boolean isDropped(Socket socket) {
        try {
            RawClient.send(socket, "x");
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void whoDoesNotFinishAHandshakeIsDroppedAndOthersAreServedMeanwhile(@TempDir Path folder)
            throws Exception {
        SSLContext keys = AdminKeys.use(folder);
        AtomicLong plain = new AtomicLong();
        for (Runnable onPlain : new Runnable[] {null, plain::incrementAndGet}) {
            start(20, 2, PATIENT, new Tls(AdminTls.ofServer(false), onPlain));
            Socket silent = client("");
            Socket half = client("\u0016\u0003\u0001\u0002\u0000\u0001\u0000");
            Socket garbage = client("\u0016\u0003\u0001\u0000\u0004abcdefgh");
            for (int i = 0; i < 100; i++) {
                client(i % 2 == 0 ? "" : "\u0016\u0003\u0001");
            }
            assertThat(RawClient.askByTls(keys, listener.port(), LAST).body()).isEqualTo("a\n");
            for (Socket socket : List.of(silent, half, garbage)) {
                endsWithout(socket, "HTTP");
            }
            if (onPlain != null) {
                others();
            }
            stop();
        }
        assertThat(plain).hasValue(1);
        AdminKeys.clear();
    }

    // ---- The end ----

    @Test
    void itEndsWhileClientsComeAndGo() throws Exception {
        for (int i = 0; i < 50; i++) {
            start(50, 2, PATIENT);
            for (int clients = 0; clients < 40; clients++) {
                client("GET /a HTTP/1.1\r\nHalf: ");
            }
            stop();
        }
    }

    @Test
    void itEndsInBoundedTimeWhateverItsClientsDo() throws Exception {
        start(50, 2, PATIENT);
        client("");
        client("GET /a HTTP/1.1\r\nHalf: ");
        client(POST + "Content-Length: 10\r\n\r\nabc");
        client("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
        Socket waiting = client("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
        int port = listener.port();
        long began = System.nanoTime();
        listener.close();
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(8));
        endsWithout(waiting, "released");
        assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port))
                .isInstanceOf(IOException.class);
        listener = null;
    }

    @Test
    void aPortThatIsTakenOrAHostThatIsUnknownLeavesNothingBehind() throws Exception {
        start(4, 1, PATIENT);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(
                            () ->
                                    listenAt(
                                            new InetSocketAddress(
                                                    InetAddress.getLoopbackAddress(),
                                                    listener.port())))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("already in use");
        }
        assertThatThrownBy(() -> listenAt(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                .isInstanceOf(UnknownHostException.class)
                .hasMessageContaining("nowhere.invalid");
        await().untilAsserted(
                        () ->
                                assertThat(Thread.getAllStackTraces().keySet())
                                        .noneMatch(it -> it.getName().startsWith("taken")));
    }

    private static void listenAt(InetSocketAddress address) throws IOException {
        new HttpListener("taken", address, new Bounds(1, 1, PATIENT), null, exchange -> {}).close();
    }
}
