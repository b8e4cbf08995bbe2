package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.HostPressure.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostPressureTest {
    @TempDir Path proc;

    private void machine(long user, long system, long stolen) throws IOException {
        Files.writeString(
                proc.resolve("stat"),
                "cpu  %d 0 %d 5000 0 0 0 %d 0 0%ncpu0 0 0 0 0 0 0 0 0 0 0%n"
                        .formatted(user, system, stolen));
    }

    private void process(long pid, long user, long system) throws IOException {
        Path folder = Files.createDirectories(proc.resolve(Long.toString(pid)));
        Files.writeString(
                folder.resolve("stat"),
                pid + " (a) b) S 1 1 1 0 -1 0 0 0 0 0 " + user + " " + system + " 0 0 20 0\n");
    }

    @Test
    void whatOurProcessesTakeIsNotOfOthers() throws Exception {
        machine(1_000, 100, 0);
        process(7, 500, 50);
        try (HostPressure pressure = HostPressure.of(proc, () -> LongStream.of(7, 8))) {
            machine(1_400, 200, 0);
            process(7, 600, 100);
            process(8, 100, 50); // has begun meanwhile
            Reading reading = pressure.read();
            // Of 500 ticks 200 were not ours.
            assertThat(reading.others() * reading.seconds()).isBetween(1.99, 2.01);
            assertThat(reading.stolen()).isZero();
            assertThat(pressure.read().others()).isZero();
        }
    }

    @Test
    void whatTheHypervisorTakesIsStolen() throws Exception {
        machine(0, 0, 100);
        try (HostPressure pressure = HostPressure.of(proc, LongStream::empty)) {
            machine(0, 0, 400);
            Reading reading = pressure.read();
            assertThat(reading.stolen() * reading.seconds()).isBetween(2.99, 3.01);
        }
    }

    @Test
    void latenessThatTellsIsAddedUp() throws Exception {
        try (HostPressure pressure = HostPressure.of(proc, LongStream::empty)) {
            pressure.late(TimeUnit.MILLISECONDS.toNanos(10));
            pressure.late(TimeUnit.MILLISECONDS.toNanos(100));
            pressure.late(TimeUnit.MILLISECONDS.toNanos(400));
            Reading reading = pressure.read();
            assertThat(reading.longestPause()).isEqualTo(0.4);
            assertThat(reading.paused()).isEqualTo(0.5);
            assertThat(pressure.read().paused()).isZero();
        }
    }

    @Test
    void aQuietMachineGivesNoCauseForComplaint() {
        assertThat(new Reading(10, 2, 0.4, 0.05, 0.2, 0.4).complaint()).isEmpty();
    }

    @Test
    void eachCauseIsNamedWithItsSize() {
        assertThat(new Reading(10, 2, 1.56, 0, 0, 0).complaint())
                .contains("The machine stalled: other processes took 1.6 of 2 processors.");
        assertThat(new Reading(10, 4, 0, 0.2, 0, 0).complaint())
                .contains(
                        "The machine stalled: other machines on the same host took 0.2 of 4"
                                + " processors.");
        assertThat(new Reading(10, 2, 0, 0, 1.25, 3).complaint())
                .contains(
                        "The machine stalled: this program was kept waiting for a processor for up"
                                + " to 1.3 s, 3.0 s in all.");
        assertThat(new Reading(10, 2, 1, 0.5, 0.1, 0.6).complaint().orElseThrow())
                .contains("other processes", "; other machines", "; this program");
    }

    @Test
    void thisMachineCanBeRead() throws Exception {
        try (HostPressure pressure = HostPressure.watchThisAndItsChildren()) {
            Reading reading = pressure.read();
            assertThat(reading.processors()).isPositive();
            assertThat(reading.others()).isNotNegative();
        }
    }
}
