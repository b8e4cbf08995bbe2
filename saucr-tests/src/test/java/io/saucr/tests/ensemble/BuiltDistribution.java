package io.saucr.tests.ensemble;

import static net.bytebuddy.matcher.ElementMatchers.named;

import io.saucr.ensemble.Distribution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.pool.TypePool;

/** The distribution that this build packages, unpacked once for all JVMs that run its tests. */
final class BuiltDistribution {
    private BuiltDistribution() {}

    private static final class Unpacked {
        static final Path HOME = unpack();
    }

    /** The unpacked folder, with {@code bin}, {@code conf} and {@code lib}. */
    static Path home() {
        return Unpacked.HOME;
    }

    /** What is needed to launch one of its servers. */
    static Distribution servers() throws IOException {
        return Distribution.folder(home());
    }

    /**
     * The distribution with another body for one method of one class, to make servers that lack a
     * safeguard or are late. The body may call the one that it replaces.
     *
     * @param name of the changed distribution
     * @param type the class, by its full name
     */
    static Distribution changed(String name, String type, String method, Implementation instead)
            throws IOException {
        return changed(name, servers(), type, method, instead);
    }

    /** As {@link #changed(String, String, String, Implementation)}, on top of another change. */
    static Distribution changed(
            String name, Distribution built, String type, String method, Implementation instead)
            throws IOException {
        List<ClassFileLocator> jars = new ArrayList<>();
        jars.add(ClassFileLocator.ForClassLoader.ofPlatformLoader());
        for (Path entry : built.classPath()) {
            if (entry.toString().endsWith(".jar")) {
                jars.add(ClassFileLocator.ForJarFile.of(entry.toFile()));
            }
        }
        // No jar: an archive of its classes would take longer than the few starts that use it.
        Path folder = SaucrEnsemble.folder(name + "-classes");
        Files.createDirectories(folder);
        try (ClassFileLocator locator = new ClassFileLocator.Compound(jars)) {
            TypeDescription found = TypePool.Default.of(locator).describe(type).resolve();
            new ByteBuddy()
                    .rebase(found, locator)
                    .method(named(method))
                    .intercept(instead)
                    .make()
                    .saveIn(folder.toFile());
        }
        List<Path> classPath = new ArrayList<>(List.of(folder));
        classPath.addAll(built.classPath());
        return new Distribution(name, built.version(), classPath);
    }

    /** This module's build folder. */
    static Path target() {
        return Path.of(property("saucr.tests.target")).toAbsolutePath();
    }

    private static Path unpack() {
        Path archive = Path.of(property("saucr.distribution"));
        try {
            Path tarball = archive.toRealPath();
            // Where other modules' tests look for it, too, with what they archived of its classes.
            return Distribution.unpack(tarball, tarball.resolveSibling("distribution"));
        } catch (IOException e) {
            throw new UncheckedIOException(archive + ": run 'mvn verify' from the root folder", e);
        }
    }

    /** Deletes a folder with everything below it, if it exists. */
    static void deleteTree(Path folder) throws IOException {
        if (Files.exists(folder)) {
            run("rm", "-rf", folder.toString());
        }
    }

    /**
     * Runs a command to its end and returns what it printed.
     *
     * @throws IOException with its output if it fails
     */
    static String run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(String.join(" ", command) + " failed:\n" + output);
            }
            return output;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while " + command[0] + " ran", e);
        }
    }

    private static String property(String name) {
        String value = System.getProperty(name);
        if (value == null) {
            throw new IllegalStateException("set -D" + name + ", as the module's pom does");
        }
        return value;
    }
}
