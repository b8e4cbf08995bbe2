package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.NewNodes;
import io.saucr.ensemble.WriteLoad;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.PurgeTxnLog;

/**
 * A {@link WriteLoad} that creates new nodes below one node, with the assertions of tests about
 * what was acknowledged.
 */
final class AckedWrites implements AutoCloseable {
    /**
     * The most writes of one load: with more, the parent's list of children would not fit into one
     * packet.
     */
    private static final int MOST = 60_000;

    /**
     * So many writes are made as fast as they can be, then {@link #RATE} in a second. That is
     * enough for writes all the time; more would only take processor time from the servers and from
     * the test beside this one, and come to the limit.
     */
    private static final int MANY = 1_000;

    private static final int RATE = 200;

    /** The fewest that a purge can leave. */
    private static final int KEPT_SNAPSHOTS = 3;

    private final Client client;
    private final String parent;
    private final NewNodes nodes;
    private final WriteLoad load;

    /**
     * Starts writing.
     *
     * @param client used by this object alone, and closed with it
     * @param parent a path that does not exist yet
     * @param window how many writes are in flight at most
     */
    AckedWrites(Client client, String parent, int window) throws InterruptedException, IOException {
        this(client, parent, window, MANY);
    }

    /**
     * Starts writing.
     *
     * @param quickly so many writes are made as fast as they can be
     */
    AckedWrites(Client client, String parent, int window, int quickly)
            throws InterruptedException, IOException {
        this.client = client;
        this.parent = parent;
        createParent();
        nodes =
                new NewNodes(
                        parent + "/n", quickly, Duration.ofSeconds(window).dividedBy(RATE), MOST);
        load = new WriteLoad(this::session, 1, window, nodes);
        load.start();
    }

    /** Servers may be changing their leader just now. */
    private void createParent() {
        boolean[] unanswered = new boolean[1];
        SaucrEnsemble.await(
                parent,
                () -> {
                    try {
                        client.create(
                                parent, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                        return true;
                    } catch (KeeperException.NodeExistsException e) {
                        if (unanswered[0]) {
                            return true; // made by the attempt without an answer
                        }
                        throw e;
                    } catch (KeeperException.ConnectionLossException e) {
                        unanswered[0] = true;
                        return false;
                    }
                });
    }

    /** The client at first; another one if its session has expired. */
    private ZooKeeper session() throws IOException, InterruptedException {
        return client.getState().isAlive() ? client : client.again();
    }

    /**
     * Makes at least that many writes; all of them are acknowledged when this returns.
     *
     * @param client is closed
     */
    static AckedWrites written(Client client, String parent, int window, int count)
            throws InterruptedException, IOException {
        AckedWrites writes = new AckedWrites(client, parent, window);
        try (writes) {
            writes.awaitMore(count);
            writes.stop();
        }
        return writes;
    }

    /**
     * Writes through these servers until their logs, purged, begin after all that was written
     * before: a server that was down meanwhile needs a snapshot from then on. How many writes that
     * takes depends on the disk, for a server begins no snapshot while it writes one.
     */
    static AckedWrites beyondTheLogs(SaucrEnsemble ensemble, String parent, Integer... ids)
            throws InterruptedException, IOException {
        AckedWrites writes = new AckedWrites(ensemble.connect(ids), parent, 4);
        try (writes) {
            writes.awaitMore(1);
            long missed = writes.lastZxid();
            writes.awaitMore(1_000); // more than a leader keeps in memory
            SaucrEnsemble.await(
                    "logs that begin after 0x" + Long.toHexString(missed),
                    () -> {
                        boolean all = true;
                        for (int id : ids) {
                            File folder = ensemble.server(id).dataDirectory().toFile();
                            PurgeTxnLog.purge(folder, folder, KEPT_SNAPSHOTS);
                            all &=
                                    ensemble.logFiles(id).stream()
                                            .allMatch(log -> SaucrEnsemble.zxidOf(log) > missed);
                        }
                        return all;
                    });
            writes.stop();
        }
        return writes;
    }

    /** The node below which this load writes. */
    String parent() {
        return parent;
    }

    /** How many writes were acknowledged. */
    int count() {
        return nodes.acknowledged().size();
    }

    /** The highest zxid that was acknowledged. */
    long lastZxid() {
        return load.lastZxid();
    }

    /** Waits until that many more writes are acknowledged than now. */
    void awaitMore(int more) {
        long goal = load.acknowledged() + more;
        SaucrEnsemble.await(more + " more writes", () -> load.acknowledged() >= goal);
    }

    /** No more writes until {@link #goOn}; those in flight may still be answered. */
    void pause() {
        load.pause();
    }

    /** Ends a pause. */
    void goOn() {
        load.start();
    }

    /** No more writes; waits for the answers of those in flight. The client stays connected. */
    void stop() throws InterruptedException {
        assertThat(load.stop(SaucrEnsemble.PATIENCE)).as("all writes have an outcome").isTrue();
    }

    /** S1: nothing that was acknowledged is missing from what this client's server shows. */
    void assertAllIn(ZooKeeper reader) {
        Set<String> missing =
                nodes.acknowledged().stream()
                        .map(path -> path.substring(parent.length() + 1))
                        .collect(Collectors.toCollection(TreeSet::new));
        int expected = missing.size();
        SaucrEnsemble.await(
                "the children of " + parent,
                () -> {
                    try {
                        reader.sync(parent, (code, path, context) -> {}, null);
                        reader.getChildren(parent, false).forEach(missing::remove);
                        return true;
                    } catch (KeeperException.ConnectionLossException e) {
                        return false; // It connects again.
                    }
                });
        assertThat(missing).as("acknowledged but missing, of %d", expected).isEmpty();
    }

    /** The same for every server that runs. */
    void assertAllOnEachOf(SaucrEnsemble ensemble) throws Exception {
        for (int id : ensemble.all()) {
            try (Client reader = ensemble.connect(id)) {
                assertAllIn(reader);
            }
        }
    }

    @Override
    public void close() {
        load.close();
        client.close();
    }
}
