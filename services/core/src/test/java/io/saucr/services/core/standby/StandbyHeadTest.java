package io.saucr.services.core.standby;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.head.Head;
import io.saucr.services.core.standby.StandbyHead.Copies;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is written is read; whatever else stands in the znode is refused by name. */
class StandbyHeadTest {

    private static final String A = "000000000000000a";
    private static final String B = "000000000000000b";
    private static final String DIGEST = "0123456789abcdef".repeat(4);

    private static final StandbyHead HEAD =
            new StandbyHead(
                    new Incarnation(new Birth(1, 2), 7, 255),
                    A,
                    "host-1:2190",
                    new SegmentId(6, 41, DIGEST),
                    1234,
                    new TreeSet<>(List.of(B, A)),
                    Copies.FORCED,
                    Optional.empty(),
                    Optional.empty());

    private static final String LINE =
            "saucr-standby-head 1 birth=00000000000000010000000000000002 epoch=7"
                    + " nonce=00000000000000ff member="
                    + A
                    + " at=host-1:2190 segment=6.41."
                    + DIGEST
                    + " turn=1234 holders="
                    + A
                    + ","
                    + B
                    + " copies=forced\n";

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void anOperatorCanReadIt() throws Exception {
        assertThat(new String(HEAD.encode(), StandardCharsets.UTF_8)).isEqualTo(LINE);
        assertThat(StandbyHead.decode(bytes(LINE))).isEqualTo(HEAD);
    }

    @Property(tries = 200)
    void whatWasWrittenIsRead(
            @ForAll long high,
            @ForAll long nonce,
            @ForAll @LongRange(min = 1) long epoch,
            @ForAll @LongRange(min = 1) long number,
            @ForAll @LongRange(min = 0) long turn,
            @ForAll @IntRange(min = 1, max = 20) int holders,
            @ForAll Copies copies,
            @ForAll boolean handed,
            @ForAll boolean replaced,
            @ForAll @IntRange(max = 64) int lanes)
            throws Exception {
        TreeSet<String> names = new TreeSet<>();
        for (int i = 0; i < holders; i++) {
            names.add(String.format("%016x", high + i));
        }
        StandbyHead head =
                new StandbyHead(
                        new Incarnation(new Birth(high, nonce), epoch, nonce),
                        names.first(),
                        "[::1]:65535",
                        new SegmentId(epoch, number, DIGEST),
                        turn,
                        names,
                        copies,
                        handed ? Optional.of(names.last()) : Optional.empty(),
                        replaced
                                ? Optional.of(
                                        new Replaced(
                                                new Birth(~high, nonce),
                                                new SegmentId(epoch, number, DIGEST)))
                                : Optional.empty(),
                        lanes == 0
                                ? Optional.empty()
                                : Optional.of(new LaneCode(lanes, "a-" + lanes)));

        assertThat(StandbyHead.decode(head.encode())).isEqualTo(head);
        assertThat(StandbyHead.isOne(head.encode())).isTrue();
    }

    private static final StandbyHead TRACE =
            new StandbyHead(
                    HEAD.holder(),
                    HEAD.member(),
                    HEAD.at(),
                    HEAD.segment(),
                    HEAD.turn(),
                    HEAD.holders(),
                    HEAD.copies(),
                    Optional.of(B),
                    Optional.empty(),
                    Optional.of(new LaneCode(8, "6f-1.2")));

    @Test
    void x17AHeadOfATraceNamesLanesAndCodeInFormatTwo() throws Exception {
        String line =
                LINE.replace("head 1", "head 2")
                        .replace("forced", "forced lanes=8 code=6f-1.2 successor=" + B);
        assertThat(new String(TRACE.encode(), StandardCharsets.UTF_8)).isEqualTo(line);
        assertThat(StandbyHead.decode(bytes(line))).isEqualTo(TRACE);
        StandbyHead next =
                TRACE.naming(new SegmentId(7, 42, DIGEST), 9, HEAD.holders(), Copies.ALONE);
        assertThat(next.lanes()).isEqualTo(TRACE.lanes());
        assertThat(TRACE.handedTo(A).lanes()).isEqualTo(TRACE.lanes());
    }

