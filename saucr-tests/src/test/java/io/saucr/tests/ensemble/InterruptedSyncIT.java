package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.time.LocalTime;
import java.util.List;
import net.bytebuddy.implementation.FixedValue;
import net.bytebuddy.implementation.MethodCall;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An observer that was down is synchronised from the log on the leader's disk, twice, while clients
 * write. Each time the leader's thread that reads the log is interrupted right before it begins,
 * when it has to write what the log holds only in memory. The leader's process must live and go on
 * forcing.
 */
@NeedsCompiler
class InterruptedSyncIT {
    private static final int LEADER = 3;
    private static final int OBSERVER = 4;
    private static final int ABSENCES = 2;

    /** More writes than a leader keeps in memory for learners. */
    private static final int MISSED_WRITES = 700;

    /**
     * How many entries the leader logs before it forces, so that some are always only in memory.
     */
    private static final int FORCED_AT_ONCE = 100;

    private static final long ANY_LENGTH = Long.MAX_VALUE;

    @Tag("long")
    @Test
    void anInterruptOfWhoReadsTheLogHarmsNobodyElse() throws Exception {
        // The last method that a handler calls before it reads the log.
        Distribution interrupting =
                BuiltDistribution.changed(
                        "interrupted-sync",
                        "org.apache.zookeeper.server.ZKDatabase",
                        "calculateTxnLogSizeLimit",
                        MethodCall.invoke(Thread.class.getMethod("interrupt"))
                                .onMethodCall(
                                        MethodCall.invoke(Thread.class.getMethod("currentThread")))
                                .andThen(FixedValue.value(ANY_LENGTH)));
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.prepare(
                        SaucrEnsemble.describe("interrupted-sync", LEADER)
                                .observers(1)
                                .distribution(LEADER, interrupting)
                                .disk(Disk.SHIM))) {
            ensemble.server(LEADER).configure("flushDelay", "600000");
            ensemble.server(LEADER).configure("maxBatchSize", Integer.toString(FORCED_AT_ONCE));
            ensemble.restart(2, LEADER);
            ensemble.awaitServing();
            ensemble.restart(1, OBSERVER);
            ensemble.awaitServing();
            assertThat(ensemble.leader()).isEqualTo(LEADER);
            ensemble.pinSlow();
            long process = ensemble.server(LEADER).pid();
            long before = ensemble.shim(OBSERVER).forces().transactionLog();
            try (AckedWrites writes = new AckedWrites(ensemble.connect(1, 2), "/writes", 8)) {
                // Who has no entry of the epoch is sent a snapshot: no log begins before the first.
                SaucrEnsemble.await(
                        "an entry on the observer's disk",
                        () -> ensemble.shim(OBSERVER).forces().transactionLog() > before);
                for (int absence = 0; absence < ABSENCES; absence++) {
                    ensemble.kill(OBSERVER);
                    writes.awaitMore(MISSED_WRITES);
                    LocalTime returned = SaucrEnsemble.now();
                    ensemble.restart(OBSERVER);
                    ensemble.awaitServing();
                    assertThat(ensemble.log(LEADER, returned, "Use txnlog and committedLog"))
                            .isNotEmpty();
                    long forces = ensemble.shim(LEADER).forces().transactionLog();
                    writes.awaitMore(3 * FORCED_AT_ONCE);
                    SaucrEnsemble.await(
                            "the next forces",
                            () -> ensemble.shim(LEADER).forces().transactionLog() > forces + 1);
                }
                writes.stop();
                assertThat(ensemble.server(LEADER).isAlive()).isTrue();
                assertThat(ensemble.server(LEADER).pid()).isEqualTo(process);
                assertThat(ensemble.running()).isEqualTo(List.of(1, 2, LEADER, OBSERVER));
                writes.assertAllOnEachOf(ensemble);
            }
        }
    }
}
