package org.apache.zookeeper.server;

import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.StatPersisted;
import org.apache.zookeeper.server.util.AdHash;

/**
 * The digest of a tree whose nodes come one by one, the same as a server keeps of its own. It
 * stands in ZooKeeper's package because the digest of a node does. Used by one thread.
 */
public final class SnapshotDigest {
    private final DigestCalculator calculator = new DigestCalculator();
    private final AdHash sum = new AdHash();

    /** Which way of calculating; digests of another one cannot be compared. */
    public int version() {
        return calculator.getDigestVersion();
    }

    /** Takes a node in. As in a server, what is below {@code /zookeeper} does not count. */
    public void add(String path, byte[] data, StatPersisted stat) {
        if (!path.startsWith(ZooDefs.ZOOKEEPER_NODE_SUBTREE)) {
            sum.addDigest(calculator.calculateDigest(path, data, stat));
        }
    }

    /** Of all nodes so far. */
    public long value() {
        return sum.getHash();
    }
}
