package io.saucr.tool;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A new folder for temporary files. It is removed when this is closed, and at SIGTERM. Only its
 * owner can read it.
 */
final class Scratch implements Closeable {
    private final Path folder;
    private final AtExit remover;

    /**
     * @param parent where it is made; null for the system's folder of temporary files
     */
    Scratch(Path parent) throws IOException {
        folder =
                parent == null
                        ? Files.createTempDirectory("saucr-backup-")
                        : Files.createTempDirectory(parent, "saucr-backup-");
        remover = new AtExit("remove temporary files", () -> NewFile.remove(folder));
    }

    Path folder() {
        return folder;
    }

    /** A folder in it that has nothing in it. */
    Path empty(String name) throws IOException {
        Path wanted = folder.resolve(name);
        NewFile.remove(wanted);
        return Files.createDirectory(wanted);
    }

    @Override
    public void close() {
        NewFile.remove(folder);
        remover.close();
    }
}
