package io.saucr.services.ensemble;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.ServiceException;
import java.io.IOException;
import java.util.Optional;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many partitions a service has: the znode {@code partitions} below its path, written once, by
 * the first start. Any thread.
 */
public final class PartitionCount {

    private static final Logger LOG = LoggerFactory.getLogger(PartitionCount.class);

    private PartitionCount() {}

    /**
     * Notes the number where there is none; waits for the ensemble as long as it takes.
     *
     * @throws ServiceException where there is another number, the service has no partitions, or the
     *     ensemble refuses it
     */
    public static void fix(ServicePath place, int count) throws InterruptedException {
        try (OrderSession session = new OrderSession(place)) {
            while (true) {
                try {
                    boolean unused = session.until(zk -> fixed(zk, place, count));
                    return;
                } catch (OrderSession.NoAnswerException e) {
                    LOG.info("{}: {}; waiting for it", place.path(), e.getMessage());
                } catch (IOException e) {
                    throw new ServiceException(
                            place.path() + " does not start: " + e.getMessage(), e);
                }
            }
        }
    }

    private static boolean fixed(ZooKeeper zk, ServicePath place, int count)
            throws KeeperException, InterruptedException {
        Optional<String> known = OrderSession.text(zk, path(place));
        if (known.isEmpty()) {
            if (zk.exists(place.path() + "/head", false) != null) {
                throw new ServiceException(
                        place.path()
                                + " runs without partitions: its head is there. Choose another name"
                                + " for a service with partitions");
            }
            create(zk, place, count);
            known = OrderSession.text(zk, path(place));
        }
        throwUnless(known, place, count);
        return true;
    }

    /**
     * Compares the number with the one that the service has.
     *
     * @throws ServiceException where it has another, or none yet
     * @throws IOException where the ensemble does not answer for a while
     */
    public static void check(ServicePath place, int count)
            throws IOException, InterruptedException {
        try (OrderSession session = new OrderSession(place)) {
            throwUnless(session.until(zk -> OrderSession.text(zk, path(place))), place, count);
        }
    }

    private static String path(ServicePath place) {
        return place.path() + "/partitions";
    }

    private static void throwUnless(Optional<String> known, ServicePath place, int count) {
        if (known.isPresent() && !known.get().equals(String.valueOf(count))) {
            throw new ServiceException(
                    place.path()
                            + " has "
                            + known.get()
                            + " partitions, not "
                            + count
                            + ": their number stays as it was at the first start. Use "
                            + known.get());
        }
    }

    private static void create(ZooKeeper zk, ServicePath place, int count)
            throws KeeperException, InterruptedException {
        byte[] content = String.valueOf(count).getBytes(UTF_8);
        for (int slash = path(place).indexOf('/', 1);
                slash > 0;
                slash = path(place).indexOf('/', slash + 1)) {
            create(zk, place, path(place).substring(0, slash), new byte[0]);
        }
        create(zk, place, path(place), content);
    }

    private static void create(ZooKeeper zk, ServicePath place, String path, byte[] content)
            throws KeeperException, InterruptedException {
        if (zk.exists(path, false) != null) {
            return;
        }
        try {
            String unused = zk.create(path, content, place.acls(), CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            LOG.debug("{} is there by now", path);
        }
    }
}
