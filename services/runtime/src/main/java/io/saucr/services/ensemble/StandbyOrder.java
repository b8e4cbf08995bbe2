package io.saucr.services.ensemble;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.ServiceException;
import io.saucr.services.core.head.Head;
import io.saucr.services.core.standby.AcceptedLoss.Found;
import io.saucr.services.core.standby.StandbyHead;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * What an operator's order asks of the ensemble about a service with standbys: it looks who is
 * there, and replaces the head that was seen, by a conditional write (C5, C17). One thread.
 */
public final class StandbyOrder implements AutoCloseable {

    private final ServicePath place;
    private final OrderSession session;

    /**
     * What was seen.
     *
     * @param found for a decision
     * @param node the path of the znode that holds the head
     * @param writtenMillis when that was written, by the clock of the ensemble
     */
    public record Seen(Found found, String node, long writtenMillis) {}

    /** Nothing is sent yet. */
    public StandbyOrder(ServicePath place) {
        this.place = place;
        this.session = new OrderSession(place);
    }

    private String path(String name) {
        return place.path() + "/" + name;
    }

    /**
     * Looks at the head and at who is there, not older than this call.
     *
     * @return empty where there is no head
     * @throws IOException where the ensemble does not answer or refuses, or holds something else
     */
    public Optional<Seen> look() throws IOException, InterruptedException {
        return session.until(
                zk -> {
                    OrderSession.isCurrent(zk);
                    String node = path("head");
                    Stat stat = new Stat();
                    Optional<byte[]> content = OrderSession.data(zk, node, stat);
                    Optional<String> moved = content.flatMap(HeadNode::movedTo);
                    if (moved.isPresent()) {
                        node = path(moved.get());
                        content = OrderSession.data(zk, node, stat);
                    }
                    if (content.isEmpty()) {
                        return Optional.empty();
                    }
                    return Optional.of(
                            new Seen(
                                    new Found(
                                            head(content.get()),
                                            stat.getVersion(),
                                            OrderSession.text(zk, path("at")),
                                            OrderSession.texts(zk, path("members"))),
                                    node,
                                    stat.getMtime()));
                });
    }

    /**
     * The same where there has to be a head.
     *
     * @throws ServiceException where there is none
     */
    public Seen seen() throws IOException, InterruptedException {
        return look().orElseThrow(
                        () ->
                                new ServiceException(
                                        "there is no head at "
                                                + place.path()
                                                + ": it was deleted, or the ensemble was restored"
                                                + " from before, or no member ever ran. Nothing was"
                                                + " changed"));
    }

    private StandbyHead head(byte[] content) throws IOException {
        try {
            return StandbyHead.decode(content);
        } catch (Head.UnreadableHeadException e) {
            throw new IOException(
                    "the head of "
                            + place.path()
                            + " is not that of a service with standbys, or can't be read: "
                            + e.getMessage()
                            + ". Nothing was changed");
        }
    }

    /**
     * Asks the primary to show that he lives: he writes the head anew then.
     *
     * @throws IOException where the ensemble does not answer or refuses
     */
    public void challenge(String by) throws IOException, InterruptedException {
        Object unused =
                session.until(
                        zk -> {
                            byte[] content = by.getBytes(UTF_8);
                            try {
                                return zk.setData(path("challenge"), content, -1);
                            } catch (KeeperException.NoNodeException e) {
                                return create(zk, content);
                            }
                        });
    }

    private Object create(ZooKeeper zk, byte[] content)
            throws KeeperException, InterruptedException {
        try {
            return zk.create(path("challenge"), content, place.acls(), CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            return zk.setData(path("challenge"), content, -1);
        }
    }

    /**
     * Writes the head in place of the one that was seen.
     *
     * @return false where that was changed meanwhile, and not by this write
     * @throws IOException where the ensemble does not answer or refuses: it may be written or not
     */
    public boolean replace(Seen seen, StandbyHead with) throws IOException, InterruptedException {
        return session.replace(
                seen.node(), with.encode(), seen.found().version(), Optional.empty(), List.of());
    }

    /**
     * Hands the service to a process without standbys: writes its head in place of the one that was
     * seen, and deletes the once client's markers, all or nothing.
     *
     * @param onceClient its name; empty where it has none
     * @return false where the head was changed meanwhile, and not by this write
     * @throws IOException where the ensemble does not answer or refuses: it may be written or not
     */
    public boolean handTo(Seen seen, Head with, Optional<String> onceClient)
            throws IOException, InterruptedException {
        boolean moved = !seen.node().equals(path("head"));
        int version = seen.found().version();
        return session.replace(
                path("head"),
                with.encode(),
                moved ? -1 : version,
                onceClient,
                moved ? List.of(Op.delete(seen.node(), version)) : List.of());
    }

    @Override
    public void close() {
        session.close();
    }
}
