package io.saucr.services.once;

import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.JournalListener;
import java.util.List;

/**
 * Where a once client writes what a later start has to know (E1, E4, E9). The client's thread,
 * apart from what is called before that begins.
 */
public interface OnceLog {

    /** The starts that are known, in order, this one the last (E5). Before {@link #begin}. */
    List<Incarnation> starts();

    /** What earlier starts wrote. Before {@link #begin}. */
    OnceRecords records();

    /**
     * Begins to take records.
     *
     * @param listener hears of them, by their numbers, on any thread
     * @return the number before that of the first one
     */
    long begin(JournalListener listener);

    /** Takes the next record, which {@link #force} makes last. */
    void write(long number, OnceRecords.Entry record);

    /** Makes all last that was written, and says so to the listener. Does not wait. */
    void force();

    /**
     * Everything that follows the records up to this one was done.
     *
     * @param newest record of those that were written
     * @param all that these say
     */
    void forced(long record, long newest, OnceRecords all);

    /**
     * Ends it.
     *
     * @param known whether the ensemble may know of this start
     */
    void close(boolean known);
}
