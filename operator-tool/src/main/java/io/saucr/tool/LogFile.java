package io.saucr.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a transaction log holds, read from its first byte to its last. Immutable.
 *
 * @param first zxid of its first entry; 0 if it has none
 * @param last zxid of its last entry; the zxid that it was to begin behind if it has none
 */
record LogFile(long first, long last, long entries, long bytes) {
    /**
     * Reads a log that must hold every entry after a zxid, and at least up to another one. If both
     * are the same it may have no entry.
     *
     * @param after the last one that a snapshot has for sure
     * @param through the last one that it may show
     * @throws UnusableFileException if it is damaged, or lacks an entry
     */
    static LogFile read(Path file, long after, long through) throws IOException {
        long previous = after;
        long first = 0;
        long entries = 0;
        try (LogEntries in = new LogEntries(file.toString(), Files.newInputStream(file), after)) {
            for (LogEntries.Entry entry = in.next(); entry != null; entry = in.next()) {
                previous = entry.zxid();
                first = entries == 0 ? previous : first;
                entries++;
            }
        }
        if (previous < through) {
            throw new UnusableFileException(
                    "%s: it ends at %s, and should reach %s"
                            .formatted(file, Snapshot.hex(previous), Snapshot.hex(through)));
        }
        return new LogFile(first, previous, entries, Files.size(file));
    }

    /** The name that a server finds it by. */
    String fileName() {
        return "log." + Long.toHexString(first);
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("first", Snapshot.hex(first));
        json.put("last", Snapshot.hex(last));
        json.put("entries", entries);
        json.put("bytes", bytes);
        return json;
    }
}
