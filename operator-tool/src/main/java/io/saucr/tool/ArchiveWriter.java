package io.saucr.tool;

import io.saucr.tool.AdminClient.Download;
import io.saucr.tool.Archive.History;
import io.saucr.tool.Archive.Piece;
import io.saucr.tool.EndpointException.Reason;
import io.saucr.tool.LogEntries.Entry;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Adds to an archive what servers have logged since, and full backups. A piece of the log begins
 * with the last entry that is archived. If every server answers and none has that entry with the
 * same bytes, the archive cannot be continued: a new history begins with a full backup. A server
 * that does not answer may have it, so nothing is begun without its answer. Several processes may
 * add to the same archive: what they add fits together.
 *
 * <p>Used by one thread.
 */
final class ArchiveWriter {
    private final ArchiveStore store;
    private final Connection connection;
    private final Scratch scratch;
    private final Duration keep;
    private final Output output;

    /** The last entry that is archived, so that it need not be read in each round. */
    private Entry end;

    private String endName;

    /**
     * @param keep what is not needed to restore any point of this time is removed; null to keep
     *     everything
     */
    ArchiveWriter(
            ArchiveStore store,
            Connection connection,
            Scratch scratch,
            Duration keep,
            Output output) {
        this.store = store;
        this.connection = connection;
        this.scratch = scratch;
        this.keep = keep;
        this.output = output;
    }

    /** What a server logged from an entry on, as a compressed file. */
    private record Fetched(Path file, long first, Entry end, Instant until) {
        long last() {
            return end.zxid();
        }
    }

    /** What one server is asked for, which continues an archive. */
    private interface Step<T> {
        T of(Endpoint endpoint)
                throws IOException, InterruptedException, BrokenException, NoBackupException;
    }

    /** No server continues the archive; the message says why. */
    private static final class BrokenException extends Exception {
        private static final long serialVersionUID = 1;

        BrokenException(String why) {
            super(why);
        }
    }

    /** A server continues the archive, and gives no full backup; the message says why. */
    private static final class NoBackupException extends Exception {
        private static final long serialVersionUID = 1;

        NoBackupException(String why) {
            super(why);
        }
    }

    /** A server has no command that gives its log, so it never continues an archive. */
    private static final class NoLogException extends IOException {
        private static final long serialVersionUID = 1;

        NoLogException() {
            super(
                    "gives no log: it does not know the command, so SAUCR is off there or is an older"
                            + " version. An archive needs servers with SAUCR on; 'saucr backup FOLDER'"
                            + " makes a single backup of any server");
        }
    }

    /**
     * Archives what was committed before.
     *
     * @param every how old the newest full backup may be; zero takes one now
     * @throws FailureException if no server gave what is needed, or those that gave their logs lack
     *     the end of the archive and others gave nothing
     */
    void round(Duration every) throws IOException, InterruptedException {
        Instant began = Instant.now();
        List<String> names = store.names();
        ArchiveMark.begin(store, names, scratch.folder());
        History newest = Archive.of(names).newest().orElse(null);
        History history = newest;
        if (history != null) {
            try {
                extend(history);
            } catch (BrokenException e) {
                sayBroken(history, history.through(), e);
                history = null;
            }
        }
        boolean due =
                history == null
                        || history.newest()
                                .filter(full -> full.made().isAfter(began.minus(every)))
                                // Made before the clock was set back.
                                .filter(full -> full.made().isBefore(began.plus(every)))
                                .isEmpty();
        if (due) {
            full(history, newest);
        }
        new ArchiveMark(Optional.of(began)).write(store, scratch.folder());
        if (due && keep != null) {
            ArchiveRetention.apply(store, keep);
        }
    }

    private void sayBroken(History history, long through, BrokenException problem) {
        output.err()
                .println(
                        ("the history %s of the archive cannot be continued after %s: %s. A new"
                                        + " history begins with a full backup")
                                .formatted(
                                        history.name(),
                                        Snapshot.hex(through),
                                        problem.getMessage()));
    }

    /** Adds the log of the first endpoint that continues it. */
    private void extend(History history) throws IOException, InterruptedException, BrokenException {
        Entry last = end(history);
        Fetched log =
                firstThatContinues(history, furthestFirst(), "log", each -> fetch(each, last));
        put(history.name(), log, last);
    }

