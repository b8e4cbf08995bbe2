package org.apache.zookeeper.server.persistence;

import static org.apache.zookeeper.server.persistence.Transactions.zxids;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.recovery.Bytes;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.Compression;
import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import io.saucr.core.recovery.RecoveryMessage.EntryPart;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryMessage.Reason;
import io.saucr.core.recovery.RecoveryMessage.SnapshotPart;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoveryMessage.Unavailable;
import io.saucr.core.recovery.RecoveryProcedure;
import io.saucr.core.recovery.RecoveryProcedure.Append;
import io.saucr.core.recovery.RecoveryProcedure.Decision;
import io.saucr.core.recovery.RecoveryProcedure.OnDisk;
import io.saucr.core.recovery.RecoveryProcedure.Patience;
import io.saucr.core.recovery.RecoveryProcedure.StageSnapshot;
import io.saucr.core.recovery.RecoveryProcedure.State;
import io.saucr.core.recovery.RecoverySource;
import io.saucr.core.recovery.RecoveryWire;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.Request;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Very many packets that no server sends, to one that answers from real files and to one that
 * recovers: noise, damaged messages, and sound ones with wild numbers. Each is refused with the one
 * exception that both sides expect, or answered with something that fits into a packet; nothing is
 * kept of it, and a correct request is answered correctly afterwards (R16 to R18).
 */
class RecoveryGarbageTest {
    private static final int PACKETS = 100_000;
    private static final int MANY_PACKETS = 1_000_000;
    private static final long SELF = 1;
    private static final long ASKER = 3;
    private static final long NONCE = 9;
    private static final int LARGEST_ENTRY = 1 << 20;
    private static final long MOST_KEPT_BYTES = 32L << 20;
    private static final Configuration CONFIGURATION = new Configuration(0, List.of(1L, 2L, ASKER));
    private static final LleMap MAP = LleMap.empty().with(ASKER, Zxid.of(1, 30));

    @TempDir Path folder;

    private final Random random = new Random(11);
    private SaucrTxnSnapLog snapLog;
    private RunningHistory history;
    private RecoverySource source;
    private RecoveryProcedure procedure;

    @BeforeEach
    void aServerWithAHistory() throws Exception {
        FileTxnLog.setPreallocSize(4096);
        snapLog = Logs.open(folder);
        DataTree tree = new DataTree();
        for (long zxid : zxids(1, 1, 30)) {
            // One of them is larger than a packet.
            Request request = Transactions.create(zxid, Zxid.counter(zxid) == 20 ? 900_000 : 100);
            snapLog.log().append(request);
            snapLog.log().commit();
            tree.processTxn(request.getHdr(), request.getTxn());
            if (Zxid.counter(zxid) == 10) {
                snapLog.save(tree, new ConcurrentHashMap<>(), true);
                snapLog.log().rollLog();
            }
        }
        history = new RunningHistory(snapLog);
        source = new RecoverySource(SELF, RecoveryWire.MAX_PAYLOAD);
    }

    @AfterEach
    void close() throws Exception {
        history.close();
        snapLog.close();
        FileTxnLog.setPreallocSize(64 * 1024 * 1024);
    }

    private long wild() {
        return switch (random.nextInt(7)) {
            case 0 -> 0;
            case 1 -> 1;
            case 2 -> Long.MAX_VALUE;
            case 3 -> Zxid.of(1, random.nextInt(40));
            case 4 -> Zxid.of(random.nextInt(3), random.nextInt(40));
            case 5 -> random.nextInt(4);
            default -> random.nextLong() >>> 1;
        };
    }

    private int wildInt() {
        return (int) (wild() & Integer.MAX_VALUE);
    }

    private Bytes bytes() {
        byte[] bytes = new byte[random.nextInt(64)];
        random.nextBytes(bytes);
        return Bytes.wrap(bytes);
    }

    private EpochEnds epochEnds() {
        EpochEnds epochEnds = EpochEnds.startingAt(Zxid.of(1, random.nextInt(30)));
        return epochEnds.through(epochEnds.last() + random.nextInt(1000));
    }

    /** Sound as a packet; with luck it is even what the other side waits for. */
    private RecoveryMessage sound() {
        long sender = 1L + random.nextInt(3);
        long request = 1L + random.nextInt(4);
        switch (random.nextInt(10)) {
            case 0:
                return new LleQuery(wild(), sender, random.nextBoolean());
            case 1:
                return new LleAnswer(
                        NONCE,
                        sender,
                        wild(),
                        wild(),
                        MAP,
                        CONFIGURATION,
                        Optional.empty(),
                        random.nextBoolean() ? LleAnswer.NOT_ASKED : wild());
            case 2:
                return new EpochEndsRequest(wild(), sender, wild());
            case 3:
                return new EpochEndsAnswer(NONCE, sender, request, epochEnds());
            case 4:
                return new EntriesRequest(wild(), sender, wild(), wild(), wild(), wildInt());
            case 5:
                return new EntriesAnswer(
                        NONCE,
                        sender,
                        request,
                        List.of(new Entry(wild(), bytes()), new Entry(wild(), bytes())),
                        random.nextBoolean());
            case 6:
                {
                    int total = Math.max(64, wildInt());
                    return new EntryPart(NONCE, sender, request, wild(), total, 0, bytes());
                }
            case 7:
                return new SnapshotRequest(wild(), sender, wild(), wild() - 1, wild());
            case 8:
                {
                    long total = Math.max(64, wild());
                    return new SnapshotPart(
                            NONCE,
                            sender,
                            request,
                            wild(),
                            Compression.NONE,
                            wild(),
                            total,
                            0,
                            bytes());
                }
            default:
                return new Unavailable(NONCE, sender, request, Reason.DIVERGED);
        }
    }

