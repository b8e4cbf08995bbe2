package io.saucr.bench.cli;

import io.saucr.bench.measure.WorkFolder;
import io.saucr.ensemble.Distribution;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The source tree that the program was started from, as configurations: what was built in it, and
 * any of its commits, each built in a folder of its own, once. The tree itself is not touched.
 */
final class SourceTree {
    /** The configuration's name. */
    static final String WORKING_TREE = "working-tree";

    private static final String DISTRIBUTION = "distribution.tar.gz";

    private final Path root;
    private final Path builds;

    private SourceTree(Path root) {
        this.root = root;
        this.builds = root.resolve("benchmarks/target/gate");
    }

    /**
     * @param who needs it, for the message if there is none
     */
    static SourceTree ofProgram(String who) throws IOException {
        String source = System.getProperty("saucr.root");
        if (source == null) {
            throw new IOException(who + " needs the source tree: start it by bin/saucr-bench");
        }
        return new SourceTree(Path.of(source));
    }

    /** What was built in the tree, SAUCR on, as {@code --configurations} takes it. */
    String workingTree() throws IOException {
        Path own =
                Distribution.tarball(root)
                        .orElseThrow(
                                () ->
                                        new IOException(
                                                "the working tree's distribution has not been"
                                                        + " built"));
        return unpacked(own, WORKING_TREE);
    }

    /** A commit, SAUCR on, as {@code --configurations} takes it; its name is the hash. */
    String commit(String hash) throws Exception {
        return unpacked(built(hash), hash);
    }

    /** The short hash of what names a commit. */
    String hash(String commit) throws Exception {
        return output(root, "git", "rev-parse", "--short", commit + "^{commit}");
    }

    /** The commit's distribution, built if it has not been before. */
    private Path built(String hash) throws Exception {
        Path folder = Files.createDirectories(builds);
        Path distribution = folder.resolve(hash + "-" + DISTRIBUTION);
        if (Files.exists(distribution)) {
            return distribution;
        }
        Path source = Files.createDirectories(folder.resolve(hash + "-source"));
        try {
            Path archive = folder.resolve(hash + ".tar");
            output(root, "git", "archive", "--output=" + archive.toAbsolutePath(), hash);
            output(source, "tar", "-xf", archive.toAbsolutePath().toString());
            Files.delete(archive);
            System.err.println("building " + hash);
            output(
                    source,
                    "mvn",
                    "-B",
                    "-q",
                    "-pl",
                    "zookeeper-server",
                    "-am",
                    "-DskipTests",
                    "package");
            Path tarball =
                    Distribution.tarball(source)
                            .orElseThrow(
                                    () ->
                                            new IOException(
                                                    "commit " + hash + " builds no distribution"));
            Files.move(tarball, distribution, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            WorkFolder.delete(source);
        }
        return distribution;
    }

    /** Unpacks a copy of the distribution, so that the tree may be built again meanwhile. */
    private String unpacked(Path tarball, String name) throws IOException {
        Path folder = Files.createDirectories(builds).resolve(name);
        return name + "=" + Distribution.unpack(tarball, folder) + ",saucr.enabled=true";
    }

    /** What a command prints, without the end of the line. */
    private static String output(Path folder, String... command) throws Exception {
        File log = File.createTempFile("saucr-bench-", ".log");
        try {
            Process process =
                    new ProcessBuilder(command)
                            .directory(folder.toFile())
                            .redirectErrorStream(true)
                            .redirectOutput(log)
                            .start();
            int status = process.waitFor();
            String output = Files.readString(log.toPath(), StandardCharsets.UTF_8).strip();
            if (status != 0) {
                throw new IOException(String.join(" ", command) + " failed:\n" + output);
            }
            return output;
        } finally {
            Files.delete(log.toPath());
        }
    }
}
