package io.saucr.services;

import java.io.IOException;
import java.util.Set;

/**
 * Partitions of a service that run in this process. Any thread, but not within one of their turns.
 */
public interface RunningPartitions extends AutoCloseable {

    /** How many partitions the service has, wherever they run. */
    int count();

    /** The numbers of those that run here. */
    Set<Integer> here();

    /**
     * One of those that run here, as a service of its own.
     *
     * @throws IllegalArgumentException where it does not
     */
    RunningService partition(int number);

    /**
     * Ends a partition here, with all that it did in its own folder, which is named by its number.
     * Move or copy that folder into the folder of another process, which then takes the partition.
     * Messages to it wait meanwhile. With standbys the member here ends, and hands over where it is
     * primary and another member is ready; its folder stays.
     *
     * @throws IllegalArgumentException where it does not run here
     * @throws ServiceException where its snapshot cannot be written: it continues here
     * @throws IOException where the disk fails: start the process again, and release it once more
     */
    void release(int number) throws IOException;

    /**
     * Starts a partition here, or a member of it, from the folder of its number, or a new one.
     *
     * @throws IllegalArgumentException where it runs here already
     * @throws IOException where its folder is of another process that has not released it, or is
     *     damaged; says what to do
     * @throws ServiceException where another process holds its head
     */
    void take(int number) throws IOException, InterruptedException;

    /**
     * Waits until these are closed.
     *
     * @throws ServiceException where one of them halted: says why
     */
    void join() throws InterruptedException;

    /** Ends all of them, as {@link RunningService#close} does; they stay with this folder. */
    @Override
    void close();
}
