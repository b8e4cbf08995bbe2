package io.saucr.services.members;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.wire.BadFrameException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bytes of a link. */
class MemberCodecTest {

    private static final UnpooledByteBufAllocator ALLOC = new UnpooledByteBufAllocator(false);

    private final MemberCodec codec = new MemberCodec(1);

    @Test
    void whatIsWrittenIsRead() {
        Random random = new Random(1);
        for (int i = 0; i < 500; i++) {
            MemberFrame frame = MemberFuzz.frame(random);
            if (!(frame instanceof MemberFrame.Segment)) {
                ByteBuf bytes = codec.write(frame, ALLOC);
                ByteBuf part = bytes.copy(0, bytes.readableBytes() - 1);
                assertThat(codec.read(part)).isNull();
                assertThat(part.readerIndex()).isZero();
                assertThat(codec.read(bytes)).isEqualTo(new MemberCodec.Whole(frame));
                assertThat(bytes.isReadable()).isFalse();
            }
        }
    }

    @Test
    void aReasonThatIsTooLongIsCut() {
        ByteBuf bytes = codec.write(new MemberFrame.Missing(7, "é".repeat(5000)), ALLOC);
        assertThat(codec.read(bytes))
                .isEqualTo(new MemberCodec.Whole(new MemberFrame.Missing(7, "é".repeat(500))));
    }

    @Test
    void spoiltStreamsEndWithAReason() {
        MemberFuzz.Outcomes outcomes = new MemberFuzz().run(400, 1);
        assertThat(outcomes.ended).isGreaterThan(50);
        assertThat(outcomes.unharmed).isGreaterThan(50);
    }

    /** Frames whose checksum is right, and whose contents are not. */
    @ParameterizedTest
    @CsvSource({
        "00, there is no frame of kind 0",
        "63, there is no frame of kind 99",
        "04, a frame ends within a field",
        "0400, a frame ends within a field",
        "0400000000, 'a segment has 1 to 201326592 bytes, not 0'",
        "04ffffffff01, 'a segment has 1 to 201326592 bytes, not 4294967295'",
        "040c00000101, 'a segment has 1 to 201326592 bytes, not 201326593'",
        "0400000002, 'a piece of a segment has 1 to 65536 bytes, not 0'",
        "05, 'a piece of a segment has 1 to 65536 bytes, not 0'",
        "07, 'a part of a base has 1 to 65536 bytes, not 0'",
        "0801, 1 bytes too many in a frame of 6",
        "0b0000000000000000, 'the number of the written segment is from 1, not 0'",
        "0c8000000000000000, 'the number of the stored segment is from 1, not"
                + " -9223372036854775808'",
        "0f0000000000000000, 'the number of the segment of a base that is needed is from 1, not 0'",
        "0d00000000000000020000000000000001, segments 2 to 1 are none: the last is before the"
                + " first",
        "0affffffffffffffff0000000000000000, 'the wait is from 0, not -1'",
        "010004c3, a frame ends within a field",
        "010001c3, a text is not UTF-8",
        "020000, 'a name has 1 to 800 bytes, not 0'",
    })
    void badFramesSayWhatIsBad(String hex, String reason) {
        byte[] contents = HexFormat.of().parseHex(hex);
        assertThatThrownBy(() -> codec.read(framed(contents)))
                .isInstanceOf(BadFrameException.class)
                .hasMessage(reason);
    }

    private static ByteBuf framed(byte[] contents) {
        CRC32C crc = new CRC32C();
        crc.update(contents);
        return Unpooled.buffer()
                .writeInt(contents.length + 4)
                .writeBytes(contents)
                .writeInt((int) crc.getValue());
    }

    @Test
    void aSegmentThatNamesNoneIsRefused() {
        ByteBuf committed = codec.write(new MemberFrame.Committed(SegmentId.NONE), ALLOC);
        committed.setLong(5 + 8, 7);
        CRC32C crc = new CRC32C();
        crc.update(committed.nioBuffer(4, committed.readableBytes() - 8));
        committed.setInt(committed.readableBytes() - 4, (int) crc.getValue());
        assertThatThrownBy(() -> codec.read(committed))
                .isInstanceOf(BadFrameException.class)
                .hasMessage("segments and epochs are numbered from 1, not 7, 0");
    }

    @Test
    void lengthsAreBoundedBeforeAnythingIsKept() {
        for (int length : new int[] {0, 4, MemberCodec.MOST_BYTES + 1, -1}) {
            assertThatThrownBy(() -> codec.read(Unpooled.buffer().writeInt(length)))
                    .isInstanceOf(BadFrameException.class)
                    .hasMessage(
                            "a frame has 5 to 65545 bytes, not "
                                    + Integer.toUnsignedString(length));
        }
        ByteBuf spoilt = codec.write(new MemberFrame.Written(1), ALLOC);
        spoilt.setByte(12, 2);
        assertThatThrownBy(() -> codec.read(spoilt))
                .isInstanceOf(BadFrameException.class)
                .hasMessageMatching(
                        "a frame of kind 11 and 13 bytes has checksum [0-9a-f]{8}, and says"
                                + " [0-9a-f]{8}");
    }

