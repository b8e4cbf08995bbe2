package io.saucr.services.journal;

import io.saucr.services.core.Incarnation;
import io.saucr.services.core.journal.SegmentHeader;
import io.saucr.services.core.journal.SegmentRecord;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says which turns are on disk (K4, K8). Turns are appended by one thread, the turn thread, and
 * forced by a thread of the journal's own, one force at a time, each of which covers every turn
 * appended before it began. Turns may run ahead of the force. After a failed write or force the
 * journal is dead.
 *
 * <p>What a turn did, its delta, is bytes to the journal. Turns are numbered without gaps; a once
 * client's turns are its records.
 *
 * <p>A second thread, which no turn waits for, keeps a file ready for the next segment and lets
 * those go that a base covers (K10). All fields that threads share are guarded by one lock, which
 * nobody holds while the disk works.
 */
public final class Journal implements AutoCloseable {

    /** The most bytes that one turn's delta may have. */
    public static final int LARGEST_DELTA_BYTES = 128 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(Journal.class);

    private static final int KEPT_BUFFER_BYTES = 1 << 20;

    /** How many bytes lie between two turns of which it is known how many bytes are above them. */
    private static final int MARKED_BYTES = 64 << 10;

    private final Disk disk;
    private final Path folder;
    private final JournalOptions options;
    private final Incarnation start;
    private final JournalListener listener;
    private final Thread forceThread;
    private final Thread tidyThread;

    // Of the turn thread.
    private ByteBuffer buffer = ByteBuffer.allocate(KEPT_BUFFER_BYTES / 16);
    private Segment current;
    private int checksum;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Condition tidy = lock.newCondition();
    private final Deque<Segment> filling = new ArrayDeque<>();
    private final Deque<Segment> sealed = new ArrayDeque<>();
    private final Deque<Mark> marks = new ArrayDeque<>();
    private long appendedBytes;
    private long forcedBytes;
    private long foldedBytes;
    private long folded;
    private long forcing;

    /** Up to this turn the force thread is to force. */
    private long wanted;

    private long waitingSinceNanos;
    private long forces;
    private long unnamedFiles;
    private boolean spareWanted;
    private Spare spare;

    // Written under the lock, read anywhere.
    private volatile long appended;
    private volatile long forced;
    private volatile long onDisk;
    private volatile long lastFsyncMicros;
    private volatile boolean closing;
    private volatile IOException dead;

    /** So many bytes of records up to this turn. */
    private record Mark(long turn, long bytes) {}

    /** A file of a segment's size without a name. */
    private record Spare(Path path, Disk.File file) {}

    Journal(
            Disk disk,
            JournalOptions options,
            Incarnation start,
            JournalListener listener,
            long lastTurn,
            List<Segment> recovered,
            Segment current) {
        this.disk = disk;
        this.folder = current.path().getParent();
        this.options = options;
        this.start = start;
        this.listener = listener;
        this.current = current;
        this.checksum = current.mark();
        for (Segment segment : recovered) {
            sealed.add(segment);
            appendedBytes += segment.recordBytes();
            marks.add(new Mark(segment.lastTurn(), appendedBytes));
        }
        filling.add(current);
        appended = lastTurn;
        forced = lastTurn;
        onDisk = lastTurn;
        forcing = lastTurn;
        wanted = lastTurn;
        forcedBytes = appendedBytes;
        forceThread = thread("force", this::forceUntilClosed);
        tidyThread = thread("tidy", this::tidyUntilClosed);
    }

    private Thread thread(String what, Runnable task) {
        Thread thread = new Thread(task, "journal-" + what + " " + folder.getParent());
        thread.setDaemon(true);
        return thread;
    }

    void begin() {
        forceThread.start();
        tidyThread.start();
    }

    /**
     * Appends a turn, which the force thread forces as soon as it can. Returns when it is written,
     * not when it is forced; never waits for a force. Turn thread.
     *
     * @param turn the one after {@link #appended}
     * @param delta as {@link #write} takes it
     * @throws IllegalArgumentException as {@link #write} does
     * @throws DeadJournalException where the journal is dead, or dies of this
     * @throws IllegalStateException where it is closed
     */
    public void append(long turn, ByteBuffer delta) {
        write(turn, delta);
        forceBeside();
    }

