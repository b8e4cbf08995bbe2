package io.saucr.ensemble;

import io.saucr.ensemble.WriteLoad.Outcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * The writes of a {@link WriteLoad} that creates one node after the other, and which of them were
 * acknowledged. Every lost write shows, and the nodes take memory. Thread-safe.
 */
public final class NewNodes implements WriteLoad.Writes {
    private static final int DATA_BYTES = 100;

    private final String prefix;
    private final int quickly;
    private final Duration pace;
    private final int most;
    private final AtomicInteger begun = new AtomicInteger();
    private final List<String> acknowledged = new ArrayList<>();
    private boolean counting = true;

    /**
     * Nodes that are created as fast as they can be.
     *
     * @param prefix of the nodes' paths, whose parent exists; a number follows
     * @param most so many are created
     */
    public NewNodes(String prefix, int most) {
        this(prefix, most, Duration.ZERO, most);
    }

    /**
     * Nodes of which only the first are created as fast as they can be.
     *
     * @param prefix of the nodes' paths, whose parent exists; a number follows
     * @param quickly so many are created as fast as they can be
     * @param pace how long each writer waits between two of the rest
     * @param most so many are created
     */
    public NewNodes(String prefix, int quickly, Duration pace, int most) {
        this.prefix = prefix;
        this.quickly = quickly;
        this.pace = pace;
        this.most = most;
    }

    /** What a node of this path holds, 100 bytes. */
    public static byte[] data(String path) {
        return Arrays.copyOf(path.getBytes(StandardCharsets.UTF_8), DATA_BYTES);
    }

    @Override
    public boolean next(ZooKeeper session, int writer, Outcome outcome) {
        int number = begun.getAndIncrement();
        if (number >= most) {
            return false;
        }
        String path = prefix + number;
        session.create(
                path,
                data(path),
                Ids.OPEN_ACL_UNSAFE,
                CreateMode.PERSISTENT,
                (status, asked, context, name, stat) -> {
                    Code code = Code.get(status);
                    if (code == Code.OK) {
                        acknowledge(asked);
                    }
                    outcome.of(code, stat);
                },
                null);
        return true;
    }

    @Override
    public Duration pace() {
        return begun.get() < quickly ? Duration.ZERO : pace;
    }

    private synchronized void acknowledge(String path) {
        if (counting) {
            acknowledged.add(path);
        }
    }

    /** The paths that were acknowledged so far, in the order of the answers. */
    public synchronized List<String> acknowledged() {
        return List.copyOf(acknowledged);
    }

    /** Acknowledgements from now on do not count; returns those that do. */
    public synchronized List<String> faultBegins() {
        counting = false;
        return acknowledged();
    }
}
