package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Peers with ever new ids, which are in no configuration, at an election port without TLS or SASL.
 * They ask for as much history as fits into an answer and hang up, or stay silent, or do not read
 * the answer. The server has a small heap. It must keep nothing of them, go on serving, and answer
 * a stranger that behaves.
 */
class StrangersIT {
    private static final String HEAP = "-Xmx96m";
    private static final int NODES = 12;
    private static final int NODE_BYTES = 100_000;
    private static final int LARGE_ANSWER = 400_000;

    /** Fewer than may wait for an answer at one time. */
    private static final int AT_ONCE = 20;

    private static final int ROUNDS = 24;
    private static final int SILENT = 300;
    private static final int UNREAD = 40;

    /** Strangers' connections, two threads each, and what a busy server has more. */
    private static final int MORE_THREADS = 2 * 32 + 20;

    private static final long WELL_BEHAVED = 9_000;
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private static SaucrEnsemble ensemble;
    private static int port;
    private static long first;
    private static long last;

    @BeforeAll
    static void start() throws Exception {
        ensemble = SaucrEnsemble.start(SaucrEnsemble.describe("strangers", 3).jvmFlag(HEAP));
        port = ensemble.server(1).address().electionPort();
        try (Client client = ensemble.connect()) {
            for (int node = 0; node < NODES; node++) {
                client.create(
                        "/node" + node,
                        new byte[NODE_BYTES],
                        Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT);
            }
            first = client.exists("/node0", false).getCzxid();
            last = client.exists("/node" + (NODES - 1), false).getCzxid();
        }
        try (Client client = ensemble.connect(1)) {
            client.sync("/");
        }
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @Tag("long")
    @Test
    void whoAsksForHistoryAndHangsUpIsForgotten() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < AT_ONCE; i++) {
                long sid = 1_000 + (long) round * AT_ONCE + i;
                try (ElectionPortPeer peer = stranger(sid)) {
                    peer.send(history(sid, 1));
                }
            }
            // Questions are answered in their order, so the others' have been.
            assertAnswersHistory();
        }
        assertServes();
    }

    @Test
    void theStartSaysThatThePortsAreOpen() throws Exception {
        assertThat(ensemble.log(1, LocalTime.MIN, "The ports between servers are open")).hasSize(1);
    }

    @Test
    void strangersThatStayAreSoManyAndNoMore() throws Exception {
        long threads = threads();
        List<ElectionPortPeer> silent = new ArrayList<>();
        try {
            for (long sid = 2_000; sid < 2_000 + SILENT; sid++) {
                silent.add(stranger(sid));
            }
            assertAnswersHistory();
            assertServes();
            SaucrEnsemble.await("few threads", () -> threads() <= threads + MORE_THREADS);
        } finally {
            for (ElectionPortPeer peer : silent) {
                peer.close();
            }
        }
        SaucrEnsemble.await("the end of their threads", () -> threads() <= threads + 20);
    }

    @Tag("long")
    @Test
    void whoDoesNotReadItsAnswersStopsNobody() throws Exception {
        long sid = 3_000;
        Socket small = new Socket();
        small.setReceiveBufferSize(4_096);
        small.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        try (ElectionPortPeer deaf = new ElectionPortPeer(small, sid, socket -> {})) {
            for (int i = 0; i < UNREAD && sends(deaf, history(sid, i)); i++) {
                assertAnswersHistory();
            }
            // The server ends the old connection of a number before it uses the new one.
            try (ElectionPortPeer again = stranger(sid)) {
                assertThat(again.ask(new LleQuery(42, sid, false), PATIENCE)).isPresent();
            }
            assertAnswersHistory();
        }
        assertServes();
    }

    /** The server may have hung up on a peer that reads nothing. */
    private static boolean sends(ElectionPortPeer peer, RecoveryMessage message) {
        try {
            peer.send(message);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void largePacketsThatNobodyWouldAskWithAreNotKept() throws Exception {
        List<ElectionPortPeer> senders = new ArrayList<>();
        try {
            for (long sid = 4_000; sid < 4_200; sid++) {
                ElectionPortPeer peer = stranger(sid);
                senders.add(peer);
                ByteBuffer large = ByteBuffer.allocate(500 * 1024);
                // The first four bytes say that it is one of ours.
                large.putInt(0x53415543).clear();
                sends(peer, large);
            }
            assertAnswersHistory();
        } finally {
            for (ElectionPortPeer peer : senders) {
                peer.close();
            }
        }
        assertServes();
    }

    private static boolean sends(ElectionPortPeer peer, ByteBuffer packet) {
        try {
            peer.send(packet);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static ElectionPortPeer stranger(long sid) throws IOException {
        return new ElectionPortPeer(
                new Socket(InetAddress.getLoopbackAddress(), port), sid, socket -> {});
    }

    private static EntriesRequest history(long sid, long requestId) {
        return new EntriesRequest(7, sid, requestId, first, last, 0);
    }

    private static void assertAnswersHistory() throws Exception {
        AtomicReference<RecoveryMessage> heard = new AtomicReference<>();
        // Among many the server may hang up on this one before it has answered: as a recovering
        // server does, it connects again.
        SaucrEnsemble.await(
                "an answer",
                () -> {
                    try (ElectionPortPeer peer = stranger(WELL_BEHAVED)) {
                        peer.ask(history(WELL_BEHAVED, 1), PATIENCE).ifPresent(heard::set);
                    }
                    return heard.get() != null;
                });
        RecoveryMessage answer = heard.get();
        assertThat(answer).isInstanceOf(EntriesAnswer.class);
        int bytes =
                ((EntriesAnswer) answer)
                        .entries().stream().mapToInt(each -> each.transaction().length()).sum();
        assertThat(bytes).isGreaterThan(LARGE_ANSWER);
    }

    private static void assertServes() throws Exception {
        try (ElectionPortPeer peer = stranger(WELL_BEHAVED + 1)) {
            assertThat(peer.ask(new LleQuery(42, WELL_BEHAVED + 1, false), PATIENCE))
                    .hasValueSatisfying(answer -> assertThat(answer).isInstanceOf(LleAnswer.class));
        }
        try (Client client = ensemble.connect(1)) {
            client.setData("/node0", new byte[NODE_BYTES], -1);
        }
        String log = Files.readString(ensemble.server(1).logFile());
        assertThat(log.contains("OutOfMemoryError")).as("out of memory").isFalse();
    }

    private static long threads() throws IOException {
        Path tasks = Path.of("/proc", Long.toString(ensemble.server(1).pid()), "task");
        try (Stream<Path> all = Files.list(tasks)) {
            return all.count();
        }
    }
}
