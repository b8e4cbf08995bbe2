package io.saucr.bench.load;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** Znodes that no load touches, so that a tree has a size. Stateless. */
public final class FillerNodes {
    private static final String ROOT = "/filler";
    private static final int VALUE_BYTES = 64;
    private static final int CHILDREN = 500;
    private static final int IN_FLIGHT = 8;

    private FillerNodes() {}

    /**
     * Creates them, in folders of 500.
     *
     * @throws IllegalStateException if one cannot be created
     */
    public static void create(String address, int nodes) throws Exception {
        if (nodes == 0) {
            return;
        }
        UpdateLoad.ensure(address, ROOT);
        ZooKeeper client = UpdateLoad.connect(address);
        try {
            Semaphore free = new Semaphore(IN_FLIGHT);
            AtomicReference<KeeperException.Code> failure = new AtomicReference<>();
            byte[] value = new byte[VALUE_BYTES];
            for (int left = nodes; left > 0; left -= CHILDREN) {
                List<Op> creates = new ArrayList<>();
                String folder = ROOT + "/" + left;
                for (int i = 0; i < Math.min(left, CHILDREN); i++) {
                    creates.add(
                            Op.create(
                                    i == 0 ? folder : folder + "/" + i,
                                    value,
                                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                                    CreateMode.PERSISTENT));
                }
                free.acquire();
                client.multi(
                        creates,
                        (code, path, context, results) -> {
                            if (code != KeeperException.Code.OK.intValue()) {
                                failure.set(KeeperException.Code.get(code));
                            }
                            free.release();
                        },
                        null);
            }
            free.acquire(IN_FLIGHT);
            if (failure.get() != null) {
                throw new IllegalStateException(
                        "the tree cannot be filled with znodes: " + failure.get());
            }
        } finally {
            client.close();
        }
    }
}
