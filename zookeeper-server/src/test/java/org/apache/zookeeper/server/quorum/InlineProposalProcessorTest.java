package org.apache.zookeeper.server.quorum;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.server.requests.RequestWatch;
import io.saucr.server.requests.SlowRequests;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.DeleteContainerRequest;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.Logs;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who proposes, how long, and what may never be left behind. */
@Timeout(60)
class InlineProposalProcessorTest {
    private static final int MOST = InlineProposalProcessor.MOST_AT_A_STRETCH;

    @TempDir Path folder;

    private final Leading leader = new Leading();
    private final AtomicLong clock = new AtomicLong();
    private final Queue<Integer> logged = new ConcurrentLinkedQueue<>();
    private ZKDatabase database;
    private SaucrTxnSnapLog snapLog;
    private InlineProposalProcessor proposals;

    /** Counts requests: syncs, which need no tree, and no-ops, which are logged. */
    private final class Leading
            implements InlineProposalProcessor.Proposer, InlineProposalProcessor.Batches {
        final Queue<Integer> proposed = new ConcurrentLinkedQueue<>();
        final Queue<Thread> by = new ConcurrentLinkedQueue<>();
        final AtomicInteger inside = new AtomicInteger();
        final AtomicBoolean overlapped = new AtomicBoolean();
        final List<String> steps = Collections.synchronizedList(new ArrayList<>());
        volatile byte[] data = {1};
        volatile Runnable whenProposed = () -> {};
        volatile boolean open = true;

        @Override
        public boolean mayPropose() {
            return open;
        }

        @Override
        public void processSync(LearnerSyncRequest sync) {
            if (inside.incrementAndGet() != 1) {
                overlapped.set(true);
            }
            proposed.add(sync.cxid);
            by.add(Thread.currentThread());
            whenProposed.run();
            inside.decrementAndGet();
        }

        @Override
        public Leader.Proposal propose(Request request) {
            steps.add("propose " + request.cxid);
            whenProposed.run();
            return new Leader.Proposal(
                    request, new QuorumPacket(Leader.PROPOSAL, request.zxid, data, null));
        }

        @Override
        public long getLastProposed() {
            return 0;
        }

        @Override
        public void handedToLog(long zxid) {
            steps.add("log through " + zxid);
        }

        @Override
        public void flush() {
            steps.add("send");
        }

        @Override
        public void later() {
            // The tests call propose() themselves.
        }

        @Override
        public void batch() {
            proposals.propose();
        }
    }

    /** Where own clients' writes are filed. */
    private static final class Nothing implements RequestProcessor {
        @Override
        public void processRequest(Request request) {
            if (request.type == OpCode.sync) {
                throw new AssertionError("a sync goes to the leader: " + request);
            }
        }

        @Override
        public void shutdown() {}
    }

    @BeforeEach
    void open() throws Exception {
        snapLog = Logs.open(folder);
        database = new ZKDatabase(snapLog);
        SaucrLeaderServer server =
                new SaucrLeaderServer(
                        snapLog,
                        new QuorumPeer(),
                        database,
                        new RequestWatch(new SlowRequests(Duration.ZERO)));
        LeaderLog log =
                new LeaderLog(server, acked -> acked.forEach(each -> logged.add(each.cxid)));
        log.start();
        proposals =
                new InlineProposalProcessor(
                        server,
                        leader,
                        leader,
                        new Nothing(),
                        log,
                        new RequestWatch(new SlowRequests(Duration.ZERO)),
                        clock::get);
    }

    @AfterEach
    void close() throws Exception {
        proposals.shutdown();
        snapLog.close();
    }

    private void bringNoop(int number) {
        bring(
                number,
                new Request(
                        null,
                        0,
                        number,
                        OpCode.deleteContainer,
                        RequestRecord.fromRecord(new DeleteContainerRequest("/nobody")),
                        null));
    }

    private void bring(int number, Request request) {
        assertThat(request.cxid).isEqualTo(number);
        proposals.processRequest(request);
    }

