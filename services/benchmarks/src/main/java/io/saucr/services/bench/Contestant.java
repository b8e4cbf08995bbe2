package io.saucr.services.bench;

import java.io.IOException;

/**
 * Who can make a turn durable: a counter that becomes n, together with the message that says so to
 * the next process. That is the unit of the paper's first table (section 5.1): state and message
 * survive a crash both, or neither.
 */
interface Contestant extends AutoCloseable {

    /**
     * Does one turn and returns once a power cut can't undo it. Each pair is used by one thread,
     * the pairs by several.
     *
     * @param pair from 0
     * @param n what the pair's counter becomes, from 1, each time one more
     * @throws Exception if the turn is not, or perhaps not, on disk; the run has failed then
     */
    void turn(int pair, long n) throws Exception;

    /** Whether pairs count by themselves, and may so be further than they were asked to be. */
    default boolean goesOn() {
        return false;
    }

    /**
     * How far a pair is.
     *
     * @param pair from 0
     * @param asked how far it was asked to be
     */
    default long reached(int pair, long asked) {
        return asked;
    }

    /** Ends the counting, before counters are read. */
    default void stop() {}

    /**
     * The counter as it would be found after a crash, read from where it is kept.
     *
     * @param pair from 0
     */
    long counter(int pair) throws Exception;

    @Override
    void close() throws IOException;
}
