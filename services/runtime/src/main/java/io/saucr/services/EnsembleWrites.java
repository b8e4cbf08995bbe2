package io.saucr.services;

import io.saucr.services.once.Operation;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.zookeeper.Op;

/**
 * Writes of a turn to the service's ensemble: each happens exactly once, after the turn is final,
 * in the order of the turns and within one in the order of the calls; none where the turn is undone
 * (E1 to E6, K17). What becomes of one that the ensemble refuses, or of each where the service
 * wants to know, is told as a message, {@link EnsembleOutcome}. Paths are absolute. Of use within
 * the turn alone.
 *
 * <p>All methods throw {@link IllegalArgumentException} where the write is not one, such as a path
 * without a slash, or too large for a request.
 */
public interface EnsembleWrites {

    /** Does one, or several together as a multi. */
    void perform(Operation operation);

    /** Creates a persistent node. */
    default void create(String path, byte[] data) {
        perform(Operation.create(path, data));
    }

    /** Creates a persistent node whose name ends with a number of the ensemble's. */
    default void createSequential(String path, byte[] data) {
        perform(Operation.createSequential(path, data));
    }

    /**
     * Sets a node's data.
     *
     * @param version that it must have, or -1 for any
     */
    default void setData(String path, byte[] data, int version) {
        perform(Operation.setData(path, data, version));
    }

    /** Sets a node's data to this text, in UTF-8, whatever its version. */
    default void setData(String path, String text) {
        setData(path, text.getBytes(StandardCharsets.UTF_8), -1);
    }

    /**
     * Deletes a node.
     *
     * @param version that it must have, or -1 for any
     */
    default void delete(String path, int version) {
        perform(Operation.delete(path, version));
    }

    /** All or none. */
    default void multi(List<Op> operations) {
        perform(Operation.multi(operations));
    }
}
