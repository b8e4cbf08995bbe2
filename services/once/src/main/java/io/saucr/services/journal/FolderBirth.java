package io.saucr.services.journal;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.head.Claim;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;

/**
 * The birth of a folder that nobody runs, and the order that gives it a new one (K11). Locked while
 * it is open. The order is one replacement of the file {@code identity}: before it the folder is
 * that of the old birth, behind it that of the new one, whatever crashes between. Journal and bases
 * stay as they are; the first start under the new birth records what follows from it. One thread.
 */
public final class FolderBirth implements AutoCloseable {

    private final Disk disk;
    private final Path file;
    private final Closeable lock;
    private Identity identity;

    private FolderBirth(Disk disk, Path file, Closeable lock, Identity identity) {
        this.disk = disk;
        this.file = file;
        this.lock = lock;
        this.identity = identity;
    }

    /**
     * Opens a folder that is there, and changes nothing in it.
     *
     * @param name of the service or client
     * @throws RefusedFolderException where it is in use, another's, damaged, holds no service, or
     *     one that is a member of a group
     * @throws IOException where the disk fails
     */
    public static FolderBirth open(Disk disk, Path folder, String name) throws IOException {
        Path file = folder.resolve(ServiceFolder.IDENTITY);
        if (!disk.exists(file)) {
            throw new RefusedFolderException(
                    folder,
                    -1,
                    "there is no service and no client in it, as it has no file identity. Name the"
                            + " folder of "
                            + name);
        }
        Closeable lock = ServiceFolder.lock(disk, folder);
        boolean opened = false;
        try {
            Identity identity = ServiceFolder.decode(disk, file, name);
            ServiceFolder.refuseMember(folder, identity);
            opened = true;
            return new FolderBirth(disk, file, lock, identity);
        } finally {
            if (!opened) {
                lock.close();
            }
        }
    }

    /** The birth of the folder. */
    public Birth birth() {
        return identity.birth();
    }

    /** The newest start that the folder knows; empty where there was none since its birth. */
    public Optional<Incarnation> newest() {
        return identity.starts().isEmpty() ? Optional.empty() : Optional.of(identity.newest());
    }

    /**
     * The claim that a start of this folder would make now. The start is in no file, so nothing may
     * be written in its name: it only shows whether a start would be refused.
     */
    public Claim nextClaim(SecureRandom random) {
        Identity next = identity.started(random.nextLong());
        return new Claim(
                next.name(), next.newest(), next.starts(), next.confirmed(), next.replaces());
    }

    /** Whether this folder remembers that start. */
    public boolean knows(Incarnation start) {
        return identity.starts().contains(start);
    }

    /**
     * Gives the folder a new birth, and begins its first start; returns when that is on disk.
     *
     * @param head that the new birth may replace; empty where there is none
     * @param marker the birth whose once client's marker it may replace; empty where there is none
     * @return the start, which may be written to the head
     * @throws IOException where the disk fails: the folder has the old birth, or the new one
     */
    public Incarnation bearAnew(
            Optional<Incarnation> head, Optional<Birth> marker, SecureRandom random)
            throws IOException {
        Birth now = new Birth(random.nextLong(), random.nextLong());
        replace(identity.bornAnew(now, head, marker).started(random.nextLong()));
        return identity.newest();
    }

    /**
     * Notes that the start of the order holds the head; returns when that is on disk.
     *
     * @throws IOException where the disk fails; the next start takes the head, then
     */
    public void confirm() throws IOException {
        replace(identity.confirmed(identity.newest().number()));
    }

    private void replace(Identity next) throws IOException {
        disk.replace(file, next.encode());
        identity = next;
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}
