package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.recovery.Bytes;
import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryMessage.SnapshotPart;
import io.saucr.core.recovery.RecoveryWire;
import io.saucr.server.PatientWaits;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.server.quorum.QuorumCnxManager.Message;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;
import org.apache.zookeeper.server.quorum.auth.NullQuorumAuthLearner;
import org.apache.zookeeper.server.quorum.auth.NullQuorumAuthServer;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What server 1 of three lets through its election channel while it recovers, and after that. */
class SaucrCnxManagerTest {
    private final List<Long> askers = new ArrayList<>();
    private boolean recovering = true;
    private ServerSocket other;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private SaucrCnxManager channel;

    /** This thread waits where it asks which servers are in the configuration. */
    private volatile Thread hesitating;

    private final CountDownLatch hesitates = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    @BeforeEach
    void open() throws Exception {
        other = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Map<Long, QuorumServer> servers = new HashMap<>();
        for (long sid = 1; sid <= 3; sid++) {
            InetSocketAddress election =
                    new InetSocketAddress(
                            InetAddress.getLoopbackAddress(), sid == 2 ? other.getLocalPort() : 1);
            servers.put(sid, new QuorumServer(sid, election, election));
        }
        QuorumPeer self =
                new QuorumPeer() {
                    @Override
                    public Map<Long, QuorumServer> getView() {
                        hesitate();
                        return super.getView();
                    }
                };
        self.setMyid(1);
        self.setQuorumVerifier(new QuorumMaj(servers), false);
        channel =
                new SaucrCnxManager(
                        self,
                        servers,
                        new NullQuorumAuthServer(),
                        new NullQuorumAuthLearner(),
                        1_000,
                        new SaucrCnxManager.Recovery() {
                            @Override
                            public void held(long from, ByteBuffer vote) {}

                            @Override
                            public void received(long from, ByteBuffer message) {
                                askers.add(from);
                            }

                            @Override
                            public boolean recovering() {
                                return recovering;
                            }
                        });
    }