    private byte[] soundPacket() {
        ByteBuffer encoded = RecoveryWire.encode(sound());
        byte[] packet = new byte[encoded.remaining()];
        encoded.get(packet);
        return packet;
    }

    private byte[] packet(List<byte[]> patterns) {
        int kind = random.nextInt(100);
        if (kind < 5) {
            return soundPacket();
        }
        byte[] bytes = patterns.get(random.nextInt(patterns.size())).clone();
        if (kind < 40) {
            byte[] noise = new byte[random.nextInt(200)];
            random.nextBytes(noise);
            System.arraycopy(bytes, 0, noise, 0, Math.min(random.nextInt(41), noise.length));
            return noise;
        }
        for (int change = random.nextInt(3); change >= 0; change--) {
            int at = random.nextInt(bytes.length);
            if (random.nextBoolean() || at + Integer.BYTES > bytes.length) {
                bytes[at] = (byte) random.nextInt();
            } else {
                ByteBuffer.wrap(bytes).putInt(at, random.nextBoolean() ? -1 : Integer.MAX_VALUE);
            }
        }
        return random.nextInt(4) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes;
    }

    private void recoverAnew() {
        procedure =
                new RecoveryProcedure(
                        ASKER,
                        NONCE,
                        new OnDisk(
                                1,
                                EpochEnds.startingAt(0).append(Zxid.of(1, 1)),
                                new Markers(Zxid.of(1, 3), Zxid.of(1, 1), MAP),
                                CONFIGURATION,
                                Optional.empty()),
                        new Patience(10, 100),
                        LARGEST_ENTRY);
        procedure.start(0);
    }

    private Optional<RecoveryMessage> answer(RecoveryMessage message) {
        if (message instanceof EpochEndsRequest request) {
            return Optional.of(source.answer(request, history));
        } else if (message instanceof EntriesRequest request) {
            return Optional.of(source.answer(request, history));
        } else if (message instanceof SnapshotRequest request) {
            return Optional.of(source.answer(request, history));
        }
        return Optional.empty();
    }

    private static long heldBy(List<Decision> decisions) {
        long bytes = 0;
        for (Decision decision : decisions) {
            if (decision instanceof Append append) {
                for (Entry entry : append.entries()) {
                    bytes += entry.transaction().length();
                }
            } else if (decision instanceof StageSnapshot part) {
                bytes += part.bytes().length();
            }
        }
        return bytes;
    }

    private static long usedBytes() {
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    @Test
    void packetsOfGarbageLeaveNoTrace() {
        garbageLeavesNoTrace(PACKETS);
    }

    @Tag("long")
    @Test
    void aMillionPacketsOfGarbageLeaveNoTrace() {
        garbageLeavesNoTrace(MANY_PACKETS);
    }

    private void garbageLeavesNoTrace(int packets) {
        List<byte[]> patterns = random.ints(200).mapToObj(ignored -> soundPacket()).toList();
        long usedBefore = usedBytes();
        int refused = 0;
        int answered = 0;
        int moved = 0;
        for (int i = 0; i < packets; i++) {
            if (i % 50 == 0) {
                recoverAnew();
            }
            byte[] packet = packet(patterns);
            RecoveryMessage message;
            try {
                message = RecoveryWire.decode(ByteBuffer.wrap(packet));
            } catch (IllegalArgumentException e) {
                refused++;
                continue;
            }
            Optional<RecoveryMessage> answer = answer(message);
            if (answer.isPresent()) {
                answered++;
                assertThat(RecoveryWire.encode(answer.get()).remaining())
                        .isLessThanOrEqualTo(RecoveryWire.MAX_LENGTH);
            }
            if (procedure.state() != State.RECOVERED) {
                State before = procedure.state();
                List<Decision> decisions = procedure.received(message.sender(), message, i);
                assertThat(heldBy(decisions)).isLessThanOrEqualTo(LARGEST_ENTRY + packet.length);
                moved += procedure.state() == before ? 0 : 1;
            }
        }
        assertThat(refused).isGreaterThan(packets / 2);
        assertThat(answered).isGreaterThan(packets / 200);
        assertThat(moved).isGreaterThan(packets / 1000);
        assertThat(usedBytes() - usedBefore).isLessThan(MOST_KEPT_BYTES);

        RecoveryMessage right =
                answer(new EntriesRequest(NONCE, ASKER, 1, Zxid.of(1, 11), Zxid.of(1, 14), 0))
                        .orElseThrow();
        assertThat(((EntriesAnswer) right).entries().stream().map(Entry::zxid))
                .containsExactlyElementsOf(zxids(1, 12, 14));
    }
}