    @Test
    void aForeignPrefaceIsNamed() {
        assertPreface("1603010200", "it speaks TLS, and this side does not: set ssl.* on both");
        assertPreface("53415553", "it speaks as another service or a client");
        assertPreface("00000000", "it begins with 00000000; no service begins so");
        assertPreface(
                "5341554d00000002",
                "it speaks format 2, this side format 1: run the same release on all members");
        assertThat(codec.readPreface(Unpooled.buffer().writeInt(0x5341554D))).isFalse();
    }

    private void assertPreface(String hex, String reason) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        assertThatThrownBy(() -> codec.readPreface(Unpooled.wrappedBuffer(bytes)))
                .isInstanceOf(BadFrameException.class)
                .hasMessageStartingWith(reason);
    }

    /** A length that was announced takes no room: only what came does. */
    @Test
    void roomGrowsWithWhatArrives() {
        MemberDecoder decoder = new MemberDecoder(codec, () -> {});
        EmbeddedChannel channel = new EmbeddedChannel(decoder);
        channel.writeInbound(codec.preface(ALLOC));
        int whole = 24 << 20;
        MemberFrame.Segment large = new MemberFrame.Segment(ByteBuffer.allocate(whole));
        ByteBuffer left = large.bytes();
        int arrived = 0;
        while (left.hasRemaining()) {
            channel.writeInbound(codec.piece(left, whole, ALLOC));
            arrived += MemberCodec.PIECE_BYTES;
            assertThat(decoder.held()).isLessThanOrEqualTo(MemberDecoder.CHUNK_BYTES + arrived);
        }
        assertThat(channel.<MemberDecoder.Collected>readInbound().join()).isEqualTo(large);
        assertThat(decoder.held()).isZero();
    }

    @Test
    void piecesOutOfPlaceAreRefused() {
        byte[] bytes = new byte[100_000];
        ByteBuffer first = ByteBuffer.wrap(bytes);
        ByteBuf begin = codec.piece(first, bytes.length, ALLOC);
        ByteBuf rest = codec.piece(first, bytes.length, ALLOC);
        assertRefused("a piece continues a segment, and none has begun", rest.copy());
        assertRefused(
                "a segment begins after 65536 of the 100000 bytes of another",
                begin.copy(),
                begin.copy());
        assertRefused(
                "Stored after 65536 of the 100000 bytes of a segment",
                begin.copy(),
                codec.write(new MemberFrame.Stored(1), ALLOC));
        ByteBuffer longer = ByteBuffer.wrap(new byte[200_000]);
        codec.piece(longer, 200_000, ALLOC).release();
        assertRefused(
                "131072 bytes came of a segment that has 100000",
                begin.copy(),
                codec.piece(longer, 200_000, ALLOC));
    }

    private void assertRefused(String reason, ByteBuf... frames) {
        EmbeddedChannel channel = new EmbeddedChannel(new MemberDecoder(codec, () -> {}));
        channel.writeInbound(codec.preface(ALLOC));
        for (int i = 0; i < frames.length - 1; i++) {
            channel.writeInbound(frames[i]);
        }
        assertThatThrownBy(() -> channel.writeInbound(frames[frames.length - 1]))
                .isInstanceOf(DecoderException.class)
                .hasCauseInstanceOf(BadFrameException.class)
                .hasMessageEndingWith(reason);
        // It is deaf from now on.
        channel.writeInbound(codec.write(new MemberFrame.Written(1), ALLOC));
        assertThat(channel.<Object>readInbound()).isNull();
    }

    @Test
    void whatCannotBeSentIsRefusedWhenItIsMade() {
        ByteBuffer none = ByteBuffer.allocate(0);
        assertThatThrownBy(() -> new MemberFrame.Segment(none))
                .hasMessage("a segment has 1 to 201326592 bytes, not 0");
        ByteBuffer tooLong = ByteBuffer.allocate(MemberFrame.BASE_PART_BYTES + 1);
        assertThatThrownBy(() -> new MemberFrame.BasePart(tooLong))
                .hasMessage("a part of a base has 1 to 65536 bytes, not 65537");
        assertThatThrownBy(() -> new MemberFrame.Hello("bank", Optional.empty(), "x", 1, 1))
                .hasMessage("a member is 16 hexadecimal digits in lower case, not \"x\"");
        assertThatThrownBy(
                        () -> new MemberFrame.Hello("bank", Optional.empty(), Member.id(1), 1, 0))
                .hasMessage("formats are numbered from 1, not 0");
        assertThatThrownBy(() -> new MemberFrame.Base(1, 1, "x"))
                .hasMessage("a base's digest has 64 hexadecimal digits: \"x\"");
        assertThatThrownBy(() -> new MemberFrame.Base(0, 1, SegmentId.NO_DIGEST))
                .hasMessage("the number of the segment of a base is from 1, not 0");
    }

    /** Who reads a frame's bytes moves nobody else's position, and changes nothing. */
    @Test
    void bytesOfAFrameStayAsTheyAre() {
        MemberFrame.Segment segment = new MemberFrame.Segment(ByteBuffer.wrap(new byte[] {1, 2}));
        assertThat(segment.bytes().get()).isEqualTo((byte) 1);
        assertThat(segment.bytes().remaining()).isEqualTo(2);
        assertThat(segment.bytes().isReadOnly()).isTrue();
    }
}
