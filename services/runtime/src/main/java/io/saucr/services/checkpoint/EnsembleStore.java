package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.checkpoint.RefusedSegmentException.Reason;
import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.ensemble.Sessions;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/**
 * Small segments and bases in the ensemble: a znode for each, below a path of the service. What has
 * more than 16 KB lies in parts of as many bytes, in znodes next to it, and its own znode says how
 * many and with which digest; it is made last, so what it names is whole (C2). What the ensemble
 * acknowledged is as safe as anything it holds. Every call waits for the ensemble; not on the
 * session's event thread. Otherwise any thread.
 */
public final class EnsembleStore implements SharedStore {

    /** The most bytes of a znode. */
    static final int PART_BYTES = 16 << 10;

    /** The most bytes of a segment or base: the ensemble keeps all of them in memory. */
    public static final int LARGEST_BYTES = 1 << 20;

    /** What the znode of something in parts says: how many, bytes of all, SHA-256 of all. */
    private static final Pattern PARTS =
            Pattern.compile("saucr-parts 1 ([1-9][0-9]?) ([1-9][0-9]{0,6}) ([0-9a-f]{64})\n");

    /** A part is called as what it is of, with its number behind. */
    private static final Pattern PART = Pattern.compile("(.+\\.(?:seg|base))\\.([0-9]{1,2})");

    private static final long SYNC_SECONDS = 30;

    private final ZooKeeper session;
    private final String path;
    private final List<ACL> acl;
    private final String service;
    private final Birth birth;

    /** What is made with the path before the first write; who only looks makes nothing. */
    private final List<String> above;

    private volatile boolean made;

    private interface Request<T> {
        T ask() throws KeeperException, InterruptedException, IOException;
    }

    /**
     * Nothing is sent yet.
     *
     * @param session stays the caller's
     * @param path a znode that is there; the segments are its children
     * @param acl of the segments
     * @param service whose segments these are
     * @param birth of that service
     */
    public EnsembleStore(
            ZooKeeper session, String path, List<ACL> acl, String service, Birth birth) {
        this(session, path, acl, service, birth, List.of());
        made = true;
    }

    private EnsembleStore(
            ZooKeeper session,
            String path,
            List<ACL> acl,
            String service,
            Birth birth,
            List<String> above) {
        this.above = above;
        this.session = session;
        this.path = path;
        // The client asks it for null, which List.copyOf does not bear.
        this.acl = new ArrayList<>(acl);
        this.service = service;
        this.birth = birth;
    }

    /**
     * Those of a service, below its own path: {@code segments}, and in it a znode for each birth.
     * It has a session of its own, as its calls wait.
     */
    public static Opener below(ServicePath place, String service) {
        return new Sessioned(place, service);
    }

    private static final class Sessioned implements Opener {

        private final ServicePath place;
        private final String service;
        private ZooKeeper session;

        Sessioned(ServicePath place, String service) {
            this.place = place;
            this.service = service;
        }

        @Override
        public String where() {
            return place.connect() + place.path() + "/segments";
        }

        @Override
        public synchronized SharedStore open(Birth birth) throws IOException {
            if (session != null && !session.getState().isAlive()) {
                session = null;
            }
            if (session == null) {
                session =
                        Sessions.open(
                                place.connect(),
                                place.sessionTimeout(),
                                place.credentials(),
                                event -> {});
            }
            String all = place.path() + "/segments";
            return new EnsembleStore(
                    session, all + "/" + birth, place.acls(), service, birth, List.of(all));
        }

        @Override
        public synchronized void close() {
            if (session != null) {
                Sessions.close(session);
            }
        }
    }

    private void make() throws IOException {
        if (!made) {
            for (String each : above) {
                make(each);
            }
            make(path);
            made = true;
        }
    }

