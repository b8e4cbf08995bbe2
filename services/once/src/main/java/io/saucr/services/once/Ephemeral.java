package io.saucr.services.once;

import java.util.Arrays;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;

/** What a declared ephemeral is to be (E7). It is checked when it is made. Immutable. */
final class Ephemeral {

    private final Op create;
    private final byte[] encoded;

    private Ephemeral(Op create, byte[] encoded) {
        this.create = create;
        this.encoded = encoded;
    }

    /**
     * An ephemeral.
     *
     * @throws IllegalArgumentException where the path is none, or data or ACLs are missing
     */
    static Ephemeral of(String path, byte[] data, List<ACL> acls) {
        PathUtils.validatePath(path);
        if (path.equals("/")) {
            throw new IllegalArgumentException("/ is there already, and is no ephemeral");
        }
        if (acls.isEmpty()) {
            throw new IllegalArgumentException(path + ": one ACL or more");
        }
        return decode(
                Operation.encode(
                        List.of(
                                Op.create(
                                        path,
                                        Operation.present(data, path),
                                        acls,
                                        CreateMode.EPHEMERAL))));
    }

    /** As the journal keeps it. */
    static Ephemeral decode(byte[] encoded) {
        return new Ephemeral(Operation.decodeParts(encoded).get(0), encoded);
    }

    byte[] encoded() {
        return encoded;
    }

    String path() {
        return create.getPath();
    }

    /** The part of a multi that makes it. */
    Op create() {
        return create;
    }

    /** About how much it takes in a request. */
    int bytes() {
        return encoded.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ephemeral that && Arrays.equals(encoded, that.encoded);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(encoded);
    }

    @Override
    public String toString() {
        return "ephemeral " + path();
    }
}
