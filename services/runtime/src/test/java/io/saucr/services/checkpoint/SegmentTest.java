package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.saucr.services.checkpoint.RefusedSegmentException.Reason;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** C2, C4: a segment is what was written, or it is refused by name. */
class SegmentTest {

    private static final Birth BIRTH = new Birth(0x0123456789abcdefL, 7);
    private static final Incarnation BY = new Incarnation(BIRTH, 3, -5);
    private static final String DIGEST = "0123456789abcdef".repeat(4);

    private static SegmentHeader header(long number, long firstTurn, long lastTurn) {
        return new SegmentHeader(
                "bänk",
                BY,
                number,
                firstTurn,
                lastTurn,
                number == 1 ? SegmentId.NO_DIGEST : DIGEST,
                number - 1);
    }

    private static byte[] body(int bytes) {
        byte[] body = new byte[bytes];
        new Random(bytes).nextBytes(body);
        return body;
    }

    private static byte[] encoded(int bodyBytes) {
        return content(
                Segment.of(header(9, 21, bodyBytes == 0 ? 20 : 30), body(bodyBytes)).encoded());
    }

    private static byte[] content(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private static RefusedSegmentException refused(byte[] bytes) {
        return catchThrowableOfType(
                RefusedSegmentException.class, () -> Segment.decode(ByteBuffer.wrap(bytes)));
    }

    private static byte[] checked(byte[] segment, int headerBytes) {
        CRC32C crc = new CRC32C();
        crc.update(segment, 0, headerBytes - 4);
        ByteBuffer.wrap(segment).putInt(headerBytes - 4, (int) crc.getValue());
        return segment;
    }

    @Test
    void whatWasWrittenIsRead() throws Exception {
        for (int bytes : new int[] {0, 1, 65_535, 65_536, 65_537, 131_072, 200_000}) {
            byte[] body = body(bytes);
            Segment made = Segment.of(header(9, 21, bytes == 0 ? 20 : 30), body);
            Segment read = Segment.decode(made.encoded());
            assertThat(read.header()).isEqualTo(made.header());
            assertThat(read.id()).isEqualTo(made.id());
            assertThat(content(read.body())).isEqualTo(body);
            assertThat(content(made.body())).isEqualTo(body);
            assertThat(read.encoded()).isEqualTo(made.encoded());
            assertThat(read.bytes()).isEqualTo(made.encoded().remaining());
            assertThat(read.encoded().isReadOnly()).isTrue();
            assertThat(read.body().isReadOnly()).isTrue();
        }
        assertThat(Segment.of(header(1, 1, 1), body(1)).id().number()).isEqualTo(1);
    }

    @Test
    void aSegmentWithinOtherBytesIsRead() throws Exception {
        byte[] segment = encoded(100);
        ByteBuffer all = ByteBuffer.allocate(segment.length + 20).position(7);
        all.put(segment).flip().position(7);
        assertThat(Segment.decode(all).id())
                .isEqualTo(Segment.decode(ByteBuffer.wrap(segment)).id());
        assertThat(all.position()).isEqualTo(7);
    }

    @Test
    void theDigestChangesWithEachField() {
        byte[] body = body(10);
        String digest = Segment.of(header(9, 21, 30), body).id().digest();
        assertThat(
                        new String[] {
                            Segment.of(header(10, 21, 30), body).id().digest(),
                            Segment.of(header(9, 22, 30), body).id().digest(),
                            Segment.of(header(9, 21, 31), body).id().digest(),
                            Segment.of(header(9, 21, 30), body(11)).id().digest(),
                        })
                .doesNotContain(digest)
                .doesNotHaveDuplicates();
    }

    /** Old files are read by new code: these bytes are those of the first release. */
    @Test
    void theFormatStaysAsItIs() {
        Segment segment = Segment.of(header(9, 21, 30), "abc".getBytes(US_ASCII));
        assertThat(segment.id().digest())
                .isEqualTo("26402581fbee7cbe14c432754a88a149d67f79b914a26408192bcd4f13b4518e");
        assertThat(segment.bytes()).isEqualTo(125 + 8 + 3 + 44);
    }

    @Test
    void everyCutIsTorn() {
        byte[] whole = encoded(70_000);
        for (int length = 0; length < whole.length; length += length < 400 ? 1 : 977) {
            RefusedSegmentException refused = refused(Arrays.copyOf(whole, length));
            assertThat(refused.reason()).as("cut at %d", length).isEqualTo(Reason.TORN);
            assertThat(refused.offset()).isEqualTo(length);
        }
    }

    @Test
    void bytesBehindTheEndAreRefused() {
        byte[] whole = encoded(10);
        RefusedSegmentException refused = refused(Arrays.copyOf(whole, whole.length + 1));
        assertThat(refused.reason()).isEqualTo(Reason.TRAILING);
        assertThat(refused.offset()).isEqualTo(whole.length);
    }

    @Test
    void aNewerFormatIsNamed() {
        byte[] newer = encoded(10);
        newer[11] = 2;
        RefusedSegmentException refused = refused(newer);
        assertThat(refused.reason()).isEqualTo(Reason.NEWER);
        assertThat(refused).hasMessageContaining("format 2").hasMessageContaining("release");
        newer[11] = 0;
        assertThat(refused(newer).reason()).isEqualTo(Reason.GARBLED);
    }

    @Test
    void wildLengthsAreRefusedBeforeAnythingIsMade() {
        int headerBytes = 121 + 4;
        for (int wild : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 0, 120, 900}) {
            byte[] segment = encoded(10);
            ByteBuffer.wrap(segment).putInt(12, wild);
            assertThat(refused(segment).reason()).isEqualTo(Reason.LENGTH);
        }
        for (int wild : new int[] {-1, Integer.MAX_VALUE, Segment.LARGEST_BODY_BYTES + 1}) {
            byte[] segment = encoded(10);
            ByteBuffer.wrap(segment).putInt(112, wild);
            assertThat(refused(segment).reason()).isEqualTo(Reason.GARBLED);
            assertThat(refused(checked(segment, headerBytes)).reason()).isEqualTo(Reason.LENGTH);
        }
        byte[] segment = encoded(10);
        ByteBuffer.wrap(segment).putInt(112, Segment.LARGEST_BODY_BYTES);
        assertThat(refused(checked(segment, headerBytes)).reason()).isEqualTo(Reason.TORN);
        ByteBuffer.wrap(segment).putInt(112, 0);
        assertThat(refused(checked(segment, headerBytes)).reason()).isEqualTo(Reason.GARBLED);
    }

