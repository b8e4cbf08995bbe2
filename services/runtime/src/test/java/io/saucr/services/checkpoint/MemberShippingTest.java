package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.ForwardingDisk;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.SimulatedDisk;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** C6, C14: a member that lags takes a base from another, and goes on above it. */
class MemberShippingTest {

    private static final Path PATH = Path.of("/simulated/member");
    private static final Path BASES = PATH.resolve("bases");
    private static final SecureRandom NAMES = new SecureRandom();

    private final SimulatedDisk hisDisk = new SimulatedDisk(1);
    private final SimulatedDisk ownDisk = new SimulatedDisk(2);
    private final Chain chain = new Chain();
    private final byte[] state = "x".repeat(200_000).getBytes(UTF_8);
    private MemberFolder his;
    private MemberFolder own;

    @BeforeEach
    void openBoth() throws IOException {
        his = open(hisDisk);
        his.birth(Chain.BIRTH);
        for (int left = 10; left > 0; left--) {
            his.append(chain.next());
        }
        his.base(chain.id(4), chain.epochs(), writer -> writer.section("state").write(1));
        his.base(chain.id(7), chain.epochs(), writer -> writer.section("state").write(state));
        his.force();
        own = open(ownDisk);
        own.birth(Chain.BIRTH);
    }

    @AfterEach
    void closeBoth() throws IOException {
        own.close();
        his.close();
    }

    private static MemberFolder open(SimulatedDisk disk) throws IOException {
        return MemberFolder.open(disk, PATH, Chain.SERVICE, NAMES, 1600);
    }

