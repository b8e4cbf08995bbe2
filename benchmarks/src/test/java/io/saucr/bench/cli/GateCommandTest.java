package io.saucr.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.bench.load.Workloads;
import io.saucr.bench.result.Case;
import io.saucr.bench.result.Comparison;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.Slice;
import io.saucr.bench.result.Slices;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GateCommandTest {
    private static final Case UPDATE = new Case(Workloads.UPDATE, 8, DeviceProfile.HDD, 5, 1024, 0);

    private static Comparison comparison(double ratio, double noise) {
        List<Slice> slices = new ArrayList<>();
        for (int round = 1; round <= 8; round++) {
            double disturbed = 1 + (round % 2 == 0 ? noise : -noise);
            slices.add(Slices.slice("tree", UPDATE, round, 10_000 * ratio * disturbed));
            slices.add(Slices.slice("commit", UPDATE, round, 10_000));
        }
        return new Comparison(slices);
    }

    @Test
    void aClearLossClosesTheGate() {
        assertThat(GateCommand.worse(comparison(0.9, 0.01), 0.03))
                .hasSize(2)
                .hasEntrySatisfying(
                        "throughput, " + UPDATE,
                        line ->
                                assertThat(line)
                                        .startsWith("WORSE: throughput, update, 8 clients, hdd")
                                        .endsWith("of commit"));
    }

    @Test
    void aLossWithinToleranceOrNoiseLeavesItOpen() {
        assertThat(GateCommand.worse(comparison(0.98, 0.005), 0.03)).isEmpty();
        assertThat(GateCommand.worse(comparison(0.96, 0.1), 0.03)).isEmpty();
        assertThat(GateCommand.worse(comparison(1.2, 0.01), 0.03)).isEmpty();
    }
}
