package io.saucr.services.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.bench.measure.WorkFolder;
import io.saucr.ensemble.FsyncShim;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a {@link Slice} in a fresh JVM on an empty folder, with a library between it, its children
 * included, and the disk that counts forces and delays them. The folder is removed afterwards. Used
 * by one thread.
 */
final class SliceProcess {

    private final Path parent;
    private final Duration warmUp;
    private final Duration length;
    private final List<String> jvmFlags;

    /**
     * Runs slices of one length.
     *
     * @param parent where the folders are made; exists
     * @param warmUp turns before that do not count
     * @param length of the part that counts
     * @param jvmFlags besides those that every run has
     */
    SliceProcess(Path parent, Duration warmUp, Duration length, List<String> jvmFlags) {
        this.parent = parent;
        this.warmUp = warmUp;
        this.length = length;
        this.jvmFlags = List.copyOf(jvmFlags);
    }

    /**
     * A slice and what its disk was asked for.
     *
     * @param slice what the process measured
     * @param forces of files, of the whole process from its start; -1 where they can't be counted:
     *     without a C compiler, or by {@link Contender#forcesAreSeen}
     */
    record Measured(Slice.Result slice, long forces) {

        double forcesPerTurn() {
            return (double) forces / slice.allTurns();
        }
    }

    /**
     * Runs one.
     *
     * @param contender who
     * @param pairs how many count at the same time
     * @param forceMillis how long each force takes at least; 0 for the disk as it is
     * @throws IOException where the process fails; the message has all that it said
     */
    Measured run(Contender contender, int pairs, double forceMillis)
            throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory(parent, "saucr-bench-services-");
        Path data = Files.createDirectory(folder.resolve("data"));
        try {
            List<String> flags = new ArrayList<>(List.of("-Xms256m", "-Xmx1g", "-XX:+UseSerialGC"));
            flags.addAll(jvmFlags);
            flags.add("-D" + RestateServer.FOLDER + "=" + RestateServer.folder());
            List<String> command =
                    TalkingProcess.command(
                            flags,
                            Slice.class.getName(),
                            contender.toString(),
                            String.valueOf(pairs),
                            String.valueOf(warmUp.toMillis()),
                            String.valueOf(length.toMillis()),
                            data.toString());
            ProcessBuilder builder = new ProcessBuilder(command);
            FsyncShim shim = null;
            if (FsyncShim.available()) {
                shim = FsyncShim.create(data, folder.resolve("shim"), false);
                builder.environment().putAll(shim.environment());
            }
            Path errors = folder.resolve("errors");
            Process process = builder.redirectError(errors.toFile()).start();
            StringBuilder said = new StringBuilder();
            try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    said.append(line).append('\n');
                    if (line.equals(Slice.WARM)) {
                        goOn(process, shim, forceMillis);
                    }
                }
            }
            int code = process.waitFor();
            if (code != 0) {
                throw new IOException(
                        contender
                                + " failed with exit code "
                                + code
                                + ":\n"
                                + said
                                + Files.readString(errors));
            }
            String[] lines = said.toString().strip().split("\n");
            return new Measured(
                    new ObjectMapper().readValue(lines[lines.length - 1], Slice.Result.class),
                    shim == null || !contender.forcesAreSeen() ? -1 : shim.forces().total());
        } finally {
            WorkFolder.delete(folder);
        }
    }

    /** Forces take longer from now on only: code that few turns ran through is not yet compiled. */
    private static void goOn(Process process, FsyncShim shim, double forceMillis)
            throws IOException {
        if (shim != null) {
            shim.delay(Duration.ofNanos(Math.round(forceMillis * 1e6)));
        }
        try (OutputStream in = process.getOutputStream()) {
            in.write('\n');
        }
    }
}
