package io.saucr.services.examples.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Client;
import io.saucr.services.testkit.CrashPoints;
import io.saucr.services.testkit.TestService;
import io.saucr.services.testkit.TestWorld;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Both coordinators hand out the same work, and one of them survives. */
class CoordinatorTest {

    private static final List<String> TEXTS =
            List.of("a rose is a rose", "Is it a rose?", "", "it is");
    private static final Map<String, Long> WORDS = Map.of("a", 3L, "rose", 3L, "is", 3L, "it", 2L);

    /** The calls of a worker in a world of messages. */
    private record InWorld(TestWorld world, Client client) implements Tasks {

        @Override
        public Work next() {
            return world.await(client.ask(new Coordinator.Next(), Work.class));
        }

        @Override
        public void done(int task, Map<String, Long> counts) {
            Coordinator.Noted unused =
                    world.await(
                            client.ask(
                                    new Coordinator.Done(task, counts), Coordinator.Noted.class));
        }
    }

    private static InWorld begun(TestWorld world) {
        Client client = world.client("worker", "words");
        Coordinator.Noted unused =
                world.await(client.ask(new Coordinator.Begin(TEXTS, 2), Coordinator.Noted.class));
        return new InWorld(world, client);
    }

    private static Map<String, Long> result(TestService coordinator) {
        return coordinator.query(new Coordinator.Ask(), Coordinator.Counts.class).byWord();
    }

    @Test
    void bothCountTheSameWords() throws Exception {
        PlainCoordinator plain = new PlainCoordinator();
        plain.begin(TEXTS, 2);
        assertThat(plain.result()).isEmpty();
        assertThat(new Worker(plain).work()).isEqualTo(TEXTS.size() + 2);
        assertThat(plain.result()).isEqualTo(WORDS);

        TestWorld world = new TestWorld(1);
        TestService coordinator = world.service("words", Coordinator::new);
        InWorld tasks = begun(world);
        assertThat(result(coordinator)).isEmpty();
        assertThat(new Worker(tasks).work()).isEqualTo(TEXTS.size() + 2);
        assertThat(result(coordinator)).isEqualTo(WORDS);
    }

    @Test
    void noTaskIsForgottenOrGivenTwiceWhereverItCrashes() {
        int crashes =
                CrashPoints.everywhere(
                        7,
                        world -> {
                            TestService coordinator = world.service("words", Coordinator::new);
                            InWorld tasks = begun(world);
                            assertThat(worked(tasks)).isEqualTo(TEXTS.size() + 2);
                            assertThat(result(coordinator)).isEqualTo(WORDS);
                        });
        assertThat(crashes).isGreaterThan(50);
    }

    private static int worked(Tasks tasks) {
        try {
            return new Worker(tasks).work();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aTaskWhoseWorkerIsNotHeardOfIsGivenAgain() throws Exception {
        TestWorld world = new TestWorld(3);
        TestService coordinator = world.service("words", Coordinator::new);
        InWorld tasks = begun(world);
        Work lost = tasks.next();
        assertThat(lost.kind()).isEqualTo(Work.Kind.MAP);
        assertThat(tasks.next().task()).isNotEqualTo(lost.task());
        world.advance(Coordinator.PATIENCE.plusMillis(1));
        assertThat(tasks.next().task()).isEqualTo(lost.task());
        world.advance(Coordinator.PATIENCE.plusMillis(1));
        assertThat(new Worker(tasks).work()).isEqualTo(TEXTS.size() + 2);
        // Whoever is late tells nothing new.
        tasks.done(lost.task(), Map.of("late", 1L));
        assertThat(result(coordinator)).isEqualTo(WORDS);
    }
}
