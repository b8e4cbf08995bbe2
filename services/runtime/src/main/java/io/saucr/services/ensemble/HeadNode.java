package io.saucr.services.ensemble;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.core.head.Head;
import io.saucr.services.core.standby.StandbyHead;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one member of a service with standbys asks of the ensemble. Below the service's path:
 *
 * <pre>
 * head        persistent, one line: who is in office, and the newest segment; changed by conditional writes alone (C5)
 * head.N      the same, once head was written a billion times; head names it then
 * challenge   persistent: who doubts that the primary lives; written by standbys, watched by the primary
 * at          ephemeral, host:port of the primary; written together with the head, so only by who holds it
 * members/ID  ephemeral, host:port where that member's process is reached by others
 * </pre>
 *
 * <p>Each request is answered by one call of the {@link Listener}, but a check. All methods but
 * {@link #close}, and all calls of the listener, run on the executor given, one at a time.
 */
public final class HeadNode implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HeadNode.class);

    /**
     * A znode's version has 32 bits, and wraps after three weeks at full rate. Long before, the
     * head goes on under a new name, so that no version ever comes again (C5).
     */
    private static final int MOST_VERSION = 1 << 30;

    /** What the znode {@code head} says where the head has gone on under another name. */
    private static final Pattern MOVED =
            Pattern.compile("saucr-standby-head-at 1 (head\\.[0-9]{1,9})\n");

    /** Between two tries while the ensemble does not answer. */
    private static final long RETRY_MILLIS = 50;

    private static final Set<KeeperException.Code> UNKNOWN =
            Set.of(
                    KeeperException.Code.CONNECTIONLOSS,
                    KeeperException.Code.OPERATIONTIMEOUT,
                    KeeperException.Code.REQUESTTIMEOUT,
                    KeeperException.Code.SESSIONMOVED,
                    KeeperException.Code.SESSIONEXPIRED);

    /** Hears what became of requests. */
    public interface Listener {

        /** The head was read; empty where there is none. */
        void read(Optional<StandbyHead> head, int version);

        /** The head was written, or made, and has this version now. */
        void wrote(int version);

        /** A write, creation or challenge was refused, or nobody knows what came of it (C13). */
        void unknown(String why);

        /** The challenge was written. */
        void challengeWritten();

        /**
         * Somebody wrote a challenge, or a new connection began: what was written meanwhile, and by
         * whom, is not known.
         */
        void challenged();

        /** The member must stop: what it may not do, or a head that nobody can read. */
        void refused(String reason);
    }

    private final Office.Place place;
    private final int mostVersion;
    private final String member;
    private final String memberAddress;
    private final ScheduledExecutorService executor;
    private final Listener listener;
    private ZooKeeper session;

    /** The name of the znode that holds the head, as it was read last. */
    private String current = "head";

    private Session watcher;
    private Optional<String> address = Optional.empty();
    private volatile boolean connected;
    private boolean published;
    private boolean watching;

    /** The transaction that wrote the newest challenge that the listener was told of. */
    private long challenge = WatchedEvent.NO_ZXID;

    private long answered = System.nanoTime();
    private volatile boolean closed;

    /**
     * One member's; nothing is sent before the first request.
     *
     * @param place where; its address does not count here
     * @param member 16 hex digits
     * @param memberAddress where this process is reached by other members
     * @param executor of one thread
     */
    public HeadNode(
            Office.Place place,
            String member,
            String memberAddress,
            ScheduledExecutorService executor,
            Listener listener) {
        this(place, member, memberAddress, executor, listener, MOST_VERSION);
    }

    /** The same with another version at which the head goes on under a new name. */
    HeadNode(
            Office.Place place,
            String member,
            String memberAddress,
            ScheduledExecutorService executor,
            Listener listener,
            int mostVersion) {
        this.mostVersion = mostVersion;
        this.place = place;
        this.member = member;
        this.memberAddress = memberAddress;
        this.executor = executor;
        this.listener = listener;
    }

    /** Clients are told this address with the next write that is to publish it. */
    public void address(String now) {
        published &= address.equals(Optional.of(now));
        address = Optional.of(now);
    }

    private String path(String name) {
        return place.path() + "/" + name;
    }

    /** Reads the head as it is after all that was written before; tries until it is answered. */
    public void read() {
        if (closed) {
            return;
        }
        ZooKeeper asked = session();
        if (asked == null) {
            again(this::read);
            return;
        }
        // A sync may be answered by a leader that was deposed without knowing it yet; a multi is
        // agreed on.
        asked.multi(
                List.of(Op.check("/", -1)),
                (code, path, context, results) -> run(() -> isCurrent(asked, code)),
                null);
    }

    private void isCurrent(ZooKeeper asked, int code) {
        KeeperException.Code came = KeeperException.Code.get(code);
        if (came != KeeperException.Code.OK && came != KeeperException.Code.NOAUTH) {
            failed(came, this::read);
            return;
        }
        readFrom(asked, "head");
    }

    private void readFrom(ZooKeeper asked, String name) {
        asked.getData(
                path(name),
                false,
                (result, path, context, data, stat) ->
                        run(
                                () ->
                                        gotHead(
                                                asked,
                                                name,
                                                KeeperException.Code.get(result),
                                                data,
                                                stat)),
                null);
    }

    private void gotHead(
            ZooKeeper asked, String name, KeeperException.Code code, byte[] data, Stat stat) {
        Optional<String> moved = movedTo(data);
        if (code == KeeperException.Code.OK && name.equals("head") && moved.isPresent()) {
            readFrom(asked, moved.get());
        } else if (code == KeeperException.Code.NONODE && !name.equals("head")) {
            // It has moved on meanwhile.
            again(this::read);
        } else if (code == KeeperException.Code.NONODE) {
            answered();
            listener.read(Optional.empty(), 0);
        } else if (code != KeeperException.Code.OK) {
            failed(code, this::read);
        } else {
            answered();
            StandbyHead head;
            try {
                head = StandbyHead.decode(data);
            } catch (Head.UnreadableHeadException e) {
                listener.refused(unreadable(data, e));
                return;
            }
            current = name;
            listener.read(Optional.of(head), stat.getVersion());
        }
    }

    /** Under which name the head has gone on, where that is what the znode head says. */
    static Optional<String> movedTo(byte[] content) {
        Matcher moved = MOVED.matcher(content == null ? "" : new String(content, UTF_8));
        return moved.matches() ? Optional.of(moved.group(1)) : Optional.empty();
    }

    private String unreadable(byte[] data, Head.UnreadableHeadException e) {
        try {
            Head other = Head.decode(data);
            return "the service at "
                    + place.path()
                    + " runs with Protection.local(): its head is held by generation "
                    + other.holder().birth()
                    + ". Choose another name for one with standbys";
        } catch (Head.UnreadableHeadException none) {
            return "the head of "
                    + place.path()
                    + " can't be read: "
                    + e.getMessage()
                    + ". Nothing was changed";
        }
    }

    /** Makes the first head, and what is missing above it. */
    public void create(StandbyHead head) {
        ZooKeeper asked = session();
        if (asked == null) {
            listener.unknown("no session");
            return;
        }
        createFrom(asked, 1, head);
    }

    /** Parents one after the other, as they are few and made once. */
    private void createFrom(ZooKeeper asked, int from, StandbyHead head) {
        int slash = path("head").indexOf('/', from);
        boolean last = slash < 0;
        String path = last ? path("head") : path("head").substring(0, slash);
        asked.create(
                path,
                last ? head.encode() : new byte[0],
                place.acls(),
                CreateMode.PERSISTENT,
                (code, made, context, name) ->
                        run(
                                () -> {
                                    KeeperException.Code came = KeeperException.Code.get(code);
                                    boolean there = came == KeeperException.Code.NODEEXISTS;
                                    if (!last && (there || came == KeeperException.Code.OK)) {
                                        createFrom(asked, slash + 1, head);
                                    } else if (came == KeeperException.Code.OK) {
                                        answered();
                                        current = "head";
                                        listener.wrote(0);
                                    } else if (there) {
                                        answered();
                                        listener.unknown("the head was made by another");
                                    } else {
                                        outcome(came);
                                    }
                                }),
                null);
    }

    /**
     * Sets the head on a version.
     *
     * @param publishing whether clients are to be told this member's address with it, where this
     *     session has not done so
     */
    public void write(StandbyHead head, int version, boolean publishing) {
        ZooKeeper asked = session();
        if (asked == null) {
            listener.unknown("no session");
        } else if (version >= mostVersion) {
            moveOn(asked, head, version);
        } else if (publishing && !published && address.isPresent()) {
            asked.exists(
                    path("at"),
                    false,
                    (code, path, context, stat) ->
                            run(() -> publish(asked, head, version, code, stat)),
                    null);
        } else {
            asked.setData(
                    path(current),
                    head.encode(),
                    version,
                    (code, path, context, stat) ->
                            run(() -> wrote(KeeperException.Code.get(code), stat)),
                    null);
        }
    }

    private void publish(ZooKeeper asked, StandbyHead head, int version, int code, Stat stat) {
        KeeperException.Code came = KeeperException.Code.get(code);
        if (came != KeeperException.Code.OK && came != KeeperException.Code.NONODE) {
            outcome(came);
            return;
        }
        String told = address.orElseThrow();
        List<Op> ops = new ArrayList<>();
        ops.add(Op.setData(path(current), head.encode(), version));
        if (stat != null) {
            ops.add(Op.delete(path("at"), -1));
        }
        ops.add(Op.create(path("at"), told.getBytes(UTF_8), place.acls(), CreateMode.EPHEMERAL));
        asked.multi(
                ops,
                (result, path, context, results) ->
                        run(
                                () -> {
                                    KeeperException.Code done = KeeperException.Code.get(result);
                                    boolean ok = done == KeeperException.Code.OK;
                                    // Another one may be there meanwhile, for the next write.
                                    published = ok && address.equals(Optional.of(told));
                                    wrote(
                                            done,
                                            ok
                                                    ? ((OpResult.SetDataResult) results.get(0))
                                                            .getStat()
                                                    : null);
                                }),
                null);
    }

    /** The head is written under a new name, with the first version. */
    private void moveOn(ZooKeeper asked, StandbyHead head, int version) {
        boolean first = current.equals("head");
        String next =
                "head."
                        + (first
                                ? 1
                                : Integer.parseInt(current.substring(current.indexOf('.') + 1))
                                        + 1);
        byte[] moved = ("saucr-standby-head-at 1 " + next + "\n").getBytes(UTF_8);
        List<Op> ops = new ArrayList<>();
        // Whoever does not hold this version moves nothing.
        ops.add(Op.setData(path("head"), moved, first ? version : -1));
        if (!first) {
            ops.add(Op.delete(path(current), version));
        }
        ops.add(Op.create(path(next), head.encode(), place.acls(), CreateMode.PERSISTENT));
        asked.multi(
                ops,
                (result, path, context, results) ->
                        run(
                                () -> {
                                    KeeperException.Code came = KeeperException.Code.get(result);
                                    if (came == KeeperException.Code.OK) {
                                        answered();
                                        current = next;
                                        listener.wrote(0);
                                    } else {
                                        outcome(came);
                                    }
                                }),
                null);
    }

    private void wrote(KeeperException.Code code, Stat stat) {
        if (code == KeeperException.Code.OK) {
            answered();
            listener.wrote(stat.getVersion());
        } else {
            outcome(code);
        }
    }

    /**
     * Asks whether the head has a version still, as a write would (C8).
     *
     * @param answer hears it, instead of the listener: false where not, or where nobody knows. It
     *     is of whoever asked, as one who comes later may ask the same
     */
    public void check(int version, Consumer<Boolean> answer) {
        ZooKeeper asked = session();
        if (asked == null) {
            answer.accept(false);
            return;
        }
        asked.multi(
                List.of(Op.check(path(current), version)),
                (code, path, context, results) ->
                        run(
                                () -> {
                                    if (code == KeeperException.Code.OK.intValue()) {
                                        answered();
                                        answer.accept(true);
                                    } else {
                                        outcome(
                                                KeeperException.Code.get(code),
                                                why -> answer.accept(false));
                                    }
                                }),
                null);
    }

    /**
     * Asks the primary to show its head.
     *
     * @param who asks, for people
     */
    public void challenge(String who) {
        ZooKeeper asked = session();
        if (asked == null) {
            listener.unknown("no session");
            return;
        }
        asked.setData(
                path("challenge"),
                who.getBytes(UTF_8),
                -1,
                (code, path, context, stat) ->
                        run(
                                () -> {
                                    KeeperException.Code came = KeeperException.Code.get(code);
                                    if (came == KeeperException.Code.OK) {
                                        answered();
                                        listener.challengeWritten();
                                    } else if (came == KeeperException.Code.NONODE) {
                                        createChallenge(asked, who);
                                    } else {
                                        outcome(came);
                                    }
                                }),
                null);
    }

    private void createChallenge(ZooKeeper asked, String who) {
        asked.create(
                path("challenge"),
                who.getBytes(UTF_8),
                place.acls(),
                CreateMode.PERSISTENT,
                (code, path, context, name) ->
                        run(
                                () -> {
                                    KeeperException.Code came = KeeperException.Code.get(code);
                                    if (came == KeeperException.Code.OK
                                            || came == KeeperException.Code.NODEEXISTS) {
                                        answered();
                                        listener.challengeWritten();
                                    } else {
                                        outcome(came);
                                    }
                                }),
                null);
    }

    /** From now on challenges are told, until {@link #leave}. */
    public void watch() {
        watching = true;
        ZooKeeper asked = session();
        if (asked != null && connected) {
            watch(asked, watcher);
        }
    }

    private void watch(ZooKeeper asked, Session by) {
        asked.exists(
                path("challenge"),
                by,
                (code, path, context, stat) ->
                        run(
                                () -> {
                                    KeeperException.Code came = KeeperException.Code.get(code);
                                    if (UNKNOWN.contains(came)) {
                                        lost(came);
                                    } else if (came == KeeperException.Code.OK) {
                                        sawChallenge(stat.getMzxid());
                                    }
                                }),
                null);
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
        if (published && session != null) {
            // In its own session only: a successor has replaced it where that took over.
            end();
        }
        published = false;
    }

    /** Whether there is a connection now, for people. */
    public boolean isConnected() {
        return connected;
    }

    private void outcome(KeeperException.Code code) {
        outcome(code, listener::unknown);
    }

    private void outcome(KeeperException.Code code, Consumer<String> unknown) {
        if (UNKNOWN.contains(code)) {
            lost(code);
            unknown.accept(code.name());
        } else if (code == KeeperException.Code.BADVERSION
                || code == KeeperException.Code.NONODE
                || code == KeeperException.Code.NODEEXISTS
                || code == KeeperException.Code.RUNTIMEINCONSISTENCY) {
            answered();
            unknown.accept(code.name());
        } else {
            refuse(code);
        }
    }

    private void failed(KeeperException.Code code, Runnable request) {
        if (UNKNOWN.contains(code)) {
            lost(code);
            again(request);
        } else {
            refuse(code);
        }
    }

    private void refuse(KeeperException.Code code) {
        listener.refused(place.connect() + " refused: " + code + " at " + place.path());
    }

    private void again(Runnable request) {
        if (!closed) {
            try {
                var unused = executor.schedule(request, RETRY_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                LOG.debug("{}: closed", place.path());
            }
        }
    }

    private void answered() {
        answered = System.nanoTime();
    }

    private void lost(KeeperException.Code code) {
        boolean forLong = System.nanoTime() - answered > place.sessionTimeout().toNanos();
        if (code == KeeperException.Code.SESSIONEXPIRED || forLong) {
            // Servers that were restored from before refuse a session that has seen more than they
            // have, for ever.
            end();
            answered();
        }
    }

    private ZooKeeper session() {
        if (closed) {
            return null;
        }
        if (session == null) {
            Session made = new Session();
            try {
                session =
                        Sessions.open(
                                place.connect(), place.sessionTimeout(), place.credentials(), made);
            } catch (IOException e) {
                LOG.warn("no client for {}: {}; trying again", place.connect(), e.getMessage());
                return null;
            }
            watcher = made;
        }
        return session;
    }

    private void end() {
        ZooKeeper ended = session;
        session = null;
        watcher = null;
        connected = false;
        published = false;
        if (ended != null) {
            Thread closing = new Thread(() -> Sessions.close(ended), "session of " + place.path());
            closing.setDaemon(true);
            closing.start();
        }
    }

    /** A member is there: for people, and for others that lack a segment. */
    private void announce(ZooKeeper asked) {
        String mine = path("members") + "/" + member;
        asked.create(
                mine,
                memberAddress.getBytes(UTF_8),
                place.acls(),
                CreateMode.EPHEMERAL,
                (code, path, context, name) ->
                        run(() -> announced(asked, KeeperException.Code.get(code))),
                null);
    }

    private void announced(ZooKeeper asked, KeeperException.Code code) {
        if (code == KeeperException.Code.NONODE) {
            asked.create(
                    path("members"),
                    new byte[0],
                    place.acls(),
                    CreateMode.PERSISTENT,
                    (result, path, context, name) ->
                            run(
                                    () -> {
                                        KeeperException.Code came =
                                                KeeperException.Code.get(result);
                                        if (came == KeeperException.Code.OK
                                                || came == KeeperException.Code.NODEEXISTS) {
                                            announce(asked);
                                        } else if (came == KeeperException.Code.NONODE) {
                                            // The service has no head yet.
                                            again(() -> announceIn(asked));
                                        }
                                    }),
                    null);
        } else if (code == KeeperException.Code.NODEEXISTS) {
            // Of an earlier process of this member, whose session is not over yet.
            asked.delete(
                    path("members") + "/" + member,
                    -1,
                    (result, path, context) -> run(() -> announceIn(asked)),
                    null);
        }
    }

    private void announceIn(ZooKeeper asked) {
        if (asked == session && !closed) {
            announce(asked);
        }
    }

    private void run(Runnable answer) {
        if (closed) {
            return;
        }
        try {
            executor.execute(answer);
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: closed", place.path());
        }
    }

    /** Ends the session, so that addresses go at once; the head stays. Any thread. */
    @Override
    public void close() {
        closed = true;
        ZooKeeper ended = session;
        if (ended != null) {
            Sessions.close(ended);
        }
    }

    private void happened(Session by, WatchedEvent event) {
        if (by != watcher || closed) {
            return;
        }
        if (event.getType() != Watcher.Event.EventType.None) {
            if (watching) {
                watch(session, by);
                challenge = event.getZxid();
                listener.challenged();
            }
            return;
        }
        switch (event.getState()) {
            case SyncConnected -> {
                boolean anew = !connected;
                connected = true;
                if (anew) {
                    announce(session);
                    if (watching) {
                        watch(session, by);
                        listener.challenged();
                    }
                }
            }
            case Expired -> {
                end();
                if (watching) {
                    ZooKeeper unused = session();
                }
            }
            case AuthFailed -> listener.refused(place.connect() + " refused the credentials");
            default -> connected = false;
        }
    }

    /** Watches one session; called by ZooKeeper's event thread. */
    private final class Session implements Watcher {
        @Override
        public void process(WatchedEvent event) {
            if (!closed) {
                try {
                    executor.execute(() -> happened(this, event));
                } catch (RejectedExecutionException e) {
                    LOG.debug("{}: closed", place.path());
                }
            }
        }
    }
}