    /**
     * What the first endpoint gives that continues an archive. Those before it are named on the
     * other output.
     *
     * @param what it is, for the message
     * @throws BrokenException if every one of them answers that it does not continue it
     * @throws FailureException if none gives it, and one of them continues it or may do so
     */
    private <T> T firstThatContinues(
            History history, List<Endpoint> endpoints, String what, Step<T> step)
            throws IOException, InterruptedException, BrokenException {
        List<String> broken = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        List<String> continuing = new ArrayList<>();
        for (Endpoint endpoint : endpoints) {
            try {
                return step.of(endpoint);
            } catch (BrokenException e) {
                broken.add(endpoint.name() + " " + e.getMessage());
            } catch (NoBackupException e) {
                output.err().println(endpoint.name() + ": " + e.getMessage());
                continuing.add(endpoint.name() + " " + e.getMessage());
            } catch (NoLogException e) {
                output.err().println(endpoint.name() + ": " + e.getMessage());
            } catch (EndpointException | UnusableFileException e) {
                output.err().println(endpoint.name() + ": " + e.getMessage());
                unknown.add(endpoint.name());
            }
        }
        String ends = Snapshot.hex(end.zxid());
        if (!continuing.isEmpty()) {
            throw new FailureException(
                    ("no endpoint gave a %s that continues the history %s of the archive, which ends"
                                    + " at %s. These servers gave their log, and no full backup: %s. No"
                                    + " new history is begun")
                            .formatted(what, history.name(), ends, String.join("; ", continuing)));
        }
        if (broken.isEmpty()) {
            throw new FailureException(
                    "no endpoint gave its %s; the archive ends at %s".formatted(what, ends));
        }
        if (!unknown.isEmpty()) {
            throw new FailureException(
                    ("no endpoint gave a %s that continues the history %s of the archive, which ends"
                                    + " at %s: %s. Without an answer of %s, which may have that entry,"
                                    + " no new history is begun. Start it; if its data is lost, leave it"
                                    + " out of the endpoints, and a new history begins")
                            .formatted(
                                    what,
                                    history.name(),
                                    ends,
                                    String.join("; ", broken),
                                    String.join(" and ", unknown)));
        }
        throw new BrokenException(String.join("; ", broken));
    }

    /** Those that have the most come first, those that do not answer last. */
    private List<Endpoint> furthestFirst() throws InterruptedException {
        Map<Endpoint, Long> zxids = new HashMap<>();
        for (Asked.Answer<Long> answer :
                Asked.all(
                        connection.endpoints(),
                        connection.patience(),
                        (endpoint, deadline) ->
                                Long.decode(
                                        FourLetterWord.srvr(endpoint, connection, deadline)
                                                .getOrDefault("Zxid", "-1")))) {
            zxids.put(answer.endpoint(), answer.failed() ? -1 : answer.answer());
        }
        return connection.endpoints().stream()
                .sorted(Comparator.comparing(zxids::get, Comparator.reverseOrder()))
                .toList();
    }

    /**
     * Takes a full backup, and the log of the same server up to it.
     *
     * @param continued the history that it belongs to; null to begin one
     * @param newest the newest one that there is, if any
     */
    private void full(History continued, History newest) throws IOException, InterruptedException {
        if (continued == null) {
            FullBackup full =
                    FullBackup.make(connection, scratch.empty("full"), false, output.err());
            put(begin(full, newest), full);
            return;
        }
        FullBackup full;
        try {
            full =
                    firstThatContinues(
                            continued,
                            connection.endpoints(),
                            "full backup",
                            each -> continuing(continued, each));
        } catch (BrokenException e) {
            sayBroken(continued, end.zxid(), e);
            full(null, newest);
            return;
        }
        put(continued.name(), full);
    }

    /** A full backup of that server, up to which its log is archived. */
    private FullBackup continuing(History history, Endpoint endpoint)
            throws IOException, InterruptedException, BrokenException, NoBackupException {
        // First, as a snapshot is large and would be for nothing.
        Entry last = end;
        put(history.name(), fetch(endpoint, last), last);
        FullBackup full;
        try {
            full = FullBackup.of(endpoint, connection, scratch.empty("full"), false);
        } catch (EndpointException | UnusableFileException e) {
            throw new NoBackupException(e.getMessage());
        }
        last = end;
        put(history.name(), through(fetch(endpoint, last), full), last);
        return full;
    }

    /** Begins a history with the log of the same server, and returns its name. */
    private String begin(FullBackup full, History newest) throws IOException {
        // The newest has the latest name, also if the clock was set back.
        Instant begun = full.made();
        if (newest != null && !begun.isAfter(newest.begun())) {
            begun = newest.begun().plusMillis(1);
        }
        String history = Archive.historyName(begun);
        Fetched first = fetch(full.from(), full.backup().begun());
        if (first != null) {
            put(history, through(first, full), null);
        }
        return history;
    }

    private void put(String history, FullBackup full) throws IOException {
        String name = Archive.fullName(history, full);
        Backup backup = full.backup();
        put(name, backup.snapshotFile());
        if (backup.logFile() != null) {
            put(name, backup.logFile());
        }
        // Without it the others do not count.
        put(name, backup.snapshotFile().resolveSibling(Backup.DESCRIPTION));
        output.out()
                .println(
                        "Backed up %s of %s: %d nodes, history %s."
                                .formatted(
                                        Snapshot.hex(backup.through()),
                                        full.from().name(),
                                        backup.snapshot().nodes(),
                                        history));
    }

    private void put(String folder, Path file) throws IOException {
        store.put(folder + "/" + file.getFileName(), file);
    }

