package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.tests.ensemble.SaucrEnsemble.LogLine;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The leader is killed under load, while all that was acknowledged is in memory only (R10, S1). */
@Tag("quick")
class LeaderCrashIT {
    private static final Pattern FLUSHED = Pattern.compile("Flushed to disk through (0x[0-9a-f]+)");

    @Test
    void r10FollowersFlushBeforeTheyLookForALeaderAndNothingAcknowledgedIsLost() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("leader-crash", 5)
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("saucr.idleFlush", "1h"))) {
            int first = ensemble.awaitFast();
            List<Integer> followers = ensemble.followers();
            assertThat(followers).hasSize(4);
            try (AckedWrites writes =
                    new AckedWrites(ensemble.connect(followers.get(0)), "/load", 32)) {
                writes.awaitMore(1_000);
                for (int id : followers) {
                    ensemble.awaitMemoryAlone(id);
                }
                LocalTime killed = SaucrEnsemble.now();
                long ackedBefore = writes.lastZxid();
                ensemble.kill(first);
                int second = ensemble.leader();
                assertThat(second).isNotEqualTo(first);
                ensemble.awaitServing();
                writes.awaitMore(100);

                List<Long> flushed = new ArrayList<>();
                for (int id : followers) {
                    List<LogLine> lines = ensemble.log(id, killed, "");
                    int flush = indexOf(lines, "Flushed to disk through");
                    int election = indexOf(lines, "New election.");
                    assertThat(flush).as("server " + id + " flushed").isNotNegative();
                    assertThat(election).as("server " + id + " looked").isGreaterThan(flush);
                    Matcher matcher = FLUSHED.matcher(lines.get(flush).text());
                    assertThat(matcher.find()).isTrue();
                    flushed.add(Long.decode(matcher.group(1)));
                }
                // F voters acked it, the dead leader among them.
                assertThat(flushed.stream().filter(zxid -> zxid >= ackedBefore).count())
                        .as("of %s had 0x%x", flushed, ackedBefore)
                        .isGreaterThanOrEqualTo(3);

                assertThat(ensemble.awaitFast()).isEqualTo(second);
                writes.awaitMore(100);
                writes.stop();
                for (int id : followers) {
                    try (Client reader = ensemble.connect(id)) {
                        writes.assertAllIn(reader);
                    }
                }
            }
        }
    }

    /** However many nodes there are, the next leader need not write them all before it serves. */
    @Test
    void aNewLeaderServesWithoutASnapshotAndItsDiskRestoresTheTree() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describe("leader-crash-snapshot", 3))) {
            int first = ensemble.awaitFast();
            List<AckedWrites> writes = new ArrayList<>();
            writes.add(AckedWrites.written(ensemble.connect(), "/first", 8, 300));
            Map<Integer, List<Path>> before = new HashMap<>();
            for (int id : ensemble.followers()) {
                before.put(id, ensemble.snapshots(id));
            }
            ensemble.kill(first);
            ensemble.awaitServing();
            int second = ensemble.leader();
            writes.add(AckedWrites.written(ensemble.connect(), "/second", 8, 300));
            assertThat(ensemble.snapshots(second)).isEqualTo(before.get(second)).isNotEmpty();

            ensemble.restart(first);
            ensemble.awaitServing();
            ensemble.awaitOnDisk(ensemble.all());
            Integer[] all = ensemble.all().toArray(Integer[]::new);
            ensemble.killAtOneInstant(all);
            ensemble.restart(all);
            ensemble.awaitServing();
            for (AckedWrites each : writes) {
                each.assertAllOnEachOf(ensemble);
            }
        }
    }

    private static int indexOf(List<LogLine> lines, String words) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).text().contains(words)) {
                return i;
            }
        }
        return -1;
    }
}
