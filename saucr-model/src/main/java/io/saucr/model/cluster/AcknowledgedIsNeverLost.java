package io.saucr.model.cluster;

/** S1: an acknowledged write is never missing from a serving ensemble. */
final class AcknowledgedIsNeverLost implements Invariant {
    @Override
    public String name() {
        return "S1";
    }

    @Override
    public String after(World world, int step) {
        return anywhere(world);
    }

    @Override
    public String anywhere(World world) {
        return world.history.lost() ? world.history.explanation() : null;
    }
}
