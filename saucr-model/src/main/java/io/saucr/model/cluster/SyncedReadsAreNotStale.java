package io.saucr.model.cluster;

/** R22: a read after a sync sees everything that was committed before the sync came in. */
final class SyncedReadsAreNotStale implements Invariant {
    @Override
    public String name() {
        return "synced reads";
    }

    @Override
    public String after(World world, int step) {
        return anywhere(world);
    }

    @Override
    public String anywhere(World world) {
        return world.history.stale() ? world.history.explanation() : null;
    }
}
