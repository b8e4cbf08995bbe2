package org.apache.zookeeper.server.persistence;

import io.saucr.core.log.Markers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.zip.Adler32;

/**
 * Tells a torn tail from corruption (H2). The page in which the forced entries end also holds the
 * beginning of the next entry. So a power cut may leave a part of an entry that was never acked,
 * with nothing behind it: that is a torn tail, and may be cut. Damage with a sound entry behind it
 * is in the middle of what was on disk: that is corruption.
 */
final class TornTail {
    private static final int PREFIX_BYTES = TxnLogFormat.ENTRY_PREFIX_BYTES;
    private static final int ZXID_OFFSET = PREFIX_BYTES + TxnLogFormat.ZXID_OFFSET;
    private static final long MOST_COUNTERS_LATER = 1L << 28;
    private static final long MOST_EPOCHS_LATER = 1L << 12;

    private TornTail() {}

    /**
     * Whether the damage is a torn tail, in a log whose markers say that everything acked is on
     * disk: no sound entry follows it, and the log before it reaches as far as the markers say.
     *
     * @param last the zxid of the last sound entry before the damage
     */
    static boolean explains(RawLog.Damage damage, Path logs, long last, Markers markers)
            throws IOException {
        List<Path> files = DataFolder.logs(logs);
        int damaged = files.indexOf(damage.file());
        for (int i = damaged; i < files.size(); i++) {
            if (holdsLaterEntry(files.get(i), i == damaged ? damage.offset() : 0, last)) {
                return false;
            }
        }
        return last >= markers.latestOnDisk();
    }

    /**
     * Whether a sound entry lies anywhere in the file behind the offset. More than 2 GiB behind it
     * count as one: a tail is not torn so far from the end of its file.
     */
    private static boolean holdsLaterEntry(Path file, long offset, long last) throws IOException {
        long bytes = Files.size(file) - offset;
        if (bytes > Integer.MAX_VALUE) {
            return true;
        }
        ByteBuffer rest = map(file, offset, Math.max(0, bytes));
        int end = rest.limit();
        while (end > 0 && rest.get(end - 1) == 0) {
            end--;
        }
        for (int at = 0; at + ZXID_OFFSET + Long.BYTES <= end; at++) {
            int length = rest.getInt(at + Long.BYTES);
            if (length >= TxnLogFormat.LEAST_ENTRY_BYTES
                    && length < end - at - PREFIX_BYTES
                    && rest.get(at + PREFIX_BYTES + length) == TxnLogFormat.END_OF_RECORD
                    && isLater(rest.getLong(at + ZXID_OFFSET), last)
                    && TxnLogFormat.checksum(new Adler32(), rest.slice(at + PREFIX_BYTES, length))
                            == rest.getLong(at)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isLater(long zxid, long last) {
        long epochs = (zxid >>> 32) - (last >>> 32);
        return epochs == 0
                ? zxid > last && zxid - last < MOST_COUNTERS_LATER
                : epochs > 0 && epochs < MOST_EPOCHS_LATER;
    }

    /** Not read: a log file may be larger than the heap. */
    private static ByteBuffer map(Path file, long offset, long bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return channel.map(FileChannel.MapMode.READ_ONLY, offset, bytes);
        }
    }
}
