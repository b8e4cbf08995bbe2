package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.LoopbackHosting.Disk;
import io.saucr.tests.ensemble.HoldingProxy.Direction;
import java.time.LocalTime;
import java.util.HashMap;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The recovery source dies in the middle, between two parts of a transaction that is larger than a
 * packet; the copy goes on from the other server (R17, R18).
 */
@Tag("quick")
@NeedsCompiler
class RecoveryCopyIT {
    private static final int RECOVERING = 1;
    private static final int LARGE_BYTES = 900_000;
    private static final int LARGE_WRITES = 6;

    /** Not all of the writes, and not a whole number of them. */
    private static final int BYTES_BEFORE_DEATH = 5 * LARGE_BYTES / 2;

    @Test
    void r17ACopyGoesOnWhenItsSourceDies() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("recovery-copy", 3)
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("saucr.idleFlush", "1h")
                                .disk(Disk.SHIM_WITH_JOURNAL))) {
            ensemble.awaitFast();
            byte[] large = new byte[LARGE_BYTES];
            Map<Integer, HoldingProxy> cables = new HashMap<>();
            try (Client client = ensemble.connect()) {
                for (int i = 0; i < LARGE_WRITES; i++) {
                    client.create("/large-" + i, large, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                }
                LocalTime cut = ensemble.losePowerInFastMode(RECOVERING);
                ensemble.awaitServing();
                int port = ensemble.server(RECOVERING).address().electionPort();
                for (int other : new int[] {2, 3}) {
                    // Of two servers the one with the higher id connects.
                    HoldingProxy cable = new HoldingProxy(port);
                    cable.holdAfter(Direction.OUT, BYTES_BEFORE_DEATH);
                    ensemble.shim(other).detours(Map.of(port, cable.port()));
                    cables.put(other, cable);
                }
                ensemble.restart(RECOVERING);
                SaucrEnsemble.await(
                        "a copy that stands still",
                        () -> cables.values().stream().anyMatch(HoldingProxy::full));
                int source = cables.get(2).full() ? 2 : 3;
                cables.get(5 - source).release(Direction.OUT);
                ensemble.kill(source);
                ensemble.awaitServing();
                assertThat(ensemble.log(RECOVERING, cut, "Recovered through")).isNotEmpty();
            } finally {
                for (HoldingProxy cable : cables.values()) {
                    cable.close();
                }
            }
            try (Client reader = ensemble.connect(RECOVERING)) {
                reader.sync("/");
                for (int i = 0; i < LARGE_WRITES; i++) {
                    assertThat(reader.getData("/large-" + i, false, null)).isEqualTo(large);
                }
            }
        }
    }

    /**
     * The others' logs begin after what the server has, so it gets a snapshot, which replaces
     * everything; its power goes as soon as that is done.
     */
    @Test
    void r17ASnapshotThatReplacedEverythingIsThereAfterAPowerCut() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("recovery-snapshot", 3)
                                .set("snapCount", "100")
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("saucr.idleFlush", "1h")
                                .disk(Disk.SHIM_WITH_JOURNAL))) {
            ensemble.awaitFast();
            AckedWrites before = AckedWrites.written(ensemble.connect(), "/before", 4, 50);
            ensemble.losePowerInFastMode(RECOVERING);
            ensemble.awaitServing();
            AckedWrites after = AckedWrites.beyondTheLogs(ensemble, "/after", 2, 3);
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(RECOVERING);
            SaucrEnsemble.await(
                    "the end of the recovery",
                    () -> !ensemble.log(RECOVERING, restarted, "Recovered through").isEmpty());
            ensemble.losePower(RECOVERING);
            assertThat(ensemble.log(RECOVERING, restarted, "Replacing log and snapshots"))
                    .isNotEmpty();
            ensemble.restart(RECOVERING);
            ensemble.awaitServing();
            before.assertAllOnEachOf(ensemble);
            after.assertAllOnEachOf(ensemble);
        }
    }
}
