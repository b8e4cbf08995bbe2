package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Caller;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.Protection;
import io.saucr.services.Service;
import io.saucr.services.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** K11: an answer that was left to a later turn goes to the generation that asked, and no other. */
@SuppressWarnings("FutureReturnValueIgnored") // What a call leads to is looked at in the services.
class CallerPairTest {

    record Ask(String text) {}

    record Question(String text) {}

    record AnswerFirst() {}

    record Answer(String text) {}

    record Show() {}

    record Shown(List<String> texts) {}

    /** Keeps the callers, and answers the one that asked first on command. */
    private static final class Desk implements Service {

        record Waiting(Caller caller, String text) {}

        private final ListState<Waiting> waiting;

        Desk(State state) {
            waiting = state.list("waiting", Waiting.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Question.class,
                    (it, turn) -> waiting.add(new Waiting(turn.detach(), it.text())));
            on.message(
                    AnswerFirst.class,
                    (it, turn) -> {
                        Waiting first = waiting.removeFirst();
                        turn.reply(first.caller(), new Answer(first.text()));
                    });
        }
    }

    private static final class Shop implements Service {

        private final ListState<String> answers;

        Shop(State state) {
            answers = state.list("answers", String.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Ask.class, (it, turn) -> turn.send("desk", new Question(it.text())));
            on.message(Answer.class, (it, turn) -> answers.add(it.text()));
            on.returned(Question.class, (it, turn) -> {});
            on.query(
                    Show.class,
                    (it, turn) -> {
                        List<String> texts = new ArrayList<>();
                        answers.forEach(texts::add);
                        return new Shown(texts);
                    });
        }
    }

    private static void anotherGenerationAsks(TestWorld world, TestService desk) {
        TestService shop = world.service("shop", Shop::new);
        Client clerk = world.client("clerk", "shop");
        Client chief = world.client("chief", "desk");
        clerk.send(new Ask("of the old"));
        world.run();
        shop.crash();
        shop.bearAnew();
        world.run();
        world.advance(Duration.ofMinutes(11));
        world.run();
        Client again = world.client("again", "shop");
        again.send(new Ask("of the new"));
        world.run();
        desk.takeOver();
        chief.send(new AnswerFirst());
        world.run();
        assertThat(shop.query(new Show(), Shown.class).texts()).isEmpty();
        desk.fold();
        desk.takeOver();
        chief.send(new AnswerFirst());
        world.run();
        assertThat(shop.query(new Show(), Shown.class).texts()).containsExactly("of the new");
        assertThat(desk.parked()).isEmpty();
    }

    @Test
    void theNextGenerationDoesNotHearWhatTheOneBeforeAsked() {
        int crashes =
                CrashPoints.everywhere(
                        3, world -> anotherGenerationAsks(world, world.service("desk", Desk::new)));
        assertThat(crashes).isGreaterThan(100);
    }

    @Test
    void neitherDoesItWithStandbys() {
        for (int seed = 0; seed < 20; seed++) {
            TestWorld world = new TestWorld(seed);
            anotherGenerationAsks(world, world.service("desk", Desk::new, Protection.standby()));
        }
    }
}
