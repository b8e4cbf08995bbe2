package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** The distribution that this build has made, as a folder. */
final class UnpackedDistribution {
    private UnpackedDistribution() {}

    /**
     * Where other modules' tests look for it, too, with what they archived of its classes, so that
     * servers start sooner.
     */
    static Path shared() throws Exception {
        Path tarball = Distribution.tarball(Path.of("..")).orElseThrow().toRealPath();
        return Distribution.unpack(tarball, tarball.resolveSibling("distribution"));
    }

    /** Where any user can read it, and this one cannot write to it. */
    static Path below(Path work) throws Exception {
        Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path distribution =
                Distribution.unpack(
                        Distribution.tarball(Path.of("..")).orElseThrow(),
                        work.resolve("distribution"));
        run("chmod", "-R", "a+rX,a-w", distribution.toString());
        return distribution;
    }

    static void run(String... command) throws Exception {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor())
                .as(String.join(" ", command))
                .isZero();
    }
}
