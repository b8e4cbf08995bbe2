package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.Disk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the parts of a member's folder share. Its monitor is the lock of the state: it guards all
 * their fields, and is held while a log file is written or read, and while segments are dropped,
 * but not while anything else is synced to disk.
 */
final class FolderState {

    private static final Logger LOG = LoggerFactory.getLogger(FolderState.class);

    final Disk disk;
    final Path path;
    final String member;
    final String service;

    // Written under the lock, read anywhere: turns, which ask, wait for no disk.
    private volatile SegmentId last = SegmentId.NONE;
    private volatile long known;
    private final AtomicReference<IOException> dead = new AtomicReference<>();

    // Guarded by the lock.
    private MemberIdentity identity;
    private final List<Damage> damages = new ArrayList<>();

    FolderState(Disk disk, Path path, MemberIdentity identity) {
        this.disk = disk;
        this.path = path;
        this.member = identity.member();
        this.service = identity.service();
        this.identity = identity;
        this.known = identity.known();
    }

    SegmentId last() {
        return last;
    }

    synchronized void last(SegmentId id) {
        last = id;
    }

    long known() {
        return known;
    }

    synchronized void known(long number) {
        known = number;
    }

    /** The head named a segment of that number. */
    synchronized void named(long number) {
        known = Math.max(known, number);
    }

    synchronized MemberIdentity identity() {
        return identity;
    }

    /** The identity changes in memory once it did on disk. */
    synchronized void identity(MemberIdentity next) {
        try {
            disk.replace(path.resolve(MemberFolder.IDENTITY), next.encode());
        } catch (IOException e) {
            throw died(e);
        }
        identity = next;
    }

    Birth birthOf(long number) {
        return identity().birthOf(number);
    }

    DeadJournalException died(IOException cause) {
        end(cause);
        return new DeadJournalException(cause);
    }

    /** Nothing is taken any more; the first reason stays. */
    void end(IOException cause) {
        dead.compareAndSet(null, cause);
    }

    boolean isDead() {
        return dead.get() != null;
    }

    void throwIfDead() {
        IOException cause = dead.get();
        if (cause != null) {
            throw new DeadJournalException(cause);
        }
    }

    synchronized List<Damage> damages() {
        return List.copyOf(damages);
    }

    synchronized void damaged(Damage damage) {
        if (!damages.contains(damage)) {
            damages.add(damage);
        }
    }

    synchronized void forgetDamagesOfLostFiles() {
        damages.removeIf(it -> !hasFile(it));
    }

    private boolean hasFile(Damage damage) {
        try {
            return disk.exists(damage.file());
        } catch (IOException e) {
            return true;
        }
    }

    /** Files that were being written when a process ended. */
    void deleteUnfinished(Path folder) throws IOException {
        for (String name : disk.list(folder)) {
            if (name.endsWith(".tmp")) {
                disk.delete(folder.resolve(name));
            }
        }
    }

    /** Renames a file of a generation that was replaced. */
    Path putAside(Path file) throws IOException {
        Path aside = aside(file);
        disk.rename(file, aside);
        return aside;
    }

    Path aside(Path file) {
        return file.resolveSibling(
                file.getFileName() + "." + identity().birth().orElseThrow() + ".given-up");
    }

    void deleteQuietly(Path file) {
        try {
            disk.delete(file);
        } catch (IOException e) {
            LOG.warn("{} could not be deleted: the next base replaces it", file, e);
        }
    }
}
