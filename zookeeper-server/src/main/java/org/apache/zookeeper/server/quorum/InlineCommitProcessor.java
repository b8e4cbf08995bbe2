package org.apache.zookeeper.server.quorum;

import io.saucr.server.requests.RequestWatch;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.common.Time;
import org.apache.zookeeper.proto.GetChildren2Request;
import org.apache.zookeeper.proto.GetChildrenRequest;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.NettyServerCnxn;
import org.apache.zookeeper.server.Notifications;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.RequestProcessor.RequestProcessorException;
import org.apache.zookeeper.server.SaucrNettyConnection;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.WorkerService;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServerListener;
import org.apache.zookeeper.txn.CloseSessionTxn;
import org.apache.zookeeper.txn.MultiTxn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies commits and serves reads in the threads that bring them. Wakes no other thread, unless
 * the work may take long.
 *
 * <p>{@link CommitSchedule} decides the order, with ZooKeeper's own guarantees.
 *
 * <p>Any thread; requests of one session by one thread at a time.
 *
 * <p>No thread waits for another. At most one thread, the owner, does the work that could not be
 * done at once. If there is an owner, another thread queues its work and returns; the owner drains
 * the queue. Reads that nothing blocks run alongside. If reads block a commit, the thread of the
 * last of these reads becomes the owner.
 *
 * <p>Uses only the thread of ZooKeeper's class, for work that a thread that serves others must not
 * do: what may take longer than {@value #SHORT_MILLIS} ms, and notifications for more than {@value
 * #FEW_NOTIFIED} connections. Reads of that kind go to workers.
 */
final class InlineCommitProcessor extends CommitProcessor {
    private static final Logger LOG = LoggerFactory.getLogger(InlineCommitProcessor.class);

    static final int SHORT_MILLIS = 5;

    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(SHORT_MILLIS);

    /** One commit that takes this long makes its thread miss a heartbeat. */
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    /**
     * After a long commit, or one that {@link #MANY} watched, this stage's thread does the work for
     * so many times its time: the next one is probably like it.
     */
    private static final int REST = 100;

    /** Nodes of a transaction, children of a node: more may take long. */
    static final int MANY = 500;

    /** Connections that the thread which applied a commit notifies itself, in a write each. */
    static final int FEW_NOTIFIED = 16;

    private static final long SHUTDOWN_MILLIS = 5_000;

    private final ZKDatabase database;
    private final RequestProcessor next;
    private final RequestWatch watch;
    private final LongSupplier nanoTime;
    private final Object lock = new Object();

    /**
     * Whether the thread that commits calls {@link #apply} soon; otherwise this stage's thread has
     * to.
     */
    private volatile boolean callersApply;

    private volatile boolean halted;

    private final Notifications notifications = new Notifications();

    // Guarded by lock.

    /** Whether this stage's thread has to send notifications. */
    private boolean notifies;

    private final CommitSchedule schedule;
    private long restUntil;

    /** How many of the reads under way are this thread's: it must not wait for them. */
    @SuppressWarnings("ThreadLocalUsage") // a thread may be inside another server's stage, too
    private final ThreadLocal<int[]> ownReads = ThreadLocal.withInitial(() -> new int[1]);

    /**
     * @param watch gets each request that is done
     * @param matchSyncs whether a sync waits for a commit, as a write does
     */
    InlineCommitProcessor(
            ZKDatabase database,
            RequestProcessor next,
            RequestWatch watch,
            String id,
            boolean matchSyncs,
            ZooKeeperServerListener listener) {
        this(database, next, watch, id, matchSyncs, listener, System::nanoTime);
    }

    InlineCommitProcessor(
            ZKDatabase database,
            RequestProcessor next,
            RequestWatch watch,
            String id,
            boolean matchSyncs,
            ZooKeeperServerListener listener,
            LongSupplier nanoTime) {
        super(next, id, matchSyncs, listener);
        this.database = database;
        this.next = next;
        this.watch = watch;
        this.nanoTime = nanoTime;
        this.schedule =
                new CommitSchedule(this::needCommit, InlineCommitProcessor::mayTakeLongToApply);
        this.restUntil = nanoTime.getAsLong();
    }

    /**
     * @param promised whether from now on each thread that calls {@link #commit} calls {@link
     *     #apply} after it, as soon as it holds no lock and has nothing more urgent to do
     */
    void callersApply(boolean promised) {
        callersApply = promised;
    }

    // ---- Requests ----

    @Override
    public void processRequest(Request request) {
        if (halted) {
            return;
        }
        request.commitProcQueueStartTime = Time.currentElapsedTime();
        boolean isWrite = needCommit(request);
        boolean isLong = !isWrite && isForWorker(request);
        synchronized (lock) {
            if (!schedule.arrives(request, isWrite, isLong)) {
                return;
            }
        }
        if (isLong) {
            workerPool.schedule(new LongRead(request), request.sessionId);
        } else {
            readBesideOthers(request);
        }
    }

    /**
     * The thread of ZooKeeper's own connection on Netty writes an answer at once, and those of
     * other threads later: what it read itself would overtake them.
     */
    private boolean isForWorker(Request request) {
        return (request.cnxn instanceof NettyServerCnxn
                        && !(request.cnxn instanceof SaucrNettyConnection))
                || mayTakeLong(request);
    }

    /** A guess, from what is known without doing it. */
    private boolean mayTakeLong(Request request) {
        return switch (request.type) {
            case OpCode.getEphemerals,
                    OpCode.getAllChildrenNumber,
                    OpCode.multiRead,
                    OpCode.setWatches,
                    OpCode.setWatches2 ->
                    true;
            case OpCode.getChildren, OpCode.getChildren2 -> hasManyChildren(request);
            default -> false;
        };
    }

    private boolean hasManyChildren(Request request) {
        try {
            String path =
                    request.type == OpCode.getChildren
                            ? request.readRequestRecord(GetChildrenRequest::new).getPath()
                            : request.readRequestRecord(GetChildren2Request::new).getPath();
            DataNode node = path == null ? null : database.getNode(path);
            return node != null && node.getChildren().size() > MANY;
        } catch (IOException e) {
            // A second attempt to decode it would find what the first has left, and no error.
            LOG.debug("Cannot decode {}", request, e);
            request.setException(new KeeperException.MarshallingErrorException());
            return false;
        }
    }

    private void read(Request request) {
        if (halted) {
            return;
        }
        try {
            long begin = Time.currentElapsedTime();
            ServerMetrics.getMetrics()
                    .READ_COMMITPROC_TIME
                    .add(begin - request.commitProcQueueStartTime);
            next.processRequest(request);
            long end = Time.currentElapsedTime();
            ServerMetrics.getMetrics().READ_FINAL_PROC_TIME.add(end - begin);
            watch.read(request, begin, end);
        } catch (RequestProcessorException | RuntimeException | Error e) {
            fail(e);
        }
    }

    /** The request is counted in {@link CommitSchedule#reading}. */
    private void readBesideOthers(Request request) {
        int[] own = ownReads.get();
        own[0]++;
        try {
            read(request);
        } finally {
            own[0]--;
            hasRead(request);
        }
    }

    private void hasRead(Request request) {
        boolean goesOn;
        synchronized (lock) {
            schedule.hasRead(request);
            goesOn = becomesOwner();
            if (halted) {
                lock.notifyAll();
            }
        }
        if (goesOn) {
            work(false);
        }
    }

    private final class LongRead extends WorkerService.WorkRequest {
        private final Request request;

        LongRead(Request request) {
            this.request = request;
        }

        @Override
        public void doWork() {
            readBesideOthers(request);
        }

        /** The workers have ended, and so has this stage. */
        @Override
        public void cleanup() {
            hasRead(request);
        }
    }

    // ---- Commits ----

    /** Wakes nobody if callers have promised to apply. */
    @Override
    public void commit(Request request) {
        if (halted || request == null) {
            return;
        }
        request.commitRecvTime = Time.currentElapsedTime();
        ServerMetrics.getMetrics().COMMITS_QUEUED.add(1);
        synchronized (lock) {
            schedule.commits(request);
            // The last of the reads under way would apply it.
            if (!callersApply && !halted && schedule.isIdle()) {
                handOver();
            }
        }
    }

    /**
     * Applies what is committed, unless another thread does it or will do it. The caller holds no
     * lock that a client's request may need.
     */
    void apply() {
        boolean begins;
        synchronized (lock) {
            begins = becomesOwner();
        }
        if (begins) {
            work(false);
        }
    }

    /** Whether this thread has to call {@link #work}. The caller holds the lock. */
    private boolean becomesOwner() {
        if (halted || !schedule.needsOwner()) {
            return false;
        }
        if (restUntil - nanoTime.getAsLong() > 0) {
            handOver();
            return false;
        }
        schedule.ownedBy(Thread.currentThread());
        return true;
    }

    /** Makes this stage's thread the owner. The caller holds the lock. */
    private void handOver() {
        schedule.ownedBy(this);
        lock.notifyAll();
    }

    private void release() {
        synchronized (lock) {
            schedule.leave();
            if (halted) {
                lock.notifyAll();
            }
        }
    }

    private static boolean mayTakeLongToApply(Request commit) {
        if (commit.getTxn() instanceof CloseSessionTxn closing) {
            return closing.getPaths2Delete().size() > MANY;
        }
        return commit.getTxn() instanceof MultiTxn multi && multi.getTxns().size() > MANY;
    }

    /**
     * What the owner does.
     *
     * @param thread whether it is this stage's thread, which may take its time
     */
    private void work(boolean thread) {
        long begin = nanoTime.getAsLong();
        long before = begin;
        long flushed = begin;
        int writes = 0;
        int reads = 0;
        int connections = 0;
        try {
            Request request = next(thread, false);
            while (request != null) {
                boolean applied = schedule.applying();
                int notified = 0;
                if (applied) {
                    writes++;
                    notified = write(request, before);
                    connections += notifications.takeUnflushed();
                    hasDone(request);
                } else if (isForWorker(request)) {
                    giveToWorker(request);
                } else {
                    reads++;
                    read(request);
                    hasDone(request);
                }
                long now = nanoTime.getAsLong();
                if (applied) {
                    ServerMetrics.getMetrics()
                            .WRITE_FINAL_PROC_TIME
                            .add(TimeUnit.NANOSECONDS.toMillis(now - before));
                    watch.applied(request, before, now);
                }
                if (!thread && (now - before > LONG_NANOS || notified > MANY)) {
                    rest(now - before);
                }
                if (thread && now - flushed > SHORT_NANOS) {
                    notifications.flush(Integer.MAX_VALUE);
                    flushed = now;
                }
                before = now;
                request = next(thread, !thread && now - begin > SHORT_NANOS);
            }
        } catch (RequestProcessorException | RuntimeException | Error e) {
            halted = true;
            release();
            fail(e);
        }
        sendNotifications(thread, connections);
        ServerMetrics.getMetrics().WRITES_ISSUED_IN_COMMIT_PROC.add(writes);
        ServerMetrics.getMetrics().READ_ISSUED_FROM_SESSION_QUEUE.add(reads);
        ServerMetrics.getMetrics()
                .WRITE_BATCH_TIME_IN_COMMIT_PROCESSOR
                .add(TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - begin));
    }

    /**
     * After the stretch in which they were made, so that nobody waits for it. Many are for this
     * stage's thread: until it has come to a connection that one continues collecting.
     *
     * @param connections that have collected something in this stretch
     */
    private void sendNotifications(boolean thread, int connections) {
        if (thread) {
            notifications.flush(Integer.MAX_VALUE);
        } else if (connections > FEW_NOTIFIED) {
            notifications.flush(0);
            synchronized (lock) {
                notifies = true;
                lock.notifyAll();
            }
        } else {
            notifications.flush(connections);
        }
    }

    private void giveToWorker(Request request) {
        synchronized (lock) {
            schedule.givenAway();
        }
        workerPool.schedule(new LongRead(request), request.sessionId);
    }

    private void hasDone(Request request) {
        synchronized (lock) {
            schedule.hasDone(request);
        }
    }

    private void rest(long nanos) {
        synchronized (lock) {
            restUntil = nanoTime.getAsLong() + REST * nanos;
        }
    }

    /**
     * What the owner has to do next. Null if nothing is left, or it is another's turn: this stage's
     * thread's, or that of the last of the reads under way.
     *
     * @param late whether this owner has had its time
     */
    private Request next(boolean thread, boolean late) {
        synchronized (lock) {
            switch (halted ? CommitSchedule.Step.LEAVE : schedule.next(thread, late)) {
                case LEAVE -> release();
                case HAND_OVER -> handOver();
                case APPLY, READ -> {
                    return schedule.current();
                }
            }
            return null;
        }
    }

    /** Returns how many watchers were notified. */
    private int write(Request request, long now) throws RequestProcessorException {
        if (request.isThrottled()) {
            throw new IllegalStateException("Throttled, and yet committed: " + request);
        }
        long begin = TimeUnit.NANOSECONDS.toMillis(now);
        if (request.commitProcQueueStartTime == -1) {
            ServerMetrics.getMetrics()
                    .SERVER_WRITE_COMMITTED_TIME
                    .add(begin - request.commitRecvTime);
        } else {
            ServerMetrics.getMetrics()
                    .WRITE_COMMITPROC_TIME
                    .add(begin - request.commitProcQueueStartTime);
            ServerMetrics.getMetrics()
                    .LOCAL_WRITE_COMMITTED_TIME
                    .add(begin - request.commitRecvTime);
        }
        notifications.begin();
        int notified;
        try {
            next.processRequest(request);
        } finally {
            notified = notifications.end();
        }
        return notified;
    }

    // ---- The thread ----

    @Override
    public void run() {
        while (awaitTurn()) {
            if (owns()) {
                work(true);
            } else {
                sendNotifications(true, 0);
            }
        }
        sendNotifications(true, 0);
    }

    private boolean owns() {
        synchronized (lock) {
            return schedule.owner() == this;
        }
    }

    /** Returns false at the end of the server. */
    private boolean awaitTurn() {
        synchronized (lock) {
            while (schedule.owner() != this && !notifies) {
                if (halted) {
                    return false;
                }
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    LOG.debug("Only the end of the server ends this thread", e);
                }
            }
            notifies = false;
            return true;
        }
    }

    /** After a commit that could not be applied no later one may be. */
    private void fail(Throwable cause) {
        halted = true;
        handleException(getName(), cause);
    }

    /** Returns when nothing is read or applied any more, except by the thread that calls. */
    @Override
    public void shutdown() {
        synchronized (lock) {
            halted = true;
            stopped = true;
            stoppedMainLoop = true;
            schedule.clear();
            lock.notifyAll();
        }
        if (workerPool != null) {
            // Their reads are among those that are waited for.
            workerPool.stop();
        }
        awaitQuiet();
        next.shutdown();
    }

    private void awaitQuiet() {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SHUTDOWN_MILLIS);
        boolean interrupted = false;
        synchronized (lock) {
            long left = end - System.nanoTime();
            while (left > 0 && othersAreInside()) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(lock, left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
                left = end - System.nanoTime();
            }
            if (othersAreInside()) {
                LOG.warn(
                        "Shut down while {} and {} readers are still at work",
                        schedule.owner(),
                        schedule.reading());
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean othersAreInside() {
        Thread owner = schedule.owner();
        return (owner != null && owner != Thread.currentThread())
                || schedule.reading() > ownReads.get()[0];
    }
}
