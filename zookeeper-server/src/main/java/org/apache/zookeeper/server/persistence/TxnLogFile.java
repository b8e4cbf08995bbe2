package org.apache.zookeeper.server.persistence;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Adler32;

/**
 * Where the log grows: the file that is being written, with the buffer before it, and the full
 * files before that one, as long as they are not synced. Nothing here is durable; the code that
 * syncs asks {@link #takeUnforced} what there is to force.
 *
 * <p>An entry may lie in the buffer in part. What {@link #drain} has written is in the page cache
 * and outlives the process (R25). Files are padded ahead of their end, as Apache's are. There is
 * one buffer for all files, and an entry allocates nothing.
 *
 * <p>Not thread-safe: the log's append lock owns it. When a method throws, the file's end is
 * unknown and nothing may be written any more (R14).
 */
final class TxnLogFile {
    private static final int BUFFER_BYTES = 256 * 1024;

    /** When less than this is left, Apache's log grows its file. */
    private static final int PADDED_AHEAD_BYTES = 4096;

    /** From one entry whose place is remembered to the next. */
    private static final int BETWEEN_PLACES_BYTES = 256 * 1024;

    private final LogFile.Opener files;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final Adler32 checksum = new Adler32();
    private FilePadding padding = new FilePadding();

    // Null between two files: the next entry opens one that is named after it.
    private LogFile file;

    private Path path;
    private long position;
    private long size;

    /** Where some of the open file's entries begin, for readers that need only its end. */
    private final List<Place> places = new ArrayList<>();

    /** The entry with the zxid begins so many bytes behind the file's start. */
    private record Place(long zxid, long offset) {}

    // Bytes; -1 when the file is not padded.
    private long padded;

    // Full, written to their end and not forced.
    private final List<LogFile> rolled = new ArrayList<>();
    private boolean created;
    private long closedFilesSize;

    TxnLogFile(LogFile.Opener files) {
        this.files = files;
    }

    /**
     * What a force has to cover.
     *
     * @param rolled to be forced and closed
     * @param current to be forced; null if there is none
     * @param created whether there is a new file, so that the directory must be forced, too (H4)
     */
    record Unforced(List<LogFile> rolled, LogFile current, boolean created) {}

    boolean isOpen() {
        return file != null;
    }

    /** Begins a file; {@link #writeHeader} must follow before anything is appended. */
    void create(Path path) throws IOException {
        file = files.create(path);
        this.path = path;
        places.clear();
        created = true;
    }

    /**
     * @param last where the history before the file ends
     * @param first the file's first entry
     */
    void writeHeader(long last, long first) throws IOException {
        position = 0;
        padding = new FilePadding();
        TxnLogFormat.putFileHeader(buffer, last, first);
        drain();
        padding.setCurrentSize(TxnLogFormat.FILE_HEADER_BYTES);
        padded = TxnLogFormat.FILE_HEADER_BYTES;
    }

    /** Appends one entry to the open file, in the buffer or behind it. */
    void append(long zxid, byte[] bytes) throws IOException {
        pad();
        long offset = position + buffer.position();
        long last = places.isEmpty() ? 0 : places.get(places.size() - 1).offset;
        if (offset - last >= BETWEEN_PLACES_BYTES) {
            places.add(new Place(zxid, offset));
        }
        write(bytes);
    }

    /**
     * Where in this file to begin to read on to the entry, the header left out: at one that is not
     * after it.
     *
     * @return 0 if that is not known
     */
    long placeBefore(Path log, long zxid) {
        if (file == null || !log.equals(path)) {
            return 0;
        }
        for (int i = places.size() - 1; i >= 0; i--) {
            if (places.get(i).zxid <= zxid) {
                return places.get(i).offset;
            }
        }
        return 0;
    }

    private void pad() throws IOException {
        long end = position + buffer.position();
        if (padded >= 0 && end + PADDED_AHEAD_BYTES >= padded) {
            long now = file.pad(padding, end);
            // It does not grow when padding is switched off.
            padded = now == padded ? -1 : now;
            size = Math.max(size, now);
        }
    }

    private void write(byte[] bytes) throws IOException {
        long sum = TxnLogFormat.checksum(checksum, bytes);
        if (buffer.remaining() < TxnLogFormat.ENTRY_PREFIX_BYTES) {
            drain();
        }
        TxnLogFormat.putEntryPrefix(buffer, sum, bytes.length);
        int from = 0;
        while (from < bytes.length) {
            if (!buffer.hasRemaining()) {
                drain();
            }
            int part = Math.min(buffer.remaining(), bytes.length - from);
            buffer.put(bytes, from, part);
            from += part;
        }
        if (!buffer.hasRemaining()) {
            drain();
        }
        buffer.put(TxnLogFormat.END_OF_RECORD);
    }

    /** Writes the buffer to the file. */
    void drain() throws IOException {
        if (buffer.position() == 0) {
            return;
        }
        buffer.flip();
        int bytes = buffer.remaining();
        file.write(buffer, position);
        position += bytes;
        buffer.clear();
        size = Math.max(size, position);
    }

    /** The file, drained, is full. */
    void roll() {
        rolled.add(file);
        closedFilesSize += size;
        file = null;
        size = 0;
    }

    /** Everything that was drained and not forced; from now on the caller forces it. */
    Unforced takeUnforced() {
        List<LogFile> full = rolled.isEmpty() ? List.of() : List.copyOf(rolled);
        rolled.clear();
        boolean forceDirectory = created;
        created = false;
        return new Unforced(full, file, forceDirectory);
    }

    /** The open file is closed, because the log's files are about to be changed or are let go. */
    void close() throws IOException {
        if (file != null) {
            file.close();
            file = null;
            size = 0;
        }
    }

    /** Closes the open file and the full files that were never forced. */
    void closeAll() throws IOException {
        for (LogFile each : rolled) {
            each.close();
        }
        rolled.clear();
        close();
    }

    /** Bytes of the open file, padding included; 0 if there is none. */
    long size() {
        return file == null ? 0 : size;
    }

    /** Bytes of all of the log's files. */
    long totalSize() {
        return closedFilesSize + size();
    }

    /** Tells how many bytes all files but the open one have. */
    void closedFilesHave(long bytes) {
        closedFilesSize = bytes;
    }
}
