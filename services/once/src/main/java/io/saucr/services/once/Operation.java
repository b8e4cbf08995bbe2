package io.saucr.services.once;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.CreateTTLRequest;

/**
 * One write of an application: a create, a sequential create, setData, delete, or a multi of these
 * and checks. It is checked when it is made: what the ensemble could only refuse for its form never
 * gets a number. Immutable; data and ACLs are copied.
 */
public final class Operation {

    private final List<Op> parts;
    private final String sequentialPath;
    private final byte[] encoded;

    private Operation(List<Op> parts, byte[] encoded) {
        this.parts = parts;
        this.encoded = encoded;
        this.sequentialPath =
                parts.stream()
                        .filter(Operation::isSequential)
                        .map(Op::getPath)
                        .findFirst()
                        .orElse(null);
    }

    /** Creates a persistent node that everybody may do everything with. */
    public static Operation create(String path, byte[] data) {
        return create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    /**
     * Creates a persistent node.
     *
     * @param path absolute, below the client's chroot
     * @param data of the node, may be empty
     * @param acls of the node, at least one
     * @throws IllegalArgumentException where the path is none, or data or ACLs are missing
     */
    public static Operation create(String path, byte[] data, List<ACL> acls) {
        return multi(List.of(Op.create(path, present(data, path), acls, CreateMode.PERSISTENT)));
    }

    /**
     * Creates a persistent node whose name the server ends with a number; everybody may do
     * everything with it.
     */
    public static Operation createSequential(String path, byte[] data) {
        return createSequential(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    /**
     * Creates a persistent node whose name the server ends with a number. Its outcome has the name
     * (E6); operations behind it wait until that is known.
     */
    public static Operation createSequential(String path, byte[] data, List<ACL> acls) {
        return multi(
                List.of(
                        Op.create(
                                path,
                                present(data, path),
                                acls,
                                CreateMode.PERSISTENT_SEQUENTIAL)));
    }

    /**
     * Sets a node's data.
     *
     * @param version that it must have, -1 for any
     */
    public static Operation setData(String path, byte[] data, int version) {
        return multi(List.of(Op.setData(path, present(data, path), version)));
    }

    /**
     * Deletes a node.
     *
     * @param version that it must have, -1 for any
     */
    public static Operation delete(String path, int version) {
        return multi(List.of(Op.delete(path, version)));
    }

    /**
     * Several of ZooKeeper's own operations, all or none.
     *
     * @param operations creates (persistent, at most one of them sequential), setDatas, deletes and
     *     checks, at least one
     * @throws IllegalArgumentException where there is none, or one of another kind: ephemeral nodes
     *     are declared instead (E7)
     */
    public static Operation multi(List<Op> operations) {
        if (operations.isEmpty()) {
            throw new IllegalArgumentException("an operation has one part or more");
        }
        long sequential = 0;
        for (Op part : operations) {
            check(part);
            sequential += isSequential(part) ? 1 : 0;
        }
        if (sequential > 1) {
            throw new IllegalArgumentException(
                    "a multi has at most one sequential create, whose name it tells; this one has "
                            + sequential);
        }
        byte[] encoded = encode(operations);
        return new Operation(decodeParts(encoded), encoded);
    }

    private static void check(Op part) {
        switch (part.getKind()) {
            case TRANSACTION -> {
                if (part instanceof Op.Create create) {
                    checkCreate(create);
                }
            }
            case READ ->
                    throw new IllegalArgumentException(
                            part.getPath()
                                    + ": a read can't be part of an operation; read by the client itself");
        }
        PathUtils.validatePath(part.getPath(), isSequential(part));
    }

    private static void checkCreate(Op.Create create) {
        CreateMode mode = mode(create);
        if (mode != CreateMode.PERSISTENT && mode != CreateMode.PERSISTENT_SEQUENTIAL) {
            throw new IllegalArgumentException(
                    create.getPath()
                            + ": "
                            + mode
                            + " can't be created exactly once; allowed are PERSISTENT and"
                            + " PERSISTENT_SEQUENTIAL, and ephemeral nodes are declared");
        }
        if (create instanceof Op.CreateTTL) {
            throw new IllegalArgumentException(
                    create.getPath() + ": nodes with a time to live are not offered");
        }
    }

    private static CreateMode mode(Op.Create create) {
        try {
            return CreateMode.fromFlag(flags(create));
        } catch (KeeperException e) {
            throw new IllegalArgumentException(create.getPath() + ": unknown mode", e);
        }
    }

    private static int flags(Op.Create create) {
        Record record = create.toRequestRecord();
        if (record instanceof CreateRequest request) {
            return request.getFlags();
        }
        return ((CreateTTLRequest) record).getFlags();
    }

    private static boolean isSequential(Op part) {
        return part instanceof Op.Create create && mode(create).isSequential();
    }

    static byte[] present(byte[] data, String path) {
        if (data == null) {
            throw new IllegalArgumentException(path + ": data may be empty, not null");
        }
        return data;
    }

    static byte[] encode(List<Op> parts) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            new MultiOperationRecord(parts)
                    .serialize(BinaryOutputArchive.getArchive(bytes), "multi");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    static List<Op> decodeParts(byte[] encoded) {
        MultiOperationRecord record = new MultiOperationRecord();
        try {
            record.deserialize(
                    BinaryInputArchive.getArchive(new ByteArrayInputStream(encoded)), "multi");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<Op> parts = new ArrayList<>();
        for (Iterator<Op> each = record.iterator(); each.hasNext(); ) {
            parts.add(each.next());
        }
        return List.copyOf(parts);
    }

    /** As the journal keeps it. */
    public static Operation decode(byte[] encoded) {
        return new Operation(decodeParts(encoded), encoded);
    }

    /** Its bytes, for {@link #decode}; not to be changed. */
    public byte[] encoded() {
        return encoded;
    }

    /** What a multi has, in its order; an operation that is none has one. */
    public List<Op> parts() {
        return parts;
    }

    /** About how much it takes in a request. */
    int bytes() {
        return encoded.length;
    }

    /** The path that the server ends with a number, or null. */
    String sequentialPath() {
        return sequentialPath;
    }

    @Override
    public String toString() {
        List<String> words = new ArrayList<>();
        for (Op part : parts) {
            words.add(part.getClass().getSimpleName() + " " + part.getPath());
        }
        return String.join(", ", words);
    }
}
