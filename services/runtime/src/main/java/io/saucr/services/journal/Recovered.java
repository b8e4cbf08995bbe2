package io.saucr.services.journal;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What survived in a folder (K9): a base and the turns above it. All of it is on disk now, whatever
 * the last process knew, and what was torn behind it is cut off. Read it, then begin the journal.
 * One thread.
 */
@SuppressWarnings("DoNotCallSuggester") // Until it is written.
public final class Recovered {

    private Recovered() {}

    /** The turn of the base; 0 where there is none. */
    public long baseTurn() {
        throw new UnsupportedOperationException();
    }

    /** The newest turn; 0 in a new folder. The next one to append is the one after it. */
    public long lastTurn() {
        throw new UnsupportedOperationException();
    }

    /**
     * Reads the sections of the base; none where there is no base.
     *
     * @throws IOException where the disk fails or the reader does
     */
    public void sections(Base.SectionReader reader) throws IOException {
        throw new UnsupportedOperationException();
    }

    /**
     * Reads the turns above the base, in order, without gaps. Before {@link #journal}.
     *
     * @throws IOException where the disk fails or the reader does
     */
    public void turns(TurnReader reader) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Where bases are written from now on. */
    public Base base() {
        throw new UnsupportedOperationException();
    }

    /**
     * Begins the journal behind the newest turn, once: starts its threads.
     *
     * @param listener hears of turns that are forced, beginning with the next one
     */
    public Journal journal(JournalListener listener) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Takes turns. */
    @FunctionalInterface
    public interface TurnReader {

        /**
         * Takes one turn.
         *
         * @param turn its number
         * @param delta as it was appended; read only, valid until this returns
         */
        void turn(long turn, ByteBuffer delta) throws IOException;
    }
}
