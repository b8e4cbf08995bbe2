package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoveryWire;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.jute.BinaryOutputArchive;
import org.apache.zookeeper.server.quorum.LearnerInfo;
import org.apache.zookeeper.server.quorum.QuorumPacket;
import org.junit.jupiter.api.Test;

/**
 * Garbage on the ports between servers, while clients write: noise, damaged and random recovery
 * messages, lengths that would need too much memory, and followers with ever new ids that announce
 * random process numbers and hang up (R16 to R18, R20, R21, H12). The servers go on serving, keep
 * nothing of it, and answer a correct query afterwards.
 */
class GarbageIT {
    private static final int CONNECTIONS = 25;
    private static final int PACKETS = 200;
    private static final int LEARNERS = 300;
    private static final long STRANGER = 9;
    private static final int FOLLOWER_INFO = 11;
    private static final int MORE_THREADS = 10;
    private static final String MALFORMED_LINE = "malformed recovery messages";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Random random = new Random(17);

    @Test
    void garbageFromOtherServersDoesNoHarm() throws Exception {
        try (SaucrEnsemble ensemble = SaucrEnsemble.start(SaucrEnsemble.describe("garbage", 3))) {
            int leader = ensemble.awaitFast();
            LocalTime start = SaucrEnsemble.now();
            Map<Integer, Long> threads = new HashMap<>();
            try (AckedWrites writes = new AckedWrites(ensemble.connect(), "/load", 4)) {
                writes.awaitMore(50);
                for (int id : ensemble.all()) {
                    threads.put(id, threads(ensemble, id));
                }
                for (int connection = 0; connection < CONNECTIONS; connection++) {
                    for (int id : ensemble.all()) {
                        throwAtElectionPort(ensemble.server(id).address().electionPort());
                    }
                }
                int learnerPort = ensemble.server(leader).address().quorumPort();
                for (int learner = 0; learner < LEARNERS; learner++) {
                    throwAtLearnerPort(learnerPort);
                }
                writes.awaitMore(50);
                writes.stop();
                writes.assertAllOnEachOf(ensemble);
            }
            assertThat(ensemble.leader()).isEqualTo(leader);
            for (int id : ensemble.all()) {
                assertAnswers(ensemble.server(id).address().electionPort());
                assertThat(Files.readString(ensemble.server(id).logFile()))
                        .doesNotContain("OutOfMemoryError");
                awaitMalformedLine(ensemble, id, start);
                assertThat(ensemble.log(id, start, MALFORMED_LINE))
                        .as("one line a minute and sender, of thousands of messages")
                        .hasSizeBetween(1, 5);
                SaucrEnsemble.await(
                        "the end of the strangers' threads",
                        () -> threads(ensemble, id) <= threads.get(id) + MORE_THREADS);
            }
        }
    }

    private static long threads(SaucrEnsemble ensemble, int id) throws IOException {
        Path tasks = Path.of("/proc", Long.toString(ensemble.server(id).pid()), "task");
        try (Stream<Path> all = Files.list(tasks)) {
            return all.count();
        }
    }

    private static Socket connect(int port) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    /** Of two questions from one server only the newer one is looked at, so some are never seen. */
    private static void awaitMalformedLine(SaucrEnsemble ensemble, int id, LocalTime start)
            throws IOException {
        int port = ensemble.server(id).address().electionPort();
        byte[] bytes = new byte[2 * Integer.BYTES];
        RecoveryWire.encode(new LleQuery(1, STRANGER, false)).get(bytes);
        try (ElectionPortPeer peer = new ElectionPortPeer(connect(port), STRANGER, socket -> {})) {
            SaucrEnsemble.await(
                    "the line of malformed messages",
                    () -> {
                        peer.send(ByteBuffer.wrap(bytes));
                        return !ensemble.log(id, start, MALFORMED_LINE).isEmpty();
                    });
        }
    }

