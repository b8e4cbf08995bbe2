package io.saucr.bench;

import io.saucr.ensemble.Distribution;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
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

    /** The tarball in a source tree, null if it has not been built. */
    public static Path builtIn(Path sourceTree) throws IOException {
        Path target = sourceTree.resolve("zookeeper-server").resolve("target");
        if (!Files.isDirectory(target)) {
            return null;
        }
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(target, "saucr-zookeeper-*-bin.tar.gz")) {
            for (Path each : found) {
                return each;
            }
        }
        return null;
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
            distribution = Distribution.folder(Files.isDirectory(given) ? given : unpack());
        }
        return distribution;
    }

    private Path unpack() throws IOException {
        Path target = Files.createDirectories(work.resolve("distribution"));
        Process tar =
                new ProcessBuilder(
                                "tar",
                                "-xzf",
                                given.toAbsolutePath().toString(),
                                "-C",
                                target.toString(),
                                "--strip-components=1")
                        .redirectErrorStream(true)
                        .start();
        String output = new String(tar.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (tar.waitFor() != 0) {
                throw new IOException(given + " cannot be unpacked: " + output.strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while " + given + " was unpacked", e);
        }
        return target;
    }
}
