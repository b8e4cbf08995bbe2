package io.saucr.crash.campaign;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * Walks the graph of cluster states at random, as section 5.1 of the paper: a child is visited with
 * a probability that falls with the length of the path so far and with the difference in alive
 * servers. Here: after k steps the walk continues with probability 0.85 to the power of k, else it
 * returns to all alive; a child that differs in d servers weighs 2 to the power of -d. The same
 * seed gives the same sequences, and a longer list begins with the shorter one.
 */
public final class SequenceGenerator {
    private static final double GO_ON = 0.85;
    private static final int MOST_STATES = 14;

    private final int servers;
    private final Random random;

    /**
     * @param servers 3 to 9
     */
    public SequenceGenerator(int servers, long seed) {
        if (servers < 3 || servers > 9) {
            throw new IllegalArgumentException(servers + " servers: expected 3 to 9");
        }
        this.servers = servers;
        this.random = new Random(seed);
    }

    /**
     * Different sequences.
     *
     * @throws IllegalArgumentException if the walk does not find that many
     */
    public List<Sequence> generate(int count) {
        Set<Sequence> found = new LinkedHashSet<>();
        for (int tries = 0; found.size() < count; tries++) {
            if (tries > 1000 + 100L * count) {
                throw new IllegalArgumentException(
                        "only " + found.size() + " different sequences found, not " + count);
            }
            found.add(walk());
        }
        return List.copyOf(found);
    }

    private Sequence walk() {
        ClusterState all = ClusterState.all(servers);
        List<ClusterState> path = new ArrayList<>(List.of(all));
        double goOn = 1;
        ClusterState now = all;
        while (path.size() < MOST_STATES && (path.size() < 2 || random.nextDouble() < goOn)) {
            now = child(now);
            path.add(now);
            goOn *= GO_ON;
        }
        if (!now.equals(all)) {
            path.add(all);
        }
        return new Sequence(path);
    }

    private ClusterState child(ClusterState now) {
        List<ClusterState> children = new ArrayList<>();
        List<Double> weights = new ArrayList<>();
        double total = 0;
        for (int bits = 1; bits < 1 << servers; bits++) {
            ClusterState child = state(bits);
            int lost = now.without(child).size();
            int gained = child.without(now).size();
            if ((lost == 0) != (gained == 0)) {
                double weight = Math.pow(2, -(lost + gained));
                children.add(child);
                weights.add(weight);
                total += weight;
            }
        }
        double at = random.nextDouble() * total;
        int i = 0;
        while (i < children.size() - 1 && at >= weights.get(i)) {
            at -= weights.get(i);
            i++;
        }
        return children.get(i);
    }

    private ClusterState state(int bits) {
        TreeSet<Integer> alive = new TreeSet<>();
        for (int id = 1; id <= servers; id++) {
            if ((bits & (1 << (id - 1))) != 0) {
                alive.add(id);
            }
        }
        return new ClusterState(alive);
    }
}
