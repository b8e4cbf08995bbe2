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
 * that applies it, at each start. No client of ZooKeeper's asks for it.
 */
public final class CreateKind {
    private CreateKind() {}

    /**
     * Refuses the request if its flag is another kind's; to be called before it gets a transaction.
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
