package io.saucr.services.core.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.journal.SegmentHeader.UnreadableSegmentException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

/** K9: what one segment says, whole or damaged. */
class SegmentScanTest {

    private static final long ALL = Long.MAX_VALUE;

    private static SegmentHeader header(long firstTurn) {
        return new SegmentHeader(WrittenSegment.start(3), firstTurn, 99);
    }

    /** Turns 5 to 9; each calls the second before it forced. */
    private static WrittenSegment fiveTurns() {
        WrittenSegment segment = new WrittenSegment(header(5), 1024);
        for (long turn = 5; turn < 10; turn++) {
            segment.append(turn - 2, "turn " + turn);
        }
        return segment;
    }

    private static List<String> turns(ByteBuffer bytes)
            throws UnreadableSegmentException, IOException {
        List<String> turns = new ArrayList<>();
        SegmentScan.scan(
                WrittenSegment.read(bytes),
                ALL,
                (turn, delta) -> turns.add(turn + ":" + UTF_8.decode(delta)));
        return turns;
    }

    @Property
    void aHeaderIsReadAsItWasWritten(
            @ForAll long high, @ForAll long low, @ForAll long nonce, @ForAll int checksum)
            throws Exception {
        SegmentHeader header =
                new SegmentHeader(
                        new Incarnation(
                                new Birth(high, low), Math.max(1, low & Long.MAX_VALUE), nonce),
                        Math.max(1, high & Long.MAX_VALUE),
                        checksum);

        assertThat(SegmentHeader.decode(header.encode())).isEqualTo(header);
    }

    @Property
    void turnsAreReadAsTheyWereWritten(
            @ForAll @Size(max = 20) List<@StringLength(max = 100) String> deltas) throws Exception {
        WrittenSegment segment = new WrittenSegment(header(1), 20_000);
        List<String> expected = new ArrayList<>();
        for (String delta : deltas) {
            // Half of a surrogate pair does not survive UTF-8; that is not the journal's matter.
            String valid = new String(delta.getBytes(UTF_8), UTF_8);
            segment.append(0, valid);
            expected.add(segment.lastTurn() + ":" + valid);
        }

        assertThat(turns(segment.file())).isEqualTo(expected);
        assertThat(SegmentScan.scan(WrittenSegment.read(segment.file()), ALL))
                .isEqualTo(
                        new SegmentScan(
                                segment.header,
                                deltas.size(),
                                segment.lastChecksum(),
                                segment.bytes.position(),
                                SegmentHeader.BYTES,
                                0,
                                false));
    }

    @Test
    void theUnforcedPartBeginsBehindWhatARecordCallsForced() throws Exception {
        SegmentScan scan = SegmentScan.scan(WrittenSegment.read(fiveTurns().file()), ALL);

        assertThat(scan.calledForced()).isEqualTo(7);
        assertThat(scan.unforced()).isEqualTo(fiveTurns().records.get(3).offset());
    }

    @Test
    void aScanEndsWhereTheNextSegmentBegins() throws Exception {
        SegmentScan scan = SegmentScan.scan(WrittenSegment.read(fiveTurns().file()), 6);

        assertThat(scan.lastTurn()).isEqualTo(6);
        assertThat(scan.lastChecksum()).isEqualTo(fiveTurns().records.get(1).checksum());
        assertThat(scan.torn()).isFalse();
    }

    @Test
    void noBitOfARecordCanFlipUnseen() throws Exception {
        WrittenSegment whole = fiveTurns();
        for (SegmentRecord record : whole.records) {
            int bytes = SegmentRecord.HEADER_BYTES + record.deltaBytes();
            for (int bit = 0; bit < bytes * 8; bit++) {
                ByteBuffer file = fiveTurns().file();
                int at = record.offset() + bit / 8;
                file.put(at, (byte) (file.get(at) ^ 1 << bit % 8));

                SegmentScan scan = SegmentScan.scan(WrittenSegment.read(file), ALL);

                assertThat(scan.lastTurn()).isEqualTo(record.turn() - 1);
                assertThat(scan.end()).isEqualTo(record.offset());
                assertThat(scan.torn()).isTrue();
                // The whole records behind it still say what was forced.
                assertThat(scan.calledForced()).isEqualTo(record.turn() == 9 ? 6 : 7);
            }
        }
    }

    @Test
    void noBitOfAHeaderCanFlipUnseen() {
        for (int bit = 0; bit < SegmentHeader.BYTES * 8; bit++) {
            ByteBuffer file = fiveTurns().file();
            file.put(bit / 8, (byte) (file.get(bit / 8) ^ 1 << bit % 8));

            assertThatThrownBy(() -> SegmentScan.scan(WrittenSegment.read(file), ALL))
                    .isInstanceOf(UnreadableSegmentException.class);
        }
    }

