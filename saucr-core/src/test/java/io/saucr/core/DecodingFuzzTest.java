package io.saucr.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.MalformedMarkerException;
import io.saucr.core.log.MarkerFile;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
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
import io.saucr.core.recovery.RecoveryMessage.LostAnswer;
import io.saucr.core.recovery.RecoveryMessage.LostQuery;
import io.saucr.core.recovery.RecoveryMessage.NoAnswer;
import io.saucr.core.recovery.RecoveryMessage.Reason;
import io.saucr.core.recovery.RecoveryMessage.SnapshotPart;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoveryMessage.Unavailable;
import io.saucr.core.recovery.RecoveryWire;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;

/**
 * Bytes from a disk or a network: random ones, and damaged ones of every kind of message, tag, map
 * and marker: many thousands, and a million messages and a million tags with maps in them in the
 * long tests. They are rejected with the one exception that callers expect, or what they are read
 * as has just these bytes as its encoding. Each try is a seed for many inputs. A reader that
 * trusted a length field would run out of memory.
 */
@Tag("slow")
class DecodingFuzzTest {
    private static final int TRIES = 40;
    private static final int MANY_TRIES = 400;
    private static final int INPUTS = 250;

    /** For what comes from a network. */
    private static final int PACKETS = 2_500;

    private static final LleMap MAP = LleMap.empty().with(1, 0x100000005L).with(7, 0x300000001L);
    private static final Configuration CONFIGURATION = new Configuration(3, List.of(1L, 2L, 3L));
    private static final View VIEW = new View(0x100000004L, 5, List.of(1L, 2L, 3L, 12L));

    private static final List<RecoveryMessage> MESSAGES =
            List.of(
                    new LleQuery(9, 1, false),
                    new LleQuery(9, 1, true),
                    answer(Optional.of(CONFIGURATION), LleAnswer.NOT_ASKED),
                    answer(Optional.empty(), Zxid.NONE),
                    answer(Optional.of(CONFIGURATION), Zxid.of(3, 1)),
                    new EpochEndsRequest(9, 1, 5),
                    new EpochEndsAnswer(
                            9,
                            1,
                            5,
                            EpochEnds.startingAt(0)
                                    .append(Zxid.of(1, 1))
                                    .through(Zxid.of(1, 9))
                                    .append(Zxid.of(4, 1))),
                    new EntriesRequest(9, 1, 5, Zxid.of(1, 2), Zxid.of(1, 9), 77),
                    new EntriesAnswer(
                            9,
                            1,
                            5,
                            List.of(
                                    new Entry(Zxid.of(1, 3), Bytes.wrap(new byte[30])),
                                    new Entry(Zxid.of(1, 4), Bytes.wrap(new byte[50]))),
                            true),
                    new EntryPart(9, 1, 5, Zxid.of(1, 3), 900, 100, Bytes.wrap(new byte[40])),
                    new SnapshotRequest(9, 1, 5, SnapshotRequest.NEWEST, 10),
                    new SnapshotPart(
                            9,
                            1,
                            5,
                            Zxid.of(1, 3),
                            Compression.GZIP,
                            Zxid.of(1, 9),
                            900,
                            100,
                            Bytes.wrap(new byte[40])),
                    new Unavailable(9, 1, 5, Reason.GONE),
                    new LostQuery(9, 1, 2),
                    new LostAnswer(9, 1, 2, true, 4, answer(Optional.empty(), LleAnswer.NOT_ASKED)),
                    new NoAnswer(9, 1, true));

    private static LleAnswer answer(Optional<Configuration> pending, long ownView) {
        return new LleAnswer(9, 1, 3, Zxid.of(3, 4), MAP, CONFIGURATION, pending, ownView);
    }

