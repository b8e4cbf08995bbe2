package io.saucr.services.examples.dht;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Where keys lie, and the way there. */
class RingTest {

    private static List<String> nodes(int count) {
        return IntStream.range(0, count).mapToObj(number -> "node" + number).toList();
    }

    @Test
    void eachWayLeadsToTheOwnerInFewSteps() {
        for (int count : new int[] {1, 2, 3, 7, 20}) {
            Ring ring = new Ring(nodes(count));
            Set<String> owners = new HashSet<>();
            for (int number = 0; number < 100; number++) {
                String key = "key" + number;
                owners.add(ring.owner(key));
                for (String from : nodes(count)) {
                    String at = from;
                    int hops = 0;
                    while (!at.equals(ring.owner(key))) {
                        at = ring.next(at, key);
                        hops++;
                    }
                    assertThat(hops).isLessThanOrEqualTo(32 - Integer.numberOfLeadingZeros(count));
                    assertThat(ring.next(at, key)).isEqualTo(at);
                }
            }
            assertThat(owners).hasSizeGreaterThan(count / 2);
        }
    }

    @Test
    void aNewNodeTakesKeysFromOneOtherAlone() {
        Ring before = new Ring(nodes(9));
        Ring after = new Ring(nodes(10));
        Set<String> losers = new HashSet<>();
        for (int number = 0; number < 1_000; number++) {
            String key = "key" + number;
            if (!before.owner(key).equals(after.owner(key))) {
                assertThat(after.owner(key)).isEqualTo("node9");
                losers.add(before.owner(key));
            }
        }
        assertThat(losers).hasSize(1);
    }

    @Test
    void aRingWithoutNodesOrWithOneTwiceIsRefused() {
        assertThatThrownBy(() -> new Ring(List.of())).hasMessageContaining("one node or more");
        assertThatThrownBy(() -> new Ring(List.of("a", "a"))).hasMessageContaining("each once");
    }
}