    /** Until the test goes on, if this is the thread that waits for it. */
    private void hesitate() {
        if (Thread.currentThread() == hesitating) {
            hesitates.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @AfterEach
    void close() throws Exception {
        for (Socket socket : sockets) {
            socket.close();
        }
        channel.halt();
        other.close();
    }

    private static ByteBuffer vote(int round) {
        return ByteBuffer.allocate(40).putInt(0).putLong(round).clear();
    }

    private Message heard() throws InterruptedException {
        return channel.pollRecvQueue(0, TimeUnit.NANOSECONDS);
    }

    @Test
    void r15NoVoteIsHeardBeforeTheRecoveryIsOverAndThenTheNewestOfEachVoter() throws Exception {
        channel.addToRecvQueue(new Message(vote(1), 2));
        channel.addToRecvQueue(new Message(vote(2), 2));
        channel.addToRecvQueue(new Message(vote(3), 3));
        channel.addToRecvQueue(new Message(vote(4), 9));
        channel.addToRecvQueue(new Message(RecoveryWire.encode(new LleQuery(7, 3, false)), 3));
        assertThat(heard()).isNull();
        assertThat(askers).containsExactly(3L);
        recovering = false;
        channel.releaseVotes();
        Map<Long, ByteBuffer> votes = new HashMap<>();
        for (Message message = heard(); message != null; message = heard()) {
            votes.put(message.sid, message.buffer);
        }
        assertThat(votes).isEqualTo(Map.of(2L, vote(2), 3L, vote(3)));
        channel.addToRecvQueue(new Message(vote(5), 2));
        assertThat(heard().buffer).isEqualTo(vote(5));
    }

    // States of a server, as they are sent.
    private static final int LOOKING = 0;
    private static final int FOLLOWING = 1;

    private static ByteBuffer notification(int state, long round) {
        return ByteBuffer.allocate(40)
                .putInt(state)
                .putLong(2)
                .putLong(0x1_0000_0007L)
                .putLong(round)
                .clear();
    }

    private List<Message> heardAll() throws InterruptedException {
        List<Message> all = new ArrayList<>();
        for (Message message = heard(); message != null; message = heard()) {
            all.add(message);
        }
        return all;
    }

    /** A server that is named may vote before others have left their leader. */
    @Test
    void r28VotesThatCameTooEarlyAreHeardOnceMore() throws Exception {
        recovering = false;
        final long begin = System.nanoTime();
        channel.addToRecvQueue(new Message(notification(LOOKING, 4), 2));
        channel.addToRecvQueue(new Message(notification(LOOKING, 5), 2));
        // The gate is closed while this server leaves its role.
        recovering = true;
        channel.addToRecvQueue(new Message(notification(LOOKING, 5), 3));
        recovering = false;
        channel.releaseVotes();
        assertThat(heardAll()).hasSize(3);
        channel.hearEarlyVotes(begin, 4);
        Map<Long, ByteBuffer> votes = new HashMap<>();
        heardAll().forEach(message -> votes.put(message.sid, message.buffer));
        assertThat(votes)
                .isEqualTo(Map.of(2L, notification(LOOKING, 5), 3L, notification(LOOKING, 5)));
        channel.hearEarlyVotes(begin, 4);
        assertThat(heardAll()).isEmpty();
    }

    @Test
    void r28NoOldVoteIsHeardOnceMoreAndNoneOfAServerThatHasARole() throws Exception {
        recovering = false;
        channel.addToRecvQueue(new Message(notification(LOOKING, 5), 2));
        channel.hearEarlyVotes(System.nanoTime() + 1, 4);
        channel.addToRecvQueue(new Message(notification(LOOKING, 4), 2));
        final long begin = System.nanoTime() - 1_000_000_000;
        channel.hearEarlyVotes(begin, 4);
        channel.addToRecvQueue(new Message(notification(LOOKING, 5), 2));
        channel.addToRecvQueue(new Message(notification(FOLLOWING, 5), 2));
        // No server of the ensemble, this server, and too short to be a notification.
        channel.addToRecvQueue(new Message(notification(LOOKING, 5), 9));
        channel.addToRecvQueue(new Message(notification(LOOKING, 5), 1));
        channel.addToRecvQueue(new Message(ByteBuffer.allocate(8), 3));
        heardAll();
        channel.hearEarlyVotes(begin, 4);
        assertThat(heardAll()).isEmpty();
    }

    @Test
    void r15NoVoteIsSentWhileRecovering() {
        channel.toSend(3L, vote(1));
        assertThat(channel.queueSendMap.get(3L)).isEmpty();
        recovering = false;
        channel.toSend(3L, vote(2));
        assertThat(channel.queueSendMap.get(3L)).containsExactly(vote(2));
    }

    @Test
    void aServerThatCannotBeReachedIsTriedLessAndLessOften() throws Exception {
        // Number 2 wins the right to connect, so each attempt is a connection that is hung up.
        long began = System.nanoTime();
        other.setSoTimeout(20);
        for (int attempts = 0; attempts < 4; ) {
            channel.send(2, new LleQuery(7, 1, false));
            try {
                other.accept().close();
                attempts++;
            } catch (SocketTimeoutException e) {
                // None is due.
            }
        }
        // At 0, 0.1, 0.3 and 0.7 s at the earliest.
        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .isGreaterThan(Duration.ofMillis(700));
    }

    // ---- Peers outside of the configuration ----

    private static final long OUTSIDE = 100;

    /** What the listening thread does with a connection that a server of a higher number opens. */
    private Socket connected(long sid) throws Exception {
        return connected(sid, "127.0.0.1:1");
    }

    private Socket connected(long sid, String electionAddress) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Socket socket = new Socket(listener.getInetAddress(), listener.getLocalPort());
            byte[] address = electionAddress.getBytes(StandardCharsets.UTF_8);
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeLong(QuorumCnxManager.PROTOCOL_VERSION_V1);
            out.writeLong(sid);
            out.writeInt(address.length);
            out.write(address);
            channel.receiveConnection(listener.accept());
            sockets.add(socket);
            awaitEndOfGreeting(socket);
            return socket;
        }
    }