    /**
     * Appends a turn, which is forced with the next that is, or by {@link #forceBeside} or {@link
     * #close}. Never waits for a force. Turn thread.
     *
     * @param turn the one after {@link #appended}
     * @param delta what the turn did, from position to limit, at most {@link #LARGEST_DELTA_BYTES};
     *     may be reused afterwards, its position is not changed
     * @throws IllegalArgumentException where the turn is not the next one or the delta too large;
     *     nothing was appended
     * @throws DeadJournalException where the journal is dead, or dies of this
     * @throws IllegalStateException where it is closed
     */
    public void write(long turn, ByteBuffer delta) {
        check(turn, appended + 1, delta, LARGEST_DELTA_BYTES);
        throwIfOver();
        long bytes = SegmentRecord.bytes(delta.remaining());
        try {
            if (!current.hasRoom(bytes)) {
                roll(turn);
            }
            if (buffer.capacity() < bytes) {
                buffer = ByteBuffer.allocate((int) bytes);
            }
            buffer.clear();
            int next = SegmentRecord.put(current.mark(), checksum, turn, onDisk, delta, buffer);
            current.write(buffer.flip());
            checksum = next;
        } catch (IOException e) {
            die(e);
            throw new DeadJournalException(e);
        }
        if (buffer.capacity() > KEPT_BUFFER_BYTES) {
            buffer = ByteBuffer.allocate(KEPT_BUFFER_BYTES);
        }
        lock.lock();
        try {
            if (appended == forcing) {
                waitingSinceNanos = System.nanoTime();
            }
            current.appended(turn, bytes);
            appendedBytes += bytes;
            appended = turn;
            if (marks.isEmpty() || appendedBytes - marks.getLast().bytes() >= MARKED_BYTES) {
                marks.add(new Mark(turn, appendedBytes));
            }
            if (!current.hasRoom(options.segmentBytes() / 2) && !spareWanted && spare == null) {
                spareWanted = true;
                tidy.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Checks a turn that is to be appended.
     *
     * @throws IllegalArgumentException where the turn is not the next one or the delta too large
     */
    static void check(long turn, long next, ByteBuffer delta, int largestBytes) {
        if (turn != next) {
            throw new IllegalArgumentException(
                    "turn " + next + " is to be appended next, not " + turn);
        }
        if (delta.remaining() > largestBytes) {
            throw new IllegalArgumentException(
                    "turn %s changed %s bytes, and at most %s are allowed: do less in one turn"
                            .formatted(turn, delta.remaining(), largestBytes));
        }
    }

    /** Lets the force thread force all that was appended. Does not wait. Any thread. */
    public void forceBeside() {
        lock.lock();
        try {
            if (wanted < appended) {
                wanted = appended;
                work.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Continues in a new segment; the force thread names it once the one before is on disk. */
    private void roll(long firstTurn) throws IOException {
        Spare file;
        lock.lock();
        try {
            file = spare;
            spare = null;
        } finally {
            lock.unlock();
        }
        if (file == null) {
            // Nobody waits for zeros to be written: forces of this one write its size, too.
            Path path = unnamed();
            file = new Spare(path, disk.open(path));
        }
        current =
                Segment.fill(
                        file.path(),
                        file.file(),
                        options.segmentBytes(),
                        new SegmentHeader(start, firstTurn, checksum));
        checksum = current.mark();
        lock.lock();
        try {
            filling.add(current);
        } finally {
            lock.unlock();
        }
    }

    private void throwIfOver() {
        IOException cause = dead;
        if (cause != null) {
            throw new DeadJournalException(cause);
        }
        if (closing) {
            throw new IllegalStateException("the journal is closed");
        }
    }

    private Path unnamed() {
        lock.lock();
        try {
            return Segment.unnamed(folder, ++unnamedFiles);
        } finally {
            lock.unlock();
        }
    }

    private void die(IOException cause) {
        lock.lock();
        try {
            if (dead != null) {
                return;
            }
            dead = cause;
            work.signalAll();
            tidy.signalAll();
        } finally {
            lock.unlock();
        }
        listener.failed(cause);
    }

    /** What one force covers. */
    private record Batch(long turn, long bytes, List<Segment> segments) {}

    /** All that was appended. Holds the lock. */
    private Batch beginForce() {
        forcing = appended;
        return new Batch(appended, appendedBytes, new ArrayList<>(filling));
    }

    private void forceUntilClosed() {
        IOException failure = null;
        while (failure == null) {
            Batch batch;
            lock.lock();
            try {
                if (!awaitTurns()) {
                    return;
                }
                batch = beginForce();
            } finally {
                lock.unlock();
            }
            failure = forceAndTell(batch);
        }
    }

    /**
     * Forces and tells. Force thread.
     *
     * @return why the journal is dead now, or null
     */
    private IOException forceAndTell(Batch batch) {
        try {
            long begun = System.nanoTime();
            boolean newestForced = force(batch.segments());
            lastFsyncMicros = Math.max(1, (System.nanoTime() - begun) / 1_000);
            if (!isForced(batch, newestForced)) {
                return dead;
            }
            listener.forced(batch.turn());
            return null;
        } catch (IOException e) {
            die(e);
        } catch (RuntimeException | Error e) {
            // A listener that did not hear of a turn would wait for ever.
            die(new IOException("an fsync, or a listener of it, failed: " + e, e));
        }
        return dead;
    }

    /** Notes what was forced, unless the journal has died meanwhile. */
    private boolean isForced(Batch batch, boolean newestForced) throws IOException {
        List<Segment> segments = batch.segments();
        lock.lock();
        try {
            if (dead != null) {
                return false;
            }
            while (filling.peekFirst() != segments.get(segments.size() - 1)) {
                Segment full = filling.removeFirst();
                full.close();
                sealed.add(full);
                onDisk = full.lastTurn();
            }
            onDisk = newestForced ? batch.turn() : onDisk;
            forced = batch.turn();
            forcedBytes = batch.bytes();
            forces += newestForced ? 1 : 0;
            if (isCovered(sealed.peekFirst())) {
                tidy.signal();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for turns that are not forced, and in a group for more of them. Holds the lock.
     *
     * @return false where there will be none any more
     */
    private boolean awaitTurns() {
        while (dead == null && wanted <= forced && !closing) {
            work.awaitUninterruptibly();
        }
        if (options.force() instanceof ForceMode.Group group) {
            long until = waitingSinceNanos + group.delay().toNanos();
            long left = until - System.nanoTime();
            while (dead == null && !closing && left > 0) {
                try {
                    work.awaitNanos(left);
                } catch (InterruptedException e) {
                    // Nobody interrupts this thread to any purpose: the turns go at once.
                    break;
                }
                left = until - System.nanoTime();
            }
        }
        return dead == null && appended > forced;
    }

    /**
     * Forces segments in their order, so that one gets its name only when all before it is on disk.
     *
     * @return whether the newest was forced, too
     */
    private boolean force(List<Segment> segments) throws IOException {
        boolean newestForced = false;
        for (Segment segment : segments) {
            boolean newest = segment == segments.get(segments.size() - 1);
            if (!newest || !segment.isNamed() || !(options.force() instanceof ForceMode.Os)) {
                segment.name(disk);
                newestForced = newest;
            }
        }
        return newestForced;
    }

    private void tidyUntilClosed() {
        while (true) {
            Segment covered;
            boolean reuse;
            lock.lock();
            try {
                while (dead == null
                        && !closing
                        && !(spareWanted && spare == null)
                        && !isCovered(sealed.peekFirst())) {
                    tidy.awaitUninterruptibly();
                }
                if (dead != null || closing) {
                    return;
                }
                covered = isCovered(sealed.peekFirst()) ? sealed.removeFirst() : null;
                reuse = spare == null;
            } finally {
                lock.unlock();
            }
            try {
                Spare found = covered == null ? fresh() : retire(covered, reuse);
                lock.lock();
                try {
                    if (found != null) {
                        spare = found;
                        spareWanted = false;
                    }
                } finally {
                    lock.unlock();
                }
            } catch (IOException e) {
                // Nothing of this is needed now: what stays is deleted at the next start, and a
                // segment without a spare file makes its own, or fails and says so.
                LOG.warn("A segment in {} could not be made or deleted", folder, e);
                lock.lock();
                try {
                    spareWanted = false;
                } finally {
                    lock.unlock();
                }
            }
        }
    }

    private boolean isCovered(Segment segment) {
        return segment != null && segment.lastTurn() <= folded;
    }

    private Spare fresh() throws IOException {
        Path path = unnamed();
        Disk.File file = disk.open(path);
        try {
            file.truncate(0);
            Segment.zeros(file, options.segmentBytes(), true);
            return new Spare(path, file);
        } catch (IOException e) {
            file.close();
            throw e;
        }
    }

    /** Lets a segment go, which a base covers; its file may serve again. */
    private Spare retire(Segment segment, boolean reuse) throws IOException {
        if (reuse) {
            Disk.File file = disk.open(segment.path());
            if (file.size() == options.segmentBytes()) {
                Path path = unnamed();
                // The name goes from the disk before the bytes behind it do.
                disk.rename(segment.path(), path);
                try {
                    disk.forceFolder(folder);
                } catch (IOException e) {
                    // What the folder lacks now may be the name of a newer segment.
                    die(e);
                    throw e;
                }
                return new Spare(path, file);
            }
            file.close();
        }
        disk.delete(segment.path());
        return null;
    }

    /** The newest turn that was appended, or the last of the recovery. Any thread. */
    public long appended() {
        return appended;
    }

    /** The newest turn whose force succeeded. Any thread. */
    public long forced() {
        return forced;
    }

    /** Bytes of the records that are appended, but not forced: for back pressure. Any thread. */
    public long unforcedBytes() {
        lock.lock();
        try {
            return appendedBytes - forcedBytes;
        } finally {
            lock.unlock();
        }
    }

    /**
     * About how many bytes of records are behind the newest base, for deciding when to write
     * another. Any thread.
     */
    public long bytesAboveBase() {
        lock.lock();
        try {
            return appendedBytes - foldedBytes;
        } finally {
            lock.unlock();
        }
    }

    /** How long the last force took; 0 before the first. Any thread. */
    public long lastFsyncMicros() {
        return lastFsyncMicros;
    }

    /** How often the newest segment was forced since the start. Any thread. */
    public long forces() {
        lock.lock();
        try {
            return forces;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Segments whose turns are all up to this one may go (K10): call it once {@link Base#write} of
     * that turn has returned. Any thread; does not wait for the disk.
     *
     * @param turn that the base on disk covers
     * @throws IllegalArgumentException where that turn is not forced yet
     */
    public void folded(long turn) {
        lock.lock();
        try {
            if (turn > forced) {
                throw new IllegalArgumentException(
                        "turn " + turn + " is not synced yet, only those up to " + forced);
            }
            folded = Math.max(folded, turn);
            while (!marks.isEmpty() && marks.peekFirst().turn() <= folded) {
                foldedBytes = marks.removeFirst().bytes();
            }
            tidy.signal();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Forces what was appended, reports it, and ends the journal's threads. Waits for the disk,
     * except on the force thread, where it only says that this is the end.
     */
    @Override
    public void close() {
        lock.lock();
        try {
            closing = true;
            work.signalAll();
            tidy.signalAll();
        } finally {
            lock.unlock();
        }
        if (Thread.currentThread() == forceThread) {
            return;
        }
        join(forceThread);
        join(tidyThread);
        lock.lock();
        try {
            for (Segment segment : filling) {
                segment.close();
            }
            filling.clear();
            if (spare != null) {
                spare.file().close();
                spare = null;
            }
        } catch (IOException e) {
            LOG.warn("Files in {} could not be closed", folder, e);
        } finally {
            lock.unlock();
        }
    }

    private static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join(TimeUnit.SECONDS.toMillis(1));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
