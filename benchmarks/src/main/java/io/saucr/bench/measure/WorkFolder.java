package io.saucr.bench.measure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder for the data of one run, which is removed when it is closed or the program ends. */
public final class WorkFolder implements AutoCloseable {
    private final Path path;
    private final Thread hook;

    /**
     * @param parent is made if missing
     */
    public WorkFolder(Path parent) throws IOException {
        path = Files.createTempDirectory(Files.createDirectories(parent), "saucr-bench-");
        hook = new Thread(() -> delete(path), "remove " + path);
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Where it is; gone after {@link #close}. */
    public Path path() {
        return path;
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return; // The JVM is shutting down and runs the hook itself.
        }
        delete(path);
    }

    /**
     * Deletes the folder, in several attempts if need be: at a shutdown, servers may still be
     * writing for a moment.
     */
    public static void delete(Path folder) {
        IOException failure = null;
        for (int attempt = 0; attempt < 10 && Files.exists(folder); attempt++) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(each);
                }
            } catch (IOException | UncheckedIOException e) {
                failure = new IOException(folder + " could not be removed", e);
            }
        }
        if (Files.exists(folder) && failure != null) {
            System.err.println("saucr-bench: " + failure.getMessage());
        }
    }
}
