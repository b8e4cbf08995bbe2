package io.saucr.core.recovery;

import io.saucr.core.recovery.RecoveryMessage.Compression;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import java.util.Iterator;
import java.util.Optional;

/**
 * A server's history at one moment. The caller that opens it makes sure that nothing is truncated
 * or purged while it is read. A read that fails throws {@link java.io.UncheckedIOException}.
 */
public interface ReadableHistory {

    /**
     * A snapshot that is complete and synced.
     *
     * @param zxid the zxid in its name
     * @param length of the file, in bytes
     */
    record Snapshot(long zxid, Compression compression, long length) {}

    /**
     * Where the log ends in each epoch. Its base is the oldest position after which no entry is
     * missing.
     */
    EpochEnds epochEnds();

    /**
     * The entries after a zxid that {@link #epochEnds} contains and that is not before its base, in
     * order.
     */
    Iterator<Entry> after(long zxid);

    /** The newest complete snapshot whose zxid is not before the base of {@link #epochEnds}. */
    Optional<Snapshot> newestSnapshot();

    /** The snapshot with this zxid, if it still exists. */
    Optional<Snapshot> snapshot(long zxid);

    /** Bytes of a snapshot's file, fewer than {@code length} only at its end. */
    Bytes read(Snapshot snapshot, long offset, int length);
}