    private static Fetched through(Fetched log, FullBackup full) throws UnusableFileException {
        if (log.last() < full.backup().through()) {
            throw new UnusableFileException(
                    "the log of %s ends at %s, and its backup at %s"
                            .formatted(
                                    full.from().name(),
                                    Snapshot.hex(log.last()),
                                    Snapshot.hex(full.backup().through())));
        }
        return log;
    }

    /**
     * @param last the entry that is archived already; null if there is none
     */
    private void put(String history, Fetched log, Entry last) throws IOException {
        if (last != null && log.last() == last.zxid()) {
            return;
        }
        Piece piece = Archive.piece(history, log.first(), log.last(), log.until());
        store.put(piece.name(), log.file());
        end = log.end();
        endName = piece.name();
    }

    /** The last entry of a history. */
    private Entry end(History history) throws IOException, BrokenException {
        Piece piece =
                history.end()
                        .orElseThrow(
                                () ->
                                        new BrokenException(
                                                "there is no entry to compare with the servers' logs"));
        if (end == null || !piece.name().equals(endName)) {
            Entry last = null;
            try (LogEntries in = open(store, piece)) {
                for (Entry entry = in.next(); entry != null; entry = in.next()) {
                    last = entry;
                }
            } catch (UnusableFileException e) {
                throw new BrokenException(e.getMessage());
            }
            if (last == null || last.zxid() != piece.last()) {
                throw new BrokenException(piece.name() + " does not end where its name says");
            }
            end = last;
            endName = piece.name();
        }
        return end;
    }

    /** The entries of a piece. */
    static LogEntries open(ArchiveStore store, Piece piece) throws IOException {
        try {
            return new LogEntries(
                    piece.name(), new GZIPInputStream(store.open(piece.name())), piece.first() - 1);
        } catch (EOFException | ZipException e) {
            throw new UnusableFileException(piece.name() + ": it is damaged at its beginning");
        }
    }

    /**
     * The log from the last archived entry on.
     *
     * @throws BrokenException if the server does not have that entry
     */
    private Fetched fetch(Endpoint endpoint, Entry last)
            throws IOException, InterruptedException, BrokenException {
        Fetched fetched = download(endpoint, last.zxid() - 1, last);
        if (fetched == null) {
            // A server that is behind catches up in this.
            EndpointCommand.check(endpoint, connection, Deadline.in(connection.patience()));
            fetched = download(endpoint, last.zxid() - 1, last);
        }
        if (fetched == null) {
            throw new BrokenException(
                    "has no entry from %s on: it was restored to an earlier point"
                            .formatted(Snapshot.hex(last.zxid())));
        }
        return fetched;
    }

    /** The log from an entry on, or from the one behind it; null if the server has neither. */
    private Fetched fetch(Endpoint endpoint, long from) throws IOException {
        try {
            return download(endpoint, from - 1, null);
        } catch (EndpointException e) {
            if (e.reason() != Reason.GONE) {
                throw e;
            }
        } catch (BrokenException e) {
            throw new IllegalStateException(e);
        }
        try {
            // It was restored, and its log begins behind the snapshot.
            return download(endpoint, from, null);
        } catch (BrokenException e) {
            throw new IllegalStateException(e);
        }
    }

    private Fetched download(Endpoint endpoint, long after, Entry expected)
            throws IOException, BrokenException {
        Path file = scratch.empty("log").resolve("piece.gz");
        try (Download download =
                        new AdminClient(connection)
                                .download(
                                        endpoint,
                                        "saucr/log?after=" + Snapshot.hex(after),
                                        Deadline.in(connection.silence()));
                LogEntries in =
                        new LogEntries(
                                "the log of " + endpoint.name(),
                                download.in(),
                                LogEntries.ANYWHERE);
                NewLog copy = new NewLog(file, after, true)) {
            Entry first = in.next();
            if (first == null) {
                return null;
            }
            if (expected != null) {
                requireSame(first, expected);
            }
            long latest = first.time();
            Entry last = first;
            for (Entry entry = first; entry != null; entry = in.next()) {
                copy.append(entry);
                latest = Math.max(latest, entry.time());
                last = entry;
            }
            return new Fetched(file, first.zxid(), last, Instant.ofEpochMilli(latest));
        } catch (EndpointException e) {
            if (e.reason() == Reason.UNKNOWN_COMMAND) {
                throw new NoLogException();
            }
            if (e.reason() == Reason.GONE && expected != null) {
                throw new BrokenException(
                        "does not have the entry %s in its log: %s"
                                .formatted(Snapshot.hex(expected.zxid()), e.getMessage()));
            }
            throw e;
        }
    }

    private static void requireSame(Entry first, Entry expected) throws BrokenException {
        String zxid = Snapshot.hex(expected.zxid());
        if (first.zxid() != expected.zxid()) {
            throw new BrokenException(
                    "does not have the entry %s in its log; the next one is %s"
                            .formatted(zxid, Snapshot.hex(first.zxid())));
        }
        if (!first.sameAs(expected)) {
            throw new BrokenException(
                    "has another entry %s: it was restored to an earlier point".formatted(zxid));
        }
    }
}
