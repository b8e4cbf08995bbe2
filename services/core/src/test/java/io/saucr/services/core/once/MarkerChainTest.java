package io.saucr.services.core.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.once.MarkerChain.Limits;
import io.saucr.services.core.once.MarkerChain.Past;
import io.saucr.services.core.once.Step.Outcome;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * What the chain does in the cases that a person would ask about; random runs are in {@link
 * OnceSimulationTest}.
 */
class MarkerChainTest {

    private static final Birth BIRTH = new Birth(1, 1);
    private static final Incarnation FIRST = new Incarnation(BIRTH, 1, 10);
    private static final Incarnation SECOND = new Incarnation(BIRTH, 2, 20);
    private static final String NAME = "m-1-000000000000000a-1";

    private static Reading reading(
            int parentVersion, String name, int version, MarkerContent content) {
        return new Reading(parentVersion, List.of(new Reading.Marker(name, version, 77, content)));
    }

    /** A chain of the first start that holds its first marker. */
    private static MarkerChain running(Limits limits) {
        MarkerChain chain = new MarkerChain("c", new Past(List.of(FIRST), false, 0, 0), limits);
        assertThat(chain.start()).containsExactly(new Step.Read());
        assertThat(chain.read(new Reading(Reading.NO_PARENT, List.of())))
                .containsExactly(new Step.MakeParent());
        assertThat(chain.read(new Reading(0, List.of())))
                .containsExactly(
                        new Step.Replace(0, null, 0, NAME, new MarkerContent(FIRST, 0)),
                        new Step.Read());
        assertThat(chain.read(reading(1, NAME, 0, new MarkerContent(FIRST, 0)))).isEmpty();
        return chain;
    }

    private static MarkerChain running() {
        return running(Limits.usual());
    }

    private static List<Step> submit(MarkerChain chain, long... numbers) {
        for (long number : numbers) {
            assertThat(chain.submitted(number, false, 100)).isEmpty();
        }
        return chain.forced(numbers[numbers.length - 1]);
    }

    private static Step.Send send(long request, int version, long first, long last) {
        return new Step.Send(request, NAME, version, new MarkerContent(FIRST, last), first, last);
    }

    private static String stopped(List<Step> steps) {
        assertThat(steps).hasSize(1);
        return ((Step.Stop) steps.get(0)).reason();
    }

    @Test
    void requestsChainOnTheMarker() {
        MarkerChain chain = running();
        assertThat(submit(chain, 1)).containsExactly(send(1, 0, 1, 1));
        assertThat(submit(chain, 2, 3)).containsExactly(send(2, 1, 2, 3));
        assertThat(chain.answered(1, new Answer.Done()))
                .containsExactly(new Step.Report(1, new Outcome.Done(1, 0)));
        assertThat(chain.answered(2, new Answer.Done()))
                .containsExactly(
                        new Step.Report(2, new Outcome.Done(2, 0)),
                        new Step.Report(3, new Outcome.Done(2, 1)));
    }

    @Test
    void nothingIsSentBeforeItIsForced() {
        MarkerChain chain = running();
        assertThat(chain.submitted(1, false, 10)).isEmpty();
        assertThat(chain.submitted(2, false, 10)).isEmpty();
        assertThat(chain.forced(1)).containsExactly(send(1, 0, 1, 1));
    }

    @Test
    void aRefusalTakesItsNumberBeforeItIsReported() {
        MarkerChain chain = running();
        submit(chain, 1);
        submit(chain, 2);
        assertThat(chain.answered(1, new Answer.Refused(0, -101))).isEmpty();
        MarkerContent refused =
                new MarkerContent(FIRST, 1, new TreeMap<>(Map.of(1L, -101)), new TreeMap<>());
        assertThat(chain.answered(2, new Answer.MarkerMoved()))
                .containsExactly(new Step.Send(3, NAME, 0, refused, 1, 0));
        assertThat(chain.answered(3, new Answer.Done()))
                .containsExactly(
                        new Step.Report(1, new Outcome.Refused(-101)),
                        new Step.Send(4, NAME, 1, refused.with(FIRST, 2), 2, 2));
        // Once its report is forced the marker forgets it.
        chain.confirmed(1);
        assertThat(submit(chain, 3)).containsExactly(send(5, 2, 3, 3));
    }

