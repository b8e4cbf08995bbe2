package io.saucr.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sessions besides the load, with Apache's servers. */
class RawSessionsIT {
    private static final int TIMEOUT_MILLIS = 8_000;

    @TempDir Path folder;

    private static long sum(Ensemble ensemble, String metric) {
        return ensemble.servers().stream()
                .map(ServerProcess::mntr)
                .map((Map<String, String> answer) -> answer.get(metric))
                .mapToLong(Long::parseLong)
                .sum();
    }

    @Test
    void theyAreNotifiedOfEveryWriteAndEndWhenTheyAreToEnd() throws Exception {
        try (Ensemble ensemble = Ensemble.of(Distribution.stock(), folder).build()) {
            ensemble.start();
            ensemble.awaitServing(Duration.ofSeconds(90));
            List<String> addresses =
                    ensemble.servers().stream().map(each -> each.address().client()).toList();
            ZooKeeper client = UpdateLoad.connect(ensemble.connectString());
            RawSessions watchers = RawSessions.watchers(addresses, 7, TIMEOUT_MILLIS);
            RawSessions idle = RawSessions.idle(addresses, 5, TIMEOUT_MILLIS);
            RawSessions watches = RawSessions.withWatches(addresses, 1_500, TIMEOUT_MILLIS);
            assertThat(sum(ensemble, "zk_watch_count")).isEqualTo(7 + 1_500);

            for (int i = 0; i < 20; i++) {
                client.create(
                        "/node" + i,
                        new byte[i],
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT);
            }
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> watchers.notifications() >= 20 * 7);
            assertThat(watchers.notifications()).isEqualTo(20 * 7);
            assertThat(idle.notifications() + watches.notifications()).isZero();

            watchers.end();
            watches.end();
            assertThat(sum(ensemble, "zk_watch_count")).isZero();
            idle.requireOpen();
            ensemble.server(1).kill();
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .untilAsserted(
                            () ->
                                    assertThatThrownBy(idle::requireOpen)
                                            .isInstanceOf(IOException.class)
                                            .hasMessageMatching(
                                                    "\\d of 5 sessions besides the load have lost"
                                                            + " their connection"));
            assertThatThrownBy(idle::end).hasMessageContaining("have lost");
            idle.close();
            client.close();
        }
    }
}