    private static void assertAnswers(int port) throws IOException {
        try (ElectionPortPeer peer = new ElectionPortPeer(connect(port), STRANGER, socket -> {})) {
            // The answer to an earlier question from these ids may still come first.
            RecoveryMessage answer;
            do {
                answer = peer.ask(new LleQuery(42, STRANGER, false), PATIENCE).orElseThrow();
            } while (answer.nonce() != 42);
            assertThat(answer).isInstanceOf(LleAnswer.class);
        }
    }

    private void throwAtElectionPort(int port) throws IOException {
        try (Socket noise = connect(port)) {
            noise.getOutputStream().write(noise());
        }
        try (ElectionPortPeer peer = new ElectionPortPeer(connect(port), STRANGER, socket -> {})) {
            for (int i = 0; i < PACKETS; i++) {
                peer.send(packet());
            }
            int[] lengths = {Integer.MAX_VALUE, Integer.MIN_VALUE, -1, 0, 1 << 20};
            peer.sendRaw(
                    ByteBuffer.allocate(Integer.BYTES)
                            .putInt(lengths[random.nextInt(lengths.length)])
                            .array());
            // Until it does, it reads. If this side hung up first, it would lose what it has not
            // read.
            while (peer.receive(PATIENCE).isPresent()) {}
            throw new AssertionError("the server took a length that is none");
        } catch (IOException e) {
            // The server hung up; the next connection goes on.
        }
    }

    private byte[] noise() {
        byte[] noise = new byte[20 + random.nextInt(100)];
        random.nextBytes(noise);
        return noise;
    }

    private ByteBuffer packet() {
        ByteBuffer sound = RecoveryWire.encode(wild());
        byte[] bytes = new byte[sound.remaining()];
        sound.get(bytes);
        switch (random.nextInt(4)) {
            case 0 -> {
                return ByteBuffer.wrap(bytes);
            }
            case 1 -> {
                byte[] noise = noise();
                System.arraycopy(bytes, 0, noise, 0, Integer.BYTES);
                return ByteBuffer.wrap(noise);
            }
            case 2 -> {
                return ByteBuffer.wrap(noise());
            }
            default -> {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                return ByteBuffer.wrap(bytes);
            }
        }
    }

    private long number() {
        long[] extremes = {0, 1, Long.MAX_VALUE, 0x1_0000_0001L, random.nextLong() >>> 1};
        return extremes[random.nextInt(extremes.length)];
    }

    private RecoveryMessage wild() {
        return switch (random.nextInt(4)) {
            case 0 -> new LleQuery(number(), STRANGER, false);
            case 1 -> new EpochEndsRequest(number(), STRANGER, number());
            case 2 ->
                    new EntriesRequest(
                            number(),
                            STRANGER,
                            number(),
                            number(),
                            number(),
                            (int) number() & Integer.MAX_VALUE);
            default -> new SnapshotRequest(number(), STRANGER, number(), number() - 1, number());
        };
    }

    /** Ever new ids that are in no configuration. */
    private long stranger() {
        return STRANGER + random.nextInt(10_000);
    }

    private void throwAtLearnerPort(int port) throws IOException {
        try (Socket socket = connect(port)) {
            socket.getOutputStream().write(random.nextInt(3) == 0 ? noise() : greeting());
        } catch (IOException e) {
            // It hung up while this side was writing.
        }
    }

    /** A follower's first packet with a random process number, whole or cut. */
    private byte[] greeting() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryOutputArchive archive = BinaryOutputArchive.getArchive(bytes);
        ByteArrayOutputStream info = new ByteArrayOutputStream();
        new LearnerInfo(stranger(), random.nextInt(), number())
                .serialize(BinaryOutputArchive.getArchive(info), "info");
        byte[] data = info.toByteArray();
        if (random.nextInt(3) == 0) {
            data = List.of(new byte[0], new byte[7], new byte[11]).get(random.nextInt(3));
        }
        new QuorumPacket(FOLLOWER_INFO, number(), data, List.of()).serialize(archive, "packet");
        byte[] all = bytes.toByteArray();
        if (random.nextInt(4) == 0) {
            // The length of the data.
            ByteBuffer.wrap(all).putInt(Integer.BYTES + Long.BYTES, random.nextInt());
        }
        return all;
    }
}
