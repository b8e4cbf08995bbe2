package io.saucr.services.once;

import io.saucr.services.Credentials;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.once.Answer;
import io.saucr.services.core.once.Declarations.Standing;
import io.saucr.services.core.once.MarkerChain;
import io.saucr.services.core.once.Reading;
import io.saucr.services.core.once.Step;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.JournalListener;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.once.OnceRecords.Accepted;
import io.saucr.services.once.OnceRecords.Decided;
import io.saucr.services.once.OnceRecords.Declared;
import io.saucr.services.once.OnceRecords.Entry;
import io.saucr.services.once.OnceRecords.MarkerMade;
import io.saucr.services.once.OnceRecords.Withdrawn;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
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

    /** So many events at most are handled before what they accepted is sent. */
    private static final int EVENTS_TOGETHER = 256;

    private static final int LONGEST_KEY = 1024;

    private final Builder settings;
    private final BlockingQueue<Runnable> events = new LinkedBlockingQueue<>();
    private final Thread thread;
    private final int mostBytes;

    /** Of the thread. */
    private final OnceRecords records;

    private final Map<Long, CompletableFuture<Outcome>> futures = new HashMap<>();
    private final Map<String, Long> openKeys = new HashMap<>();
    private final Map<Long, List<OpResult>> results = new HashMap<>();
    private final Ensemble ensemble;
    private final Ephemerals ephemerals;
    private final MarkerChain chain;

    /** Where records are written; null where they last as long as this process. */
    private final OnceLog log;

    /** For how many more operations there is room. */
    private final Semaphore room;

    private long appended;

    /** What waits until a record is forced, in the order of the records. */
    private final Deque<Waiting> waiting = new ArrayDeque<>();

    private record Waiting(long record, Runnable then) {}

    /** Without a log: what follows the event that runs. */
    private final Deque<Runnable> next = new ArrayDeque<>();

    /** The newest operation that is forced, and the one of which the chain knows so. */
    private long forcedUpTo;

    private long toldForced;

    /** The thread that waits for the ensemble. */
    private final ExecutorService looks;

    /** Whether the ensemble may know of this start. */
    private boolean written;

    /** Written by the thread; read under the lock by whoever submits. */
    private final Object lock = new Object();

    private String stopped;

    private OnceClient(Builder settings) throws IOException {
        this.settings = settings;
        this.mostBytes = Integer.getInteger("jute.maxbuffer", 0xfffff) - SHARE_BYTES;
        SecureRandom random = new SecureRandom();
        List<Incarnation> known;
        if (settings.log != null) {
            log = settings.log;
        } else if (settings.folder != null) {
            log = FolderLog.open(settings.folder, settings.name, random);
        } else {
            log = null;
        }
        if (log == null) {
            records = new OnceRecords();
            known =
                    List.of(
                            new Incarnation(
                                    new Birth(random.nextLong(), random.nextLong()),
                                    1,
                                    random.nextLong()));
        } else {
            records = log.records();
            known = log.starts();
        }
        chain =
                new MarkerChain(
                        settings.name,
                        new MarkerChain.Past(
                                known,
                                records.markerMade,
                                records.highestDecided,
                                records.lastNumber,
                                settings.instead),
                        settings.limits);
        ensemble =
                new Ensemble(
                        settings.connect,
                        settings.chroot,
                        settings.name,
                        settings.sessionTimeout,
                        settings.credentials,
                        settings.acls,
                        () -> events.add(() -> {}));
        ephemerals =
                new Ephemerals(
                        ensemble, events::add, () -> act(chain.disturbed()), settings.onEphemeral);
        // More may have been left by an earlier start, which had another limit.
        room = new Semaphore(settings.openOperations - records.open.size());
        looks = oneThread(settings.name, "looks");
        thread = new Thread(this::run, "once client " + settings.name);
        thread.setDaemon(true);
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
        private final String connect;
        private final String chroot;
        private String name;
        private Path folder;
        private OnceLog log;
        private Duration sessionTimeout = Duration.ofSeconds(15);
        private Optional<Credentials> credentials = Optional.empty();
        private final Set<Birth> instead = new HashSet<>();
        private List<ACL> acls = ZooDefs.Ids.OPEN_ACL_UNSAFE;
        private MarkerChain.Limits limits = MarkerChain.Limits.usual();
        private int openOperations = 10_000;
        private BiConsumer<String, Standing> onEphemeral = (path, standing) -> {};
        private Consumer<String> onStop = reason -> LOG.error("once client stopped: {}", reason);

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
         * into its state, so that they survive wherever it goes on. The client declares no
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

        /** ACLs of the client's own znodes; preset: everybody may do everything. */
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
         * refuses more; preset 10,000. They are held in memory.
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

        /** Told once, with the reason, when the client has to stop for ever; preset: the log. */
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
            client.begin();
            return client;
        }
    }

    private void begin() {
        for (Accepted each : records.open.values()) {
            futures.put(each.number(), new CompletableFuture<>());
            if (!each.key().isEmpty()) {
                openKeys.put(each.key(), each.number());
            }
        }
        if (log != null) {
            appended =
                    log.begin(
                            new JournalListener() {
                                @Override
                                public void forced(long record) {
                                    events.add(() -> afterForce(record));
                                }

                                @Override
                                public void failed(IOException cause) {
                                    events.add(() -> stop(log + " failed: " + cause));
                                }
                            });
        }
        events.add(
                () -> {
                    for (Ephemeral each : records.ephemerals.values()) {
                        // Whoever declares it again is told.
                        ephemerals.declare(each, new CompletableFuture<>());
                    }
                    long last = 0;
                    for (Accepted each : List.copyOf(records.open.values())) {
                        act(
                                chain.submitted(
                                        each.number(),
                                        isSequential(each),
                                        each.operation().bytes()));
                        last = each.number();
                    }
                    if (last > 0) {
                        forcedUpTo = last;
                        tellForced();
                    }
                    act(chain.start());
                });
        thread.start();
    }

    private static boolean isSequential(Accepted accepted) {
        return accepted.operation().sequentialPath() != null;
    }

    /**
     * Operations of earlier starts whose outcome was not told: they go on, and are told here. With
     * a key they can be asked for by {@link #submit(String, Operation)}, too.
     *
     * @return by number
     */
    public Map<Long, CompletableFuture<Outcome>> recovered() {
        refuseOwnThread("recovered()");
        CompletableFuture<Map<Long, CompletableFuture<Outcome>>> answer = new CompletableFuture<>();
        enqueue(() -> answer.complete(new TreeMap<>(futures)), answer);
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
        if (!room.tryAcquire()) {
            throw new RejectedExecutionException(
                    "client "
                            + settings.name
                            + " has "
                            + settings.openOperations
                            + " operations open, and no more are allowed (openOperations): give more once"
                            + " some are decided. If none are, the ensemble may be away");
        }
        CompletableFuture<Outcome> future = new CompletableFuture<>();
        enqueue(() -> accept(key, operation, future), future);
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
        enqueue(() -> accept(ephemeral, held), held);
        return held;
    }

    /**
     * The ephemeral of this path is none of the client's any more.
     *
     * @return completes once the node of this session is gone, and none comes any more; a node of
     *     an earlier session stays until the servers end that. Exceptionally with {@link
     *     IllegalArgumentException} where it is not declared, and with {@link KeeperException}
     *     where the ensemble refuses to delete it
     */
    public CompletableFuture<Void> withdraw(String path) {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        enqueue(() -> acceptWithdrawal(path, gone), gone);
        return gone;
    }

    private void enqueue(Runnable event, CompletableFuture<?> future) {
        synchronized (lock) {
            if (stopped == null) {
                events.add(new Question(event, future));
                return;
            }
        }
        future.completeExceptionally(new StoppedException(stopped));
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
     * their operations go on at the next start.
     */
    @Override
    public void close() {
        synchronized (lock) {
            if (stopped == null) {
                events.add(() -> end("the client was closed", false));
            }
        }
        if (Thread.currentThread() == thread || settings.log != null) {
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
        if (Thread.currentThread() == thread) {
            throw new IllegalStateException(
                    what
                            + " would wait for the thread that tells outcomes, and this is it. Use submit,"
                            + " or another thread");
        }
    }

    // What follows runs on the client's thread.

    private void run() {
        try {
            while (!isStopped()) {
                Runnable event = events.take();
                for (int count = 1; event != null && !isStopped(); count++) {
                    event.run();
                    afterEvent();
                    event = count < EVENTS_TOGETHER ? events.poll() : null;
                }
                if (!isStopped()) {
                    tellForced();
                    if (log != null) {
                        // One force for all that these events wrote.
                        log.force();
                    }
                    ephemerals.keep(chain.parentVersion());
                }
            }
        } catch (InterruptedException e) {
            end("the client was interrupted", false);
        } catch (DeadJournalException e) {
            stop(log + " failed: " + e.getMessage());
        } catch (RuntimeException | Error e) {
            LOG.error("once client {}: a defect", settings.name, e);
            stop("a defect: " + e);
        } finally {
            ensemble.interrupt();
            looks.shutdownNow();
            awaitEnd(looks);
            ensemble.close();
            if (log != null) {
                log.close(written);
            }
        }
    }

    /** What needs no force follows at once, but not within what led to it. */
    private void afterEvent() {
        for (Runnable then = next.poll(); then != null && !isStopped(); then = next.poll()) {
            then.run();
        }
    }

    /** Lets the chain send what was accepted since, so that it goes together (E2). */
    private void tellForced() {
        if (forcedUpTo > toldForced) {
            toldForced = forcedUpTo;
            act(chain.forced(forcedUpTo));
            afterEvent();
        }
    }

    /** A thread that works for a client, named after it. */
    static ExecutorService oneThread(String client, String what) {
        return Executors.newSingleThreadExecutor(
                work -> {
                    Thread working = new Thread(work, "once client " + client + ", " + what);
                    working.setDaemon(true);
                    return working;
                });
    }

    /**
     * However long it takes: what still runs would write into a folder that another start has
     * opened.
     */
    static void awaitEnd(ExecutorService threads) {
        boolean interrupted = false;
        boolean ended = false;
        while (!ended) {
            try {
                ended = threads.awaitTermination(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isStopped() {
        synchronized (lock) {
            return stopped != null;
        }
    }

    private void accept(String key, Operation operation, CompletableFuture<Outcome> future) {
        if (!key.isEmpty()) {
            Decided decided = records.remembered.get(key);
            if (decided != null) {
                room.release();
                complete(future, operation, decided, List.of());
                return;
            }
            Long number = openKeys.get(key);
            if (number != null) {
                room.release();
                CompletableFuture<Outcome> unused =
                        futures.get(number)
                                .whenComplete(
                                        (outcome, failure) -> {
                                            if (failure == null) {
                                                future.complete(outcome);
                                            } else {
                                                future.completeExceptionally(failure);
                                            }
                                        });
                return;
            }
        }
        Accepted accepted = new Accepted(records.lastNumber + 1, key, operation);
        records.take(accepted);
        futures.put(accepted.number(), future);
        if (!key.isEmpty()) {
            openKeys.put(key, accepted.number());
        }
        long number = accepted.number();
        append(accepted, () -> forcedUpTo = number);
        act(chain.submitted(number, isSequential(accepted), operation.bytes()));
    }

    private void accept(Ephemeral ephemeral, CompletableFuture<Void> held) {
        ephemerals.expect(held);
        records.take(ephemeral);
        append(new Declared(ephemeral), () -> ephemerals.declare(ephemeral, held));
    }

    private void acceptWithdrawal(String path, CompletableFuture<Void> gone) {
        if (records.ephemerals.remove(path) == null) {
            gone.completeExceptionally(
                    new IllegalArgumentException(path + " is not declared, so not withdrawn"));
            return;
        }
        ephemerals.expect(gone);
        append(new Withdrawn(path), () -> ephemerals.withdraw(path, gone));
    }

    /** Writes a record; what follows it runs once it is forced. */
    private void append(Entry record, Runnable then) {
        if (log == null) {
            next.add(then);
            return;
        }
        appended++;
        waiting.add(new Waiting(appended, then));
        log.write(appended, record);
    }

    private void afterForce(long record) {
        while (!waiting.isEmpty() && waiting.peek().record() <= record && !isStopped()) {
            waiting.remove().then().run();
        }
        if (!isStopped()) {
            log.forced(record, appended, records);
        }
    }

    private void act(List<Step> steps) {
        for (Step step : steps) {
            if (!isStopped()) {
                act(step);
            }
        }
    }

    private void act(Step step) {
        if (step instanceof Step.Send send) {
            send(send);
        } else if (step instanceof Step.Report report) {
            report(report);
        } else if (step instanceof Step.Stop stop) {
            stop(stop.reason());
        } else {
            look(step);
        }
    }

    /** Waits for the ensemble on the other thread, so that operations are accepted meanwhile. */
    private void look(Step step) {
        String sequentialPath =
                step instanceof Step.Find find
                        ? records.open.get(find.number()).operation().sequentialPath()
                        : null;
        written |= step instanceof Step.Replace;
        looks.execute(
                () -> {
                    Runnable then = looked(step, sequentialPath);
                    String refusal = ensemble.refusal();
                    if (refusal != null) {
                        events.add(() -> stop(refusal));
                    } else if (!ensemble.isInterrupted()) {
                        events.add(then);
                    }
                });
    }

    /** On the thread of looks; what it returns runs on the client's. */
    private Runnable looked(Step step, String sequentialPath) {
        if (step instanceof Step.Replace replace) {
            ensemble.replace(replace);
            return () -> {};
        } else if (step instanceof Step.MakeParent) {
            ensemble.makeParent();
            return () -> act(List.of(new Step.Read()));
        } else if (step instanceof Step.Find find) {
            Optional<Optional<String>> name = ensemble.find(sequentialPath, find.czxid());
            return () -> act(chain.found(find.number(), name.orElseThrow().orElse(null)));
        }
        Optional<Reading> reading = ensemble.read();
        return () -> read(reading.orElseThrow());
    }

    private void read(Reading reading) {
        if (!records.markerMade && reading.markers().stream().anyMatch(this::isOwn)) {
            // Nothing is sent before the folder knows that there is a marker to be missed (E9).
            records.markerMade = true;
            append(new MarkerMade(), () -> act(chain.read(reading)));
        } else {
            act(chain.read(reading));
        }
    }

    private boolean isOwn(Reading.Marker marker) {
        return !settings.instead.contains(marker.content().holder().birth());
    }

    private void send(Step.Send send) {
        List<Op> operations = new ArrayList<>();
        for (long number = send.first(); number <= send.last(); number++) {
            operations.addAll(records.open.get(number).operation().parts());
        }
        ensemble.send(send, operations, answer -> events.add(() -> answered(send, answer)));
    }

    private void answered(Step.Send send, Ensemble.MultiAnswer answer) {
        if (answer.refusal() != null) {
            stop(answer.refusal());
            return;
        }
        Answer toChain = answer.answer();
        if (toChain instanceof Answer.Done) {
            results.put(send.request(), answer.results());
        } else if (toChain instanceof Answer.Refused refused) {
            toChain = new Answer.Refused(operationOf(send, refused.index()), refused.code());
        }
        act(chain.answered(send.request(), toChain));
        results.remove(send.request());
    }

    /** Which operation of a request a part belongs to; parts are counted without the marker. */
    private int operationOf(Step.Send send, int part) {
        int left = part;
        for (long number = send.first(); number <= send.last(); number++) {
            int parts = records.open.get(number).operation().parts().size();
            if (left < parts) {
                return (int) (number - send.first());
            }
            left -= parts;
        }
        throw new IllegalStateException("part " + part + " of " + send);
    }

    private void report(Step.Report report) {
        long number = report.number();
        Operation operation = records.open.get(number).operation();
        int code = 0;
        String created = "";
        List<OpResult> own = List.of();
        Step.Outcome outcome = report.outcome();
        if (outcome instanceof Step.Outcome.Refused refused) {
            code = refused.code();
        } else if (outcome instanceof Step.Outcome.Created made) {
            created = made.name();
        } else if (outcome instanceof Step.Outcome.Done done) {
            own = resultsOf(done, number);
            created = createdPath(own, operation);
        }
        Decided decided = new Decided(number, code, created);
        String key = records.open.get(number).key();
        records.take(decided);
        openKeys.remove(key);
        // Who submits when it is told has room.
        room.release();
        complete(futures.remove(number), operation, decided, own);
        append(decided, () -> act(chain.confirmed(number)));
    }

    private List<OpResult> resultsOf(Step.Outcome.Done done, long number) {
        List<OpResult> all = results.get(done.request());
        // Reported in order: the results of the operations before this one have been taken off.
        int parts = records.open.get(number).operation().parts().size();
        List<OpResult> own = List.copyOf(all.subList(0, parts));
        results.put(done.request(), all.subList(parts, all.size()));
        return own;
    }

    private String createdPath(List<OpResult> own, Operation operation) {
        if (operation.sequentialPath() == null) {
            return "";
        }
        for (int i = 0; i < own.size(); i++) {
            if (operation.parts().get(i).getPath().equals(operation.sequentialPath())
                    && own.get(i) instanceof OpResult.CreateResult result) {
                return ensemble.withoutChroot(result.getPath(), operation.sequentialPath());
            }
        }
        throw new IllegalStateException("no name among the results of " + operation);
    }

    private void complete(
            CompletableFuture<Outcome> future,
            Operation operation,
            Decided decided,
            List<OpResult> own) {
        if (decided.code() == MarkerChain.GAVE_UP) {
            future.completeExceptionally(
                    new GaveUpException(
                            operation
                                    + " was given up after "
                                    + settings.limits.attempts()
                                    + " connections in a row that broke while it alone was under way: it is larger than"
                                    + " the servers take (jute.maxbuffer), or the network was broken so often. It"
                                    + " has not happened, and never will"));
            return;
        }
        future.complete(
                new Outcome(
                        decided.number(),
                        decided.code() == 0
                                ? Optional.empty()
                                : Optional.of(KeeperException.Code.get(decided.code())),
                        decided.created().isEmpty()
                                ? Optional.empty()
                                : Optional.of(decided.created()),
                        own));
    }

    private void stop(String reason) {
        end(reason, true);
    }

    private void end(String reason, boolean tell) {
        synchronized (lock) {
            if (stopped != null) {
                return;
            }
            stopped = reason;
        }
        StoppedException failure = new StoppedException(reason);
        for (CompletableFuture<Outcome> future : List.copyOf(futures.values())) {
            future.completeExceptionally(failure);
        }
        ephemerals.end(failure);
        // Whoever asked before the stop and was not heard yet.
        for (Runnable event = events.poll(); event != null; event = events.poll()) {
            if (event instanceof Question question) {
                question.future().completeExceptionally(failure);
            }
        }
        if (tell) {
            settings.onStop.accept(reason);
        }
    }

    /** What somebody waits for. */
    private record Question(Runnable event, CompletableFuture<?> future) implements Runnable {
        @Override
        public void run() {
            event.run();
        }
    }
}
