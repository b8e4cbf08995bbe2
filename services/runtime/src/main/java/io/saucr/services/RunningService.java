package io.saucr.services;

import java.util.Optional;

/** A service that runs. Any thread, but not within one of its turns. */
public interface RunningService extends AutoCloseable {

    /** The service's name. */
    String name();

    /** Where it answers. */
    Address address();

    /** Where its status page is, where it has one. */
    Optional<Address> statusPage();

    /** Where it answers by HTTP, where it does. */
    Optional<Address> http();

    /**
     * How it is now, as of one moment between two turns.
     *
     * @throws ServiceException if it does not answer: a turn takes longer than 10 s, it was closed
     *     or has halted, or it undoes turns after a failure in its group. Then ask again
     */
    ServiceStatus status();

    /** Says how long things take from now on; {@link Measures#NONE} ends it. One at a time. */
    void measure(Measures measures);

    /**
     * Has a message tried again that is a dead letter (K12): as one of the service to itself, since
     * its sender was told that it did not go through. Final when this returns, as with the next
     * four.
     *
     * @param deadLetter its id in the status
     * @throws IllegalArgumentException where there is none, or no message handler takes it
     */
    void retry(long deadLetter);

    /**
     * Removes a dead letter (K12).
     *
     * @throws IllegalArgumentException where there is none
     */
    void discard(long deadLetter);

    /**
     * Says that a generation of a peer never comes back (K15): what it has not acked returns to
     * this service; the peer learns of it if it comes back nevertheless.
     *
     * @param generation 32 hexadecimal digits
     * @throws IllegalArgumentException where no such service or generation is known; says which are
     */
    void declareLost(String service, String generation);

    /**
     * Gives up what waits for a service of which no generation is known, as nobody has that name:
     * it comes back to this service as {@link Returned}, not consumed.
     *
     * @throws IllegalArgumentException where no such service is known, or it has a generation; says
     *     which services are
     */
    void returnUndelivered(String service);

    /**
     * Lets a channel continue that waits for a person (K12).
     *
     * @param channel as the status names it
     * @throws IllegalArgumentException where none of that name waits
     */
    void resume(String channel);

    /**
     * Answers a query from the state of this member, primary or standby (X15): of a service whose
     * members replay ({@link Protection#replay}). A standby's state is that of a moment before;
     * nothing in it will be undone.
     *
     * @param atLeast a segment, as {@link MemberStatus#segment} of the primary says: the answer is
     *     of its state or a later one. 0 for whatever is there. Waits for it up to 10 s
     * @throws IllegalArgumentException if the query can not be sent
     * @throws ServiceException if this service answers queries of clients alone, no handler takes
     *     this one or its handler fails, or the state is not there in time
     */
    default <A> A query(Query<A> query, long atLeast) {
        throw new ServiceException(
                name() + " answers queries of clients alone: ask by Services.client()");
    }

    /**
     * Has another member take over from this one, without a request lost or repeated: turns are
     * held until all that was done is named, then the head names the successor. Who still reads its
     * state is waited for before that, up to 5 s. For a rolling restart; {@link #close} does it by
     * itself.
     *
     * @param member 16 hexadecimal digits; empty for any that is ready
     * @throws IllegalArgumentException where that one is not ready; says which are
     * @throws ServiceException where this member is not primary, or the successor did not come
     */
    default void handOver(Optional<String> member) {
        throw new ServiceException(name() + " has no standbys that could take over");
    }

    /**
     * Lets the turn that runs come to its end, makes what it did final, and ends. What peers have
     * not acked is sent by the next start.
     */
    @Override
    void close();

    /**
     * Waits until it is closed.
     *
     * @throws ServiceException where it halted: says why
     */
    void join() throws InterruptedException;

    /** Why it halted, as {@link Services#onHalt} hears; empty while it did not. */
    Optional<String> halted();
}
