package io.saucr.core.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.Zxid;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** R23: what a view is, and how many of its members a recovering server needs to hear. */
class ViewTest {
    private static View of(int voters, long... members) {
        return new View(Zxid.of(1, 5), voters, LongStream.of(members).boxed().toList());
    }

    @Test
    void r23TheFirstViewHasNoSealAndItsQuorumIsTheConfigurations() {
        assertThat(View.FIRST.isFirst()).isTrue();
        assertThat(View.FIRST.includes(1)).isTrue();
        assertThat(of(5, 1, 2, 3, 4).includes(4)).isTrue();
        assertThat(of(5, 1, 2, 3, 4).includes(5)).isFalse();
        assertThat(View.FIRST.seal()).isEqualTo(Zxid.NONE);
        assertThatThrownBy(View.FIRST::answersNeeded)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the configuration's");
        assertThatThrownBy(View.FIRST::encode)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is not written");
    }

    @Test
    void r23AllVotersNeedRAnswersAndEachOneLessOneFewer() {
        assertThat(of(5, 1, 2, 3, 4, 5).answersNeeded())
                .isEqualTo(Quorums.recoveryQuorum(5))
                .isEqualTo(2);
        assertThat(of(5, 1, 2, 3, 4).answersNeeded()).isEqualTo(1);
        assertThat(of(7, 1, 2, 3, 4, 5, 6, 7).answersNeeded())
                .isEqualTo(Quorums.recoveryQuorum(7))
                .isEqualTo(3);
        assertThat(of(7, 1, 2, 3, 4, 5, 6).answersNeeded()).isEqualTo(2);
        assertThat(of(7, 1, 2, 3, 4, 5).answersNeeded()).isEqualTo(1);
        assertThat(of(3, 1, 2, 3).answersNeeded()).isEqualTo(1);
        assertThat(of(4, 1, 2, 3, 4).answersNeeded()).isEqualTo(1);
    }

    @Test
    void r23AViewOfABareMajorityNeedsOneAnswerForNothingIsAckedFromMemoryInIt() {
        assertThat(of(5, 1, 2, 3).answersNeeded()).isEqualTo(1);
        assertThat(of(3, 1, 2).answersNeeded()).isEqualTo(1);
        assertThat(of(7, 1, 2, 3, 4).answersNeeded()).isEqualTo(1);
    }

    @Test
    void r23ASealThatWasCutFromTheLogIsNotNamed() {
        View view = of(5, 1, 2, 3, 4);
        assertThat(view.sealIn(Zxid.of(1, 4))).isEqualTo(Zxid.NONE);
        assertThat(view.sealIn(Zxid.of(1, 5))).isEqualTo(view.seal());
        assertThat(view.sealIn(Zxid.of(2, 1))).isEqualTo(view.seal());
        assertThat(View.FIRST.sealIn(Zxid.of(1, 5))).isEqualTo(Zxid.NONE);
    }

    @Test
    void r23OnlyANewerSealMakesAViewOlderAndTheFirstIsOlderThanNone() {
        View view = of(5, 1, 2, 3, 4);
        assertThat(view.isOlderThan(Zxid.of(1, 6))).isTrue();
        assertThat(view.isOlderThan(Zxid.of(1, 5))).isFalse();
        assertThat(view.isOlderThan(Zxid.of(1, 4))).isFalse();
        assertThat(view.isOlderThan(Zxid.NONE)).isFalse();
        assertThat(View.FIRST.isOlderThan(Zxid.of(1, 5))).isFalse();
    }

    @Test
    void membersAreSortedAndEachStandsOnce() {
        View view = new View(0x10000001aL, 5, List.of(3L, 1L, 2L, 1L));
        assertThat(view.members()).containsExactly(1L, 2L, 3L);
        assertThat(view.isFirst()).isFalse();
        assertThat(view).isEqualTo(new View(0x10000001aL, 5, List.of(1L, 2L, 3L)));
        assertThat(view.encode()).isEqualTo("10000001a;5;1,2,3");
    }

    @Test
    void whatIsNoViewIsRefused() {
        assertThatThrownBy(() -> new View(0, 3, List.of(1L, 2L)))
                .hasMessage("a view's seal is above 0, not 0");
        assertThatThrownBy(() -> new View(-1, 3, List.of(1L, 2L)))
                .hasMessage("a view's seal is above 0, not -1");
        assertThatThrownBy(() -> new View(0, 0, List.of(1L)))
                .hasMessage("a view's seal is above 0, not 0");
        assertThatThrownBy(() -> of(5, 1, 2))
                .hasMessage("a view of 5 voters has 3 to 5 members, not 2");
        assertThatThrownBy(() -> of(5, 1, 1, 2))
                .hasMessage("a view of 5 voters has 3 to 5 members, not 2");
        assertThatThrownBy(() -> of(3, 1, 2, 3, 4))
                .hasMessage("a view of 3 voters has 2 to 3 members, not 4");
        assertThatThrownBy(() -> of(0)).hasMessage("a view is of 1 to 255 voters, not 0");
        assertThatThrownBy(() -> of(256)).hasMessage("a view is of 1 to 255 voters, not 256");
    }

    @Test
    void aTextThatIsNoViewSaysWhatAndWhere() {
        assertMalformed("", "view: expected a zxid in hex at character 0, found ''");
        assertMalformed("1a", "view: expected ';' at character 2, found the end");
        assertMalformed("1A;3;1,2", "view: expected ';' at character 1, found 'A'");
        assertMalformed("01;3;1,2", "view: expected a zxid in hex at character 0, found '01'");
        assertMalformed("1a;0;1", "view: expected 1 to 255 voters at character 3, found 0");
        assertMalformed("1a;256;1", "view: expected 1 to 255 voters at character 3, found 256");
        assertMalformed("1a;-3;1", "view: expected 1 to 255 voters at character 3, found -3");
        assertMalformed("1a;3;", "view: expected a server id at character 5, found ''");
        assertMalformed("1a;3;1,", "view: expected a server id at character 7, found ''");
        assertMalformed(
                "1a;3;1,1", "view: expected server ids, ascending at character 7, found id 1");
        assertMalformed(
                "1a;3;1,2,3,4", "view: expected at most 3 members at character 11, found one more");
        assertMalformed("1a;3;1,2 ", "view: expected the end at character 8, found ' '");
        assertMalformed("0;3;1,2", "view: expected a zxid above 0 at character 0, found 0");
        assertMalformed("1a;3;1", "view: expected at least 2 members at character 6, found 1");
        assertMalformed(
                "1".repeat(View.MAX_ENCODED_LENGTH + 1),
                "view of "
                        + (View.MAX_ENCODED_LENGTH + 1)
                        + " characters, at most "
                        + View.MAX_ENCODED_LENGTH
                        + " are allowed");
    }

    private static void assertMalformed(String text, String message) {
        assertThatThrownBy(() -> View.decode(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }
}
