package io.saucr.services.once;

import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.OpResult;

/**
 * What became of an operation, once and for all. Immutable.
 *
 * @param number of the operation; the operations of a client are in their order
 * @param refusal why it did not happen and never will; empty where it happened
 * @param created full path of the child of a sequential create; empty where there is none, or its
 *     name is not known any more: then it was gone before it could be looked for (E6)
 * @param results of its parts, in their order; empty where only the marker says that it happened:
 *     then there is no Stat (E10)
 */
public record Outcome(
        long number,
        Optional<KeeperException.Code> refusal,
        Optional<String> created,
        List<OpResult> results) {

    public Outcome {
        results = List.copyOf(results);
    }

    /** Whether it happened. */
    public boolean happened() {
        return refusal.isEmpty();
    }
}