    private void make(String znode) throws IOException {
        asked(
                "make " + znode,
                () -> {
                    try {
                        return session.create(znode, new byte[0], acl, CreateMode.PERSISTENT);
                    } catch (KeeperException.NodeExistsException e) {
                        return znode;
                    }
                });
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException where it has more than {@link #LARGEST_BYTES}, too
     * @throws RefusedSegmentException where a znode of its name holds something else
     */
    @Override
    public void append(Segment segment) throws IOException {
        SegmentName.throwUnlessOf(segment, service, birth);
        String what = "segment " + segment.id();
        throwIfTooLarge(
                what
                        + ", of turns "
                        + segment.header().firstTurn()
                        + " to "
                        + segment.header().lastTurn()
                        + ",",
                segment.bytes());
        byte[] bytes = new byte[segment.bytes()];
        segment.encoded().get(bytes);
        put(what, SegmentName.of(segment.id()), bytes);
    }

    @Override
    public void putBase(ShippedBase base) throws IOException {
        String what = "the base as of segment " + base.at();
        throwIfTooLarge(what, base.length());
        put(what, SegmentName.ofBase(base.at()), BytesFile.bytesOf(base, PART_BYTES));
    }

    private static void throwIfTooLarge(String what, long bytes) {
        if (bytes > LARGEST_BYTES) {
            throw new IllegalArgumentException(
                    what
                            + " has "
                            + bytes
                            + " bytes, and the ensemble takes at most "
                            + LARGEST_BYTES
                            + ": keep what is larger on members' disks or in a shared folder");
        }
    }

    private void put(String what, String name, byte[] bytes) throws IOException {
        make();
        asked(
                "store " + what,
                () -> {
                    if (bytes.length <= PART_BYTES) {
                        return create(name, bytes);
                    }
                    int parts = (bytes.length + PART_BYTES - 1) / PART_BYTES;
                    for (int part = 0; part < parts; part++) {
                        int from = part * PART_BYTES;
                        int to = Math.min(bytes.length, from + PART_BYTES);
                        create(name + "." + part, Arrays.copyOfRange(bytes, from, to));
                    }
                    return createOf(parts, name, parts(parts, bytes));
                });
    }

    private static byte[] parts(int parts, byte[] bytes) {
        return String.format(
                        Locale.ROOT, "saucr-parts 1 %d %d %s\n", parts, bytes.length, sum(bytes))
                .getBytes(UTF_8);
    }

    private static String sum(byte[] bytes) {
        return HexFormat.of().formatHex(Segment.sha256().digest(bytes));
    }

    private String create(String name, byte[] bytes)
            throws KeeperException, InterruptedException, IOException {
        String znode = path + "/" + name;
        try {
            return session.create(znode, bytes, acl, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            return same(name, bytes);
        }
    }

    /** An attempt of which no answer came, or another member that had it. */
    private String same(String name, byte[] bytes)
            throws KeeperException, InterruptedException, IOException {
        String znode = path + "/" + name;
        if (!Arrays.equals(bytes, data(name))) {
            throw new RefusedSegmentException(
                    Reason.OUT_OF_PLACE,
                    0,
                    "znode "
                            + znode
                            + " holds something else. It was left as it is; look up who wrote it,"
                            + " and delete it");
        }
        return znode;
    }

    /** In one step with a look at the parts: a deposed primary may be sweeping. */
    private String createOf(int parts, String name, byte[] bytes)
            throws KeeperException, InterruptedException, IOException {
        String znode = path + "/" + name;
        List<Op> ops = new ArrayList<>();
        for (int part = 0; part < parts; part++) {
            ops.add(Op.check(znode + "." + part, -1));
        }
        ops.add(Op.create(znode, bytes, acl, CreateMode.PERSISTENT));
        try {
            List<OpResult> unused = session.multi(ops);
            return znode;
        } catch (KeeperException.NodeExistsException e) {
            return same(name, bytes);
        } catch (KeeperException.NoNodeException e) {
            throw new IOException("parts of " + znode + " were deleted before it was whole", e);
        }
    }

    /** Of a znode that may be newer than what this session saw. */
    private byte[] data(String name) throws KeeperException, InterruptedException, IOException {
        String znode = path + "/" + name;
        try {
            return session.getData(znode, false, null);
        } catch (KeeperException.NoNodeException e) {
            sync();
        }
        try {
            return session.getData(znode, false, null);
        } catch (KeeperException.NoNodeException e) {
            throw new MissingSegmentException(name + " is not at " + path);
        }
    }

    /** What is called so, of all its parts. */
    private byte[] content(String name) throws KeeperException, InterruptedException, IOException {
        byte[] first = data(name);
        Matcher parts = PARTS.matcher(first.length > 200 ? "" : new String(first, UTF_8));
        if (!parts.matches()) {
            return first;
        }
        int bytes = Integer.parseInt(parts.group(2));
        if (bytes > LARGEST_BYTES) {
            throw garbled(name, "says that it has " + bytes + " bytes");
        }
        ByteBuffer all = ByteBuffer.allocate(bytes);
        for (int part = 0; part < Integer.parseInt(parts.group(1)); part++) {
            byte[] next = data(name + "." + part);
            if (next.length > all.remaining()) {
                throw garbled(name, "has more bytes in its parts than it says");
            }
            all.put(next);
        }
        if (all.hasRemaining() || !sum(all.array()).equals(parts.group(3))) {
            throw garbled(name, "says other bytes than its parts hold");
        }
        return all.array();
    }

    private RefusedSegmentException garbled(String name, String what) {
        return new RefusedSegmentException(
                Reason.GARBLED,
                0,
                "znode "
                        + path
                        + "/"
                        + name
                        + " "
                        + what
                        + ". It was left as it is; take it from a member");
    }

    private void sync() throws KeeperException, InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        AtomicInteger code = new AtomicInteger(KeeperException.Code.OPERATIONTIMEOUT.intValue());
        session.sync(
                path,
                (result, synced, context) -> {
                    code.set(result);
                    done.countDown();
                },
                null);
        boolean answered = done.await(SYNC_SECONDS, TimeUnit.SECONDS);
        KeeperException.Code result = KeeperException.Code.get(code.get());
        if (!answered || result != KeeperException.Code.OK) {
            throw KeeperException.create(result, path);
        }
    }

    private <T> T asked(String what, Request<T> request) throws IOException {
        try {
            return request.ask();
        } catch (KeeperException.NoNodeException e) {
            throw new IOException(
                    "the ensemble could not " + what + ": there is no " + path + " to keep it", e);
        } catch (KeeperException e) {
            throw new IOException("the ensemble could not " + what + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted; the ensemble was to " + what);
        }
    }

    @Override
    public Segment read(SegmentId id) throws IOException {
        byte[] content = asked("read segment " + id, () -> content(SegmentName.of(id)));
        return SegmentName.checked(id, Segment.decode(ByteBuffer.wrap(content)), service, birth);
    }

    @Override
    public ShippedBase base(SegmentId at) throws IOException {
        String name = SegmentName.ofBase(at);
        byte[] content = asked("read the base as of " + at, () -> content(name));
        return SegmentName.checkedBase(
                at, new BytesFile(content), Path.of(path + "/" + name), service, birth);
    }

    private List<String> names() throws IOException {
        return asked(
                "list the segments at " + path,
                () -> {
                    sync();
                    try {
                        return session.getChildren(path, false);
                    } catch (KeeperException.NoNodeException e) {
                        if (above.isEmpty()) {
                            throw e;
                        }
                        return List.of();
                    }
                });
    }

    @Override
    public List<SegmentId> list() throws IOException {
        return SegmentName.parse(names());
    }

    @Override
    public List<SegmentId> bases() throws IOException {
        return SegmentName.parseBases(names());
    }

    @Override
    public void drop(SegmentId id) throws IOException {
        delete(SegmentName.of(id));
    }

    @Override
    public void dropBase(SegmentId at) throws IOException {
        delete(SegmentName.ofBase(at));
    }

    /** Its parts are of no use then; {@link #sweep} deletes them. */
    private void delete(String name) throws IOException {
        asked(
                "delete " + name,
                () -> {
                    try {
                        session.delete(path + "/" + name, -1);
                    } catch (KeeperException.NoNodeException e) {
                        // It is removed, as it is to be.
                    }
                    return name;
                });
    }

    @Override
    public void sweep() throws IOException {
        List<String> names = names();
        for (String name : names) {
            Matcher part = PART.matcher(name);
            if (part.matches() && !names.contains(part.group(1))) {
                deletePart(path + "/" + name, path + "/" + part.group(1));
            }
        }
    }

    /** In one step with a look at what it is a part of: that must not be there. */
    private void deletePart(String part, String of) throws IOException {
        asked(
                "delete " + part,
                () -> {
                    try {
                        return session.multi(
                                List.of(
                                        Op.create(of, new byte[0], acl, CreateMode.PERSISTENT),
                                        Op.delete(of, -1),
                                        Op.delete(part, -1)));
                    } catch (KeeperException.NodeExistsException
                            | KeeperException.NoNodeException e) {
                        // It is whole meanwhile, or gone.
                        return List.of();
                    }
                });
    }

    /** The session stays open. */
    @Override
    public void close() {}
}
