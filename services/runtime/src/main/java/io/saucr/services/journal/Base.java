package io.saucr.services.journal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * The folded state of a service as of one turn, in named sections of bytes (K10). A new base is
 * complete on disk before the older one goes, so that a crash at any point leaves one that can be
 * read. One write at a time, on any thread, while turns go on.
 */
@SuppressWarnings("DoNotCallSuggester") // Until it is written.
public final class Base {

    private Base() {}

    /**
     * Writes the base of a turn: to a file beside, forced, renamed, the folder forced; then older
     * ones are deleted. Afterwards call {@link Journal#folded}.
     *
     * @param turn the newest whose changes the sections hold; forced, and larger than that of the
     *     newest base
     * @param sections writes them, one after the other
     * @throws IOException where the disk or the sections fail: the older base stands, and another
     *     write may be tried
     */
    public void write(long turn, Sections sections) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** The turn of the newest base that is complete on disk; 0 while there is none. Any thread. */
    public long turn() {
        throw new UnsupportedOperationException();
    }

    /** What is to be written. */
    @FunctionalInterface
    public interface Sections {

        /**
         * Writes all sections.
         *
         * @throws IOException passed on; the base is not made
         */
        void writeTo(Writer writer) throws IOException;
    }

    /** Takes sections one after the other. */
    public interface Writer {

        /**
         * Begins a section and ends the one before it.
         *
         * @param name of 1 to 255 characters, each name once
         * @return buffered; need not be closed; refuses bytes once the next section has begun
         */
        OutputStream section(String name) throws IOException;
    }

    /** Takes what a base holds, in the order it was written. */
    @FunctionalInterface
    public interface SectionReader {

        /**
         * Reads one section.
         *
         * @param name as it was written
         * @param content to its end; what is left unread is skipped
         */
        void section(String name, InputStream content) throws IOException;
    }
}
