package io.saucr.tool;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * A new folder for temporary files. It is removed when this is closed, and at SIGTERM. Only its
 * owner can read it.
 */
final class Scratch implements Closeable {
    private final Path folder;
    private final Thread remover = new Thread(this::remove, "remove temporary files");

    /**
     * @param parent where it is made; null for the system's folder of temporary files
     */
    Scratch(Path parent) throws IOException {
        folder =
                parent == null
                        ? Files.createTempDirectory("saucr-backup-")
                        : Files.createTempDirectory(parent, "saucr-backup-");
        Runtime.getRuntime().addShutdownHook(remover);
    }

    Path folder() {
        return folder;
    }

    /** A folder in it that has nothing in it. */
    Path empty(String name) throws IOException {
        Path wanted = folder.resolve(name);
        remove(wanted);
        return Files.createDirectory(wanted);
    }

    private void remove() {
        remove(folder);
    }

    private static void remove(Path root) {
        if (!Files.exists(root)) {
            return;
        }
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            // It stays, under a name that says what it is.
        }
    }

    @Override
    public void close() {
        remove();
        try {
            Runtime.getRuntime().removeShutdownHook(remover);
        } catch (IllegalStateException e) {
            // The process ends and runs it anyway.
        }
    }
}
