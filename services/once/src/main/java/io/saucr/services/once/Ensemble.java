package io.saucr.services.once;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.Credentials;
import io.saucr.services.core.once.Answer;
import io.saucr.services.core.once.Declarations.Reply;
import io.saucr.services.core.once.Declarations.Seen;
import io.saucr.services.core.once.MarkerContent;
import io.saucr.services.core.once.Reading;
import io.saucr.services.core.once.Step;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
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
 * The ensemble as a once client sees it: sessions that are opened again when they expire, requests
 * in their order, and what the answers mean. Looks and replacements wait, on the thread of looks;
 * requests are sent by the client's thread, never while a look is under way. {@link #interrupt} by
 * any thread.
 */
final class Ensemble {

    private static final Logger LOG = LoggerFactory.getLogger(Ensemble.class);

    /** As a server formats it, also where it has wrapped. */
    private static final Pattern NUMBER = Pattern.compile("-?\\d{9,10}");

    private static final long SHORTEST_PAUSE_MILLIS = 20;
    private static final long LONGEST_PAUSE_MILLIS = 1000;
    private static final long COMPLAIN_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * Codes that are about the session, the server or the moment, not about an operation: whether
     * the request was handled, or will be, is open.
     */
    private static final Set<Code> OPEN =
            EnumSet.of(
                    Code.CONNECTIONLOSS,
                    Code.OPERATIONTIMEOUT,
                    Code.REQUESTTIMEOUT,
                    Code.SESSIONEXPIRED,
                    Code.SESSIONMOVED,
                    Code.SESSIONCLOSEDREQUIRESASLAUTH,
                    Code.THROTTLEDOP,
                    Code.NOTREADONLY,
                    Code.AUTHFAILED,
                    Code.SYSTEMERROR,
                    Code.RUNTIMEINCONSISTENCY,
                    Code.DATAINCONSISTENCY,
                    Code.MARSHALLINGERROR,
                    Code.UNIMPLEMENTED,
                    Code.APIERROR);

    /**
     * What one multi brought.
     *
     * @param answer as the chain takes it; of a refusal the index counts parts, without the marker
     * @param results of its parts without the marker, where it happened
     * @param refusal why the client can't continue, or null
     */
    record MultiAnswer(Answer answer, List<OpResult> results, String refusal) {}

    private final String connect;
    private final String chroot;
    private final String parent;
    private final Duration sessionTimeout;
    private final Optional<Credentials> credentials;
    private final List<ACL> acls;
    private final Runnable sessionMoved;
    private volatile boolean interrupted;
    private volatile String refusal;
    private volatile Session session;
    private volatile long sessionNumber;
    private int replacements;

    /** One session, and whether it is connected as far as its client knows. */
    private final class Session implements Watcher {
        final long number;
        private volatile boolean disconnected;
        private volatile long disconnectedNanos;
        private ZooKeeper zk;

        Session(long number) {
            this.number = number;
        }

        @Override
        public void process(WatchedEvent event) {
            switch (event.getState()) {
                case SyncConnected, ConnectedReadOnly -> disconnected = false;
                case Disconnected -> {
                    // Said again with each attempt that fails.
                    if (disconnected) {
                        return;
                    }
                    disconnectedNanos = System.nanoTime();
                    disconnected = true;
                    CompletableFuture.delayedExecutor(
                                    sessionTimeout.toMillis() + 1, TimeUnit.MILLISECONDS)
                            .execute(sessionMoved);
                }
                case Expired, AuthFailed, Closed -> sessionMoved.run();
                default -> {}
            }
        }

        boolean isLost() {
            return !zk.getState().isAlive()
                    || (disconnected
                            && System.nanoTime() - disconnectedNanos > sessionTimeout.toNanos());
        }
    }

    Ensemble(
            String connect,
            String chroot,
            String name,
            Duration sessionTimeout,
            Optional<Credentials> credentials,
            List<ACL> acls,
            Runnable sessionMoved) {
        this.connect = connect;
        this.chroot = chroot;
        this.parent = "/once/" + name;
        this.sessionTimeout = sessionTimeout;
        this.credentials = credentials;
        this.acls = acls;
        this.sessionMoved = sessionMoved;
    }

    /** Why the ensemble refuses the client for good, or null. */
    String refusal() {
        return refusal;
    }

    /** Ends waits, because the client is being closed. */
    void interrupt() {
        interrupted = true;
    }

    boolean isInterrupted() {
        return interrupted;
    }

    void close() {
        interrupted = true;
        end();
    }

