package io.saucr.model.cluster;

/** S2: at most one value per zxid is ever applied. */
final class OneValuePerZxid implements Invariant {
    @Override
    public String name() {
        return "S2";
    }

    @Override
    public String after(World world, int step) {
        return anywhere(world);
    }

    @Override
    public String anywhere(World world) {
        return world.history.contradicted() ? world.history.explanation() : null;
    }
}
