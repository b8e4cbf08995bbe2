package io.saucr.services;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * An operator's order that accepts a loss (C17), as it was looked at and not given yet: the head of
 * a service with standbys names a segment that nobody has any more, so nobody takes over. The
 * member whose folder it is continues with the newest segment that it has and that the head
 * certainly named, under a new birth (K11). All turns behind that are given up for good:
 *
 * <ul>
 *   <li>A former holder that comes back with what is lost follows the new birth, as all other
 *       members do. What it has behind the loss is put aside in its folder, and never counts again.
 *   <li>Clients and services that met the old birth hear that it is lost: what they sent to it, and
 *       had no ack of, comes back to them, "perhaps consumed". What waited in outboxes comes back
 *       to the service itself.
 * </ul>
 *
 * <p>The order is one conditional write of the head: whatever crashes, it was given or not. Folders
 * follow the head at their next start. One thread.
 */
public interface DataLoss {

    /** What was found, and what would be lost: lines for people. */
    List<String> report();

    /** Why no loss is accepted, and what to do; empty where one may be. */
    Optional<String> refusal();

    /** What the order has to repeat, which names the loss; empty where it is refused. */
    Optional<String> token();

    /**
     * Gives the order. The member is to be started then.
     *
     * @param token as {@link #token} says
     * @return the new birth, 32 hexadecimal digits
     * @throws IllegalArgumentException where the token is not that of the present state
     * @throws ServiceException where the order is refused, or the head was changed meanwhile; says
     *     what to do
     * @throws IOException where the folder is in use or damaged, or the ensemble does not answer:
     *     then the order may be given or not, and says which when it is looked at again
     */
    String give(String token) throws IOException, InterruptedException;
}
