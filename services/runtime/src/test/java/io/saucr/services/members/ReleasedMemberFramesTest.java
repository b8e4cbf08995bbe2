package io.saucr.services.members;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The frames between members of release 0.1.0, as it wrote them: members of it follow this one. */
class ReleasedMemberFramesTest {

    private final MemberCodec codec = new MemberCodec(1);

    @Test
    void framesAreReadAndWrittenAsTheyWereReleased() throws Exception {
        List<String> lines =
                Files.readAllLines(Path.of("src/test/resources/members-0.1.0.txt"), UTF_8);
        assertThat(lines).hasSizeGreaterThan(20);
        for (String line : lines) {
            String hex = line.substring(0, line.indexOf(' '));
            ByteBuf bytes = Unpooled.wrappedBuffer(HexFormat.of().parseHex(hex));
            MemberCodec.Whole read = (MemberCodec.Whole) codec.read(bytes);
            assertThat(read.frame()).hasToString(line.substring(hex.length() + 1));
            assertThat(bytes.isReadable()).isFalse();
            ByteBuf again = codec.write(read.frame(), new UnpooledByteBufAllocator(false));
            byte[] written = new byte[again.readableBytes()];
            again.readBytes(written);
            assertThat(HexFormat.of().formatHex(written)).isEqualTo(hex);
        }
    }
}