    private void end() {
        if (session != null) {
            try {
                session.zk.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            session = null;
        }
    }

    private ZooKeeper session() throws IOException {
        if (session != null && !session.zk.getState().isAlive()) {
            end();
        }
        if (session == null) {
            Session next = new Session(sessionNumber + 1);
            next.zk = open(connect + chroot, next);
            session = next;
            sessionNumber = next.number;
        }
        return session.zk;
    }

    private ZooKeeper open(String where, Watcher watcher) throws IOException {
        ZooKeeper opened =
                new ZooKeeper(where, Math.toIntExact(sessionTimeout.toMillis()), watcher);
        credentials.ifPresent(c -> opened.addAuthInfo(c.scheme(), c.secret().getBytes(UTF_8)));
        return opened;
    }

    /** A request that is repeated until it is answered. */
    private interface Look<T> {
        T take(ZooKeeper session)
                throws KeeperException,
                        InterruptedException,
                        MarkerContent.UnreadableMarkerException;
    }

    private <T> Optional<T> until(String what, Look<T> look) {
        long pause = SHORTEST_PAUSE_MILLIS;
        long complained = System.nanoTime();
        long opened = System.nanoTime();
        while (!interrupted) {
            String trouble;
            try {
                return Optional.of(look.take(session()));
            } catch (KeeperException e) {
                if (!OPEN.contains(e.code()) && e.code() != Code.NONODE) {
                    refusal = connect + " refuses to " + what + ": " + e.getMessage();
                    return Optional.empty();
                }
                trouble = e.getMessage();
            } catch (MarkerContent.UnreadableMarkerException e) {
                refusal =
                        ("a marker below %s%s can't be read: %s. Somebody else wrote there; nothing"
                                        + " was changed")
                                .formatted(chroot, parent, e.getMessage());
                return Optional.empty();
            } catch (IOException e) {
                trouble = e.getMessage();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Optional.empty();
            }
            if (System.nanoTime() - complained > COMPLAIN_NANOS) {
                complained = System.nanoTime();
                LOG.info("{}: waiting for {} to {}: {}", chroot + parent, connect, what, trouble);
            }
            if (System.nanoTime() - opened > sessionTimeout.toNanos()) {
                // Servers that were restored from before refuse a session that has seen more than
                // they have, and ZooKeeper's client would ask for ever. What went before can't
                // happen behind a replaced marker, so a new session is as good.
                opened = System.nanoTime();
                end();
            }
            if (!pause(pause)) {
                return Optional.empty();
            }
            pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
        }
        return Optional.empty();
    }

    private boolean pause(long millis) {
        try {
            Thread.sleep(millis);
            return !interrupted;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Parent and markers, not older than this call; empty where the client ends or is refused. */
    Optional<Reading> read() {
        return until(
                "look at the marker",
                zk -> {
                    barrier(zk);
                    Stat stat = zk.exists(parent, false);
                    if (stat == null) {
                        return new Reading(Reading.NO_PARENT, List.of());
                    }
                    List<Reading.Marker> markers = new ArrayList<>();
                    for (String name : zk.getChildren(parent, false)) {
                        Stat own = new Stat();
                        byte[] data = zk.getData(parent + "/" + name, false, own);
                        markers.add(
                                new Reading.Marker(
                                        name,
                                        own.getVersion(),
                                        own.getMzxid(),
                                        MarkerContent.decode(data == null ? new byte[0] : data)));
                    }
                    return new Reading(stat.getVersion(), markers);
                });
    }

    /**
     * What is read behind it is not older than this call, whichever servers serve the session now.
     * A multi that changes nothing is agreed on by a majority, its refusal, too; ZooKeeper's sync
     * is answered by a leader that may have been deposed without knowing it yet.
     */
    private static void barrier(ZooKeeper zk) throws KeeperException, InterruptedException {
        try {
            List<OpResult> unused = zk.multi(List.of(Op.check("/", -1)));
        } catch (KeeperException e) {
            if (OPEN.contains(e.code())) {
                throw e;
            }
        }
    }

    /** Makes the parent and what is above it; a look tells whether it is there. */
    void makeParent() {
        until(
                "make " + chroot + parent,
                zk -> {
                    if (!chroot.isEmpty()) {
                        makeChroot();
                    }
                    createIfMissing(zk, "/once");
                    createIfMissing(zk, parent);
                    return true;
                });
    }

    private void makeChroot() throws KeeperException, InterruptedException {
        ZooKeeper root;
        try {
            root = open(connect, event -> {});
        } catch (IOException e) {
            throw new KeeperException.ConnectionLossException();
        }
        try {
            for (int slash = chroot.indexOf('/', 1); ; slash = chroot.indexOf('/', slash + 1)) {
                createIfMissing(root, slash < 0 ? chroot : chroot.substring(0, slash));
                if (slash < 0) {
                    return;
                }
            }
        } finally {
            root.close();
        }
    }

    private void createIfMissing(ZooKeeper zk, String path)
            throws KeeperException, InterruptedException {
        if (zk.exists(path, false) == null) {
            try {
                zk.create(path, new byte[0], acls, CreateMode.PERSISTENT);
            } catch (KeeperException.NodeExistsException e) {
                LOG.debug("{} exists meanwhile", path);
            }
        }
    }

    /** Sends a replacement once; what became of it a look tells. */
    void replace(Step.Replace replace) {
        // One after the other without a request between them: somebody is in the way, or the
        // servers are.
        if (replacements++ > 1
                && !pause(
                        Math.min(
                                SHORTEST_PAUSE_MILLIS << Math.min(replacements, 6),
                                LONGEST_PAUSE_MILLIS))) {
            return;
        }
        byte[] content = replace.content().encode();
        List<Op> operations = new ArrayList<>();
        operations.add(Op.setData(parent, content, replace.parentVersion()));
        if (replace.old() != null) {
            operations.add(Op.delete(parent + "/" + replace.old(), replace.oldVersion()));
        }
        operations.add(
                Op.create(parent + "/" + replace.name(), content, acls, CreateMode.PERSISTENT));
        try {
            session().multi(operations);
        } catch (KeeperException e) {
            if (!OPEN.contains(e.code())
                    && e.code() != Code.BADVERSION
                    && e.code() != Code.NONODE
                    && e.code() != Code.NODEEXISTS) {
                refusal =
                        connect
                                + " refuses to replace the marker below "
                                + chroot
                                + parent
                                + ": "
                                + e.getMessage();
            }
            LOG.debug("{}: replacing the marker: {}", chroot + parent, e.getMessage());
        } catch (IOException e) {
            LOG.debug("{}: no client: {}", chroot + parent, e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Finds the child that a sequential create made.
     *
     * @return empty where the client ends or is refused; else the child's path, if there is one
     */
    Optional<Optional<String>> find(String sequentialPath, long czxid) {
        int slash = sequentialPath.lastIndexOf('/');
        String above = slash == 0 ? "/" : sequentialPath.substring(0, slash);
        String prefix = sequentialPath.substring(slash + 1);
        return until(
                "find the child of " + sequentialPath,
                zk -> {
                    barrier(zk);
                    List<String> names;
                    try {
                        names = new ArrayList<>(zk.getChildren(above, false));
                    } catch (KeeperException.NoNodeException | KeeperException.NoAuthException e) {
                        // Gone, or not for this client to see: its name is not known.
                        return Optional.empty();
                    }
                    // A multi may have made others of the same czxid, whose names say less.
                    names.removeIf(
                            name ->
                                    !name.startsWith(prefix)
                                            || !NUMBER.matcher(name.substring(prefix.length()))
                                                    .matches());
                    // The newest first: it usually is one of them.
                    names.sort(Comparator.reverseOrder());
                    for (String name : names) {
                        String path = (above.equals("/") ? "" : above) + "/" + name;
                        Stat stat = zk.exists(path, false);
                        if (stat != null && stat.getCzxid() == czxid) {
                            return Optional.of(path);
                        }
                    }
                    return Optional.empty();
                });
    }

    /**
     * Sends a multi behind those before; the answer comes on ZooKeeper's event thread, in their
     * order.
     */
    void send(Step.Send send, List<Op> operations, Consumer<MultiAnswer> answered) {
        replacements = 0;
        List<Op> all = new ArrayList<>(operations.size() + 1);
        all.add(Op.setData(parent + "/" + send.marker(), send.content().encode(), send.version()));
        all.addAll(operations);
        // A session that has ended answers at once; it is opened again by the look that follows.
        session.zk.multi(
                all, (rc, path, context, results) -> answered.accept(answer(rc, results)), null);
    }

    private MultiAnswer answer(int rc, List<OpResult> results) {
        Code code = Code.get(rc);
        if (code == Code.OK) {
            return new MultiAnswer(new Answer.Done(), results.subList(1, results.size()), null);
        }
        if (results == null || OPEN.contains(code)) {
            return new MultiAnswer(
                    new Answer.Unknown(code == Code.CONNECTIONLOSS), List.of(), null);
        }
        for (int part = 0; part < results.size(); part++) {
            int error = ((OpResult.ErrorResult) results.get(part)).getErr();
            if (error == 0 || error == Code.RUNTIMEINCONSISTENCY.intValue()) {
                continue;
            }
            if (part > 0) {
                return new MultiAnswer(new Answer.Refused(part - 1, error), List.of(), null);
            }
            if (error == Code.BADVERSION.intValue() || error == Code.NONODE.intValue()) {
                return new MultiAnswer(new Answer.MarkerMoved(), List.of(), null);
            }
            return new MultiAnswer(
                    null,
                    List.of(),
                    connect
                            + " refuses to write the marker below "
                            + chroot
                            + parent
                            + ": "
                            + Code.get(error));
        }
        return new MultiAnswer(new Answer.Unknown(false), List.of(), null);
    }

    /** The newest session, numbered from 1; 0 before the first. By any thread. */
    long sessionNumber() {
        return sessionNumber;
    }

    /**
     * Whether the session has ended, or could not be used for so long that the servers will have
     * ended it. The next look opens another. By any thread.
     */
    boolean isSessionLost() {
        Session now = session;
        return now != null && now.isLost();
    }

    /**
     * Looks whose a path is, not before this call; does not wait.
     *
     * @param inSession whose look it is
     * @param changed called where the path changes after it was seen, at most once
     * @param answered on ZooKeeper's event thread, or at once: empty where nothing was seen
     */
    void look(long inSession, String path, Runnable changed, Consumer<Optional<Seen>> answered) {
        Session now = session;
        if (now == null || now.number != inSession) {
            answered.accept(Optional.empty());
            return;
        }
        Watcher watcher =
                event -> {
                    if (event.getType() != Watcher.Event.EventType.None) {
                        changed.run();
                    }
                };
        // A barrier, as of other looks; what a session reads next is not older than its answer.
        now.zk.multi(
                List.of(Op.check("/", -1)),
                (rc, multi, context, results) -> {
                    if (rc != 0 && (results == null || OPEN.contains(Code.get(rc)))) {
                        answered.accept(Optional.empty());
                        return;
                    }
                    now.zk.exists(
                            path,
                            watcher,
                            (rcExists, p, c, stat) ->
                                    answered.accept(
                                            seen(Code.get(rcExists), stat, now.zk.getSessionId())),
                            null);
                },
                null);
    }

    private static Optional<Seen> seen(Code code, Stat stat, long self) {
        if (code == Code.NONODE) {
            return Optional.of(Seen.NOTHING);
        } else if (code != Code.OK) {
            return Optional.empty();
        } else if (stat.getEphemeralOwner() == 0) {
            return Optional.of(Seen.LASTING);
        }
        return Optional.of(stat.getEphemeralOwner() == self ? Seen.OWN : Seen.ANOTHERS);
    }

    /**
     * Sends a create or delete of an ephemeral, which happens only where the client's parent has
     * this version (E7).
     *
     * @param inSession in another one it is not sent, and unknown
     * @param answered on ZooKeeper's event thread, or at once
     */
    void sendBeside(long inSession, int parentVersion, Op operation, Consumer<Reply> answered) {
        Session now = session;
        if (now == null || now.number != inSession) {
            answered.accept(new Reply.Unknown());
            return;
        }
        now.zk.multi(
                List.of(Op.check(parent, parentVersion), operation),
                (rc, path, context, results) -> answered.accept(reply(rc, operation, results)),
                null);
    }

    private static Reply reply(int rc, Op operation, List<OpResult> results) {
        Code code = Code.get(rc);
        if (code == Code.OK) {
            return new Reply.Done();
        }
        if (results == null || OPEN.contains(code)) {
            return new Reply.Unknown();
        }
        Code moved = operation instanceof Op.Create ? Code.NODEEXISTS : Code.NONODE;
        for (int part = 0; part < results.size(); part++) {
            int error = ((OpResult.ErrorResult) results.get(part)).getErr();
            if (error == 0 || error == Code.RUNTIMEINCONSISTENCY.intValue()) {
                continue;
            }
            if (part > 0) {
                return error == moved.intValue() ? new Reply.PathMoved() : new Reply.Refused(error);
            }
            return error == Code.BADVERSION.intValue() || error == Code.NONODE.intValue()
                    ? new Reply.ParentMoved()
                    : new Reply.Refused(error);
        }
        return new Reply.Unknown();
    }

    /**
     * The path of a created child as the client's user knows it. ZooKeeper's client leaves the
     * chroot in the results of a multi; one that takes it away is as good.
     *
     * @param path as the result has it
     * @param sequentialPath what was asked for, without the chroot
     */
    String withoutChroot(String path, String sequentialPath) {
        String whole = chroot + sequentialPath;
        return path.startsWith(whole) && NUMBER.matcher(path.substring(whole.length())).matches()
                ? path.substring(chroot.length())
                : path;
    }
}