    /** What is left out or changed, and what the refusal says. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "head 2 | head 1 | not \"saucr-standby-head 1 birth=",
                "head 2 | head 3 | format 3, and this release reads formats 1 and 2",
                "lanes=8 | lanes=0 | it says",
                "lanes=8 | lanes=65 | there are 1 to 64 lanes, not 65",
                "lanes=8 | lanes= | it says",
                "code=6f-1.2 | code= | it says",
                "code=6f-1.2 | code=a/b | it says",
            })
    void x17AHeadOfATraceThatSaysAnythingElseIsRefusedByName(
            String part, String instead, String says) {
        String line = new String(TRACE.encode(), StandardCharsets.UTF_8);
        assertThat(line).contains(part);
        assertThatThrownBy(() -> StandbyHead.decode(bytes(line.replace(part, instead))))
                .isInstanceOf(Head.UnreadableHeadException.class)
                .hasMessageContaining(says);
    }

    @Test
    void x17ACodeHasUpTo64Characters() {
        assertThat(new LaneCode(1, "a".repeat(64)))
                .hasToString("code " + "a".repeat(64) + " in 1 lane");
        assertThatThrownBy(() -> new LaneCode(1, "a".repeat(65))).hasMessageContaining("1 to 64");
        assertThatThrownBy(() -> new LaneCode(1, "")).hasMessageContaining("not \"\"");
        assertThatThrownBy(() -> new LaneCode(0, "a")).hasMessageContaining("not 0");
    }

    @Test
    void theFirstHeadNamesNoSegment() throws Exception {
        StandbyHead first =
                new StandbyHead(
                        new Incarnation(new Birth(1, 2), 1, 3),
                        A,
                        "h:1",
                        SegmentId.NONE,
                        0,
                        new TreeSet<>(List.of(A)),
                        Copies.ALONE,
                        Optional.empty(),
                        Optional.empty());

        assertThat(StandbyHead.decode(first.encode())).isEqualTo(first);
    }

    @Property(tries = 300)
    void anyOtherBytesAreRefused(@ForAll byte[] content) {
        assertThatThrownBy(() -> StandbyHead.decode(content))
                .isInstanceOf(Head.UnreadableHeadException.class);
    }

    /** Every byte of a head that is changed gives another head or a refusal, never a crash. */
    @Property(tries = 1000)
    void aGarbledHeadIsAnotherOneOrRefused(
            @ForAll @IntRange(min = 0, max = 300) int place, @ForAll byte instead) {
        byte[] content = HEAD.encode();
        content[place % content.length] = instead;
        try {
            StandbyHead read = StandbyHead.decode(content);
            assertThat(StandbyHead.decode(read.encode())).isEqualTo(read);
        } catch (Head.UnreadableHeadException e) {
            assertThat(e).hasMessageStartingWith("it ");
        }
    }

