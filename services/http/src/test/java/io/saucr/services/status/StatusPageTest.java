package io.saucr.services.status;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Address;
import io.saucr.services.RunningService;
import io.saucr.services.ServiceException;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Askers who are slow, and a service that is: the page answers the others all the same. */
class StatusPageTest {

    private final CountDownLatch serviceAnswers = new CountDownLatch(1);
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private StatusPage page;

    @BeforeEach
    void open() throws IOException {
        RunningService slow =
                (RunningService)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {RunningService.class},
                                (proxy, method, arguments) -> {
                                    if (method.getName().equals("name")) {
                                        return "bank";
                                    }
                                    serviceAnswers.await();
                                    throw new ServiceException("bank ends");
                                });
        page = new StatusPage(slow, new Address("127.0.0.1", 0));
    }

    @AfterEach
    void close() {
        serviceAnswers.countDown();
        page.close();
    }

    private CompletableFuture<HttpResponse<String>> get(String path) {
        return client.sendAsync(
                HttpRequest.newBuilder(URI.create("http://" + page.address() + path)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void connectionsWithHalfARequestCostTheOthersNothing() throws Exception {
        List<Socket> half = new ArrayList<>();
        try {
            for (int count = 0; count < 40; count++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), page.address().port());
                socket.getOutputStream().write("POST /ret".getBytes(StandardCharsets.US_ASCII));
                half.add(socket);
            }
            assertThat(get("/").get().statusCode()).isEqualTo(200);
        } finally {
            for (Socket socket : half) {
                socket.close();
            }
        }
    }

    @Test
    void aServiceThatDoesNotAnswerHoldsUpNoPageAndNoMoreThanSoManyRequests() {
        List<CompletableFuture<HttpResponse<String>>> waiting = new ArrayList<>();
        for (int count = 0; count < 103; count++) {
            waiting.add(get("/status.json"));
        }
        // Two are with the service, a hundred wait behind them.
        await().until(() -> waiting.stream().anyMatch(CompletableFuture::isDone));
        HttpResponse<String> refused =
                waiting.stream().filter(CompletableFuture::isDone).findAny().orElseThrow().join();
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.body()).contains("100 requests wait already");
        assertThat(get("/").join().body()).contains("<title>service</title>");

        serviceAnswers.countDown();
        for (CompletableFuture<HttpResponse<String>> each : waiting) {
            assertThat(each.join().statusCode()).isEqualTo(503);
        }
        assertThat(
                        waiting.stream()
                                .map(CompletableFuture::join)
                                .map(HttpResponse::body)
                                .filter(it -> it.contains("bank ends")))
                .hasSize(102);
    }
}
