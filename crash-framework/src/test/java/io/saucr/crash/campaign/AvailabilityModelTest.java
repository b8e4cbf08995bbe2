package io.saucr.crash.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.crash.campaign.AvailabilityModel.Judgement;
import io.saucr.crash.campaign.AvailabilityModel.Pace;
import io.saucr.crash.campaign.AvailabilityModel.Served;
import io.saucr.ensemble.Majority;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** R23: when an ensemble with sealed views has to serve, and when it may refuse. */
class AvailabilityModelTest {
    private static final Pattern LOST =
            Pattern.compile("(\\d+) of the \\d+ members of the view \\{[1-9,]+} lost");

    private static SortedSet<Integer> servers(Integer... ids) {
        return new TreeSet<>(List.of(ids));
    }

    /** Of the last of these states, which need not be the end of a sequence. */
    private static AvailabilityModel in(Pace pace, String states) {
        String[] each = states.split(">");
        AvailabilityModel model = new AvailabilityModel(each[0].length(), pace, false);
        for (int i = 1; i < each.length; i++) {
            model.enter(ClusterState.parse(each[i]));
        }
        return model;
    }

    private static Judgement judgement(Pace pace, String states) {
        return in(pace, states).judgement();
    }

    /** Two or three fail in fast mode; of the view that was sealed then one member is complete. */
    @ParameterizedTest
    @EnumSource(Pace.class)
    void oneWhoForcedANewerSealIsEnough(Pace pace) {
        Judgement five = judgement(pace, "12345>1234>123>3>345");
        assertThat(five.hadToServe()).isTrue();
        assertThat(five.why())
                .isEqualTo(
                        "servers 4 and 5 lost what was in memory, as of the view {1,2,3,4,5}, but"
                                + " the newer view {1,2,3} is known to server 3");
        Judgement seven = judgement(pace, "1234567>123456>12345>1234>4>4567");
        assertThat(seven.hadToServe()).isTrue();
        assertThat(seven.why())
                .contains("servers 5, 6 and 7", "view {1,2,3,4} is known to server 4");
    }

    @ParameterizedTest
    @ValueSource(strings = {"12345>12>12345", "1234567>123>1234567", "123>1>123", "1234>1>1234"})
    void aBareMajorityAtOneInstantIsNotTooMany(String sequence) {
        assertThat(judgement(Pace.AT_ONCE, sequence).hadToServe()).isTrue();
    }

    @Test
    void moreThanABareMajorityAtOneInstantIsTooMany() {
        Judgement judgement = judgement(Pace.AT_ONCE, "12345>1>12345");
        assertThat(judgement.hadToServe()).isFalse();
        assertThat(judgement.why())
                .isEqualTo(
                        "4 of the 5 members of the view {1,2,3,4,5} lost what was in memory (servers"
                                + " 2, 3, 4 and 5), more than a bare majority (3): a recovery needs"
                                + " 2 complete members, and only server 1 is complete");
        assertThat(judgement(Pace.AT_ONCE, "123>->123").why()).endsWith("and none is complete");
    }

    /** What is decided here is who is up, not what the end of the sequence brings. */
    @Test
    void whoIsDownCannotAnswer() {
        Judgement judgement = judgement(Pace.AT_ONCE, "12345>12>2>2345");
        assertThat(judgement.hadToServe()).isFalse();
        assertThat(judgement.why()).contains("and server 1 is down", "only server 2 is");
        assertThat(judgement(Pace.AT_ONCE, "12345>12").why()).isEqualTo("no majority is up");
    }

    /** Fast mode goes on with four of five for some seconds before it seals their view. */
    @Test
    void aViewThatMayNotBeSealedAnewIsTheWorstCase() {
        AvailabilityModel model = in(Pace.AT_ONCE, "12345>1234");
        model.seen(Served.YES, servers(), servers());
        model.enter(ClusterState.parse("1"));
        model.enter(ClusterState.all(5));
        assertThat(model.judgement().why())
                .startsWith("4 of the 5 members of the view {1,2,3,4,5}");

        model = in(Pace.AT_ONCE, "12345>1234");
        model.seen(Served.YES, servers(1, 2, 3, 4), servers());
        model.enter(ClusterState.parse("1"));
        model.enter(ClusterState.all(5));
        assertThat(model.judgement().hadToServe()).isTrue();
        assertThat(model.judgement().why())
                .isEqualTo(
                        "3 of the 4 members of the view {1,2,3,4} lost what was in memory (servers 2, 3"
                                + " and 4), not more than a bare majority (3): server 1 is enough for a recovery");
    }

