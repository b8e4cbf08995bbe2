package io.saucr.services.ensemble;

import io.saucr.services.Address;
import io.saucr.services.Credentials;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.head.Claim;
import io.saucr.services.core.head.Claim.Decision;
import io.saucr.services.core.head.Claim.Seen;
import io.saucr.services.core.head.Head;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The place of one start of a service in the ensemble (K14): it takes the head, holds it, keeps the
 * service's address while the session lives, and says when another took the head. Below the
 * service's path:
 *
 * <pre>
 * head   persistent, one line: who holds the service; changed by conditional writes alone
 * at     ephemeral, host:port of who holds it; written together with a check of the head, so only its holder does
 * </pre>
 *
 * <p>Without the ensemble a service that has its head goes on: a connection that is lost, or a
 * session that expires, is opened again for as long as it takes, and the head is then looked at
 * anew. Only a head that is read and names another start, or is gone, ends the office, once.
 *
 * <p>One thread of its own does all requests. {@link #take} waits for it and may be called once;
 * {@link #close} by any thread. The two callbacks are called by that thread and must not block.
 */
public final class Office implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Office.class);

    /**
     * Between two tries while the ensemble does not answer, or another one's address is in the way.
     */
    private static final Duration RETRY = Duration.ofMillis(200);

    /** So long an address that may still be answered is tried. */
    private static final int CONNECT_MILLIS = 2_000;

    private final Place place;
    private final Claim claim;
    private final Consumer<String> lost;
    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final CountDownLatch decided = new CountDownLatch(1);
    private final Thread thread;

    private volatile boolean closed;
    private volatile String refusal;
    private volatile int headVersion;

    /** Events of an older session are none of the newest. */
    private volatile Session watcher;

    /** Of the thread. */
    private ZooKeeper session;

    private boolean taken;

    /** Whether the head may name this start, whatever became of it. */
    private volatile boolean written;

    /** When the session was opened, or answered last. */
    private long opened;

    /**
     * What the thread waits for: the session's state or the head changed, or it is to look once
     * more.
     */
    private enum Event {
        LOOK,
        EXPIRED,
        CLOSE,
    }

    /**
     * Where a service stands in which ensemble.
     *
     * @param connect servers as for ZooKeeper's client, without a chroot
     * @param path of the service, absolute: "/apps/bank-eu"
     * @param address host:port where it answers, or empty for a service without one
     * @param sessionTimeout of the client; an address of a process that died stays for as long
     * @param credentials who the service is, as for {@code addAuthInfo}; empty for anybody
     * @param acls of all znodes that it makes
     */
    public record Place(
            String connect,
            String path,
            Optional<String> address,
            Duration sessionTimeout,
            Optional<Credentials> credentials,
            List<ACL> acls) {

        public Place {
            if (!path.startsWith("/") || path.length() < 2 || path.endsWith("/")) {
                throw new IllegalArgumentException(
                        "a service's path begins with / and does not end with it, as in /apps/bank, not \""
                                + path
                                + "\"");
            }
            // ZooKeeper's client asks whether it contains null, which List.copyOf's lists refuse.
            acls = Collections.unmodifiableList(new ArrayList<>(acls));
        }
    }

    /**
     * A start must not go on: its head is another's, gone or unreadable, or the ensemble does not
     * allow it.
     */
    public static final class RefusedException extends Exception {

        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }
    }

    /**
     * An office not yet taken; nothing is sent before {@link #take}.
     *
     * @param place where
     * @param self this start, forced in its folder already (K14)
     * @param known all starts of the folder
     * @param confirmed the highest number that is known to have held the head, 0 for none
     * @param replaces the head of another birth that may be replaced (K11)
     * @param lost told once when a head that was held is seen to be another's or gone: the process
     *     has to halt
     */
    public Office(
            Place place,
            Incarnation self,
            List<Incarnation> known,
            long confirmed,
            Optional<Incarnation> replaces,
            Consumer<String> lost) {
        this.place = place;
        this.claim = new Claim(place.path(), self, known, confirmed, replaces);
        this.lost = lost;
        this.thread = new Thread(this::run, "office " + place.path());
        this.thread.setDaemon(true);
    }

    /**
     * Takes the head; waits for the ensemble as long as it takes, and logs every ten seconds for
     * what. Once it returns, the folder has to note this start as holder, forced, before anything
     * leaves.
     *
     * @throws RefusedException where the head is another's, gone or unreadable, or the ensemble
     *     refuses the request
     * @throws InterruptedException where the thread is interrupted; the office is then closed
     */
    public void take() throws RefusedException, InterruptedException {
        events.add(Event.LOOK);
        thread.start();
        long waited = 0;
        try {
            while (!decided.await(10, TimeUnit.SECONDS)) {
                waited += 10;
                LOG.info(
                        "{}: no answer of {} for {} s; waiting for the head",
                        place.path(),
                        place.connect(),
                        waited);
            }
        } catch (InterruptedException e) {
            close();
            throw e;
        }
        if (refusal != null) {
            throw new RefusedException(refusal);
        }
    }

    /** Whether this start wrote the head, or tried to: somebody may know of it then. */
    public boolean mayBeKnown() {
        return written;
    }

    /** The version of the head's data as this start wrote it, or looked at it last. */
    public int headVersion() {
        return headVersion;
    }

    /** Ends the session, so that the address goes at once; the head stays. */
    @Override
    public void close() {
        closed = true;
        events.add(Event.CLOSE);
        thread.interrupt();
    }

    private void run() {
        try {
            while (!closed) {
                Event event = events.take();
                if (event == Event.EXPIRED) {
                    end();
                }
                if (!closed && event != Event.CLOSE) {
                    look();
                }
            }
        } catch (InterruptedException e) {
            LOG.debug("{}: closed", place.path());
        } catch (RuntimeException e) {
            // Without this thread nobody would notice a successor.
            LOG.error("{}: a defect", place.path(), e);
            refuse("the holder of the head of " + place.path() + " failed: " + e);
        } finally {
            end();
            if (refusal == null && !taken) {
                refusal =
                        "the holder of the head of "
                                + place.path()
                                + " was closed before it had the head";
            }
            decided.countDown();
        }
    }

    private void look() throws InterruptedException {
        try {
            if (session == null) {
                session = open();
                opened = System.nanoTime();
            }
            Optional<Seen> seen = read();
            opened = System.nanoTime();
            Decision decision = taken ? claim.changed(seen) : claim.seen(seen);
            if (decision instanceof Decision.Create create) {
                createHead(create.head());
                events.add(Event.LOOK);
            } else if (decision instanceof Decision.Take take) {
                takeUnlessAnotherRuns(take);
            } else if (decision instanceof Decision.Taken holding) {
                headVersion = holding.version();
                taken = true;
                decided.countDown();
                publish();
            } else if (decision instanceof Decision.Refuse refuse) {
                refuse(refuse.reason());
            }
        } catch (KeeperException.ConnectionLossException
                | KeeperException.OperationTimeoutException
                | KeeperException.SessionMovedException e) {
            LOG.debug("{}: {}, once more", place.path(), e.code());
            if (System.nanoTime() - opened > place.sessionTimeout().toNanos()) {
                // Servers that were restored from before refuse a session that has seen more than
                // they have, for ever.
                end();
            }
            again();
        } catch (KeeperException.SessionExpiredException e) {
            end();
            again();
        } catch (KeeperException e) {
            if (!taken) {
                refuse(place.connect() + " refused: " + e.getMessage());
                return;
            }
            // Whoever holds the head goes on without the ensemble.
            LOG.warn("{}: {} says {}; asking again", place.path(), place.connect(), e.getMessage());
            end();
            again();
        } catch (Head.UnreadableHeadException e) {
            refuse(
                    "the head of "
                            + place.path()
                            + " can't be read: "
                            + e.getMessage()
                            + ". Nothing was changed");
        } catch (IOException e) {
            refuse("no client for " + place.connect() + ": " + e.getMessage());
        }
    }

    /**
     * The start that holds the head may still run, if this folder is a copy that was made
     * meanwhile: whoever answers at its address does. At an address that is this start's own nobody
     * else answers: a service that always listens at the same port was killed, and the session of
     * its last start is not over yet.
     */
    private void takeUnlessAnotherRuns(Decision.Take take)
            throws KeeperException, InterruptedException {
        Optional<String> at = otherAddress();
        if (at.isPresent() && !at.equals(place.address()) && isAnswered(at.get())) {
            refuse(
                    place.path()
                            + " runs at "
                            + at.get()
                            + ". Stop it there first; a folder that was copied while its service"
                            + " ran must not go on");
            return;
        }
        setHead(take.head(), take.version());
        events.add(Event.LOOK);
    }

    private Optional<String> otherAddress() throws KeeperException, InterruptedException {
        try {
            return Optional.of(
                    new String(
                            session.getData(place.path() + "/at", false, null),
                            StandardCharsets.UTF_8));
        } catch (KeeperException.NoNodeException e) {
            return Optional.empty();
        }
    }

    private boolean isAnswered(String at) {
        try (Socket socket = new Socket()) {
            Address address = Address.parse(at);
            socket.connect(new InetSocketAddress(address.host(), address.port()), CONNECT_MILLIS);
            return true;
        } catch (IOException | IllegalArgumentException e) {
            LOG.debug("{}: nobody answers at {}", place.path(), at);
            return false;
        }
    }

    private ZooKeeper open() throws IOException {
        watcher = new Session();
        return Sessions.open(place.connect(), place.sessionTimeout(), place.credentials(), watcher);
    }

    private Optional<Seen> read()
            throws KeeperException, InterruptedException, Head.UnreadableHeadException {
        String head = place.path() + "/head";
        // An old answer would not fork the service, as writes are conditional; it could refuse
        // without need. A sync may be
        // answered by a leader that was deposed without knowing it yet; a multi is agreed on, its
        // refusal, too.
        try {
            List<OpResult> unused = session.multi(List.of(Op.check("/", -1)));
        } catch (KeeperException.NoAuthException e) {
            LOG.debug("{}: nobody may read the root", place.path());
        }
        if (session.exists(head, true) == null) {
            return Optional.empty();
        }
        Stat stat = new Stat();
        try {
            byte[] content = session.getData(head, false, stat);
            return Optional.of(
                    new Seen(
                            Head.decode(content == null ? new byte[0] : content),
                            stat.getVersion()));
        } catch (KeeperException.NoNodeException e) {
            return Optional.empty();
        }
    }

    private void createHead(Head head) throws KeeperException, InterruptedException {
        written = true;
        try {
            createParents();
            session.create(
                    place.path() + "/head", head.encode(), place.acls(), CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            LOG.debug("{}: the head exists meanwhile", place.path());
        }
    }

    private void createParents() throws KeeperException, InterruptedException {
        for (int slash = place.path().indexOf('/', 1);
                ;
                slash = place.path().indexOf('/', slash + 1)) {
            String parent = slash < 0 ? place.path() : place.path().substring(0, slash);
            if (session.exists(parent, false) == null) {
                try {
                    session.create(parent, new byte[0], place.acls(), CreateMode.PERSISTENT);
                } catch (KeeperException.NodeExistsException e) {
                    LOG.debug("{} exists meanwhile", parent);
                }
            }
            if (slash < 0) {
                return;
            }
        }
    }

    private void setHead(Head head, int version) throws KeeperException, InterruptedException {
        written = true;
        try {
            session.setData(place.path() + "/head", head.encode(), version);
        } catch (KeeperException.BadVersionException | KeeperException.NoNodeException e) {
            LOG.debug("{}: the head changed meanwhile", place.path());
        }
    }

    /**
     * Tells where the service answers, unless this session did already; who does not hold the head
     * can't.
     */
    private void publish() throws KeeperException, InterruptedException {
        if (place.address().isEmpty()) {
            return;
        }
        String at = place.path() + "/at";
        byte[] content = place.address().get().getBytes(StandardCharsets.UTF_8);
        Stat stat = session.exists(at, false);
        try {
            if (stat == null) {
                session.multi(
                        List.of(
                                Op.check(place.path() + "/head", headVersion),
                                Op.create(at, content, place.acls(), CreateMode.EPHEMERAL)));
            } else if (stat.getEphemeralOwner() != session.getSessionId()) {
                // It is of an earlier session or start, as none but the head's holder writes it.
                session.multi(
                        List.of(
                                Op.check(place.path() + "/head", headVersion),
                                Op.delete(at, stat.getVersion()),
                                Op.create(at, content, place.acls(), CreateMode.EPHEMERAL)));
            }
        } catch (KeeperException.BadVersionException
                | KeeperException.NoNodeException
                | KeeperException.NodeExistsException e) {
            again();
        }
    }

    private void again() throws InterruptedException {
        Thread.sleep(RETRY.toMillis());
        events.add(Event.LOOK);
    }

    private void refuse(String reason) {
        closed = true;
        if (taken) {
            LOG.error("{}", reason);
            lost.accept(reason);
        } else {
            refusal = reason;
            decided.countDown();
        }
    }

    private void end() {
        if (session != null) {
            Sessions.close(session);
            session = null;
        }
    }

    /** Watches session and head; called by ZooKeeper's event thread. */
    private final class Session implements Watcher {
        @Override
        public void process(WatchedEvent event) {
            if (watcher != this) {
                return;
            }
            if (event.getState() == Event.KeeperState.Expired) {
                events.add(Office.Event.EXPIRED);
            } else {
                events.add(Office.Event.LOOK);
            }
        }
    }
}
