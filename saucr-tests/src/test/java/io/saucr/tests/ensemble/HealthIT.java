package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

/** {@code /livez} and {@code /readyz} of real servers: who serves is ready, who waits is alive. */
class HealthIT {
    private SaucrEnsemble ensemble;

    @Test
    void aServerIsReadyWhileItServesAndAliveWhileItWaits() throws Exception {
        try (SaucrEnsemble started =
                SaucrEnsemble.start(
                        AdminServer.describe("health", 3).jvmFlag("-Dreadonlymode.enabled=true"))) {
            ensemble = started;
            int leader = ensemble.awaitFast();
            for (int id : ensemble.all()) {
                assertThat(probe(id, "/livez").statusCode()).isEqualTo(200);
                assertThat(probe(id, "/readyz").statusCode()).isEqualTo(200);
                assertThat(probe(id, "/readyz").body()).isEqualTo("ok\n");
            }
            assertThat(probe(leader, "/readyz?verbose").body())
                    .contains("[+]recovered ok\n", "[+]quorum ok\n", "readyz check passed\n");
            assertThat(probe(leader, "/readyz?exclude=disk").statusCode()).isEqualTo(400);
            AdminServer admin = new AdminServer(ensemble.server(leader));
            assertThat(admin.get("saucr").statusCode()).isEqualTo(200);
            assertThat(probe(leader, "/healthz").statusCode()).isEqualTo(404);

            try (AckedWrites writes = new AckedWrites(ensemble.connect(), "/health", 8)) {
                writes.awaitMore(100);
                writes.stop();
            }
            int survivor = ensemble.followers().get(0);
            for (int id : ensemble.all()) {
                if (id != survivor) {
                    ensemble.kill(id);
                }
            }
            SaucrEnsemble.await("an answer that it is not ready", () -> ready(survivor) == 503);
            assertThat(probe(survivor, "/livez").statusCode()).isEqualTo(200);
            // Read-only mode begins later than the loss of the quorum.
            SaucrEnsemble.await(
                    "read-only mode",
                    () -> probe(survivor, "/readyz").body().contains("[-]read-write failed"));
            assertThat(ready(survivor)).isEqualTo(503);
            assertThat(probe(survivor, "/readyz?exclude=read-write").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void aServerThatRecoversSaysWhatItWaitsFor() throws Exception {
        try (SaucrEnsemble started =
                SaucrEnsemble.start(
                        AdminServer.describe("health-lost", 3)
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("saucr.idleFlush", "1h"))) {
            ensemble = started;
            int victim = 1;
            ensemble.writeAndDie();
            for (int id : ensemble.all()) {
                ensemble.shim(id).losePower(false);
            }
            assertThat(ensemble.markers(victim).crashedInFastMode()).isTrue();
            ensemble.restart(victim);
            SaucrEnsemble.await("an answer that it is not ready", () -> ready(victim) == 503);
            SaucrEnsemble.await(
                    "whom it waits for",
                    () -> probe(victim, "/readyz").body().contains(" did not, 1 more needed"));
            assertThat(probe(victim, "/readyz").body())
                    .startsWith("[-]recovered failed: ")
                    .contains("[-]quorum failed: this server neither leads nor follows a leader\n");
            assertThat(probe(victim, "/livez").body()).isEqualTo("ok\n");
        }
    }

    private int ready(int id) throws IOException, InterruptedException {
        try {
            return probe(id, "/readyz").statusCode();
        } catch (ConnectException e) {
            return 0; // it starts
        }
    }

    private HttpResponse<String> probe(int id, String path)
            throws IOException, InterruptedException {
        return new AdminServer(ensemble.server(id)).probe(path);
    }
}
