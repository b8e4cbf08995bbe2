package io.saucr.services.ensemble;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.core.head.Head;
import io.saucr.services.core.standby.StandbyHead;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/**
 * What one member of a service with standbys asks of the ensemble: the head, who holds it, and in
 * addition to those of {@link HeadNode}
 *
 * <pre>
 * challenge   persistent: who doubts that the primary lives; written by standbys, watched by the primary
 * members/ID  ephemeral, host:port where that member's process is reached by others
 * </pre>
 */
public final class StandbyNode extends HeadNode<StandbyHead> {

    private static final HeadText<StandbyHead> TEXT =
            new HeadText<>(StandbyHead::encode, StandbyHead::decode);

    /** Hears what became of requests; must stop where it is refused. */
    public interface Listener extends HeadNode.Listener<StandbyHead> {

        /** The challenge was written. */
        void challengeWritten();

        /**
         * Somebody wrote a challenge, or a new connection began: what was written meanwhile, and by
         * whom, is not known.
         */
        void challenged();
    }

    private final String member;
    private final String memberAddress;
    private final Listener listener;
    private boolean watching;

    /** The transaction that wrote the newest challenge that the listener was told of. */
    private long challenge = WatchedEvent.NO_ZXID;

    /**
     * One member's; nothing is sent before the first request.
     *
     * @param place where; its address does not count here
     * @param member 16 hex digits
     * @param memberAddress where this process is reached by other members
     * @param executor of one thread
     */
    public StandbyNode(
            ServicePath place,
            String member,
            String memberAddress,
            ScheduledExecutorService executor,
            Listener listener) {
        this(place, member, memberAddress, executor, listener, MOST_VERSION);
    }

    /** The same with another version at which the head continues under a new name. */
    StandbyNode(
            ServicePath place,
            String member,
            String memberAddress,
            ScheduledExecutorService executor,
            Listener listener,
            int mostVersion) {
        super(place, TEXT, executor, listener, Optional.empty(), mostVersion);
        this.member = member;
        this.memberAddress = memberAddress;
        this.listener = listener;
    }

    @Override
    protected boolean watchesHead() {
        return false;
    }

    /**
     * The address of a member that is no longer primary goes at once, whatever the head says by
     * then.
     */
    @Override
    protected boolean sharesSession() {
        return false;
    }

    @Override
    protected String unreadable(byte[] data, Head.UnreadableHeadException e) {
        try {
            Head other = Head.decode(data);
            return "the service at "
                    + place.path()
                    + " runs with Protection.local(): its head is held by generation "
                    + other.holder().birth()
                    + ". Choose another name for one with standbys";
        } catch (Head.UnreadableHeadException none) {
            return super.unreadable(data, e);
        }
    }

    @Override
    protected void connected(ZooKeeper to) {
        announce(to);
        if (watching) {
            watch(to, watcher());
            listener.challenged();
        }
    }

    @Override
    protected void expired() {
        if (watching) {
            ZooKeeper unused = session();
        }
    }

    @Override
    protected void changed(WatchedEvent event) {
        if (watching) {
            watch(session(), watcher());
            challenge = event.getZxid();
            listener.challenged();
        }
    }

    /**
     * Asks the primary to show its head.
     *
     * @param who asks, for people
     */
    public void challenge(String who) {
        byte[] content = who.getBytes(UTF_8);
        ask(
                asked ->
                        set(
                                asked,
                                path("challenge"),
                                content,
                                -1,
                                (code, stat) -> {
                                    if (code == Code.NONODE) {
                                        createChallenge(asked, content);
                                    } else {
                                        ifOk(code, listener::challengeWritten);
                                    }
                                }));
    }

    private void createChallenge(ZooKeeper asked, byte[] content) {
        create(
                asked,
                path("challenge"),
                content,
                CreateMode.PERSISTENT,
                (code, made) -> ifOk(code, Code.NODEEXISTS, listener::challengeWritten));
    }

    /** From now on challenges are told, until {@link #leave}. */
    public void watch() {
        watching = true;
        ZooKeeper asked = session();
        if (asked != null && isConnected()) {
            watch(asked, watcher());
        }
    }

    private void watch(ZooKeeper asked, Watcher by) {
        exists(
                asked,
                path("challenge"),
                by,
                (code, stat) -> {
                    if (isUnknown(code)) {
                        lost();
                    } else if (code == Code.OK) {
                        sawChallenge(stat.getMzxid());
                    }
                });
    }

    /** A challenge that was written before the watch was set fires no watch. */
    private void sawChallenge(long zxid) {
        if (watching && zxid != challenge) {
            challenge = zxid;
            listener.challenged();
        }
    }

    /** Out of office: the address that clients know goes, where it is this member's. */
    public void leave() {
        watching = false;
        if (isPublished() && hasSession()) {
            // In its own session only: a successor has replaced it where that took over.
            end();
        }
        ended();
    }

    /** A member is there: for people, and for others that lack a segment. */
    private void announce(ZooKeeper asked) {
        String mine = path("members") + "/" + member;
        create(
                asked,
                mine,
                memberAddress.getBytes(UTF_8),
                CreateMode.EPHEMERAL,
                (code, made) -> {
                    if (code == Code.NONODE) {
                        announceFirst(asked);
                    } else if (code == Code.NODEEXISTS) {
                        // Of an earlier process of this member, whose session is not over yet.
                        asked.delete(
                                mine,
                                -1,
                                (result, path, context) -> run(() -> announceIn(asked)),
                                null);
                    }
                });
    }

    private void announceFirst(ZooKeeper asked) {
        create(
                asked,
                path("members"),
                new byte[0],
                CreateMode.PERSISTENT,
                (code, made) -> {
                    if (code == Code.OK || code == Code.NODEEXISTS) {
                        announce(asked);
                    } else if (code == Code.NONODE) {
                        // The service has no head yet.
                        again(() -> announceIn(asked));
                    }
                });
    }

    private void announceIn(ZooKeeper asked) {
        if (isCurrent(asked)) {
            announce(asked);
        }
    }
}
