package io.saucr.services.ensemble;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.core.speculation.GroupHead;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * What a group of services has in the ensemble, below its path:
 *
 * <pre>
 * head          persistent, one line, changed by conditional writes alone (D8)
 * members/NAME  ephemeral, host:port of a member that runs, for operators
 * </pre>
 */
public final class GroupNode extends HeadNode<GroupHead> {

    private static final HeadText<GroupHead> TEXT =
            new HeadText<>(GroupHead::encode, GroupHead::decode);

    /** The name of the znode below which members are that run. */
    static final String MEMBERS = "members";

    /** The znode of the member of this process; empty while none was requested. Guarded by this. */
    private Optional<String> present = Optional.empty();

    private boolean appears;

    /**
     * Nothing is sent before the first request.
     *
     * @param place where the group is; its address does not count here
     * @param executor of one thread
     */
    public GroupNode(
            ServicePath place,
            ScheduledExecutorService executor,
            HeadNode.Listener<GroupHead> listener) {
        super(place, TEXT, executor, listener, Optional.empty(), MOST_VERSION);
    }

    @Override
    protected void ended() {
        super.ended();
        present(Optional.empty());
        appears = false;
    }

    private synchronized void present(Optional<String> znode) {
        present = znode;
    }

    private synchronized boolean isPresent() {
        return present.isPresent();
    }

    /** Behind a request that makes it, where that was sent; none is sent later. */
    @Override
    protected synchronized List<Op> farewell() {
        return present.map(it -> List.of(Op.delete(it, -1))).orElse(List.of());
    }

    /**
     * Lets operators see that a member runs, for as long as the session lasts; nothing where they
     * see it already. Called now and then, as it does not matter when it comes about.
     *
     * @param name of the member, whose service holds its own head: what is there is an earlier
     *     start's
     */
    public void appear(String name, String at) {
        if (isPresent() || appears || !hasSession()) {
            return;
        }
        appears = true;
        ask(
                asked ->
                        create(
                                asked,
                                path(MEMBERS),
                                new byte[0],
                                CreateMode.PERSISTENT,
                                (code, made) -> {
                                    if (code == Code.OK || code == Code.NODEEXISTS) {
                                        replace(asked, path(MEMBERS) + "/" + name, at);
                                    } else if (isCurrent(asked)) {
                                        appears = false;
                                    }
                                }));
    }

    private void replace(ZooKeeper asked, String znode, String at) {
        exists(asked, znode, null, (code, stat) -> put(asked, znode, at, stat));
    }

    private void put(ZooKeeper asked, String znode, String at, Stat before) {
        List<Op> ops = new ArrayList<>();
        if (before != null) {
            ops.add(Op.delete(znode, -1));
        }
        ops.add(Op.create(znode, at.getBytes(UTF_8), place.acls(), CreateMode.EPHEMERAL));
        synchronized (this) {
            // If its session has ended, it is the next one that shows the member.
            if (!isCurrent(asked)) {
                return;
            }
            present = Optional.of(znode);
            multi(
                    asked,
                    ops,
                    (code, results) -> {
                        if (isCurrent(asked)) {
                            appears = false;
                            if (code != Code.OK) {
                                present(Optional.empty());
                            }
                        }
                    });
        }
    }
}
