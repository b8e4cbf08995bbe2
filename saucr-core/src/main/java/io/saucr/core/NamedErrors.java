package io.saucr.core;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/**
 * Names the file that a disk refuses to write. The errors of channels and streams have no path,
 * only a reason, such as "No space left on device". Thread-safe.
 */
public final class NamedErrors {
    /** Something that writes one file. */
    public interface Work {
        void run() throws IOException;
    }

    private NamedErrors() {}

    /**
     * Runs the work.
     *
     * @param file whose path an error gets that has none
     */
    public static void in(Path file, Work work) throws IOException {
        try {
            work.run();
        } catch (IOException e) {
            throw of(file, e);
        }
    }

    /**
     * The same error, with the file's path in front of its reason. A subclass of {@link
     * IOException} is returned as it is: it has a path, or is not the disk's.
     */
    public static IOException of(Path file, IOException error) {
        if (error.getClass() != IOException.class) {
            return error;
        }
        FileSystemException named =
                new FileSystemException(file.toString(), null, error.getMessage());
        named.initCause(error);
        return named;
    }
}
