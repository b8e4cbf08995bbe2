package io.saucr.services.ensemble;

import io.saucr.services.core.head.Head.UnreadableHeadException;
import io.saucr.services.core.speculation.GroupHead;
import java.io.IOException;
import java.util.Optional;
import org.apache.zookeeper.data.Stat;

/** What an operator's command reads of a group, whether its members run or not. One thread. */
public final class GroupOrder implements AutoCloseable {

    private final ServicePath place;
    private final OrderSession session;

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
     * The head, not older than this call; empty where there is no group.
     *
     * @throws IOException where the ensemble does not answer or refuses, or holds something else
     */
    public Optional<GroupHead> look() throws IOException, InterruptedException {
        Optional<byte[]> content =
                session.until(
                        zk -> {
                            OrderSession.isCurrent(zk);
                            return OrderSession.data(zk, place.path() + "/head", new Stat());
                        });
        try {
            return content.isEmpty()
                    ? Optional.empty()
                    : Optional.of(GroupHead.decode(content.get()));
        } catch (UnreadableHeadException e) {
            throw new IOException(
                    "the head of the group "
                            + place.path()
                            + " can't be read: "
                            + e.getMessage()
                            + ". Nothing was changed");
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
