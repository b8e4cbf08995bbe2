package io.saucr.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** This server is 1, the others are what answers on ports of one host. */
@Timeout(60)
class EnsembleViewTest {
    private static final String QUORUM = "127.0.0.1:288";

    private final List<HttpServer> servers = new ArrayList<>();
    private final List<ServerSocket> sockets = new ArrayList<>();

    @AfterEach
    void stop() throws IOException {
        servers.forEach(server -> server.stop(0));
        for (ServerSocket socket : sockets) {
            socket.close();
        }
    }

    @Test
    void everyoneIsWhereItShouldBe() throws Exception {
        assertThat(view(answering(2), answering(3)))
                .allSatisfy(row -> assertThat(row).doesNotContainKeys("error", "warning"))
                .extracting(EnsembleViewTest::statusOf)
                .containsExactly(1, 2, 3);
    }

    @Test
    void swappedServersAreShownAsTheyAreWithAWarning() throws Exception {
        String third = answering(3);
        String second = answering(2);
        List<Map<String, Object>> rows = view(third, second);
        assertThat(rows).extracting(EnsembleViewTest::statusOf).containsExactly(1, 2, 3);
        assertThat(rows.get(1).get("warning"))
                .isEqualTo(
                        "server 3 answers there, not server 2: saucr.adminServers of server 1 must"
                                + " say where server 2 has its AdminServer; found at "
                                + second);
        assertThat(rows.get(2).get("warning").toString())
                .startsWith("server 2 answers there, not server 3");
    }

    @Test
    void noServerIsTakenForAnother() throws Exception {
        // What is guessed on one host: everybody's port is the asked server's own.
        String own = answering(1);
        List<Map<String, Object>> rows = view(own, own);
        assertThat(rows).extracting(EnsembleViewTest::statusOf).containsExactly(1, null, null);
        assertThat(rows.get(2).get("error").toString())
                .startsWith("server 1 answers there, not server 3");
    }

    @Test
    void aDeadServerAndAHungOneAreToldApart() throws Exception {
        ServerSocket dead = listening();
        dead.close();
        List<Map<String, Object>> rows = view(address(dead), address(listening()));
        assertThat(rows.get(1).get("error")).isEqualTo("nothing listens there");
        assertThat(rows.get(2).get("error"))
                .isEqualTo("it takes connections, but does not answer within 1000 ms");
    }

    @Test
    void aServerThatHangsWithinItsAnswerIsLeftAlone() throws Exception {
        ServerSocket hanging = listening();
        List<Map<String, Object>> rows = new ArrayList<>();
        Thread asking = new Thread(() -> rows.addAll(view(address(hanging), address(hanging))));
        asking.start();
        try (Socket first = hanging.accept();
                Socket second = hanging.accept()) {
            for (Socket each : List.of(first, second)) {
                each.getOutputStream()
                        .write(
                                "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
                                        .getBytes(StandardCharsets.US_ASCII));
            }
            asking.join();
            assertThat(rows.get(1).get("error").toString()).contains("does not answer within");
            // The asker has closed its connections.
            for (Socket each : List.of(first, second)) {
                each.getInputStream().readAllBytes();
            }
        }
    }

    @Test
    void whatIsNoServerOfTheEnsembleIsCalledSo() throws Exception {
        assertThat(view(serving(404, "no such command"), serving(200, "[1]")))
                .extracting(row -> row.get("error"))
                .containsExactly(
                        null,
                        "what answers there is no server with SAUCR (HTTP status 404)",
                        "what answers there is no server with SAUCR (HTTP status 200)");
        assertThat(view(answering(7), serving(200, status(3, "127.0.0.1:2999"))))
                .extracting(row -> row.get("error"))
                .containsExactly(
                        null,
                        "server 7 answers there, which is not of this ensemble",
                        "a server 3 of another ensemble answers there: its quorum address is"
                                + " [127.0.0.1:2999], not [127.0.0.1:2883]");
        assertThat(view(address(answeringOnce("?\r\n\r\n")), "not an address").subList(1, 3))
                .extracting(row -> row.get("error").toString())
                .satisfiesExactly(
                        no -> assertThat(no).startsWith("what answers there does not speak HTTP"),
                        no -> assertThat(no).contains("not an address"));
        String alert = address(answeringOnce("\u0015\u0003\u0003\u0000\u0002\u0002P"));
        String escape = address(answeringOnce("\u001b[2J\r\n\r\n"));
        assertThat(view(alert, escape).subList(1, 3))
                .extracting(row -> row.get("error").toString())
                .satisfiesExactly(
                        no ->
                                assertThat(no)
                                        .isEqualTo(
                                                "what answers there speaks TLS, and was asked over"
                                                        + " plain HTTP"),
                        no ->
                                assertThat(no)
                                        .startsWith("what answers there does not speak HTTP")
                                        .doesNotContain("\u001b"));
    }

