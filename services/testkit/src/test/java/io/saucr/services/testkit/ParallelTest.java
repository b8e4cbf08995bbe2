package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Asks;
import io.saucr.services.Client;
import io.saucr.services.Continuation;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.Measures;
import io.saucr.services.Protection;
import io.saucr.services.Query;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.core.Limits;
import io.saucr.services.testkit.Programs.Outcome;
import io.saucr.services.testkit.Programs.Program;
import io.saucr.services.testkit.Programs.Show;
import io.saucr.services.testkit.Programs.Shown;
import io.saucr.services.turns.TurnOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Handlers in lanes: a seed chooses programs and schedule, and all comes out as one by one. */
class ParallelTest {

    private static final int CLIENTS = 3;
    private static final int PROGRAMS = 5;

    private long again;

    private final Measures measures =
            new Measures() {
                @Override
                public void ran(long nanos) {}

                @Override
                public void failed() {}

                @Override
                public void again() {
                    again++;
                }

                @Override
                public void becameFinal(long nanos) {}

                @Override
                public void forced(long nanos) {}
            };

    private static TurnOptions options(int lanes) {
        Limits patient = new Limits(256, 3, true, 1, 1, 1_024, 3_600_000);
        return TurnOptions.standard().with(patient).foldBytes(1 << 10).lanes(lanes);
    }

    /** Programs of several clients, and what they hear. */
    private static List<CompletableFuture<Outcome>> ask(TestWorld world, Random random) {
        List<Client> clients = new ArrayList<>();
        for (int client = 0; client < CLIENTS; client++) {
            clients.add(world.client("c" + client, "programs"));
        }
        List<CompletableFuture<Outcome>> answers = new ArrayList<>();
        for (int count = 0; count < PROGRAMS; count++) {
            for (Client each : clients) {
                answers.add(each.ask(Program.random(1 + answers.size(), random)));
                for (int steps = random.nextInt(12); steps > 0; steps--) {
                    boolean unused = world.step();
                }
                world.advance(Duration.ofMillis(random.nextInt(2)));
            }
        }
        return answers;
    }

    private static void check(
            TestWorld world, TestService service, List<CompletableFuture<Outcome>> answers) {
        for (int pauses = 0; pauses < 100; pauses++) {
            world.run();
            world.advance(Duration.ofMillis(2));
        }
        Shown shown = service.query(new Show());
        assertThat(shown).isEqualTo(Programs.Alone.run(shown.programs()));
        // All but those that throw, whatever they meet.
        assertThat(shown.programs().size()).isGreaterThan(answers.size() / 2);
        for (CompletableFuture<Outcome> each : answers) {
            if (each.isDone() && !each.isCompletedExceptionally()) {
                Outcome heard = each.join();
                assertThat(shown.outcomes())
                        .filteredOn(it -> it.id() == heard.id())
                        .singleElement()
                        .matches(it -> heard.sum() == 0 || it.sum() == heard.sum());
            }
        }
    }

    @Test
    void p1AllComesOutAsOneByOne() {
        for (long seed = 0; seed < 300; seed++) {
            TestWorld world = new TestWorld(seed, options(1 + (int) (seed % 4)));
            TestService service = world.service("programs", Programs::new);
            service.measure(measures);
            service.takeOver();
            try {
                check(world, service, ask(world, new Random(seed)));
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
        assertThat(again).isGreaterThan(100);
    }

    @Test
    void p1AllComesOutAsOneByOneWhereverItCrashes() {
        for (long seed = 0; seed < 3; seed++) {
            long chosen = seed;
            int crashes =
                    CrashPoints.everywhere(
                            seed,
                            options(2),
                            world -> {
                                TestService service = world.service("programs", Programs::new);
                                check(world, service, ask(world, new Random(chosen)));
                            });
            assertThat(crashes).isGreaterThan(100);
        }
    }

    @Test
    void p1AllComesOutAsOneByOneWhereAnotherMemberTakesOver() {
        for (long seed = 0; seed < 60; seed++) {
            TestWorld world = new TestWorld(seed, options(0));
            TestService service =
                    world.service("programs", Programs::new, Protection.standby().parallel(2));
            Random random = new Random(seed);
            List<CompletableFuture<Outcome>> answers = ask(world, random);
            for (int crashes = 0; crashes < 3; crashes++) {
                for (int steps = random.nextInt(60); steps > 0; steps--) {
                    boolean unused = world.step();
                }
                service.takeOver();
            }
            check(world, service, answers);
        }
    }

    record Go(int number) {}

    record Twice(int number) implements Asks<Doubled> {}

    record Doubled(int number) {}

    record Sums() implements Query<Doubled> {}

    private static final class Doubler implements Service {

        Doubler(State state) {}

        @Override
        public void handlers(Handlers on) {
            on.message(Twice.class, (it, turn) -> turn.reply(new Doubled(2 * it.number())));
        }
    }

    private static final class Summing implements Service {

        record Adding(int number) implements Continuation<Doubled> {}

        private final ListState<Integer> all;

        Summing(State state) {
            all = state.list("all", Integer.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Go.class,
                    (it, turn) ->
                            turn.ask("doubler", new Twice(it.number()), new Adding(it.number())));
            on.answer(Adding.class, (it, answer, turn) -> all.add(answer.number() - it.number()));
            on.unanswered(Adding.class, (it, why, turn) -> all.add(1_000));
            on.query(
                    Sums.class,
                    (it, turn) -> {
                        int sum = 0;
                        for (int each : all) {
                            sum += each;
                        }
                        return new Doubled(sum);
                    });
        }
    }

    /** A handler that asks another service gets its answer, wherever it crashes. */
    @Test
    void questionsToOtherServicesAreAskedOnTheTurnThread() {
        int crashes =
                CrashPoints.everywhere(
                        3,
                        options(2),
                        world -> {
                            TestService doubler = world.service("doubler", Doubler::new);
                            TestService summing = world.service("summing", Summing::new);
                            Client client = world.client("client", "summing");
                            for (int number = 1; number <= 4; number++) {
                                var unused = client.send(new Go(number));
                            }
                            check(world, summing);
                            assertThat(doubler.isUp()).isTrue();
                        });
        assertThat(crashes).isGreaterThan(50);
    }

    private static void check(TestWorld world, TestService summing) {
        for (int pauses = 0; pauses < 20; pauses++) {
            world.run();
            world.advance(Duration.ofMillis(2));
        }
        assertThat(summing.query(new Sums()).number()).isEqualTo(10);
    }
}
