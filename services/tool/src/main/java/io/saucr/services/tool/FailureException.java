package io.saucr.services.tool;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** A command did not do what it was asked to; the message says why and what to do. */
final class FailureException extends Exception {

    private static final long serialVersionUID = 1L;

    FailureException(String message) {
        super(message);
    }

    FailureException(String message, Throwable cause) {
        super(message, cause);
    }

    /** With the reason of an error of a file, whose own message may be the path alone. */
    static FailureException of(Exception cause) {
        if (cause instanceof FileSystemException file && file.getReason() == null) {
            String why =
                    file instanceof AccessDeniedException
                            ? "permission denied"
                            : file instanceof NoSuchFileException
                                    ? "there is no such file or folder"
                                    : file.getClass().getSimpleName();
            return new FailureException(file.getMessage() + ": " + why, cause);
        }
        return new FailureException(cause.getMessage(), cause);
    }
}
