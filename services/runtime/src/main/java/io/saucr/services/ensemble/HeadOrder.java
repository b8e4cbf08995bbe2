package io.saucr.services.ensemble;

import io.saucr.services.core.head.Claim.Seen;
import io.saucr.services.core.head.Head;
import io.saucr.services.core.once.MarkerContent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * What an operator's order needs of the ensemble: it looks who holds a service, and replaces the
 * head that was seen, by a conditional write (K11). It gives up where the ensemble does not answer
 * for a while, as a person waits. One thread.
 */
public final class HeadOrder implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration RETRY = Duration.ofMillis(200);

    private final Office.Place place;
    private final Optional<String> onceClient;
    private ZooKeeper session;

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

    private interface Request<T> {
        T ask(ZooKeeper zk) throws KeeperException, InterruptedException, IOException;
    }

    /**
     * Nothing is sent yet.
     *
     * @param place of the service
     * @param onceClient its name; empty where it has none
     */
    public HeadOrder(Office.Place place, Optional<String> onceClient) {
        this.place = place;
        this.onceClient = onceClient;
    }

    /**
     * Looks at head, address and marker, not older than this call.
     *
     * @throws IOException where the ensemble does not answer or refuses, or holds something else
     */
    public Found look() throws IOException, InterruptedException {
        return until(
                zk -> {
                    try {
                        Object unused = zk.multi(List.of(Op.check("/", -1)));
                    } catch (KeeperException.NoAuthException e) {
                        // It is agreed on all the same.
                    }
                    Stat stat = new Stat();
                    Optional<byte[]> head = data(zk, place.path() + "/head", stat);
                    return new Found(
                            head.isEmpty()
                                    ? Optional.empty()
                                    : Optional.of(new Seen(head(head.get()), stat.getVersion())),
                            data(zk, place.path() + "/at", new Stat())
                                    .map(it -> new String(it, StandardCharsets.UTF_8)),
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
        if (onceClient.isPresent()) {
            String parent = "/once/" + onceClient.get();
            try {
                for (String name : zk.getChildren(parent, false)) {
                    Optional<byte[]> content = data(zk, parent + "/" + name, new Stat());
                    if (content.isPresent()) {
                        markers.add(MarkerContent.decode(content.get()));
                    }
                }
            } catch (KeeperException.NoNodeException e) {
                return List.of();
            } catch (MarkerContent.UnreadableMarkerException e) {
                throw new IOException(
                        "a marker below "
                                + parent
                                + " can't be read: "
                                + e.getMessage()
                                + ". Nothing was changed");
            }
        }
        return markers;
    }

    private static Optional<byte[]> data(ZooKeeper zk, String path, Stat stat)
            throws KeeperException, InterruptedException {
        try {
            byte[] content = zk.getData(path, false, stat);
            return Optional.of(content == null ? new byte[0] : content);
        } catch (KeeperException.NoNodeException e) {
            return Optional.empty();
        }
    }

    /**
     * Writes the head in place of the one that was seen.
     *
     * @return false where that was changed meanwhile, and not by this write
     * @throws IOException where the ensemble does not answer or refuses: it may be written or not
     */
    public boolean replace(Seen seen, Head with) throws IOException, InterruptedException {
        return until(
                zk -> {
                    String path = place.path() + "/head";
                    try {
                        zk.setData(path, with.encode(), seen.version());
                        return true;
                    } catch (KeeperException.BadVersionException
                            | KeeperException.NoNodeException e) {
                        // An earlier try may have been the one that changed it.
                        Optional<byte[]> now = data(zk, path, new Stat());
                        return now.isPresent() && head(now.get()).equals(with);
                    }
                });
    }

    private <T> T until(Request<T> request) throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                if (session == null) {
                    session =
                            Sessions.open(
                                    place.connect(),
                                    place.sessionTimeout(),
                                    place.credentials(),
                                    event -> {});
                }
                return request.ask(session);
            } catch (KeeperException.ConnectionLossException
                    | KeeperException.SessionExpiredException
                    | KeeperException.OperationTimeoutException
                    | KeeperException.SessionMovedException e) {
                if (e instanceof KeeperException.SessionExpiredException) {
                    close();
                }
                if (System.nanoTime() > end) {
                    throw new IOException(
                            place.connect()
                                    + " does not answer for "
                                    + PATIENCE.toSeconds()
                                    + " s: "
                                    + e.getMessage(),
                            e);
                }
                Thread.sleep(RETRY.toMillis());
            } catch (KeeperException e) {
                throw new IOException(place.connect() + " refused: " + e.getMessage(), e);
            }
        }
    }

    @Override
    public void close() {
        if (session != null) {
            Sessions.close(session);
            session = null;
        }
    }
}
