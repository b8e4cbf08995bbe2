package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalTime;
import java.util.Arrays;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Values of 900 KB, more of them than the heap holds. A server without a bound by bytes runs out of
 * memory.
 */
class LargeValuesIT {
    private static final int HEAP_MEGABYTES = 96;
    private static final int BYTES = 900_000;

    /** With one value in each they would fill the heap one and a half times. */
    private static final int WRITES = 150;

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("large-values", 3)
                                .jvmFlag("-Xmx" + HEAP_MEGABYTES + "m")
                                // Collections of a heap that is nearly full take their time.
                                .set("saucr.heartbeatInterval", "2s")
                                .set("syncLimit", "40"));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @Test
    void manyLargeValuesFitIntoASmallHeapAndAServerThatWasAwayGetsThem() throws Exception {
        int leader = ensemble.leader();
        int away = ensemble.followers().get(0);
        int follower = ensemble.followers().get(1);
        byte[] value = new byte[BYTES];
        try (Client client = ensemble.connect(follower)) {
            client.create("/large", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            ensemble.kill(away);
            for (int i = 1; i <= WRITES; i++) {
                Arrays.fill(value, (byte) i);
                assertThat(client.setData("/large", value, -1).getVersion()).isEqualTo(i);
            }
        }
        assertThat(ensemble.running()).containsExactlyInAnyOrder(leader, follower);
        assertThat(ensemble.leader()).isEqualTo(leader);
        LocalTime before = SaucrEnsemble.now();
        ensemble.restart(away);
        ensemble.awaitServing();
        assertThat(ensemble.log(leader, before, "Using committedLog")).isEmpty();
        try (Client client = ensemble.connect(away)) {
            Stat stat = new Stat();
            assertThat(client.getData("/large", false, stat)).isEqualTo(value);
            assertThat(stat.getVersion()).isEqualTo(WRITES);
        }
    }
}
