package io.saucr.services.ensemble;

import io.saucr.services.core.speculation.GroupHead;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The head of a group of services in the ensemble: a persistent znode {@code head} below the
 * group's path, of one line, that is changed by conditional writes alone (D8).
 */
public final class GroupNode extends HeadNode<GroupHead> {

    private static final HeadText<GroupHead> TEXT =
            new HeadText<>(GroupHead::encode, GroupHead::decode);

    /**
     * Nothing is sent before the first request.
     *
     * @param place where the group is; its address does not count here
     * @param executor of one thread
     */
    public GroupNode(
            ServicePath place,
            ScheduledExecutorService executor,
            HeadNode.Listener<GroupHead> listener) {
        super(place, TEXT, executor, listener, Optional.empty(), MOST_VERSION);
    }
}