    /** Each connection has a thread until it is taken or refused. */
    private static void awaitEndOfGreeting(Socket socket) {
        String thread = "Greeting-" + socket.getLocalSocketAddress();
        PatientWaits.await()
                .atMost(Duration.ofMinutes(1))
                .until(
                        () ->
                                Thread.getAllStackTraces().keySet().stream()
                                        .noneMatch(each -> each.getName().equals(thread)));
    }

    /** The other end of a connection that has not greeted yet. */
    private Socket silent(byte... begin) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Socket socket = new Socket(listener.getInetAddress(), listener.getLocalPort());
            socket.getOutputStream().write(begin);
            channel.receiveConnection(listener.accept());
            sockets.add(socket);
            return socket;
        }
    }

    @Test
    void aPeerThatHesitatesWithItsGreetingHoldsUpNoOther() throws Exception {
        // The version, and half of the number.
        byte[] half = ByteBuffer.allocate(12).putLong(QuorumCnxManager.PROTOCOL_VERSION_V1).array();
        Socket silent = silent();
        Socket hesitating = silent(half);
        connected(3);
        assertThat(channel.senderWorkerMap).containsOnlyKeys(3L);
        for (Socket each : List.of(silent, hesitating)) {
            each.setSoTimeout(10);
            assertThatThrownBy(() -> each.getInputStream().read())
                    .isInstanceOf(SocketTimeoutException.class);
        }
        DataOutputStream rest = new DataOutputStream(hesitating.getOutputStream());
        rest.writeInt(2);
        rest.writeInt(11);
        rest.writeBytes("127.0.0.1:1");
        awaitEndOfGreeting(hesitating);
        assertThat(channel.senderWorkerMap).containsOnlyKeys(2L, 3L);
    }

    @Test
    void ofManyThatHesitateTheOldestAreClosed() throws Exception {
        List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < Greetings.MOST + 5; i++) {
            silent.add(silent());
        }
        for (Socket oldest : silent.subList(0, 5)) {
            assertThatThrownBy(() -> oldest.getInputStream().read()).hasMessageContaining("reset");
        }
        connected(3);
        assertThat(channel.senderWorkerMap).containsKey(3L);
        Socket newest = silent.get(silent.size() - 1);
        newest.setSoTimeout(10);
        assertThatThrownBy(() -> newest.getInputStream().read())
                .isInstanceOf(SocketTimeoutException.class);
    }

    @Test
    void theEndOfTheChannelEndsThoseThatHesitate() throws Exception {
        Socket silent = silent();
        channel.halt();
        awaitEndOfGreeting(silent);
        assertThatThrownBy(() -> silent.getInputStream().read()).hasMessageContaining("reset");
        assertThatThrownBy(() -> silent().getInputStream().read()).hasMessageContaining("reset");
    }

    private Set<Long> remembered() {
        Set<Long> all = new HashSet<>(channel.queueSendMap.keySet());
        all.addAll(channel.senderWorkerMap.keySet());
        all.addAll(channel.lastMessageSent.keySet());
        all.removeAll(Set.of(1L, 2L, 3L));
        return all;
    }

    private static LleQuery answer() {
        return new LleQuery(7, 1, false);
    }

    @Test
    void aGreetingThatCannotBeUsedEndsItsOwnConnectionAlone() throws Exception {
        for (String address : List.of("127.0.0.1:-1", "127.0.0.1:99999", "a|b", "", ":", "[::1:")) {
            connected(OUTSIDE, address);
        }
        assertThat(connected(OUTSIDE, "127.0.0.1:-1").getInputStream().read()).isEqualTo(-1);
        connected(3);
        assertThat(channel.senderWorkerMap).containsKey(3L);
    }

    @Test
    void nothingIsKeptForAPeerOutsideWithoutAConnection() {
        recovering = false;
        for (long sid = OUTSIDE; sid < OUTSIDE + 1_000; sid++) {
            channel.send(sid, answer());
            channel.toSend(sid, vote(1));
        }
        assertThat(remembered()).isEmpty();
        channel.send(3, answer());
        assertThat(channel.queueSendMap.get(3L)).hasSize(1);
    }

    @Test
    void aConnectedPeerOutsideIsAnsweredAndForgottenWhenItHangsUp() throws Exception {
        recovering = false;
        Socket socket = connected(OUTSIDE);
        channel.send(OUTSIDE, answer());
        DataInputStream in = new DataInputStream(socket.getInputStream());
        byte[] packet = new byte[in.readInt()];
        in.readFully(packet);
        assertThat(RecoveryWire.decode(ByteBuffer.wrap(packet))).isEqualTo(answer());
        channel.toSend(OUTSIDE, vote(1));
        assertThat(in.readInt()).isEqualTo(vote(1).remaining());
        socket.close();
        PatientWaits.await()
                .atMost(Duration.ofMinutes(1))
                .untilAsserted(
                        () -> {
                            channel.tidy();
                            assertThat(remembered()).isEmpty();
                        });
    }

    private void connectAsManyAsMay() throws Exception {
        for (long sid = OUTSIDE; sid < OUTSIDE + SaucrCnxManager.OUTSIDE_PEERS; sid++) {
            connected(sid);
        }
    }

    private void asks(long sid) {
        channel.addToRecvQueue(new Message(RecoveryWire.encode(new LleQuery(7, sid, false)), sid));
    }

    @Test
    void whenThereAreTooManyPeersOutsideWhichWasSilentForLongestIsDisconnected() throws Exception {
        recovering = false;
        connectAsManyAsMay();
        connected(3);
        assertThat(remembered()).hasSize(SaucrCnxManager.OUTSIDE_PEERS);
        asks(OUTSIDE);
        connected(OUTSIDE + 1_000);
        assertThat(remembered())
                .hasSize(SaucrCnxManager.OUTSIDE_PEERS)
                .contains(OUTSIDE, OUTSIDE + 1_000)
                .doesNotContain(OUTSIDE + 1);
        assertThatThrownBy(() -> sockets.get(1).getInputStream().read())
                .hasMessageContaining("reset");
        assertThat(channel.senderWorkerMap).containsKey(3L);
    }

    /** Else a peer that floods this server stays, and one that joins is disconnected for it. */
    @Test
    void aMessageThatIsNoQuestionCountsAsSilence() throws Exception {
        recovering = false;
        List<ByteBuffer> useless =
                List.of(
                        vote(1),
                        // An answer, and longer than any question.
                        RecoveryWire.encode(large(OUTSIDE)),
                        // Of another server.
                        RecoveryWire.encode(new LleQuery(7, OUTSIDE + 1, false)),
                        // Broken off.
                        RecoveryWire.encode(new LleQuery(7, OUTSIDE, false)).limit(20).slice());
        connectAsManyAsMay();
        for (int i = 0; i < useless.size(); i++) {
            channel.addToRecvQueue(new Message(useless.get(i), OUTSIDE + i));
            connected(OUTSIDE + 1_000 + i);
            assertThat(remembered()).doesNotContain(OUTSIDE + i);
        }
        // While it recovers it waits for answers, which are long.
        recovering = true;
        long next = OUTSIDE + useless.size();
        channel.addToRecvQueue(new Message(RecoveryWire.encode(large(next)), next));
        connected(OUTSIDE + 2_000);
        assertThat(remembered()).contains(next).doesNotContain(next + 1);
    }

    /** Several connections are taken at once, and another thread tidies. */
    @Test
    void aThreadThatHesitatesForgetsNoPeerThatConnectsMeanwhile() throws Exception {
        recovering = false;
        for (long sid = OUTSIDE + 1; sid < OUTSIDE + SaucrCnxManager.OUTSIDE_PEERS; sid++) {
            connected(sid);
        }
        Thread tidies = new Thread(() -> channel.tidy());
        hesitating = tidies;
        tidies.start();
        assertThat(hesitates.await(1, TimeUnit.MINUTES)).isTrue();
        connected(OUTSIDE);
        goOn.countDown();
        tidies.join();
        for (long sid = OUTSIDE + 1; sid < OUTSIDE + SaucrCnxManager.OUTSIDE_PEERS; sid++) {
            asks(sid);
        }
        connected(OUTSIDE + 1_000);
        assertThat(remembered())
                .hasSize(SaucrCnxManager.OUTSIDE_PEERS)
                .contains(OUTSIDE + 1, OUTSIDE + 1_000)
                .doesNotContain(OUTSIDE);
    }

    @Test
    void manyPeersOutsideThatConnectAtOnceAreBounded() throws Exception {
        recovering = false;
        connectAsManyAsMay();
        AtomicBoolean over = new AtomicBoolean();
        Thread tidies =
                new Thread(
                        () -> {
                            while (!over.get()) {
                                channel.tidy();
                            }
                        });
        tidies.setDaemon(true);
        tidies.start();
        List<Thread> connecting = new ArrayList<>();
        List<Exception> failures = new CopyOnWriteArrayList<>();
        for (long sid = OUTSIDE + 1_000; sid < OUTSIDE + 1_040; sid++) {
            long own = sid;
            connecting.add(
                    new Thread(
                            () -> {
                                try {
                                    connected(own);
                                } catch (Exception e) {
                                    failures.add(e);
                                }
                            }));
        }
        connecting.forEach(Thread::start);
        for (Thread each : connecting) {
            each.join();
        }
        over.set(true);
        tidies.join();
        assertThat(failures).isEmpty();
        PatientWaits.await()
                .atMost(Duration.ofMinutes(1))
                .untilAsserted(
                        () -> {
                            channel.tidy();
                            // Each that connected first had to go before any that came later.
                            assertThat(remembered())
                                    .hasSize(SaucrCnxManager.OUTSIDE_PEERS)
                                    .allMatch(sid -> sid >= OUTSIDE + 1_000)
                                    .isEqualTo(channel.senderWorkerMap.keySet());
                        });
    }

    private static SnapshotPart large(long sender) {
        return new SnapshotPart(
                7,
                sender,
                1,
                1,
                RecoveryMessage.Compression.NONE,
                1,
                RecoveryWire.MAX_PAYLOAD,
                0,
                Bytes.wrap(new byte[RecoveryWire.MAX_PAYLOAD]));
    }

    @Test
    void onlySomePeersOutsideAreAnsweredAtATime() throws Exception {
        recovering = false;
        connectAsManyAsMay();
        // Nobody reads, so that the queues fill when the sockets' buffers are full.
        SnapshotPart large = large(1);
        PatientWaits.await()
                .atMost(Duration.ofMinutes(1))
                .until(
                        () -> {
                            for (long sid : remembered()) {
                                channel.send(sid, large);
                            }
                            long held =
                                    channel.queueSendMap.values().stream()
                                            .filter(
                                                    queue ->
                                                            queue instanceof LatestPerKindQueue ours
                                                                    && ours.hasRecoveryMessage())
                                            .count();
                            assertThat(held)
                                    .isLessThanOrEqualTo(SaucrCnxManager.OUTSIDE_PEERS_ANSWERED);
                            return held == SaucrCnxManager.OUTSIDE_PEERS_ANSWERED;
                        });
    }
}
