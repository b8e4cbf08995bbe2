package org.apache.zookeeper.server.quorum;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import javax.security.sasl.SaslException;
import org.apache.jute.BinaryInputArchive;
import org.apache.zookeeper.server.Encoder;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.quorum.auth.NullQuorumAuthServer;
import org.apache.zookeeper.server.quorum.auth.QuorumAuthServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Packets arrive whole and in order, whoever sends them: the sender, or the end of a batch. */
@Timeout(60)
class SaucrLearnerHandlerTest {
    private static final int SYNC_MILLIS = 200;

    private final AtomicInteger collected = new AtomicInteger();
    private final AtomicInteger batches = new AtomicInteger();
    private final List<SaucrLearnerHandler> collecting = new ArrayList<>();
    private final List<LearnerHandler> added = new ArrayList<>();
    private final List<LearnerHandler> removed = new ArrayList<>();
    private ServerSocket listening;
    private Socket learner;
    private BinaryInputArchive in;
    private SaucrLearnerHandler handler;
    private long next = 1;
    private long read = 1;

    private final class Master extends LearnerMaster {
        @Override
        void addLearnerHandler(LearnerHandler each) {
            added.add(each);
        }

        @Override
        void removeLearnerHandler(LearnerHandler each) {
            removed.add(each);
        }

        @Override
        void waitForEpochAck(long sid, StateSummary summary) {}

        @Override
        void waitForStartup() {}

        @Override
        long getEpochToPropose(long sid, long epoch) {
            return 1;
        }

        @Override
        ZKDatabase getZKDatabase() {
            return null;
        }

        @Override
        void waitForNewLeaderAck(long sid, long zxid) {}

        @Override
        long getLastProposed() {
            return 0;
        }

        @Override
        int getCurrentTick() {
            return 0;
        }

        @Override
        int syncTimeout() {
            return SYNC_MILLIS;
        }

        @Override
        int getTickOfNextAckDeadline() {
            return 0;
        }

        @Override
        int getTickOfInitialAckDeadline() {
            return 0;
        }

        @Override
        long getAndDecrementFollowerCounter() {
            return 0;
        }

        @Override
        void processAck(long sid, long zxid, SocketAddress from) {}

        @Override
        void touch(long session, int timeout) {}

        @Override
        void revalidateSession(QuorumPacket packet, LearnerHandler each) {}

        @Override
        void submitLearnerRequest(Request request) {}

        @Override
        long startForwarding(LearnerHandler each, long zxid) {
            return 0;
        }

        @Override
        long getQuorumVerifierVersion() {
            return 0;
        }

        @Override
        String getPeerInfo(long sid) {
            return "";
        }

        @Override
        byte[] getQuorumVerifierBytes() {
            return new byte[0];
        }

        @Override
        QuorumAuthServer getQuorumAuthServer() {
            return null;
        }

        @Override
        void registerLearnerHandlerBean(LearnerHandler each, Socket socket) {}

        @Override
        void unregisterLearnerHandlerBean(LearnerHandler each) {}
    }

    private final class Recorded implements SaucrLearnerHandler.Batches {
        @Override
        public void later() {
            collected.incrementAndGet();
        }

        @Override
        public void collects(SaucrLearnerHandler each) {
            synchronized (collecting) {
                collecting.add(each);
            }
        }

        @Override
        public void batch() {
            batches.incrementAndGet();
        }
    }

    @BeforeEach
    void connect() throws IOException {
        listening = new PeerServerSocket();
        listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        learner = new Socket();
        learner.setReceiveBufferSize(32 * 1024);
        learner.connect(listening.getLocalSocketAddress());
        PeerSocket peer = (PeerSocket) listening.accept();
        in = BinaryInputArchive.getArchive(new BufferedInputStream(learner.getInputStream()));
        handler =
                new SaucrLearnerHandler(
                        peer,
                        new BufferedInputStream(peer.getInputStream()),
                        new Master(),
                        new NullQuorumAuthServer(),
                        new Recorded());
    }

    @AfterEach
    void disconnect() throws IOException {
        handler.shutdown();
        learner.close();
        listening.close();
    }

    /** Whoever accepts goes on, however long a learner takes to authenticate itself. */
    @Test
    void aLearnerIsAskedByItsHandlersThread() throws Exception {
        try (Socket other = new Socket()) {
            other.connect(listening.getLocalSocketAddress());
            PeerSocket peer = (PeerSocket) listening.accept();
            SaucrLearnerHandler asking =
                    new SaucrLearnerHandler(
                            peer,
                            new BufferedInputStream(peer.getInputStream()),
                            new Master(),
                            (socket, from) -> {
                                if (from.readInt() != 17) {
                                    throw new SaslException("a wrong password");
                                }
                            },
                            new Recorded());
            asking.start();
            other.getOutputStream().write(new byte[] {0, 0, 0, 16});
            asking.join();
            assertThat(peer.isClosed()).isTrue();
            assertThat(added).doesNotContain(asking);
        }
    }

