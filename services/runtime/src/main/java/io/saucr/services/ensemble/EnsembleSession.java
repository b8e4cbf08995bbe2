package io.saucr.services.ensemble;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One user of this process's session with the ensemble, which is opened again for as long as it
 * takes, and what the outcome of a request means. All methods but {@link #close} run on the
 * executor given, one at a time.
 */
abstract class EnsembleSession implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EnsembleSession.class);

    /** Between two attempts while the ensemble does not answer. */
    private static final long RETRY_MILLIS = 50;

    private static final Set<Code> UNKNOWN =
            Set.of(
                    Code.CONNECTIONLOSS,
                    Code.OPERATIONTIMEOUT,
                    Code.REQUESTTIMEOUT,
                    Code.SESSIONMOVED,
                    Code.SESSIONEXPIRED);

    protected final ServicePath place;
    private final ScheduledExecutorService executor;
    private Session watcher;

    /** The session joined, by {@link #watcher}; null where there is none. */
    private volatile Joined joined;

    private volatile boolean connected;
    private volatile boolean closed;

    private record Joined(SharedSession session, Watcher by) {

        void leave(List<Op> deleting) {
            session.leave(by, deleting);
        }
    }

    /**
     * Nothing is sent before the first request.
     *
     * @param executor of one thread
     */
    EnsembleSession(ServicePath place, ScheduledExecutorService executor) {
        this.place = place;
        this.executor = executor;
    }

    /** A connection began, perhaps after another. */
    protected abstract void connected(ZooKeeper to);

    /** The session expired; the next request opens another one. */
    protected abstract void expired();

    /** A znode changed that was watched. */
    protected abstract void changed(WatchedEvent event);

    /** The ensemble does not allow what was requested. */
    protected abstract void refused(String reason);

    /** What was done with a session ends with it. */
    protected void ended() {}

    /** Whether there is a connection now, for people. */
    public final boolean isConnected() {
        return connected;
    }

    protected final boolean isClosed() {
        return closed;
    }

    protected final boolean isCurrent(ZooKeeper asked) {
        return asked == client() && !closed;
    }

    protected final boolean hasSession() {
        return joined != null;
    }

    private ZooKeeper client() {
        Joined now = joined;
        return now == null ? null : now.session().client();
    }

    /** Whether the session is the process's; else ephemeral znodes go when this one ends it. */
    protected boolean sharesSession() {
        return true;
    }

    /** What takes this one's ephemeral znodes from a session that others still use. */
    protected List<Op> farewell() {
        return List.of();
    }

    protected final Watcher watcher() {
        return watcher;
    }

    /** Hears what came of a request, and what came with it. */
    interface Answer<T> {
        void came(Code code, T with);
    }

    /** The same of what a znode holds. */
    interface Content {
        void came(Code code, byte[] data, Stat stat);
    }

    private <T> void answer(Answer<T> answer, int code, T with) {
        run(() -> answer.came(Code.get(code), with));
    }

    final void multi(ZooKeeper asked, List<Op> ops, Answer<List<OpResult>> answer) {
        asked.multi(ops, (code, path, context, with) -> answer(answer, code, with), null);
    }

    final void exists(ZooKeeper asked, String at, Watcher by, Answer<Stat> answer) {
        asked.exists(at, by, (code, path, context, with) -> answer(answer, code, with), null);
    }

    final void data(ZooKeeper asked, String at, Watcher by, Content answer) {
        asked.getData(
                at,
                by,
                (code, path, context, data, stat) ->
                        run(
                                () ->
                                        answer.came(
                                                Code.get(code),
                                                data == null ? new byte[0] : data,
                                                stat)),
                null);
    }

    final void set(ZooKeeper asked, String at, byte[] data, int version, Answer<Stat> answer) {
        asked.setData(
                at, data, version, (code, path, context, with) -> answer(answer, code, with), null);
    }

    final void create(
            ZooKeeper asked, String at, byte[] data, CreateMode mode, Answer<String> answer) {
        asked.create(
                at,
                data,
                place.acls(),
                mode,
                (code, path, context, with) -> answer(answer, code, with),
                null);
    }

    /** Hears an outcome that nobody knows, or that is about the znode itself; refuses others. */
    protected final void outcome(Code code, Consumer<String> unknown) {
        if (isUnknown(code)) {
            lost();
            unknown.accept(code.name());
        } else if (code == Code.BADVERSION
                || code == Code.NONODE
                || code == Code.NODEEXISTS
                || code == Code.RUNTIMEINCONSISTENCY) {
            unknown.accept(code.name());
        } else {
            refuse(code);
        }
    }

    /** Requests the same again where nobody knows the outcome; refuses others. */
    protected final void failed(Code code, Runnable request) {
        if (isUnknown(code)) {
            lost();
            again(request);
        } else {
            refuse(code);
        }
    }

    protected static boolean isUnknown(Code code) {
        return UNKNOWN.contains(code);
    }

    private void refuse(Code code) {
        refused(
                place.connect()
                        + " refused: "
                        + KeeperException.create(code, place.path()).getMessage());
    }

    protected final void again(Runnable request) {
        again(request, RETRY_MILLIS);
    }

    protected final void again(Runnable request, long millis) {
        if (!closed) {
            try {
                var unused = executor.schedule(request, millis, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                LOG.debug("{}: closed", place.path());
            }
        }
    }

    /** A request was not answered: the session is given up where it is of no use any more. */
    protected final void lost() {
        Joined now = joined;
        if (now != null && now.session().isOver()) {
            now.session().end();
            end();
        }
    }

    /** The client, where a session can be opened; null where that is not possible. */
    protected final ZooKeeper session() {
        if (closed) {
            return null;
        }
        if (joined == null) {
            watcher = new Session();
            try {
                SharedSession.Key key =
                        new SharedSession.Key(
                                place.connect(), place.sessionTimeout(), place.credentials());
                SharedSession session =
                        sharesSession()
                                ? SharedSession.join(key, watcher)
                                : SharedSession.alone(key, watcher);
                joined = new Joined(session, watcher);
            } catch (IOException e) {
                LOG.warn("no client for {}: {}; trying again", place.connect(), e.getMessage());
                return null;
            }
        }
        return client();
    }

    /** Leaves the session; the next request joins another one, or the same. */
    protected final void end() {
        Joined last = joined;
        joined = null;
        watcher = null;
        connected = false;
        ended();
        if (last != null) {
            // The end of a session waits for the servers.
            Thread closing = new Thread(() -> last.leave(List.of()), "session of " + place.path());
            closing.setDaemon(true);
            closing.start();
        }
    }

    protected final void run(Runnable answer) {
        if (closed) {
            return;
        }
        try {
            executor.execute(answer);
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: closed", place.path());
        }
    }

    /** Leaves the session, so that addresses go at once; the head stays. Any thread. */
    @Override
    public final void close() {
        closed = true;
        Joined last = joined;
        if (last != null) {
            last.leave(farewell());
        }
    }

    private void happened(Session by, WatchedEvent event) {
        if (by != watcher || closed) {
            return;
        }
        if (event.getType() != Watcher.Event.EventType.None) {
            changed(event);
            return;
        }
        switch (event.getState()) {
            case SyncConnected -> {
                boolean anew = !connected;
                connected = true;
                if (anew) {
                    connected(client());
                }
            }
            case Expired -> {
                end();
                expired();
            }
            case AuthFailed -> refused(place.connect() + " refused the credentials");
            default -> connected = false;
        }
    }

    /** Watches one session; called by ZooKeeper's event thread. */
    private final class Session implements Watcher {
        @Override
        public void process(WatchedEvent event) {
            run(() -> happened(this, event));
        }
    }
}
