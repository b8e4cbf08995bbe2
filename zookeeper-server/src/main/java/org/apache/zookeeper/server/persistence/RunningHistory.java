package org.apache.zookeeper.server.persistence;

import io.saucr.core.Zxid;
import io.saucr.core.recovery.Bytes;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.core.recovery.ReadableHistory;
import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.Compression;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * The log and snapshots of a running server, for another one that copies them (R17). Remembers
 * where the last request stopped reading, and what it read. So a long copy reads the log once, even
 * if requests are repeated because answers are slow.
 *
 * <p>Owned by the thread that answers; {@link #whileUntruncated} keeps the log from being truncated
 * meanwhile.
 */
public final class RunningHistory implements ReadableHistory, Closeable {
    private final SaucrTxnSnapLog txnSnapLog;
    private RawLog.Reader reader;
    private RecoveryMessage.Entry readAhead;

    /** What was taken since {@link #takenAfter}: about as much as one answer holds. */
    private final List<RecoveryMessage.Entry> taken = new ArrayList<>();

    private long takenAfter = -1;
    private long readThrough = -1;
    private long truncations = -1;
    private long expected;

    /** The log does not have what comes next: it was purged, or is damaged. */
    public static final class MissingException extends IOException {
        private static final long serialVersionUID = 1;

        MissingException(String sentence) {
            super(sentence);
        }
    }

    public RunningHistory(SaucrTxnSnapLog txnSnapLog) {
        this.txnSnapLog = txnSnapLog;
    }

    /** Runs the action while nothing is truncated. */
    public void whileUntruncated(Runnable action) {
        txnSnapLog.log().whileUntruncated(action);
    }

    /**
     * The epoch ends of what can still be read: without the log files that were purged since the
     * start, and the snapshots before them.
     */
    @Override
    public EpochEnds epochEnds() {
        try {
            return txnSnapLog.readableEpochEnds();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Iterator<RecoveryMessage.Entry> after(long zxid) {
        try {
            expected = epochEnds().last();
            txnSnapLog.log().makeReadable();
            long now = txnSnapLog.log().truncations();
            boolean goesOn = reader != null && truncations == now;
            if (!goesOn || (zxid != takenAfter && zxid != readThrough)) {
                close();
                reader = new RawLog(logs(), snapshots()).read(zxid);
                readThrough = zxid;
                truncations = now;
            }
            if (zxid != takenAfter) {
                taken.clear();
                takenAfter = zxid;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Entries();
    }

    /**
     * Returns what was taken before, then continues with the shared reader. An entry that was read
     * ahead and not taken is returned again.
     */
    private final class Entries implements Iterator<RecoveryMessage.Entry> {
        private int repeated;
        private boolean peeked;

        @Override
        public boolean hasNext() {
            if (peeked) {
                // The caller asks for more, so it has taken what was returned last.
                readThrough = readAhead.zxid();
                taken.add(readAhead);
                repeated++;
                readAhead = null;
                peeked = false;
            }
            if (repeated < taken.size() || readAhead != null) {
                return true;
            }
            if (reader == null) {
                return false;
            }
            try {
                RawLog.Entry entry = reader.next();
                if (entry == null) {
                    long end = readThrough;
                    // This is the end only for now: the log may grow, so the next request opens it
                    // anew.
                    close();
                    if (end < expected) {
                        throw new MissingException(
                                "the log files end at %s, not at %s"
                                        .formatted(Zxid.toString(end), Zxid.toString(expected)));
                    }
                    return false;
                }
                readAhead = new RecoveryMessage.Entry(entry.zxid(), Bytes.wrap(entry.bytes()));
                return true;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public RecoveryMessage.Entry next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            if (repeated < taken.size()) {
                return taken.get(repeated++);
            }
            peeked = true;
            return readAhead;
        }
    }

    @Override
    public Optional<Snapshot> newestSnapshot() {
        File newest = new FileSnap(snapshots().toFile()).findMostRecentSnapshot();
        return newest == null ? Optional.empty() : Optional.of(describe(newest));
    }

    @Override
    public Optional<Snapshot> snapshot(long zxid) {
        for (File file : new FileSnap(snapshots().toFile()).findNValidSnapshots(100)) {
            if (zxidOf(file) == zxid) {
                return Optional.of(describe(file));
            }
        }
        return Optional.empty();
    }

    @Override
    public Bytes read(Snapshot snapshot, long offset, int length) {
        for (File file : new FileSnap(snapshots().toFile()).findNValidSnapshots(100)) {
            // One zxid may have two, with and without compression.
            if (describe(file).equals(snapshot)) {
                return read(file.toPath(), offset, length);
            }
        }
        throw new UncheckedIOException(new IOException("snapshot " + snapshot + " is missing"));
    }

    private static Bytes read(Path file, long offset, int length) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer buffer = ByteBuffer.allocate(length);
            while (buffer.hasRemaining()) {
                if (channel.read(buffer, offset + buffer.position()) < 0) {
                    break;
                }
            }
            Bytes all = Bytes.wrap(buffer.array());
            return buffer.hasRemaining() ? all.slice(0, buffer.position()) : all;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Snapshot describe(File file) {
        String name = file.getName();
        Compression compression =
                name.endsWith(".gz")
                        ? Compression.GZIP
                        : name.endsWith(".snappy") ? Compression.SNAPPY : Compression.NONE;
        return new Snapshot(zxidOf(file), compression, file.length());
    }

    private static long zxidOf(File file) {
        return DataFolder.zxidOf(file.toPath());
    }

    private Path logs() {
        return txnSnapLog.getDataLogDir().toPath();
    }

    private Path snapshots() {
        return txnSnapLog.getSnapDir().toPath();
    }

    @Override
    public void close() throws IOException {
        readAhead = null;
        readThrough = -1;
        taken.clear();
        takenAfter = -1;
        if (reader != null) {
            reader.close();
            reader = null;
        }
    }
}