    /** One to four changes: bytes overwritten, inserted, removed, or everything from a point on. */
    private static byte[] damaged(byte[] original, Random random) {
        byte[] bytes = original.clone();
        for (int change = random.nextInt(4); change >= 0; change--) {
            int at = random.nextInt(bytes.length + 1);
            switch (random.nextInt(5)) {
                case 0 -> bytes = Arrays.copyOf(bytes, at);
                case 1 -> {
                    if (at < bytes.length) {
                        bytes[at] = (byte) random.nextInt();
                    }
                }
                case 2 -> {
                    // A number that is extreme or near to extreme.
                    if (at <= bytes.length - Integer.BYTES) {
                        int[] extremes = {-1, 0, 1, Integer.MAX_VALUE, Integer.MIN_VALUE, 0x7ffff};
                        ByteBuffer.wrap(bytes).putInt(at, extremes[random.nextInt(6)]);
                    }
                }
                case 3 -> {
                    byte[] longer = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(9));
                    System.arraycopy(
                            bytes,
                            at,
                            longer,
                            at + longer.length - bytes.length,
                            bytes.length - at);
                    bytes = longer;
                }
                default -> {
                    if (at < bytes.length) {
                        byte[] shorter = Arrays.copyOf(bytes, bytes.length - 1);
                        System.arraycopy(bytes, at + 1, shorter, at, bytes.length - at - 1);
                        bytes = shorter;
                    }
                }
            }
        }
        return bytes;
    }

    private static byte[] input(byte[] original, int keptHeader, Random random) {
        if (random.nextInt(4) > 0) {
            return damaged(original, random);
        }
        byte[] noise = new byte[random.nextInt(200)];
        random.nextBytes(noise);
        System.arraycopy(original, 0, noise, 0, Math.min(keptHeader, noise.length));
        return noise;
    }

    /** Cheaper than the assertions of the library, a million times. */
    private static void requireSame(String encoded, String text) {
        if (!encoded.equals(text)) {
            throw new AssertionError("'" + text + "' was read as '" + encoded + "'");
        }
    }

    private static void requireMessage(IllegalArgumentException refusal) {
        if (refusal.getMessage() == null || refusal.getMessage().isEmpty()) {
            throw new AssertionError("refused without a word", refusal);
        }
    }

    @Property(tries = TRIES)
    void recoveryMessages(@ForAll long seed) {
        decodeRecoveryMessages(new Random(seed));
    }

    @Tag("long")
    @Property(tries = MANY_TRIES)
    void manyRecoveryMessages(@ForAll long seed) {
        decodeRecoveryMessages(new Random(seed));
    }

    private static void decodeRecoveryMessages(Random random) {
        for (int i = 0; i < PACKETS; i++) {
            ByteBuffer whole = RecoveryWire.encode(MESSAGES.get(random.nextInt(MESSAGES.size())));
            byte[] original = new byte[whole.remaining()];
            whole.get(original);
            requireRefusedOrSame(
                    input(original, random.nextInt(Math.min(45, original.length)), random));
        }
    }

    @Property(tries = TRIES)
    void tagsAndMaps(@ForAll long seed) {
        decodeTagsAndMaps(new Random(seed));
    }

    @Tag("long")
    @Property(tries = MANY_TRIES)
    void manyTagsAndMaps(@ForAll long seed) {
        decodeTagsAndMaps(new Random(seed));
    }

    private static void decodeTagsAndMaps(Random random) {
        byte[] tag =
                ProposalTag.of(Mode.FAST, new long[] {2, 3, 4}, MAP)
                        .encode()
                        .getBytes(StandardCharsets.ISO_8859_1);
        byte[] map = MAP.encode().getBytes(StandardCharsets.ISO_8859_1);
        for (int i = 0; i < PACKETS; i++) {
            String text = new String(input(tag, 4, random), StandardCharsets.ISO_8859_1);
            try {
                requireSame(ProposalTag.decode(text).encode(), text);
            } catch (IllegalArgumentException e) {
                requireMessage(e);
            }
            if (i % 10 > 0) {
                continue; // A map is in every tag.
            }
            text = new String(input(map, 2, random), StandardCharsets.ISO_8859_1);
            try {
                requireSame(LleMap.decode(text).encode(), text);
            } catch (IllegalArgumentException e) {
                requireMessage(e);
            }
        }
    }

    /** The line of a marker (R23), whose checksum would hide all but a few of its damages. */
    @Property(tries = TRIES)
    void views(@ForAll long seed) {
        Random random = new Random(seed);
        byte[] view = VIEW.encode().getBytes(StandardCharsets.ISO_8859_1);
        for (int i = 0; i < INPUTS; i++) {
            String text = new String(input(view, 12, random), StandardCharsets.ISO_8859_1);
            try {
                requireSame(View.decode(text).encode(), text);
            } catch (IllegalArgumentException e) {
                requireMessage(e);
            }
        }
    }

    /** R23: each byte of a marker with a view, with each wrong value, and each shorter one. */
    @Example
    void eachByteOfAMarkerWrongAndEachCut() {
        byte[] whole = MarkerFile.encodeLatestOnDisk(0x100000005L, MAP, VIEW);
        for (int at = 0; at < whole.length; at++) {
            requireMalformed(Arrays.copyOf(whole, at));
            byte[] changed = whole.clone();
            for (int value = Byte.MIN_VALUE; value <= Byte.MAX_VALUE; value++) {
                changed[at] = (byte) value;
                if (value != whole[at]) {
                    requireMalformed(changed);
                }
            }
        }
    }

    private static void requireMalformed(byte[] bytes) {
        try {
            throw new AssertionError("read as " + MarkerFile.decodeLatestOnDisk(bytes));
        } catch (MalformedMarkerException e) {
            if (!e.getMessage().startsWith("latest-on-disk marker")) {
                throw new AssertionError("not said what it is", e);
            }
        }
    }

    /**
     * Each byte of each message with each wrong value: refused, or read as just what it says. Each
     * shorter and each longer one is refused.
     */
    @Example
    void eachByteOfAMessageWrongAndEachCut() {
        for (RecoveryMessage message : MESSAGES) {
            byte[] whole = RecoveryWire.encode(message).array();
            requireRefused(Arrays.copyOf(whole, whole.length + 1));
            requireRefused(Arrays.copyOf(whole, whole.length + Long.BYTES));
            for (int at = 0; at < whole.length; at++) {
                requireRefused(Arrays.copyOf(whole, at));
                byte[] changed = whole.clone();
                for (int value = Byte.MIN_VALUE; value <= Byte.MAX_VALUE; value++) {
                    changed[at] = (byte) value;
                    requireRefusedOrSame(changed);
                }
            }
        }
    }

    private static void requireRefused(byte[] packet) {
        try {
            throw new AssertionError("read as " + RecoveryWire.decode(ByteBuffer.wrap(packet)));
        } catch (IllegalArgumentException e) {
            requireMessage(e);
        }
    }

    private static void requireRefusedOrSame(byte[] packet) {
        try {
            RecoveryMessage message = RecoveryWire.decode(ByteBuffer.wrap(packet));
            if (!RecoveryWire.encode(message).equals(ByteBuffer.wrap(packet))) {
                throw new AssertionError(message + " has another encoding");
            }
        } catch (IllegalArgumentException e) {
            requireMessage(e);
        }
    }

    @Property(tries = TRIES)
    void markers(@ForAll long seed) {
        decodeMarkers(new Random(seed));
    }

    @Tag("long")
    @Property(tries = MANY_TRIES)
    void manyMarkers(@ForAll long seed) {
        decodeMarkers(new Random(seed));
    }

    private static void decodeMarkers(Random random) {
        byte[] fast = MarkerFile.encodeFastSwitch(0x100000005L);
        byte[] disk = MarkerFile.encodeLatestOnDisk(0x100000005L, MAP, View.FIRST);
        byte[] withView = MarkerFile.encodeLatestOnDisk(0x100000005L, MAP, VIEW);
        byte[] identity =
                MarkerFile.encodeIdentity(
                        new LogIdentity(
                                "orders-7",
                                2,
                                0x7fffffff12345678L,
                                1,
                                2,
                                0x100000009L,
                                0x100000005L));
        for (int i = 0; i < INPUTS; i++) {
            byte[] bytes = input(fast, 20, random);
            try {
                long zxid = MarkerFile.decodeFastSwitch(bytes);
                assertThat(MarkerFile.encodeFastSwitch(zxid)).isEqualTo(bytes);
            } catch (MalformedMarkerException e) {
                assertThat(e).hasMessageStartingWith("fast-switch marker");
            }
            bytes = input(i % 2 == 0 ? disk : withView, 20, random);
            try {
                MarkerFile.LatestOnDisk marker = MarkerFile.decodeLatestOnDisk(bytes);
                assertThat(
                                MarkerFile.encodeLatestOnDisk(
                                        marker.zxid(), marker.lleMap(), marker.view()))
                        .isEqualTo(bytes);
            } catch (MalformedMarkerException e) {
                assertThat(e).hasMessageStartingWith("latest-on-disk marker");
            }
            bytes = input(identity, 20, random);
            try {
                LogIdentity read = MarkerFile.decodeIdentity(bytes);
                assertThat(MarkerFile.encodeIdentity(read)).isEqualTo(bytes);
            } catch (MalformedMarkerException e) {
                assertThat(e).hasMessageStartingWith("identity");
            }
        }
    }
}
