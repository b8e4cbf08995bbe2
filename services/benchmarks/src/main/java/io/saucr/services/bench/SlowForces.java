package io.saucr.services.bench;

import io.saucr.ensemble.FsyncShim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/**
 * The options that commands share which measure a process while its fsyncs take longer, and how it
 * is run: it says {@code warm} once its code is compiled, and then lines for each that it is sent.
 */
final class SlowForces {

    @Option(
            names = "--force",
            paramLabel = "MILLIS",
            split = ",",
            defaultValue = "0,1,5,10",
            description =
                    "How long each fsync takes at least, 0 for no added delay (default: ${DEFAULT-VALUE}).")
    private List<Integer> forces;

    @Option(
            names = "--warm-up",
            paramLabel = "MILLIS",
            defaultValue = "3000",
            description = "Requests before that do not count (default: ${DEFAULT-VALUE}).")
    private int warmUpMillis;

    @Option(
            names = "--slice",
            paramLabel = "MILLIS",
            defaultValue = "2000",
            description =
                    "How long each number of services is measured with each delay (default: ${DEFAULT-VALUE}).")
    private int sliceMillis;

    /** Takes what a process says while each fsync takes so long. */
    interface Slice {
        void read(int forceMillis, TalkingProcess process) throws Exception;
    }

    List<Integer> millis() {
        return forces;
    }

    /**
     * Fails where the options are not allowed.
     *
     * @throws IllegalArgumentException then; the message says what is allowed
     */
    void check() {
        forces.forEach(it -> RoundsOptions.check("--force", it, 0, 1_000));
        RoundsOptions.check("--warm-up", warmUpMillis, 0, 600_000);
        RoundsOptions.check("--slice", sliceMillis, 1, 600_000);
        if (forces.stream().anyMatch(it -> it > 0) && !FsyncShim.available()) {
            throw new IllegalArgumentException(
                    "--force: no C compiler was found, which slower fsyncs need; --force 0 goes without");
        }
    }

    /**
     * Runs a process, and sends it a line for each delay.
     *
     * @param folder of the run
     * @param name of the process's own folder in it, which is empty
     * @param program gets that folder, the arguments, and the milliseconds of warm-up and slice
     */
    void run(Path folder, String name, Class<?> program, List<String> arguments, Slice slice)
            throws Exception {
        Path data = Files.createDirectory(folder.resolve(name));
        FsyncShim shim =
                FsyncShim.available()
                        ? FsyncShim.create(data, folder.resolve("shim-" + name), false)
                        : null;
        List<String> all = new ArrayList<>(List.of(data.toString()));
        all.addAll(arguments);
        all.add(Integer.toString(warmUpMillis));
        all.add(Integer.toString(sliceMillis));
        try (TalkingProcess process =
                new TalkingProcess(
                        folder.resolve("log").resolve(name),
                        List.of("-Xms256m", "-Xmx1g"),
                        shim == null ? Map.of() : shim.environment(),
                        program,
                        all.toArray(String[]::new))) {
            String unused = process.next("warm");
            for (int force : forces) {
                if (shim != null) {
                    shim.delay(Duration.ofMillis(force));
                }
                process.tell();
                slice.read(force, process);
            }
        }
    }
}
