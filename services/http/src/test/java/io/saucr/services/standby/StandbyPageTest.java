package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.standby.StandbyServiceTest.Numbers;
import io.saucr.services.standby.StandbyServiceTest.Put;
import io.saucr.services.standby.StandbyServiceTest.Was;
import io.saucr.services.status.StatusPage;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The status page of a member of a service with standbys. */
class StandbyPageTest {

    @TempDir private Path work;

    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Services place(String folder) {
        return Services.at(server.connect() + "/apps/numbers")
                .folder(work.resolve(folder))
                .listen(new Address("127.0.0.1", 0))
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private static int handOver(RunningService member, String query) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(
                                        URI.create(
                                                "http://"
                                                        + member.statusPage().orElseThrow()
                                                        + "/handover"
                                                        + query))
                                .header(StatusPage.ORDER_HEADER, "test")
                                .POST(HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    @Test
    void officeIsHandedOverByTheStatusPage() throws Exception {
        try (RunningService one =
                        place("one").statusPage(0).run(Numbers::new, Protection.standby());
                Client client = place("client").client("asker")) {
            assertThat(client.ask(new Put("a", 1), Was.class).get()).isEqualTo(new Was(0));
            assertThat(handOver(one, "?member=00000000000000aa")).isEqualTo(400);
            try (RunningService two =
                    place("two").statusPage(0).run(Numbers::new, Protection.standby())) {
                await().until(() -> one.status().member().followers().size() == 1);
                assertThat(handOver(two, "")).isEqualTo(503);
                String member = two.status().member().member();
                await().until(() -> handOver(one, "?member=" + member) == 200);
                assertThat(client.ask(new Put("a", 2), Was.class).get()).isEqualTo(new Was(1));
                await().until(() -> one.status().member().primary().equals(member));
                assertThat(two.status().member().role()).isEqualTo("primary");
            }
        }
    }
}
