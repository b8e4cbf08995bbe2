package io.saucr.services.journal;

import java.io.IOException;

/** Hears how far a journal's turns are on disk. Must not block: the next force waits for it. */
public interface JournalListener {

    /**
     * Every turn up to this one is on disk, so that what it sent may leave (K4). Called on the
     * force thread, with rising numbers.
     *
     * @param turn the newest turn that the force covered
     */
    void forced(long turn);

    /**
     * A write or a force failed. The journal is dead: it never reports another turn, and the
     * process has to halt (K8), as only a new start can tell what is on disk. Called once, on the
     * thread that saw the failure: the force thread or one that appends.
     *
     * @param cause what the disk said
     */
    void failed(IOException cause);
}
