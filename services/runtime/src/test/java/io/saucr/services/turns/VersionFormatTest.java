package io.saucr.services.turns;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.core.speculation.VersionRecord.Bounded;
import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.state.Changes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The records of a group's member are read as they were written, or not at all (D5, D10). */
class VersionFormatTest {

    private static final Passed PASSED = new Passed(8, 12, 14);

    private static final Sealed SEALED =
            new Sealed(7, 12, VersionVector.NONE.with(0, 3).with(31, 1L << 40));

    private static byte[] turns() {
        Change sent =
                new Change.Sent(
                        "hotels",
                        0,
                        Optional.empty(),
                        new Body("Reserve", "room 12".getBytes(UTF_8)));
        return DeltaFormat.bytes(new Delta(40, 3, 1_000, List.of(sent)), Changes.NONE);
    }

    private static VersionFormat.Entry read(byte[] bytes) throws IOException {
        return VersionFormat.read(5, ByteBuffer.wrap(bytes));
    }

    @Test
    void d5AVersionIsReadAsItWasWritten() throws IOException {
        VersionFormat.Entry entry = read(VersionFormat.bytes(SEALED, 40, turns()));
        assertThat(entry.version()).contains(SEALED);
        assertThat(entry.lastTurn()).isEqualTo(40);
        assertThat(entry.turns()).isEqualTo(ByteBuffer.wrap(turns()));
        assertThat(DeltaFormat.read(40, entry.turns()).changes()).hasSize(1);
    }

    @Test
    void d10APassageIsReadAsItWasWritten() throws IOException {
        VersionFormat.Entry entry = read(VersionFormat.bytes(PASSED));
        assertThat(entry.version()).contains(PASSED);
        assertThat(entry.lastTurn()).isZero();
        assertThat(entry.turns().hasRemaining()).isFalse();
    }

    @Test
    void d14ANoteOfWhatIsFinalIsReadAsItWasWritten() throws IOException {
        VersionFormat.Entry entry = read(VersionFormat.bytes(new Bounded(3, 17)));
        assertThat(entry.version()).contains(new Bounded(3, 17));
        assertThat(entry.lastTurn()).isZero();
        assertThat(entry.turns().hasRemaining()).isFalse();
    }

    @Test
    void aTurnFromBeforeTheMembershipStaysATurn() throws IOException {
        VersionFormat.Entry entry = read(turns());
        assertThat(entry.version()).isEmpty();
        assertThat(entry.lastTurn()).isEqualTo(5);
        assertThat(entry.turns()).isEqualTo(ByteBuffer.wrap(turns()));
    }

    @Test
    void aReleaseThatKnowsNoVersionsNamesTheOneThatDoes() {
        byte[] bytes = VersionFormat.bytes(SEALED, 40, turns());
        assertThatThrownBy(() -> DeltaFormat.read(5, ByteBuffer.wrap(bytes)))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("turn 5", "format 2", "release that wrote it");
    }

    @Test
    void aKindOfALaterReleaseIsNamed() {
        byte[] bytes = VersionFormat.bytes(PASSED);
        // The array, the format, then the kind.
        bytes[2] = 9;
        assertThatThrownBy(() -> read(bytes))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("record 5", "kind 9", "release that wrote it");
    }

    @Test
    void whateverBytesThereAreTheyAreARecordOrRefused() {
        Random random = new Random(1);
        int refused = 0;
        for (byte[] whole :
                List.of(
                        VersionFormat.bytes(SEALED, 40, turns()),
                        VersionFormat.bytes(PASSED),
                        VersionFormat.bytes(new Bounded(3, 17)))) {
            for (int end = 0; end < whole.length; end++) {
                byte[] part = new byte[end];
                System.arraycopy(whole, 0, part, 0, end);
                assertThatThrownBy(() -> read(part)).isInstanceOf(IOException.class);
            }
            for (int at = 0; at < whole.length; at++) {
                for (int times = 0; times < 40; times++) {
                    byte[] other = whole.clone();
                    other[at] = (byte) random.nextInt(256);
                    try {
                        read(other);
                    } catch (IOException e) {
                        refused++;
                    }
                }
            }
        }
        assertThat(refused).isGreaterThan(500);
    }
}
