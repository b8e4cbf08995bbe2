package io.saucr.tool;

/** A command failed for a reason that the user can mend; the message says which. */
final class FailureException extends RuntimeException {
    private static final long serialVersionUID = 1;

    FailureException(String sentence) {
        super(sentence);
    }

    FailureException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
