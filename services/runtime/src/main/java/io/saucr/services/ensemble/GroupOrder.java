package io.saucr.services.ensemble;

import io.saucr.services.core.head.Head.UnreadableHeadException;
import io.saucr.services.core.speculation.GroupHead;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.zookeeper.data.Stat;

/**
 * What an operator's command reads of a group, whether its members run or not, and the order that
 * gives a member up (D19). One thread.
 */
public final class GroupOrder implements AutoCloseable {

    private final ServicePath place;
    private final OrderSession session;
    private final SecureRandom random = new SecureRandom();

    /**
     * What was seen.
     *
     * @param version of the head's data
     * @param running where members are that run, or did until their sessions end, by name
     */
    public record Found(GroupHead head, int version, Map<String, String> running) {
        public Found {
            running = Map.copyOf(running);
        }
    }

    /**
     * Nothing is sent yet.
     *
     * @param place of the group
     */
    public GroupOrder(ServicePath place) {
        this.place = place;
        session = new OrderSession(place);
    }

    /**
     * The head and who runs, not older than this call; empty where there is no group.
     *
     * @throws IOException where the ensemble does not answer or refuses, or holds something else
     */
    public Optional<Found> look() throws IOException, InterruptedException {
        return session.until(
                zk -> {
                    OrderSession.isCurrent(zk);
                    Stat stat = new Stat();
                    Optional<byte[]> head = OrderSession.data(zk, head(), stat);
                    return head.isEmpty()
                            ? Optional.empty()
                            : Optional.of(
                                    new Found(
                                            decoded(head.get()),
                                            stat.getVersion(),
                                            OrderSession.texts(zk, members())));
                });
    }

    private String head() {
        return place.path() + "/head";
    }

    private String members() {
        return place.path() + "/" + GroupNode.MEMBERS;
    }

    private GroupHead decoded(byte[] content) throws IOException {
        try {
            return GroupHead.decode(content);
        } catch (UnreadableHeadException e) {
            throw new IOException(
                    "the head of the group "
                            + place.path()
                            + " can't be read: "
                            + e.getMessage()
                            + ". Nothing was changed");
        }
    }

    /**
     * Gives a member up, in the head that was seen.
     *
     * @return false where the head was changed meanwhile: look again, as it may have been this
     *     order and then a member's
     * @throws IllegalArgumentException where it was given up before
     * @throws IOException where the ensemble does not answer or refuses: it may have happened
     */
    public boolean giveUp(Found seen, int member) throws IOException, InterruptedException {
        GroupHead next = seen.head().givenUp(member, random.nextLong());
        return session.replace(head(), next.encode(), seen.version(), Optional.empty(), List.of());
    }

    @Override
    public void close() {
        session.close();
    }
}
