package org.apache.zookeeper.server.quorum;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.server.requests.RequestWatch;
import io.saucr.server.requests.SlowRequests;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.GetChildrenRequest;
import org.apache.zookeeper.server.Notifications;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.txn.CloseSessionTxn;
import org.apache.zookeeper.txn.MultiTxn;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.Txn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who brings a request or a commit does it, and yet ZooKeeper's orders hold. */
@Timeout(60)
class InlineCommitProcessorTest {
    private static final long SESSION = 0x100;
    private static final long OTHER = 0x200;
    private static final long THIRD = 0x300;

    /** Shorter than the time after which a shutdown gives up waiting. */
    private static final long AT_ONCE_SECONDS = 4;

    private record Done(long session, int cxid, Thread by) {}

    private interface Step {
        void run() throws Exception;
    }

    /** What comes after the stage: it notes requests, and a test may say what happens in one. */
    private static final class Last implements RequestProcessor {
        final List<Done> done = new CopyOnWriteArrayList<>();
        final Map<Request, Step> steps = Collections.synchronizedMap(new HashMap<>());
        final Map<Integer, Step> commitSteps = Collections.synchronizedMap(new HashMap<>());
        volatile boolean shutDown;

        @Override
        public void processRequest(Request request) throws RequestProcessorException {
            Step step = steps.remove(request);
            if (step == null && request.getHdr() != null) {
                step = commitSteps.remove(request.cxid);
            }
            if (step != null) {
                try {
                    step.run();
                } catch (RuntimeException | RequestProcessorException e) {
                    throw e;
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
            done.add(new Done(request.sessionId, request.cxid, Thread.currentThread()));
        }

        @Override
        public void shutdown() {
            shutDown = true;
        }
    }

    /** A point at which a thread is held until the test has seen it there. */
    private static final class Stop implements Step {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch left = new CountDownLatch(1);

        @Override
        public void run() throws InterruptedException {
            reached.countDown();
            left.await();
        }

        void awaitReached() throws InterruptedException {
            reached.await();
        }

        void leave() {
            left.countDown();
        }
    }

    private final Last last = new Last();
    private final ZKDatabase database = new ZKDatabase(null);
    private final List<String> failures = new CopyOnWriteArrayList<>();
    private final ExecutorService others = Executors.newCachedThreadPool();
    private final List<Stop> stops = new CopyOnWriteArrayList<>();
    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 1);
    private InlineCommitProcessor commits;
    private long zxid;

    @BeforeEach
    void start() {
        commits = stage(true);
        commits.callersApply(true);
    }

