package io.saucr.ensemble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The distribution that the servers are started from: the tarball of the build, unpacked. */
public final class UnpackedDistribution {
    private final Path folder;

    private UnpackedDistribution(Path folder) {
        this.folder = folder;
    }

    /** The folder that holds bin, conf and lib. */
    public Path folder() {
        return folder;
    }

    public Path script(String name) {
        return folder.resolve("bin").resolve(name);
    }

    /** The one that is unpacked in a state folder, as it is. */
    static UnpackedDistribution unpackedIn(Path state) {
        return new UnpackedDistribution(state.resolve("dist"));
    }

    /**
     * Unpacks the newest tarball of the build unless that very one is there already. No server may
     * run from the folder: it is replaced.
     *
     * @param root the project's root folder
     */
    static UnpackedDistribution unpack(Path root, Path state) {
        UnpackedDistribution distribution = unpackedIn(state);
        try {
            Path tarball = newestTarball(root);
            String identity =
                    tarball
                            + " "
                            + Files.size(tarball)
                            + " "
                            + Files.getLastModifiedTime(tarball).toMillis();
            Path marker = state.resolve("dist.source");
            if (Files.exists(marker)
                    && Files.readString(marker).equals(identity)
                    && Files.isExecutable(distribution.script("zkServer.sh"))) {
                return distribution;
            }
            Files.deleteIfExists(marker);
            removeTree(distribution.folder);
            Files.createDirectories(distribution.folder);
            Process tar =
                    new ProcessBuilder(
                                    "tar",
                                    "-xzf",
                                    tarball.toString(),
                                    "-C",
                                    distribution.folder.toString(),
                                    "--strip-components=1")
                            .inheritIO()
                            .start();
            if (tar.waitFor() != 0) {
                throw new EnsembleException("cannot unpack " + tarball + ": see tar's message");
            }
            Files.writeString(marker, identity);
            return distribution;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EnsembleException("interrupted while unpacking the distribution", e);
        }
    }

    private static Path newestTarball(Path root) throws IOException {
        Path target = root.resolve("zookeeper-server/target");
        List<Path> tarballs = List.of();
        if (Files.isDirectory(target)) {
            try (Stream<Path> files = Files.list(target)) {
                tarballs =
                        files.filter(file -> file.toString().endsWith("-bin.tar.gz"))
                                .sorted(Comparator.comparing(file -> file.toFile().lastModified()))
                                .toList();
            }
        }
        if (tarballs.isEmpty()) {
            throw new EnsembleException(
                    "there is no distribution in " + target + "; build it with: mvn package");
        }
        return tarballs.get(tarballs.size() - 1);
    }

    /** Removes a folder and everything in it; nothing happens if there is none. */
    static void removeTree(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<Path> paths;
        try (Stream<Path> walk = Files.walk(folder)) {
            paths = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : paths) {
            Files.delete(path);
        }
    }
}
