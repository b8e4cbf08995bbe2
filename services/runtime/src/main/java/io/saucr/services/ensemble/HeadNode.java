package io.saucr.services.ensemble;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.core.head.Head;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * The head of a service in the ensemble, and the address that clients know. Below the service's
 * path:
 *
 * <pre>
 * head    persistent, one line: who holds the service; changed by conditional writes alone (C5)
 * head.N  the same, once head was written a billion times; head names it then
 * at      ephemeral, host:port of who holds it; written together with the head or a check of it, so only by its holder
 * </pre>
 *
 * <p>Each request is answered by one call of the {@link Listener}, but a check. All methods but
 * {@link #close}, and all calls of the listener, run on the executor given, one at a time.
 *
 * @param <H> what a head says
 */
public class HeadNode<H> extends EnsembleSession {

    /**
     * A znode's version has 32 bits, and wraps after three weeks at full rate. Long before, the
     * head continues under a new name, so that no version ever comes again (C5).
     */
    static final int MOST_VERSION = 1 << 30;

    /** What the znode {@code head} says where the head has gone on under another name. */
    private static final Pattern MOVED =
            Pattern.compile("saucr-standby-head-at 1 (head\\.[0-9]{1,9})\n");

    /**
     * Hears what became of requests.
     *
     * @param <H> what a head says
     */
    public interface Listener<H> {

        /** The head was read; empty where there is none. */
        void read(Optional<H> head, int version);

        /** The head was written, or made, or the address published; it has this version now. */
        void wrote(int version);

        /** A write or creation was refused, or nobody knows what came of it (C13). */
        void unknown(String why);

        /** The ensemble does not allow it. */
        void refused(String reason);

        /** Nobody can read the head. */
        default void unreadable(String reason) {
            refused(reason);
        }

        /** A connection began or ended, or the head changed that was read last. */
        default void changed() {}
    }

    private final HeadText<H> text;
    private final Listener<? super H> listener;
    private final int mostVersion;

    /** The name of the znode that holds the head, as it was read last. */
    private String current = "head";

    private Optional<String> address;
    private boolean published;

    /** What deletes the address again, as long as the head has not changed since. */
    private volatile List<Op> farewell = List.of();

    /**
     * Nothing is sent before the first request.
     *
     * @param place where the service is; its address does not count here
     * @param executor of one thread
     * @param address that clients are told; empty as long as there is none
     */
    HeadNode(
            ServicePath place,
            HeadText<H> text,
            ScheduledExecutorService executor,
            Listener<? super H> listener,
            Optional<String> address,
            int mostVersion) {
        super(place, executor);
        this.text = text;
        this.listener = listener;
        this.mostVersion = mostVersion;
        this.address = address;
    }

    /** Clients are told this address with the next write that is to publish it. */
    public final void address(String now) {
        published &= address.equals(Optional.of(now));
        address = Optional.of(now);
    }

    /** Whether this session told clients the address. */
    protected final boolean isPublished() {
        return published;
    }

    protected final String path(String name) {
        return place.path() + "/" + name;
    }

    @Override
    protected void ended() {
        published = false;
    }

    @Override
    protected List<Op> farewell() {
        return farewell;
    }

    @Override
    protected void connected(ZooKeeper to) {
        listener.changed();
    }

    @Override
    protected void expired() {
        listener.changed();
    }

    @Override
    protected void changed(WatchedEvent event) {
        listener.changed();
    }

    @Override
    protected final void refused(String reason) {
        listener.refused(reason);
    }

    /** Whether {@link Listener#changed} gets the head that was read. */
    protected boolean watchesHead() {
        return true;
    }

    /** Requests something where there is a session. */
    protected final void ask(Consumer<ZooKeeper> request) {
        ZooKeeper asked = session();
        if (asked == null) {
            listener.unknown("no session");
        } else {
            request.accept(asked);
        }
    }

    /** Continues after a request that succeeded; else the listener hears that. */
    protected final void ifOk(Code code, Runnable then) {
        if (code == Code.OK) {
            then.run();
        } else {
            outcome(code, listener::unknown);
        }
    }

    /** Continues as well where a znode exists, or does not, as another did the same. */
    protected final void ifOk(Code code, Code orElse, Runnable then) {
        ifOk(code == orElse ? Code.OK : code, then);
    }

    /** Reads the head as it is after all that was written before; tries until it is answered. */
    public final void read() {
        ZooKeeper asked = session();
        if (asked == null) {
            again(this::read);
            return;
        }
        // A sync may be answered by a leader that was deposed without knowing it yet; a multi is
        // agreed on.
        multi(
                asked,
                List.of(Op.check("/", -1)),
                (code, results) -> {
                    if (code == Code.OK || code == Code.NOAUTH) {
                        readFrom(asked, "head");
                    } else {
                        failed(code, this::read);
                    }
                });
    }

    private void readFrom(ZooKeeper asked, String name) {
        if (!isCurrent(asked)) {
            // The watch would be told what becomes of the session before.
            again(this::read);
            return;
        }
        data(
                asked,
                path(name),
                watchesHead() ? watcher() : null,
                (code, data, stat) -> gotHead(asked, name, code, data, stat));
    }

    private void gotHead(ZooKeeper asked, String name, Code code, byte[] data, Stat stat) {
        Optional<String> moved = movedTo(data);
        if (code == Code.OK && name.equals("head") && moved.isPresent()) {
            readFrom(asked, moved.get());
        } else if (code == Code.NONODE && !name.equals("head")) {
            // It has moved on meanwhile.
            again(this::read);
        } else if (code == Code.NONODE) {
            listener.read(Optional.empty(), 0);
        } else if (code != Code.OK) {
            failed(code, this::read);
        } else {
            H head;
            try {
                head = text.decode().decode(data);
            } catch (Head.UnreadableHeadException e) {
                listener.unreadable(unreadable(data, e));
                return;
            }
            current = name;
            listener.read(Optional.of(head), stat.getVersion());
        }
    }

    /** Under which name the head has gone on, where that is what the znode head says. */
    static Optional<String> movedTo(byte[] content) {
        Matcher moved = MOVED.matcher(new String(content, UTF_8));
        return moved.matches() ? Optional.of(moved.group(1)) : Optional.empty();
    }

    /** For people. */
    protected String unreadable(byte[] data, Head.UnreadableHeadException e) {
        return "the head of "
                + place.path()
                + " can't be read: "
                + e.getMessage()
                + ". Nothing was changed";
    }

    /** Makes the first head, and what is missing above it. */
    public final void create(H head) {
        ask(asked -> createBelow(asked, 1, head));
    }

    /** Parents one after the other, as they are few and made once. */
    private void createBelow(ZooKeeper asked, int from, H head) {
        int slash = path("head").indexOf('/', from);
        if (slash < 0) {
            create(
                    asked,
                    path("head"),
                    text.encode().apply(head),
                    CreateMode.PERSISTENT,
                    (code, made) ->
                            ifOk(
                                    code,
                                    () -> {
                                        current = "head";
                                        listener.wrote(0);
                                    }));
            return;
        }
        String parent = path("head").substring(0, slash);
        Runnable next = () -> createBelow(asked, slash + 1, head);
        // Who may not create anything there need not, where it exists.
        exists(
                asked,
                parent,
                null,
                (code, stat) -> {
                    if (code == Code.NONODE) {
                        create(
                                asked,
                                parent,
                                new byte[0],
                                CreateMode.PERSISTENT,
                                (came, made) -> ifOk(came, Code.NODEEXISTS, next));
                    } else {
                        ifOk(code, next);
                    }
                });
    }

    /**
     * Sets the head on a version.
     *
     * @param publishing whether clients are to be told this member's address with it, where this
     *     session has not done so
     */
    public final void write(H head, int version, boolean publishing) {
        ask(
                asked -> {
                    byte[] content = text.encode().apply(head);
                    if (version >= mostVersion) {
                        moveOn(asked, content, version);
                    } else if (publishing && !published && address.isPresent()) {
                        publish(asked, Op.setData(path(current), content, version), version);
                    } else {
                        set(
                                asked,
                                path(current),
                                content,
                                version,
                                (code, stat) ->
                                        ifOk(code, () -> listener.wrote(stat.getVersion())));
                    }
                });
    }

    /**
     * Tells clients the address as long as the head has a version, where this session has not done
     * so.
     */
    public final void publish(int version) {
        ask(
                asked -> {
                    if (published || address.isEmpty()) {
                        listener.wrote(version);
                    } else {
                        publish(asked, Op.check(path(current), version), version);
                    }
                });
    }

    /** Any address is of an earlier session or start, as none but the head's holder writes it. */
    private void publish(ZooKeeper asked, Op head, int version) {
        exists(
                asked,
                path("at"),
                null,
                (code, stat) ->
                        ifOk(code, Code.NONODE, () -> publish(asked, head, stat != null, version)));
    }

    private void publish(ZooKeeper asked, Op head, boolean replacing, int version) {
        String told = address.orElseThrow();
        farewell = List.of(Op.check(path(current), version), Op.delete(path("at"), -1));
        List<Op> ops = new ArrayList<>();
        ops.add(head);
        if (replacing) {
            ops.add(Op.delete(path("at"), -1));
        }
        ops.add(Op.create(path("at"), told.getBytes(UTF_8), place.acls(), CreateMode.EPHEMERAL));
        multi(
                asked,
                ops,
                (code, results) -> {
                    // Another one may be there meanwhile, for the next write.
                    published = code == Code.OK && address.equals(Optional.of(told));
                    ifOk(
                            code,
                            () ->
                                    listener.wrote(
                                            results.get(0) instanceof OpResult.SetDataResult set
                                                    ? set.getStat().getVersion()
                                                    : version));
                });
    }

    /**
     * Reads the address that clients know; who asks hears it, or nothing where there is none. Where
     * nobody knows, the listener hears that.
     */
    public final void address(Consumer<Optional<String>> takes) {
        ask(
                asked ->
                        data(
                                asked,
                                path("at"),
                                null,
                                (code, data, stat) -> {
                                    Optional<String> at = Optional.of(new String(data, UTF_8));
                                    ifOk(
                                            code,
                                            Code.NONODE,
                                            () -> takes.accept(at.filter(it -> code == Code.OK)));
                                }));
    }

    /** The head is written under a new name, with the first version. */
    private void moveOn(ZooKeeper asked, byte[] content, int version) {
        boolean first = current.equals("head");
        int number = first ? 1 : Integer.parseInt(current.substring(current.indexOf('.') + 1)) + 1;
        String next = "head." + number;
        byte[] moved = ("saucr-standby-head-at 1 " + next + "\n").getBytes(UTF_8);
        List<Op> ops = new ArrayList<>();
        // The one that does not hold this version moves nothing.
        ops.add(Op.setData(path("head"), moved, first ? version : -1));
        if (!first) {
            ops.add(Op.delete(path(current), version));
        }
        ops.add(Op.create(path(next), content, place.acls(), CreateMode.PERSISTENT));
        multi(
                asked,
                ops,
                (code, results) ->
                        ifOk(
                                code,
                                () -> {
                                    current = next;
                                    listener.wrote(0);
                                }));
    }

    /**
     * Asks whether the head has a version still, as a write would (C8).
     *
     * @param answer hears it, instead of the listener: false where not, or where nobody knows. It
     *     is of the one that asked, as one who comes later may ask the same
     */
    public final void check(int version, Consumer<Boolean> answer) {
        ZooKeeper asked = session();
        if (asked == null) {
            answer.accept(false);
            return;
        }
        multi(
                asked,
                List.of(Op.check(path(current), version)),
                (code, results) -> {
                    if (code == Code.OK) {
                        answer.accept(true);
                    } else {
                        outcome(code, why -> answer.accept(false));
                    }
                });
    }
}
