package io.saucr.bench.result;

import java.util.Locale;

/**
 * What is measured of every configuration: a load, a number of clients, a disk, and the size of
 * ensemble and values. Immutable.
 *
 * @param workload update, or a YCSB workload by the name of its file: load or workloada to
 *     workloadf
 * @param clients each a thread with a session of its own, 1 to 1000
 * @param voters servers of the ensemble, 1 to 9; 0 if the ensemble runs elsewhere
 * @param valueBytes size of every value, 1 to 1,000,000
 * @param rate operations per second that all clients together are to begin, whether or not those
 *     before have ended; 0 if each client continues as soon as it has its answer
 * @param sizes what else the ensemble holds and serves
 */
public record Case(
        String workload,
        int clients,
        DeviceProfile device,
        int voters,
        int valueBytes,
        double rate,
        Sizes sizes) {
    public Case {
        require(clients >= 1 && clients <= 1000, clients + " clients, 1 to 1000");
        require(voters >= 0 && voters <= 9, "1 to 9 servers, not " + voters);
        require(valueBytes >= 1 && valueBytes <= 1_000_000, "values of 1 to 1,000,000 bytes");
        require(rate >= 0 && rate <= 1e6, "a rate of 0 to 1,000,000 operations per second");
    }

    /** A case with nothing but the load. */
    public Case(
            String workload,
            int clients,
            DeviceProfile device,
            int voters,
            int valueBytes,
            double rate) {
        this(workload, clients, device, voters, valueBytes, rate, Sizes.NONE);
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new IllegalArgumentException("not possible: " + what);
        }
    }

    /** The part of it that decides which nodes there are. */
    public LoadKey load() {
        return new LoadKey(workload, valueBytes);
    }

    /** The part of it that decides which ensembles are started. */
    public EnsembleKey ensemble() {
        return new EnsembleKey(voters, sizes.observers(), sizes.znodes());
    }

    /** Ensembles that are alike from their start on. */
    public record EnsembleKey(int voters, int observers, int znodes) {
        /** For names of files. */
        @Override
        public String toString() {
            return "n"
                    + voters
                    + (observers == 0 ? "" : "-observers" + observers)
                    + (znodes == 0 ? "" : "-znodes" + znodes);
        }
    }

    /** A workload with values of one size; nodes are made once for each. */
    public record LoadKey(String workload, int valueBytes) {}

    @Override
    public String toString() {
        return workload
                + ", "
                + clients
                + (clients == 1 ? " client, " : " clients, ")
                + device.name().toLowerCase(Locale.ROOT)
                + (voters == 0 ? "" : ", n=" + voters)
                + ", "
                + valueBytes
                + " bytes"
                + (rate == 0 ? "" : ", " + Numbers.number(rate) + "/s offered")
                + sizes;
    }
}
