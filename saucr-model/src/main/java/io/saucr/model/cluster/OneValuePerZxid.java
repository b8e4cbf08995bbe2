package io.saucr.model.cluster;

/** S2: at most one value per zxid is ever applied. */
final class OneValuePerZxid implements Invariant {
    @Override
    public String name() {
        return "S2";
    }

    @Override
    public String after(ModelCluster cluster, int step) {
        return anywhere(cluster);
    }

    @Override
    public String anywhere(ModelCluster cluster) {
        return cluster.history.contradicted() ? cluster.history.explanation() : null;
    }
}
