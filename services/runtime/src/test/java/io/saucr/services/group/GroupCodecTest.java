package io.saucr.services.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.core.speculation.Listing;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.wire.BadFrameException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bytes of a group's links. */
class GroupCodecTest {

    private static final UnpooledByteBufAllocator ALLOC = new UnpooledByteBufAllocator(false);

    private static VersionVector vector(Random random) {
        VersionVector vector = VersionVector.NONE;
        for (int count = random.nextInt(4); count > 0; count--) {
            long version = random.nextLong(1, Long.MAX_VALUE);
            vector = vector.with(random.nextInt(GroupHead.MOST_MEMBERS), version);
        }
        return vector;
    }

    private static List<Sealed> versions(Random random, long world, long above, int least) {
        List<Sealed> versions = new ArrayList<>();
        long version = above;
        for (int count = least + random.nextInt(5); count > 0; count--) {
            version += 1 + random.nextInt(3);
            versions.add(new Sealed(world, version, vector(random)));
        }
        return versions;
    }

    private static GroupFrame frame(Random random) {
        long number = random.nextLong(1, 1L << 40);
        long world = random.nextLong(1, 1L << 40);
        return switch (random.nextInt(11)) {
            case 0 -> new GroupFrame.Sorry("because " + number);
            case 1 ->
                    new GroupFrame.Hello(
                            "/groups/travel",
                            "hotels",
                            new Incarnation(new Birth(number, 2), 3, random.nextLong()));
            case 2 -> new GroupFrame.Heartbeat();
            case 3 ->
                    new GroupFrame.Lists(
                            new Listing(
                                    world,
                                    number,
                                    versions(random, world, number, 0),
                                    vector(random)),
                            random.nextBoolean());
            case 4 -> new GroupFrame.Reports(world, versions(random, world, 0, 1));
            case 5 -> new GroupFrame.Leaves(random.nextInt(2) * number);
            case 6 -> new GroupFrame.Decided(number, new Decision(world, vector(random)));
            case 7 -> new GroupFrame.Admitted(number, new Decision(world, vector(random)));
            case 8 -> new GroupFrame.Boundary(number, world, vector(random));
            case 9 -> new GroupFrame.Left(number);
            default -> new GroupFrame.Refused("it is an old copy");
        };
    }

    private static GroupFrame read(ByteBuf bytes) {
        return GroupCodec.read(bytes, GroupCodec.MOST_BYTES);
    }

    @Test
    void whatIsWrittenIsRead() {
        Random random = new Random(1);
        for (int i = 0; i < 1_000; i++) {
            GroupFrame frame = frame(random);
            ByteBuf bytes = GroupCodec.write(frame, ALLOC);
            for (int length = 0; length < bytes.readableBytes(); length++) {
                ByteBuf part = bytes.slice(0, length);
                assertThat(read(part)).isNull();
                assertThat(part.readerIndex()).isZero();
            }
            assertThat(read(bytes)).isEqualTo(frame);
            assertThat(bytes.isReadable()).isFalse();
        }
    }

    @Test
    void aReasonThatIsTooLongIsCut() {
        ByteBuf bytes = GroupCodec.write(new GroupFrame.Refused("é".repeat(5_000)), ALLOC);
        assertThat(read(bytes)).isEqualTo(new GroupFrame.Refused("é".repeat(500)));
    }

    /** Bytes that were changed, with a checksum that fits and with one that does not. */
    @Test
    void changedBytesAreAFrameOrRefused() {
        Random random = new Random(2);
        int refused = 0;
        int read = 0;
        for (int i = 0; i < 20_000; i++) {
            ByteBuf bytes = GroupCodec.write(frame(random), ALLOC);
            boolean fits = random.nextInt(4) > 0;
            int at = random.nextInt(bytes.readableBytes() - (fits ? 8 : 0)) + (fits ? 4 : 0);
            bytes.setByte(at, random.nextInt(256));
            if (fits) {
                CRC32C crc = new CRC32C();
                crc.update(bytes.nioBuffer(4, bytes.readableBytes() - 8));
                bytes.setInt(bytes.readableBytes() - 4, (int) crc.getValue());
            }
            try {
                read(bytes);
                read++;
            } catch (BadFrameException e) {
                refused++;
                assertThat(e.getMessage()).isNotBlank();
            }
        }
        assertThat(refused).isGreaterThan(3_000);
        assertThat(read).isGreaterThan(3_000);
    }

