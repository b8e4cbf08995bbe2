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
    SLOW_DISK;

    /** As histories name it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
