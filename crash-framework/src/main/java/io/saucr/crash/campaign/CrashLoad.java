package io.saucr.crash.campaign;

import io.saucr.ensemble.NewNodes;
import io.saucr.ensemble.WriteLoad;
import java.io.IOException;
import org.apache.zookeeper.ZooKeeper;

/** The load of the crash tester: one session that creates nodes, 16 at a time. Stateless. */
public final class CrashLoad {
    private static final int IN_FLIGHT = 16;
    private static final int MOST_WRITES = 3000;
    private static final int SESSION_MILLIS = 6000;

    private CrashLoad() {}

    /**
     * @param prefix of the nodes' paths; a number follows
     */
    public static NewNodes nodes(String prefix) {
        return new NewNodes(prefix, MOST_WRITES);
    }

    /** A load that writes nothing yet, on a session that may not be connected yet. */
    public static WriteLoad of(String connectString, NewNodes nodes)
            throws IOException, InterruptedException {
        return new WriteLoad(
                () -> new ZooKeeper(connectString, SESSION_MILLIS, event -> {}),
                1,
                IN_FLIGHT,
                nodes);
    }
}
