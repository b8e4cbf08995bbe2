package org.apache.zookeeper.server.quorum;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServerListener;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.txn.ErrorTxn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who brings a request files it, and sends it to the leader if it is a write. */
@Timeout(60)
class InlineFollowerProcessorTest {
    private static final long SESSION = 0x100;

    /** Where a request went to, in the order of all. */
    private record Went(String where, int cxid) {}

    private interface Step {
        void run() throws IOException;
    }

    @TempDir Path folder;

    private final List<Went> went = new CopyOnWriteArrayList<>();
    private final List<String> failures = new CopyOnWriteArrayList<>();
    private final Next next = new Next();
    private Server server;
    private InlineFollowerProcessor forwarding;

    private volatile Step whenFiled = () -> {};
    private volatile Step whenSent = () -> {};

    private final class Next extends CommitProcessor {
        volatile boolean shutDown;

        Next() {
            super(null, "next", true, null);
        }

        @Override
        public void processRequest(Request request) {
            try {
                whenFiled.run();
            } catch (IOException e) {
                throw new UncheckedIOException("as the test wants", e);
            }
            went.add(new Went("next", request.cxid));
        }

        @Override
        public void shutdown() {
            shutDown = true;
        }
    }

    private final class Server extends FollowerZooKeeperServer {
        private final Follower follower;
        boolean authorizes = true;
        Request upgrade;
        Exception upgradeFailure;

        Server(QuorumPeer peer, File files) throws IOException {
            super(new FileTxnSnapLog(files, files), peer, new ZKDatabase(null));
            follower =
                    new Follower(peer, this) {
                        @Override
                        void request(Request request) throws IOException {
                            whenSent.run();
                            if (request.type == OpCode.sync && !pendingSyncs.contains(request)) {
                                failures.add("sent before it waits for the answer: " + request);
                            }
                            went.add(new Went("leader", request.cxid));
                        }
                    };
        }

        @Override
        public Follower getFollower() {
            return follower;
        }

        @Override
        public boolean authWriteRequest(Request request) {
            return authorizes;
        }

        @Override
        public Request checkUpgradeSession(Request request) throws IOException, KeeperException {
            if (upgradeFailure instanceof KeeperException e) {
                throw e;
            }
            if (upgradeFailure instanceof IOException e) {
                throw e;
            }
            return upgrade;
        }

        @Override
        public ZooKeeperServerListener getZooKeeperServerListener() {
            return (thread, code) -> failures.add(thread);
        }
    }

    @BeforeEach
    void start() throws IOException {
        server = new Server(new QuorumPeer(), folder.toFile());
        forwarding = new InlineFollowerProcessor(server, next);
    }

    @AfterEach
    void end() {
        System.clearProperty(FollowerRequestProcessor.SKIP_LEARNER_REQUEST_TO_NEXT_PROCESSOR);
    }

    private static Request request(int cxid, int type) {
        return new Request(
                null, SESSION, cxid, type, RequestRecord.fromBytes(new byte[0]), List.of());
    }

