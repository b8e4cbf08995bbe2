package io.saucr.ycsb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on ZooKeeper: a record is a child of the table's node, its fields are the node's data
 * ({@link RecordFormat}). YCSB makes one object for each of its threads, and each has a session of
 * its own; a session that expires is replaced at the next operation.
 *
 * <p>A write of all fields is one blind {@code setData}. An update of some reads the record first
 * and writes on condition that nobody else did meanwhile, again and again until that holds. A scan
 * lists the table's children, takes the next keys in the order of their names, and reads them side
 * by side; a record that is deleted meanwhile is left out.
 *
 * <p>With {@code zookeeper.asyncDepth} above 0, inserts, whole-record updates and deletes return
 * {@link Status#BATCHED_OK} as soon as fewer than so many are under way; what YCSB then reports as
 * latency is the time to hand them over. A failure shows as the status of a later operation, and
 * {@link #cleanup} waits for the rest and throws if any failed that was not shown.
 *
 * <p>Used by one thread, but for the callbacks of asynchronous writes.
 */
public final class ZooKeeperBinding extends DB {
    /** Updates of one record that may fail because others update it, too. */
    private static final int UPDATE_ATTEMPTS = 1000;

    private static final long DRAIN_SECONDS = 120;

    private BindingSettings settings;
    private ZooKeeper session;

    // Asynchronous writes.
    private Semaphore free;
    private final AtomicReference<Code> failure = new AtomicReference<>();
    private final AtomicLong failures = new AtomicLong();
    private long shown;

    @Override
    public void init() throws DBException {
        settings = BindingSettings.parse(getProperties());
        free = new Semaphore(settings.asyncDepth());
        connect();
        try {
            createWithParents(settings.tableNode());
        } catch (KeeperException e) {
            throw new DBException(settings.tableNode() + " cannot be created: " + e.code(), e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private void connect() throws DBException {
        CountDownLatch connected = new CountDownLatch(1);
        AtomicReference<KeeperState> refused = new AtomicReference<>();
        try {
            session =
                    new ZooKeeper(
                            settings.servers(),
                            settings.sessionTimeoutMillis(),
                            event -> {
                                switch (event.getState()) {
                                    case SyncConnected, ConnectedReadOnly -> connected.countDown();
                                    case AuthFailed -> {
                                        refused.set(event.getState());
                                        connected.countDown();
                                    }
                                    default -> {}
                                }
                            },
                            settings.client());
            if (settings.authScheme() != null) {
                session.addAuthInfo(
                        settings.authScheme(),
                        settings.authData().getBytes(StandardCharsets.UTF_8));
            }
            if (!connected.await(settings.connectTimeoutMillis(), TimeUnit.MILLISECONDS)) {
                session.close(0);
                throw new DBException(
                        "no ZooKeeper server of %s answered within %s ms"
                                .formatted(settings.servers(), settings.connectTimeoutMillis()));
            }
            if (refused.get() != null) {
                session.close(0);
                throw new DBException(settings.servers() + " refuses " + BindingSettings.AUTH);
            }
        } catch (IOException e) {
            throw new DBException("cannot connect to " + settings.servers(), e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static DBException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new DBException("interrupted", e);
    }

    private void createWithParents(String path) throws KeeperException, InterruptedException {
        for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
            createIfMissing(path.substring(0, slash));
        }
        createIfMissing(path);
    }

    private void createIfMissing(String path) throws KeeperException, InterruptedException {
        try {
            if (session.exists(path, false) == null) {
                session.create(path, new byte[0], settings.acl(), CreateMode.PERSISTENT);
            }
        } catch (KeeperException.NodeExistsException e) {
            // Another thread of YCSB was faster.
        } catch (KeeperException.NoAuthException e) {
            // It is there, or the operations will say that they may not use it.
        }
    }

    @Override
    public void cleanup() throws DBException {
        try {
            if (!free.tryAcquire(settings.asyncDepth(), DRAIN_SECONDS, TimeUnit.SECONDS)) {
                throw new DBException("writes are still under way after " + DRAIN_SECONDS + " s");
            }
            long unseen = failures.get() - shown;
            if (unseen > 0) {
                throw new DBException(
                        unseen + " asynchronous writes failed, the last with " + failure.get());
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        } finally {
            close();
        }
    }

    private void close() {
        try {
            session.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- Operations ----

    /** What an operation does with the session; its failures become a status. */
    private interface Operation {
        Status run() throws KeeperException, InterruptedException;
    }

    private Status run(String key, Operation operation) {
        if (key.isEmpty() || key.indexOf('/') >= 0) {
            return Status.BAD_REQUEST;
        }
        if (failures.get() > shown) {
            shown++;
            return status(failure.get());
        }
        try {
            if (!session.getState().isAlive()) {
                close();
                connect();
            }
            return operation.run();
        } catch (KeeperException e) {
            return status(e.code());
        } catch (DBException e) {
            return Status.SERVICE_UNAVAILABLE;
        } catch (IllegalArgumentException e) {
            return Status.UNEXPECTED_STATE;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Status.ERROR;
        }
    }

    private static Status status(Code code) {
        return switch (code) {
            case OK -> Status.OK;
            case NONODE -> Status.NOT_FOUND;
            case NODEEXISTS, BADVERSION, NOTEMPTY -> Status.UNEXPECTED_STATE;
            case NOAUTH, AUTHFAILED, INVALIDACL -> Status.FORBIDDEN;
            case BADARGUMENTS -> Status.BAD_REQUEST;
            case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONEXPIRED, SESSIONMOVED, REQUESTTIMEOUT ->
                    Status.SERVICE_UNAVAILABLE;
            default -> Status.ERROR;
        };
    }

    private String path(String key) {
        return settings.tableNode() + "/" + key;
    }

    @Override
    public Status read(
            String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        return run(
                key,
                () -> {
                    select(RecordFormat.decode(session.getData(path(key), false, null)), fields)
                            .forEach(result::put);
                    return Status.OK;
                });
    }

    private static Map<String, ByteIterator> select(
            Map<String, byte[]> record, Set<String> fields) {
        Map<String, ByteIterator> selected = new HashMap<>();
        record.forEach(
                (name, value) -> {
                    if (fields == null || fields.contains(name)) {
                        selected.put(name, new ByteArrayByteIterator(value));
                    }
                });
        return selected;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return run(
                key,
                () -> {
                    byte[] data = RecordFormat.encode(bytes(values));
                    if (settings.asyncDepth() > 0) {
                        free.acquire();
                        session.create(
                                path(key),
                                data,
                                settings.acl(),
                                CreateMode.PERSISTENT,
                                (code, path, context, name) -> written(code),
                                null);
                        return Status.BATCHED_OK;
                    }
                    session.create(path(key), data, settings.acl(), CreateMode.PERSISTENT);
                    return Status.OK;
                });
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return run(
                key,
                () -> {
                    Map<String, byte[]> changed = bytes(values);
                    if (changed.size() < settings.fieldCount()) {
                        return updateSome(path(key), changed);
                    }
                    byte[] data = RecordFormat.encode(changed);
                    if (settings.asyncDepth() > 0) {
                        free.acquire();
                        session.setData(
                                path(key),
                                data,
                                -1,
                                (code, path, context, stat) -> written(code),
                                null);
                        return Status.BATCHED_OK;
                    }
                    session.setData(path(key), data, -1);
                    return Status.OK;
                });
    }

    private Status updateSome(String path, Map<String, byte[]> changed)
            throws KeeperException, InterruptedException {
        for (int attempt = 0; attempt < UPDATE_ATTEMPTS; attempt++) {
            Stat stat = new Stat();
            Map<String, byte[]> record = RecordFormat.decode(session.getData(path, false, stat));
            record.putAll(changed);
            try {
                session.setData(path, RecordFormat.encode(record), stat.getVersion());
                return Status.OK;
            } catch (KeeperException.BadVersionException e) {
                // Somebody else wrote it: on top of that, then.
            }
        }
        return Status.UNEXPECTED_STATE;
    }

    private static Map<String, byte[]> bytes(Map<String, ByteIterator> values) {
        Map<String, byte[]> bytes = new LinkedHashMap<>();
        values.forEach((name, value) -> bytes.put(name, value.toArray()));
        return bytes;
    }

    @Override
    public Status delete(String table, String key) {
        return run(
                key,
                () -> {
                    if (settings.asyncDepth() > 0) {
                        free.acquire();
                        session.delete(path(key), -1, (code, path, context) -> written(code), null);
                        return Status.BATCHED_OK;
                    }
                    session.delete(path(key), -1);
                    return Status.OK;
                });
    }

    private void written(int code) {
        if (code != Code.OK.intValue()) {
            failure.set(Code.get(code));
            failures.incrementAndGet();
        }
        free.release();
    }

    @Override
    @SuppressWarnings("NonApiType") // YCSB's signature
    public Status scan(
            String table,
            String startKey,
            int count,
            Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        return run(
                startKey,
                () -> {
                    List<String> keys =
                            session.getChildren(settings.tableNode(), false).stream()
                                    .filter(key -> key.compareTo(startKey) >= 0)
                                    .sorted()
                                    .limit(count)
                                    .toList();
                    Scan scan = new Scan(keys.size());
                    for (int i = 0; i < keys.size(); i++) {
                        int index = i;
                        session.getData(
                                path(keys.get(i)),
                                false,
                                (code, path, context, data, stat) -> scan.read(index, code, data),
                                null);
                    }
                    return scan.collect(fields, result);
                });
    }

    /** The records of one scan, read side by side. */
    private static final class Scan {
        private final byte[][] records;
        private final CountDownLatch missing;
        private final AtomicReference<Code> failure = new AtomicReference<>();

        Scan(int count) {
            records = new byte[count][];
            missing = new CountDownLatch(count);
        }

        void read(int index, int code, byte[] data) {
            if (code == Code.OK.intValue()) {
                records[index] = data;
            } else if (code != Code.NONODE.intValue()) {
                failure.set(Code.get(code));
            }
            missing.countDown();
        }

        @SuppressWarnings("NonApiType") // YCSB's type
        Status collect(Set<String> fields, Vector<HashMap<String, ByteIterator>> result)
                throws InterruptedException {
            missing.await();
            if (failure.get() != null) {
                return status(failure.get());
            }
            for (byte[] record : records) {
                if (record != null) {
                    result.add(new HashMap<>(select(RecordFormat.decode(record), fields)));
                }
            }
            return Status.OK;
        }
    }
}
