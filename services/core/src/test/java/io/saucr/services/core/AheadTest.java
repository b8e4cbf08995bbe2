package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which inputs may run ahead of their turns. */
class AheadTest {

    private static final Limits LIMITS = new Limits(4, 3, true, 10, 40, 16, 3_600_000);
    private static final Moment NOW = new Moment(1_000_000, 0);
    private static final Incarnation FIRST = new Incarnation(new Birth(1, 1), 1, 11);
    private static final Incarnation SECOND = new Incarnation(new Birth(1, 1), 2, 12);
    private static final Link ONE = new Link(1, "", true);
    private static final Link OTHER = new Link(2, "", true);
    private static final int MOST = 8;

    private final List<Delta> written = new ArrayList<>();
    private ServiceCore core = new ServiceCore("bank", List.of(FIRST), LIMITS);

    private void perform(List<Action> actions) {
        for (Action action : actions) {
            if (action instanceof Action.Append it) {
                written.add(it.delta());
            }
        }
    }

    private void ask(Link link, long request, String type) {
        perform(core.frame(link, new Frame.Ask(request, new Body(type, new byte[0])), NOW));
    }

    private List<String> expected() {
        return core.expected(MOST, NOW).stream().map(it -> it.input().body().type()).toList();
    }

    private String runs() {
        Input input = core.next(NOW).orElseThrow();
        written.add(core.commit(Effects.none(core.newestTimer())));
        return input.body().type();
    }

    private void begin() {
        perform(core.begin(List.of(), NOW));
        perform(core.linkUp(ONE));
        perform(core.linkUp(OTHER));
    }

    @Test
    void p1InputsAreExpectedInTheOrderOfTheirTurns() {
        begin();
        ask(ONE, 1, "a");
        ask(OTHER, 1, "b");
        perform(core.submit("bank", new Body("own", new byte[0])));
        ask(ONE, 2, "c");
        assertThat(expected()).containsExactly("a", "own", "b", "c");
        List<Ahead> before = core.expected(MOST, NOW);
        assertThat(core.expected(2, NOW)).isEqualTo(before.subList(0, 2));
        assertThat(runs()).isEqualTo("a");
        // What is expected later is equal to what was expected before.
        assertThat(core.expected(MOST, NOW)).isEqualTo(before.subList(1, 4));
        assertThat(List.of(runs(), runs(), runs())).containsExactly("own", "b", "c");
        assertThat(expected()).isEmpty();
    }

    @Test
    void whatMayNotRunIsNotExpected() {
        begin();
        ask(ONE, 1, "a");
        core.take(ServiceCore.Intake.SERVICES);
        assertThat(expected()).isEmpty();
        core.take(ServiceCore.Intake.ALL);
        assertThat(expected()).containsExactly("a");
        perform(core.linkDown(ONE));
        assertThat(expected()).isEmpty();
    }

    /** An input that ends the process must not be taken for another one (K12). */
    @Test
    void p5WhileAnInputIsOnTrialNoneRunsAhead() {
        begin();
        perform(core.submit("bank", new Body("own", new byte[0])));
        core = new ServiceCore("bank", List.of(FIRST, SECOND), LIMITS);
        written.forEach(core::recover);
        begin();
        ask(ONE, 1, "a");
        ask(ONE, 2, "b");
        assertThat(expected()).containsExactly("a");
        // While a run goes on, none is put on trial.
        core.runsAhead(true);
        long turn = core.newestTurn();
        perform(core.tick(NOW));
        assertThat(core.newestTurn()).isEqualTo(turn);
        core.runsAhead(false);
        perform(core.tick(NOW));
        assertThat(core.newestTurn()).isEqualTo(turn + 1);
        assertThat(expected()).containsExactly("a");
        perform(core.moved(Finals.turns(core.newestTurn())));
        assertThat(expected()).hasSize(1);
        assertThat(List.of(runs(), runs())).containsExactlyInAnyOrder("a", "own");
        ask(ONE, 3, "c");
        assertThat(expected()).hasSize(1);
        perform(core.moved(Finals.turns(core.newestTurn())));
        assertThat(expected()).containsExactly("b", "c");
    }
}
