package io.saucr.services.core.speculation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.head.Head.UnreadableHeadException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The text of a group's head (D8). */
class GroupHeadTest {

    private static final Birth BIRTH = new Birth(1, 2);

    private static GroupHead.Member member(String name, long cut) {
        return new GroupHead.Member(name, BIRTH, cut, OptionalLong.empty());
    }

    private static final GroupHead HEAD =
            new GroupHead(7, 255, 1, "host:1", 3, List.of(member("trips", 4), member("hotels", 0)))
                    .left(0, 9, VersionVector.NONE);

    private static final String TEXT =
            "saucr-group-head 1 epoch=7 nonce=00000000000000ff leader=1 at=host:1 world=3"
                    + " members=trips:00000000000000010000000000000002:4:left=9,"
                    + "hotels:00000000000000010000000000000002:0\n";

    @Test
    void isOneLineThatIsReadAgain() throws Exception {
        assertThat(HEAD.encode()).asString(StandardCharsets.UTF_8).isEqualTo(TEXT);
        assertThat(GroupHead.decode(HEAD.encode())).isEqualTo(HEAD);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "saucr-group-head 1|saucr-group-head 2|not \"saucr-group-head 1",
                "epoch=7|epoch=0|not \"saucr-group-head 1",
                "epoch=7|epoch=9999999999999999999|9999999999999999999",
                "leader=1|leader=2|led by 2",
                ":4:|:x:|is no member",
                "left=9|left=3|left at",
                "left=9|left=9:final=8|final up to 8",
                "left=9|left=9:gone=0|is no member",
                "hotels|trips|is a member twice",
                "hotels|a b|not \"saucr-group-head 1",
            })
    void anythingElseIsRefusedWithWhatStandsThere(String part, String other, String reason) {
        byte[] content = TEXT.replace(part, other).getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> GroupHead.decode(content))
                .isInstanceOf(UnreadableHeadException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void whatIsTooLongOrNoTextIsRefused() {
        assertThatThrownBy(() -> GroupHead.decode(new byte[GroupHead.LARGEST_BYTES + 1]))
                .hasMessageContaining("bytes");
        assertThatThrownBy(() -> GroupHead.decode(new byte[] {(byte) 0xff}))
                .hasMessageContaining("it is no text");
    }

    @Test
    void d13AMemberThatJoinsLacksNothing() throws Exception {
        GroupHead first = GroupHead.first("trips", BIRTH, 0, 255, "host:1");
        assertThat(first.floor()).isEqualTo(VersionVector.NONE);
        GroupHead both = first.joined("hotels", new Birth(3, 4), 0);
        assertThat(GroupHead.decode(both.encode())).isEqualTo(both);
        assertThat(both.indexOf("hotels")).hasValue(1);
        assertThat(both.members().get(1).left()).hasValue(0);
        assertThatThrownBy(() -> both.joined("trips", BIRTH, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("trips is a member twice");
        GroupHead full = first;
        while (full.members().size() < GroupHead.MOST_MEMBERS) {
            full = full.joined("m" + full.members().size(), BIRTH, 0);
        }
        GroupHead last = full;
        assertThatThrownBy(() -> last.joined("more", BIRTH, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("33 members, at most 32");
    }

    @Test
    void d19WhatWasFinalWhenAMemberLeftStaysKnownUntilADecision() throws Exception {
        GroupHead noted = HEAD.left(0, 9, VersionVector.of(9, 5));
        assertThat(noted.encode())
                .asString(StandardCharsets.UTF_8)
                .contains("trips:00000000000000010000000000000002:4:left=9,")
                .endsWith("hotels:00000000000000010000000000000002:0:final=5\n");
        assertThat(GroupHead.decode(noted.encode())).isEqualTo(noted);
        assertThat(noted.floor()).isEqualTo(VersionVector.of(9, 5));
        assertThat(noted.decision()).isEqualTo(HEAD.decision());
        assertThat(noted.decided(VersionVector.of(9, 5)).encode())
                .asString(StandardCharsets.UTF_8)
                .endsWith("hotels:00000000000000010000000000000002:5\n");
    }

    @Test
    void d19AMemberThatIsGivenUpStaysSoAndItsNameIsFree() throws Exception {
        GroupHead gone = HEAD.givenUp(1, 77);
        assertThat(gone.encode())
                .asString(StandardCharsets.UTF_8)
                .startsWith("saucr-group-head 1 epoch=8 nonce=000000000000004d leader=1 at=host:1 ")
                .endsWith("hotels:00000000000000010000000000000002:0:gone=3\n");
        assertThat(GroupHead.decode(gone.encode())).isEqualTo(gone);
        assertThat(gone.isDue()).isTrue();
        assertThat(gone.decided(VersionVector.of(9)).isDue()).isFalse();
        assertThat(gone.decided(VersionVector.of(9)).members().get(1).isGone()).isTrue();
        assertThatThrownBy(() -> gone.givenUp(1, 78))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("hotels was given up before");
        assertThat(gone.indexOf("hotels")).hasValue(1);
        GroupHead again = gone.joined("hotels", new Birth(3, 4), 0);
        assertThat(again.indexOf("hotels")).hasValue(2);
        assertThat(GroupHead.decode(again.encode())).isEqualTo(again);
        assertThatThrownBy(() -> again.joined("hotels", BIRTH, 0))
                .hasMessage("hotels is a member twice");
        // Its place is not free.
        GroupHead full = gone;
        while (full.members().size() < GroupHead.MOST_MEMBERS) {
            full = full.joined("m" + full.members().size(), BIRTH, 0);
        }
        GroupHead last = full;
        assertThatThrownBy(() -> last.joined("more", BIRTH, 0)).hasMessageContaining("at most 32");
    }

    @Test
    void onlyTheCutSaysWhatSurvivedADecision() {
        assertThat(HEAD.decision()).isEqualTo(new Decision(3, VersionVector.of(4)));
        assertThat(HEAD.floor()).isEqualTo(VersionVector.of(9));
        assertThat(HEAD.admitted(0).decision()).isEqualTo(HEAD.decision());
        assertThat(HEAD.admitted(0).floor()).isEqualTo(VersionVector.of(9));
        assertThat(HEAD.decided(VersionVector.of(9)).floor()).isEqualTo(VersionVector.of(9));
    }
}
