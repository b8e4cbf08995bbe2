package io.saucr.bench.ensemble;

import io.saucr.ensemble.Distribution;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The distribution that this project builds, given as its tarball or as a folder. A tarball is
 * unpacked once per run. Used by one thread.
 */
public final class SaucrDistribution {
    private final Path given;
    private final Path work;
    private Distribution distribution;

    /**
     * @param given the tarball or the unpacked folder; null if there is none
     * @param work where a tarball is unpacked
     */
    public SaucrDistribution(Path given, Path work) {
        this.given = given;
        this.work = work;
    }

    /**
     * The distribution, unpacked if need be.
     *
     * @throws IOException if there is none or it cannot be unpacked
     */
    public Distribution unpacked() throws IOException {
        if (distribution == null) {
            if (given == null || !Files.exists(given)) {
                throw new IOException(
                        (given == null ? "no SAUCR distribution" : given + " does not exist")
                                + ": build it with 'mvn -pl zookeeper-server -am package"
                                + " -DskipTests', or name a tarball or folder with --saucr");
            }
            distribution =
                    Distribution.folder(
                            Files.isDirectory(given)
                                    ? given
                                    : Distribution.unpack(given, work.resolve("distribution")));
        }
        return distribution;
    }
}