    /** Releases before this one do not say their quorum addresses. */
    @Test
    void anOlderReleaseIsBelieved() throws Exception {
        assertThat(view(serving(200, "{\"server\": 2}"), answering(3)))
                .extracting(EnsembleViewTest::statusOf)
                .containsExactly(1, 2, 3);
    }

    @Test
    void aServerWithTheSamePortsBelongsToAnotherEnsembleIfItsNameSaysSo() throws Exception {
        String stranger = serving(200, named(2, "payments"));
        assertThat(view("orders", stranger, serving(200, named(3, "orders"))))
                .extracting(row -> row.get("error"))
                .containsExactly(
                        null,
                        "a server 2 of another ensemble answers there: its saucr.ensembleName is"
                                + " payments, not orders",
                        null);
    }

    /** The name is given to one server after the other. */
    @Test
    void aServerWithoutANameIsOfThisEnsemble() throws Exception {
        assertThat(view("orders", serving(200, named(2, "")), answering(3)))
                .extracting(EnsembleViewTest::statusOf)
                .containsExactly(1, 2, 3);
        assertThat(view("", serving(200, named(2, "orders")), answering(3)))
                .extracting(EnsembleViewTest::statusOf)
                .containsExactly(1, 2, 3);
    }

    private static String named(int id, String ensemble) {
        return status(id, QUORUM + id).replace("}", ", \"ensemble\": \"" + ensemble + "\"}");
    }

    private static Integer statusOf(Map<String, Object> row) {
        return row.get("status") instanceof Map<?, ?> status
                ? ((Number) status.get("server")).intValue()
                : null;
    }

    private static List<Map<String, Object>> view(String second, String third) {
        return view("", second, third);
    }

    private static List<Map<String, Object>> view(String ensemble, String second, String third) {
        return new EnsembleView(
                        1,
                        ensemble,
                        false,
                        () -> Map.of("server", 1),
                        () -> List.of(member(3, third), member(1, "not asked"), member(2, second)))
                .servers();
    }

    private static EnsembleView.Member member(long id, String address) {
        return new EnsembleView.Member(id, address, List.of(QUORUM + id));
    }

    private static String status(int id, String quorumAddress) {
        return "{\"server\": " + id + ", \"quorumAddresses\": [\"" + quorumAddress + "\"]}";
    }

    /** The address of an AdminServer of server {@code id}; it calls its host by another name. */
    private String answering(int id) throws IOException {
        return serving(200, status(id, "zk.example:288" + id));
    }

    private String serving(int code, String body) throws IOException {
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        servers.add(server);
        server.createContext(
                "/commands/saucr",
                exchange -> {
                    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(code, bytes.length);
                    exchange.getResponseBody().write(bytes);
                    exchange.close();
                });
        server.start();
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    /** A port that answers its first request with these bytes, and nothing after. */
    private ServerSocket answeringOnce(String answer) throws IOException {
        ServerSocket port = listening();
        Thread answering =
                new Thread(
                        () -> {
                            try (Socket connection = port.accept();
                                    Scanner request =
                                            new Scanner(
                                                    connection.getInputStream(),
                                                    StandardCharsets.US_ASCII)) {
                                while (!request.nextLine().isEmpty()) {}
                                connection
                                        .getOutputStream()
                                        .write(answer.getBytes(StandardCharsets.US_ASCII));
                            } catch (IOException e) {
                                throw new IllegalStateException(e);
                            }
                        });
        answering.start();
        return port;
    }

    private ServerSocket listening() throws IOException {
        ServerSocket socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        sockets.add(socket);
        return socket;
    }

    private static String address(ServerSocket socket) {
        return "127.0.0.1:" + socket.getLocalPort();
    }
}
