package org.apache.zookeeper.server.quorum;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.zookeeper.server.Request;

/**
 * The order in which a server applies commits and answers reads, without a thread or a clock:
 *
 * <ul>
 *   <li>Commits are applied in their order, one at a time.
 *   <li>The requests of a session are answered in the order in which they came.
 *   <li>No read is under way while a commit is applied.
 * </ul>
 *
 * <p>At most one, the owner, does what could not be done at once. Reads that nothing is in the way
 * of run next to it, and the last of the reads that are in a commit's way becomes the owner.
 *
 * <p>Not thread-safe: under the lock of its {@link InlineCommitProcessor}, but for {@link
 * #applying}.
 */
final class CommitSchedule {
    /** So many commits are applied at a stretch while reads wait. */
    static final int MOST_IN_ROW = 100;

    private final Predicate<Request> waits;
    private final Predicate<Request> longToApply;

    /** Requests of sessions that have one that waits or is under way, which is the first. */
    private final Map<Long, Deque<Request>> sessions = new HashMap<>();

    /** Of this server's clients, in the order in which they will be committed. */
    private final Deque<Request> writes = new ArrayDeque<>();

    private final Deque<Request> committed = new ArrayDeque<>();

    /** Reads that have to wait for the owner; each the first of its session. */
    private final Deque<Request> deferred = new ArrayDeque<>();

    /** Reads under way, but the owner's. */
    private int reading;

    /** Does what waits in committed and deferred; null if nobody. */
    private Thread owner;

    /** Whether the owner applies a commit. Written by the owner only. */
    private boolean applying;

    private int appliedInRow;

    /** How many of the deferred reads come before the next commit. */
    private int readsFirst;

    private Request current;

    /** What the owner does next. */
    enum Step {
        /** Nothing is left, or it is the turn of the last of the reads under way. */
        LEAVE,
        /** The stage's thread continues: it may take long. */
        HAND_OVER,
        /** Apply {@link #current}. */
        APPLY,
        /** Answer {@link #current}. */
        READ
    }

    /**
     * @param waits whether a request waits for a commit
     * @param longToApply whether a commit may take long
     */
    CommitSchedule(Predicate<Request> waits, Predicate<Request> longToApply) {
        this.waits = waits;
        this.longToApply = longToApply;
    }

    // ---- Requests ----

    /**
     * A client's request has come.
     *
     * @param isWrite whether it waits for a commit
     * @param isLong whether it is a read that may take long
     * @return whether it is a read whose turn is now; then {@link #hasRead} follows
     */
    boolean arrives(Request request, boolean isWrite, boolean isLong) {
        if (isWrite) {
            writes.add(request);
        }
        Deque<Request> queue = sessions.get(request.sessionId);
        if (queue != null) {
            queue.add(request);
            return false;
        }
        boolean defers =
                !isWrite && (applying || (!committed.isEmpty() && (owner != null || reading > 0)));
        if (isWrite || isLong || defers) {
            Deque<Request> first = new ArrayDeque<>(4);
            first.add(request);
            sessions.put(request.sessionId, first);
        }
        if (isWrite) {
            return false;
        }
        if (defers) {
            deferred.add(request);
            return false;
        }
        reading++;
        return true;
    }

    /** The owner gives a read to another thread; {@link #hasRead} follows. */
    void givenAway() {
        reading++;
    }

    /** A read next to the owner is answered. */
    void hasRead(Request request) {
        reading--;
        passOn(request);
    }

    /** The owner has done the request. */
    void hasDone(Request request) {
        applying = false;
        passOn(request);
    }

    /** The request is answered: the next of its session has its turn if it is a read. */
    private void passOn(Request request) {
        Deque<Request> queue = sessions.get(request.sessionId);
        if (queue == null || queue.peek() != request) {
            return;
        }
        queue.poll();
        Request following = queue.peek();
        if (following == null) {
            sessions.remove(request.sessionId);
        } else if (!waits.test(following)) {
            deferred.add(following);
        }
    }

    // ---- Commits ----

    /** The next commit. */
    void commits(Request request) {
        committed.add(request);
    }

    /** Whether nobody is at work, or will be, who would apply a commit. */
    boolean isIdle() {
        return owner == null && reading == 0;
    }

    /** Whether there is something to do for an owner, and there is none. */
    boolean needsOwner() {
        if (owner != null) {
            return false;
        }
        return reading == 0
                ? !committed.isEmpty() || !deferred.isEmpty()
                : committed.isEmpty() && !deferred.isEmpty();
    }

    /** Who does what waits; null if nobody. */
    Thread owner() {
        return owner;
    }

    void ownedBy(Thread thread) {
        owner = thread;
    }

    /** The owner leaves. */
    void leave() {
        owner = null;
        applying = false;
    }

    /** Whether the owner applies a commit. The owner may ask without the lock. */
    boolean applying() {
        return applying;
    }

    /** How many reads are under way, but the owner's. */
    int reading() {
        return reading;
    }

    /** What {@link #next} has chosen. */
    Request current() {
        return current;
    }

    /**
     * Chooses what the owner does next.
     *
     * @param patient whether the owner is the stage's thread, which may take its time
     * @param late whether the owner has had its time
     */
    Step next(boolean patient, boolean late) {
        Request commit = committed.peek();
        boolean behindReads = commit != null && isBehindReads(commit);
        boolean commits = commit != null && !behindReads && readsFirst == 0;
        if (commits ? reading > 0 : deferred.isEmpty()) {
            if (behindReads && reading == 0) {
                throw new IllegalStateException(
                        "Committed " + commit + ", but requests before it are not answered");
            }
            return Step.LEAVE;
        }
        if (late || (!patient && commits && longToApply.test(commit))) {
            return Step.HAND_OVER;
        }
        if (commits) {
            countInRow();
            applying = true;
            committed.poll();
            current = matched(commit);
            return Step.APPLY;
        }
        appliedInRow = 0;
        readsFirst = Math.max(0, readsFirst - 1);
        current = deferred.poll();
        return Step.READ;
    }

    /** Reads that wait have their turn even if commits never end. */
    private void countInRow() {
        appliedInRow++;
        if (appliedInRow >= MOST_IN_ROW) {
            appliedInRow = 0;
            readsFirst = deferred.size();
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

    /** The server has ended: nothing of it is done any more. */
    void clear() {
        sessions.clear();
        writes.clear();
        committed.clear();
        deferred.clear();
    }
}
