package io.saucr.services.speculative;

import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.ensemble.GroupNode;
import io.saucr.services.ensemble.HeadNode;
import io.saucr.services.ensemble.ServicePath;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a member asks of the znode that is its group's head, one request at a time (D8). A write of
 * which the outcome is unknown is read back (C13). The group's thread.
 */
final class HeadRequests implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HeadRequests.class);

    /** Who asks; the group's thread. */
    interface Owner {

        /** Runs what is heard, unless the member is over. */
        void guarded(Runnable what);

        /** Whether the member ends: nothing is asked any more. */
        boolean isOver();

        /** Whether this process still coordinates by that. */
        boolean isCurrent(Coordination by);

        /** The head was read; empty where there is none. */
        void read(Optional<GroupHead> found, int version);

        /** A head was written that makes this member the coordinator: the first one, or a claim. */
        void claimed(GroupHead mine, int version);

        /** A head was written that the current coordination asked for. */
        void decided(GroupHead next, int version);

        /** The head cannot be used; says why. */
        void refused(String reason);
    }

    private sealed interface Request {

        record Read() implements Request {}

        /** Of the coordinator, after an unknown outcome. */
        record ReadBack(Coordination by) implements Request {}

        record Create(GroupHead head) implements Request {}

        record Claim(GroupHead head, int version) implements Request {}

        /** Of the coordinator. */
        record Decide(Coordination by, GroupHead head, int version) implements Request {}
    }

    private final ServicePath place;
    private final String name;
    private final Owner owner;
    private final GroupNode node;
    private final ArrayDeque<Request> waiting = new ArrayDeque<>();
    private Request pending;

    /**
     * Asks nothing yet.
     *
     * @param place of the group in the ensemble
     * @param name of the member
     * @param thread the group's
     */
    HeadRequests(ServicePath place, String name, ScheduledExecutorService thread, Owner owner) {
        this.place = place;
        this.name = name;
        this.owner = owner;
        node = new GroupNode(place, thread, new Node());
    }

    /** Notes where the member runs, for people. */
    void appear(String at) {
        node.appear(name, at);
    }

    /** Reads the head, and watches it. */
    void read() {
        request(new Request.Read());
    }

    /** Reads the head for a coordinator that does not know the outcome of its write. */
    void readBack(Coordination by) {
        request(new Request.ReadBack(by));
    }

    /** Makes the first head. */
    void create(GroupHead first) {
        request(new Request.Create(first));
    }

    /** Writes a head that this member coordinates, on a version of the znode. */
    void claim(GroupHead mine, int version) {
        request(new Request.Claim(mine, version));
    }

    /** Whether a claim is under way. */
    boolean isClaiming() {
        return pending instanceof Request.Claim
                || waiting.stream().anyMatch(Request.Claim.class::isInstance);
    }

    /** Writes a head for a coordinator; nothing, once that is another one. */
    void decide(Coordination by, GroupHead next, int version) {
        request(new Request.Decide(by, next, version));
    }

    private void request(Request next) {
        waiting.add(next);
        requestNext();
    }

    private void requestNext() {
        while (pending == null && !waiting.isEmpty() && !owner.isOver()) {
            Request next = waiting.remove();
            if (next instanceof Request.Decide of && !owner.isCurrent(of.by())) {
                continue;
            }
            pending = next;
            if (next instanceof Request.Create it) {
                node.create(it.head());
            } else if (next instanceof Request.Claim it) {
                node.write(it.head(), it.version(), false);
            } else if (next instanceof Request.Decide it) {
                node.write(it.head(), it.version(), false);
            } else {
                node.read();
            }
        }
    }

    private Request done() {
        Request was = pending;
        pending = null;
        return was;
    }

    /** Hears the node. */
    private final class Node implements HeadNode.Listener<GroupHead> {

        @Override
        public void read(Optional<GroupHead> found, int version) {
            owner.guarded(
                    () -> {
                        Request was = done();
                        if (was instanceof Request.ReadBack it && owner.isCurrent(it.by())) {
                            it.by().seen(found, version);
                        }
                        owner.read(found, version);
                        requestNext();
                    });
        }

        @Override
        public void wrote(int version) {
            owner.guarded(
                    () -> {
                        Request was = done();
                        if (was instanceof Request.Create it) {
                            owner.claimed(it.head(), version);
                        } else if (was instanceof Request.Claim it) {
                            owner.claimed(it.head(), version);
                        } else if (was instanceof Request.Decide it && owner.isCurrent(it.by())) {
                            owner.decided(it.head(), version);
                        }
                        requestNext();
                    });
        }

        @Override
        public void unknown(String why) {
            owner.guarded(
                    () -> {
                        Request was = done();
                        LOG.debug("{}: {} of the group {}: {}", name, was, place.path(), why);
                        if (was instanceof Request.Decide it && owner.isCurrent(it.by())) {
                            it.by().unknown();
                        } else {
                            HeadRequests.this.read();
                        }
                        requestNext();
                    });
        }

        @Override
        public void refused(String reason) {
            owner.guarded(() -> owner.refused(reason));
        }

        @Override
        public void changed() {
            owner.guarded(
                    () -> {
                        if (waiting.stream().noneMatch(Request.Read.class::isInstance)) {
                            HeadRequests.this.read();
                        }
                    });
        }
    }

    @Override
    public void close() {
        node.close();
    }
}
