package io.saucr.services.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import io.saucr.services.wire.BadFrameException;
import io.saucr.services.wire.NetOptions;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bytes of a connection. */
class FrameCodecTest {

    private static final UnpooledByteBufAllocator ALLOC = new UnpooledByteBufAllocator(false);

    private final FrameCodec codec = new FrameCodec(4096);

    @Test
    void everyFrameIsReadAsItWasWritten() {
        Random random = new Random(5);
        for (int run = 0; run < 200; run++) {
            Frame frame = FrameFuzz.frame(random);
            ByteBuf bytes = codec.write(frame, ALLOC);
            int length = bytes.readableBytes();
            // What was announced is what was allocated: no frame is copied while it grows.
            assertThat(bytes.capacity()).isEqualTo(length);
            Signal.Arrived arrived = (Signal.Arrived) codec.read(bytes);
            assertThat(arrived.frame())
                    .usingRecursiveComparison()
                    .ignoringOverriddenEqualsForTypes(Body.class)
                    .isEqualTo(frame);
            assertThat(arrived.bytes()).isEqualTo(length);
            assertThat(bytes.isReadable()).isFalse();
        }
    }

    @Test
    void aFrameCutAnywhereWaitsForMoreAndTakesNothing() {
        ByteBuf whole = codec.write(Side.hello("bank"), ALLOC);
        for (int cut = 0; cut < whole.readableBytes(); cut++) {
            ByteBuf part = whole.slice(0, cut);
            assertThat(codec.read(part)).isNull();
            assertThat(part.readerIndex()).isZero();
        }
        ByteBuf preface = codec.preface(true, Duration.ofSeconds(1), "bank", ALLOC);
        for (int cut = 0; cut < preface.readableBytes(); cut++) {
            assertThat(codec.readPreface(preface.slice(0, cut))).isNull();
        }
        assertThat(codec.readPreface(preface))
                .isEqualTo(new Signal.Preface(true, Duration.ofSeconds(1), "bank"));
    }

    @Test
    void aFieldCutAnywhereIsNoFrame() {
        ByteBuf whole = codec.write(Side.hello("bank"), ALLOC);
        int kindAndFields = whole.readableBytes() - 4;
        for (int cut = 1; cut < kindAndFields; cut++) {
            ByteBuf part = Unpooled.buffer();
            part.writeInt(cut);
            part.writeBytes(whole, 4, cut);
            assertThatThrownBy(() -> codec.read(part)).isInstanceOf(BadFrameException.class);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    00000000               | a frame has 1 to 4096 bytes (frameBytes), not 0
                    00001001               | a frame has 1 to 4096 bytes (frameBytes), not 4097
                    ffffffff               | a frame has 1 to 4096 bytes (frameBytes), not 4294967295
                    000000010f             | there is no frame of kind 15
                    000000110c00000000000000000000000000000001 | the number of the epoch is from 1, not 0
                    000000020b00           | a frame ends within a field
                    000000210b0000000000000002000000000000000300000000000000020000000000000003 | \
                    epochs rise from 1, and their turns do not fall: \
                    [Begun[epoch=2, after=3], Begun[epoch=2, after=3]]
                    0000000100             | there is no frame of kind 0
                    000000020800           | 1 bytes too many in a frame of 2
                    00000003090001         | a frame ends within a field
                    0000000309ffff         | a text has at most 1000 bytes, not 65535
                    0000000509000280c0     | a text is not UTF-8
                    0000000d03ffffffffffffffff00000000 | the number of the ack is from 0, not -1
                    0000000d030000000000000001ffffffff | a credit is not negative: -1
                    0000000a07000000000000000102       | a flag is 0 or 1, not 2
                    0000000b0600000000000000010000     | a name has 1 to 800 bytes, not 0
                    0000000b060000000000000001ffff     | a name has 1 to 800 bytes, not 65535
                    0000000c060000000000000001000107   | a name has control characters: ?
                    """)
    void whatIsNoFrameIsSaid(String hex, String reason) {
        ByteBuf bytes = Unpooled.wrappedBuffer(HexFormat.of().parseHex(hex.trim()));
        assertThatThrownBy(() -> codec.read(bytes))
                .isInstanceOf(BadFrameException.class)
                .hasMessage(reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    16030100a5             | it speaks TLS, and this side does not: set ssl.* on both, or on none
                    15030300020100         | it speaks TLS, and this side does not: set ssl.* on both, or on none
                    504f5354202f           | it speaks HTTP; this port is for services and their clients
                    00000001               | it begins with 00000001; no service begins so
                    5341555302             | it speaks version 2 of the protocol, this side version 1: run releases that share one
                    534155530100000000000004 | its keep-alive is from 1 to 3600000 ms, not 0
                    534155530101ffffffff0004 | its keep-alive is from 1 to 3600000 ms, not 4294967295
                    534155530102000003e80004 | it is a service (0) or a client (1), not 2
                    534155530100000003e80000 | a name has 1 to 800 bytes, not 0
                    """)
    void whoSpeaksOtherwiseIsTold(String hex, String reason) {
        ByteBuf bytes = Unpooled.wrappedBuffer(HexFormat.of().parseHex(hex.trim()));
        assertThatThrownBy(() -> codec.readPreface(bytes))
                .isInstanceOf(BadFrameException.class)
                .hasMessage(reason);
    }

    @Test
    void aLongReasonIsCutBetweenCharacters() {
        ByteBuf bytes = codec.write(new Frame.Refused(1, "∞".repeat(5000)), ALLOC);
        Frame.Refused read = (Frame.Refused) ((Signal.Arrived) codec.read(bytes)).frame();
        assertThat(read.reason()).isEqualTo("∞".repeat(333));
    }

    @Test
    void theLargestBodyFitsBesideTheLongestFields() {
        NetOptions options = NetOptions.plain();
        FrameCodec large = new FrameCodec(options.frameBytes());
        Body body = new Body("t".repeat(800), new byte[options.bodyBytes()]);
        ByteBuf bytes =
                large.write(new Frame.Msg(1, 1, Optional.of("r".repeat(2000)), body), ALLOC);
        assertThat(((Signal.Arrived) large.read(bytes)).frame()).isInstanceOf(Frame.Msg.class);
    }

    @ParameterizedTest
    @CsvSource({"''", "'a\nb'", "'a\u202eb'"})
    void namesThatCannotStandInALogAreRefused(String name) {
        assertThatThrownBy(() -> codec.write(Side.hello(name), ALLOC))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 to 800 bytes and no control characters");
    }

    @Test
    void spoiledStreamsEndWithAReason() {
        FrameFuzz.Outcomes outcomes = new FrameFuzz().run(1500, 1);
        // Both kinds must occur, or the fuzzer has lost its teeth.
        assertThat(outcomes.ended).isGreaterThan(375);
        assertThat(outcomes.signals).isGreaterThan(375);
    }
}
