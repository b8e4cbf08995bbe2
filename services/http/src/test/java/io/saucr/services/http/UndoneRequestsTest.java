package io.saucr.services.http;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Address;
import io.saucr.services.Handlers;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.local.OwnDisk;
import io.saucr.services.local.Undoing;
import io.saucr.services.turns.Engine;
import io.saucr.services.turns.Place;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** K21: what requests by HTTP hear whose turns are undone while the service runs. */
class UndoneRequestsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir private Path temp;

    private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());
    private final HttpClient client = HttpClient.newHttpClient();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private Undoing guard;
    private Engine engine;

    /** One more. */
    public record Count(String of) {}

    /** How many there were. */
    public record Counted(int count) {}

    /** A turn that lasts until it is released. */
    public record Hang() {}

    private final class Counter implements Service {

        private final ValueState<Counted> counted;

        Counter(State state) {
            counted = state.value("counted", Counted.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Count.class,
                    (count, turn) -> {
                        counted.update(new Counted(counted.orElse(new Counted(0)).count() + 1));
                        turn.reply(counted.orElse(null));
                    });
            on.message(
                    Hang.class,
                    (hang, turn) -> {
                        begun.countDown();
                        released.await();
                    });
        }
    }

    @BeforeEach
    void start() throws Exception {
        Path folder = temp.resolve("counter");
        guard =
                new Undoing(
                        OwnDisk.open(
                                Disk.local(),
                                folder,
                                "counter",
                                ForceMode.always(),
                                new SecureRandom()),
                        found -> {});
        engine =
                Engine.open(
                        Place.without("counter", Map.of())
                                .withFolder(folder)
                                .withDoor(new Address("localhost", 0)),
                        Counter::new,
                        guard,
                        new SecureRandom(),
                        why -> wrong.add(why.reason() + ": " + why.cause()));
        engine.listen();
        engine.begin();
    }

    @AfterEach
    void end() throws Exception {
        released.countDown();
        assertThat(engine.end(PATIENCE)).isTrue();
        guard.close();
        assertThat(wrong).isEmpty();
    }

    private CompletableFuture<HttpResponse<String>> post(String type, String body, String key) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://" + engine.http().orElseThrow() + type))
                        .header("Content-Type", "application/json")
                        .header(HttpDoor.KEY_HEADER, key)
                        .POST(HttpRequest.BodyPublishers.ofString(body));
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private CompletableFuture<HttpResponse<String>> count(String of) {
        return post("/Count", "{\"of\":\"" + of + "\"}", of);
    }

    private String sealed(CompletableFuture<HttpResponse<String>> call) {
        await().atMost(PATIENCE)
                .until(
                        () -> {
                            guard.seal(10);
                            return call.isDone();
                        });
        return said(call);
    }

    private static String said(CompletableFuture<HttpResponse<String>> call) {
        return call.join().statusCode() + " " + call.join().body();
    }

    @Test
    void whatIsUndoneDidNotHappenAndMayComeAgain() throws Exception {
        CompletableFuture<HttpResponse<String>> undone = count("a");
        await().atMost(PATIENCE).until(() -> guard.open() == 1);
        guard.undo(0);
        assertThat(said(undone)).startsWith("503").contains("did not happen");
        assertThat(sealed(count("a"))).isEqualTo("200 {\"count\":1}");
        assertThat(sealed(count("b"))).isEqualTo("200 {\"count\":2}");
    }

    @Test
    void whatStandsIsAnswered() throws Exception {
        CompletableFuture<HttpResponse<String>> first = count("a");
        await().atMost(PATIENCE).until(() -> guard.open() == 1);
        CompletableFuture<HttpResponse<String>> second = count("b");
        await().atMost(PATIENCE).until(() -> guard.open() == 2);
        guard.undo(1);
        assertThat(said(first)).isEqualTo("200 {\"count\":1}");
        assertThat(said(second)).startsWith("503").contains("did not happen");
        assertThat(sealed(count("a"))).isEqualTo("200 {\"count\":1}");
        assertThat(sealed(count("b"))).isEqualTo("200 {\"count\":2}");
    }

    @Test
    void whatNoTurnTookIsForTheNextLife() throws Exception {
        CompletableFuture<HttpResponse<String>> undone = count("a");
        await().atMost(PATIENCE).until(() -> guard.open() == 1);
        CompletableFuture<HttpResponse<String>> hangs = post("/Hang", "{}", "h");
        begun.await();
        CompletableFuture<Void> next =
                CompletableFuture.runAsync(
                        () -> {
                            try {
                                guard.undo(0);
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                        });
        await().atMost(PATIENCE).until(() -> guard.open() == 0);
        CompletableFuture<HttpResponse<String>> late = count("b");
        released.countDown();
        next.join();
        assertThat(said(undone)).startsWith("503");
        assertThat(said(hangs)).startsWith("503").contains("did not happen");
        assertThat(sealed(late)).isEqualTo("200 {\"count\":1}");
    }
}
