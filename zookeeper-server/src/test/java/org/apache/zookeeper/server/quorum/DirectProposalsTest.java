package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.SyncRequestProcessor;
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
class DirectProposalsTest {
    private static final int MOST = DirectProposals.MOST_AT_A_STRETCH;

    @TempDir Path folder;

    private final Leading leader = new Leading();
    private SaucrTxnSnapLog snapLog;
    private DirectProposals proposals;

    /** Counts requests, which are syncs: they need no tree. */
    private final class Leading implements DirectProposals.Proposer {
        final Queue<Integer> proposed = new ConcurrentLinkedQueue<>();
        final Queue<Thread> by = new ConcurrentLinkedQueue<>();
        final AtomicInteger inside = new AtomicInteger();
        final AtomicBoolean overlapped = new AtomicBoolean();
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
            throw new AssertionError("nothing here has a transaction: " + request);
        }

        @Override
        public long getLastProposed() {
            return 0;
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

    private static final class Nothing implements RequestProcessor {
        @Override
        public void processRequest(Request request) {
            throw new AssertionError("a sync goes to the leader: " + request);
        }

        @Override
        public void shutdown() {}
    }

    @BeforeEach
    void open() throws Exception {
        snapLog = Logs.open(folder);
        SaucrLeaderServer server =
                new SaucrLeaderServer(snapLog, new QuorumPeer(), new ZKDatabase(snapLog));
        SyncRequestProcessor log = new SyncRequestProcessor(server, new Nothing());
        log.start();
        proposals = new DirectProposals(server, leader, new Nothing(), log);
        proposals.start();
    }

    @AfterEach
    void close() throws Exception {
        proposals.shutdown();
        snapLog.close();
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
}