    @AfterEach
    void end() throws InterruptedException {
        stops.forEach(Stop::leave);
        commits.shutdown();
        commits.join();
        others.shutdown();
        assertThat(others.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }

    private InlineCommitProcessor stage(boolean matchSyncs) {
        InlineCommitProcessor made =
                new InlineCommitProcessor(
                        database,
                        last,
                        new RequestWatch(new SlowRequests(Duration.ZERO)),
                        "test",
                        matchSyncs,
                        (thread, code) -> failures.add(thread),
                        clock::get);
        made.start();
        return made;
    }

    private Stop stop() {
        Stop stop = new Stop();
        stops.add(stop);
        return stop;
    }

    private static Request request(long session, int cxid, int type) {
        return new Request(null, session, cxid, type, RequestRecord.fromBytes(new byte[0]), null);
    }

    private static Request read(long session, int cxid) {
        return request(session, cxid, OpCode.getData);
    }

    /** Of the kind that a worker does. */
    private static Request longRead(long session, int cxid) {
        return request(session, cxid, OpCode.getEphemerals);
    }

    private static Request write(long session, int cxid) {
        return request(session, cxid, OpCode.setData);
    }

    private Request committed(long session, int cxid) {
        zxid++;
        TxnHeader header = new TxnHeader(session, cxid, zxid, 1, OpCode.setData);
        return new Request(
                session, cxid, OpCode.setData, header, new SetDataTxn("/a", null, 1), zxid);
    }

    private void bring(Request... requests) {
        for (Request each : requests) {
            commits.processRequest(each);
        }
    }

    private void commit(long session, int cxid) {
        commits.commit(committed(session, cxid));
    }

    private void commitAndApply(long session, int cxid) {
        commit(session, cxid);
        commits.apply();
    }

    private List<Integer> done() {
        return last.done.stream().map(Done::cxid).toList();
    }

    private Thread whoDid(int cxid) {
        return last.done.stream().filter(each -> each.cxid == cxid).findFirst().orElseThrow().by;
    }

    /** Another thread that applies a commit of another server's client, and is held in it. */
    private Stop applying(int cxid) throws InterruptedException {
        Stop stop = stop();
        last.commitSteps.put(cxid, stop);
        Request commit = committed(0x999, cxid);
        others.execute(
                () -> {
                    commits.commit(commit);
                    commits.apply();
                });
        stop.awaitReached();
        return stop;
    }

    /** Another thread that is held in this read. */
    private Stop reading(Request read) throws InterruptedException {
        Stop stop = stop();
        last.steps.put(read, stop);
        others.execute(
                () -> {
                    commits.processRequest(read);
                });
        stop.awaitReached();
        return stop;
    }

    private <T> Future<T> inAnotherThread(Callable<T> work) {
        return others.submit(work);
    }

    private void spend(long millis) {
        clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    @Nested
    class Notifying {
        private final List<Thread> flushedBy = new CopyOnWriteArrayList<>();

        private void onCommit(int cxid, int watchers, int connections) {
            last.commitSteps.put(
                    cxid,
                    () -> {
                        Notifications notifications = Notifications.ofThisThread();
                        WatchedEvent event =
                                new WatchedEvent(
                                        EventType.NodeDataChanged, KeeperState.SyncConnected, "/a");
                        for (int i = 0; i < watchers; i++) {
                            notifications.encoded(event);
                        }
                        for (int i = 0; i < connections; i++) {
                            notifications.flushLater(() -> flushedBy.add(Thread.currentThread()));
                        }
                    });
        }

        @Test
        void isDoneOnceAfterAllThatIsCommitted() {
            int few = InlineCommitProcessor.FEW_NOTIFIED;
            onCommit(1, few, few);
            onCommit(2, few, 0);
            last.commitSteps.put(3, () -> assertThat(flushedBy).isEmpty());
            commit(OTHER, 1);
            commit(OTHER, 2);
            commit(OTHER, 3);
            commits.apply();
            assertThat(done()).containsExactly(1, 2, 3);
            assertThat(flushedBy).hasSize(few).containsOnly(Thread.currentThread());
            assertThat(Notifications.ofThisThread()).isNull();
            assertThat(failures).isEmpty();
        }

        @Test
        void ofManyConnectionsIsForTheStagesThread() {
            int many = InlineCommitProcessor.FEW_NOTIFIED + 1;
            onCommit(1, many, many);
            commitAndApply(OTHER, 1);
            assertThat(whoDid(1)).isEqualTo(Thread.currentThread());
            await().until(() -> flushedBy.size() == many);
            assertThat(flushedBy).containsOnly(commits);
            commitAndApply(OTHER, 2);
            assertThat(whoDid(2)).isEqualTo(Thread.currentThread());
        }

        @Test
        void ofConnectionsThatSendInNoTimeIsDoneAtOnceHoweverMany() {
            int many = InlineCommitProcessor.FEW_NOTIFIED + 1;
            last.commitSteps.put(
                    1,
                    () -> {
                        for (int i = 0; i < many; i++) {
                            Notifications.ofThisThread()
                                    .flushSoon(() -> flushedBy.add(Thread.currentThread()));
                        }
                    });
            last.commitSteps.put(2, () -> assertThat(flushedBy).isEmpty());
            commit(OTHER, 1);
            commit(OTHER, 2);
            commits.apply();
            assertThat(flushedBy).hasSize(many).containsOnly(Thread.currentThread());
        }

        @Test
        void isDoneByTheStagesThreadForWhatItApplies() {
            commits.callersApply(false);
            onCommit(1, 1, 1);
            commit(OTHER, 1);
            await().until(() -> flushedBy.size() == 1);
            assertThat(flushedBy).containsOnly(commits);
        }

        @Test
        void afterACommitThatManyWatchedTheStagesThreadAppliesForATime() {
            int many = InlineCommitProcessor.MANY + 1;
            last.commitSteps.put(2, () -> {});
            onCommit(1, many, 1);
            Step watched = last.commitSteps.get(1);
            last.commitSteps.put(
                    1,
                    () -> {
                        watched.run();
                        spend(1);
                    });
            commitAndApply(OTHER, 1);
            assertThat(flushedBy).containsOnly(Thread.currentThread());
            commitAndApply(OTHER, 2);
            await().until(() -> last.done.size() == 2);
            assertThat(whoDid(2)).isEqualTo(commits);
            spend(1_000);
            commitAndApply(OTHER, 3);
            await().until(() -> last.done.size() == 3);
            assertThat(whoDid(3)).isEqualTo(Thread.currentThread());
        }

        @Test
        void isDoneEvenIfACommitFails() {
            onCommit(1, 1, 1);
            last.commitSteps.put(
                    2,
                    () -> {
                        throw new IllegalStateException("cannot be applied");
                    });
            commit(OTHER, 1);
            commit(OTHER, 2);
            commits.apply();
            assertThat(failures).isNotEmpty();
            assertThat(flushedBy).hasSize(1);
            assertThat(Notifications.ofThisThread()).isNull();
        }
    }

    @Nested
    class OrderWithinASession {
        @Test
        void aReadIsDoneByWhoBringsIt() {
            bring(read(SESSION, 1));
            assertThat(last.done).containsExactly(new Done(SESSION, 1, Thread.currentThread()));
        }

        @Test
        void aReadBehindAWriteIsDoneAfterIt() {
            bring(write(SESSION, 1), read(SESSION, 2), read(SESSION, 3));
            assertThat(last.done).isEmpty();
            commitAndApply(SESSION, 1);
            assertThat(done()).containsExactly(1, 2, 3);
            bring(read(SESSION, 4));
            assertThat(done()).containsExactly(1, 2, 3, 4);
        }

        @Test
        void anotherSessionsReadDoesNotWaitForTheWrite() {
            bring(write(SESSION, 1), read(OTHER, 2));
            assertThat(done()).containsExactly(2);
        }

        @Test
        void readsBetweenPipelinedWritesAreDoneBetweenThem() {
            bring(write(SESSION, 1), read(SESSION, 2), write(SESSION, 3), read(SESSION, 4));
            commitAndApply(SESSION, 1);
            assertThat(done()).containsExactly(1, 2);
            commitAndApply(SESSION, 3);
            assertThat(done()).containsExactly(1, 2, 3, 4);
        }

        @Test
        void evenIfBothWritesAreCommittedAtOnce() {
            bring(write(SESSION, 1), read(SESSION, 2), write(SESSION, 3), read(SESSION, 4));
            commit(SESSION, 1);
            commit(SESSION, 3);
            commits.apply();
            assertThat(done()).containsExactly(1, 2, 3, 4);
        }

        @Test
        void twoWritesInARowAreAppliedInARow() {
            bring(write(SESSION, 1), write(SESSION, 2));
            commit(SESSION, 1);
            commit(SESSION, 2);
            commits.apply();
            assertThat(done()).containsExactly(1, 2);
        }

        @Test
        void readsThatWaitAreDoneBeforeAWriteThatIsCommittedMeanwhile() throws Exception {
            Stop applying = applying(1);
            bring(read(SESSION, 2), read(SESSION, 3), write(SESSION, 4), read(SESSION, 5));
            commit(SESSION, 4);
            commit(0x999, 6);
            applying.leave();
            await().until(() -> last.done.size() == 6);
            assertThat(done()).containsSubsequence(1, 2, 3, 4, 5).containsSubsequence(4, 6);
        }

        @Test
        void nothingOfItsSessionOvertakesALongRead() throws Exception {
            Request slow = longRead(SESSION, 1);
            Stop reading = stop();
            last.steps.put(slow, reading);
            bring(slow, read(SESSION, 2), longRead(SESSION, 3), write(SESSION, 4));
            bring(read(SESSION, 5), read(OTHER, 6));
            reading.awaitReached();
            commitAndApply(SESSION, 4);
            assertThat(done()).containsExactly(6);
            reading.leave();
            await().until(() -> last.done.size() == 6);
            assertThat(done()).containsExactly(6, 1, 2, 3, 4, 5);
        }

        @Test
        void aLongReadBehindAWriteGoesToAWorkerToo() {
            bring(write(SESSION, 1), longRead(SESSION, 2), read(SESSION, 3));
            commitAndApply(SESSION, 1);
            await().until(() -> last.done.size() == 3);
            assertThat(done()).containsExactly(1, 2, 3);
            assertThat(whoDid(2).getName()).startsWith("CommitProcWork");
        }

        @Test
        void theChildrenOfALargeNodeAreReadByAWorker() throws Exception {
            createNodes("/large", InlineCommitProcessor.MANY + 1);
            createNodes("/small", InlineCommitProcessor.MANY);
            bring(children(SESSION, 1, "/large"), children(OTHER, 2, "/small"));
            await().until(() -> last.done.size() == 2);
            assertThat(whoDid(1).getName()).startsWith("CommitProcWork");
            assertThat(whoDid(2)).isSameAs(Thread.currentThread());
        }

        private void createNodes(String parent, int children) throws Exception {
            createNode(parent);
            for (int i = 0; i < children; i++) {
                createNode(parent + "/" + i);
            }
        }

        private void createNode(String path) throws Exception {
            database.getDataTree()
                    .createNode(path, null, Ids.OPEN_ACL_UNSAFE, 0, -1, 1, 1, new Stat());
        }

        private Request children(long session, int cxid, String path) {
            return new Request(
                    null,
                    session,
                    cxid,
                    OpCode.getChildren,
                    RequestRecord.fromRecord(new GetChildrenRequest(path, false)),
                    null);
        }

        @Test
        void aListThatCannotBeDecodedIsAnsweredWithAnError() {
            byte[] endsBeforeWatch = {0, 0, 0, 1, '/'};
            Request broken =
                    new Request(
                            null,
                            SESSION,
                            1,
                            OpCode.getChildren,
                            RequestRecord.fromBytes(ByteBuffer.wrap(endsBeforeWatch)),
                            null);
            bring(broken);
            assertThat(done()).containsExactly(1);
            assertThat(broken.getException().code()).isEqualTo(Code.MARSHALLINGERROR);
        }
    }

    @Nested
    class Commits {
        @Test
        void areAppliedByWhoeverHasPromisedToAndInTheirOrder() {
            for (int cxid = 1; cxid <= 5; cxid++) {
                commit(OTHER, cxid);
            }
            assertThat(last.done).isEmpty();
            commits.apply();
            assertThat(done()).containsExactly(1, 2, 3, 4, 5);
            assertThat(whoDid(5)).isSameAs(Thread.currentThread());
        }

        @Test
        void areAppliedByTheThreadIfNobodyHasPromisedTo() {
            commits.callersApply(false);
            commit(OTHER, 1);
            await().until(() -> last.done.size() == 1);
            assertThat(whoDid(1)).isSameAs(commits);
        }

        @Test
        void giveTheWaitingRequestWhatTheyHave() {
            Request own = write(SESSION, 1);
            bring(own);
            Request commit = committed(SESSION, 1);
            commits.commit(commit);
            commits.apply();
            assertThat(own.getHdr()).isSameAs(commit.getHdr());
            assertThat(own.getTxn()).isSameAs(commit.getTxn());
            assertThat(own.zxid).isEqualTo(commit.zxid);
        }

        @Test
        void ofOtherSessionsAndOtherRequestsAnswerNothing() {
            Request own = write(SESSION, 7);
            bring(own, read(SESSION, 8));
            commitAndApply(OTHER, 7);
            // The session was another server's a moment ago.
            commitAndApply(SESSION, 6);
            assertThat(last.done).extracting(Done::session).containsExactly(OTHER, SESSION);
            assertThat(own.getHdr()).isNull();
            commitAndApply(SESSION, 7);
            assertThat(done()).containsExactly(7, 6, 7, 8);
        }

        @Test
        void ofNoSessionPass() {
            bring(write(SESSION, 0));
            commitAndApply(0, 0);
            commitAndApply(0, 0);
            assertThat(last.done).extracting(Done::session).containsExactly(0L, 0L);
            bring(request(0, 0, OpCode.deleteContainer), request(0, 0, OpCode.deleteContainer));
            assertThat(last.done).hasSize(2);
            commitAndApply(SESSION, 0);
            commitAndApply(0, 0);
            commitAndApply(0, 0);
            assertThat(last.done)
                    .extracting(Done::session)
                    .containsExactly(0L, 0L, SESSION, 0L, 0L);
        }

        @Test
        void thatAreNoneAreIgnored() {
            commits.commit(null);
            commits.apply();
            assertThat(last.done).isEmpty();
            assertThat(failures).isEmpty();
        }
    }

    @Nested
    class WhatWaits {
        @ParameterizedTest
        @ValueSource(
                ints = {
                    OpCode.create,
                    OpCode.create2,
                    OpCode.createTTL,
                    OpCode.createContainer,
                    OpCode.delete,
                    OpCode.deleteContainer,
                    OpCode.setData,
                    OpCode.reconfig,
                    OpCode.setACL,
                    OpCode.multi,
                    OpCode.check,
                    OpCode.sync,
                    OpCode.createSession,
                    OpCode.closeSession
                })
        void waitsForItsCommit(int type) {
            Request request = request(SESSION, 1, type);
            bring(request);
            assertThat(last.done).isEmpty();
            // A sync is its own commit, the others' come from the log.
            commits.commit(type == OpCode.sync ? request : committed(SESSION, 1));
            commits.apply();
            assertThat(done()).containsExactly(1);
        }

        @Test
        void aSyncDoesNotIfTheyAreNotMatched() {
            InlineCommitProcessor unmatched = stage(false);
            unmatched.processRequest(request(SESSION, 1, OpCode.sync));
            assertThat(done()).containsExactly(1);
            unmatched.shutdown();
        }

        @Test
        void aThrottledWriteIsRefusedInItsTurn() {
            Request throttled = write(SESSION, 2);
            throttled.setIsThrottled(true);
            bring(write(SESSION, 1), throttled);
            assertThat(last.done).isEmpty();
            commitAndApply(SESSION, 1);
            assertThat(done()).containsExactly(1, 2);
            Request another = write(SESSION, 3);
            another.setIsThrottled(true);
            bring(another);
            assertThat(done()).containsExactly(1, 2, 3);
        }

        @Test
        void aLocalSessionBeginsAndEndsHere() {
            Request begin = request(SESSION, 1, OpCode.createSession);
            begin.setLocalSession(true);
            Request end = request(SESSION, 2, OpCode.closeSession);
            end.setLocalSession(true);
            bring(begin, end);
            assertThat(done()).containsExactly(1, 2);
        }
    }

    @Nested
    class Exclusion {
        @Test
        void aReadWaitsForTheCommitThatIsApplied() throws Exception {
            Stop applying = applying(1);
            bring(read(SESSION, 2), longRead(OTHER, 3));
            assertThat(last.done).isEmpty();
            applying.leave();
            await().until(() -> last.done.size() == 3);
            assertThat(done()).startsWith(1);
            assertThat(whoDid(2)).isSameAs(whoDid(1));
        }

        @Test
        void aCommitWaitsForReadsAndTheLastOfThemAppliesIt() throws Exception {
            Stop first = reading(read(SESSION, 1));
            Stop second = reading(read(OTHER, 2));
            commitAndApply(OTHER, 3);
            first.leave();
            await().until(() -> done().contains(1));
            assertThat(done()).containsExactly(1);
            second.leave();
            await().until(() -> last.done.size() == 3);
            assertThat(done()).containsExactly(1, 2, 3);
            assertThat(whoDid(3)).isSameAs(whoDid(2));
        }

        @Test
        void aCommitWaitsForALongRead() throws Exception {
            Request slow = longRead(SESSION, 1);
            Stop reading = stop();
            last.steps.put(slow, reading);
            bring(slow);
            reading.awaitReached();
            commitAndApply(OTHER, 2);
            commits.callersApply(false);
            commit(OTHER, 3);
            assertThat(last.done).isEmpty();
            reading.leave();
            await().until(() -> last.done.size() == 3);
            assertThat(done()).containsExactly(1, 2, 3);
        }

        @Test
        void newReadsDoNotKeepACommitWaiting() throws Exception {
            Stop reading = reading(read(SESSION, 1));
            commitAndApply(OTHER, 2);
            bring(read(THIRD, 3));
            assertThat(last.done).isEmpty();
            reading.leave();
            await().until(() -> last.done.size() == 3);
            assertThat(done()).containsExactly(1, 2, 3);
        }

        @Test
        void norDoTheyWhileTheThreadIsOnItsWay() throws Exception {
            commits.callersApply(false);
            synchronized (lockOf(commits)) {
                commits.commit(committed(OTHER, 1));
                bring(read(SESSION, 2));
                assertThat(last.done).isEmpty();
            }
            await().until(() -> last.done.size() == 2);
            assertThat(done()).containsExactly(1, 2);
        }

        @Test
        void commitsAreAppliedByOneThreadAtATime() throws Exception {
            Stop applying = applying(1);
            commitAndApply(OTHER, 2);
            commits.callersApply(false);
            commit(OTHER, 3);
            assertThat(last.done).isEmpty();
            applying.leave();
            await().until(() -> last.done.size() == 3);
            assertThat(done()).containsExactly(1, 2, 3);
        }
    }

    /** With it held the stage's thread cannot run: a test sees what others do before it does. */
    private static Object lockOf(InlineCommitProcessor stage) throws ReflectiveOperationException {
        var field = InlineCommitProcessor.class.getDeclaredField("lock");
        field.setAccessible(true);
        return field.get(stage);
    }

    @Nested
    class Fairness {
        @Test
        void readsThatWaitDoNotWaitForALongOne() throws Exception {
            Stop applying = applying(1);
            Request slow = longRead(SESSION, 2);
            Stop reading = stop();
            last.steps.put(slow, reading);
            bring(slow, longRead(SESSION + 1, 3), read(OTHER, 4));
            applying.leave();
            reading.awaitReached();
            await().until(() -> last.done.size() == 3);
            assertThat(done()).containsExactlyInAnyOrder(1, 3, 4);
        }

        @Test
        void aSessionThatReadsWithoutEndDoesNotKeepCommitsWaiting() {
            bring(write(SESSION, 1), again(2, 500));
            commitAndApply(SESSION, 1);
            await().until(() -> done().contains(500));
            // The commit was made in the first of the reads.
            assertThat(done().indexOf(1_000)).isBetween(0, 5);
        }

        /** A read during which the next one comes in, and in the first one a commit. */
        private Request again(int cxid, int until) {
            Request request = read(SESSION, cxid);
            last.steps.put(
                    request,
                    () -> {
                        if (cxid == 2) {
                            commit(OTHER, 1_000);
                        }
                        if (cxid < until) {
                            bring(again(cxid + 1, until));
                        }
                    });
            return request;
        }

        @Test
        void commitsWithoutEndDoNotKeepReadsWaiting() {
            int many = 4 * CommitSchedule.MOST_IN_ROW;
            last.commitSteps.put(1, () -> bring(read(SESSION, 10_000), longRead(OTHER, 10_001)));
            for (int cxid = 1; cxid <= many; cxid++) {
                commit(THIRD, cxid);
            }
            commits.apply();
            await().until(() -> last.done.size() == many + 2);
            assertThat(done().indexOf(10_000)).isLessThan(2 * CommitSchedule.MOST_IN_ROW);
            assertThat(done().indexOf(10_001)).isLessThan(2 * CommitSchedule.MOST_IN_ROW);
            assertThat(done().stream().filter(cxid -> cxid <= many)).isSorted().hasSize(many);
        }
    }

    @Nested
    class LongWork {
        @Test
        void whoHasApplied2MsLeavesTheRestToTheThread() {
            last.commitSteps.put(2, () -> spend(InlineCommitProcessor.SHORT_MILLIS + 1));
            for (int cxid = 1; cxid <= 4; cxid++) {
                commit(OTHER, cxid);
            }
            commits.apply();
            await().until(() -> last.done.size() == 4);
            assertThat(done()).containsExactly(1, 2, 3, 4);
            assertThat(whoDid(2)).isSameAs(Thread.currentThread());
            assertThat(whoDid(3)).isSameAs(commits);
        }

        @Test
        void readsBehindAWriteCountAsWell() {
            Request slow = read(SESSION, 2);
            last.steps.put(slow, () -> spend(InlineCommitProcessor.SHORT_MILLIS + 1));
            bring(write(SESSION, 1), slow, read(SESSION, 3));
            commitAndApply(SESSION, 1);
            await().until(() -> last.done.size() == 3);
            assertThat(whoDid(2)).isSameAs(Thread.currentThread());
            assertThat(whoDid(3)).isSameAs(commits);
        }

        @Test
        void whatIsHandedOverIsDoneEvenIfTheThreadHadAReasonToLookBefore() throws Exception {
            for (int round = 0; round < 50; round++) {
                int first = 2 * round;
                commits.callersApply(true);
                Stop applying = applying(first);
                spend(InlineCommitProcessor.SHORT_MILLIS + 1);
                commits.callersApply(false);
                applying.leave();
                commit(OTHER, first + 1);
                await().pollInterval(1, TimeUnit.MILLISECONDS)
                        .until(() -> done().contains(first + 1));
            }
        }

        @Test
        void afterALongCommitTheThreadAppliesForAWhile() {
            last.commitSteps.put(1, () -> spend(30));
            commitAndApply(OTHER, 1);
            assertThat(whoDid(1)).isSameAs(Thread.currentThread());
            commitAndApply(OTHER, 2);
            await().until(() -> last.done.size() == 2);
            assertThat(whoDid(2)).isSameAs(commits);
        }

        @Test
        void theEndOfASessionWithManyNodesIsTheThreads() {
            List<String> paths = Collections.nCopies(InlineCommitProcessor.MANY + 1, "/a");
            TxnHeader header = new TxnHeader(OTHER, 2, 2, 1, OpCode.closeSession);
            commit(OTHER, 1);
            commits.commit(
                    new Request(
                            OTHER, 2, OpCode.closeSession, header, new CloseSessionTxn(paths), 2));
            commits.apply();
            await().until(() -> last.done.size() == 2);
            assertThat(whoDid(1)).isSameAs(Thread.currentThread());
            assertThat(whoDid(2)).isSameAs(commits);
        }

        @Test
        void aLargeMultiIsTheThreads() {
            List<Txn> parts =
                    Collections.nCopies(InlineCommitProcessor.MANY + 1, new Txn(5, new byte[0]));
            TxnHeader header = new TxnHeader(OTHER, 1, 1, 1, OpCode.multi);
            commits.commit(new Request(OTHER, 1, OpCode.multi, header, new MultiTxn(parts), 1));
            commits.apply();
            await().until(() -> last.done.size() == 1);
            assertThat(whoDid(1)).isSameAs(commits);
        }
    }

    @Nested
    class ReEntrance {
        @Test
        void aReadMadeWithinACommitIsDoneAfterIt() {
            last.commitSteps.put(1, () -> bring(read(SESSION, 2)));
            commitAndApply(OTHER, 1);
            assertThat(done()).containsExactly(1, 2);
        }

        @Test
        void aReadOfTheSessionWhoseWriteIsAppliedIsDoneAfterIt() {
            last.commitSteps.put(1, () -> bring(read(SESSION, 2)));
            bring(write(SESSION, 1));
            commitAndApply(SESSION, 1);
            assertThat(done()).containsExactly(1, 2);
        }

        @Test
        void aCommitMadeWithinACommitIsAppliedAfterIt() {
            last.commitSteps.put(1, () -> commitAndApply(OTHER, 2));
            commitAndApply(OTHER, 1);
            assertThat(done()).containsExactly(1, 2);
        }

        @Test
        void aCommitMadeWithinAReadIsAppliedAfterIt() {
            Request reading = read(SESSION, 1);
            last.steps.put(reading, () -> commitAndApply(OTHER, 2));
            bring(reading);
            assertThat(done()).containsExactly(1, 2);
        }

        @Test
        void aReadMadeWithinAReadIsDoneAtOnceUnlessACommitWaits() {
            Request outer = read(SESSION, 2);
            last.steps.put(outer, () -> bring(read(OTHER, 1)));
            bring(outer);
            assertThat(done()).containsExactly(1, 2);
            Request another = read(SESSION, 3);
            last.steps.put(
                    another,
                    () -> {
                        commitAndApply(OTHER, 4);
                        bring(read(OTHER, 5));
                    });
            bring(another);
            assertThat(done()).containsExactly(1, 2, 3, 4, 5);
        }
    }

    @Nested
    class Failures {
        @ParameterizedTest
        @ValueSource(strings = {"runtime", "processor", "error"})
        void ofACommitReachTheListenerAndNothingIsAppliedAfterwards(String kind) throws Exception {
            last.commitSteps.put(1, () -> fail(kind));
            commit(OTHER, 1);
            commit(OTHER, 2);
            commits.apply();
            assertThat(failures).containsExactly(commits.getName());
            commitAndApply(OTHER, 3);
            bring(read(SESSION, 4));
            assertThat(last.done).isEmpty();
            commits.join();
        }

        @ParameterizedTest
        @ValueSource(strings = {"runtime", "processor", "error"})
        void ofAReadToo(String kind) throws Exception {
            Request read = read(SESSION, 1);
            last.steps.put(read, () -> fail(kind));
            bring(read);
            assertThat(failures).containsExactly(commits.getName());
            commitAndApply(OTHER, 2);
            assertThat(last.done).isEmpty();
            commits.join();
        }

        @ParameterizedTest
        @ValueSource(strings = {"runtime", "error"})
        void ofALongReadToo(String kind) throws Exception {
            Request read = longRead(SESSION, 1);
            last.steps.put(read, () -> fail(kind));
            bring(read, read(SESSION, 2));
            await().until(() -> !failures.isEmpty());
            commits.join();
            assertThat(failures).containsExactly(commits.getName());
            assertThat(last.done).isEmpty();
        }

        @Test
        void inTheThreadToo() throws Exception {
            commits.callersApply(false);
            last.commitSteps.put(1, () -> fail("error"));
            commit(OTHER, 1);
            commits.join();
            assertThat(failures).containsExactly(commits.getName());
        }

        @Test
        void aCommittedThrottledRequestIsOne() {
            Request throttled = committed(OTHER, 1);
            throttled.setIsThrottled(true);
            commits.commit(throttled);
            commits.apply();
            assertThat(failures).containsExactly(commits.getName());
            assertThat(last.done).isEmpty();
        }

        private void fail(String kind) throws RequestProcessor.RequestProcessorException {
            switch (kind) {
                case "runtime" -> throw new IllegalArgumentException("as the test wants");
                case "processor" ->
                        throw new RequestProcessor.RequestProcessorException(
                                "as the test wants", null);
                default -> throw new StackOverflowError("as the test wants");
            }
        }
    }

    @Nested
    class Shutdown {
        private Thread shutDownInAnotherThread() {
            Thread thread = new Thread(commits::shutdown);
            thread.start();
            return thread;
        }

        private void awaitHalted() throws InterruptedException {
            // The stage's thread ends as soon as nothing more is begun.
            commits.join();
        }

        private void waits(Thread shutdown) {
            await().until(
                            () ->
                                    shutdown.getState() == Thread.State.TIMED_WAITING
                                            || !shutdown.isAlive());
            assertThat(shutdown.isAlive()).isTrue();
            assertThat(last.shutDown).isFalse();
        }

        private void isOverOnlyWhen(Stop inside, Thread shutdown) throws Exception {
            awaitHalted();
            waits(shutdown);
            inside.leave();
            ends(shutdown);
            assertThat(last.shutDown).isTrue();
            assertThat(last.done).hasSize(1);
        }

        private void ends(Thread shutdown) throws InterruptedException {
            shutdown.join(TimeUnit.SECONDS.toMillis(AT_ONCE_SECONDS));
            assertThat(shutdown.isAlive()).isFalse();
        }

        @Test
        void waitsForWhoApplies() throws Exception {
            Stop applying = applying(1);
            bring(read(SESSION, 2));
            commit(OTHER, 3);
            isOverOnlyWhen(applying, shutDownInAnotherThread());
        }

        @Test
        void waitsForWhoReads() throws Exception {
            Stop reading = reading(read(SESSION, 1));
            commit(OTHER, 2);
            isOverOnlyWhen(reading, shutDownInAnotherThread());
        }

        @Test
        void waitsForWorkers() throws Exception {
            Request slow = longRead(SESSION, 1);
            Stop reading = stop();
            last.steps.put(slow, reading);
            // The second one waits for the same worker.
            bring(slow, read(SESSION, 2), longRead(SESSION + 32 * 3 * 5 * 7, 3));
            reading.awaitReached();
            isOverOnlyWhen(reading, shutDownInAnotherThread());
        }

        @Test
        void waitsForTheThread() throws Exception {
            commits.callersApply(false);
            Stop applying = stop();
            last.commitSteps.put(1, applying);
            commit(OTHER, 1);
            applying.awaitReached();
            Thread shutdown = shutDownInAnotherThread();
            waits(shutdown);
            applying.leave();
            ends(shutdown);
            assertThat(done()).containsExactly(1);
            commits.join();
        }

        @Test
        void waitsEvenIfItsThreadIsInterrupted() throws Exception {
            Stop applying = applying(1);
            AtomicBoolean interrupted = new AtomicBoolean();
            Thread shutdown =
                    new Thread(
                            () -> {
                                Thread.currentThread().interrupt();
                                commits.shutdown();
                                interrupted.set(Thread.interrupted());
                            });
            shutdown.start();
            isOverOnlyWhen(applying, shutdown);
            assertThat(interrupted).isTrue();
        }

        @Test
        void byWhoAppliesDoesNotWaitForItself() throws Exception {
            last.commitSteps.put(1, commits::shutdown);
            commit(OTHER, 1);
            commit(OTHER, 2);
            atOnce(commits::apply);
            assertThat(done()).containsExactly(1);
        }

        @Test
        void byWhoReadsDoesNotWaitForItself() throws Exception {
            Request read = read(SESSION, 1);
            last.steps.put(read, commits::shutdown);
            atOnce(() -> bring(read));
            assertThat(done()).containsExactly(1);
        }

        @Test
        void byAWorkerDoesNotWaitForItself() throws Exception {
            Request read = longRead(SESSION, 1);
            last.steps.put(read, () -> atOnce(commits::shutdown));
            bring(read);
            await().until(() -> last.done.size() == 1);
            assertThat(failures).isEmpty();
        }

        @Test
        void byTheThreadDoesNotWaitForItself() throws Exception {
            commits.callersApply(false);
            last.commitSteps.put(1, () -> atOnce(commits::shutdown));
            commit(OTHER, 1);
            commits.join();
            assertThat(done()).containsExactly(1);
            assertThat(failures).isEmpty();
        }

        @Test
        void byWhoReadsWaitsForOthers() throws Exception {
            Stop other = reading(read(OTHER, 1));
            Request read = read(SESSION, 2);
            last.steps.put(read, commits::shutdown);
            Thread shutdown = new Thread(() -> bring(read));
            shutdown.start();
            awaitHalted();
            waits(shutdown);
            other.leave();
            ends(shutdown);
            assertThat(done()).containsExactly(1, 2);
        }

        @Test
        void whileTheThreadIsOnItsWayIsOverAtOnce() throws Exception {
            commits.callersApply(false);
            synchronized (lockOf(commits)) {
                commit(OTHER, 1);
                atOnce(commits::shutdown);
            }
            assertThat(last.done).isEmpty();
        }

        @Test
        void endsRequestsAndCommits() throws Exception {
            bring(write(SESSION, 1), read(SESSION, 2));
            commits.shutdown();
            bring(read(OTHER, 3), longRead(OTHER, 4), write(OTHER, 5));
            commitAndApply(SESSION, 1);
            commits.callersApply(false);
            commitAndApply(OTHER, 5);
            commits.shutdown();
            commits.join();
            assertThat(last.done).isEmpty();
            assertThat(failures).isEmpty();
        }

        private void atOnce(Step step) throws Exception {
            long begin = System.nanoTime();
            step.run();
            assertThat(System.nanoTime() - begin)
                    .isLessThan(TimeUnit.SECONDS.toNanos(AT_ONCE_SECONDS));
        }
    }

    /**
     * Sessions that pipeline, brought by selecting threads; a leader that commits what they write,
     * in the order in which it was filed, and other servers' writes. Nothing is brought while a
     * session has {@link #MOST_OUTSTANDING} requests, so work that nobody does ends everything.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89})
    void manySessionsAndThreadsSeeWhatOneAfterTheOtherWouldSee(long seed) throws Exception {
        Model model = new Model(seed);
        model.run();
    }

    private static final long FIRST_SESSION = 0x1000;
    private static final int SELECTORS = 3;
    private static final int SESSIONS_EACH = 4;
    private static final int REQUESTS_EACH = 300;
    private static final int MOST_OUTSTANDING = 6;

    /** Some sessions mostly read, so that they seldom wait for a write of their own. */
    private static final int[] WRITES_PERCENT = {2, 10, 30, 80};

    private final class Model implements RequestProcessor {
        private record Answer(int cxid, long seen) {}

        private static final class Session {
            final long id;
            final List<Request> brought = new ArrayList<>();
            final List<Answer> answers = Collections.synchronizedList(new ArrayList<>());

            Session(long id) {
                this.id = id;
            }

            boolean mayBring(int most) {
                return brought.size() < REQUESTS_EACH && brought.size() - answers.size() < most;
            }
        }

        private final long seed;
        private final Map<Long, Session> sessions = new HashMap<>();
        private final List<String> wrong = new CopyOnWriteArrayList<>();

        /** Writes in the order in which they were filed. Guarded by itself. */
        private final Deque<Request> filed = new ArrayDeque<>();

        private final AtomicInteger inside = new AtomicInteger();
        private final AtomicInteger insideCommit = new AtomicInteger();
        private volatile int selecting = SELECTORS;
        private volatile long applied;
        private volatile boolean over;
        private InlineCommitProcessor stage;

        Model(long seed) {
            this.seed = seed;
            for (int i = 0; i < SELECTORS * SESSIONS_EACH; i++) {
                sessions.put(FIRST_SESSION + i, new Session(FIRST_SESSION + i));
            }
        }

        void run() throws Exception {
            stage =
                    new InlineCommitProcessor(
                            database,
                            this,
                            new RequestWatch(new SlowRequests(Duration.ZERO)),
                            "model",
                            true,
                            (name, code) -> wrong.add(name));
            stage.start();
            try {
                List<Future<?>> running = new ArrayList<>();
                for (int i = 0; i < SELECTORS; i++) {
                    int number = i;
                    running.add(inAnotherThread(() -> select(number)));
                }
                running.add(inAnotherThread(this::lead));
                for (Future<?> each : running) {
                    each.get();
                }
                await().until(() -> !wrong.isEmpty() || allAnswered());
            } finally {
                over = true;
                stage.shutdown();
            }
            assertThat(wrong).isEmpty();
            sessions.values().forEach(this::check);
        }

        private boolean allAnswered() {
            return sessions.values().stream()
                    .allMatch(each -> each.answers.size() == REQUESTS_EACH);
        }

        /** One after the other: a write sees itself, a read what is between its neighbours. */
        private void check(Session session) {
            assertThat(session.answers)
                    .extracting(Answer::cxid)
                    .containsExactlyElementsOf(
                            session.brought.stream().map(each -> each.cxid).toList());
            long before = 0;
            for (int i = 0; i < session.brought.size(); i++) {
                Request request = session.brought.get(i);
                long seen = session.answers.get(i).seen;
                if (request.getHdr() != null) {
                    assertThat(seen).isEqualTo(request.getHdr().getZxid()).isGreaterThan(before);
                } else {
                    assertThat(seen).isGreaterThanOrEqualTo(before);
                }
                before = seen;
            }
        }

        private Void select(int number) {
            Random random = new Random(seed * 31 + number);
            int left = REQUESTS_EACH * SESSIONS_EACH;
            while (left > 0 && wrong.isEmpty() && !over) {
                int chosen = random.nextInt(number * SESSIONS_EACH, (number + 1) * SESSIONS_EACH);
                Session session = sessions.get(FIRST_SESSION + chosen);
                int most = 1 + random.nextInt(MOST_OUTSTANDING);
                for (int i = 0; i < most && session.mayBring(most); i++) {
                    bring(session, random);
                    left--;
                }
                pause(random);
            }
            synchronized (filed) {
                selecting--;
            }
            return null;
        }

        private void bring(Session session, Random random) {
            int cxid = session.brought.size() + 1;
            int kind = random.nextInt(100);
            if (kind < WRITES_PERCENT[(int) session.id % WRITES_PERCENT.length]) {
                Request write = write(session.id, cxid);
                session.brought.add(write);
                synchronized (filed) {
                    stage.processRequest(write);
                    filed.add(write);
                }
                return;
            }
            Request read = kind > 90 ? longRead(session.id, cxid) : read(session.id, cxid);
            session.brought.add(read);
            stage.processRequest(read);
        }

        private Void lead() {
            Random random = new Random(seed * 31 + SELECTORS);
            long next = 0;
            while (wrong.isEmpty() && !over) {
                boolean all;
                List<Request> batch = new ArrayList<>();
                synchronized (filed) {
                    all = selecting == 0 && filed.isEmpty();
                    for (int i = random.nextInt(6); i > 0 && !filed.isEmpty(); i--) {
                        batch.add(filed.poll());
                    }
                }
                if (all) {
                    return null;
                }
                boolean promises = random.nextInt(4) > 0;
                stage.callersApply(promises);
                for (Request each : batch) {
                    if (random.nextInt(3) == 0) {
                        next++;
                        stage.commit(transaction(0x9999, each.cxid, next));
                    }
                    next++;
                    stage.commit(transaction(each.sessionId, each.cxid, next));
                }
                stage.callersApply(false);
                if (promises) {
                    stage.apply();
                }
                pause(random);
            }
            return null;
        }

        private Request transaction(long session, int cxid, long transaction) {
            TxnHeader header = new TxnHeader(session, cxid, transaction, 1, OpCode.setData);
            return new Request(session, cxid, OpCode.setData, header, null, transaction);
        }

        private void pause(Random random) {
            switch (random.nextInt(4)) {
                case 0 -> LockSupport.parkNanos(random.nextInt(300_000));
                case 1 -> LockSupport.parkNanos(1);
                default -> Thread.onSpinWait();
            }
        }

        @Override
        public void processRequest(Request request) {
            boolean write = request.getHdr() != null;
            int already = inside.getAndIncrement();
            if (write && (already != 0 || insideCommit.getAndIncrement() != 0)) {
                wrong.add("Applied beside others: " + request);
            }
            if (!write && insideCommit.get() != 0) {
                wrong.add("Read while a commit was applied: " + request);
            }
            long before = applied;
            spendSomeTime(request, write);
            if (write) {
                if (request.zxid != before + 1) {
                    wrong.add("After " + before + ": " + request);
                }
                applied = request.zxid;
                insideCommit.decrementAndGet();
            } else if (applied != before) {
                wrong.add("Applied during " + request);
            }
            Session session = sessions.get(request.sessionId);
            inside.decrementAndGet();
            if (session != null) {
                session.answers.add(new Answer(request.cxid, write ? request.zxid : before));
            }
        }

        private void spendSomeTime(Request request, boolean write) {
            int chance =
                    Math.floorMod(request.cxid * 31 + (int) request.sessionId + (int) seed, 97);
            if (write && chance == 0) {
                LockSupport.parkNanos(3_000_000);
            } else if (chance < (write ? 50 : 10) || request.type == OpCode.getEphemerals) {
                LockSupport.parkNanos(50_000);
            }
        }

        @Override
        public void shutdown() {
            // Nothing comes after it.
        }
    }
}
