package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The CPU time of five idle servers (R9). */
@PromisesTimes
class IdleCostIT {
    private static final Duration MEASUREMENT = Duration.ofSeconds(10);
    private static final int MOST_PARTS = 6;
    private static final double LIMIT = 6;
    private static final int WARM_UP_WRITES = 3_000;
    private static final double CLOCK_TICKS_PER_SECOND = 100;

    /**
     * The goal is 2 % of one core for all five; the limit is higher, because a loaded machine must
     * not fail the build. With a heartbeat each 10 ms it would be 10 %.
     */
    @Tag("long")
    @Test
    void r9IdleHeartbeatsAt50MillisecondsCostLittle() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("idle-cost", 5)
                                .set("saucr.heartbeatInterval", "50ms"))) {
            ensemble.awaitFast();
            try (AckedWrites writes =
                    new AckedWrites(ensemble.connect(), "/warm-up", 32, WARM_UP_WRITES)) {
                writes.awaitMore(WARM_UP_WRITES);
            }
            ensemble.awaitOnDisk(ensemble.all());
            // After a load answers come in time again, and heartbeats are rare again (R27).
            double percent = 100;
            for (int part = 0; part < MOST_PARTS && percent >= LIMIT; part++) {
                percent = percentOfOneCore(ensemble);
            }
            assertThat(percent).isLessThan(LIMIT);
        }
    }

    private static double percentOfOneCore(SaucrEnsemble ensemble) throws IOException {
        long before = cpuTicks(ensemble, ensemble.all());
        long start = System.nanoTime();
        Awaitility.await()
                .pollInterval(Duration.ofMillis(500))
                .atMost(MEASUREMENT.plusSeconds(10))
                .until(() -> System.nanoTime() - start >= MEASUREMENT.toNanos());
        double seconds = (System.nanoTime() - start) / 1e9;
        double cpu = (cpuTicks(ensemble, ensemble.all()) - before) / CLOCK_TICKS_PER_SECOND;
        double percent = 100 * cpu / seconds;
        System.out.printf(
                "idle at 50 ms heartbeat: five servers use %.2f %% of one core (%.2f s of CPU"
                        + " in %.1f s)%n",
                percent, cpu, seconds);
        return percent;
    }

    private static long cpuTicks(SaucrEnsemble ensemble, List<Integer> ids) throws IOException {
        long ticks = 0;
        for (int id : ids) {
            Path stat = Path.of("/proc/" + ensemble.server(id).pid() + "/stat");
            String line = Files.readString(stat);
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
            ticks += Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
        }
        return ticks;
    }
}
