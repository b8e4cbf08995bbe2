package io.saucr.services;

import static io.saucr.services.once.PatientWaits.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Limits;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.status.StatusPage;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The status page of a service that runs, over real sockets, folders and a real ensemble. */
class ServicePageTest {

    @TempDir private Path temp;

    private final List<String> calls = Collections.synchronizedList(new ArrayList<>());
    private final Set<String> post = ConcurrentHashMap.newKeySet();
    private final List<AutoCloseable> open = new ArrayList<>();
    private TestServer server;

    @BeforeEach
    void startServer() throws Exception {
        server = new TestServer(temp.resolve("zookeeper"));
    }

    @AfterEach
    void closeAll() throws Exception {
        Collections.reverse(open);
        for (AutoCloseable each : open) {
            each.close();
        }
        server.close();
    }

    private Services at(String name) {
        return Services.at(server.connect() + "/apps/" + name)
                .folder(temp.resolve(name))
                .segmentBytes(1 << 20);
    }

    private RunningService bank(Services at) throws Exception {
        RunningService running = at.run(state -> new Bank(state, calls, post), Protection.local());
        open.add(running);
        return running;
    }

    private Client client(String name, String of) throws Exception {
        Client client = at(of).client(name, temp.resolve("client-" + name));
        open.add(client);
        return client;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(30, SECONDS);
    }

    private static HttpResponse<String> http(
            RunningService of, String method, String path, String... headers) throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(
                        URI.create("http://" + of.statusPage().orElseThrow() + path));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return HttpClient.newHttpClient()
                .send(
                        request.method(method, HttpRequest.BodyPublishers.noBody()).build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void peopleSeeAndOrderOnTheStatusPage() throws Exception {
        Limits once = new Limits(256, 1, true, 0, 0, 1_024, 3_600_000);
        RunningService bank = bank(at("north").limits(once).statusPage(0));
        Client teller = client("teller", "north");
        assertThatThrownBy(() -> get(teller.send(new Bank.Poison("too hot, secret 4711"))))
                .hasMessageContaining("too hot");
        get(teller.send(new Bank.Transfer("t1", "ann", "south", "bob", 0)));
        String json = http(bank, "GET", "/status.json").body();
        assertThat(json)
                .contains("\"service\" : \"north\"", "\"type\" : \"Poison\"", "\"unacked\" : 1")
                .contains("\"peer\" : \"south\"");
        HttpResponse<String> page = http(bank, "GET", "/");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.body()).contains("<title>service</title>").doesNotContain("4711");

        assertThat(http(bank, "POST", "/retry?message=1").statusCode()).isEqualTo(403);
        String[] order = {StatusPage.ORDER_HEADER, "1"};
        assertThat(http(bank, "POST", "/retry?message=7", order).body())
                .contains("has the id 7; there are [1]");
        assertThat(http(bank, "POST", "/retry?message=x", order).statusCode()).isEqualTo(400);
        assertThat(http(bank, "POST", "/retry?message=1", order).body()).isEqualTo("done\n");
        await().until(
                        () ->
                                bank.status().deadLetters().stream()
                                        .anyMatch(
                                                it ->
                                                        it.id() == 2
                                                                && it.channel().equals("north")));
        assertThat(http(bank, "POST", "/discard?message=2", order).body()).isEqualTo("done\n");
        assertThat(bank.status().deadLetters()).isEmpty();
        assertThat(http(bank, "POST", "/resume?channel=x", order).body())
                .contains("no channel x waits");
        assertThat(http(bank, "POST", "/declare-lost?service=south&generation=1", order).body())
                .contains("32 hexadecimal digits");
        assertThat(http(bank, "POST", "/return-undelivered?service=north", order).statusCode())
                .isEqualTo(400);
        assertThat(http(bank, "POST", "/return-undelivered?service=south", order).body())
                .isEqualTo("done\n");
        await().until(
                        () ->
                                bank.status().channels().stream()
                                        .filter(it -> it.peer().equals("south"))
                                        .allMatch(it -> it.unacked() == 0));
        assertThat(http(bank, "GET", "/else").statusCode()).isEqualTo(404);
    }
}