    @Test
    void aBatchThatIsRefusedGoesOneByOne() {
        MarkerChain chain = running();
        submit(chain, 1, 2);
        assertThat(chain.answered(1, new Answer.Refused(1, -110)))
                .containsExactly(send(2, 0, 1, 1), send(3, 1, 2, 2));
    }

    @Test
    void anOpenOutcomeIsSettledByAnotherMarker() {
        MarkerChain chain = running();
        submit(chain, 1);
        submit(chain, 2);
        assertThat(chain.answered(1, new Answer.Unknown(true))).isEmpty();
        assertThat(chain.answered(2, new Answer.Unknown(true))).containsExactly(new Step.Read());
        String next = "m-1-000000000000000a-2";
        MarkerContent one = new MarkerContent(FIRST, 1);
        assertThat(chain.read(reading(1, NAME, 1, one)))
                .containsExactly(new Step.Replace(1, NAME, 1, next, one), new Step.Read());
        assertThat(chain.read(reading(2, next, 0, one)))
                .containsExactly(
                        new Step.Report(1, new Outcome.Happened()),
                        new Step.Send(3, next, 0, new MarkerContent(FIRST, 2), 2, 2));
    }

    @Test
    void whatBreaksEveryConnectionIsGivenUp() {
        MarkerChain chain = running(new Limits(8, 8, 1000, 2, 100, 10));
        submit(chain, 1);
        chain.answered(1, new Answer.Unknown(true));
        chain.read(reading(1, NAME, 0, new MarkerContent(FIRST, 0)));
        String second = "m-1-000000000000000a-2";
        assertThat(chain.read(reading(2, second, 0, new MarkerContent(FIRST, 0))))
                .containsExactly(new Step.Send(2, second, 0, new MarkerContent(FIRST, 1), 1, 1));
        chain.answered(2, new Answer.Unknown(true));
        chain.read(reading(2, second, 0, new MarkerContent(FIRST, 0)));
        List<Step> steps =
                chain.read(reading(3, "m-1-000000000000000a-3", 0, new MarkerContent(FIRST, 0)));
        assertThat(steps).hasSize(1);
        Step.Send consume = (Step.Send) steps.get(0);
        assertThat(consume.content().refusals()).containsEntry(1L, MarkerChain.GAVE_UP);
        assertThat(chain.answered(3, new Answer.Done()))
                .containsExactly(new Step.Report(1, new Outcome.Refused(MarkerChain.GAVE_UP)));
    }

    @Test
    void aMarkerIsReplacedLongBeforeItsVersionWraps() {
        MarkerChain chain = running(new Limits(8, 1, 1000, 2, 2, 10));
        assertThat(submit(chain, 1, 2, 3)).containsExactly(send(1, 0, 1, 1), send(2, 1, 2, 2));
        chain.answered(1, new Answer.Done());
        assertThat(chain.answered(2, new Answer.Done()))
                .containsExactly(new Step.Report(2, new Outcome.Done(2, 0)), new Step.Read());
    }

    @Test
    void nothingFollowsASequentialCreateBeforeItsReportIsForced() {
        MarkerChain chain = running();
        chain.submitted(1, true, 10);
        chain.submitted(2, false, 10);
        assertThat(chain.forced(2)).containsExactly(send(1, 0, 1, 1));
        assertThat(chain.answered(1, new Answer.Done()))
                .containsExactly(new Step.Report(1, new Outcome.Done(1, 0)));
        assertThat(chain.confirmed(1)).containsExactly(send(2, 1, 2, 2));
    }

