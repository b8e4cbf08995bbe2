package io.saucr.services;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * An operator's order that gives the folder of a service or client a new birth (K11), as it was
 * looked at and not given yet: for a backup that is to continue, and wherever a message says so.
 * The state stays as the folder has it. What the old birth did behind that is given up for good,
 * and its numbers are never used again:
 *
 * <ul>
 *   <li>A process that still runs under the old birth loses its head, and halts; its folder is
 *       refused from then on.
 *   <li>What peers sent to the old birth, and had no ack of, comes back to them as {@link
 *       Returned}, "perhaps consumed".
 *   <li>What the folder's outboxes hold may have been consumed already, so it comes back to the
 *       service itself as {@link Returned}, "perhaps consumed", in its order, and is not sent.
 *       Answers to clients are dropped; their calls fail.
 *   <li>Timers, parked messages and what the service sent to itself stay. Who sent what is parked
 *       may not have heard of it, and hears no more: look at what is parked.
 *   <li>Calls to the world that have no answer are made again under their old ids (K17).
 *   <li>Writes to the ensemble that have no outcome are not made again: whether they happened is
 *       told as {@link EnsembleOutcome#unknown}. The once client begins with a fresh marker, behind
 *       which nothing of the old one can happen any more (E3, E9).
 * </ul>
 *
 * <p>Whatever crashes while it is given, the folder has the old birth or the new one. One thread.
 */
public interface NewGeneration {

    /** The birth that would be replaced, 32 hexadecimal digits: the order has to repeat it. */
    String birth();

    /** Where a process says that it serves; the order is refused unless it says that it is dead. */
    Optional<String> serves();

    /** What was found, and what may be lost: lines for people. */
    List<String> report();

    /**
     * Gives the order; nobody may serve.
     *
     * @param instead the birth that is replaced, as {@link #birth} says
     * @return the new birth, 32 hexadecimal digits
     * @throws IllegalArgumentException where that is not the folder's birth
     * @throws ServiceException where somebody serves, or the head was changed meanwhile; says what
     *     to do
     * @throws IOException where the folder is in use, or disk or ensemble fail: the folder has the
     *     old birth or the new one, and says which when it is looked at again
     */
    String give(String instead) throws IOException, InterruptedException;

    /**
     * Gives the order although a process says that it serves.
     *
     * @param dead where the process served that is dead, as {@link #serves} says
     */
    String give(String instead, String dead) throws IOException, InterruptedException;
}
