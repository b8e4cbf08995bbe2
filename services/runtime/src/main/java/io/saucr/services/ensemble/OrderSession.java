package io.saucr.services.ensemble;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A session for an operator's order: it tries again where the outcome of a request is not known,
 * and gives up where the ensemble does not answer for a while, as a person waits. One thread.
 */
final class OrderSession implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration RETRY = Duration.ofMillis(200);

    private final ServicePath place;
    private ZooKeeper session;

    /** What is asked, perhaps more than once. */
    interface Request<T> {
        T ask(ZooKeeper zk) throws KeeperException, InterruptedException, IOException;
    }

    /** Servers did not answer for a while; what was asked may have happened or not. */
    static final class NoAnswerException extends IOException {

        private static final long serialVersionUID = 1L;

        NoAnswerException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    OrderSession(ServicePath place) {
        this.place = place;
    }

    /** What is read from now on is not older than this call. */
    static void isCurrent(ZooKeeper zk) throws KeeperException, InterruptedException {
        try {
            Object unused = zk.multi(List.of(Op.check("/", -1)));
        } catch (KeeperException.NoAuthException e) {
            // It is agreed on all the same.
        }
    }

    static Optional<byte[]> data(ZooKeeper zk, String path, Stat stat)
            throws KeeperException, InterruptedException {
        try {
            byte[] content = zk.getData(path, false, stat);
            return Optional.of(content == null ? new byte[0] : content);
        } catch (KeeperException.NoNodeException e) {
            return Optional.empty();
        }
    }

    static Optional<String> text(ZooKeeper zk, String path)
            throws KeeperException, InterruptedException {
        return data(zk, path, new Stat()).map(it -> new String(it, StandardCharsets.UTF_8));
    }

    /** The texts of a znode's children, by name; none where it is not there. */
    static SortedMap<String, String> texts(ZooKeeper zk, String parent)
            throws KeeperException, InterruptedException {
        SortedMap<String, String> all = new TreeMap<>();
        List<String> names;
        try {
            names = zk.getChildren(parent, false);
        } catch (KeeperException.NoNodeException e) {
            return all;
        }
        for (String name : names) {
            text(zk, parent + "/" + name).ifPresent(it -> all.put(name, it));
        }
        return all;
    }

    /** Where the markers of a once client are. */
    static String markers(String onceClient) {
        return "/once/" + onceClient;
    }

    /** The znodes of a once client's markers; none where it has none. */
    static List<String> markerPaths(ZooKeeper zk, Optional<String> onceClient)
            throws KeeperException, InterruptedException {
        if (onceClient.isEmpty()) {
            return List.of();
        }
        String parent = markers(onceClient.get());
        try {
            return zk.getChildren(parent, false).stream().map(it -> parent + "/" + it).toList();
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        }
    }

    /**
     * Writes a head in place of the one that was seen, and deletes the markers of a once client,
     * all or nothing.
     *
     * @param version of the head that was seen
     * @param before what is done together with it
     * @return false where something was changed meanwhile, and not by this write
     * @throws IOException where the ensemble does not answer or refuses: it may be written or not
     */
    boolean replace(
            String head, byte[] content, int version, Optional<String> onceClient, List<Op> before)
            throws IOException, InterruptedException {
        return until(
                zk -> {
                    List<Op> ops = new ArrayList<>(before);
                    ops.add(Op.setData(head, content, version));
                    markerPaths(zk, onceClient).forEach(it -> ops.add(Op.delete(it, -1)));
                    try {
                        List<OpResult> unused = zk.multi(ops);
                        return true;
                    } catch (KeeperException.BadVersionException
                            | KeeperException.NoNodeException e) {
                        // An earlier try may have been the one that changed it.
                        return data(zk, head, new Stat())
                                .filter(it -> Arrays.equals(it, content))
                                .isPresent();
                    }
                });
    }

    /**
     * Asks until there is an answer.
     *
     * @throws IOException where the ensemble does not answer or refuses
     */
    <T> T until(Request<T> request) throws IOException, InterruptedException {
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
            } catch (KeeperException e) {
                if (!EnsembleSession.isUnknown(e.code())) {
                    throw new IOException(place.connect() + " refused: " + e.getMessage(), e);
                }
                if (e instanceof KeeperException.SessionExpiredException) {
                    close();
                }
                if (System.nanoTime() > end) {
                    throw new NoAnswerException(
                            place.connect()
                                    + " does not answer for "
                                    + PATIENCE.toSeconds()
                                    + " s: "
                                    + e.getMessage(),
                            e);
                }
                Thread.sleep(RETRY.toMillis());
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
