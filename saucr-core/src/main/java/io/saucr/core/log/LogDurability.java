package io.saucr.core.log;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;

/**
 * What a server must force and mark before it acks, and which marker a flush may write (R3, R10 to
 * R13), and before it acks a seal (R23).
 *
 * <p>Three claims hold at every instant, wherever a crash interrupts the caller. If the markers say
 * "on disk", every acked entry is on disk. A fast entry is acked from memory only after the markers
 * say "fast". And a fast entry is acked from disk only after the map on disk tells who else may
 * have logged it (S4): after a crash with markers that say "on disk", that map is all that the
 * server still knows.
 *
 * <p>The caller appends entries, and before it acks them asks {@link #mustForce()} and {@link
 * #fastSwitchNeeded()}, does what they ask, reports it and calls {@link #acked()}. A flush reports
 * through {@link #mayMarkOnDisk} whether it covered everything. Not thread-safe: owned by one lock,
 * which the caller holds from the question about a marker until the marker is written and reported
 * (R13's critical section). Appends must not need that lock.
 */
public final class LogDurability {
    private long fastSwitch;
    private long latestOnDisk;
    private long firstFastUnacked;
    private long lastFastUnacked;
    private boolean slowUnacked;
    private long sealUnacked;

    /**
     * @param onDisk the markers that were found on disk, of a server that is not recovering
     */
    public LogDurability(Markers onDisk) {
        if (onDisk.crashedInFastMode()) {
            throw new IllegalStateException("crashed in fast mode: " + onDisk);
        }
        fastSwitch = onDisk.fastSwitch();
        latestOnDisk = onDisk.latestOnDisk();
    }

    /** Whether the markers say that everything acked is on disk. */
    public boolean claimsOnDisk() {
        return fastSwitch <= latestOnDisk;
    }

    /** An entry is in the log's buffer and not acked. */
    public void appended(long zxid, Mode mode) {
        if (mode == Mode.SLOW) {
            slowUnacked = true;
            return;
        }
        appendedFast(zxid);
    }

    /**
     * A slow entry that seals a view is in the log's buffer: the marker tells of the view (R23).
     */
    public void appendedSeal(long zxid) {
        slowUnacked = true;
        sealUnacked = zxid;
    }

    /** A fast entry is in the log's buffer, and must nevertheless be synced before its ack (H5). */
    public void appendedFastToBeForced(long zxid) {
        slowUnacked = true;
        appendedFast(zxid);
    }

    private void appendedFast(long zxid) {
        if (firstFastUnacked == 0) {
            firstFastUnacked = zxid;
        }
        lastFastUnacked = zxid;
    }

    /**
     * Whether the log must be synced before what was appended is acked: something slow is among it
     * (R3).
     */
    public boolean mustForce() {
        return slowUnacked;
    }

    /**
     * Whether, after that force, the latest-on-disk marker must be written before the ack: the
     * markers say "fast" (R13), or a fast entry is about to be acked from disk, and the map on disk
     * does not tell of it; or a seal is, whose view is not on disk (R23).
     */
    public boolean mustMarkOnDisk() {
        return slowUnacked
                && (!claimsOnDisk()
                        || lastFastUnacked > latestOnDisk
                        || sealUnacked > latestOnDisk);
    }

    /**
     * The zxid of the fast-switch marker that must be on disk before the ack (R12), or 0 if none is
     * needed. Entries that a flush has covered meanwhile need none.
     */
    public long fastSwitchNeeded() {
        if (slowUnacked || lastFastUnacked <= latestOnDisk || !claimsOnDisk()) {
            return 0;
        }
        return Math.max(firstFastUnacked, latestOnDisk + 1);
    }

    /** Everything that was appended may be acked now: what was asked for is done. */
    public void acked() {
        if (mustMarkOnDisk() || fastSwitchNeeded() != 0) {
            throw new IllegalStateException("ack before the marker: " + this);
        }
        slowUnacked = false;
        firstFastUnacked = 0;
        lastFastUnacked = 0;
        sealUnacked = 0;
    }

    /**
     * Whether an fsync that covered everything up to {@code forced} may and must write the
     * latest-on-disk marker.
     *
     * @param forced what the log's last entry was when the fsync began
     * @param lastAppended what it is now
     */
    public boolean mayMarkOnDisk(long forced, long lastAppended) {
        return forced == lastAppended && forced >= fastSwitch && !claimsOnDisk();
    }

    /** The latest-on-disk marker is on disk. It never goes down (R13). */
    public void markedOnDisk(long zxid) {
        if (zxid < fastSwitch) {
            throw new IllegalStateException(
                    "latest-on-disk %s is behind fast-switch %s"
                            .formatted(Zxid.toString(zxid), Zxid.toString(fastSwitch)));
        }
        latestOnDisk = Math.max(latestOnDisk, zxid);
    }

    /** The fast-switch marker is on disk. */
    public void markedFastSwitch(long zxid) {
        if (zxid <= latestOnDisk) {
            throw new IllegalStateException(
                    "fast-switch %s is not ahead of latest-on-disk %s"
                            .formatted(Zxid.toString(zxid), Zxid.toString(latestOnDisk)));
        }
        fastSwitch = zxid;
    }

    public long fastSwitch() {
        return fastSwitch;
    }

    public long latestOnDisk() {
        return latestOnDisk;
    }

    @Override
    public String toString() {
        return "fast-switch "
                + Zxid.toString(fastSwitch)
                + ", latest-on-disk "
                + Zxid.toString(latestOnDisk)
                + (slowUnacked ? ", slow entries not acked" : "")
                + (firstFastUnacked != 0
                        ? ", fast entries not acked from " + Zxid.toString(firstFastUnacked)
                        : "");
    }
}
