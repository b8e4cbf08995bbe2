package io.saucr.model.cluster;

/** R22: a read after a sync sees everything that was committed before the sync came in. */
final class SyncedReadsAreNotStale implements Invariant {
    @Override
    public String name() {
        return "synced reads";
    }

    @Override
    public String after(ModelCluster cluster, int step) {
        return anywhere(cluster);
    }

    @Override
    public String anywhere(ModelCluster cluster) {
        return cluster.history.stale() ? cluster.history.explanation() : null;
    }
}
