package io.saucr.services.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Count;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Input;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a turn did, as bytes and back. */
class DeltaFormatTest {

    private static final Birth BIRTH = new Birth(Long.MIN_VALUE, 7);
    private static final Count COUNT = new Count(5, 3, -1);
    private static final Body BODY = new Body("Transfer", new byte[] {1, 2, 3});
    private static final Optional<String> WHY = Optional.of("wegen Überfüllung");

    private static final Input.Returned BACK =
            new Input.Returned("bank", 4, true, "declared gone", BODY);

    /** Each kind at least once; a kind that is missing here has no bytes. */
    private static final List<Change> ALL =
            List.of(
                    new Change.PairOpened("shop", true, BIRTH, COUNT),
                    new Change.PairKnown("shop"),
                    new Change.PairOver("shop", BIRTH, "gone"),
                    new Change.Consumed("shop", COUNT),
                    new Change.Acked("shop", COUNT),
                    new Change.Sent("shop", 4, WHY, BODY),
                    new Change.Sent("shop", 0, Optional.empty(), BODY),
                    new Change.TimerSet(8, Long.MAX_VALUE, BODY),
                    new Change.TimerGone(8),
                    new Change.TimersUpTo(9),
                    new Change.RepeatDue("Tick", 1, 2),
                    new Change.RepeatGone("Tick"),
                    new Change.OutputMade(BODY),
                    new Change.OutputDone(3),
                    new Change.ReturnTaken(4),
                    new Change.Tried("shop", "4 Transfer", 2),
                    new Change.Parked("shop", "poison", BODY),
                    new Change.ReturnParked("shop", "poison", BACK),
                    new Change.ReturnAgain(9),
                    new Change.ParkedGone(1),
                    new Change.Waits("shop", 6),
                    new Change.Answered("shop", 6),
                    new Change.PeerIs(
                            "shop",
                            false,
                            Optional.of(BIRTH),
                            true,
                            COUNT,
                            Count.NONE,
                            COUNT,
                            1,
                            9,
                            1_000,
                            List.of(BIRTH, new Birth(1, 1)),
                            List.of(new Change.Range(1, 4)),
                            List.of(
                                    new Change.Unacked(1, 2_000, 0, Optional.empty(), BODY),
                                    new Change.Unacked(1, 2_001, 7, WHY, BODY))),
                    new Change.PeerIs(
                            "new",
                            false,
                            Optional.empty(),
                            false,
                            Count.NONE,
                            Count.NONE,
                            Count.NONE,
                            0,
                            0,
                            0,
                            List.of(),
                            List.of(),
                            List.of()),
                    new Change.InFiles(
                            "new",
                            3,
                            40,
                            1_000,
                            List.of(5L, 7L),
                            List.of(new Change.Start(1, 2), new Change.Start(6, 3))),
                    new Change.ReturningIs(4, 9, "shop", 6, 8, "gone"),
                    new Change.NumbersUpTo(1, 2, 3),
                    new Change.OutputIs(4, BODY),
                    new Change.ReturnIs(5, new Input.Returned("shop", 6, true, "gone", BODY)),
                    new Change.ParkedIs(6, "shop", "poison", BODY),
                    new Change.ParkedReturnIs(6, BACK));

    private static byte[] bytes(Delta delta) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        DeltaFormat.write(delta, out);
        return out.toByteArray();
    }

    private static Delta read(byte[] bytes) throws IOException {
        return DeltaFormat.read(12, new ByteArrayInputStream(bytes));
    }

    @Test
    void eachKindOfChangeIsWrittenAndRead() throws Exception {
        assertThat(ALL.stream().map(Object::getClass).distinct().count())
                .isEqualTo(kindsOfChanges());
        Delta delta = new Delta(12, 3, 1_700_000_000_000L, new byte[] {9, 8}, ALL);
        Delta again = read(bytes(delta));
        assertThat(again.turn()).isEqualTo(12);
        assertThat(again.incarnation()).isEqualTo(3);
        assertThat(again.nowMillis()).isEqualTo(1_700_000_000_000L);
        assertThat(again.state()).containsExactly(9, 8);
        assertThat(again.changes()).hasToString(ALL.toString());
        assertThat(bytes(again)).isEqualTo(bytes(delta));
    }

    @Test
    void aMessageInAFileIsWrittenAndRead() throws Exception {
        Change.Unacked message = new Change.Unacked(1, 2_001, 7, WHY, BODY);
        byte[] bytes = DeltaFormat.message(message);
        assertThat(DeltaFormat.message(bytes)).hasToString(message.toString());
        for (int length = 0; length < bytes.length; length++) {
            byte[] part = Arrays.copyOf(bytes, length);
            assertThatThrownBy(() -> DeltaFormat.message(part)).isInstanceOf(IOException.class);
        }
    }

    private static long kindsOfChanges() {
        return Arrays.stream(Change.class.getPermittedSubclasses()).count();
    }

    @Test
    void damagedBytesAreRefusedAndNothingElse() throws Exception {
        byte[] bytes = bytes(new Delta(12, 3, 5, new byte[] {9, 8}, ALL));
        Random random = new Random(1);
        for (int run = 0; run < 20_000; run++) {
            byte[] damaged = bytes.clone();
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            }
            if (random.nextInt(4) == 0) {
                damaged = Arrays.copyOf(damaged, random.nextInt(damaged.length));
            }
            try {
                Delta unused = read(damaged);
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("turn 12");
            }
        }
    }

    @Test
    void aLaterReleasesBytesAreNamed() throws Exception {
        byte[] bytes = bytes(new Delta(12, 3, 5, new byte[0], List.of()));
        bytes[1] = 2;
        assertThatThrownBy(() -> read(bytes))
                .isInstanceOf(IOException.class)
                .hasMessage(
                        "turn 12 is of format 2, and this release reads 1: start the release that"
                                + " wrote it");
    }
}
