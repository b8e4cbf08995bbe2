package io.saucr.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.Test;

class HealthTest {
    @Test
    void aProcessThatAnswersIsAlive() {
        assertThat(Health.live().answer(false)).isEqualTo(new Health.Answer(200, "ok\n"));
        assertThat(Health.live().answer(true))
                .isEqualTo(new Health.Answer(200, "[+]ping ok\nlivez check passed\n"));
    }

    @Test
    void aServerThatServesIsReady() {
        Health ready = Health.ready(new Server(true), null);
        assertThat(ready.answer(false)).isEqualTo(new Health.Answer(200, "ok\n"));
        assertThat(ready.answer(true).text())
                .isEqualTo(
                        """
                        [+]recovered ok
                        [+]quorum ok
                        [+]running ok
                        [+]read-write ok
                        readyz check passed
                        """);
    }

    @Test
    void whatFailsIsNamedWithItsReason() {
        assertThat(Health.ready(null, "2 answered, 1 more needed").answer(false))
                .isEqualTo(
                        new Health.Answer(
                                503,
                                """
                                [-]recovered failed: 2 answered, 1 more needed
                                [-]quorum failed: this server neither leads nor follows a leader
                                [+]running ok
                                [+]read-write ok
                                readyz check failed
                                """));
        assertThat(Health.ready(new Server(false), null).answer(false).text())
                .contains("[-]running failed: this server starts, or shuts down");
    }

    @Test
    void aCheckCanBeLeftOut() {
        Health waits = Health.ready(null, null);
        assertThat(waits.answer(false).status()).isEqualTo(503);
        assertThat(waits.answer(false, "quorum")).isEqualTo(new Health.Answer(200, "ok\n"));
        assertThat(waits.answer(true, "quorum", "quorum").text())
                .contains("[+]quorum excluded: ok");
        assertThat(waits.answer(false, "disk"))
                .isEqualTo(
                        new Health.Answer(
                                400,
                                "exclude=disk: readyz has no such check; allowed: [recovered,"
                                        + " quorum, running, read-write]\n"));
    }

    private static final class Server extends ZooKeeperServer {
        private final boolean runs;

        Server(boolean runs) {
            this.runs = runs;
        }

        @Override
        public boolean isRunning() {
            return runs;
        }
    }
}
