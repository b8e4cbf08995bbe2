package io.saucr.tool;

import java.io.IOException;

/** A file is not what it should be: torn, damaged, or of another kind. The message names it. */
final class UnusableFileException extends IOException {
    private static final long serialVersionUID = 1;

    UnusableFileException(String sentence) {
        super(sentence);
    }
}
