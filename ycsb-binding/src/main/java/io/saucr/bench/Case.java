package io.saucr.bench;

import java.util.Locale;

/**
 * What is measured of every configuration: a load, a number of clients, a disk. Immutable.
 *
 * @param workload {@link Workloads#UPDATE}, or a YCSB workload by the name of its file: load or
 *     workloada to workloadf
 * @param clients each a thread with a session of its own
 */
public record Case(String workload, int clients, DeviceProfile device) {
    public Case {
        if (clients < 1 || clients > 1000) {
            throw new IllegalArgumentException("not possible: " + clients + " clients, 1 to 1000");
        }
    }

    @Override
    public String toString() {
        return workload
                + ", "
                + clients
                + (clients == 1 ? " client, " : " clients, ")
                + device.name().toLowerCase(Locale.ROOT);
    }
}
