package io.saucr.services.ensemble;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.Credentials;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where services answer, as {@link Leadership} writes it below their paths. A name is a hint only:
 * who really answers there says so in its HELLO, and channels go on while the ensemble is away, at
 * the address that was known last.
 *
 * <p>One thread of its own does all requests and all callbacks, which must not block. {@link
 * #follow} and {@link #close} may be called by any thread.
 */
public final class Names implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Names.class);

    /** Between two tries while the ensemble does not answer. */
    private static final Duration RETRY = Duration.ofMillis(200);

    private final String connect;
    private final Duration sessionTimeout;
    private final Optional<Credentials> credentials;
    private final BlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
    private final Thread thread;

    private volatile boolean closed;
    private volatile Connection connection;

    /** Of the thread: by path. */
    private final Map<String, Followed> followed = new HashMap<>();

    /** Which head each path has, as it was seen with the address. */
    private final Map<String, String> heads = new ConcurrentHashMap<>();

    private ZooKeeper session;

    /** When the session was opened, or answered last. */
    private long opened;

    /** One name that somebody follows. */
    private static final class Followed {
        private final List<Consumer<Optional<String>>> followers = new ArrayList<>();

        /** As it was told last; null before the first look. */
        private Optional<String> address;

        /** By which transaction the address that was told last was registered; 0 without one. */
        private long registered;

        private boolean stale = true;

        /** Whether this session tells of changes. */
        private boolean watched;

        void add(Consumer<Optional<String>> follower) {
            followers.add(follower);
            if (address != null) {
                follower.accept(address);
            }
        }

        void seen(Optional<String> now, long by) {
            stale = false;
            // Whoever registers the same address anew is another start, and answers there by now.
            if (!now.equals(address) || registered != by) {
                address = now;
                registered = by;
                followers.forEach(follower -> follower.accept(now));
            }
        }
    }

    /**
     * Names of one ensemble; nothing is sent before the first is followed.
     *
     * @param connect servers as for ZooKeeper's client, without a chroot
     * @param sessionTimeout of the client
     * @param credentials who asks, as for {@code addAuthInfo}; empty for anybody
     */
    public Names(String connect, Duration sessionTimeout, Optional<Credentials> credentials) {
        this.connect = connect;
        this.sessionTimeout = sessionTimeout;
        this.credentials = credentials;
        this.thread = new Thread(this::run, "names of " + connect);
        this.thread.setDaemon(true);
        this.thread.start();
    }

    /**
     * Tells the address of a service now and whenever it changes, or is registered anew; empty
     * while nobody answers under that name. What happens between two looks is not told. A change is
     * told one round trip after the watch's.
     *
     * @param path of the service, absolute; IllegalArgumentException where it is none
     * @param changed called by the thread of the names
     */
    public void follow(String path, Consumer<Optional<String>> changed) {
        PathUtils.validatePath(path);
        work.add(() -> followed.computeIfAbsent(path, p -> new Followed()).add(changed));
    }

    /**
     * Which head a service has, whoever holds it: one that was made at another place, or in another
     * ensemble, is another. Empty where none was seen. By the thread of the names, in a callback.
     */
    public Optional<String> head(String path) {
        return Optional.ofNullable(heads.get(path));
    }

    /** Ends the session; nothing is told any more once the callback under way has returned. */
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }

    private void run() {
        try {
            while (!closed) {
                boolean stale = followed.values().stream().anyMatch(f -> f.stale);
                Runnable next =
                        stale ? work.poll(RETRY.toMillis(), TimeUnit.MILLISECONDS) : work.take();
                if (next != null) {
                    next.run();
                    for (Runnable more = work.poll(); more != null; more = work.poll()) {
                        more.run();
                    }
                }
                look();
            }
        } catch (InterruptedException e) {
            LOG.debug("names of {}: closed", connect);
        } finally {
            end();
        }
    }

    private void look() throws InterruptedException {
        try {
            if (session == null) {
                connection = new Connection();
                session = Sessions.open(connect, sessionTimeout, credentials, connection);
            }
            for (Map.Entry<String, Followed> entry : followed.entrySet()) {
                if (entry.getValue().stale) {
                    read(entry.getKey(), entry.getValue());
                    opened = System.nanoTime();
                }
            }
        } catch (KeeperException.ConnectionLossException e) {
            LOG.debug("names of {}: no connection", connect);
            if (System.nanoTime() - opened > sessionTimeout.toNanos()) {
                // Servers that were restored from before refuse a session that has seen more than
                // they have, for ever.
                expired();
            }
        } catch (KeeperException.SessionExpiredException e) {
            expired();
        } catch (KeeperException e) {
            LOG.warn("names of {}: {}; asking again", connect, e.getMessage());
        } catch (IOException e) {
            LOG.warn("no client for {}: {}; trying again", connect, e.getMessage());
        } catch (RuntimeException e) {
            // Without this thread nobody would be found any more.
            LOG.error("names of {}: a defect; trying again", connect, e);
        }
    }

    private void read(String path, Followed name) throws KeeperException, InterruptedException {
        String at = path + "/at";
        if (!name.watched) {
            // The watch is set before the look, so that no change is missed between them. It stays
            // for the session, also for a path that is not there yet.
            session.addWatch(at, connection, AddWatchMode.PERSISTENT);
            name.watched = true;
        }
        // Both under way at once: who fails over waits for this.
        CompletableFuture<Optional<Registered>> address = new CompletableFuture<>();
        CompletableFuture<Optional<Stat>> head = new CompletableFuture<>();
        session.getData(
                at,
                false,
                (rc, asked, context, content, stat) ->
                        complete(
                                address,
                                rc,
                                asked,
                                () -> new Registered(text(content), stat.getCzxid())),
                null);
        session.exists(
                path + "/head",
                false,
                (rc, asked, context, stat) -> complete(head, rc, asked, () -> stat),
                null);
        Optional<Registered> found = result(address);
        Optional<Stat> made = result(head);
        if (found.isPresent() && made.isPresent()) {
            heads.put(path, Long.toHexString(made.get().getCzxid()) + "-" + made.get().getCtime());
        }
        name.seen(found.map(Registered::address), found.map(Registered::transaction).orElse(0L));
    }

    private static String text(byte[] content) {
        return content == null ? "" : new String(content, UTF_8);
    }

    private static <T> void complete(
            CompletableFuture<Optional<T>> answer, int code, String path, Supplier<T> content) {
        if (code == KeeperException.Code.OK.intValue()) {
            answer.complete(Optional.of(content.get()));
        } else if (code == KeeperException.Code.NONODE.intValue()) {
            answer.complete(Optional.empty());
        } else {
            answer.completeExceptionally(
                    KeeperException.create(KeeperException.Code.get(code), path));
        }
    }

    private static <T> T result(CompletableFuture<T> answer)
            throws KeeperException, InterruptedException {
        try {
            return answer.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KeeperException refused) {
                throw refused;
            }
            throw new IllegalStateException(e);
        }
    }

    private void expired() {
        end();
        lookAtAll();
    }

    /** An address, and the transaction that made its znode. */
    private record Registered(String address, long transaction) {}

    /** The address known last stays: only a look says that it has changed. */
    private void lookAtAll() {
        followed.values().forEach(f -> f.stale = true);
    }

    private void end() {
        if (session != null) {
            Sessions.close(session);
            session = null;
            followed.values().forEach(f -> f.watched = false);
        }
    }

    /** Watches one session; called by ZooKeeper's event thread. */
    private final class Connection implements Watcher {
        @Override
        public void process(WatchedEvent event) {
            if (connection != this) {
                return;
            }
            if (event.getState() == Event.KeeperState.Expired) {
                work.add(Names.this::expired);
            } else if (event.getType() == Event.EventType.None) {
                // Persistent watches say nothing of what changed while there was no connection, and
                // without one a look is
                // what notices that there will be none.
                work.add(Names.this::lookAtAll);
            } else if (event.getType() != Event.EventType.None) {
                String path =
                        event.getPath().substring(0, event.getPath().length() - "/at".length());
                work.add(
                        () ->
                                Optional.ofNullable(followed.get(path))
                                        .ifPresent(f -> f.stale = true));
            }
        }
    }
}
