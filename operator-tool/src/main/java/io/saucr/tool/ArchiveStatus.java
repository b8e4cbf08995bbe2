package io.saucr.tool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.Archive.Full;
import io.saucr.tool.Archive.History;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What an archive has, and what is wrong with it, as the names of its objects show.
 *
 * @param problems none if it can be relied on
 */
record ArchiveStatus(Archive archive, Optional<Instant> checked, List<String> problems) {
    /**
     * Judges it.
     *
     * @param oldestFull how old the newest full backup may be; null for any age
     * @param oldestRound how long ago the last round may be that succeeded; null for any time
     */
    static ArchiveStatus of(
            Archive archive,
            Optional<Instant> checked,
            Instant now,
            Duration oldestFull,
            Duration oldestRound) {
        List<String> problems = new ArrayList<>();
        Optional<Full> full = archive.newest().flatMap(History::newest);
        if (full.isEmpty()) {
            problems.add("there is no full backup in the newest history");
        } else {
            late("the newest full backup is", full.get().made(), now, oldestFull, problems);
        }
        if (oldestRound != null && checked.isEmpty()) {
            problems.add("no round has succeeded yet");
        }
        checked.ifPresent(
                time -> late("the last round that succeeded is", time, now, oldestRound, problems));
        for (History history : archive.histories()) {
            history.gap()
                    .ifPresent(
                            after ->
                                    problems.add(
                                            "the log after %s is missing in history %s"
                                                    .formatted(
                                                            Snapshot.hex(after), history.name())));
        }
        return new ArchiveStatus(archive, checked, List.copyOf(problems));
    }

    private static void late(
            String what, Instant time, Instant now, Duration most, List<String> problems) {
        if (most != null && time.plus(most).isBefore(now)) {
            problems.add(
                    "%s of %s, longer ago than %s".formatted(what, time, Durations.readable(most)));
        }
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("checked", checked.map(Instant::toString).orElse(null));
        json.put(
                "newestFull",
                archive.newest()
                        .flatMap(History::newest)
                        .map(full -> full.made().toString())
                        .orElse(null));
        ArrayNode histories = json.putArray("histories");
        for (History history : archive.histories()) {
            ObjectNode row = histories.addObject();
            row.put("name", history.name());
            row.put("from", history.oldest().map(full -> Snapshot.hex(full.zxid())).orElse(null));
            row.put("to", Snapshot.hex(history.through()));
            row.put("fullBackups", history.fulls().size());
            row.put("pieces", history.pieces().size());
        }
        ArrayNode wrong = json.putArray("problems");
        problems.forEach(wrong::add);
        return json;
    }

    /** For people. */
    String text() {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("HISTORY", "FROM", "TO", "FULL BACKUPS", "PIECES", "NEWEST FULL BACKUP"));
        for (History history : archive.histories()) {
            rows.add(
                    List.of(
                            history.name(),
                            history.oldest().map(full -> Snapshot.hex(full.zxid())).orElse("-"),
                            Snapshot.hex(history.through()),
                            Integer.toString(history.fulls().size()),
                            Integer.toString(history.pieces().size()),
                            history.newest().map(full -> full.made().toString()).orElse("-")));
        }
        return "%s%nComplete until %s."
                .formatted(
                        Output.table(rows), checked.map(Instant::toString).orElse("no time yet"));
    }
}
