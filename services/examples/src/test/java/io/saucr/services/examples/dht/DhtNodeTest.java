package io.saucr.services.examples.dht;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Client;
import io.saucr.services.testkit.CrashPoints;
import io.saucr.services.testkit.TestService;
import io.saucr.services.testkit.TestWorld;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A small table, crashed anywhere and everywhere. */
class DhtNodeTest {

    private static final int NODES = 4;

    private static List<TestService> nodes(TestWorld world, int count) {
        List<TestService> nodes = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            String name = "node" + number;
            nodes.add(world.service(name, DhtProcess.constructor(name, count)));
        }
        return nodes;
    }

    private static long puts(List<TestService> nodes) {
        long puts = 0;
        for (TestService node : nodes) {
            DhtNode.Holds holds = node.query(new DhtNode.Ask(), DhtNode.Holds.class);
            assertThat(holds.waiting()).isZero();
            puts += holds.puts();
        }
        return puts;
    }

    /** The values of a key, on whichever nodes it lies. */
    private static List<String> lying(List<TestService> nodes, String key) {
        return nodes.stream()
                .map(node -> node.query(new DhtNode.Look(key), DhtNode.Found.class).value())
                .filter(Objects::nonNull)
                .toList();
    }

    @Test
    void eachNodeFindsEachKeyAfterAllOfThemCrashedAtOnce() {
        TestWorld world = new TestWorld(1);
        List<TestService> nodes = nodes(world, NODES);
        List<Client> clients = new ArrayList<>();
        for (int number = 0; number < NODES; number++) {
            clients.add(world.client("of-node" + number, "node" + number));
        }
        Map<String, String> expected = new HashMap<>();
        List<CompletableFuture<DhtNode.Found>> unanswered = new ArrayList<>();
        for (int number = 0; number < 80; number++) {
            DhtNode.Put put = new DhtNode.Put("key" + number % 60, "value" + number);
            CompletableFuture<DhtNode.Found> found =
                    clients.get(number % NODES).ask(put, DhtNode.Found.class);
            if (number < 70) {
                assertThat(world.await(found).value()).isEqualTo(put.value());
            } else {
                unanswered.add(found);
            }
            expected.put(put.key(), put.value());
        }
        for (int round = 0; round < 3; round++) {
            for (int step = 0; step < 10; step++) {
                boolean unused = world.step();
            }
            nodes.forEach(TestService::crash);
            nodes.forEach(TestService::start);
        }
        unanswered.forEach(world::await);
        expected.forEach(
                (key, value) -> {
                    for (Client client : clients) {
                        DhtNode.Found found =
                                world.await(client.ask(new DhtNode.Get(key), DhtNode.Found.class));
                        assertThat(found.value()).isEqualTo(value);
                        assertThat(found.hops()).isLessThanOrEqualTo(3);
                    }
                });
        assertThat(puts(nodes)).isEqualTo(80);
        DhtNode.Found none =
                world.await(clients.get(0).ask(new DhtNode.Get("nothing"), DhtNode.Found.class));
        assertThat(none.value()).isNull();
        assertThat(none.puts()).isZero();
    }

    @Test
    void aPutIsCarriedOutOnceWhereverItCrashes() {
        int crashes =
                CrashPoints.everywhere(
                        5,
                        world -> {
                            List<TestService> nodes = nodes(world, 3);
                            Client client = world.client("client", "node0");
                            List<CompletableFuture<DhtNode.Found>> found = new ArrayList<>();
                            for (int number = 0; number < 4; number++) {
                                DhtNode.Put put =
                                        new DhtNode.Put("key" + number % 3, "value" + number);
                                found.add(client.ask(put, DhtNode.Found.class));
                            }
                            world.run();
                            assertThat(found).allMatch(it -> it.isDone() && it.join().puts() > 0);
                            assertThat(puts(nodes)).isEqualTo(4);
                            for (int key = 0; key < 3; key++) {
                                assertThat(lying(nodes, "key" + key))
                                        .containsExactly("value" + (key == 0 ? 3 : key));
                            }
                        });
        assertThat(crashes).isGreaterThan(100);
    }

    @Test
    void aNodeThatIsNotInTheListIsRefused() {
        assertThatThrownBy(() -> DhtProcess.constructor("node4", 4))
                .hasMessageContaining("node0 to node3, not node4");
        assertThatThrownBy(() -> DhtProcess.constructor("node0", 0)).hasMessageContaining("not 0");
        assertThatThrownBy(
                        () -> new TestWorld(1).service("a", s -> new DhtNode(s, "a", List.of("b"))))
                .hasStackTraceContaining("a is not one of the nodes [b]");
    }
}