    /** Frames whose checksum is right, and whose contents are not. */
    @ParameterizedTest
    @CsvSource({
        "00, there is no frame of kind 0",
        "63, there is no frame of kind 99",
        "0301, 1 bytes too many in a frame of 6",
        "04, a frame ends within a field",
        "0402, 'a flag is 0 or 1, not 2'",
        "060000, a frame ends within a field",
        "06ffffffffffffffff, 'the number of the version is from 0, not -1'",
        "0a0000000000000000, 'the number of the epoch is from 1, not 0'",
        "070000000000000001000000000000000000, 'the number of the world is from 1, not 0'",
        "070000000000000001000000000000000121, 'a group has at most 32 members, not 33'",
        "070000000000000001000000000000000101, a frame ends within a field",
        "0700000000000000010000000000000001010000000000000000, the last of 1 versions is 0",
        "0700000000000000010000000000000001018000000000000000, 'the number of the version is from"
                + " 0, not -9223372036854775808'",
        "05000000000000000100000000, nothing is reported",
        "050000000000000001ffffffff, 4294967295 versions are announced in 0 bytes",
        "05000000000000000100000001000000000000000000, version 0 of world 1",
        "05000000000000000100000002000000000000000200000000000000000200, 'version 2 is listed"
                + " behind version 2'",
        "0400000000000000000100000000000000030000000001000000000000000300, 'version 3 is listed"
                + " behind version 3'",
        "0b0001c3, a text is not UTF-8",
        "020000, 'a name has 1 to 800 bytes, not 0'",
    })
    void badFramesSayWhatIsBad(String hex, String reason) {
        byte[] contents = HexFormat.of().parseHex(hex);
        CRC32C crc = new CRC32C();
        crc.update(contents);
        ByteBuf bytes =
                Unpooled.buffer()
                        .writeInt(contents.length + 4)
                        .writeBytes(contents)
                        .writeInt((int) crc.getValue());
        assertThatThrownBy(() -> read(bytes))
                .isInstanceOf(BadFrameException.class)
                .hasMessage(reason);
    }

    @Test
    void lengthsAreBoundedBeforeAnythingIsKept() {
        for (int length : new int[] {0, 4, GroupCodec.MOST_BYTES + 1, -1}) {
            ByteBuf bytes = Unpooled.buffer().writeInt(length);
            assertThatThrownBy(() -> read(bytes))
                    .isInstanceOf(BadFrameException.class)
                    .hasMessage(
                            "a frame has 5 to 16777216 bytes, not "
                                    + Integer.toUnsignedString(length));
        }
        assertThatThrownBy(
                        () ->
                                GroupCodec.read(
                                        Unpooled.buffer().writeInt(5_000),
                                        GroupCodec.MOST_BYTES_BEFORE))
                .isInstanceOf(BadFrameException.class)
                .hasMessage("a frame has 5 to 4096 bytes, not 5000");
    }

    @Test
    void whatFitsNoFrameIsNotWritten() {
        List<Sealed> versions = new ArrayList<>();
        VersionVector all = VersionVector.NONE;
        for (int member = 0; member < GroupHead.MOST_MEMBERS; member++) {
            all = all.with(member, 1);
        }
        for (int version = 1; version <= 65_000; version++) {
            versions.add(new Sealed(1, version, all));
        }
        GroupFrame.Reports reports = new GroupFrame.Reports(1, versions);
        assertThatThrownBy(() -> GroupCodec.write(reports, ALLOC))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a frame has at most 16777216 bytes, and this one ");
    }

    @ParameterizedTest
    @CsvSource({
        "5341555300000001, 'it speaks as another service or a client; here members of a group"
                + " talk to their coordinator'",
        "5341554d00000001, 'it speaks as a standby member of a service; here members of a group"
                + " talk to their coordinator'",
        "5341554700000002, 'it speaks format 2, this side format 1: run the same release on all"
                + " members of the group'",
        "4745542000000000, it speaks HTTP; this port is for services and their clients",
    })
    void otherProtocolsAreNamed(String hex, String reason) {
        ByteBuf bytes = Unpooled.wrappedBuffer(HexFormat.of().parseHex(hex));
        assertThatThrownBy(() -> GroupCodec.readPreface(bytes))
                .isInstanceOf(BadFrameException.class)
                .hasMessage(reason);
    }

    @Test
    void aPrefaceIsReadOnceItIsThere() {
        ByteBuf bytes = GroupCodec.preface(ALLOC);
        assertThat(GroupCodec.readPreface(bytes.slice(0, 7))).isFalse();
        assertThat(GroupCodec.readPreface(bytes)).isTrue();
        assertThat(bytes.isReadable()).isFalse();
    }
}