    @Property
    void aFileCutAnywhereKeepsTheTurnsBeforeTheCut(@ForAll @IntRange(min = 0, max = 400) int size)
            throws Exception {
        WrittenSegment whole = fiveTurns();
        ByteBuffer cut = whole.file().limit(size);
        if (size < SegmentHeader.BYTES) {
            assertThatThrownBy(() -> SegmentScan.scan(WrittenSegment.read(cut), ALL))
                    .hasMessageContaining("within its header of 64 bytes");
            return;
        }
        long kept =
                whole.records.stream()
                        .filter(
                                record ->
                                        record.offset()
                                                        + SegmentRecord.HEADER_BYTES
                                                        + record.deltaBytes()
                                                <= size)
                        .count();

        assertThat(SegmentScan.scan(WrittenSegment.read(cut), ALL).lastTurn()).isEqualTo(4 + kept);
    }

    @Property
    void whatAFileHeldBeforeDoesNotRevive(
            @ForAll @IntRange(min = 0, max = 4) int appended,
            @ForAll @IntRange(min = 1, max = 9) int firstTurn,
            @ForAll boolean sameStart)
            throws Exception {
        ByteBuffer used = fiveTurns().file();
        WrittenSegment segment =
                new WrittenSegment(
                        new SegmentHeader(
                                WrittenSegment.start(sameStart ? 3 : 4),
                                firstTurn,
                                sameStart ? 98 : 99),
                        used);
        for (int count = 0; count < appended; count++) {
            segment.append(0, "turn " + segment.lastTurn());
        }

        SegmentScan scan = SegmentScan.scan(WrittenSegment.read(segment.file()), ALL);

        assertThat(scan.lastTurn()).isEqualTo(segment.lastTurn());
        assertThat(scan.calledForced()).isZero();
    }

    @Test
    void anyLengthIsCheckedAgainstTheFile() throws Exception {
        for (int length : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1024, 1 << 28}) {
            WrittenSegment segment = fiveTurns();
            segment.bytes.putInt(segment.records.get(4).offset(), length);

            assertThat(SegmentScan.scan(WrittenSegment.read(segment.file()), ALL).lastTurn())
                    .isEqualTo(8);
        }
    }

    /** Whole records behind a damage are found at the borders of what is looked at at once. */
    @Test
    void aRecordBehindADamageIsFoundWhereverItStands() throws Exception {
        int piece = 1 << 16;
        for (int before = piece - 3 * SegmentRecord.HEADER_BYTES;
                before <= piece + SegmentRecord.HEADER_BYTES;
                before += SegmentRecord.ALIGNMENT) {
            WrittenSegment segment = new WrittenSegment(header(1), 1 << 18);
            segment.append(0, "x".repeat(before));
            segment.append(1, "y".repeat(2 * piece));
            ByteBuffer file = segment.file();
            file.put(SegmentHeader.BYTES + SegmentRecord.HEADER_BYTES, (byte) 'z');

            SegmentScan scan = SegmentScan.scan(WrittenSegment.read(file), ALL);

            assertThat(scan.lastTurn()).isZero();
            assertThat(scan.end()).isEqualTo(SegmentHeader.BYTES);
            assertThat(scan.calledForced()).as("behind %s bytes", before).isEqualTo(1);
            assertThat(scan.torn()).isTrue();
        }
    }

    @Test
    void aByteBehindTheLastWholeWordIsSeen() throws Exception {
        for (int size = 401; size < 408; size++) {
            ByteBuffer file = fiveTurns().file().limit(size);
            assertThat(SegmentScan.scan(WrittenSegment.read(file), ALL).torn()).isFalse();
            file.put(size - 1, (byte) 1);
            assertThat(SegmentScan.scan(WrittenSegment.read(file), ALL).torn()).isTrue();
        }
    }

    /** The first record that nothing calls forced, for each way in which records can call it. */
    @Property
    void theUnforcedPartIsThatOfAllRecordsTogether(
            @ForAll @Size(max = 30) List<@IntRange(max = 40) Integer> back) throws Exception {
        WrittenSegment segment = new WrittenSegment(header(5), 4_096);
        long forced = 0;
        for (int each : back) {
            long turn = segment.lastTurn() + 1;
            segment.append(Math.max(0, turn - 1 - each), "turn " + turn);
            forced = Math.max(forced, turn - 1 - each);
        }
        int first = (int) Math.max(0, forced - 4);

        SegmentScan scan = SegmentScan.scan(WrittenSegment.read(segment.file()), ALL);

        assertThat(scan.unforced())
                .isEqualTo(
                        first < segment.records.size()
                                ? segment.records.get(first).offset()
                                : scan.end());
    }

    @Test
    void aNewerFormatIsNamed() throws Exception {
        ByteBuffer file = fiveTurns().file();
        file.putInt(8, 2);
        CRC32C crc = new CRC32C();
        crc.update(file.duplicate().limit(60));
        file.putInt(60, (int) crc.getValue());

        assertThatThrownBy(() -> SegmentScan.scan(WrittenSegment.read(file), ALL))
                .hasMessageContaining("format 2, and this release reads format 1");
        assertThatThrownBy(
                        () ->
                                SegmentScan.scan(
                                        WrittenSegment.read(ByteBuffer.wrap(new byte[100])), ALL))
                .hasMessageContaining("no segment of a journal");
    }
}
