package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.replay.LaneRecord.Choice;
import io.saucr.services.core.replay.LaneRecord.Edge;
import io.saucr.services.core.replay.TurnRecord.Attempt;
import io.saucr.services.core.replay.TurnRecord.Begin;
import io.saucr.services.core.replay.TurnRecord.End;
import io.saucr.services.core.replay.TurnRecord.Own;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A segment's bytes. */
class TraceFormatTest {

    private static final int LAST = TraceFormat.MOST_CLOCK - 1;

    private static final TraceSegment SEGMENT =
            new TraceSegment(
                    Barrier.EPOCH,
                    List.of(4, 9, LAST),
                    List.of(
                            new Attempt(Long.MAX_VALUE),
                            new Begin(2, 1, 3, -5, Long.MIN_VALUE, -1, 8, new byte[] {1, 2}),
                            new End(2, LAST, -1, true, new byte[0]),
                            new Own(new byte[300])),
                    List.of(
                            List.of(
                                    new Edge(4, 65_535, LAST, 2, LAST),
                                    new Edge(4, 0, 0, 2, 1),
                                    new Choice(4, 1),
                                    new Choice(9, Choice.KILLED_BEFORE)),
                            List.of(new Choice(LAST, Choice.KILLED_INSIDE))));

    @Test
    void whatIsEncodedIsDecoded() throws Exception {
        assertThat(TraceFormat.decode(TraceFormat.encode(SEGMENT))).isEqualTo(SEGMENT);
    }

    @Test
    void anEdgeTakesFewBytes() {
        int without = TraceFormat.encode(edges(0)).length;
        assertThat(TraceFormat.encode(edges(100)).length - without).isLessThanOrEqualTo(800);
    }

    private static TraceSegment edges(int count) {
        Random random = new Random(count);
        List<LaneRecord> edges = new ArrayList<>();
        int clock = 1_000_000;
        for (int i = 0; i < count; i++) {
            clock += 1 + random.nextInt(20);
            int resource = random.nextInt(800);
            edges.add(new Edge(clock, resource, random.nextInt(10_000), 2, clock - 15));
        }
        return new TraceSegment(
                Barrier.NONE,
                List.of(0, 2_000_000, 2_000_000),
                List.of(),
                List.of(edges, List.of()));
    }

    @Test
    void bytesThatAreCutOffOrChangedAreRefusedOrRead() {
        byte[] bytes = TraceFormat.encode(SEGMENT);
        for (int length = 0; length < bytes.length; length++) {
            byte[] shorter = Arrays.copyOf(bytes, length);
            assertThatThrownBy(() -> TraceFormat.decode(shorter))
                    .isInstanceOf(BadTraceException.class)
                    .hasMessageContaining("at byte ");
        }
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            byte[] changed = bytes.clone();
            for (int count = 1 + random.nextInt(3); count > 0; count--) {
                changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            }
            try {
                TraceSegment read = TraceFormat.decode(changed);
                assertThat(read.until()).allMatch(it -> it >= 0 && it <= LAST);
            } catch (BadTraceException e) {
                assertThat(e).hasMessageContaining("at byte ");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "2 0 1, 'format 2, this version reads 1'",
        "1 3 1, barrier 3 of 0 to 2",
        "1 255 1, barrier 255 of 0 to 2",
        "1 0 0, lanes: 0 of 1 to 64",
        "1 0 65, lanes: 65 of 1 to 64",
        // The clock 2^30.
        "1 0 1 128 128 128 128 4, clock of a lane: 1073741824 of 0 to 1073741823",
        "1 0 1 0 0 100, records of the turn thread: 100 of 0 to 0",
        "1 0 1 1 0 1 9, a record of kind 9 of 1 to 5",
        "1 0 1 1 0 1 5 0, request: 0 of 1 to 9223372036854775807",
        "1 0 1 1 0 1 4 5, bytes: 5 of 0 to 0",
        "1 0 1 1 1 1 1 1 2, lane: 2 of 1 to 1",
        // Two lanes; an edge of resource 65536; lane 3; clock 0 of another one; a choice.
        "1 0 2 0 9 9 0 1 2 128 128 4, resource: 65536 of 0 to 65535",
        "1 0 2 0 9 9 0 1 2 0 0 3, lane: 3 of 1 to 2",
        "1 0 2 0 9 9 0 1 2 0 0 2 1, an edge from clock 0",
        "1 0 2 0 9 9 0 1 3 5, choice -3",
        "1 0 2 0 9 9 0 1 1 0, clock 0 of 1 to 1073741823",
        "1 0 1 0 0 0 0 0, 1 bytes behind the end",
        "1 0 1 255 255 255 255 255 255 255 255 255 2, a number of more than 64 bits",
    })
    void badBytesAreRefusedByName(String numbers, String message) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (String each : numbers.split(" ")) {
            bytes.write(Integer.parseInt(each));
        }
        assertThatThrownBy(() -> TraceFormat.decode(bytes.toByteArray()))
                .isInstanceOf(BadTraceException.class)
                .hasMessageContaining(message);
    }
}
