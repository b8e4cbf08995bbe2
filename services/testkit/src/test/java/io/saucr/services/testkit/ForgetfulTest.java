package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.core.Limits;
import io.saucr.services.turns.TurnOptions;
import io.saucr.services.turns.Turns;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * A life that begins from memory is one that begins from disk: turns that are not final are undone
 * at random, and nothing is lost, doubled or out of order (K1 to K17).
 */
@SuppressWarnings("FutureReturnValueIgnored") // What a call leads to is looked at in the services.
class ForgetfulTest {

    private static final String TEXT = "x".repeat(200);
    private static final int LETTERS = 5;
    private static final int RUNS = 500;

    /** Pass this on. */
    public record Letter(int number, String text) {}

    /** Some time has passed since that one. */
    public record Later(int number) {}

    /** What came? */
    public record Asked() {}

    /** That came. */
    public record Came(List<Integer> numbers) {}

    /** Passes letters on, each also to itself, and later once more. */
    private static final class Post implements Service {

        private final ListState<Integer> own;
        private final MapState<Integer, String> texts;

        Post(State state) {
            own = state.list("own", Integer.class);
            texts = state.map("texts", Integer.class, String.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Letter.class,
                    (letter, turn) -> {
                        if (turn.sender().filter("post"::equals).isPresent()) {
                            own.add(letter.number());
                        } else {
                            texts.put(letter.number(), letter.text());
                            turn.send("office", letter);
                            turn.send("post", letter);
                            turn.after(Duration.ofMillis(5), new Later(letter.number()));
                        }
                    });
            on.message(
                    Later.class,
                    (later, turn) ->
                            turn.send(
                                    "office",
                                    new Letter(
                                            later.number() + 100, texts.remove(later.number()))));
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

    /** What happened in one run. */
    private static final class Run {
        final Random random;
        final TestWorld world;
        final Map<String, Forgetful> lives = new HashMap<>();
        final Map<String, Function<State, ? extends Service>> constructors =
                Map.of("post", Post::new, "office", Office::new);
        int undone;
        int crashes;

        Run(long seed) {
            random = new Random(seed);
            world = new TestWorld(seed, small());
            world.guards(
                    (name, disk) -> {
                        if (!constructors.containsKey(name)) {
                            return disk;
                        }
                        lives.put(name, new Forgetful(disk));
                        return lives.get(name);
                    });
        }

        void undo(TestService service) throws IOException {
            MemoryDisk disk = service.storage().disk();
            long turn = random.nextLong(disk.forced(), disk.newest());
            Forgetful next = new Forgetful(disk.undo(turn), lives.get(service.name()), turn);
            Forgetful fromDisk = new Forgetful(disk.copy());
            service.liveAgain(next);
            Turns unused =
                    Turns.open(
                            service.name(),
                            constructors.get(service.name()),
                            fromDisk,
                            world.options(),
                            world.surroundings());
            assertThat(next.found()).isEqualTo(fromDisk.found());
            lives.put(service.name(), next);
            undone++;
        }

        void everythingComes() throws IOException {
            TestService post = world.service("post", Post::new);
            TestService office = world.service("office", Office::new);
            Client ann = world.client("ann", "post");
            List<Integer> sent = new ArrayList<>();
            for (int number = 1; number <= LETTERS; number++) {
                ann.send(new Letter(number, TEXT));
                sent.add(number);
            }
            for (int calm = 0; calm < 20; ) {
                boolean moved = world.step();
                TestService one = random.nextBoolean() ? post : office;
                if (one.storage().disk().newest() > one.storage().disk().forced()
                        && random.nextInt(6) == 0) {
                    undo(one);
                } else if (random.nextInt(60) == 0 && crashes < 3) {
                    one.crash();
                    one.start();
                    crashes++;
                }
                if (!moved) {
                    calm++;
                    world.advance(Duration.ofMillis(1));
                }
            }
            assertThat(came(post)).isEqualTo(sent);
            assertThat(came(office).stream().filter(it -> it < 100)).isEqualTo(sent);
            assertThat(came(office)).hasSize(2 * LETTERS).doesNotHaveDuplicates();
        }

        private static List<Integer> came(TestService service) {
            return service.query(new Asked(), Came.class).numbers();
        }
    }

    /**
     * One schedule.
     *
     * @return how many lives began from memory
     */
    static int run(long seed) throws IOException {
        Run run = new Run(seed);
        try {
            run.everythingComes();
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("seed " + seed, e);
        }
        return run.undone;
    }

    /** {@link ForgetfulCampaign} runs many more. */
    @Test
    void aLifeFromMemoryIsOneFromDisk() throws IOException {
        int undone = 0;
        for (int seed = 0; seed < RUNS; seed++) {
            undone += run(seed);
        }
        assertThat(undone).isGreaterThan(3 * RUNS);
    }
}
