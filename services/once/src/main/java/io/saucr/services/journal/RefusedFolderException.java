package io.saucr.services.journal;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A folder that must not be used as it is: damaged, foreign, newer, incomplete, or in use by
 * another process. Nothing in it was changed but, perhaps, the list of its starts. The message
 * names the file, where in it, and what to do.
 */
public final class RefusedFolderException extends IOException {

    private static final long serialVersionUID = 1L;

    private final transient Path file;
    private final long offset;
    private final String reason;

    /**
     * Refuses a folder.
     *
     * @param file or folder that is the reason
     * @param offset of the first byte that is not as it should be; -1 where it is not about one
     * @param reason what is wrong, and what to do
     */
    public RefusedFolderException(Path file, long offset, String reason) {
        super(file + (offset < 0 ? "" : ", byte " + offset) + ": " + reason);
        this.file = file;
        this.offset = offset;
        this.reason = reason;
    }

    /** The file or folder that is the reason. */
    public Path file() {
        return file;
    }

    /** What is wrong, and what to do, without the file and where in it. */
    public String reason() {
        return reason;
    }

    /** The first byte that is not as it should be, or -1 where it is not about a byte. */
    public long offset() {
        return offset;
    }
}
