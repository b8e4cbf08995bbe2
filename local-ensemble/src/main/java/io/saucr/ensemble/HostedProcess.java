package io.saucr.ensemble;

/** A process on one of a {@link Hosting}'s machines, that can be killed with its machine. */
public interface HostedProcess {
    /** Which machine, numbered from 1. */
    int id();

    boolean isAlive();

    /**
     * The number of the process that was started last.
     *
     * @throws IllegalStateException if there is none
     */
    long pid();

    /** SIGKILL, and waits for the end: its sockets close, its page cache stays. */
    void kill();
}
