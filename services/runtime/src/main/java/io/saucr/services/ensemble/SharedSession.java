package io.saucr.services.ensemble;

import io.saucr.services.Credentials;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/**
 * The session that services and clients of this process share, one for each ensemble, timeout and
 * credentials. It begins with its first user and ends with its last one, or when it expires: each
 * user hears that and joins the next. An ephemeral znode lives as long as the session, so a user
 * that leaves early says what is to be deleted. Any thread.
 */
final class SharedSession implements Watcher {

    /** What a session is shared by. */
    record Key(String connect, Duration timeout, Optional<Credentials> credentials) {}

    /** Those that new users join; guards all fields below, too. */
    private static final Map<Key, SharedSession> OPEN = new HashMap<>();

    private final Key key;
    private final Set<Watcher> users = new LinkedHashSet<>();
    private ZooKeeper client;

    /** Since when there is no connection; 0 while there is one. */
    private long silentSince = System.nanoTime();

    private SharedSession(Key key) {
        this.key = key;
    }

    /**
     * Joins the session, which is opened where there is none. Does not wait.
     *
     * @param user hears of connections and of the end of the session, on threads of others; must
     *     not block
     * @throws IOException where no client can be made
     */
    static SharedSession join(Key key, Watcher user) throws IOException {
        synchronized (OPEN) {
            SharedSession session = OPEN.get(key);
            if (session == null || !session.client.getState().isAlive()) {
                session = new SharedSession(key);
                session.open();
                OPEN.put(key, session);
            }
            session.users.add(user);
            if (session.silentSince == 0) {
                user.process(new WatchedEvent(EventType.None, KeeperState.SyncConnected, null));
            }
            return session;
        }
    }

    /** A session for one user alone, whose ephemeral znodes go with it. */
    static SharedSession alone(Key key, Watcher user) throws IOException {
        SharedSession session = new SharedSession(key);
        synchronized (OPEN) {
            session.users.add(user);
            session.open();
        }
        return session;
    }

    /** Holds the lock. */
    private void open() throws IOException {
        client = Sessions.open(key.connect(), key.timeout(), key.credentials(), this);
    }

    ZooKeeper client() {
        synchronized (OPEN) {
            return client;
        }
    }

    /**
     * Whether it has expired, or had no connection for longer than the timeout. Servers that were
     * restored from before refuse a session that has seen more than they have, for ever.
     */
    boolean isOver() {
        synchronized (OPEN) {
            return !client.getState().isAlive()
                    || (silentSince != 0
                            && System.nanoTime() - silentSince > key.timeout().toNanos());
        }
    }

    /**
     * Leaves. Waits for the end of the session where this was its last user.
     *
     * @param deleting what its ephemeral znodes need to go, all or nothing, where the session stays
     */
    void leave(Watcher user, List<Op> deleting) {
        boolean last;
        synchronized (OPEN) {
            last = users.remove(user) && users.isEmpty();
            if (last) {
                OPEN.remove(key, this);
            }
        }
        if (last) {
            Sessions.close(client());
        } else if (!deleting.isEmpty()) {
            delete(deleting);
        }
    }

    /** Until it is known to have happened, or to be impossible; the end of the session does it. */
    private void delete(List<Op> ops) {
        client().multi(
                        ops,
                        (code, path, context, results) -> {
                            if (Code.get(code) != Code.SESSIONEXPIRED
                                    && EnsembleSession.isUnknown(Code.get(code))) {
                                delete(ops);
                            }
                        },
                        null);
    }

    /** Ends the session for all of its users, who join another one. Does not wait. */
    void end() {
        over();
        tell(new WatchedEvent(EventType.None, KeeperState.Expired, null));
        Thread closing = new Thread(() -> Sessions.close(client()), "end of a session");
        closing.setDaemon(true);
        closing.start();
    }

    private void over() {
        synchronized (OPEN) {
            OPEN.remove(key, this);
        }
    }

    /** Under the lock, so that who joins meanwhile hears of connections in their order. */
    private void tell(WatchedEvent event) {
        synchronized (OPEN) {
            List.copyOf(users).forEach(user -> user.process(event));
        }
    }

    /** What the client says of its connection. */
    @Override
    public void process(WatchedEvent event) {
        synchronized (OPEN) {
            boolean connected = event.getState() == KeeperState.SyncConnected;
            if (event.getType() == EventType.None) {
                silentSince = connected ? 0 : silentSince == 0 ? System.nanoTime() : silentSince;
            }
            if (event.getState() == KeeperState.Expired) {
                over();
            }
            tell(event);
        }
    }
}