    @Test
    void aHeaderThatContradictsItselfIsRefusedThoughItsChecksumFits() {
        for (int at : new int[] {32, 48, 56, 72, 80}) {
            byte[] segment = encoded(10);
            Arrays.fill(segment, at, at + (at == 80 ? 32 : 8), (byte) (at == 72 ? 0x7f : 0));
            RefusedSegmentException refused = refused(checked(segment, 125));
            assertThat(refused.reason()).as("at %d", at).isEqualTo(Reason.GARBLED);
            assertThat(refused).hasMessageContaining("what none says");
        }
        byte[] segment = encoded(10);
        segment[116] = (byte) 0xff;
        assertThat(refused(checked(segment, 125)).reason()).isEqualTo(Reason.GARBLED);
        segment[116] = '\n';
        assertThat(refused(checked(segment, 125)).reason()).isEqualTo(Reason.GARBLED);
    }

    @Test
    void everyFlippedBitIsNoticed() {
        byte[] whole = encoded(300);
        for (int at = 0; at < whole.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] flipped = whole.clone();
                flipped[at] ^= (byte) (1 << bit);
                assertThat(refused(flipped)).as("byte %d, bit %d", at, bit).isNotNull();
            }
        }
    }

    @Test
    void framesKeepTheirPlaces() {
        byte[] body = body(3 * 65_536);
        byte[] whole = content(Segment.of(header(9, 21, 30), body).encoded());
        int frame = 65_536 + 8;
        byte[] swapped = whole.clone();
        System.arraycopy(whole, 125, swapped, 125 + frame, frame);
        System.arraycopy(whole, 125 + frame, swapped, 125, frame);
        RefusedSegmentException refused = refused(swapped);
        assertThat(refused.reason()).isEqualTo(Reason.GARBLED);
        assertThat(refused.offset()).isEqualTo(125);
    }

    /** Flips, cuts, wild lengths, noise: refused, or the same as before, and nothing else. */
    @Test
    void spoiledBytesAreRefused() {
        Map<Reason, Integer> reasons = new EnumMap<>(Reason.class);
        for (int seed = 0; seed < 3_000; seed++) {
            Random random = new Random(seed);
            byte[] whole = encoded(random.nextInt(20) == 0 ? 66_000 : random.nextInt(500));
            byte[] spoiled = spoil(whole, random);
            try {
                Segment.decode(ByteBuffer.wrap(spoiled));
                assertThat(spoiled).as("seed %d", seed).isEqualTo(whole);
            } catch (RefusedSegmentException e) {
                reasons.merge(e.reason(), 1, Integer::sum);
                assertThat(e.getMessage()).startsWith("segment, byte " + e.offset());
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        assertThat(reasons)
                .containsKeys(
                        Reason.TORN, Reason.GARBLED, Reason.NEWER, Reason.LENGTH, Reason.TRAILING);
    }

    private static byte[] spoil(byte[] whole, Random random) {
        byte[] bytes = whole.clone();
        for (int left = 1 + random.nextInt(3); left > 0 && bytes.length > 0; left--) {
            int at =
                    random.nextInt(
                            random.nextBoolean() ? Math.min(170, bytes.length) : bytes.length);
            switch (random.nextInt(6)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes = Arrays.copyOf(bytes, at);
                case 2 -> bytes = Arrays.copyOf(bytes, bytes.length + random.nextInt(100));
                case 3 -> {
                    for (int i = at; i < Math.min(at + 4, bytes.length); i++) {
                        bytes[i] = (byte) (random.nextBoolean() ? 0x7f : random.nextInt(256));
                    }
                }
                case 4 -> {
                    // A header whose checksum fits all the same.
                    if (bytes.length >= 125) {
                        bytes[random.nextInt(121)] = (byte) random.nextInt(256);
                        checked(bytes, 125);
                    }
                }
                default -> {
                    byte[] noise = new byte[1 + random.nextInt(64)];
                    random.nextBytes(noise);
                    int length = Math.min(noise.length, bytes.length - at);
                    System.arraycopy(noise, 0, bytes, at, length);
                }
            }
        }
        return bytes;
    }

    @Test
    void aForeignSegmentIsRefusedByName() throws Exception {
        SegmentHeader header = header(9, 21, 30);
        header.throwUnlessOf("bänk", BIRTH);
        assertThatThrownBy(() -> header.throwUnlessOf("bank", BIRTH))
                .isInstanceOfSatisfying(
                        RefusedSegmentException.class,
                        it -> assertThat(it.reason()).isEqualTo(Reason.FOREIGN_SERVICE))
                .hasMessageContaining("\"bänk\"")
                .hasMessageContaining("\"bank\"");
        assertThatThrownBy(() -> header.throwUnlessOf("bänk", new Birth(1, 2)))
                .isInstanceOfSatisfying(
                        RefusedSegmentException.class,
                        it -> assertThat(it.reason()).isEqualTo(Reason.FOREIGN_BIRTH))
                .hasMessageContaining(BIRTH.toString());
    }

    @Test
    void aSegmentThatCannotBeIsNotMade() {
        assertThatThrownBy(() -> Segment.of(header(2, 5, 4), body(1)))
                .hasMessageContaining("exactly where it has turns");
        assertThatThrownBy(() -> Segment.of(header(2, 5, 5), body(0)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> header(2, 5, 3)).hasMessageContaining("numbered from 1");
        assertThatThrownBy(() -> header(0, 5, 5)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new SegmentHeader("s", BY, 2, 1, 1, DIGEST, 2))
                .hasMessageContaining("before 2 is written");
        assertThatThrownBy(() -> new SegmentHeader("s", BY, 2, 1, 1, SegmentId.NO_DIGEST, 1))
                .hasMessageContaining("64 hex digits");
        assertThatThrownBy(() -> new SegmentHeader("s", BY, 1, 1, 1, DIGEST, 0))
                .hasMessageContaining("64 hex digits");
        assertThatThrownBy(() -> new SegmentHeader("a\nb", BY, 2, 1, 1, DIGEST, 1))
                .hasMessageContaining("on one line");
        assertThatThrownBy(() -> new SegmentHeader("\ud800", BY, 2, 1, 1, DIGEST, 1))
                .hasMessageContaining("on one line");
        new SegmentHeader("€".repeat(255), BY, 2, 1, 1, DIGEST, 1).encode(1);
    }
}
