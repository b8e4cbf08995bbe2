package io.saucr.services.examples.independentset;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A random graph that everybody makes for himself from three numbers, and an order of its vertices
 * that is as random. Immutable.
 *
 * <p>One set is the right one: the one that comes first in the order among its neighbours is in,
 * its neighbours are out, and so on with the rest (Luby's algorithm with priorities that are drawn
 * once). It depends on nothing else, so that a run with crashes can be compared with one without.
 *
 * @param vertices from 1 to 10 million, numbered from 0
 * @param edgesEach from 0 to 1,000: so many edges are drawn for each vertex; loops and doubles
 *     count once or not at all
 * @param seed of edges and order
 */
public record Graph(int vertices, int edgesEach, long seed) {

    private static final int MOST_VERTICES = 10_000_000;
    private static final int MOST_EDGES_EACH = 1_000;

    public Graph {
        if (vertices < 1
                || vertices > MOST_VERTICES
                || edgesEach < 0
                || edgesEach > MOST_EDGES_EACH) {
            throw new IllegalArgumentException(
                    "a graph has 1 to %s vertices with 0 to %s edges each, not %s with %s"
                            .formatted(MOST_VERTICES, MOST_EDGES_EACH, vertices, edgesEach));
        }
    }

    /** The other end of one of the edges that are drawn for a vertex, perhaps itself. */
    int drawn(int vertex, int edge) {
        long bits = mixed(seed ^ mixed(((long) vertex << 10 | edge) + 1));
        return (int) Long.remainderUnsigned(bits, vertices);
    }

    /** Whether a vertex comes before another one. */
    boolean before(int one, int other) {
        int order = Long.compare(priority(one), priority(other));
        return order < 0 || (order == 0 && one < other);
    }

    private long priority(int vertex) {
        return mixed(~seed ^ mixed(-1L - vertex));
    }

    /** A number of a set of vertices that hardly another one has; that of two sets is the sum. */
    public static long digest(Iterable<Integer> vertices) {
        long digest = 0;
        for (int vertex : vertices) {
            digest += mixed(vertex + 1L);
        }
        return digest;
    }

    private static long mixed(long number) {
        long bits = (number ^ (number >>> 30)) * 0xBF58476D1CE4E5B9L;
        bits = (bits ^ (bits >>> 27)) * 0x94D049BB133111EBL;
        return bits ^ (bits >>> 31);
    }

    /** All neighbours of all vertices, for graphs that fit into memory. */
    List<Set<Integer>> neighbours() {
        List<Set<Integer>> all = new ArrayList<>();
        for (int vertex = 0; vertex < vertices; vertex++) {
            all.add(new HashSet<>());
        }
        for (int vertex = 0; vertex < vertices; vertex++) {
            for (int edge = 0; edge < edgesEach; edge++) {
                int other = drawn(vertex, edge);
                if (other != vertex) {
                    all.get(vertex).add(other);
                    all.get(other).add(vertex);
                }
            }
        }
        return all;
    }

    /** The set, found by one thread that has the whole graph: what services are compared with. */
    public Set<Integer> independentSet() {
        List<Set<Integer>> neighbours = neighbours();
        List<Integer> inOrder = new ArrayList<>();
        for (int vertex = 0; vertex < vertices; vertex++) {
            inOrder.add(vertex);
        }
        inOrder.sort((one, other) -> before(one, other) ? -1 : before(other, one) ? 1 : 0);
        Set<Integer> chosen = new TreeSet<>();
        for (int vertex : inOrder) {
            if (neighbours.get(vertex).stream().noneMatch(chosen::contains)) {
                chosen.add(vertex);
            }
        }
        return chosen;
    }
}
