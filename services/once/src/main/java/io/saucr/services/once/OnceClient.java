package io.saucr.services.once;

import io.saucr.services.Credentials;
import io.saucr.services.core.Birth;
import io.saucr.services.core.once.Declarations.Standing;
import io.saucr.services.core.once.MarkerChain;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes to a ZooKeeper ensemble, each exactly once and in order: across ConnectionLoss, session
 * expiry and, with a folder, the crash of this process. An operation is done or refused for good;
 * there is no "perhaps". Operations are pipelined: as many as are given are under way.
 *
 * <p>In the ensemble it has one znode below {@code /once/NAME} of the chroot, the marker, which
 * says how far it is. Nobody else may write there. Works with every server that has multis and
 * {@code ZooKeeper} clients of 3.9.
 *
 * <p>Thread-safe. One thread of its own decides and talks to the ensemble; it completes the
 * futures, so what depends on them must not block. When a future of an operation without a key has
 * completed, and what was registered with it has returned, the outcome counts as told and is not
 * told again after a restart.
 */
public final class OnceClient implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(OnceClient.class);

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,128}");

    /** What the marker and the frame of a request take of jute.maxbuffer. */
    static final int SHARE_BYTES = 32 << 10;

    private static final int LONGEST_KEY = 1024;

    private final Builder settings;
    private final int mostBytes;
    private final ClientThread thread;

    private OnceClient(Builder settings) throws IOException {
        this.settings = settings;
        this.mostBytes = Integer.getInteger("jute.maxbuffer", 0xfffff) - SHARE_BYTES;
        this.thread = new ClientThread(settings);
    }

    /**
     * A client of an ensemble.
     *
     * @param connect servers as for ZooKeeper's client, with a chroot if wanted:
     *     "zk1:2181,zk2:2181/apps/bank"; every path of an operation is below it
     */
    public static Builder at(String connect) {
        return new Builder(connect);
    }

    /** What a client is to be like. Not thread-safe. */
    public static final class Builder {
        final String connect;
        final String chroot;
        String name;
        Path folder;
        OnceLog log;
        Duration sessionTimeout = Duration.ofSeconds(15);
        Optional<Credentials> credentials = Optional.empty();
        final Set<Birth> instead = new HashSet<>();
        List<ACL> acls = ZooDefs.Ids.OPEN_ACL_UNSAFE;
        MarkerChain.Limits limits = MarkerChain.Limits.usual();
        int openOperations = 10_000;
        BiConsumer<String, Standing> onEphemeral = (path, standing) -> {};
        Consumer<String> onStop = reason -> LOG.error("once client stopped: {}", reason);

        private Builder(String connect) {
            int slash = connect.indexOf('/');
            this.connect = slash < 0 ? connect : connect.substring(0, slash);
            this.chroot =
                    slash < 0 || slash == connect.length() - 1 ? "" : connect.substring(slash);
            if (this.connect.isBlank()) {
                throw new IllegalArgumentException(
                        "no servers in \"" + connect + "\"; as in zk1:2181,zk2:2181/apps");
            }
            if (!chroot.isEmpty()) {
                PathUtils.validatePath(chroot);
            }
        }

        /**
         * The client's name in the ensemble, of which there is one at a time; with a folder always
         * the same. Without a folder it may be left out.
         *
         * @param name 1 to 128 letters, digits, dots, dashes and underscores
         */
        public Builder name(String name) {
            if (!NAME.matcher(name).matches() || name.equals(".") || name.equals("..")) {
                throw new IllegalArgumentException(
                        "a client's name has 1 to 128 letters, digits, dots, dashes and underscores, not \""
                                + name
                                + "\"");
            }
            this.name = name;
            return this;
        }

        /**
         * Where operations are written before they are sent, so that they survive this process;
         * made where missing.
         */
        public Builder folder(Path folder) {
            this.folder = folder;
            return this;
        }

        /**
         * Operations are written there before they are sent, instead of in a folder: by a service
         * into its state, so that they survive wherever it continues. The client declares no
         * ephemerals then; {@link #close} does not wait for its end.
         */
        public Builder log(OnceLog log) {
            this.log = log;
            return this;
        }

        /** Default: 15 s. */
        public Builder sessionTimeout(Duration timeout) {
            if (timeout.toMillis() < 1 || timeout.compareTo(Duration.ofHours(1)) > 0) {
                throw new IllegalArgumentException(
                        "a session's timeout is from 1 ms to an hour, not " + timeout);
            }
            this.sessionTimeout = timeout;
            return this;
        }

        /**
         * Who the client is, as for {@code addAuthInfo}: scheme "digest", secret "user:password".
         */
        public Builder credentials(String scheme, String secret) {
            this.credentials = Optional.of(new Credentials(scheme, secret));
            return this;
        }

        /** ACLs of the client's own znodes; default: everybody may do everything. */
        public Builder acls(List<ACL> acls) {
            if (acls.isEmpty()) {
                throw new IllegalArgumentException("one ACL or more");
            }
            // ZooKeeper's client asks whether it contains null, which List.copyOf's lists refuse.
            this.acls = Collections.unmodifiableList(new ArrayList<>(acls));
            return this;
        }

        /**
         * An operator gave up a folder of this name, of this birth: its marker is replaced by a
         * fresh one. Whether what it had open happened is not known any more; nothing of it can
         * happen behind that (E5, E9). May be said of several.
         */
        public Builder insteadOf(Birth birth) {
            instead.add(birth);
            return this;
        }

        /** How many operations are under way, and the like. */
        public Builder limits(MarkerChain.Limits limits) {
            this.limits = limits;
            return this;
        }

        /**
         * How many operations may be open, that is given and not decided, before {@link #submit}
         * refuses more; default 10,000. They are held in memory.
         *
         * @param most 1 to 1,000,000
         */
        public Builder openOperations(int most) {
            if (most < 1 || most > 1_000_000) {
                throw new IllegalArgumentException(
                        "from 1 to 1000000 operations may be open, not " + most);
            }
            this.openOperations = most;
            return this;
        }

        /**
         * Told of each change of an ephemeral that was declared, with its path, on the client's
         * thread: it must not block.
         */
        public Builder onEphemeral(BiConsumer<String, Standing> listener) {
            this.onEphemeral = listener;
            return this;
        }

        /** Told once, with the reason, when the client has to stop for ever; default: the log. */
        public Builder onStop(Consumer<String> listener) {
            this.onStop = listener;
            return this;
        }

        /**
         * Opens the folder, where there is one, and starts. Does not wait for the ensemble.
         *
         * @throws RefusedFolderException where the folder is in use, damaged or another client's
         * @throws IOException where the disk fails
         */
        public OnceClient open() throws IOException {
            if (name == null) {
                if (folder != null || log != null) {
                    throw new IllegalArgumentException(
                            "a client that survives has a name, always the same");
                }
                name =
                        "c-"
                                + new Birth(
                                        new SecureRandom().nextLong(),
                                        new SecureRandom().nextLong());
            }
            OnceClient client = new OnceClient(this);
            client.thread.begin();
            return client;
        }
    }

    /**
     * Operations of earlier starts whose outcome was not told: they continue, and are told here.
     * With a key they can be asked for by {@link #submit(String, Operation)}, too.
     *
     * @return by number
     */
    public Map<Long, CompletableFuture<Outcome>> recovered() {
        refuseOwnThread("recovered()");
        CompletableFuture<Map<Long, CompletableFuture<Outcome>>> answer = new CompletableFuture<>();
        thread.enqueue(() -> answer.complete(thread.open()), answer);
        return answer.join();
    }

    /**
     * Does an operation, exactly once.
     *
     * @return completes with the outcome, refusals included; exceptionally with {@link
     *     GaveUpException} where it was given up, and with {@link StoppedException} where the
     *     client stops before it is decided
     * @throws IllegalArgumentException where it is larger than a request may be: it has no number
     *     then (E1)
     * @throws RejectedExecutionException where as many operations as may be are open: it has no
     *     number then, and nothing was done
     */
    public CompletableFuture<Outcome> submit(Operation operation) {
        return submit("", operation);
    }

    /**
     * Does an operation, once for each key: where the key was given before, by an earlier start,
     * too, its outcome is told again, and nothing is done (E10). The newest 100,000 keys are
     * remembered. Where as many operations as may be are open, known keys are refused, too.
     *
     * @param key 1 to 1024 characters, or empty for none
     */
    public CompletableFuture<Outcome> submit(String key, Operation operation) {
        refuseTooLarge(operation, operation.bytes());
        if (key.length() > LONGEST_KEY) {
            throw new IllegalArgumentException(
                    "a key has at most " + LONGEST_KEY + " characters, not " + key.length());
        }
        if (!thread.takesOne()) {
            throw new RejectedExecutionException(
                    ("client %s has %s operations open, and no more are allowed (openOperations):"
                                    + " give more once some are decided. If none are, the ensemble may be away")
                            .formatted(settings.name, settings.openOperations));
        }
        CompletableFuture<Outcome> future = new CompletableFuture<>();
        thread.enqueue(() -> thread.accept(key, operation, future), future);
        return future;
    }

    /** Declares an ephemeral node that everybody may do everything with. */
    public CompletableFuture<Void> declareEphemeral(String path, byte[] data) {
        return declareEphemeral(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    /**
     * From now on this is an ephemeral node of each session of the client, after a restart on its
     * folder, too, until {@link #withdraw} (E7). Another session's node of that path is waited out,
     * never deleted; one that disappears is made again. Declared again with other data or ACLs, the
     * node is deleted and made anew.
     *
     * @param path absolute, below the client's chroot
     * @param data of the node, may be empty
     * @param acls of the node, at least one
     * @return completes once the node is there; exceptionally with {@link KeeperException} where
     *     the ensemble refuses it: it stays declared, and is tried again in the next session or
     *     when it is declared again
     * @throws IllegalArgumentException where the path is none or the client's own, data or ACLs are
     *     missing, or it is larger than a request may be
     */
    public CompletableFuture<Void> declareEphemeral(String path, byte[] data, List<ACL> acls) {
        Ephemeral ephemeral = Ephemeral.of(path, data, acls);
        String own = "/once/" + settings.name;
        if (path.equals(own) || path.startsWith(own + "/")) {
            throw new IllegalArgumentException(
                    path + ": nobody but the client itself writes below " + own);
        }
        refuseTooLarge(ephemeral, ephemeral.bytes());
        CompletableFuture<Void> held = new CompletableFuture<>();
        thread.enqueue(() -> thread.accept(ephemeral, held), held);
        return held;
    }

    /**
     * The ephemeral of this path is none of the client's any more.
     *
     * @return completes once the node of this session is removed, and none comes any more; a node
     *     of an earlier session stays until the servers end that. Exceptionally with {@link
     *     IllegalArgumentException} where it is not declared, and with {@link KeeperException}
     *     where the ensemble refuses to delete it
     */
    public CompletableFuture<Void> withdraw(String path) {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        thread.enqueue(() -> thread.acceptWithdrawal(path, gone), gone);
        return gone;
    }

    /**
     * Does an operation and waits for it.
     *
     * @throws KeeperException where it was refused
     * @throws GaveUpException where it was given up
     * @throws StoppedException where the client stops before it is decided
     */
    public Outcome perform(Operation operation) throws KeeperException, InterruptedException {
        refuseOwnThread("what waits for an operation");
        TurnGuard.refuse("what waits for an operation", "write by turn.ensemble()");
        Outcome outcome;
        try {
            outcome = submit(operation).get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause
                    ? cause
                    : new IllegalStateException(e.getCause());
        }
        if (!outcome.happened()) {
            throw KeeperException.create(
                    outcome.refusal().get(), operation.parts().get(0).getPath());
        }
        return outcome;
    }

    /** Creates a node and waits; see {@link #perform}. */
    public void create(String path, byte[] data) throws KeeperException, InterruptedException {
        perform(Operation.create(path, data));
    }

    /**
     * Creates a sequential node and waits; the path of the child, or empty where it is not known
     * any more (E6).
     */
    public Optional<String> createSequential(String path, byte[] data)
            throws KeeperException, InterruptedException {
        return perform(Operation.createSequential(path, data)).created();
    }

    /** Sets data and waits; see {@link #perform}. */
    public void setData(String path, byte[] data, int version)
            throws KeeperException, InterruptedException {
        perform(Operation.setData(path, data, version));
    }

    /** Deletes a node and waits; see {@link #perform}. */
    public void delete(String path, int version) throws KeeperException, InterruptedException {
        perform(Operation.delete(path, version));
    }

    /** Does several writes, all or none, and waits; see {@link #perform}. */
    public void multi(List<Op> operations) throws KeeperException, InterruptedException {
        perform(Operation.multi(operations));
    }

    /**
     * Ends the client. Futures that are open complete with {@link StoppedException}; with a folder
     * their operations continue at the next start.
     */
    @Override
    public void close() {
        thread.close();
        if (thread.isCurrent() || settings.log != null) {
            // Called by what a future told: the thread ends when that has returned. Or nothing of
            // this machine has to be left to another start.
            return;
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void refuseTooLarge(Object what, int bytes) {
        if (bytes > mostBytes) {
            throw new IllegalArgumentException(
                    what
                            + " has "
                            + bytes
                            + " bytes; allowed are "
                            + mostBytes
                            + ": jute.maxbuffer less what the marker takes");
        }
    }

    private void refuseOwnThread(String what) {
        if (thread.isCurrent()) {
            throw new IllegalStateException(
                    what
                            + " would wait for the thread that tells outcomes, and this is it. Use submit,"
                            + " or another thread");
        }
    }
}
