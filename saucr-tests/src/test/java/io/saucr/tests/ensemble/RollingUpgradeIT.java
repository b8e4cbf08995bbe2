package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.ServerProcess;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One server after the other, under load: from Apache's releases to ours and back (H12). Every
 * acknowledged write is on every server in the end.
 */
class RollingUpgradeIT {
    private static final int WRITES_BETWEEN = 30;

    @Tag("long")
    @Test
    void fromTheOldReleaseToOursDisabledThenEnabledAndBackToTheOldRelease() throws Exception {
        Distribution old = ApacheRelease.old();
        Distribution ours = BuiltDistribution.servers();
        try (SaucrEnsemble ensemble = start("rolling-old", old);
                AckedWrites writes = new AckedWrites(ensemble.connect(), "/rolling", 4)) {
            roll(ensemble, writes, ours, "false");
            assertThat(ensemble.mntr(1).get("zk_version")).startsWith("3.9.5");
            roll(ensemble, writes, ours, "true");
            ensemble.awaitFast();
            writes.awaitMore(WRITES_BETWEEN);
            roll(ensemble, writes, ours, "false");
            roll(ensemble, writes, old, "false");
            assertThat(ensemble.mntr(1).get("zk_version")).startsWith("3.8.");
            everythingIsThere(ensemble, writes);
        }
    }

    @Test
    void fromTheBaseReleaseStraightToOursEnabledAndStraightBack() throws Exception {
        Distribution base = ApacheRelease.base();
        try (SaucrEnsemble ensemble = start("rolling-base", base);
                AckedWrites writes = new AckedWrites(ensemble.connect(), "/rolling", 4)) {
            roll(ensemble, writes, BuiltDistribution.servers(), "true");
            ensemble.awaitFast();
            writes.awaitMore(WRITES_BETWEEN);
            roll(ensemble, writes, base, "true");
            everythingIsThere(ensemble, writes);
        }
    }

    private static SaucrEnsemble start(String name, Distribution distribution) throws Exception {
        return SaucrEnsemble.start(
                Ensemble.of(distribution, SaucrEnsemble.folder(name))
                        .voters(3)
                        .set("saucr.heartbeatInterval", "2s")
                        .set("saucr.fastModeConfirmations", "1"));
    }

    /** Followers first, the leader last; each is stopped by SIGTERM. */
    private static void roll(
            SaucrEnsemble ensemble, AckedWrites writes, Distribution to, String enabled)
            throws Exception {
        int leader = ensemble.leader();
        List<Integer> order = new ArrayList<>(ensemble.all());
        order.remove(Integer.valueOf(leader));
        order.add(leader);
        for (int id : order) {
            ServerProcess server = ensemble.server(id);
            ensemble.terminate(id);
            assertThat(ensemble.markers(id).crashedInFastMode()).isFalse();
            server.install(to);
            server.configure("saucr.enabled", enabled);
            server.start();
            ensemble.awaitServing();
            writes.awaitMore(WRITES_BETWEEN);
        }
    }

    private static void everythingIsThere(SaucrEnsemble ensemble, AckedWrites writes)
            throws Exception {
        writes.stop();
        assertThat(writes.count()).isGreaterThan(100);
        writes.assertAllOnEachOf(ensemble);
    }
}