    /** What is left out or changed, and what the refusal says. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "saucr-standby-head 1 | saucr-standby-head 2 | birth=... epoch=... lanes=... code=...",
                "saucr-standby-head 1 | saucr-standby-head 3 | this release reads formats 1 and 2",
                "saucr-standby-head 1 | saucr-standby-head 0 | not \"saucr-standby-head 1 birth=",
                "copies=forced | copies=forced lanes=8 code=a | not \"saucr-standby-head 1 birth=",
                "saucr-standby-head 1 | saucr-service-head 1 | not \"saucr-standby-head 1 birth=",
                "epoch=7 | epoch=0 | it says",
                "epoch=7 | epoch=9999999999999999999 | 9999999999999999999",
                "epoch=7 | epoch=5 | do not fit",
                "segment=6.41. | segment=0.41. | numbered from 1",
                "segment=6.41. | segment=6.0. | numbered from 1",
                "segment=6.41. | segment=6.41.0 | it says",
                "turn=1234 | turn=-1 | it says",
                "turn=1234 | turn=9999999999999999999 | 9999999999999999999",
                "at=host-1:2190 | at= | it says",
                "holders=000000000000000a,000000000000000b | holders=000000000000000a, | it says",
                "holders=000000000000000a,000000000000000b | holders= | it says",
                "holders=000000000000000a, | holders=a, | it says",
                "copies=forced | copies=many | it says",
                "copies=forced | copies=forced successor=b | it says",
                "copies=forced | copies=forced replaces=1 | it says",
                "copies=forced | copies=forced replaces=00000000000000000000000000000001 | it says",
                "member=000000000000000a | member=00000000000000A0 | it says"
            })
    void aHeadThatSaysAnythingElseIsRefusedByName(String part, String instead, String says) {
        assertThat(LINE).contains(part);
        assertThatThrownBy(() -> StandbyHead.decode(bytes(LINE.replace(part, instead))))
                .isInstanceOf(Head.UnreadableHeadException.class)
                .hasMessageContaining(says);
    }

    @Test
    void whatWasReplacedIsAnotherBirthUpToASegmentThatIsThere() {
        for (String former :
                List.of(
                        "00000000000000010000000000000002.6.41.",
                        "00000000000000010000000000000003.6.42.")) {
            String line = LINE.strip() + " replaces=" + former + DIGEST + "\n";
            assertThatThrownBy(() -> StandbyHead.decode(bytes(line)))
                    .isInstanceOf(Head.UnreadableHeadException.class)
                    .hasMessageContaining("does not continue");
        }
    }

    @Test
    void segmentsUpToTheLossAreOfTheFormerBirth() {
        Replaced former = new Replaced(new Birth(9, 9), new SegmentId(5, 40, DIGEST));
        StandbyHead head =
                new StandbyHead(
                        HEAD.holder(),
                        HEAD.member(),
                        HEAD.at(),
                        HEAD.segment(),
                        HEAD.turn(),
                        HEAD.holders(),
                        HEAD.copies(),
                        Optional.empty(),
                        Optional.of(former));
        assertThat(head.birthOf(40)).isEqualTo(former.birth());
        assertThat(head.birthOf(41)).isEqualTo(HEAD.holder().birth());
        assertThat(HEAD.birthOf(1)).isEqualTo(HEAD.holder().birth());
    }

    @Test
    void anEndThatIsMissingOrTwofoldIsRefused() {
        assertThatThrownBy(() -> StandbyHead.decode(bytes(LINE.strip())))
                .isInstanceOf(Head.UnreadableHeadException.class);
        assertThatThrownBy(() -> StandbyHead.decode(bytes(LINE + LINE)))
                .isInstanceOf(Head.UnreadableHeadException.class);
    }

    @Test
    void whatIsTooLongOrNoTextIsNotLookedAt() {
        assertThatThrownBy(() -> StandbyHead.decode(new byte[5000]))
                .hasMessageContaining("5000 bytes, a head at most 4096");
        assertThatThrownBy(() -> StandbyHead.decode(new byte[] {-1, -1}))
                .hasMessageContaining("no text, but 2 bytes");
    }

    @Test
    void aHeadOfThisKindIsToldFromAnother() {
        assertThat(StandbyHead.isOne(bytes("saucr-standby-head 9 of tomorrow"))).isTrue();
        assertThat(StandbyHead.isOne(new Head(HEAD.holder()).encode())).isFalse();
        assertThat(StandbyHead.isOne(new byte[0])).isFalse();
    }

    @Test
    void whatCannotBeWrittenIsNotMade() {
        Incarnation holder = HEAD.holder();
        TreeSet<String> holders = new TreeSet<>(List.of(A));
        assertThatThrownBy(() -> head(holder, "A", "h:1", 1, holders, Optional.empty()))
                .hasMessageContaining("16 hex digits: A");
        assertThatThrownBy(() -> head(holder, A, "h:1", 1, new TreeSet<>(), Optional.empty()))
                .hasMessageContaining("16 hex digits");
        assertThatThrownBy(() -> head(holder, A, "h:1", 1, holders, Optional.of("b")))
                .hasMessageContaining("Optional[b]");
        assertThatThrownBy(() -> head(holder, A, "h 1", 1, holders, Optional.empty()))
                .hasMessageContaining("host:port, not \"h 1\"");
        assertThatThrownBy(() -> head(holder, A, "h:1", -1, holders, Optional.empty()))
                .hasMessageContaining("turn -1");
    }

    private static StandbyHead head(
            Incarnation holder,
            String member,
            String at,
            long turn,
            SortedSet<String> holders,
            Optional<String> successor) {
        return new StandbyHead(
                holder,
                member,
                at,
                SegmentId.NONE,
                turn,
                holders,
                Copies.FORCED,
                successor,
                Optional.empty());
    }

    @Test
    void aSegmentIsNamedFromOneOn() {
        assertThatThrownBy(() -> new SegmentId(1, 0, DIGEST)).hasMessageContaining("not 0, 1");
        assertThatThrownBy(() -> new SegmentId(0, 1, DIGEST)).hasMessageContaining("not 1, 0");
        assertThatThrownBy(() -> new SegmentId(1, 1, "0A")).hasMessageContaining("\"0A\"");
        assertThat(new SegmentId(6, 41, DIGEST)).hasToString("41 of epoch 6 (01234567)");
    }
}
