package io.saucr.services.http;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.Bank;
import io.saucr.services.Client;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real service that is asked by HTTP. */
class HttpDoorTest {

    private static final int SEGMENT_BYTES = 1 << 20;

    @TempDir private Path temp;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final HttpClient client = HttpClient.newHttpClient();
    private final CountDownLatch release = new CountDownLatch(1);

    @AfterEach
    void closeAll() throws Exception {
        release.countDown();
        Collections.reverse(open);
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private RunningService bank(String folder) throws Exception {
        return bank(services(folder));
    }

    private Services services(String folder) {
        return Services.without("north", Map.of())
                .folder(temp.resolve(folder))
                .segmentBytes(SEGMENT_BYTES)
                .http(new Address("localhost", 0));
    }

    private RunningService bank(Services services) throws Exception {
        RunningService running =
                services.run(
                        state -> new Bank(state, new ArrayList<>(), Set.of()), Protection.local());
        open.add(running);
        return running;
    }

    private static HttpRequest request(RunningService of, String type, String body, String key) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://" + of.http().orElseThrow() + type))
                        .header("Content-Type", "application/json; charset=utf-8")
                        .POST(HttpRequest.BodyPublishers.ofString(body));
        if (!key.isEmpty()) {
            request.header(HttpDoor.KEY_HEADER, key);
        }
        return request.build();
    }

    private HttpResponse<String> post(RunningService of, String type, String body, String key)
            throws Exception {
        return client.send(request(of, type, body, key), HttpResponse.BodyHandlers.ofString());
    }

    private String ok(RunningService of, String type, String body, String key) throws Exception {
        HttpResponse<String> response = post(of, type, body, key);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.headers().firstValue(HttpDoor.TYPE_HEADER).orElseThrow()
                + " "
                + response.body();
    }

    private static final String OPEN = "{\"owner\":\"ann\",\"cents\":100}";
    private static final String TRANSFER =
            "{\"id\":\"t1\",\"from\":\"ann\",\"bank\":\"south\",\"to\":\"bob\",\"cents\":30}";

    @Test
    void messagesAndQueriesAreAnswered() throws Exception {
        RunningService bank = bank("north");
        assertThat(ok(bank, "/Open", OPEN, "")).isEqualTo("Done {\"id\":\"ann\"}");
        assertThat(ok(bank, "/Transfer", TRANSFER, "")).isEqualTo("Done {\"id\":\"t1\"}");
        assertThat(ok(bank, "/Transfer", TRANSFER, "")).isEqualTo("Done {\"id\":\"t1\"}");
        assertThat(ok(bank, "/Balance", "{\"owner\":\"ann\"}", ""))
                .isEqualTo("Cents {\"cents\":40}");
        HttpResponse<String> none =
                post(bank, "/Credit", "{\"id\":\"c\",\"to\":\"ann\",\"cents\":1}", "");
        assertThat(none.statusCode()).isEqualTo(204);
        assertThat(none.body()).isEmpty();
        HttpResponse<String> poison = post(bank, "/Poison", "{\"why\":\"hot\"}", "k");
        assertThat(poison.statusCode()).isEqualTo(500);
        assertThat(poison.body()).isEqualTo("{\"error\":\"IllegalArgumentException: hot\"}");
    }

