package io.saucr.services.checkpoint;

import java.nio.file.Path;

/**
 * Something in a folder that is not as it should be. Immutable.
 *
 * @param file where
 * @param offset the byte; -1 where it is not about one
 * @param reason what is wrong, and what to do
 */
public record Damage(Path file, long offset, String reason) {

    @Override
    public String toString() {
        return file + (offset < 0 ? "" : ", byte " + offset) + ": " + reason;
    }
}