    private static byte[] all(ShippedBase base) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (ByteBuffer part = base.next(65_536); part.hasRemaining(); part = base.next(65_536)) {
            byte[] bytes = new byte[part.remaining()];
            part.get(bytes);
            all.write(bytes);
        }
        return all.toByteArray();
    }

    private byte[] shipped() throws IOException {
        try (ShippedBase base = his.ship().orElseThrow()) {
            assertThat(base.at()).isEqualTo(chain.id(7));
            byte[] all = all(base);
            assertThat(all).hasSize((int) base.length());
            return all;
        }
    }

    private static String digest(byte[] bytes) {
        return java.util.HexFormat.of().formatHex(Segment.sha256().digest(bytes));
    }

    private SegmentId receive(byte[] bytes, String digest) throws IOException {
        try (BaseReceipt receipt = own.receive(7, bytes.length, digest)) {
            receipt.part(ByteBuffer.wrap(bytes, 0, 70_000).asReadOnlyBuffer());
            receipt.part(ByteBuffer.wrap(bytes, 70_000, bytes.length - 70_000));
            return receipt.finish();
        }
    }

    private static List<String> restored(MemberFolder folder, SegmentId upTo) throws IOException {
        List<String> read = new ArrayList<>();
        Restored restored = folder.restore(upTo);
        restored.sections((name, content) -> read.add(name + content.readAllBytes().length));
        restored.segments(segment -> read.add("" + segment.id().number()));
        return read;
    }

    @Test
    void anEmptyFolderGoesOnAboveTheBase() throws Exception {
        byte[] bytes = shipped();
        try (ShippedBase base = his.ship().orElseThrow()) {
            assertThat(base.digest()).isEqualTo(digest(bytes));
            assertThat(receive(bytes, base.digest())).isEqualTo(chain.id(7));
        }
        assertThat(own.last()).isEqualTo(chain.id(7));
        assertThat(own.known()).isEqualTo(7);
        assertThat(own.oldest()).isEqualTo(8);
        own.append(his.read(8));
        own.append(his.read(9));
        own.force();
        ownDisk.powerFails();
        own = open(ownDisk);
        assertThat(own.last()).isEqualTo(chain.id(9));
        assertThat(own.oldest()).isEqualTo(8);
        assertThat(restored(own, chain.id(9))).containsExactly("state200000", "8", "9");
        assertThat(own.restore(chain.id(8)).epochs()).isEqualTo(chain.epochs());
        try (ShippedBase base = own.ship().orElseThrow()) {
            assertThat(all(base)).isEqualTo(bytes);
        }
    }

    /** Once to check it, once to send it. */
    @Test
    void ofABaseThatIsSentEachByteIsReadTwice() throws Exception {
        AtomicLong read = new AtomicLong();
        his.close();
        his =
                MemberFolder.open(
                        new ForwardingDisk(hisDisk) {
                            @Override
                            protected void beforeRead(int bytes) {
                                read.addAndGet(bytes);
                            }
                        },
                        PATH,
                        Chain.SERVICE,
                        NAMES,
                        1600);
        assertThat(his.baseBytes()).isGreaterThan(200_000);
        read.set(0);
        assertThat(shipped()).hasSize((int) his.baseBytes());
        assertThat(read.get()).isEqualTo(2 * his.baseBytes());
    }

    @Test
    void aFolderThatLagsGoesOnAboveTheBase() throws Exception {
        for (long number = 1; number <= 5; number++) {
            own.append(chain.get(number));
        }
        own.base(chain.id(3), chain.epochs(), writer -> writer.section("state").write(1));
        byte[] bytes = shipped();
        receive(bytes, digest(bytes));
        assertThat(own.oldest()).isEqualTo(8);
        assertThatThrownBy(() -> own.append(chain.get(6)))
                .isInstanceOf(IllegalArgumentException.class);
        own.append(chain.get(8));
        own.force();
        own.close();
        own = open(ownDisk);
        assertThat(own.last()).isEqualTo(chain.id(8));
        assertThat(restored(own, chain.id(8))).containsExactly("state200000", "8");
        own.base(chain.id(8), chain.epochs(), writer -> writer.section("state").write(1));
        // What the older base does not need is gone now.
        assertThat(ownDisk.list(PATH.resolve("segments")))
                .containsExactly("0000000000000000008.log");
    }

    @Test
    void aBaseIsReadToItsEndThoughItIsLetGo() throws Exception {
        try (ShippedBase base = his.ship().orElseThrow()) {
            ByteBuffer first = base.next(1000);
            his.base(chain.id(8), chain.epochs(), writer -> writer.section("state").write(1));
            his.base(chain.id(9), chain.epochs(), writer -> writer.section("state").write(1));
            assertThat(hisDisk.list(BASES)).hasSize(2).noneMatch(it -> it.contains("7.snap"));
            assertThat(first.remaining() + all(base).length).isEqualTo((int) base.length());
        }
    }

    @Test
    void aDamagedBaseIsNotSent() throws Exception {
        Path newest = BASES.resolve(String.format("%019d.snap", 7));
        hisDisk.flip(newest, 150_000, 2);
        try (ShippedBase base = his.ship().orElseThrow()) {
            assertThat(base.at()).isEqualTo(chain.id(4));
        }
        assertThat(his.damages()).hasSize(1);
        hisDisk.flip(BASES.resolve(String.format("%019d.snap", 4)), 70, 2);
        assertThat(his.ship()).isEmpty();
        assertThat(own.ship()).isEmpty();
    }

    private void refused(byte[] bytes, String digest, String words) throws IOException {
        assertThatThrownBy(() -> receive(bytes, digest))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining(words);
        assertThat(own.last()).isEqualTo(SegmentId.NONE);
        assertThat(ownDisk.list(BASES)).isEmpty();
    }

    @Test
    void whatIsNotTheBaseThatWasAnnouncedIsNotTaken() throws Exception {
        byte[] bytes = shipped();
        refused(bytes, "0".repeat(64), "has digest " + digest(bytes));
        byte[] damaged = bytes.clone();
        damaged[100_000] ^= 4;
        refused(damaged, digest(bytes), "has digest");
        refused(damaged, digest(damaged), "damaged");
        byte[] shorter = java.util.Arrays.copyOf(bytes, bytes.length - 20);
        refused(shorter, digest(shorter), "damaged");
        try (BaseReceipt receipt = own.receive(7, bytes.length - 1, digest(bytes))) {
            assertThatThrownBy(() -> receipt.part(ByteBuffer.wrap(bytes)))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("more bytes");
        }
        try (BaseReceipt receipt = own.receive(7, bytes.length, digest(bytes))) {
            receipt.part(ByteBuffer.wrap(bytes, 0, 9));
            assertThatThrownBy(receipt::finish)
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("has 9 bytes");
        }
        try (BaseReceipt receipt = own.receive(8, bytes.length, digest(bytes))) {
            receipt.part(ByteBuffer.wrap(bytes));
            assertThatThrownBy(receipt::finish).isInstanceOf(RefusedFolderException.class);
        }
        assertThat(receive(bytes, digest(bytes))).isEqualTo(chain.id(7));
    }

    @Test
    void aBaseOfAnotherServiceOrBirthIsNotTaken() throws Exception {
        byte[] bytes = shipped();
        for (boolean birth : new boolean[] {true, false}) {
            SimulatedDisk disk = new SimulatedDisk(3);
            try (MemberFolder other =
                    MemberFolder.open(disk, PATH, birth ? Chain.SERVICE : "shop", NAMES)) {
                assertThatThrownBy(() -> other.receive(7, bytes.length, digest(bytes)))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("generation");
                other.birth(birth ? new Birth(3, 3) : Chain.BIRTH);
                try (BaseReceipt receipt = other.receive(7, bytes.length, digest(bytes))) {
                    receipt.part(ByteBuffer.wrap(bytes));
                    assertThatThrownBy(receipt::finish)
                            .isInstanceOf(RefusedFolderException.class)
                            .hasMessageContaining(birth ? "another" : "\"shop\"");
                }
            }
        }
    }

    @Test
    void onlyWhatIsAboveIsTaken() throws Exception {
        byte[] bytes = shipped();
        assertThatThrownBy(() -> his.receive(10, bytes.length, digest(bytes)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("of no use");
        ownDisk.limit(1000);
        assertThatThrownBy(() -> own.receive(7, bytes.length, digest(bytes)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("has room for");
        assertThatThrownBy(() -> own.receive(7, -1, digest(bytes))).isInstanceOf(IOException.class);
        ownDisk.limit(Long.MAX_VALUE);
        // Meanwhile the segments come by themselves.
        try (BaseReceipt receipt = own.receive(7, bytes.length, digest(bytes))) {
            assertThatThrownBy(() -> own.receive(7, bytes.length, digest(bytes)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("one base at a time");
            receipt.part(ByteBuffer.wrap(bytes));
            for (long number = 1; number <= 7; number++) {
                own.append(chain.get(number));
            }
            assertThatThrownBy(receipt::finish).isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(ownDisk.list(BASES)).isEmpty();
        assertThat(restored(own, chain.id(7))).hasSize(7);
        ownDisk.failOnceAt(1);
        assertThatThrownBy(own::force).isInstanceOf(DeadJournalException.class);
        assertThatThrownBy(() -> own.receive(9, bytes.length, digest(bytes)))
                .isInstanceOf(DeadJournalException.class);
    }

    private BaseReceipt receiveHeld(long number, byte[] bytes) throws IOException {
        BaseReceipt receipt = own.receiveHeld(number, bytes.length, digest(bytes));
        receipt.part(ByteBuffer.wrap(bytes));
        return receipt;
    }

    /** X14: the state of a member differs, and its segments do not. */
    @Test
    void aBaseTakesThePlaceOfTheOwnStateAndSegmentsStay() throws Exception {
        byte[] bytes = shipped();
        for (long number = 1; number <= 9; number++) {
            own.append(chain.get(number));
        }
        own.base(chain.id(3), chain.epochs(), writer -> writer.section("state").write(1));
        try (BaseReceipt receipt = receiveHeld(7, bytes)) {
            assertThat(own.newestBase()).isEqualTo(chain.id(3));
            assertThat(receipt.finish()).isEqualTo(chain.id(7));
        }
        assertThat(own.newestBase()).isEqualTo(chain.id(7));
        assertThat(own.last()).isEqualTo(chain.id(9));
        assertThat(restored(own, chain.id(9))).containsExactly("state200000", "8", "9");
        own.force();
        ownDisk.powerFails();
        own = open(ownDisk);
        own.append(chain.get(10));
        assertThat(restored(own, chain.id(10))).containsExactly("state200000", "8", "9", "10");
    }

    @Test
    void aBaseInPlaceOfTheOwnStateIsOfAHeldSegmentAndNewer() throws Exception {
        byte[] bytes = shipped();
        assertThatThrownBy(() -> receiveHeld(7, bytes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("one that is held");
        for (long number = 1; number <= 6; number++) {
            own.append(chain.get(number));
        }
        chain.cutAfter(6);
        chain.takeover();
        own.append(chain.next());
        try (BaseReceipt receipt = receiveHeld(7, bytes)) {
            assertThatThrownBy(receipt::finish)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("does not belong to segment");
        }
        assertThat(ownDisk.list(BASES)).isEmpty();
        own.base(chain.id(7), chain.epochs(), writer -> writer.section("state").write(1));
        assertThatThrownBy(() -> receiveHeld(7, bytes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a later segment");
    }
}
