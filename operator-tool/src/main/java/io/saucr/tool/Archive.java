package io.saucr.tool;

import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The backups and the pieces of the log that an archive has, as the names of its objects show. An
 * archive has histories: a new one begins where the log could not be continued, because entries
 * were missing or the ensemble was restored to an earlier point. Immutable.
 *
 * @param histories oldest first
 * @param unfinished objects that a killed process left, with the time in their names
 */
record Archive(List<History> histories, Map<String, Instant> unfinished) {
    /** Marks a place as an archive, and has what {@link ArchiveMark} says. */
    static final String MARK = "saucr-archive.json";

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss.SSS'Z'").withZone(ZoneOffset.UTC);
    private static final String TIME_PATTERN = "\\d{8}T\\d{6}\\.\\d{3}Z";

    private static final Pattern NAME =
            Pattern.compile(
                    ("history-(?<history>TIME)/(?:"
                                    + "full-(?<begun>ZXID)-(?<zxid>ZXID)-(?<made>TIME)/"
                                    + "(?:backup\\.json|FILE)"
                                    + "|log-(?<first>ZXID)-(?<last>ZXID)-(?<until>TIME)\\.gz"
                                    + ")(?<partial>\\.partial-\\d+)?")
                            .replace("TIME", TIME_PATTERN)
                            .replace("ZXID", "[0-9a-f]{16}")
                            .replace("FILE", Backup.FILE_NAME));

    /**
     * What one ensemble logged, in one sequence.
     *
     * @param fulls oldest first
     * @param pieces lowest zxids first
     */
    record History(String name, Instant begun, List<Full> fulls, List<Piece> pieces) {
        /** The piece that reaches furthest. */
        Optional<Piece> end() {
            return pieces.stream().max(Comparator.comparingLong(Piece::last));
        }

        /** The earliest zxid that it can be restored to, if any. */
        Optional<Full> oldest() {
            return fulls.stream().findFirst();
        }

        Optional<Full> newest() {
            return fulls.isEmpty() ? Optional.empty() : Optional.of(fulls.get(fulls.size() - 1));
        }

        /**
         * The piece that has an entry and what follows it; of several, the one that reaches
         * furthest. The first piece of a history may begin behind the entry that its full backup
         * shows.
         *
         * @param begins whether the entry is that of the full backup
         */
        Optional<Piece> after(long zxid, boolean begins) {
            return pieces.stream()
                    .filter(piece -> piece.first() <= zxid + (begins ? 1 : 0))
                    .filter(piece -> piece.last() > zxid)
                    .max(Comparator.comparingLong(Piece::last));
        }

        /** The entry behind which a piece is missing, if one is. */
        OptionalLong gap() {
            long end = through();
            return fulls.stream()
                    .mapToLong(full -> reach(full.begun()))
                    .filter(last -> last < end)
                    .findFirst();
        }

        /** The last entry up to which nothing is missing behind that of a full backup. */
        private long reach(long begun) {
            long at = begun;
            for (Piece piece : pieces) {
                if (piece.first() > (at == begun ? begun + 1 : at)) {
                    break;
                }
                at = Math.max(at, piece.last());
            }
            return at;
        }

        /** The last zxid that it can be restored to; 0 if there is none. */
        long through() {
            long full = newest().map(Full::zxid).orElse(0L);
            return Math.max(full, end().map(Piece::last).orElse(0L));
        }
    }

    /**
     * A full backup, in the form of {@link Backup}.
     *
     * @param begun the last zxid that its snapshot shows whole
     * @param zxid the earliest one that it restores
     * @param files their full names; the description comes first
     */
    record Full(long begun, long zxid, Instant made, List<String> files) {}

    /**
     * A piece of the log.
     *
     * @param first its first entry, which is the last one of the piece before it
     * @param until the latest time of its entries
     */
    record Piece(String name, long first, long last, Instant until) {}

    /** Reads what there is. */
    static Archive read(ArchiveStore store) throws IOException {
        return of(store.names());
    }

    /** What objects of these names are; names that are none of an archive do not count. */
    static Archive of(List<String> names) {
        Map<String, Contents> histories = new TreeMap<>();
        Map<String, Instant> unfinished = new TreeMap<>();
        for (String name : names.stream().sorted().toList()) {
            Matcher parts = NAME.matcher(name);
            if (!parts.matches()) {
                continue;
            }
            boolean piece = parts.group("made") == null;
            Instant time = time(parts.group(piece ? "until" : "made"));
            if (parts.group("partial") != null) {
                unfinished.put(name, time);
                continue;
            }
            Contents contents =
                    histories.computeIfAbsent(parts.group("history"), each -> new Contents());
            if (piece) {
                contents.pieces.add(
                        new Piece(
                                name, zxid(parts.group("first")), zxid(parts.group("last")), time));
            } else {
                contents.fulls
                        .computeIfAbsent(
                                name.substring(0, name.lastIndexOf('/')),
                                each ->
                                        new Full(
                                                zxid(parts.group("begun")),
                                                zxid(parts.group("zxid")),
                                                time,
                                                new ArrayList<>()))
                        .files
                        .add(name);
            }
        }
        List<History> read = new ArrayList<>();
        histories.forEach((name, contents) -> read.add(contents.history(name, unfinished)));
        return new Archive(List.copyOf(read), Collections.unmodifiableMap(unfinished));
    }

    /** Of one history, while names are read. */
    private static final class Contents {
        final Map<String, Full> fulls = new TreeMap<>();
        final List<Piece> pieces = new ArrayList<>();

        History history(String name, Map<String, Instant> unfinished) {
            List<Full> whole = new ArrayList<>();
            for (Full full : fulls.values()) {
                // The description is written last.
                if (full.files.get(0).endsWith("/" + Backup.DESCRIPTION)) {
                    whole.add(full);
                } else {
                    full.files.forEach(file -> unfinished.put(file, full.made));
                }
            }
            whole.sort(Comparator.comparingLong(Full::zxid).thenComparing(Full::made));
            pieces.sort(Comparator.comparingLong(Piece::first).thenComparingLong(Piece::last));
            return new History(name, time(name), List.copyOf(whole), List.copyOf(pieces));
        }
    }

    /** The one that is continued. */
    Optional<History> newest() {
        return histories.isEmpty()
                ? Optional.empty()
                : Optional.of(histories.get(histories.size() - 1));
    }

    static String historyName(Instant begun) {
        return TIME.format(begun.truncatedTo(ChronoUnit.MILLIS));
    }

    /** The name of a full backup's files begins with it. */
    static String fullName(String history, FullBackup full) {
        return "history-%s/full-%016x-%016x-%s"
                .formatted(
                        history,
                        full.backup().begun(),
                        full.backup().earliest(),
                        TIME.format(full.made()));
    }

    static Piece piece(String history, long first, long last, Instant until) {
        String name =
                "history-%s/log-%016x-%016x-%s.gz"
                        .formatted(history, first, last, TIME.format(until));
        return new Piece(name, first, last, until);
    }

    private static long zxid(String hex) {
        return Long.parseUnsignedLong(hex, 16);
    }

    private static Instant time(String text) {
        return TIME.parse(text, Instant::from);
    }
}
