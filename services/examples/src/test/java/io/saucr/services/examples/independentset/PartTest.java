package io.saucr.services.examples.independentset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Client;
import io.saucr.services.core.Limits;
import io.saucr.services.testkit.CrashPoints;
import io.saucr.services.testkit.TestService;
import io.saucr.services.testkit.TestWorld;
import io.saucr.services.turns.TurnOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The set is that of one thread, whatever crashes. */
class PartTest {

    private static List<TestService> parts(TestWorld world, int count) {
        List<TestService> parts = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            String name = Part.name(number);
            parts.add(world.service(name, IndependentSetProcess.constructor(name, count)));
        }
        return parts;
    }

    private static Set<Integer> members(List<TestService> parts) {
        Set<Integer> members = new TreeSet<>();
        for (TestService part : parts) {
            members.addAll(
                    part.query(new Part.Members(0, 1_000_000), Part.Vertices.class).numbers());
        }
        return members;
    }

    private static Part.Solved expected(Graph graph) {
        Set<Integer> set = graph.independentSet();
        return new Part.Solved(set.size(), Graph.digest(set));
    }

    @Test
    void theSetOfOneThreadIsIndependentAndMaximal() {
        for (int edges = 0; edges < 6; edges++) {
            Graph graph = new Graph(300, edges, edges);
            List<Set<Integer>> neighbours = graph.neighbours();
            Set<Integer> set = graph.independentSet();
            for (int vertex = 0; vertex < graph.vertices(); vertex++) {
                assertThat(neighbours.get(vertex).stream().noneMatch(set::contains))
                        .as("vertex " + vertex + " of " + graph)
                        .isEqualTo(set.contains(vertex));
            }
        }
    }

    @Test
    void partsFindTheSetOfOneThread() {
        for (int count : new int[] {1, 2, 4}) {
            for (Graph graph :
                    List.of(
                            new Graph(1, 3, 1),
                            new Graph(3, 0, 1),
                            new Graph(40, 20, 2),
                            new Graph(600, 2, 3))) {
                TestWorld world = new TestWorld(count);
                List<TestService> parts = parts(world, count);
                Client client = world.client("client", "part0");
                Part.Solved solved =
                        world.await(client.ask(new Part.Solve(graph), Part.Solved.class));
                assertThat(solved).isEqualTo(expected(graph));
                assertThat(members(parts)).isEqualTo(graph.independentSet());
                assertThat(world.await(client.ask(new Part.Solve(graph), Part.Solved.class)))
                        .isEqualTo(solved);
            }
        }
    }

    @Test
    void theSetIsTheSameWhereverItCrashes() {
        Graph graph = new Graph(12, 2, 5);
        int crashes =
                CrashPoints.everywhere(
                        3,
                        world -> {
                            List<TestService> parts = parts(world, 2);
                            CompletableFuture<Part.Solved> solved =
                                    world.client("client", "part0")
                                            .ask(new Part.Solve(graph), Part.Solved.class);
                            world.run();
                            assertThat(solved).isCompletedWithValue(expected(graph));
                            assertThat(members(parts)).isEqualTo(graph.independentSet());
                        });
        assertThat(crashes).isGreaterThan(50);
    }

    @Test
    void theSetIsTheSameWhereAllCrashAtOnceAgainAndAgain() {
        Graph graph = new Graph(600, 2, 7);
        // Crashes as close to each other as here would look like poison.
        Limits patient = new Limits(256, 1_000, true, 0, 0, 1_024, 3_600_000);
        Random random = new Random(4);
        for (int seed = 0; seed < 3; seed++) {
            TestWorld world =
                    new TestWorld(seed, TurnOptions.standard().with(patient).foldBytes(4 << 10));
            List<TestService> parts = parts(world, 4);
            CompletableFuture<Part.Solved> solved =
                    world.client("client", "part0").ask(new Part.Solve(graph), Part.Solved.class);
            for (int crashes = 0; crashes < 20; crashes++) {
                for (int steps = random.nextInt(100); steps > 0 && world.step(); steps--) {}
                parts.forEach(TestService::crash);
                parts.forEach(TestService::start);
            }
            world.run();
            assertThat(solved).isCompletedWithValue(expected(graph));
            assertThat(members(parts)).isEqualTo(graph.independentSet());
        }
    }

    @Test
    void whatCannotBeIsRefused() {
        TestWorld world = new TestWorld(1);
        List<TestService> unused = parts(world, 2);
        Client second = world.client("second", "part1");
        Client first = world.client("first", "part0");
        Graph graph = new Graph(10, 1, 1);
        assertThatThrownBy(() -> world.await(second.ask(new Part.Solve(graph), Part.Solved.class)))
                .hasMessageContaining("Refused");
        assertThat(world.await(first.ask(new Part.Solve(graph), Part.Solved.class)))
                .isEqualTo(expected(graph));
        Graph other = new Graph(11, 1, 1);
        assertThatThrownBy(() -> world.await(first.ask(new Part.Solve(other), Part.Solved.class)))
                .hasMessageContaining("Refused");
        assertThatThrownBy(() -> new Graph(0, 1, 1)).hasMessageContaining("not 0 with 1");
        assertThatThrownBy(() -> IndependentSetProcess.constructor("part2", 2))
                .hasMessageContaining("part0 to part1, not part2");
    }
}
