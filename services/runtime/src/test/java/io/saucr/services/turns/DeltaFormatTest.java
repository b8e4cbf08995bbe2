package io.saucr.services.turns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Count;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Epochs;
import io.saucr.services.core.Input;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
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
                    new Change.EpochBegan(new Epochs.Begun(3, 17)),
                    new Change.Withdrawn("shop", 5),
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
                    new Change.At(1_600_000_000_000L),
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
                    new Change.ReturningIs(4, 9, "shop", 6, 8, true, "gone"),
                    new Change.ReturningIs(4, 11, "shop", 8, 9, false, "nobody has that name"),
                    new Change.PairRefused("shop", BIRTH, "declared gone"),
                    new Change.GivenUp("shop", "never there"),
                    new Change.BornAnew(BIRTH, new Birth(3, 3), "a backup"),
                    new Change.BornAs(new Birth(3, 3), List.of(new Change.Former(BIRTH, 4))),
                    new Change.NumbersUpTo(1, 2, 3),
                    new Change.OutputIs(4, BODY),
                    new Change.ReturnIs(5, new Input.Returned("shop", 6, true, "gone", BODY)),
                    new Change.ParkedIs(6, "shop", "poison", BODY),
                    new Change.ParkedReturnIs(6, BACK));

    /** What the release before new births wrote for its kinds, each of them at least once. */
    private static final String EARLIER =
            "982301031b0000018bcfe568004209089f016473686f70f53b7fffffffffffffff070503"
                    + "20ff9f026473686f70ff9f036473686f703b7fffffffffffffff0764676f6e65ff9f0464"
                    + "73686f70050320ff9f056473686f70050320ff9f066473686f700473776567656e20c39c"
                    + "62657266c3bc6c6c756e67685472616e7366657243010203ff9f066473686f7000f66854"
                    + "72616e7366657243010203ff9f07081b7fffffffffffffff685472616e73666572430102"
                    + "03ff9f0808ff9f0909ff9f0a645469636b0102ff9f0b645469636bff9f0c685472616e73"
                    + "66657243010203ff9f0d03ff9f0e04ff9f0f6473686f706a34205472616e7366657202ff"
                    + "9f106473686f7066706f69736f6e685472616e7366657243010203ff9f18286473686f70"
                    + "66706f69736f6e6462616e6b04f56d6465636c6172656420676f6e65685472616e736665"
                    + "7243010203ff9f182909ff9f1101ff9f126473686f7006ff9f136473686f7006ff9f1464"
                    + "73686f70f4f53b7fffffffffffffff07f505032000000005032001091903e8023b7fffff"
                    + "ffffffffff07010101010402011907d000f6685472616e7366657243010203011907d107"
                    + "73776567656e20c39c62657266c3bc6c6c756e67685472616e7366657243010203ff9f14"
                    + "636e6577f4f4f4000000000000000000000000000000ff9f1819636e65770318281903e8"
                    + "0205070201020603ff9f181a04096473686f70060864676f6e65ff9f15010203ff9f1604"
                    + "685472616e7366657243010203ff9f17056473686f7006f564676f6e65685472616e7366"
                    + "657243010203ff9f1818066473686f7066706f69736f6e685472616e7366657243010203"
                    + "ff9f182a066462616e6b04f56d6465636c6172656420676f6e65685472616e7366657243"
                    + "010203ff";

    /** Kinds, or forms of them, that it did not know. */
    private static boolean isLater(Change change) {
        return change instanceof Change.EpochBegan
                || change instanceof Change.Withdrawn
                || change instanceof Change.PairRefused
                || change instanceof Change.GivenUp
                || change instanceof Change.BornAnew
                || change instanceof Change.BornAs
                || change instanceof Change.At
                || (change instanceof Change.ReturningIs it && !it.perhaps());
    }

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
    void whatAnEarlierReleaseWroteIsRead() throws Exception {
        byte[] earlier = HexFormat.of().parseHex(EARLIER);
        List<Change> known = ALL.stream().filter(it -> !isLater(it)).toList();
        Delta again = read(earlier);
        assertThat(again.changes()).hasToString(known.toString());
        // It reads what this one writes, too, as long as there is nothing new in it.
        assertThat(bytes(new Delta(12, 3, 1_700_000_000_000L, new byte[] {9, 8}, known)))
                .isEqualTo(earlier);
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
