package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Servers that speak plain TCP with each other change to TLS and back under load, in rounds of
 * restarts one by one, as ZooKeeper's guide describes it. Every acknowledged write is on every
 * server in the end.
 */
class RollingTlsIT {
    private static final int VOTERS = 3;
    private static final int WRITES_BETWEEN = 30;
    private static final String UNIFIED = "portUnification";
    private static final String TLS = "sslQuorum";
    private static final String OPEN = "The ports between servers are open";
    private static final String ACCEPTED_TLS = "Accepted TLS connection";

    /** On the way back the same settings meet, in the other order. */
    @Test
    void toTlsWithApachesServerAmongThem() throws Exception {
        change("rolling-tls-mixed", mixed("rolling-tls-mixed"), List.of(2, 3), false);
    }

    @Tag("long")
    @Test
    void thereAndBackWithApachesServerAmongThem() throws Exception {
        change("rolling-tls-mixed-back", mixed("rolling-tls-mixed-back"), List.of(2, 3), true);
    }

    private static Ensemble.Builder mixed(String name) throws IOException {
        return SaucrEnsemble.describe(name, VOTERS).distribution(1, Distribution.stock());
    }

    @Tag("long")
    @Test
    void oursAloneAreFastBeforeMeanwhileAndAfterwards() throws Exception {
        Ensemble.Builder servers =
                SaucrEnsemble.describe("rolling-tls", VOTERS)
                        .set("saucr.heartbeatInterval", "2s")
                        .set("saucr.fastModeConfirmations", "1");
        change("rolling-tls", servers, List.of(1, 2, 3), true);
    }

    /**
     * @param ours those of all servers that are not Apache's
     * @param andBack whether they change back to plain TCP
     */
    private static void change(
            String name, Ensemble.Builder servers, List<Integer> ours, boolean andBack)
            throws Exception {
        Path folder = Files.createDirectories(SaucrEnsemble.folder(name + "-keys"));
        Path keys = Certificates.keys(folder.resolve("keys.p12"));
        Path trusted = Certificates.certificateOf(keys, folder.resolve("trusted.p12"));
        // A handshake takes its time on a busy machine.
        servers.set("syncLimit", "40")
                .set("ssl.quorum.keyStore.location", keys.toString())
                .set("ssl.quorum.keyStore.password", Certificates.PASSWORD)
                .set("ssl.quorum.trustStore.location", trusted.toString())
                .set("ssl.quorum.trustStore.password", Certificates.PASSWORD);
        try (SaucrEnsemble ensemble = SaucrEnsemble.start(servers);
                AckedWrites writes = new AckedWrites(ensemble.connect(), "/rolling", 4)) {
            writes.awaitMore(WRITES_BETWEEN);
            Round round = new Round(ensemble, writes, ours);
            round.restart(Map.of(UNIFIED, "true", TLS, "false"));
            assertThat(round.logged(ACCEPTED_TLS)).isFalse();
            round.restart(Map.of(UNIFIED, "true", TLS, "true"));
            round.restart(Map.of(UNIFIED, "false", TLS, "true"));
            assertThat(round.logged(ACCEPTED_TLS)).isTrue();
            assertThat(round.logged(OPEN)).isFalse();
            if (andBack) {
                round.restart(Map.of(UNIFIED, "true", TLS, "true"));
                round.restart(Map.of(UNIFIED, "true", TLS, "false"));
                round.restart(Map.of(UNIFIED, "false", TLS, "false"));
                assertThat(round.logged(ACCEPTED_TLS)).isFalse();
                assertThat(round.logged(OPEN)).isTrue();
            }
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    /** Restarts every server, the leader last; each is stopped by SIGTERM. */
    private static final class Round {
        private final SaucrEnsemble ensemble;
        private final AckedWrites writes;
        private final List<Integer> ours;
        private LocalTime began;

        Round(SaucrEnsemble ensemble, AckedWrites writes, List<Integer> ours) {
            this.ensemble = ensemble;
            this.writes = writes;
            this.ours = ours;
        }

        void restart(Map<String, String> settings) throws Exception {
            began = SaucrEnsemble.now();
            int leader = ensemble.leader();
            List<Integer> order = new ArrayList<>(ensemble.all());
            order.remove(Integer.valueOf(leader));
            order.add(leader);
            for (int id : order) {
                ServerProcess server = ensemble.server(id);
                ensemble.terminate(id);
                for (Map.Entry<String, String> each : settings.entrySet()) {
                    server.configure(each.getKey(), each.getValue());
                }
                server.start();
                ensemble.awaitServing();
                writes.awaitMore(WRITES_BETWEEN);
            }
            if (ours.size() == VOTERS) {
                ensemble.awaitFast();
                writes.awaitMore(WRITES_BETWEEN);
            }
        }

        /** Whether one of our servers has logged that since the beginning of the last round. */
        boolean logged(String words) throws Exception {
            for (int id : ours) {
                if (!ensemble.log(id, began, words).isEmpty()) {
                    return true;
                }
            }
            return false;
        }
    }
}