    @Test
    void aRetryBehindAKillIsAnsweredByTheFirstReply() throws Exception {
        RunningService bank = bank("north");
        ok(bank, "/Open", OPEN, "open");
        assertThat(ok(bank, "/Transfer", TRANSFER, "k")).isEqualTo("Done {\"id\":\"t1\"}");
        // What a kill at this moment would leave on the disk.
        copy(temp.resolve("north"), temp.resolve("killed"));
        RunningService again = bank("killed");
        assertThat(again.status().incarnation()).isEqualTo(2);
        assertThat(ok(again, "/Transfer", TRANSFER, "k")).isEqualTo("Done {\"id\":\"t1\"}");
        assertThat(post(again, "/Transfer", TRANSFER.replace("30", "31"), "k").statusCode())
                .isEqualTo(422);
        assertThat(post(again, "/Open", TRANSFER, "k").statusCode()).isEqualTo(400);
        assertThat(ok(again, "/Balance", "{\"owner\":\"ann\"}", "k"))
                .isEqualTo("Cents {\"cents\":70}");
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    @Test
    void twoOfAKeyAtOnceAndAReplyThatComesLater() throws Exception {
        RunningService bank = bank("north");
        CompletableFuture<HttpResponse<String>> first =
                client.sendAsync(
                        request(bank, "/Wait", "{\"until\":\"noon\"}", "k"),
                        HttpResponse.BodyHandlers.ofString());
        await().until(() -> post(bank, "/Wait", "{\"until\":\"noon\"}", "k").statusCode() == 202);
        assertThat(first).isNotDone();
        assertThat(post(bank, "/Release", "{\"until\":\"noon\"}", "").statusCode()).isEqualTo(204);
        assertThat(first.get(30, TimeUnit.SECONDS).body()).isEqualTo("{}");
        assertThat(ok(bank, "/Wait", "{\"until\":\"noon\"}", "k")).isEqualTo("Released {}");
    }

    @Test
    void theSecondOfAKeyIsToldThatTheFirstIsUnderWay() throws Exception {
        RunningService slow =
                services("slow")
                        .run(
                                state ->
                                        on ->
                                                on.message(
                                                        Bank.Open.class,
                                                        (open, turn) -> {
                                                            release.await();
                                                            turn.reply(new Bank.Done("it"));
                                                        }),
                                Protection.local());
        open.add(slow);
        List<CompletableFuture<HttpResponse<String>>> both = new ArrayList<>();
        for (int count = 0; count < 2; count++) {
            both.add(
                    client.sendAsync(
                            request(slow, "/Open", OPEN, "k"),
                            HttpResponse.BodyHandlers.ofString()));
        }
        // The thread of turns is busy; which of the two comes first is open.
        release.countDown();
        List<Integer> statuses = new ArrayList<>();
        for (CompletableFuture<HttpResponse<String>> each : both) {
            statuses.add(each.get(30, TimeUnit.SECONDS).statusCode());
        }
        assertThat(statuses).contains(200);
        assertThat(statuses).allMatch(it -> it == 200 || it == 409);
        assertThat(ok(slow, "/Open", OPEN, "k")).isEqualTo("Done {\"id\":\"it\"}");
    }

    @Test
    void whatIsNoRequestIsRefused() throws Exception {
        RunningService bank =
                bank(services("north").allow(Bank.Credit.class, "south").foldBytes(4096));
        assertThat(post(bank, "/Nothing", "{}", "").statusCode()).isEqualTo(404);
        assertThat(post(bank, "/Done", "{}", "").statusCode()).isEqualTo(404);
        HttpResponse<String> wrong = post(bank, "/Open", "{\"ownr\":\"ann\"}", "");
        assertThat(wrong.statusCode()).isEqualTo(400);
        assertThat(wrong.body())
                .isEqualTo("{\"error\":\"Open: there is no ownr; there are owner, cents\"}");
        assertThat(post(bank, "/Credit", "{}", "").statusCode()).isEqualTo(403);
        assertThat(post(bank, "/Open", OPEN, "x".repeat(201)).statusCode()).isEqualTo(400);
        assertThat(post(bank, "/Open", OPEN, "x".repeat(200)).statusCode()).isEqualTo(200);
        String huge = "{\"owner\":\"" + "x".repeat(2 << 20) + "\"}";
        assertThat(post(bank, "/Open", huge, "").statusCode()).isEqualTo(413);
        URI open = URI.create("http://" + bank.http().orElseThrow() + "/Open");
        assertThat(
                        client.send(
                                        HttpRequest.newBuilder(open).GET().build(),
                                        HttpResponse.BodyHandlers.ofString())
                                .statusCode())
                .isEqualTo(405);
        assertThat(
                        client.send(
                                        HttpRequest.newBuilder(open)
                                                .POST(HttpRequest.BodyPublishers.ofString(OPEN))
                                                .build(),
                                        HttpResponse.BodyHandlers.ofString())
                                .statusCode())
                .isEqualTo(415);
        assertThat(raw(bank, "POST /Open HTTP/1.1\r\nHost: evil.example\r\n")).contains(" 403 ");
        // Names of hosts have no case: it gets as far as the missing type of its body.
        assertThat(raw(bank, "POST /Open HTTP/1.1\r\nHost: LOCALHOST:8086\r\n")).contains(" 415 ");
        assertThat(
                        raw(
                                bank,
                                "POST /Open HTTP/1.1\r\nHost: localhost\r\n"
                                        + "Content-Type: application/json\r\n"
                                        + "Idempotency-Key: a\r\nIdempotency-Key: b\r\n"))
                .contains(" 400 ");
    }

    /** The first line of the answer to a request without a body. */
    private static String raw(RunningService of, String head) throws IOException {
        Address at = of.http().orElseThrow();
        try (Socket socket = new Socket(at.host(), at.port())) {
            String request = head + "Content-Length: 0\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .findFirst()
                    .orElse("");
        }
    }

    @Test
    void whoWaitsIsToldThatTheServiceEnds() throws Exception {
        RunningService bank = bank("north");
        CompletableFuture<HttpResponse<String>> waits =
                client.sendAsync(
                        request(bank, "/Wait", "{\"until\":\"noon\"}", "k"),
                        HttpResponse.BodyHandlers.ofString());
        await().until(() -> post(bank, "/Wait", "{\"until\":\"noon\"}", "k").statusCode() == 202);
        bank.close();
        assertThat(waits.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
        RunningService again = bank("north");
        assertThat(post(again, "/Wait", "{\"until\":\"noon\"}", "k").statusCode()).isEqualTo(202);
        Client plain = Services.without("north", Map.of("north", again.address())).client();
        open.add(plain);
        plain.send(new Bank.Release("noon")).get(30, TimeUnit.SECONDS);
        assertThat(ok(again, "/Wait", "{\"until\":\"noon\"}", "k")).isEqualTo("Released {}");
    }

    @Test
    void aPortThatIsTakenIsSaid() throws Exception {
        RunningService bank = bank("north");
        Address taken = bank.http().orElseThrow();
        assertThatThrownBy(() -> bank(services("other").http(taken)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the HTTP door of north cannot listen at " + taken);
    }

    @Test
    void namesOfCollectionsBeginWithoutASign() {
        assertThatThrownBy(
                        () ->
                                services("north")
                                        .run(
                                                state -> {
                                                    state.value("#http", String.class);
                                                    return on -> {};
                                                },
                                                Protection.local()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a name does not begin with '#'");
    }
}
