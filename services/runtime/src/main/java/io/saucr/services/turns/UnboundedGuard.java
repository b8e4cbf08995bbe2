package io.saucr.services.turns;

/**
 * A guard that writes to no disk which could fill up or be slow: its room never ends, and there is
 * no fsync to measure. It is its own {@link Guard.Folding} and {@link Guard.Room}.
 */
public interface UnboundedGuard extends Guard, Guard.Folding, Guard.Room {

    @Override
    default Folding folding() {
        return this;
    }

    @Override
    default Room room() {
        return this;
    }

    @Override
    default boolean isThere() {
        return true;
    }

    @Override
    default boolean isScarce() {
        return false;
    }

    @Override
    default long lastFsyncMicros() {
        return 0;
    }
}
