package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.common.Time;
import org.apache.zookeeper.proto.GetChildren2Request;
import org.apache.zookeeper.proto.GetChildrenRequest;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.RequestProcessor.RequestProcessorException;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.WorkerService;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServerListener;
import org.apache.zookeeper.txn.CloseSessionTxn;
import org.apache.zookeeper.txn.MultiTxn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stage that applies commits and reads, in the threads that bring them: nobody is woken for
 * one, unless it may take long.
 *
 * <p>Guarantees, ZooKeeper's own:
 *
 * <ul>
 *   <li>Commits are applied in the order of {@link #commit}, by one thread at a time.
 *   <li>The requests of a session are answered in the order in which they came.
 *   <li>No read is under way while a commit is applied.
 * </ul>
 *
 * <p>Nobody waits for another thread: who finds a commit being applied leaves its work, and the one
 * who applies goes round again. The last of the reads that are in a commit's way applies it.
 *
 * <p>Of ZooKeeper's class only the thread is used, for what a thread that serves others must not
 * do: work that may take longer than {@value #SHORT_MILLIS} ms. Reads of that kind go to workers.
 */
final class DirectCommits extends CommitProcessor {
    private static final Logger LOG = LoggerFactory.getLogger(DirectCommits.class);

    static final int SHORT_MILLIS = 2;

    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(SHORT_MILLIS);

    /** One commit that takes this long makes its thread miss a heartbeat. */
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    /** After a long commit this stage's thread does the work for so many times its time. */
    private static final int REST = 100;

    /** Nodes of a transaction, children of a node: more may take long. */
    static final int MANY = 500;

    private static final long SHUTDOWN_MILLIS = 5_000;

    private final ZKDatabase database;
    private final RequestProcessor next;
    private final Object lock = new Object();

    /** Whether whoever commits calls {@link #apply} soon, or the thread has to. */
    private volatile boolean callersApply;

    private volatile boolean halted;

    // Guarded by lock.

    /** Requests of sessions that have one that waits or is under way, which is the first. */
    private final Map<Long, Deque<Request>> sessions = new HashMap<>();

    /** Of this server's clients, in the order in which they will be committed. */
    private final Deque<Request> writes = new ArrayDeque<>();

    private final Deque<Request> committed = new ArrayDeque<>();

    /** Reads that came while a commit was applied; each the first of its session. */
    private final Deque<Request> deferred = new ArrayDeque<>();

    private int reading;
    private Thread applying;
    private boolean threadWanted;
    private long restUntil = System.nanoTime();

    /**
     * @param matchSyncs whether a sync waits for a commit, as a write does
     */
    DirectCommits(
            ZKDatabase database,
            RequestProcessor next,
            String id,
            boolean matchSyncs,
            ZooKeeperServerListener listener) {
        super(next, id, matchSyncs, listener);
        this.database = database;
        this.next = next;
    }

    /**
     * @param promised whether from now on whoever calls {@link #commit} calls {@link #apply} after
     *     it, as soon as it holds no lock and has nothing more urgent to do
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
        boolean waits = needCommit(request);
        boolean isLong = !waits && mayTakeLong(request);
        synchronized (lock) {
            if (waits) {
                writes.add(request);
            }
            Deque<Request> queue = sessions.get(request.sessionId);
            if (queue != null) {
                queue.add(request);
                return;
            }
            boolean defers = !waits && (applying != null || (reading > 0 && !committed.isEmpty()));
            if (waits || isLong || defers) {
                addFirst(request);
            }
            if (waits) {
                return;
            }
            if (defers) {
                deferred.add(request);
                return;
            }
            reading++;
        }
        if (isLong) {
            workerPool.schedule(new LongRead(request), request.sessionId);
        } else {
            try {
                read(request);
            } finally {
                hasRead();
            }
        }
    }

    private void addFirst(Request request) {
        Deque<Request> queue = new ArrayDeque<>(4);
        queue.add(request);
        sessions.put(request.sessionId, queue);
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
            LOG.debug("Whoever answers {} meets the same error", request, e);
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
            ServerMetrics.getMetrics().READ_FINAL_PROC_TIME.add(Time.currentElapsedTime() - begin);
        } catch (RequestProcessorException | RuntimeException | Error e) {
            fail(e);
        }
    }

    private void hasRead() {
        boolean last;
        synchronized (lock) {
            reading--;
            last = reading == 0;
            if (last && halted) {
                lock.notifyAll();
            }
            last &= !committed.isEmpty() || !deferred.isEmpty();
        }
        if (last) {
            apply();
        }
    }

    private final class LongRead extends WorkerService.WorkRequest {
        private final Request request;

        LongRead(Request request) {
            this.request = request;
        }

        @Override
        public void doWork() {
            try {
                read(request);
                readOn(request.sessionId, true);
            } finally {
                hasRead();
            }
        }

        /** The workers have ended, and so has this stage. */
        @Override
        public void cleanup() {
            hasRead();
        }
    }

    /**
     * Takes the first request of the session, which is answered, and reads up to its next write.
     */
    private void readOn(long session, boolean worker) {
        int reads = 0;
        Request following = following(session);
        while (following != null && !halted) {
            if (!worker && mayTakeLong(following)) {
                synchronized (lock) {
                    deferred.add(following);
                }
                break;
            }
            reads++;
            read(following);
            following = following(session);
        }
        ServerMetrics.getMetrics().READS_AFTER_WRITE_IN_SESSION_QUEUE.add(reads);
        ServerMetrics.getMetrics().READ_ISSUED_FROM_SESSION_QUEUE.add(reads);
    }

    /** Null if a write is the next, or nothing is left. */
    private Request following(long session) {
        synchronized (lock) {
            Deque<Request> queue = sessions.get(session);
            if (queue == null) {
                return null;
            }
            queue.poll();
            Request following = queue.peek();
            if (following == null) {
                sessions.remove(session);
                return null;
            }
            return needCommit(following) ? null : following;
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
            committed.add(request);
        }
        if (!callersApply) {
            wakeThread();
        }
    }

    /**
     * Applies what is committed, unless somebody else is about it or will be. Whoever calls holds
     * no lock that a client's request may need.
     */
    void apply() {
        if (mayApply(false)) {
            applyAll(false);
        }
    }

    private boolean mayApply(boolean thread) {
        synchronized (lock) {
            if (halted || applying != null || reading > 0) {
                return false;
            }
            if (committed.isEmpty() && deferred.isEmpty()) {
                return false;
            }
            if (!thread && (restUntil - System.nanoTime() > 0 || nextMayTakeLong())) {
                threadWanted = true;
                lock.notifyAll();
                return false;
            }
            applying = Thread.currentThread();
            return true;
        }
    }

    private boolean nextMayTakeLong() {
        Request request = committed.peek();
        if (request == null) {
            return false;
        }
        if (request.getTxn() instanceof CloseSessionTxn closing) {
            return closing.getPaths2Delete().size() > MANY;
        }
        return request.getTxn() instanceof MultiTxn multi && multi.getTxns().size() > MANY;
    }

    private void applyAll(boolean thread) {
        long begin = System.nanoTime();
        long before = begin;
        int writes = 0;
        try {
            for (Request request = take(thread); request != null; request = take(thread)) {
                if (isCommit(request)) {
                    writes++;
                    write(request);
                } else if (mayTakeLong(request)) {
                    giveToWorker(request);
                    break;
                } else {
                    read(request);
                }
                if (isFirst(request)) {
                    readOn(request.sessionId, false);
                }
                long now = System.nanoTime();
                if (!thread && now - begin > SHORT_NANOS) {
                    handOver(now - before);
                    break;
                }
                before = now;
            }
        } catch (RequestProcessorException | RuntimeException | Error e) {
            fail(e);
        } finally {
            leave();
        }
        ServerMetrics.getMetrics().WRITES_ISSUED_IN_COMMIT_PROC.add(writes);
        ServerMetrics.getMetrics()
                .WRITE_BATCH_TIME_IN_COMMIT_PROCESSOR
                .add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
    }

    private boolean isCommit(Request request) {
        return needCommit(request) || request.getHdr() != null;
    }

    /** Nothing is applied until it has read; then it goes on with what is left. */
    private void giveToWorker(Request request) {
        synchronized (lock) {
            reading++;
            applying = null;
        }
        workerPool.schedule(new LongRead(request), request.sessionId);
    }

    /** What is to be done next; null if that is for another thread, or nothing is left. */
    private Request take(boolean thread) {
        synchronized (lock) {
            if (halted) {
                applying = null;
                return null;
            }
            Request commit = committed.peek();
            if (commit == null || isBehindReads(commit)) {
                Request read = deferred.poll();
                if (read == null && commit != null) {
                    throw new IllegalStateException(
                            "Committed " + commit + ", but requests before it are not answered");
                }
                if (read == null) {
                    applying = null;
                }
                return read;
            }
            if (!thread && nextMayTakeLong()) {
                applying = null;
                threadWanted = true;
                lock.notifyAll();
                return null;
            }
            committed.poll();
            return matched(commit);
        }
    }

    private boolean isOwn(Request commit) {
        Request write = writes.peek();
        return write != null && write.sessionId == commit.sessionId && write.cxid == commit.cxid;
    }

    private boolean isBehindReads(Request commit) {
        return isOwn(commit) && sessions.get(commit.sessionId).peek() != writes.peek();
    }

    /** The request of this server's client that was committed, if it is one. */
    private Request matched(Request commit) {
        if (!isOwn(commit)) {
            return commit;
        }
        Request request = writes.poll();
        request.setHdr(commit.getHdr());
        request.setTxn(commit.getTxn());
        request.setTxnDigest(commit.getTxnDigest());
        request.zxid = commit.zxid;
        request.commitRecvTime = commit.commitRecvTime;
        return request;
    }

    private boolean isFirst(Request request) {
        synchronized (lock) {
            Deque<Request> queue = sessions.get(request.sessionId);
            return queue != null && queue.peek() == request;
        }
    }

    private void write(Request request) throws RequestProcessorException {
        if (request.isThrottled()) {
            throw new IllegalStateException("Throttled, and yet committed: " + request);
        }
        long begin = Time.currentElapsedTime();
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
        next.processRequest(request);
        ServerMetrics.getMetrics().WRITE_FINAL_PROC_TIME.add(Time.currentElapsedTime() - begin);
    }

    private void handOver(long lastTook) {
        synchronized (lock) {
            if (lastTook > LONG_NANOS) {
                restUntil = System.nanoTime() + REST * lastTook;
            }
            threadWanted = true;
        }
    }

    private void leave() {
        synchronized (lock) {
            if (applying == Thread.currentThread()) {
                applying = null;
            }
            if (threadWanted || halted) {
                lock.notifyAll();
            }
        }
    }

    // ---- The thread ----

    private void wakeThread() {
        synchronized (lock) {
            threadWanted = true;
            lock.notifyAll();
        }
    }

    @Override
    public void run() {
        while (awaitWork()) {
            if (mayApply(true)) {
                applyAll(true);
            }
        }
    }

    private boolean awaitWork() {
        synchronized (lock) {
            while (!threadWanted && !halted) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    LOG.debug("Only the end of the server ends this thread", e);
                }
            }
            threadWanted = false;
            return !halted;
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
            sessions.clear();
            writes.clear();
            committed.clear();
            deferred.clear();
            lock.notifyAll();
        }
        if (workerPool != null) {
            workerPool.stop();
            workerPool.join(SHUTDOWN_MILLIS);
        }
        awaitQuiet();
        next.shutdown();
    }

    private void awaitQuiet() {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SHUTDOWN_MILLIS);
        synchronized (lock) {
            long left = end - System.nanoTime();
            while (left > 0
                    && (reading > 0 || applying != null)
                    && applying != Thread.currentThread()) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(lock, left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
                left = end - System.nanoTime();
            }
        }
    }
}
