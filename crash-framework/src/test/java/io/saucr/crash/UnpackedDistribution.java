package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

/** The distribution that this build has made, where any user can read it. */
final class UnpackedDistribution {
    private UnpackedDistribution() {}

    static Path below(Path work) throws Exception {
        Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path distribution = Files.createDirectories(work.resolve("distribution"));
        Path tarball;
        try (Stream<Path> files = Files.list(Path.of("../zookeeper-server/target"))) {
            tarball =
                    files.filter(file -> file.toString().endsWith("-bin.tar.gz"))
                            .findFirst()
                            .orElseThrow();
        }
        run("tar", "-xzf", tarball.toString(), "-C", distribution + "", "--strip-components=1");
        run("chmod", "-R", "a+rX,a-w", distribution.toString());
        return distribution;
    }

    static void run(String... command) throws Exception {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor())
                .as(String.join(" ", command))
                .isZero();
    }
}
