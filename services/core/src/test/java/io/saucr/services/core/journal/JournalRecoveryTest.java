package io.saucr.services.core.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.journal.JournalRecovery.Behind;
import io.saucr.services.core.journal.JournalRecovery.Decision;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** K9 and K10 by scenarios. */
class JournalRecoveryTest {

    /** Turns from the first to the last, each of which calls those up to {@code forced} forced. */
    private static WrittenSegment segment(
            long start, long first, long last, int previousChecksum, long forced) {
        WrittenSegment segment =
                new WrittenSegment(
                        new SegmentHeader(WrittenSegment.start(start), first, previousChecksum),
                        1024);
        for (long turn = first; turn <= last; turn++) {
            segment.append(Math.min(forced, turn - 1), "turn " + turn);
        }
        return segment;
    }

    private static Decision decide(long base, long reach, WrittenSegment... segments)
            throws Exception {
        List<SegmentScan> scans = new ArrayList<>();
        for (int index = 0; index < segments.length; index++) {
            scans.add(
                    SegmentScan.scan(
                            WrittenSegment.read(segments[index].file()),
                            index + 1 < segments.length
                                    ? segments[index + 1].header.firstTurn() - 1
                                    : Long.MAX_VALUE));
        }
        return JournalRecovery.decide(
                base, reach, scans, start -> start.birth().equals(WrittenSegment.BIRTH));
    }

    private static void damage(WrittenSegment segment, long turn) {
        int at =
                segment.records.get((int) (turn - segment.header.firstTurn())).offset()
                        + SegmentRecord.HEADER_BYTES;
        segment.bytes.put(at, (byte) ~segment.bytes.get(at));
    }

    private static Decision.Refuse refused(Decision decision) {
        assertThat(decision).isInstanceOf(Decision.Refuse.class);
        return (Decision.Refuse) decision;
    }

    @Test
    void aNewFolderBeginsWithTurnOne() throws Exception {
        assertThat(decide(0, 0)).isEqualTo(new Decision.GoOn(0, 0, Behind.NOTHING, 0, 0));
    }

    @Test
    void whatNothingCallsForcedIsWrittenAgain() throws Exception {
        WrittenSegment only = segment(1, 1, 6, 0, 4);
        assertThat(decide(0, 0, only))
                .isEqualTo(
                        new Decision.GoOn(
                                6,
                                only.lastChecksum(),
                                Behind.ZEROS,
                                only.records.get(4).offset(),
                                only.bytes.position()));
    }

    @Test
    void aTornTailIsCut() throws Exception {
        WrittenSegment only = segment(1, 1, 6, 0, 2);
        damage(only, 4);
        assertThat(decide(0, 0, only))
                .isEqualTo(
                        new Decision.GoOn(
                                3,
                                only.records.get(2).checksum(),
                                Behind.TORN,
                                only.records.get(2).offset(),
                                only.records.get(3).offset()));
    }

    @Test
    void damageThatALaterRecordCallsForcedIsRefused() throws Exception {
        WrittenSegment only = segment(1, 1, 6, 0, 4);
        damage(only, 4);
        Decision.Refuse refused = refused(decide(0, 0, only));
        assertThat(refused.segment()).isEqualTo(1);
        assertThat(refused.offset()).isEqualTo(only.records.get(3).offset());
        assertThat(refused.reason()).contains("turn 4 is damaged", "calls turn 4 synced");
    }

    @Test
    void damageThatALaterSegmentCallsForcedIsRefused() throws Exception {
        WrittenSegment first = segment(1, 1, 6, 0, 0);
        WrittenSegment second = segment(1, 7, 7, first.lastChecksum(), 0);
        damage(first, 6);
        Decision.Refuse refused = refused(decide(0, 0, first, second));
        assertThat(refused.segment()).isEqualTo(1);
        assertThat(refused.offset()).isEqualTo(first.records.get(5).offset());
        assertThat(refused.reason()).contains("turn 6", "begins with turn 7");
    }