    /** Whoever is down may know a newer view, of which those that are up say nothing. */
    @Test
    void theViewThatIsSeenIsTheNewestOfThoseWhoAreUp() {
        AvailabilityModel model = in(Pace.AT_ONCE, "12345>1234>123");
        model.seen(Served.YES, servers(1, 2, 3), servers());
        model.enter(ClusterState.parse("-"));
        model.seen(Served.NO, servers(), servers());
        model.enter(ClusterState.parse("45"));
        model.seen(Served.NO, servers(1, 2, 3, 4, 5), servers());
        model.enter(ClusterState.parse("345"));
        assertThat(model.judgement().why())
                .startsWith("servers 4 and 5 lost what was in memory, as of the view {1,2,3,4,5}");
    }

    /** The leader is there, and is about to seal who is left: until then the old view stands. */
    @Test
    void aBareMajorityServesBeforeItsViewIsSealed() {
        AvailabilityModel model = in(Pace.AT_ONCE, "12345>145");
        model.seen(Served.YES, servers(1, 2, 3, 4, 5), servers());
        model.enter(ClusterState.parse("1"));
        model.enter(ClusterState.parse("123"));
        assertThat(model.judgement().hadToServe()).isFalse();
        assertThat(model.judgement().why())
                .contains("the view {1,2,3,4,5}", "only server 1 is complete");

        model = in(Pace.AT_ONCE, "12345>145");
        model.seen(Served.YES, servers(1, 4, 5), servers());
        model.enter(ClusterState.parse("1"));
        model.enter(ClusterState.parse("123"));
        assertThat(model.judgement().hadToServe()).isTrue();
    }

    /** With three left of five the view is sealed if there is time to notice who is gone. */
    @Test
    void aBareMajorityLosesNothing() {
        assertThat(judgement(Pace.AT_ONCE, "12345>345>-").hadToServe()).isFalse();
        assertThat(judgement(Pace.AT_ONCE, "12345>345>->12345").hadToServe()).isTrue();
        assertThat(judgement(Pace.AT_ONCE, "12345>345>->123").hadToServe()).isTrue();
        assertThat(judgement(Pace.AT_ONCE, "12345>345>12345>->12345").hadToServe()).isFalse();
    }

    @Test
    void nobodyLosesAnythingAtRest() {
        AvailabilityModel model = new AvailabilityModel(5, Pace.AT_ONCE, true);
        model.enter(ClusterState.parse("-"));
        model.enter(ClusterState.parse("123"));
        assertThat(model.judgement())
                .isEqualTo(new Judgement(true, "servers 1, 2 and 3, a majority, lost nothing"));
    }

    /** Nothing is written where nobody leads, so a crash takes nothing more. */
    @Test
    void whoDoesNotServeLosesNothing() {
        AvailabilityModel model = in(Pace.AT_ONCE, "12345>12>1234");
        assertThat(model.judgement().hadToServe()).isTrue();
        model.seen(Served.NO, servers(), servers());
        model.enter(ClusterState.parse("-"));
        model.enter(ClusterState.parse("125"));
        assertThat(model.judgement().hadToServe()).isTrue();
    }

    /** Who had not recovered when the next fault began still has to. */
    @Test
    void whoLagsHasNotRecovered() {
        AvailabilityModel model = in(Pace.AT_ONCE, "12345>123>12345");
        model.seen(Served.YES, servers(1, 2, 3), servers(4, 5));
        model.enter(ClusterState.parse("145"));
        assertThat(model.judgement().hadToServe()).isTrue();
        assertThat(model.judgement().why()).contains("{1,2,3} is known to server 1");
    }

    @Test
    void aRefusalIsExcusedOnlyForThoseWhoCannotHaveHeardEnough() {
        AvailabilityModel model = in(Pace.AT_ONCE, "12345>1>12345");
        assertThat(model.refusal(List.of(2, 3, 4, 5)).why()).startsWith("4 of the 5 members");
        assertThat(model.refusal(List.of(2, 3, 4, 5)).hadToServe()).isFalse();
        // Server 5 had everything on disk by chance, so it answers, too.
        assertThat(model.refusal(List.of(2, 3, 4)).hadToServe()).isTrue();
        assertThat(model.refusal(List.of(1, 2, 3, 4, 5)).hadToServe()).isTrue();
        assertThat(model.refusal(List.of()).why()).isEqualTo("nobody says that it is recovering");
        Judgement needless = in(Pace.AT_ONCE, "12345>12>12345").refusal(List.of(3, 4, 5));
        assertThat(needless.hadToServe()).isTrue();
        assertThat(needless.why())
                .startsWith("3 of the 5 members")
                .contains("not more than a bare majority");
    }

