package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.core.Limits;
import io.saucr.services.turns.TurnOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** K10, K13: what waits for a peer that is away lies in files, and comes once and in order. */
@SuppressWarnings("FutureReturnValueIgnored") // What a call leads to is looked at in the services.
class OutboxTest {

    /** Pass this on. */
    public record Letter(int number, String text) {}

    /** What came? */
    public record Asked() {}

    /** That came. */
    public record Came(List<Integer> numbers) {}

    private static final String TEXT = "x".repeat(200);

    /** Passes letters on, each also to itself. */
    private static final class Post implements Service {

        private final ListState<Integer> own;

        Post(State state) {
            own = state.list("own", Integer.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Letter.class,
                    (letter, turn) -> {
                        if (turn.sender().equals(Optional.of("post"))) {
                            own.add(letter.number());
                        } else {
                            turn.send("office", letter);
                            turn.send("post", letter);
                            turn.send("post", new Letter(letter.number() + 100, TEXT));
                        }
                    });
            on.query(Asked.class, (asked, turn) -> new Came(all(own)));
        }
    }

    /** Takes letters. */
    private static final class Office implements Service {

        private final ListState<Integer> came;

        Office(State state) {
            came = state.list("came", Integer.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Letter.class, (letter, turn) -> came.add(letter.number()));
            on.query(Asked.class, (asked, turn) -> new Came(all(came)));
        }
    }

    private static List<Integer> all(ListState<Integer> state) {
        List<Integer> all = new ArrayList<>();
        state.forEach(all::add);
        return all;
    }

    /** One message of each peer in memory, a base with every few turns. */
    private static TurnOptions small() {
        Limits limits = new Limits(4, 1_000, true, 0, 0, 1_024, 3_600_000).outbox(1, 1 << 10);
        return TurnOptions.standard().with(limits).foldBytes(2 << 10);
    }

    private static void away(TestWorld world, int letters) {
        TestService post = world.service("post", Post::new);
        Client ann = world.client("ann", "post");
        List<Integer> sent = new ArrayList<>();
        for (int number = 1; number <= letters; number++) {
            ann.send(new Letter(number, TEXT));
            sent.add(number);
        }
        world.run();
        TestService office = world.service("office", Office::new);
        world.run();
        assertThat(came(office)).isEqualTo(sent);
        assertThat(came(post)).hasSize(2 * letters).doesNotHaveDuplicates();
        assertThat(came(post).stream().filter(it -> it < 100)).isEqualTo(sent);
    }

    private static List<Integer> came(TestService service) {
        return service.query(new Asked(), Came.class).numbers();
    }

    @Test
    void whatWaitsComesOnceAndInOrderWhereverItCrashes() {
        int crashes = CrashPoints.everywhere(3, small(), world -> away(world, 6));
        assertThat(crashes).isGreaterThan(100);
    }

    @Test
    void randomCrashesLoseNothing() {
        for (int seed = 0; seed < 20; seed++) {
            TestWorld world = new TestWorld(seed, small());
            TestService post = world.service("post", Post::new);
            Client ann = world.client("ann", "post");
            List<Integer> sent = new ArrayList<>();
            for (int number = 1; number <= 30; number++) {
                ann.send(new Letter(number, TEXT));
                sent.add(number);
                for (int step = 0; step < 8; step++) {
                    boolean unused = world.step();
                }
                if (number % 3 == 0) {
                    post.crash();
                    post.start();
                }
            }
            TestService office = world.service("office", Office::new);
            for (int crash = 0; crash < 10; crash++) {
                for (int step = 0; step < 12; step++) {
                    boolean unused = world.step();
                }
                TestService crashing = crash % 2 == 0 ? post : office;
                crashing.crash();
                crashing.start();
            }
            world.run();
            assertThat(came(office)).as("seed " + seed).isEqualTo(sent);
            assertThat(came(post).stream().filter(it -> it < 100)).isEqualTo(sent);
        }
    }
}