    private void passes(long millis) {
        clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private void bring(int number) {
        Request request =
                new LearnerSyncRequest(
                        null, 1, number, OpCode.sync, RequestRecord.fromBytes(new byte[0]), null);
        // Then the session is not looked for.
        request.setIsThrottled(true);
        proposals.processRequest(request);
    }

    @Test
    void whoeverBringsProposesInOrder() {
        for (int i = 0; i < 100; i++) {
            bring(i);
        }
        assertThat(leader.proposed).isEmpty();
        proposals.propose();
        assertThat(List.copyOf(leader.proposed)).hasSize(100).isSorted();
        assertThat(leader.by).containsOnly(Thread.currentThread());
    }

    @Test
    void whatOthersBringMeanwhileIsProposedByTheOneInside() throws Exception {
        List<Integer> left = new ArrayList<>(List.of(1, 2, 3));
        leader.whenProposed =
                () -> {
                    if (!left.isEmpty()) {
                        bringByAnother(left.remove(0));
                    }
                };
        bring(0);
        proposals.propose();
        assertThat(leader.proposed).containsExactly(0, 1, 2, 3);
        assertThat(leader.by).containsOnly(Thread.currentThread());
    }

    private void bringByAnother(int number) {
        Thread other =
                new Thread(
                        () -> {
                            bring(number);
                            proposals.propose();
                        });
        other.start();
        try {
            other.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The one inside would never read its learner's acks, or write the log, again. */
    @Test
    void whoProposesLeavesHoweverMuchIsBroughtAndTheStagesThreadGoesOn() {
        proposals.start();
        AtomicInteger next = new AtomicInteger(1);
        AtomicBoolean endless = new AtomicBoolean(true);
        leader.whenProposed =
                () -> {
                    if (endless.get()) {
                        bring(next.getAndIncrement());
                    }
                };
        bring(0);
        proposals.propose();
        long own = leader.by.stream().filter(by -> by == Thread.currentThread()).count();
        assertThat(own).isEqualTo(MOST);
        await().until(() -> leader.proposed.size() > 3 * MOST);
        endless.set(false);
        await().until(() -> leader.proposed.size() == next.get());
        assertThat(List.copyOf(leader.proposed)).isSorted();
        assertThat(leader.by).containsOnly(Thread.currentThread(), proposals);
    }

    @Test
    void nothingIsLeftBehindByManyWhoComeAndGo() throws Exception {
        proposals.start();
        int threads = 8;
        int each = 5_000;
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Thread thread =
                    new Thread(
                            () -> {
                                for (int k = 0; k < each; k++) {
                                    bring(k);
                                    if (k % 3 == 0 || k == each - 1) {
                                        proposals.propose();
                                    }
                                }
                            });
            all.add(thread);
            thread.start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        await().until(() -> leader.proposed.size() == threads * each);
        assertThat(leader.overlapped).isFalse();
        assertThat(proposals.waits()).isFalse();
    }

    @Test
    void whatMayNotBeProposedNowWaits() {
        leader.open = false;
        bring(0);
        proposals.propose();
        assertThat(leader.proposed).isEmpty();
        assertThat(proposals.waits()).isTrue();
        leader.open = true;
        proposals.propose();
        assertThat(leader.proposed).containsExactly(0);
    }

    @Test
    void afterTheEndNothingIsProposed() {
        bring(0);
        proposals.shutdown();
        proposals.propose();
        assertThat(leader.proposed).isEmpty();
    }

    @Test
    void whoHasProposedForLongLeavesTheTurnToTheStagesThreadAndNobodyIsFaster() throws Exception {
        leader.whenProposed = () -> passes(10);
        for (int i = 0; i < 20; i++) {
            bring(i);
        }
        proposals.propose();
        assertThat(leader.proposed).containsExactly(0, 1, 2, 3, 4);
        bringByAnother(20);
        proposals.propose();
        assertThat(leader.proposed).hasSize(5);
        proposals.start();
        await().until(() -> leader.proposed.size() == 21);
        assertThat(List.copyOf(leader.proposed)).isSorted();
        await().until(
                        () -> {
                            proposals.propose();
                            return !proposals.waits();
                        });
        // The turn is free again.
        leader.by.clear();
        await().until(
                        () -> {
                            bring(21);
                            proposals.propose();
                            return leader.by.contains(Thread.currentThread());
                        });
    }

    @Test
    void r24TheOwnLogAndThenLearnersGetASliceHoweverMuchWaits() {
        leader.whenProposed = () -> passes(2);
        for (int i = 1; i <= 7; i++) {
            bringNoop(i);
        }
        proposals.propose();
        assertThat(leader.steps)
                .containsExactly(
                        "propose 1",
                        "propose 2",
                        "propose 3",
                        "log through 3",
                        "send",
                        "propose 4",
                        "propose 5",
                        "propose 6",
                        "log through 6",
                        "send",
                        "propose 7",
                        "log through 7");
        await().until(() -> List.copyOf(logged).equals(List.of(1, 2, 3, 4, 5, 6, 7)));
    }

    @Test
    void r24ASliceEndsAfterSoManyBytes() {
        leader.data = new byte[InlineProposalProcessor.SLICE_BYTES / 2];
        for (int i = 1; i <= 3; i++) {
            bringNoop(i);
        }
        proposals.propose();
        assertThat(leader.steps)
                .containsExactly(
                        "propose 1",
                        "propose 2",
                        "log through 2",
                        "send",
                        "propose 3",
                        "log through 3");
    }

    /** There are no sessions here: what is proposed is that these cannot be closed. */
    @Test
    void r24WhatIsBeforeASessionWithManyNodesDoesNotWaitForIt() throws Exception {
        for (int i = 0; i <= InlineProposalProcessor.MANY; i++) {
            database.getDataTree()
                    .createNode("/e" + i, new byte[0], Ids.OPEN_ACL_UNSAFE, 7, -1, 1, 1);
        }
        bringNoop(1);
        bring(2, new Request(null, 8, 2, OpCode.closeSession, null, null));
        bring(3, new Request(null, 7, 3, OpCode.closeSession, null, null));
        proposals.propose();
        assertThat(leader.steps)
                .containsExactly(
                        "propose 1",
                        "propose 2",
                        "log through 2",
                        "send",
                        "propose 3",
                        "log through 3");
    }
}