    @Test
    void theChildOfASequentialCreateIsFoundByTheMarkersZxid() {
        MarkerChain chain = running();
        chain.submitted(1, true, 10);
        chain.forced(1);
        chain.answered(1, new Answer.Unknown(true));
        String next = "m-1-000000000000000a-2";
        Step.Replace replace =
                (Step.Replace) chain.read(reading(1, NAME, 1, new MarkerContent(FIRST, 1))).get(0);
        assertThat(replace.content().created()).containsEntry(1L, 77L);
        assertThat(chain.read(reading(2, next, 0, replace.content())))
                .containsExactly(new Step.Find(1, 77));
        assertThat(chain.found(1, "x-0000000004"))
                .containsExactly(new Step.Report(1, new Outcome.Created("x-0000000004")));
    }

    @Test
    void aNextStartReplacesTheMarkerOfTheOneBefore() {
        MarkerChain chain =
                new MarkerChain("c", new Past(List.of(FIRST, SECOND), true, 2, 3), Limits.usual());
        chain.submitted(3, false, 10);
        chain.forced(3);
        assertThat(chain.read(reading(1, NAME, 2, new MarkerContent(FIRST, 2))))
                .containsExactly(
                        new Step.Replace(
                                1, NAME, 2, "m-2-0000000000000014-1", new MarkerContent(SECOND, 2)),
                        new Step.Read());
    }

    @Test
    void whoCanNotKnowStopsAndSaysWhatItFound() {
        assertThat(stopped(second().read(new Reading(4, List.of()))))
                .contains("is missing", "after number 2");
        assertThat(stopped(second().read(reading(1, NAME, 9, new MarkerContent(FIRST, 1)))))
                .contains("went back: it says 1, but operation 2");
        assertThat(stopped(second().read(reading(1, NAME, 9, new MarkerContent(FIRST, 4)))))
                .contains("says 4, but nothing behind 3 was sent");
        assertThat(
                        stopped(
                                second().read(
                                                reading(
                                                        1,
                                                        NAME,
                                                        9,
                                                        new MarkerContent(
                                                                new Incarnation(BIRTH, 2, 21),
                                                                2)))))
                .contains("another start: incarnation 2 with nonce 0000000000000015");
        assertThat(
                        stopped(
                                second().read(
                                                reading(
                                                        1,
                                                        NAME,
                                                        9,
                                                        new MarkerContent(
                                                                new Incarnation(
                                                                        new Birth(2, 2), 1, 1),
                                                                2)))))
                .contains("the name c is taken");
    }

    /** What was accepted since the start has nothing to do with what the marker speaks of. */
    @Test
    void anOldFolderStopsAlsoWhenItHasAcceptedMoreMeanwhile() {
        MarkerChain chain = second();
        chain.submitted(4, false, 10);
        chain.forced(4);
        assertThat(stopped(chain.read(reading(1, NAME, 9, new MarkerContent(FIRST, 4)))))
                .contains("says 4, but nothing behind 3 was sent");
    }

    private static MarkerChain second() {
        return new MarkerChain("c", new Past(List.of(FIRST, SECOND), true, 2, 3), Limits.usual());
    }

    @Test
    void misuseThrows() {
        MarkerChain chain = running();
        submit(chain, 1);
        assertThatThrownBy(() -> chain.submitted(1, false, 1)).hasMessage("operation 1 after 1");
        assertThatThrownBy(() -> chain.forced(2)).hasMessageContaining("synced up to 2 of 1");
        assertThatThrownBy(() -> chain.answered(2, new Answer.Done()))
                .hasMessageContaining("request 2 is answered");
        assertThatThrownBy(() -> chain.confirmed(1))
                .hasMessageContaining("waits for no confirmation");
        assertThatThrownBy(() -> new Limits(0, 1, 1, 1, 1, 1))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
