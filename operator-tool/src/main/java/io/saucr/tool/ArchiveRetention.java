package io.saucr.tool;

import io.saucr.tool.Archive.Full;
import io.saucr.tool.Archive.History;
import io.saucr.tool.Archive.Piece;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * What an archive no longer needs to restore each point of a period. That is never the newest full
 * backup, and never an object that is not the archive's own.
 */
final class ArchiveRetention {
    /** Another process may still be at work on what is younger. */
    private static final Duration UNFINISHED = Duration.ofDays(1);

    private ArchiveRetention() {}

    /**
     * The names of what is not needed, in the order in which they are to be removed: each state in
     * between is a sound archive.
     *
     * @param since the beginning of the period
     */
    static List<String> dispensable(Archive archive, Instant since, Instant now) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < archive.histories().size(); i++) {
            History history = archive.histories().get(i);
            boolean newest = i == archive.histories().size() - 1;
            // Until the next one began, its state was the ensemble's.
            boolean needed = newest || archive.histories().get(i + 1).begun().isAfter(since);
            if (needed) {
                add(history, since, names);
            } else {
                history.fulls().forEach(full -> names.addAll(full.files()));
                history.pieces().forEach(piece -> names.add(piece.name()));
            }
        }
        archive.unfinished()
                .forEach(
                        (name, time) -> {
                            if (time.plus(UNFINISHED).isBefore(now)) {
                                names.add(name);
                            }
                        });
        return names;
    }

    private static void add(History history, Instant since, List<String> names) {
        List<Full> fulls = history.fulls();
        int first = fulls.size() - 1;
        while (first >= 0 && fulls.get(first).made().isAfter(since)) {
            first--;
        }
        if (first < 0) {
            return;
        }
        fulls.subList(0, first).forEach(full -> names.addAll(full.files()));
        // The snapshot may lack what came while it was taken.
        for (Piece piece : history.pieces()) {
            if (piece.last() <= fulls.get(first).begun()) {
                names.add(piece.name());
            }
        }
    }

    /** Removes what is older than a period, and not needed to restore any point of it. */
    static void apply(ArchiveStore store, Duration keep) throws IOException {
        Instant now = Instant.now();
        for (String name : dispensable(Archive.read(store), now.minus(keep), now)) {
            store.delete(name);
        }
    }
}
