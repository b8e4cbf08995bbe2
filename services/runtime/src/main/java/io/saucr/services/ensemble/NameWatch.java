package io.saucr.services.ensemble;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows addresses for all {@link Names} of this process with the same ensemble, timeout and
 * credentials, in the session that they share. One thread does all requests and all callbacks; it
 * ends with the last user. Any thread.
 */
final class NameWatch {

    private static final Logger LOG = LoggerFactory.getLogger(NameWatch.class);

    /** Between two tries while the ensemble does not answer. */
    private static final Duration RETRY = Duration.ofMillis(200);

    /** Those that have users, and how many; the lock of both. */
    private static final Map<SharedSession.Key, NameWatch> ALL = new HashMap<>();

    private int users;

    private final SharedSession.Key key;
    private final BlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
    private final Thread thread;

    private volatile boolean closed;
    private volatile Connection connection;

    /** Of the thread: by path. */
    private final Map<String, Followed> followed = new HashMap<>();

    /** Which head each path has, as it was seen with the address. */
    private final Map<String, String> heads = new ConcurrentHashMap<>();

    private SharedSession session;

    /** One name that somebody follows. */
    private static final class Followed {
        private final List<Follower> followers = new ArrayList<>();

        /** As it was told last; null before the first look. */
        private Optional<String> address;

        /** By which transaction the address that was told last was registered; 0 without one. */
        private long registered;

        private boolean stale = true;

        /** Whether this session tells of changes. */
        private boolean watched;

        void add(Follower follower) {
            followers.add(follower);
            if (address != null) {
                follower.told(address);
            }
        }

        void seen(Optional<String> now, long by) {
            stale = false;
            // The same address, registered again, is another start, which answers there by now.
            if (!now.equals(address) || registered != by) {
                address = now;
                registered = by;
                List.copyOf(followers).forEach(follower -> follower.told(now));
            }
        }
    }

    /**
     * One that hears of a name.
     *
     * @param of whose it is; once that is closed, the follower hears nothing more
     */
    record Follower(Names of, Consumer<Optional<String>> changed) {

        void told(Optional<String> address) {
            if (!of.isClosed()) {
                changed.accept(address);
            }
        }
    }

    private NameWatch(SharedSession.Key key) {
        this.key = key;
        this.thread = new Thread(this::run, "names of " + key.connect());
        this.thread.setDaemon(true);
        this.thread.start();
    }

    /** The one of this process; nothing is sent before the first name is followed. */
    static NameWatch use(SharedSession.Key key) {
        synchronized (ALL) {
            NameWatch watch = ALL.computeIfAbsent(key, NameWatch::new);
            watch.users++;
            return watch;
        }
    }

    void follow(String path, Follower follower) {
        work.add(() -> followed.computeIfAbsent(path, p -> new Followed()).add(follower));
    }

    Optional<String> head(String path) {
        return Optional.ofNullable(heads.get(path));
    }

    /** Forgets whom this user follows; ends it with the last one. */
    void leave(Names user) {
        synchronized (ALL) {
            users--;
            if (users == 0) {
                ALL.remove(key, this);
                closed = true;
                thread.interrupt();
                return;
            }
        }
        work.add(
                () -> {
                    followed.values().forEach(it -> it.followers.removeIf(f -> f.of() == user));
                    followed.entrySet().removeIf(it -> isLeft(it.getKey(), it.getValue()));
                });
    }

    /** What nobody follows any more is watched no more. */
    private boolean isLeft(String path, Followed name) {
        if (!name.followers.isEmpty()) {
            return false;
        }
        heads.remove(path);
        if (session != null && name.watched) {
            session.client()
                    .removeWatches(
                            path + "/at",
                            connection,
                            Watcher.WatcherType.Any,
                            true,
                            (code, at, context) -> {},
                            null);
        }
        return true;
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
            LOG.debug("names of {}: closed", key.connect());
        } finally {
            end();
        }
    }

    private void look() throws InterruptedException {
        try {
            if (session == null) {
                connection = new Connection();
                session = SharedSession.join(key, connection);
            }
            for (Map.Entry<String, Followed> entry : followed.entrySet()) {
                if (entry.getValue().stale) {
                    read(entry.getKey(), entry.getValue());
                }
            }
        } catch (KeeperException.ConnectionLossException
                | KeeperException.SessionExpiredException e) {
            LOG.debug("names of {}: no connection", key.connect());
            if (session.isOver()) {
                session.end();
                expired();
            }
        } catch (KeeperException e) {
            LOG.warn("names of {}: {}; asking again", key.connect(), e.getMessage());
        } catch (IOException e) {
            LOG.warn("no client for {}: {}; trying again", key.connect(), e.getMessage());
        } catch (RuntimeException e) {
            // Without this thread nobody would be found any more.
            LOG.error("names of {}: a defect; trying again", key.connect(), e);
        }
    }

    private void read(String path, Followed name) throws KeeperException, InterruptedException {
        String at = path + "/at";
        if (!name.watched) {
            // The watch is set before the look, so that no change is missed between them. It stays
            // for the session, also for a path that is not there yet.
            session.client().addWatch(at, connection, AddWatchMode.PERSISTENT);
            name.watched = true;
        }
        // Both under way at once: who fails over waits for this.
        CompletableFuture<Optional<Registered>> address = new CompletableFuture<>();
        CompletableFuture<Optional<Stat>> head = new CompletableFuture<>();
        session.client()
                .getData(
                        at,
                        false,
                        (rc, asked, context, content, stat) ->
                                complete(
                                        address,
                                        rc,
                                        asked,
                                        () -> new Registered(text(content), stat.getCzxid())),
                        null);
        session.client()
                .exists(
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
            session.leave(connection, List.of());
            session = null;
            connection = null;
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
                work.add(
                        () -> {
                            if (connection == this) {
                                expired();
                            }
                        });
            } else if (event.getType() == Event.EventType.None) {
                // Persistent watches say nothing of what changed while there was no connection, and
                // without one a look is
                // what notices that there will be none.
                work.add(NameWatch.this::lookAtAll);
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
