package io.saucr.services.journal;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Where the turns of a service are on disk: in a journal of its own, or in one that it shares with
 * others. First {@link #sections} and {@link #turns}, then {@link #begin}, then turns, by one
 * thread each.
 */
public interface TurnLog extends AutoCloseable {

    /** The newest turn that survived; 0 for none. */
    long lastTurn();

    /** Reads the base, as {@link Recovered#sections} does. */
    void sections(Base.SectionReader reader) throws IOException;

    /** Reads the turns above it, as {@link Recovered#turns} does. */
    void turns(Recovered.TurnReader reader) throws IOException;

    /** Begins to take turns. */
    void begin(JournalListener listener);

    /** Takes a turn, as {@link Journal#append} does. */
    void append(long turn, ByteBuffer delta);

    /** Where bases are written. */
    Base base();

    /** A base of this turn is on disk (K10). Any thread. */
    void folded(long turn) throws IOException;

    /** The disk space that is kept for acks and folding (K13). */
    Reserve reserve();

    /** See {@link Journal#lastFsyncMicros}. */
    long lastFsyncMicros();

    /** See {@link Journal#unforcedBytes}. */
    long unforcedBytes();

    /** See {@link Journal#bytesAboveBase}. */
    long bytesAboveBase();

    /** Undoes what opening it left elsewhere, as the start was refused; only close may follow. */
    default void withdraw() throws IOException {}

    /** What was taken is forced first. */
    @Override
    void close();

    /** Opens the log of a folder. */
    interface Opener {
        TurnLog open(ServiceFolder folder) throws IOException;
    }

    /** A journal in the folder itself. */
    static Opener own(JournalOptions options) {
        return folder -> new OwnLog(folder.recover(options), folder, options);
    }
}
