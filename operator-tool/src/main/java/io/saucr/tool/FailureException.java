package io.saucr.tool;

import java.io.IOException;
import java.nio.file.AccessDeniedException;

/** A command failed for a reason that the user can fix; the message says which. */
final class FailureException extends RuntimeException {
    private static final long serialVersionUID = 1;

    FailureException(String sentence) {
        super(sentence);
    }

    FailureException(String sentence, Throwable cause) {
        super(sentence, cause);
    }

    /**
     * What an error of a file, a store or a server means to the user.
     *
     * @param what the file, the place or the action; left out where the message names it
     */
    static FailureException of(String what, IOException cause) {
        if (cause instanceof UnusableFileException || cause instanceof EndpointException) {
            return new FailureException(cause.getMessage(), cause);
        }
        String why = cause instanceof AccessDeniedException ? ": permission denied" : "";
        return new FailureException(what + ": " + cause.getMessage() + why, cause);
    }
}
