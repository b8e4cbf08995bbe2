package io.saucr.services.tests.once;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;

/** One operation of the workload, the same for every client that is tried. Immutable. */
public sealed interface Step {
    record Create(String path, String data) implements Step {
        @Override
        public Op op() {
            return Op.create(path, bytes(data), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
    }

    /**
     * @param prefix what the server appends its number to
     */
    record CreateSequential(String prefix, String data) implements Step {
        @Override
        public Op op() {
            return Op.create(
                    prefix,
                    bytes(data),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT_SEQUENTIAL);
        }
    }

    /**
     * @param version -1 for any
     */
    record SetData(String path, String data, int version) implements Step {
        @Override
        public Op op() {
            return Op.setData(path, bytes(data), version);
        }
    }

    record Delete(String path, int version) implements Step {
        @Override
        public Op op() {
            return Op.delete(path, version);
        }
    }

    /** Only as a part of a multi. */
    record Check(String path, int version) implements Step {
        @Override
        public Op op() {
            return Op.check(path, version);
        }
    }

    record Multi(List<Step> parts) implements Step {
        public Multi {
            parts = List.copyOf(parts);
        }

        @Override
        public Op op() {
            throw new IllegalStateException("a multi is several: " + this);
        }

        @Override
        public List<Op> ops() {
            return parts.stream().map(Step::op).toList();
        }
    }

    /** As a part of one of ZooKeeper's multis. */
    Op op();

    default List<Op> ops() {
        return List.of(op());
    }

    static byte[] bytes(String data) {
        return data.getBytes(StandardCharsets.UTF_8);
    }
}
