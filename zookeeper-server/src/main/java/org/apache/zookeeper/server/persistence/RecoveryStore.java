package org.apache.zookeeper.server.persistence;

import io.saucr.core.NamedErrors;
import io.saucr.core.Zxid;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.Compression;
import io.saucr.core.recovery.RecoveryProcedure.Append;
import io.saucr.core.recovery.RecoveryProcedure.Finish;
import io.saucr.core.recovery.RecoveryProcedure.StageSnapshot;
import io.saucr.server.runtime.SmallFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The disk of a server that recovers (R17): carries out what the recovery procedure decides, so
 * that the next start can recover wherever a crash interrupts it.
 *
 * <p>Until {@link #mark} has written the markers, the fast-switch marker stays ahead. A snapshot
 * from another server is staged in a directory of its own, and replaces log and snapshots as {@link
 * CopiedHistory}; {@link #completeReplacement} completes a replacement that a crash interrupted.
 *
 * <p>Not thread-safe: owned by the thread that starts the server.
 */
public final class RecoveryStore implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(RecoveryStore.class);

    static final String ACCEPTED_EPOCH = "acceptedEpoch";
    static final String CURRENT_EPOCH = "currentEpoch";

    private static final long MOST_EPOCH = Integer.MAX_VALUE;

    private static final String MUST_NOT_VOTE =
            "nobody knows which leaders this server has followed, so it must not vote."
                    + " While a majority of the other servers is serving, empty its data directory"
                    + " but for myid, and it copies everything from them";

    private final Path logs;
    private final Path snapshots;
    private final MarkerStore markers;
    private final Path staging;
    private RawLog.Writer writer;

    // Where the server's own log ends, and the one in the staging area.
    private long ownEnd;
    private long stagedEnd;

    /**
     * @param logs the directory with the log files
     * @param snapshots the directory with the snapshots
     */
    public RecoveryStore(Path logs, Path snapshots, MarkerStore markers) {
        this.logs = logs;
        this.snapshots = snapshots;
        this.markers = markers;
        this.staging = logs.resolve(CopiedHistory.STAGING);
    }

    /**
     * Cuts what a power cut damaged (H2) and what an interrupted recovery had copied of epochs that
     * this server was never in, discards what was staged, and returns what is left.
     *
     * @param currentEpoch of the last leader that this server acknowledged
     */
    public EpochEnds prepare(long currentEpoch) throws IOException {
        EpochEnds epochEnds = prepareWhole();
        if (Zxid.epoch(epochEnds.last()) <= currentEpoch || epochEnds.last() == epochEnds.base()) {
            return epochEnds;
        }
        long keep = epochEnds.base();
        for (long end : epochEnds.ends()) {
            if (Zxid.epoch(end) <= currentEpoch) {
                keep = end;
            }
        }
        LOG.warn(
                "The log is cut after {}: what follows was copied by a recovery that did not"
                        + " finish",
                Zxid.toString(keep));
        markers.lowerExtent(keep);
        new RawLog(logs, snapshots).truncateAfter(keep);
        ownEnd = keep;
        return epochEnds.truncate(keep);
    }

    /** Cuts what is damaged, discards what was staged, and returns what is left. */
    public EpochEnds prepareWhole() throws IOException {
        discardStaged();
        RawLog history = new RawLog(logs, snapshots);
        RawLog.Scan scan = history.scan(markers.read().latestOnDisk());
        if (scan.damage() != null) {
            LOG.warn(
                    "The log is cut after {}, byte {} of {}: {}. What followed comes from the others",
                    Zxid.toString(scan.epochEnds().last()),
                    scan.damage().offset(),
                    scan.damage().file(),
                    scan.damage().what());
            history.cut(scan.damage());
        }
        ownEnd = scan.epochEnds().last();
        return scan.epochEnds();
    }

    /**
     * After the loss of a disk the log may have gaps, so only the snapshot is believed. The log
     * stays until something replaces it.
     */
    public EpochEnds prepareLost() throws IOException {
        discardStaged();
        ownEnd = Math.max(new RawLog(logs, snapshots).snapshotZxid(), 0);
        return EpochEnds.startingAt(ownEnd);
    }

    /** After the loss of a disk: removes the log before a history is copied. */
    public void removeLog() throws IOException {
        RawLog.removeLogs(logs);
    }

    /** Cuts the log after the entry, and removes newer snapshots. */
    public void truncate(long zxid) throws IOException {
        close();
        markers.lowerExtent(zxid);
        RawLog.removeSnapshotsAfter(snapshots, zxid);
        new RawLog(logs, snapshots).truncateAfter(zxid);
        ownEnd = zxid;
    }

    /** Puts a part of a snapshot into the staging area. */
    public void stage(StageSnapshot part) throws IOException {
        String name =
                FileSnap.SNAPSHOT_FILE_PREFIX
                        + '.'
                        + Long.toHexString(part.zxid())
                        + suffix(part.compression());
        if (part.offset() == 0) {
            DataFolder.requireFree(snapshots.resolve(name));
            discardStaged();
            Files.createDirectories(staging);
            stagedEnd = part.zxid();
        }
        Path file = staging.resolve(name);
        NamedErrors.in(file, () -> write(file, part.bytes().asReadOnlyBuffer(), part.offset()));
    }

    private static void write(Path file, ByteBuffer bytes, long offset) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            long at = offset;
            while (bytes.hasRemaining()) {
                at += channel.write(bytes, at);
            }
        }
    }

    /** Empties the staging area. */
    public void discardStaged() throws IOException {
        close();
        CopiedHistory.discard(staging);
    }

    /** Appends entries, not durably. */
    public void append(Append append) throws IOException {
        if (writer == null) {
            writer =
                    append.staged()
                            ? new RawLog.Writer(staging, stagedEnd)
                            : new RawLog.Writer(logs, ownEnd);
        }
        for (RecoveryMessage.Entry entry : append.entries()) {
            writer.write(entry.zxid(), entry.transaction().asReadOnlyBuffer());
            if (append.staged()) {
                stagedEnd = entry.zxid();
            } else {
                ownEnd = entry.zxid();
            }
        }
    }

    /**
     * Makes the copied log durable and, if it was staged, the server's own. The epochs and then
     * {@link #mark} follow.
     */
    public void install(Finish finish) throws IOException {
        if (writer != null) {
            writer.force();
        }
        close();
        markers.lowerExtent(finish.lastLogged());
        if (finish.staged()) {
            CopiedHistory.decide(logs, finish.currentEpoch());
            completeReplacement(logs, snapshots);
        } else {
            new RawLog(logs, snapshots).forceAll();
        }
    }

    /** The last step: from here on the server is recovered. */
    public void mark(Finish finish) throws IOException {
        // What is copied is synchronised, which acks no seal: the own view stays (R23).
        View view = markers.read().view();
        markers.writeLatestOnDisk(finish.latestOnDisk(), finish.lleMap(), view);
        markers.writeFastSwitch(finish.fastSwitch());
    }

    /**
     * The last step of a server that lost its disk: until the latest-on-disk marker is back it
     * counts as lost (R26).
     */
    public void markFound(Finish finish) throws IOException {
        markers.writeFastSwitch(finish.fastSwitch());
        markers.writeLatestOnDisk(finish.latestOnDisk(), finish.lleMap(), View.FIRST);
    }

    /** Completes a replacement of log and snapshots that was decided. */
    public static void completeReplacement(Path logs, Path snapshots) throws IOException {
        Optional<CopiedHistory> pending = CopiedHistory.pending(logs);
        if (pending.isPresent()) {
            pending.get().complete(snapshots);
        }
    }

    /** The current epoch of the server with these snapshots, -1 if it was never written. */
    public static long currentEpochIn(Path snapshots) throws IOException {
        return epochIn(snapshots, CURRENT_EPOCH);
    }

    /** The newest epoch that the server has accepted a leader of, -1 if it was never written. */
    public static long acceptedEpochIn(Path snapshots) throws IOException {
        return epochIn(snapshots, ACCEPTED_EPOCH);
    }

    /**
     * An epoch file of ZooKeeper's.
     *
     * @return -1 if it was never written
     * @throws IOException if it holds anything else; the message says what, and what to do
     */
    static long epochIn(Path directory, String name) throws IOException {
        Path file = directory.resolve(name);
        String first;
        try {
            // The second line, if any, is ours.
            first = SmallFile.lines(file).stream().findFirst().orElse("");
        } catch (NoSuchFileException e) {
            return -1;
        } catch (SmallFile.TooLargeException e) {
            throw damagedEpoch(file, e.getMessage());
        }
        // ZooKeeper reads it with nothing around it.
        if (first.matches("[0-9]{1,10}") && Long.parseLong(first) <= MOST_EPOCH) {
            return Long.parseLong(first);
        }
        throw damagedEpoch(
                file, first.isEmpty() ? "it has none" : "that is " + SmallFile.quoted(first));
    }

    /**
     * A server accepts an epoch before it enters it, so a current epoch that is later than the
     * accepted one is not of the same time.
     *
     * @throws IOException if it is; the message names both files, and says what to do
     */
    static void requireOrderedEpochs(Path snapshots) throws IOException {
        long accepted = acceptedEpochIn(snapshots);
        long current = currentEpochIn(snapshots);
        if (accepted >= 0 && accepted < current) {
            throw new IOException(
                    ("%s says %s, and %s says %s, but a server accepts an epoch before it enters it:"
                                    + " one of the files is a copy of another time, or was written"
                                    + " by hand. Hence %s")
                            .formatted(
                                    snapshots.resolve(ACCEPTED_EPOCH),
                                    accepted,
                                    snapshots.resolve(CURRENT_EPOCH),
                                    current,
                                    MUST_NOT_VOTE));
        }
    }

    /**
     * @param found a clause
     */
    static IOException damagedEpoch(Path file, String found) {
        return new IOException(
                file
                        + " is damaged: its first line must be an epoch, a number from 0 to "
                        + MOST_EPOCH
                        + ", and the second, if any, must name the log; "
                        + found
                        + ". Without it "
                        + MUST_NOT_VOTE);
    }

    private static String suffix(Compression compression) {
        return switch (compression) {
            case NONE -> "";
            case GZIP -> ".gz";
            case SNAPPY -> ".snappy";
        };
    }

    /** Hands what was appended to the file system, not durably. */
    @Override
    public void close() throws IOException {
        if (writer != null) {
            writer.close();
            writer = null;
        }
    }
}
