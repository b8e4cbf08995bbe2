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

    private static List<GateCommand.Line> worse(Comparison... starts) {
        return GateCommand.lines(List.of(starts), 0.03).stream()
                .filter(GateCommand.Line::worse)
                .toList();
    }

    @Test
    void aClearLossClosesTheGate() {
        assertThat(worse(comparison(0.9, 0.01), comparison(0.88, 0.01)))
                .hasSize(2)
                .first()
                .satisfies(
                        line ->
                                assertThat(line.text())
                                        .startsWith("WORSE: throughput, update, 8 clients, hdd")
                                        .endsWith("of commit; starts: 0.90 0.88"));
    }

    @Test
    void aLossWithinToleranceOrNoiseLeavesItOpen() {
        assertThat(worse(comparison(0.98, 0.005))).isEmpty();
        assertThat(worse(comparison(0.96, 0.1))).isEmpty();
        assertThat(worse(comparison(1.2, 0.01))).isEmpty();
    }

    @Test
    void serversThatStartedBadlyOnceDoNotCloseIt() {
        assertThat(worse(comparison(0.8, 0.01), comparison(1.01, 0.01))).isEmpty();
        assertThat(GateCommand.lines(List.of(comparison(0.8, 0.01), comparison(1.01, 0.01)), 0.03))
                .extracting(GateCommand.Line::text)
                .anySatisfy(
                        text -> assertThat(text).startsWith("throughput").endsWith(" 0.80 1.01"));
    }
}