    private void send(int bytes) {
        handler.queuePacket(new QuorumPacket(Leader.PROPOSAL, next++, new byte[bytes], null));
    }

    private void expect(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            QuorumPacket packet = new QuorumPacket();
            in.readRecord(packet, "packet");
            if (packet.getType() != Leader.PING) {
                assertThat(packet.getZxid()).isEqualTo(read++);
            }
        }
    }

    private void synchronised() {
        handler.startSendingPackets();
        handler.synchronised();
        awaitCollecting();
    }

    /** What is not sent by the sender is collected: then that one has ended. */
    private void awaitCollecting() {
        await().until(
                        () -> {
                            int before = collected.get();
                            send(1);
                            return collected.get() > before;
                        });
        handler.flush();
    }

    @Test
    void untilTheLearnerIsSynchronisedTheSenderSends() throws Exception {
        handler.startSendingPackets();
        for (int i = 0; i < 100; i++) {
            send(i);
        }
        expect(100);
        assertThat(collected).hasValue(0);
    }

    @Test
    void thenPacketsLeaveWhenTheBatchEnds() throws Exception {
        synchronised();
        expect((int) (next - read));
        synchronized (collecting) {
            assertThat(collecting).contains(handler);
        }
        send(10);
        send(20);
        assertThat(learner.getInputStream().available()).isZero();
        handler.flush();
        expect(2);
    }

    @Test
    void packetsThatWereEncodedOnceAreTheSame() throws Exception {
        synchronised();
        expect((int) (next - read));
        Encoder encoder = new Encoder();
        QuorumPacket packet = new QuorumPacket(Leader.PROPOSAL, next++, new byte[5000], null);
        encoder.add(packet, "packet");
        handler.queuePacket(packet, encoder, System.nanoTime());
        send(3);
        handler.flush();
        expect(2);
    }

    /** All learners share the bytes of a large proposal. */
    @Test
    void aLargePacketIsNotCopiedForALearner() throws Exception {
        synchronised();
        expect((int) (next - read));
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (int i = 0; i < 5; i++) {
            QuorumPacket packet =
                    new QuorumPacket(Leader.PROPOSAL, next++, new byte[900_000], null);
            long before = threads.getCurrentThreadAllocatedBytes();
            handler.queuePacket(packet);
            handler.flush();
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            assertThat(allocated).as("round %d", i).isLessThan(50_000);
            expect(1);
            awaitCollecting();
            expect((int) (next - read));
        }
    }

    @Test
    void aLearnerThatDoesNotReadHoldsNobodyUpAndGetsEverythingInOrder() throws Exception {
        synchronised();
        for (int i = 0; i < 300; i++) {
            send(100_000);
            handler.flush();
        }
        expect((int) (next - read));
        awaitCollecting();
        expect((int) (next - read));
    }

    @Test
    void anyMixtureArrivesInOrder() throws Exception {
        synchronised();
        Random random = new Random(11);
        Thread reader =
                new Thread(
                        () -> {
                            Random pace = new Random(12);
                            try {
                                while (read < 4000) {
                                    expect(1);
                                    if (pace.nextInt(500) == 0) {
                                        Thread.sleep(20);
                                    }
                                }
                            } catch (IOException | InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                        });
        reader.start();
        while (next < 4000) {
            send(random.nextInt(20) == 0 ? random.nextInt(200_000) : random.nextInt(2_000));
            if (random.nextInt(5) == 0) {
                handler.flush();
            }
        }
        // Batches go on ending, as long as there is something to send.
        await().until(
                        () -> {
                            handler.flush();
                            return !reader.isAlive();
                        });
        assertThat(read).isEqualTo(4000);
    }

    @Test
    void aLearnerWithoutAcksForTheSyncLimitIsClosed() throws Exception {
        synchronised();
        long last = next - 1;
        handler.ping();
        for (long zxid = 1; zxid <= last; zxid++) {
            handler.acked(zxid);
        }
        send(1);
        await().until(
                        () -> {
                            handler.ping();
                            return removed.contains(handler);
                        });
        assertThat(handler.getSocket().isClosed()).isTrue();
    }

    @Test
    void aLearnerThatAcksIsPingedForEver() throws Exception {
        synchronised();
        long end = System.nanoTime() + 3 * SYNC_MILLIS * 1_000_000L;
        while (System.nanoTime() < end) {
            send(1);
            handler.acked(next - 2);
            handler.acked(next - 1);
            handler.ping();
            handler.flush();
            Thread.sleep(5);
        }
        assertThat(removed).isEmpty();
    }
}
