package io.saucr.bench.cli;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.Workloads;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.Sizes;
import java.util.List;

/**
 * What a subcommand measures unless options say otherwise: every workload with every number of
 * clients, size and rate on every device, for each configuration. Immutable.
 *
 * @param name of the subcommand
 * @param configurations as {@link Configuration#parse} reads them
 * @param voters sizes of ensembles
 * @param valueBytes sizes of values
 * @param rates offered operations per second; 0: as many as are answered
 * @param sizes what else the ensembles hold and serve
 * @param oneAtATime whether cases are left out in which both value and sizes are not the first
 * @param processors how many each server may use while slices are measured; 0: all
 */
record Figure(
        String name,
        List<String> configurations,
        List<String> workloads,
        List<Integer> clients,
        List<DeviceProfile> devices,
        List<Integer> voters,
        List<Integer> valueBytes,
        List<Double> rates,
        List<Sizes> sizes,
        boolean oneAtATime,
        double processors) {
    static final List<String> ALL_THREE =
            List.of(Configuration.SAUCR, Configuration.MEMORY_DURABLE, Configuration.DISK_DURABLE);
    private static final List<DeviceProfile> HDD_AND_SSD =
            List.of(DeviceProfile.HDD, DeviceProfile.SSD);
    private static final List<Integer> FIVE = List.of(5);
    private static final List<Integer> ONE_KILOBYTE = List.of(1024);
    private static final double ALL_PROCESSORS = 0;
    private static final List<Double> AS_FAST_AS_ANSWERED = List.of(0.0);
    private static final List<String> SAUCR_AND_MEMORY_DURABLE =
            List.of(Configuration.SAUCR, Configuration.MEMORY_DURABLE);

    Figure {
        configurations = List.copyOf(configurations);
        workloads = List.copyOf(workloads);
        clients = List.copyOf(clients);
        devices = List.copyOf(devices);
        voters = List.copyOf(voters);
        valueBytes = List.copyOf(valueBytes);
        rates = List.copyOf(rates);
        sizes = List.copyOf(sizes);
    }

    private static Figure of(
            String name,
            List<String> configurations,
            List<String> workloads,
            List<Integer> clients,
            List<DeviceProfile> devices) {
        return new Figure(
                name,
                configurations,
                workloads,
                clients,
                devices,
                FIVE,
                ONE_KILOBYTE,
                AS_FAST_AS_ANSWERED,
                List.of(Sizes.NONE),
                false,
                ALL_PROCESSORS);
    }

    /** Update-only, 8 clients on a disk that takes 10 ms. */
    private static Figure ofUpdates(
            String name,
            List<String> configurations,
            List<Integer> voters,
            List<Integer> valueBytes,
            List<Sizes> sizes) {
        return new Figure(
                name,
                configurations,
                List.of(Workloads.UPDATE),
                List.of(8),
                List.of(DeviceProfile.HDD),
                voters,
                valueBytes,
                AS_FAST_AS_ANSWERED,
                sizes,
                true,
                ALL_PROCESSORS);
    }

    /** Update-only in an open loop, on a disk that takes 1 ms. */
    private static Figure atRates(
            String name, int clients, List<Integer> voters, List<Double> rates, double processors) {
        return new Figure(
                name,
                ALL_THREE,
                List.of(Workloads.UPDATE),
                List.of(clients),
                List.of(DeviceProfile.SSD),
                voters,
                ONE_KILOBYTE,
                rates,
                List.of(Sizes.NONE),
                false,
                processors);
    }

    static Figure quick() {
        return of(
                "quick",
                ALL_THREE,
                List.of(Workloads.UPDATE),
                List.of(8),
                List.of(DeviceProfile.HDD));
    }

    static Figure table1() {
        return of(
                "table1",
                List.of(Configuration.MEMORY_DURABLE, Configuration.DISK_DURABLE),
                List.of(Workloads.UPDATE),
                List.of(1),
                HDD_AND_SSD);
    }

    static Figure fig7() {
        return of(
                "fig7",
                ALL_THREE,
                List.of(Workloads.UPDATE),
                List.of(1, 2, 4, 8, 16, 32, 64),
                HDD_AND_SSD);
    }

    static Figure fig8(List<String> workloads) {
        return of("fig8", ALL_THREE, workloads, List.of(8), HDD_AND_SSD);
    }

    static Figure fig10(List<String> intervals) {
        return of(
                "fig10",
                intervals.stream()
                        .map(each -> Configuration.SAUCR + ",saucr.heartbeatInterval=" + each)
                        .toList(),
                List.of("load"),
                List.of(8),
                List.of(DeviceProfile.SSD));
    }

    static Figure latency() {
        return atRates(
                "latency",
                64,
                FIVE,
                List.of(100.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0),
                ALL_PROCESSORS);
    }

    static Figure starved() {
        return atRates("starved", 1, List.of(3, 5), List.of(50.0), 0.5);
    }

    static Figure ensembles() {
        return ofUpdates(
                "ensembles", ALL_THREE, List.of(3, 5, 7), ONE_KILOBYTE, List.of(Sizes.NONE));
    }

    static Figure values() {
        return ofUpdates(
                "values",
                ALL_THREE,
                FIVE,
                List.of(100, 1024, 4096, 16_384, 65_536),
                List.of(Sizes.NONE));
    }

    static Figure watchers(List<Integer> watchers) {
        return ofUpdates(
                "watchers",
                SAUCR_AND_MEMORY_DURABLE,
                FIVE,
                ONE_KILOBYTE,
                watchers.stream().map(Sizes::ofWatchers).toList());
    }

    /**
     * @param sizes in which the first, which is nothing, is compared with each other one
     */
    static Figure sizes(List<Sizes> sizes) {
        return ofUpdates(
                "sizes",
                SAUCR_AND_MEMORY_DURABLE,
                FIVE,
                List.of(1024, 16_384, 131_072, 900_000),
                sizes);
    }

    /** Short, and broad enough to see what a change of the server costs. */
    static Figure gate(List<String> configurations) {
        return of(
                "gate",
                configurations,
                List.of(Workloads.UPDATE),
                List.of(1, 8, 64),
                List.of(DeviceProfile.HDD));
    }
}
