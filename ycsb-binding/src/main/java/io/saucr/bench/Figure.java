package io.saucr.bench;

import java.util.List;

/**
 * What a subcommand measures unless options say otherwise: every workload with every number of
 * clients on every device, for each configuration. Immutable.
 *
 * @param name of the subcommand
 * @param configurations as {@link Configuration#parse} reads them
 */
record Figure(
        String name,
        List<String> configurations,
        List<String> workloads,
        List<Integer> clients,
        List<DeviceProfile> devices) {
    static final List<String> ALL_THREE =
            List.of(Configuration.SAUCR, Configuration.MEMORY_DURABLE, Configuration.DISK_DURABLE);

    Figure {
        configurations = List.copyOf(configurations);
        workloads = List.copyOf(workloads);
        clients = List.copyOf(clients);
        devices = List.copyOf(devices);
    }
}