    private void bring(int cxid, int type) {
        forwarding.processRequest(request(cxid, type));
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                OpCode.sync,
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
                OpCode.createSession,
                OpCode.closeSession
            })
    void aWriteIsFiledAndThenSent(int type) {
        bring(1, type);
        assertThat(went).containsExactly(new Went("next", 1), new Went("leader", 1));
        assertThat(failures).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                OpCode.getData,
                OpCode.exists,
                OpCode.getChildren,
                OpCode.getChildren2,
                OpCode.getACL,
                OpCode.multiRead,
                OpCode.setWatches,
                OpCode.ping,
                OpCode.auth
            })
    void aReadIsNotSent(int type) {
        bring(1, type);
        assertThat(went).containsExactly(new Went("next", 1));
    }

    @Test
    void aThrottledWriteIsNotSent() {
        for (int type : List.of(OpCode.setData, OpCode.sync)) {
            Request throttled = request(type, type);
            throttled.setIsThrottled(true);
            forwarding.processRequest(throttled);
            assertThat(went).endsWith(new Went("next", type));
        }
        assertThat(went).hasSize(2);
        assertThat(server.pendingSyncs).isEmpty();
    }

    @Test
    void aLocalSessionBeginsAndEndsWithoutTheLeader() {
        for (int type : List.of(OpCode.createSession, OpCode.closeSession)) {
            Request local = request(1, type);
            local.setLocalSession(true);
            forwarding.processRequest(local);
        }
        assertThat(went).containsExactly(new Went("next", 1), new Went("next", 1));
    }

    @Test
    void whatTheClientMayNotWriteGoesNowhere() {
        server.authorizes = false;
        bring(1, OpCode.setData);
        assertThat(went).isEmpty();
    }

    @Test
    void syncsWaitForTheirAnswersInTheOrderInWhichTheyAreSent() throws Exception {
        Request first = request(1, OpCode.sync);
        Request second = request(2, OpCode.sync);
        forwarding.processRequest(first);
        forwarding.processRequest(second);
        assertThat(server.pendingSyncs).containsExactly(first, second);
        assertThat(failures).isEmpty();
    }

    @Test
    void manyThreadsFileAndSendInTheSameOrder() throws Exception {
        int threads = 4;
        int each = 300;
        List<Integer> pending = new ArrayList<>();
        ExecutorService selectors = Executors.newFixedThreadPool(threads);
        CyclicBarrier barrier = new CyclicBarrier(threads);
        whenFiled = () -> LockSupport.parkNanos(1);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int from = i * each;
            running.add(
                    selectors.submit(
                            () -> {
                                barrier.await();
                                for (int cxid = from; cxid < from + each; cxid++) {
                                    bring(cxid, cxid % 3 == 0 ? OpCode.sync : OpCode.setData);
                                }
                                return null;
                            }));
        }
        for (Future<?> one : running) {
            one.get();
        }
        selectors.shutdown();
        server.pendingSyncs.forEach(sync -> pending.add(sync.cxid));
        assertThat(failures).isEmpty();
        assertThat(order("leader")).hasSize(threads * each).isEqualTo(order("next"));
        assertThat(pending)
                .isEqualTo(order("leader").stream().filter(cxid -> cxid % 3 == 0).toList());
    }

    private List<Integer> order(String where) {
        return went.stream().filter(one -> one.where.equals(where)).map(Went::cxid).toList();
    }

    @Test
    void aReadDoesNotWaitForAWriteThatIsBeingSent() throws Exception {
        CountDownLatch sending = new CountDownLatch(1);
        CountDownLatch sent = new CountDownLatch(1);
        whenSent =
                () -> {
                    sending.countDown();
                    try {
                        sent.await();
                    } catch (InterruptedException e) {
                        throw new IOException(e);
                    }
                };
        Thread writer = new Thread(() -> bring(1, OpCode.setData));
        writer.start();
        sending.await();
        Thread reader = new Thread(() -> bring(2, OpCode.getData));
        reader.start();
        try {
            await().until(() -> went.contains(new Went("next", 2)));
            assertThat(went).doesNotContain(new Went("leader", 1));
        } finally {
            sent.countDown();
        }
        reader.join();
        writer.join();
        assertThat(went).endsWith(new Went("leader", 1));
    }

    @Test
    void theSessionBecomesOneOfTheEnsembleBeforeItsFirstEphemeralNode() {
        server.upgrade = request(0, OpCode.createSession);
        bring(1, OpCode.create);
        assertThat(went)
                .containsExactly(
                        new Went("next", 0),
                        new Went("leader", 0),
                        new Went("next", 1),
                        new Went("leader", 1));
    }

    @Test
    void anObserversRequestIsNotLookedAtForThat() {
        server.upgrade = request(0, OpCode.createSession);
        forwarding.processRequest(request(1, OpCode.create), false);
        assertThat(order("leader")).containsExactly(1);
    }

    @Test
    void theClientLearnsThatItsSessionCannotBecomeOneOfTheEnsemble() {
        server.upgradeFailure = new KeeperException.EphemeralOnLocalSessionException();
        Request request = request(1, OpCode.create);
        request.setHdr(new TxnHeader(SESSION, 1, 1, 1, OpCode.create));
        forwarding.processRequest(request);
        assertThat(request.getException().code()).isEqualTo(Code.EPHEMERALONLOCALSESSION);
        assertThat(request.getHdr().getType()).isEqualTo(OpCode.error);
        assertThat(((ErrorTxn) request.getTxn()).getErr())
                .isEqualTo(Code.EPHEMERALONLOCALSESSION.intValue());
        assertThat(order("next")).containsExactly(1);
        assertThat(failures).isEmpty();
    }

    @Test
    void aRequestThatCannotBeDecodedGoesItsWay() {
        server.upgradeFailure = new IOException("as the test wants");
        bring(1, OpCode.create);
        assertThat(order("leader")).containsExactly(1);
        assertThat(failures).isEmpty();
    }

    @Test
    void whatAnotherServerHasForwardedIsFiledOnlyIfWanted() throws Exception {
        Request learners = request(1, OpCode.setData);
        ObserverMaster master = new ObserverMaster(server.self, server, 0);
        learners.setOwner(new LearnerHandler(new Socket(), null, master));
        forwarding.processRequest(learners);
        assertThat(order("next")).containsExactly(1);
        System.setProperty(FollowerRequestProcessor.SKIP_LEARNER_REQUEST_TO_NEXT_PROCESSOR, "true");
        forwarding = new InlineFollowerProcessor(server, next);
        forwarding.processRequest(learners);
        bring(2, OpCode.setData);
        assertThat(order("next")).containsExactly(1, 2);
        assertThat(order("leader")).containsExactly(1, 1, 2);
    }

    @Test
    void afterAFailureToSendNoLaterWriteIsSent() {
        whenSent =
                () -> {
                    throw new IOException("as the test wants");
                };
        bring(1, OpCode.setData);
        assertThat(failures).containsExactly(forwarding.getName());
        whenSent = () -> {};
        bring(2, OpCode.setData);
        assertThat(went).containsExactly(new Went("next", 1));
    }

    @Test
    void afterAFailureToFileNothingIsSent() {
        whenFiled =
                () -> {
                    throw new IOException("as the test wants");
                };
        bring(1, OpCode.setData);
        whenFiled = () -> {};
        bring(2, OpCode.setData);
        assertThat(failures).containsExactly(forwarding.getName());
        assertThat(went).isEmpty();
    }

    @Test
    void whatTheMachineThrowsReachesTheListenerToo() {
        whenFiled =
                () -> {
                    throw new StackOverflowError("as the test wants");
                };
        bring(1, OpCode.getData);
        assertThat(failures).containsExactly(forwarding.getName());
    }

    @RepeatedTest(30)
    void whoWaitedForAWriteThatCouldNotBeSentSendsNothing() throws Exception {
        CountDownLatch sending = new CountDownLatch(1);
        CountDownLatch fails = new CountDownLatch(1);
        whenSent =
                () -> {
                    sending.countDown();
                    try {
                        fails.await();
                    } catch (InterruptedException e) {
                        throw new IOException(e);
                    }
                    whenSent = () -> {};
                    throw new IOException("as the test wants");
                };
        Thread first = new Thread(() -> bring(1, OpCode.setData));
        first.start();
        sending.await();
        Thread second = new Thread(() -> bring(2, OpCode.setData));
        second.start();
        await().pollInterval(1, TimeUnit.MILLISECONDS)
                .until(() -> second.getState() == Thread.State.BLOCKED);
        fails.countDown();
        first.join();
        second.join();
        assertThat(went).containsExactly(new Went("next", 1));
        assertThat(failures).containsExactly(forwarding.getName());
    }

    @Test
    void afterTheShutdownNothingGoesAnywhere() {
        forwarding.shutdown();
        assertThat(next.shutDown).isTrue();
        bring(1, OpCode.setData);
        bring(2, OpCode.getData);
        assertThat(went).isEmpty();
        assertThat(server.pendingSyncs).isEmpty();
    }
}
