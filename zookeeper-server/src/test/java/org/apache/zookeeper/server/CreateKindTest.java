package org.apache.zookeeper.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.BadArgumentsException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.CreateTTLRequest;
import org.junit.jupiter.api.Test;

class CreateKindTest {
    /** Which flags go with which operation. */
    private static final Map<Integer, Set<Integer>> ALLOWED =
            Map.of(
                    OpCode.create, Set.of(0, 1, 2, 3, 4),
                    OpCode.create2, Set.of(0, 1, 2, 3, 4),
                    OpCode.createContainer, Set.of(4),
                    OpCode.createTTL, Set.of(5, 6));

    private static Record request(int type, int flag) {
        return type == OpCode.createTTL
                ? new CreateTTLRequest("/n", new byte[0], Ids.OPEN_ACL_UNSAFE, flag, 1)
                : new CreateRequest("/n", new byte[0], Ids.OPEN_ACL_UNSAFE, flag);
    }

    @Test
    void onlyFlagsOfItsOwnKindGoWithAnOperation() throws KeeperException {
        for (Map.Entry<Integer, Set<Integer>> each : ALLOWED.entrySet()) {
            Set<Integer> taken = new TreeSet<>();
            for (int flag = -1; flag <= 8; flag++) {
                try {
                    CreateKind.check(each.getKey(), request(each.getKey(), flag));
                    taken.add(flag);
                } catch (BadArgumentsException e) {
                    assertThat(e).hasMessageContaining("flag");
                }
            }
            assertThat(taken)
                    .as(Request.op2String(each.getKey()))
                    .isEqualTo(new TreeSet<>(each.getValue()));
        }
    }

    /** go-zookeeper's {@code Create} with its container flag. */
    @Test
    void aCreateWithTheFlagOfAContainerMakesAPersistentNodeAsZooKeeperDoes() throws Exception {
        for (int type : new int[] {OpCode.create, OpCode.create2}) {
            CreateRequest request = (CreateRequest) request(type, CreateMode.CONTAINER.toFlag());
            CreateKind.check(type, request);
            assertThat(request.getFlags()).isEqualTo(CreateMode.PERSISTENT.toFlag());
        }
        CreateRequest container =
                (CreateRequest) request(OpCode.createContainer, CreateMode.CONTAINER.toFlag());
        CreateKind.check(OpCode.createContainer, container);
        assertThat(container.getFlags()).isEqualTo(CreateMode.CONTAINER.toFlag());
    }
}
