package io.saucr.model.cluster;

/** S1: an acknowledged write is never missing from a serving ensemble. */
final class AcknowledgedIsNeverLost implements Invariant {
    @Override
    public String name() {
        return "S1";
    }

    @Override
    public String after(ModelCluster cluster, int step) {
        return anywhere(cluster);
    }

    @Override
    public String anywhere(ModelCluster cluster) {
        return cluster.history.lost() ? cluster.history.explanation() : null;
    }
}
