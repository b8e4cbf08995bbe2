package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.ServerProcess;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.implementation.FixedValue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A follower misses some writes and is synchronised by a snapshot. Apache's server keeps its older
 * log files beside that snapshot, and a reader goes on past their end as if nothing were missing.
 * Later this follower leads, and an observer joins that has been down all the time: its last entry
 * lies before the hole. It must get every acknowledged node.
 *
 * <p>The same scenario is run with servers that read across the hole: after the DIFF that they
 * send, the observer serves without the writes that the follower had missed.
 */
class HoleInLogIT {
    private static final int OTHER = 1;
    private static final int FIRST_LEADER = 2;
    private static final int SYNCHRONISED = 3;
    private static final int OBSERVER = 4;
    private static final int WRITES = 30;

    private static final String LOG = "org.apache.zookeeper.server.persistence.SaucrTxnSnapLog";

    /** How the observer was synchronised, and which of the acknowledged writes it lacks. */
    private record Outcome(boolean bySnapshot, List<String> missing) {}

    private static final Outcome NOTHING_MISSING = new Outcome(true, List.of());
    private static final Outcome HOLE_MISSING = new Outcome(false, List.of("/hole"));

    @Tag("long")
    @Test
    void aHoleThatApachesServersLeftIsNotReadAcross() throws Exception {
        assertThat(tell("hole-of-apaches", ApacheRelease.base(), BuiltDistribution.servers()))
                .isEqualTo(NOTHING_MISSING);
    }

    @Tag("long")
    @Test
    void whoeverReadsAcrossAHoleThatApachesServersLeftLosesWhatIsInIt() throws Exception {
        assertThat(
                        tell(
                                "hole-read-across",
                                ApacheRelease.base(),
                                readingAcross("hole-read-across")))
                .isEqualTo(HOLE_MISSING);
    }

    @Test
    void ourServersLeaveNoHole() throws Exception {
        Distribution ours = readingAcross("hole-of-none");
        assertThat(tell("hole-of-none", ours, ours)).isEqualTo(NOTHING_MISSING);
    }

    private static Distribution readingAcross(String name) throws Exception {
        return BuiltDistribution.changed(name, LOG, "isReadable", FixedValue.value(true));
    }

    /**
     * @param first the distribution that runs until the hole is there
     * @param then the distribution that runs when the observer joins
     */
    private static Outcome tell(String name, Distribution first, Distribution then)
            throws Exception {
        Ensemble.Builder builder =
                SaucrEnsemble.describe(name, SYNCHRONISED)
                        .observers(1)
                        // Makes the leader send a DIFF wherever it can, however large the log is
                        // beside the snapshot.
                        .set("snapshotSizeFactor", "0");
        for (int id = 1; id <= OBSERVER; id++) {
            builder.distribution(id, first);
        }
        try (SaucrEnsemble ensemble = SaucrEnsemble.prepare(builder)) {
            for (int id : List.of(OTHER, FIRST_LEADER)) {
                ensemble.server(id).configure("forceSnapshotSync", "true");
            }
            ensemble.restart(OTHER, FIRST_LEADER);
            ensemble.awaitServing();
            ensemble.restart(SYNCHRONISED, OBSERVER);
            ensemble.awaitServing();
            assertThat(ensemble.leader()).isEqualTo(FIRST_LEADER);

            List<AckedWrites> writes = new ArrayList<>();
            writes.add(written(ensemble, "/everywhere"));
            ensemble.terminate(OBSERVER);
            writes.add(written(ensemble, "/before"));
            ensemble.terminate(SYNCHRONISED);
            writes.add(written(ensemble, "/hole"));
            // Within an epoch the observer would notice that an entry is missing, not between two
            // epochs.
            ensemble.terminate(OTHER, FIRST_LEADER);
            ensemble.restart(OTHER, FIRST_LEADER);
            ensemble.awaitServing();
            assertThat(ensemble.leader()).isEqualTo(FIRST_LEADER);
            LocalTime returned = SaucrEnsemble.now();
            ensemble.restart(SYNCHRONISED);
            ensemble.awaitServing();
            assertThat(ensemble.log(SYNCHRONISED, returned, "Getting a snapshot from leader"))
                    .isNotEmpty();
            writes.add(written(ensemble, "/after"));

            ensemble.terminate(OTHER, FIRST_LEADER, SYNCHRONISED);
            for (int id : ensemble.all()) {
                ServerProcess server = ensemble.server(id);
                server.install(then);
                server.configure("forceSnapshotSync", null);
            }
            ensemble.restart(OTHER, SYNCHRONISED);
            ensemble.awaitServing();
            assertThat(ensemble.leader()).isEqualTo(SYNCHRONISED);
            LocalTime joined = SaucrEnsemble.now();
            ensemble.restart(OBSERVER);
            ensemble.awaitServing();
            assertThat(ensemble.role(OBSERVER)).isEqualTo("observer");
            List<String> missing = new ArrayList<>();
            try (Client reader = ensemble.connect(OBSERVER)) {
                for (AckedWrites each : writes) {
                    if (reader.exists(each.parent(), false) == null) {
                        missing.add(each.parent());
                    } else {
                        each.assertAllIn(reader);
                    }
                }
            }
            return new Outcome(
                    !ensemble.log(OBSERVER, joined, "Getting a snapshot from leader").isEmpty(),
                    missing);
        }
    }

    /** Some acknowledged writes, which every running server has logged when this returns. */
    private static AckedWrites written(SaucrEnsemble ensemble, String parent) throws Exception {
        AckedWrites writes = AckedWrites.written(ensemble.connect(OTHER), parent, 4, WRITES);
        SaucrEnsemble.await(
                "the same on every server",
                () -> ensemble.running().stream().map(ensemble::lastZxid).distinct().count() == 1);
        return writes;
    }
}
