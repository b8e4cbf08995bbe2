package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/**
 * Small segments in the ensemble: a znode for each, below a path of the service. What the ensemble
 * acknowledged is as safe as anything it holds. Every call waits for the ensemble; not on the
 * session's event thread. Otherwise any thread.
 */
public final class EnsembleStore implements SharedStore {

    /** The most bytes of a segment: the ensemble keeps all of them in memory. */
    public static final int LARGEST_BYTES = 16 << 10;

    private static final long SYNC_SECONDS = 30;

    private final ZooKeeper session;
    private final String path;
    private final List<ACL> acl;
    private final String service;
    private final Birth birth;

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
        this.session = session;
        this.path = path;
        // The client asks it for null, which List.copyOf does not bear.
        this.acl = new ArrayList<>(acl);
        this.service = service;
        this.birth = birth;
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
        if (segment.bytes() > LARGEST_BYTES) {
            throw new IllegalArgumentException(
                    "segment "
                            + segment.id()
                            + " has "
                            + segment.bytes()
                            + " bytes, and the ensemble takes at most "
                            + LARGEST_BYTES
                            + ": keep larger ones on members' disks or in a folder");
        }
        byte[] bytes = new byte[segment.bytes()];
        segment.encoded().get(bytes);
        String znode = znode(segment.id());
        asked(
                "store segment " + segment.id(),
                () -> {
                    try {
                        return session.create(znode, bytes, acl, CreateMode.PERSISTENT);
                    } catch (KeeperException.NodeExistsException e) {
                        // An attempt of which no answer came, or another member that had it.
                        if (!Arrays.equals(bytes, content(segment.id()))) {
                            throw new RefusedSegmentException(
                                    RefusedSegmentException.Reason.OUT_OF_PLACE,
                                    0,
                                    "znode "
                                            + znode
                                            + " holds something else. It was left as it is; look"
                                            + " up who wrote it, and delete it");
                        }
                        return znode;
                    }
                });
    }

    private String znode(SegmentId id) {
        return path + "/" + SegmentName.of(id);
    }

    /** Of a znode that may be newer than what this session saw. */
    private byte[] content(SegmentId id) throws KeeperException, InterruptedException, IOException {
        String znode = znode(id);
        try {
            return session.getData(znode, false, null);
        } catch (KeeperException.NoNodeException e) {
            sync();
        }
        try {
            return session.getData(znode, false, null);
        } catch (KeeperException.NoNodeException e) {
            throw new MissingSegmentException("segment " + id + " is not at " + path);
        }
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
        byte[] content = asked("read segment " + id, () -> content(id));
        return SegmentName.checked(id, Segment.decode(ByteBuffer.wrap(content)), service, birth);
    }

    @Override
    public List<SegmentId> list() throws IOException {
        return asked(
                "list the segments at " + path,
                () -> {
                    sync();
                    return SegmentName.parse(session.getChildren(path, false));
                });
    }

    @Override
    public void drop(SegmentId id) throws IOException {
        asked(
                "delete segment " + id,
                () -> {
                    try {
                        session.delete(znode(id), -1);
                    } catch (KeeperException.NoNodeException e) {
                        // It is gone, as it is to be.
                    }
                    return id;
                });
    }

    /** The session stays open. */
    @Override
    public void close() {}
}
