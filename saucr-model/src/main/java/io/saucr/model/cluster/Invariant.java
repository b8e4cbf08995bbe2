package io.saucr.model.cluster;

import java.util.List;

/**
 * Something that must hold in a {@link ModelCluster} after every step, or at every commit. Keeps
 * nothing between calls.
 */
public interface Invariant {

    /** Its number in {@code docs/internals/rules.md}, or its name if it has none. */
    String name();

    /**
     * Looks at what a step may have broken, in a cluster in which the invariant held before.
     *
     * @return null if the invariant holds, else how it was broken
     */
    default String after(ModelCluster cluster, int step) {
        return null;
    }

    /**
     * As {@link #after}, but looks at everything, whatever the last step was.
     *
     * @return null if the invariant holds, else how it is broken
     */
    default String anywhere(ModelCluster cluster) {
        for (Server each : cluster.servers) {
            String broke = of(cluster, each);
            if (broke != null) {
                return broke;
            }
        }
        return null;
    }

    /** As {@link #anywhere}, of one server, for an invariant that each server keeps for itself. */
    default String of(ModelCluster cluster, Server server) {
        return null;
    }

    /**
     * Looks at a leader that is about to commit the entry at this position of its queue.
     *
     * @return null if the invariant holds, else how it was broken
     */
    default String onCommit(ModelCluster cluster, Server leader, int position) {
        return null;
    }

    /** Those that are looked at after every step. */
    static List<Invariant> afterSteps() {
        return List.of(
                new AcknowledgedIsNeverLost(),
                new OneValuePerZxid(),
                new RecoveringTakesNoPart(),
                new RecoveredHoldsWhatItAcked(),
                new LogOrder(),
                new MarkerTruth(),
                new SyncedReadsAreNotStale(),
                new ModeIsAllowed());
    }

    /** Those that are looked at when an entry commits. */
    static List<Invariant> atCommits() {
        return List.of(
                new OthersKnowWhatWasLogged(), new ModeSafety(), new RecoveredHoldsWhatItAcked());
    }
}
