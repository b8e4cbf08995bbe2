package io.saucr.crash.campaign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Sequences, their generation, and what memory alone makes of them. */
class SequenceTest {
    @Test
    void thePapersExampleReadsAndWritesAsItself() throws Exception {
        String text = "12345>345>45>1245>1>13>12345";
        Sequence sequence = Sequence.parse(text);
        assertThat(sequence).hasToString(text);
        assertThat(sequence.servers()).isEqualTo(5);
        ObjectMapper json = new ObjectMapper();
        assertThat(json.writeValueAsString(sequence)).isEqualTo("\"" + text + "\"");
        assertThat(json.readValue("\"" + text + "\"", Sequence.class)).isEqualTo(sequence);
    }

    @Test
    void aSequenceSeveralTimesOver() {
        assertThat(Sequence.parse("123>->123").times(3)).hasToString("123>->123>->123>->123");
        assertThat(Sequence.parse("123>12>123").times(1)).hasToString("123>12>123");
    }

    @Test
    void whatIsNoSequenceIsRefusedWithTheReason() {
        assertThatThrownBy(() -> Sequence.parse("123")).hasMessageContaining("no fault");
        assertThatThrownBy(() -> Sequence.parse("123>12>12>123")).hasMessageContaining("step 2");
        assertThatThrownBy(() -> Sequence.parse("123>12>13>123")).hasMessageContaining("step 2");
        assertThatThrownBy(() -> Sequence.parse("123>12>1")).hasMessageContaining("end");
        assertThatThrownBy(() -> Sequence.parse("123>21>123")).hasMessageContaining("ascending");
        assertThatThrownBy(() -> Sequence.parse("12>1>12")).hasMessageContaining("3 to 9");
    }

    @Property(tries = 50)
    void theSameSeedGivesTheSameSequences(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int count) {
        List<Sequence> sequences = new SequenceGenerator(5, seed).generate(count);
        assertThat(sequences).hasSize(count).doesNotHaveDuplicates();
        assertThat(new SequenceGenerator(5, seed).generate(count + 3))
                .startsWith(sequences.toArray(Sequence[]::new));
        for (Sequence sequence : sequences) {
            assertThat(Sequence.parse(sequence.toString())).isEqualTo(sequence);
        }
    }

    @Test
    void smallDifferencesAndShortPathsAreMoreLikely() {
        int one = 0;
        int four = 0;
        for (Sequence sequence : new SequenceGenerator(5, 7).generate(300)) {
            int lost = sequence.states().get(0).without(sequence.states().get(1)).size();
            one += lost == 1 ? 1 : 0;
            four += lost == 4 ? 1 : 0;
        }
        // Both have five children each; the weights differ by a factor of eight.
        assertThat(one).isGreaterThan(3 * four);
    }

    @Test
    void aLossFromMemoryNeedsAMajorityThatForgot() {
        assertThat(lossPossible("123>12>123")).isFalse();
        assertThat(lossPossible("123>12>123>23>123>13>123")).isFalse();
        assertThat(lossPossible("123>1>123")).isTrue();
        assertThat(lossPossible("12345>345>45>1245>12345")).isFalse();
        assertThat(lossPossible("12345>345>45>145>12345")).isFalse();
        assertThat(lossPossible("12345>45>12345")).isTrue();
        assertThat(lossPossible("12345>345>45>1245>1>13>12345")).isTrue();
    }

    /** Found by a campaign in which 2, 3 and 4 did not serve: 4 still followed the dead leader. */
    @Test
    void whoComesToAMajorityThatDoesNotServeLearnsNothing() {
        Sequence sequence = Sequence.parse("12345>1245>4>24>234>2345>12345");
        assertThat(MemoryModel.lossPossible(sequence, state -> true)).isFalse();
        assertThat(MemoryModel.lossPossible(sequence, state -> state != 4)).isTrue();
    }

    @Test
    void idealViewstampedReplicationNeedsAMajorityThatRemembers() {
        assertThat(serves("123>12>123")).isTrue();
        assertThat(serves("123>1>123")).isFalse();
        assertThat(serves("12345>345>12345>123>12345")).isTrue();
        assertThat(serves("12345>345>45>12345")).isFalse();
    }

    private static boolean lossPossible(String text) {
        return MemoryModel.lossPossible(Sequence.parse(text), state -> true);
    }

    private static boolean serves(String text) {
        return MemoryModel.viewstampedServes(Sequence.parse(text));
    }
}
