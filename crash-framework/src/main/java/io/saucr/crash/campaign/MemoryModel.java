package io.saucr.crash.campaign;

import io.saucr.ensemble.Majority;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * For a sequence of states: which servers know all acknowledged writes if a crash takes everything
 * from a server. Two systems are judged by it. Stateless.
 */
public final class MemoryModel {
    private MemoryModel() {}

    /**
     * Whether a system that acknowledges from memory and trusts every restarted server may lose an
     * acknowledged write: only if, at some time, a majority could be formed of servers that had
     * lost their memory and not yet regained it. A loss where this is false is the tester's own
     * mistake.
     *
     * @param served whether the ensemble served in the state of this index, from 0; where it did,
     *     its servers have learned again what they had forgotten. Called only for states with a
     *     majority
     */
    public static boolean lossPossible(Sequence sequence, IntPredicate served) {
        Set<Integer> forgetful = new HashSet<>();
        int n = sequence.servers();
        ClusterState before = sequence.states().get(0);
        for (int i = 0; i < sequence.states().size(); i++) {
            ClusterState state = sequence.states().get(i);
            forgetful.addAll(before.without(state));
            if (state.hasMajorityOf(n)) {
                long up = state.alive().stream().filter(forgetful::contains).count();
                if (up >= Majority.of(n)) {
                    return true;
                }
                if (served.test(i)) {
                    // Every majority holds one that knows; it leads, and the others learn from it.
                    forgetful.removeAll(state.alive());
                }
            }
            before = state;
        }
        return false;
    }

    /**
     * Ideal viewstamped replication: a restarted server is of no use until a majority that never
     * forgot answers it.
     *
     * @return whether it serves at the end
     */
    public static boolean viewstampedServes(Sequence sequence) {
        Set<Integer> recovering = new HashSet<>();
        int n = sequence.servers();
        ClusterState before = sequence.states().get(0);
        boolean serves = true;
        for (ClusterState state : sequence.states()) {
            recovering.addAll(before.without(state));
            long normal = state.alive().stream().filter(id -> !recovering.contains(id)).count();
            serves = normal >= Majority.of(n);
            if (serves) {
                recovering.removeAll(state.alive());
            }
            before = state;
        }
        return serves;
    }
}
