package org.apache.zookeeper.server;

import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.BadArgumentsException;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.CreateTTLRequest;

/**
 * A request that creates a node says twice what kind of node: by its type and by a flag. ZooKeeper
 * computes the digest of the tree after the flag and makes the node after the type. Where the two
 * differ the tree has another digest than the log says; and a TTL that is none ends every server
 * that applies it, at each start. One such request is in use: go-zookeeper creates with the flag of
 * a container, and gets a persistent node.
 */
public final class CreateKind {
    private CreateKind() {}

    /**
     * Refuses the request if its flag is another kind's, or corrects the flag where a client relies
     * on what ZooKeeper makes of it; to be called before the request gets a transaction.
     *
     * @param type of the operation, which may be a part of a multi
     */
    public static void check(int type, Record request) throws KeeperException {
        boolean asksForTtl = type == OpCode.createTTL;
        boolean asksForContainer = type == OpCode.createContainer;
        int flag =
                asksForTtl
                        ? ((CreateTTLRequest) request).getFlags()
                        : ((CreateRequest) request).getFlags();
        CreateMode mode = CreateMode.fromFlag(flag);
        if (mode.isContainer() && (type == OpCode.create || type == OpCode.create2)) {
            ((CreateRequest) request).setFlags(CreateMode.PERSISTENT.toFlag());
            return;
        }
        if (mode.isTTL() != asksForTtl || mode.isContainer() != asksForContainer) {
            String path =
                    asksForTtl
                            ? ((CreateTTLRequest) request).getPath()
                            : ((CreateRequest) request).getPath();
            throw new BadArgumentsException(
                    "%s: the flag %s (%s) does not go with the operation %s"
                            .formatted(path, flag, mode, Request.op2String(type)));
        }
    }
}