    @Property(tries = 25)
    void afterFailuresOneByOneEveryMajorityServes(
            @ForAll long seed, @ForAll @IntRange(min = 3, max = 7) int n) {
        for (Sequence sequence : new SequenceGenerator(n, seed).generate(8)) {
            List<Judgement> judgements = AvailabilityModel.of(sequence, Pace.SEALED);
            for (int i = 0; i < judgements.size(); i++) {
                assertThat(judgements.get(i).hadToServe())
                        .as("%s, state %d: %s", sequence, i, judgements.get(i))
                        .isEqualTo(sequence.states().get(i).hasMajorityOf(n));
            }
        }
    }

    /** With time to notice alone, or nearly so, the end serves, when all are up. */
    @Property(tries = 25)
    void afterFailuresThatAreNoticedTheEndServes(
            @ForAll long seed, @ForAll @IntRange(min = 3, max = 7) int n) {
        for (Sequence sequence : new SequenceGenerator(n, seed).generate(8)) {
            for (Pace pace : List.of(Pace.OVERLAPPING, Pace.NOTICED)) {
                List<Judgement> judgements = AvailabilityModel.of(sequence, pace);
                assertThat(judgements.get(judgements.size() - 1).hadToServe())
                        .as("%s, %s: %s", sequence, pace, judgements)
                        .isTrue();
            }
        }
    }

    /** Seven are fast with five of them; the leader fails, and the next before that is noticed. */
    @Test
    void oneMoreMayFailBeforeTheFirstIsNoticed() {
        for (Pace pace : List.of(Pace.OVERLAPPING, Pace.NOTICED)) {
            AvailabilityModel model = in(pace, "1234567>12567");
            model.seen(Served.YES, servers(1, 2, 3, 4, 5, 6, 7), servers());
            model.enter(ClusterState.parse("16"));
            model.enter(ClusterState.parse("12467"));
            Judgement judgement = model.judgement();
            assertThat(judgement.hadToServe()).isEqualTo(pace == Pace.NOTICED);
            if (pace == Pace.OVERLAPPING) {
                assertThat(judgement.why())
                        .contains(
                                "a recovery needs 3 complete members, and only servers 1 and 6 are"
                                        + " complete");
            }
            model.enter(ClusterState.parse("1234567"));
            assertThat(model.judgement().hadToServe()).isTrue();
        }
    }

    /** And never without more than B members of a view having lost their memory. */
    @Property(tries = 25)
    void afterFailuresAtOneInstantTheEndMayRefuseOnlyIfMoreThanABareMajorityOfAViewForgot(
            @ForAll long seed, @ForAll @IntRange(min = 3, max = 7) int n) {
        for (Sequence sequence : new SequenceGenerator(n, seed).generate(8)) {
            List<Judgement> judgements = AvailabilityModel.of(sequence, Pace.AT_ONCE);
            Judgement end = judgements.get(judgements.size() - 1);
            if (!end.hadToServe()) {
                Matcher lost = LOST.matcher(end.why());
                assertThat(lost.find()).as("%s: %s", sequence, end).isTrue();
                assertThat(Integer.parseInt(lost.group(1)))
                        .as("%s: %s", sequence, end)
                        .isGreaterThan(Majority.of(n));
                assertThat(end.why()).contains("more than a bare majority");
                assertThat(mostAtOnce(sequence.states(), Majority.of(n))).isTrue();
            }
        }
    }

    /**
     * Whether so many of a state with more than a majority fail before a majority is up again that
     * more than a bare majority of all servers is gone.
     */
    private static boolean mostAtOnce(Collection<ClusterState> states, int majority) {
        int n = states.iterator().next().alive().size();
        ClusterState before = ClusterState.all(n);
        for (ClusterState state : states) {
            boolean fast = before.alive().size() > majority;
            if (fast && state.alive().size() < n - majority) {
                return true;
            }
            before = state;
        }
        return false;
    }
}
