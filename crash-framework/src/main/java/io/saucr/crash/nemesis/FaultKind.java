package io.saucr.crash.nemesis;

import java.util.Locale;

/**
 * What a nemesis does to the servers. Each fault ends before the next one begins, and the next one
 * waits until all servers serve again: more than a majority that loses its memory in one instant is
 * never asked for, because no system that acknowledges from memory could serve after it.
 */
public enum FaultKind {
    /** Two groups of servers do not hear each other: the leader alone, or halves. */
    PARTITION,
    /** Any servers stand still, all of them included. */
    PAUSE,
    /** Processes are killed: a minority or a majority at once, or all, one after the other. */
    KILL,
    /** The same with the power. */
    POWER_CUT,
    /** A minority is cut off, then a server of the majority loses power; for n of 5 and more. */
    PARTITION_AND_POWER_CUT,
    /** Forces of some servers' logs take up to 100 ms. */
    SLOW_DISK,
    /** All processes are killed at one instant; their machines run on. */
    ALL_PROCESSES,
    /**
     * The disks of a minority refuse one to three writes, for want of space or with an I/O error. A
     * server that exits because of that is started again.
     */
    REFUSED_WRITE,
    /** Nothing that writes to the disks of some servers or forces them returns, for seconds. */
    HUNG_DISK,
    /**
     * One server dies and starts again without its log folder, or with an empty one: while the
     * others serve, or, if servers are situation-aware, after the death of all processes.
     */
    LOST_LOG,
    /** The same with its whole disk but for {@code myid}, and with its machine's power. */
    LOST_DISK,
    /**
     * A minority is stopped in good order, so that a leader hands over, and in half of the cases
     * killed in the middle of that.
     */
    STOP,
    /**
     * The leader is asked to hand over to another server; in three of four cases the leader is
     * killed, or the other one is killed or stands still, at about the same moment.
     */
    MOVE_LEADER;

    /** As histories name it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
