package io.saucr.services.journal;

import java.io.IOException;
import java.io.UncheckedIOException;

/** A journal takes nothing any more, as a write or force of it failed (K8). */
public final class DeadJournalException extends UncheckedIOException {

    private static final long serialVersionUID = 1L;

    /** It died of this. */
    public DeadJournalException(IOException cause) {
        super("the journal is dead: " + cause.getMessage(), cause);
    }
}
