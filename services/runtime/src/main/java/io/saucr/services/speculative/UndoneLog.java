package io.saucr.services.speculative;

import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.journal.Disk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file {@code undone.log} in a member's folder: which turns were undone, why, and which inputs
 * they had, for people. Nothing reads it, and nothing depends on it: if it cannot be written, the
 * log says so. Beyond {@link #LARGEST_BYTES} it begins anew, and the file before stays as {@code
 * undone.log.1}. One thread at a time.
 */
final class UndoneLog {

    static final String NAME = "undone.log";

    /** The file before. */
    static final String OLDER = "undone.log.1";

    static final int LARGEST_BYTES = 1 << 20;

    /** So many turns of one decision are listed at most. */
    static final int MOST_TURNS = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(UndoneLog.class);

    private final Disk disk;
    private final Path folder;

    UndoneLog(Disk disk, Path folder) {
        this.disk = disk;
        this.folder = folder;
    }

    /**
     * Appends an entry.
     *
     * @param at when, by the clock of the machine
     * @param world that began
     * @param cause for people, one line
     * @param turns that were undone, in order, at least one
     */
    void note(Instant at, long world, String cause, List<Delta> turns) {
        StringBuilder lines = new StringBuilder();
        lines.append(at)
                .append(" world ")
                .append(world)
                .append(": turns ")
                .append(turns.get(0).turn())
                .append(" to ")
                .append(turns.get(turns.size() - 1).turn())
                .append(" are undone, as ")
                .append(cause)
                .append('\n');
        turns.stream().limit(MOST_TURNS).forEach(it -> lines.append(line(it)));
        if (turns.size() > MOST_TURNS) {
            lines.append("  and ").append(turns.size() - MOST_TURNS).append(" more\n");
        }
        try {
            append(lines.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            LOG.warn("{} cannot be written: {}", folder.resolve(NAME), e.toString());
        }
    }

    private static String line(Delta turn) {
        String input = "a request without a number, or the service itself";
        Map<String, Integer> sent = new TreeMap<>();
        int calls = 0;
        for (Change each : turn.changes()) {
            if (each instanceof Change.Consumed it) {
                input = "message " + it.last().number() + " of " + it.peer();
            } else if (each instanceof Change.TimerGone it) {
                input = "timer " + it.id();
            } else if (each instanceof Change.OutputDone it) {
                input = "the result of call " + it.output();
            } else if (each instanceof Change.ReturnTaken it) {
                input = "returned message " + it.id();
            } else if (each instanceof Change.Sent it) {
                sent.merge(it.peer(), 1, Integer::sum);
            } else if (each instanceof Change.OutputMade) {
                calls++;
            }
        }
        List<String> made = new ArrayList<>();
        sent.forEach((peer, count) -> made.add(count + " to " + peer));
        if (calls > 0) {
            made.add("calls: " + calls);
        }
        return "  turn "
                + turn.turn()
                + ": "
                + input
                + (made.isEmpty() ? "" : "; had sent " + String.join(", ", made))
                + "\n";
    }

    private void append(byte[] lines) throws IOException {
        Path file = folder.resolve(NAME);
        try (Disk.File current = disk.open(file)) {
            if (current.size() < LARGEST_BYTES) {
                current.write(ByteBuffer.wrap(lines), current.size());
                return;
            }
        }
        disk.rename(file, folder.resolve(OLDER));
        try (Disk.File fresh = disk.open(file)) {
            fresh.write(ByteBuffer.wrap(lines), 0);
        }
    }
}
