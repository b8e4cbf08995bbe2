package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.LoopbackHosting.Disk;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random power cuts, deaths and pauses, one after the other, of leaders too, while clients write
 * all the time and background flushes are off. A server that lost power in fast mode recovers, and
 * nothing that was acknowledged is lost (S1, L1). Frequent snapshots and short histories make
 * followers and recovering servers copy whole snapshots (H3).
 */
@NeedsCompiler
class RollingCrashIT {
    private static final int VOTERS = 5;

    /** A majority that is up may serve only if R of them need no recovery. */
    private static final int MOST_DOWN = 2;

    private enum Fault {
        PAUSE,
        KILL,
        POWER_CUT
    }

    private static final List<Fault> FAULTS =
            List.of(Fault.PAUSE, Fault.KILL, Fault.POWER_CUT, Fault.POWER_CUT);

    /** Each of the faults once. */
    @Test
    void s1NothingAcknowledgedIsLostWhileServersDieAndReturn() throws Exception {
        nothingIsLost("rolling-crash", FAULTS.size());
    }

    @Tag("long")
    @Test
    void s1NothingAcknowledgedIsLostInManyRounds() throws Exception {
        nothingIsLost("rolling-crashes", 3 * FAULTS.size());
    }

    private static void nothingIsLost(String name, int rounds) throws Exception {
        long seed = Long.getLong("saucr.tests.seed", System.nanoTime());
        Random random = new Random(seed);
        List<String> events = new ArrayList<>(List.of("seed " + seed));
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe(name, VOTERS)
                                .set("saucr.heartbeatInterval", "100ms")
                                .set("saucr.missedHeartbeatsBeforeElection", "30")
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("saucr.idleFlush", "1h")
                                .set("snapCount", "1000")
                                .set("commitLogCount", "100")
                                .set("snapshotSizeFactor", "-1")
                                .disk(Disk.SHIM_WITH_JOURNAL))) {
            ensemble.awaitFast();
            List<AckedWrites> all = new ArrayList<>();
            List<Fault> faults = new ArrayList<>(FAULTS);
            for (int round = 0; round < rounds; round++) {
                if (round % faults.size() == 0) {
                    Collections.shuffle(faults, random);
                }
                List<Integer> ids = new ArrayList<>(ensemble.all());
                Collections.shuffle(ids, random);
                if (random.nextBoolean()) {
                    int leader = ensemble.leader();
                    ids.remove((Integer) leader);
                    ids.add(0, leader);
                }
                List<Integer> victims = ids.subList(0, 1 + random.nextInt(MOST_DOWN));
                Integer[] left = ids.subList(victims.size(), VOTERS).toArray(Integer[]::new);
                Fault fault = faults.get(round % faults.size());
                events.add(round + ": " + fault + " " + victims);
                try (AckedWrites writes =
                        new AckedWrites(ensemble.connect(left), "/round-" + round, 16)) {
                    all.add(writes);
                    writes.awaitMore(100);
                    for (int victim : victims) {
                        switch (fault) {
                            case PAUSE -> ensemble.pause(victim);
                            case KILL -> ensemble.kill(victim);
                            case POWER_CUT -> ensemble.losePower(victim);
                        }
                        if (random.nextBoolean()) {
                            writes.awaitMore(50);
                        }
                    }
                    writes.awaitMore(100);
                    for (int victim : victims) {
                        if (fault == Fault.PAUSE) {
                            ensemble.resume(victim);
                        } else {
                            ensemble.restart(victim);
                        }
                    }
                    if (random.nextBoolean()) {
                        ensemble.awaitServing();
                        ensemble.awaitFast();
                        writes.awaitMore(100);
                    }
                    writes.stop();
                } catch (Exception | AssertionError e) {
                    events.add(e.toString());
                    events.addAll(ensemble.diagnose());
                    throw new AssertionError(String.join("; ", events), e);
                }
                ensemble.awaitServing();
            }
            ensemble.awaitFast();
            System.out.println(
                    "rolling crashes: "
                            + all.stream().mapToInt(AckedWrites::count).sum()
                            + " writes acknowledged; "
                            + events);
            for (int id : ensemble.all()) {
                try (Client reader = ensemble.connect(id)) {
                    for (AckedWrites writes : all) {
                        assertThat(writes.count()).isPositive();
                        writes.assertAllIn(reader);
                    }
                }
            }
        }
    }
}
