package io.saucr.services.ensemble;

import io.saucr.services.core.head.Claim.Seen;
import io.saucr.services.core.head.Head;
import io.saucr.services.core.once.MarkerContent;
import io.saucr.services.core.standby.StandbyHead;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * What an operator's order needs of the ensemble: it looks who holds a service, and replaces the
 * head that was seen, by a conditional write (K11). It gives up where the ensemble does not answer
 * for a while, as a person waits. One thread.
 */
public final class HeadOrder implements AutoCloseable {

    private final ServicePath place;
    private final Optional<String> onceClient;
    private final OrderSession session;

    /**
     * What was seen.
     *
     * @param head empty where there is none
     * @param at where somebody serves, or did until its session ends; empty where nobody does
     * @param markers of the service's once client
     */
    public record Found(Optional<Seen> head, Optional<String> at, List<MarkerContent> markers) {
        public Found {
            markers = List.copyOf(markers);
        }
    }

    /**
     * Nothing is sent yet.
     *
     * @param place of the service
     * @param onceClient its name; empty where it has none
     */
    public HeadOrder(ServicePath place, Optional<String> onceClient) {
        this.place = place;
        this.onceClient = onceClient;
        this.session = new OrderSession(place);
    }

    /**
     * Looks at head, address and marker, not older than this call.
     *
     * @throws IOException where the ensemble does not answer or refuses, or holds something else
     */
    public Found look() throws IOException, InterruptedException {
        return session.until(
                zk -> {
                    OrderSession.isCurrent(zk);
                    Stat stat = new Stat();
                    Optional<byte[]> head = OrderSession.data(zk, place.path() + "/head", stat);
                    return new Found(
                            head.isEmpty()
                                    ? Optional.empty()
                                    : Optional.of(new Seen(head(head.get()), stat.getVersion())),
                            OrderSession.text(zk, place.path() + "/at"),
                            markers(zk));
                });
    }

    private Head head(byte[] content) throws IOException {
        try {
            return Head.decode(content);
        } catch (Head.UnreadableHeadException e) {
            throw new IOException(
                    "the head of "
                            + place.path()
                            + " can't be read: "
                            + e.getMessage()
                            + ". Nothing was changed");
        }
    }

    private List<MarkerContent> markers(ZooKeeper zk)
            throws KeeperException, InterruptedException, IOException {
        List<MarkerContent> markers = new ArrayList<>();
        try {
            for (String path : OrderSession.markerPaths(zk, onceClient)) {
                Optional<byte[]> content = OrderSession.data(zk, path, new Stat());
                if (content.isPresent()) {
                    markers.add(MarkerContent.decode(content.get()));
                }
            }
        } catch (MarkerContent.UnreadableMarkerException e) {
            throw new IOException(
                    "a marker below "
                            + OrderSession.markers(onceClient.orElseThrow())
                            + " can't be read: "
                            + e.getMessage()
                            + ". Nothing was changed");
        }
        return markers;
    }

    /**
     * Writes the head in place of the one that was seen.
     *
     * @return false where that was changed meanwhile, and not by this write
     * @throws IOException where the ensemble does not answer or refuses: it may be written or not
     */
    public boolean replace(Seen seen, Head with) throws IOException, InterruptedException {
        return session.replace(
                place.path() + "/head", with.encode(), seen.version(), Optional.empty(), List.of());
    }

    /**
     * Hands the service to members with standbys: writes their head in place of the one that was
     * seen, and deletes the once client's markers, all or nothing.
     *
     * @return false where the head was changed meanwhile, and not by this write
     * @throws IOException where the ensemble does not answer or refuses: it may be written or not
     */
    public boolean handTo(Seen seen, StandbyHead with) throws IOException, InterruptedException {
        String path = place.path() + "/head";
        return session.replace(path, with.encode(), seen.version(), onceClient, List.of());
    }

    @Override
    public void close() {
        session.close();
    }
}
