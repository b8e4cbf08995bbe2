package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.load.ClientLoop;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.result.DeviceProfile;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** The options of every subcommand that has a load on a disk for a time; filled in by picocli. */
final class LoadOptions {
    @Option(
            names = "--clients",
            paramLabel = "N",
            description = "Number of clients (default: ${DEFAULT-VALUE}).")
    private int clients;

    @Option(
            names = "--compile",
            paramLabel = "SECONDS",
            description = "Load on each ensemble before, for its JVMs (default: ${DEFAULT-VALUE}).")
    private double compile;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description =
                    "How long an fsync takes at least: ${COMPLETION-CANDIDATES} (default:"
                            + " ${DEFAULT-VALUE}).")
    private DeviceProfile device;

    /** These unless options say otherwise. */
    LoadOptions(int clients, double compile, DeviceProfile device) {
        this.clients = clients;
        this.compile = compile;
        this.device = device;
    }

    int clients() {
        return clients;
    }

    DeviceProfile device() {
        return device;
    }

    Duration compile() {
        return Duration.ofNanos((long) (compile * 1e9));
    }

    /**
     * @throws IllegalArgumentException if a number is out of range
     * @throws IOException if the disk cannot be simulated
     */
    void check() throws IOException {
        if (clients < 1 || compile < 0) {
            throw new IllegalArgumentException("--clients must be above 0, --compile not below");
        }
        SystemOptions.requireShim(List.of(device));
    }

    /**
     * Prepares updates of nodes, lets the servers' JVMs compile what they need, and has an ensemble
     * as it is to be measured.
     */
    UpdateLoad warmUp(BenchEnsemble ensemble, int records, int valueBytes) throws Exception {
        UpdateLoad load = new UpdateLoad(records, valueBytes);
        load.prepare(ensemble.addresses().get(0));
        new ClientLoop(load).compile(ensemble.addresses(), clients, compile());
        ensemble.device(device);
        ensemble.awaitMode();
        return load;
    }

    void describe(Map<String, Object> plan) {
        plan.put("clients", clients);
        plan.put("device", device);
        plan.put("compileSeconds", compile);
    }
}
