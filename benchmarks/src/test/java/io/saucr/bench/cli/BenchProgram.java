package io.saucr.bench.cli;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Calls the program as a user does, in this JVM. Not for two threads at a time. */
final class BenchProgram {
    /** For {@code --jvm}: servers that start soon and need little. */
    static final String SMALL = String.join(" ", Ensemble.SMALL_JVM);

    /**
     * SAUCR's configuration for tests on a busy machine: a server that gets no processor time for
     * seconds is not taken for lost, and the ensemble stays fast.
     */
    static final String STEADY =
            "saucr,saucr.heartbeatInterval=2s,saucr.fastModeConfirmations=1"
                    + ",saucr.missedHeartbeatsBeforeElection=30,syncLimit=80";

    private BenchProgram() {}

    /** What a call printed, and its exit status. */
    record Outcome(int status, String out, String err) {}

    /**
     * SAUCR's distribution as a folder, unpacked once for all tests that start it, and where they
     * look for it, too: what they have archived of its classes serves all of them.
     */
    static Path distribution() throws IOException {
        Path tarball =
                Distribution.tarball(Path.of(System.getProperty("saucr.root")))
                        .orElseThrow()
                        .toRealPath();
        return Distribution.unpack(tarball, tarball.resolveSibling("distribution"));
    }

    /**
     * One call that starts {@link #SMALL} servers and works and leaves its results below a folder.
     */
    static Outcome onSmallServers(Path folder, String... arguments) throws IOException {
        return run(
                Stream.concat(
                                Stream.of(arguments),
                                Stream.of(
                                        "--saucr=" + distribution(),
                                        "--jvm=" + SMALL,
                                        "--work=" + folder.resolve("work"),
                                        "--out=" + folder.resolve("results")))
                        .toArray(String[]::new));
    }

    /** One call with these arguments, to its end. */
    static Outcome run(String... arguments) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
        ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(outBytes, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(errBytes, true, StandardCharsets.UTF_8));
        try {
            int status = BenchCommand.execute(arguments);
            return new Outcome(
                    status,
                    outBytes.toString(StandardCharsets.UTF_8),
                    errBytes.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }
}
