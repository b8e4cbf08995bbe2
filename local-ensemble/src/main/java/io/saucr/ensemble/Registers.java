package io.saucr.ensemble;

import io.saucr.ensemble.WriteLoad.Outcome;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * The writes of a {@link WriteLoad} that counts up in a number of nodes, and what each of them may
 * hold: it has at most one write in flight. Takes no more memory the longer it lasts. Thread-safe.
 */
public final class Registers implements WriteLoad.Writes {
    private static final int VALUE_BYTES = 100;
    private static final long SYNC_SECONDS = 30;

    private final String root;
    private final List<Register> registers;

    /**
     * @param root path of a node that does not exist yet; everything is written under it
     * @param count at least 1
     */
    public Registers(String root, int count) {
        this.root = root;
        this.registers =
                IntStream.range(0, count).mapToObj(i -> new Register(root + "/" + i)).toList();
    }

    /** Creates the nodes, before the first write. */
    public void create(ZooKeeper session) throws KeeperException, InterruptedException {
        session.create(root, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        for (Register register : registers) {
            session.create(register.path, value(0), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
    }

    /** Removes what was written. */
    public void remove(ZooKeeper session) throws KeeperException, InterruptedException {
        ZKUtil.deleteRecursive(session, root);
    }

    @Override
    public boolean next(ZooKeeper session, int writer, Outcome outcome) {
        Register register = registers.get(writer);
        session.setData(
                register.path,
                value(register.next()),
                -1,
                (status, path, context, stat) -> {
                    Code code = Code.get(status);
                    register.end(code == Code.OK);
                    outcome.of(code, stat);
                },
                null);
        return true;
    }

    @Override
    public Duration pace() {
        return Duration.ZERO;
    }

    /**
     * Compares every register, as one server shows it after a sync, with what was acknowledged.
     *
     * @param session with that server
     * @return one line for each register that misses an acknowledged write; empty if all is there
     */
    public List<String> missing(ZooKeeper session) throws KeeperException, InterruptedException {
        CountDownLatch synced = new CountDownLatch(1);
        session.sync(root, (code, path, context) -> synced.countDown(), null);
        if (!synced.await(SYNC_SECONDS, TimeUnit.SECONDS)) {
            throw new EnsembleException("no answer to a sync after " + SYNC_SECONDS + " s");
        }
        List<String> missing = new ArrayList<>();
        for (Register register : registers) {
            Stat stat = new Stat();
            long found = ByteBuffer.wrap(session.getData(register.path, false, stat)).getLong();
            String fault = register.fault(found, stat.getVersion());
            if (fault != null) {
                missing.add(fault);
            }
        }
        return missing;
    }

    private static byte[] value(long number) {
        return ByteBuffer.allocate(VALUE_BYTES).putLong(0, number).array();
    }

    /** One node. Its version counts the writes, its value which of them was the last. */
    private static final class Register {
        private final String path;
        private long proposed;
        private long lastAcknowledged;
        private long acknowledgedWrites;
        private long uncertainWrites;

        Register(String path) {
            this.path = path;
        }

        synchronized long next() {
            return ++proposed;
        }

        synchronized void end(boolean isAcknowledged) {
            if (isAcknowledged) {
                lastAcknowledged = proposed;
                acknowledgedWrites++;
            } else {
                uncertainWrites++;
            }
        }

        /** What is wrong with a value and version that were read, or null. */
        synchronized String fault(long found, long version) {
            // Each write adds one to the version: a lost write in the middle shows there.
            boolean enough = found >= lastAcknowledged && version >= acknowledgedWrites;
            boolean invented = found > proposed || version > acknowledgedWrites + uncertainWrites;
            if (enough && !invented) {
                return null;
            }
            return ("%s holds %s at version %s; acknowledged were %s and %s writes, %s more"
                            + " may have been done")
                    .formatted(
                            path,
                            found,
                            version,
                            lastAcknowledged,
                            acknowledgedWrites,
                            uncertainWrites);
        }
    }
}