    @Test
    void aCutIsNotOverruledByWhatStandsBehindIt() throws Exception {
        WrittenSegment first = segment(1, 1, 6, 0, 0);
        WrittenSegment second = segment(2, 4, 5, first.records.get(2).checksum(), 3);
        assertThat(decide(0, 0, first, second)).isInstanceOf(Decision.GoOn.class);
        assertThat(((Decision.GoOn) decide(0, 0, first, second)).lastTurn()).isEqualTo(5);
    }

    @Test
    void aSegmentBehindAnotherTurnIsRefused() throws Exception {
        WrittenSegment first = segment(1, 1, 6, 0, 0);
        WrittenSegment second = segment(1, 7, 8, first.lastChecksum() + 1, 0);
        Decision.Refuse refused = refused(decide(0, 0, first, second));
        assertThat(refused.segment()).isEqualTo(7);
        assertThat(refused.offset()).isEqualTo(12);
    }

    @Test
    void aMissingSegmentIsRefused() throws Exception {
        WrittenSegment third = segment(1, 7, 8, 0, 0);
        assertThat(refused(decide(0, 0, third)).reason()).contains("turns 1 to 6 are missing");
        assertThat(refused(decide(5, 0, third)).reason()).contains("turns 6 to 6 are missing");
        assertThat(decide(6, 0, third)).isInstanceOf(Decision.GoOn.class);
    }

    @Test
    void anothersSegmentIsRefused() throws Exception {
        List<SegmentScan> scans =
                List.of(
                        SegmentScan.scan(
                                WrittenSegment.read(segment(1, 1, 2, 0, 0).file()),
                                Long.MAX_VALUE));
        assertThat(refused(JournalRecovery.decide(0, 0, scans, start -> false)).reason())
                .contains("written by another folder's start");
    }

    @Test
    void aBaseBehindTheEndOfTheJournalGoesOnFromItself() throws Exception {
        WrittenSegment only = segment(1, 1, 6, 0, 0);
        assertThat(decide(9, 9, only)).isEqualTo(new Decision.GoOn(9, 0, Behind.NOTHING, 0, 0));
    }

    @Test
    void anEmptySegmentIsReplacedByOneBehindTheSameTurn() throws Exception {
        WrittenSegment first = segment(1, 1, 6, 0, 0);
        WrittenSegment empty = segment(2, 7, 6, first.lastChecksum(), 0);
        assertThat(decide(0, 0, first, empty))
                .isEqualTo(new Decision.GoOn(6, first.lastChecksum(), Behind.NOTHING, 0, 0));
    }

    @Test
    void whatADamagedBaseStoodForMustBeInTheJournal() throws Exception {
        WrittenSegment only = segment(1, 1, 6, 0, 0);
        assertThat(decide(2, 6, only)).isInstanceOf(Decision.GoOn.class);
        assertThat(refused(decide(2, 7, only)).reason()).contains("turns 7 to 7 are missing");
        assertThat(refused(decide(2, 7)).reason()).contains("turns 3 to 7 are missing");
    }

    @Test
    void segmentsBeforeTheOneThatABaseNeedsDoNotMatter() {
        assertThat(JournalRecovery.firstNeeded(List.of(1L, 5L, 9L), 0)).isEqualTo(0);
        assertThat(JournalRecovery.firstNeeded(List.of(1L, 5L, 9L), 4)).isEqualTo(1);
        assertThat(JournalRecovery.firstNeeded(List.of(1L, 5L, 9L), 7)).isEqualTo(1);
        assertThat(JournalRecovery.firstNeeded(List.of(1L, 5L, 9L), 8)).isEqualTo(2);
        assertThat(JournalRecovery.firstNeeded(List.of(1L, 5L, 9L), 100)).isEqualTo(2);
        assertThat(JournalRecovery.firstNeeded(List.of(), 3)).isEqualTo(0);
        assertThat(JournalRecovery.firstNeeded(List.of(5L), 3)).isEqualTo(0);
    }
}
