package io.saucr.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.Archive.Full;
import io.saucr.tool.Archive.History;
import io.saucr.tool.Archive.Piece;
import io.saucr.tool.LogEntries.Entry;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;
import org.apache.zookeeper.server.SnapshotDigest;
import org.apache.zookeeper.txn.TxnDigest;

/**
 * The state of an ensemble after an entry, as a backup that was made from an archive.
 *
 * @param backup a full backup, with the log up to the entry
 * @param time of the entry; empty if it is the full backup's own
 * @param digest of the tree, as the leader calculated it then; empty if the ensemble keeps none
 */
record ArchivePoint(Backup backup, Optional<Instant> time, Optional<TxnDigest> digest) {
    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("zxid", Snapshot.hex(backup.through()));
        time.ifPresent(when -> json.put("time", when.toString()));
        digest.ifPresent(value -> json.put("digest", Long.toHexString(value.getTreeDigest())));
        return json;
    }

    /**
     * The history that is meant.
     *
     * @param name null for the newest
     */
    static History history(ArchiveStore store, Archive archive, String name)
            throws UnusableFileException {
        if (name == null) {
            return archive.newest()
                    .orElseThrow(
                            () ->
                                    new UnusableFileException(
                                            store.place() + ": it has no backup yet"));
        }
        return archive.histories().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(
                        () ->
                                new UnusableFileException(
                                        "%s: it has no history %s; it has %s"
                                                .formatted(
                                                        store.place(),
                                                        name,
                                                        archive.histories().stream()
                                                                .map(History::name)
                                                                .toList())));
    }

    /**
     * The last entry before the first one that is later than a time.
     *
     * @param checked until when the archive has everything
     * @throws FailureException if the archive does not have that time
     */
    static long zxidAt(ArchiveStore store, History history, Instant time, Optional<Instant> checked)
            throws IOException {
        Piece later =
                history.pieces().stream()
                        .filter(piece -> piece.until().isAfter(time))
                        .findFirst()
                        .orElse(null);
        if (later == null) {
            if (checked.isEmpty() || time.isAfter(checked.get())) {
                throw new FailureException(
                        "%s: it has what was written until %s, which is before %s"
                                .formatted(
                                        store.place(),
                                        checked.map(Instant::toString).orElse("never"),
                                        time));
            }
            return history.through();
        }
        Entry before = null;
        try (LogEntries in = ArchiveWriter.open(store, later)) {
            for (Entry entry = in.next();
                    entry != null && entry.time() <= time.toEpochMilli();
                    entry = in.next()) {
                before = entry;
            }
        }
        if (before == null) {
            throw new FailureException(
                    "%s: its history %s begins after %s"
                            .formatted(store.place(), history.name(), time));
        }
        return before.zxid();
    }

    /**
     * Makes the backup.
     *
     * @param zxid the last entry that it is to have
     * @throws FailureException if the history does not have that point; the message says which ones
     *     it has
     */
    static ArchivePoint fetch(ArchiveStore store, History history, long zxid, Scratch scratch)
            throws IOException {
        Full full =
                history.fulls().stream()
                        .filter(each -> each.zxid() <= zxid)
                        .max(Comparator.comparingLong(Full::zxid))
                        .orElse(null);
        if (full == null || zxid > history.through()) {
            throw new FailureException(
                    "%s: its history %s can be restored from %s to %s, and not to %s"
                            .formatted(
                                    store.place(),
                                    history.name(),
                                    history.oldest()
                                            .map(each -> Snapshot.hex(each.zxid()))
                                            .orElse("nowhere"),
                                    Snapshot.hex(history.through()),
                                    Snapshot.hex(zxid)));
        }
        Path folder = scratch.empty("full");
        for (String file : full.files()) {
            try (InputStream in = store.open(file)) {
                NewFile.write(in, folder.resolve(file.substring(file.lastIndexOf('/') + 1)));
            }
        }
        Backup whole = Backup.read(folder);
        Snapshot snapshot = whole.snapshot();
        ArchivePoint alone =
                new ArchivePoint(
                        whole,
                        Optional.empty(),
                        Optional.of(
                                new TxnDigest(new SnapshotDigest().version(), snapshot.digest())));
        if (whole.log() == null && zxid == snapshot.zxid()) {
            return alone;
        }
        Path file = scratch.empty("log").resolve("log");
        Copied copied;
        try (NewLog log = new NewLog(file, whole.begun(), false)) {
            copied = copy(store, history, whole.begun(), zxid, log);
        }
        if (copied.last() == null && whole.log() == null) {
            // The next entry is of a later epoch, and behind the point.
            return alone;
        }
        Backup cut =
                new Backup(
                        whole.snapshotFile(),
                        snapshot,
                        whole.begun(),
                        true,
                        file,
                        LogFile.read(file, whole.begun(), full.zxid()));
        return new ArchivePoint(
                cut,
                Optional.of(Instant.ofEpochMilli(copied.last().time())),
                copied.changed() == null
                        ? alone.digest().filter(own -> snapshot.kind() == Snapshot.Kind.EXACT)
                        : Optional.ofNullable(copied.changed().digest()));
    }

    /**
     * What was copied.
     *
     * @param last the last entry; null if there is none
     * @param changed the last one that changed the tree; null if there is none
     */
    private record Copied(Entry last, Entry changed) {}

    /**
     * Copies the entries behind one up to another from the pieces. Where one piece ends and the
     * next begins, both have the same entry.
     */
    private static Copied copy(
            ArchiveStore store, History history, long after, long through, NewLog log)
            throws IOException {
        long at = after;
        Entry last = null;
        Entry changed = null;
        while (at < through) {
            long end = at;
            Entry joint = last;
            Piece piece =
                    history.after(at, last == null)
                            .orElseThrow(
                                    () ->
                                            new UnusableFileException(
                                                    "%s: the log after %s is missing in history %s"
                                                            .formatted(
                                                                    store.place(),
                                                                    Snapshot.hex(end),
                                                                    history.name())));
            try (LogEntries in = ArchiveWriter.open(store, piece)) {
                for (Entry entry = in.next(); entry != null; entry = in.next()) {
                    if (entry.zxid() == end && joint != null) {
                        if (!entry.sameAs(joint)) {
                            break;
                        }
                        joint = null;
                    }
                    if (entry.zxid() > end && joint != null) {
                        break;
                    }
                    if (entry.zxid() > through) {
                        return new Copied(last, changed);
                    }
                    if (entry.zxid() > at) {
                        log.append(entry);
                        at = entry.zxid();
                        last = entry;
                        changed = entry.changesNothing() ? changed : entry;
                    }
                }
            }
            if (joint != null) {
                throw new UnusableFileException(
                        "%s: its entry %s is not the one of the piece before"
                                .formatted(piece.name(), Snapshot.hex(end)));
            }
            if (at < piece.last()) {
                throw new UnusableFileException(
                        piece.name() + ": it ends before the entry that its name says");
            }
        }
        return new Copied(last, changed);
    }
}
