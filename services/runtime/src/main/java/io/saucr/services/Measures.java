package io.saucr.services;

/**
 * Hears how long a service's turns and forces take, as they happen; for metrics. All methods must
 * return at once and throw nothing; durations are in nanoseconds.
 */
public interface Measures {

    /** Nobody listens. */
    Measures NONE =
            new Measures() {
                @Override
                public void ran(long nanos) {}

                @Override
                public void failed() {}

                @Override
                public void becameFinal(long nanos) {}

                @Override
                public void forced(long nanos) {}
            };

    /**
     * An input ran, as a turn or query, up to the end of its record's writing. Turn thread.
     *
     * @param nanos from its first step on
     */
    void ran(long nanos);

    /** A handler threw (K12). Turn thread. */
    void failed();

    /**
     * A handler runs again, as something that it saw has changed: {@link
     * Protection.Local#parallel}. Turn thread.
     */
    default void again() {}

    /**
     * A turn became final, and what it caused may leave (K4). Turn thread.
     *
     * @param nanos from its first step on
     */
    void becameFinal(long nanos);

    /** A force succeeded. A thread of the disk. */
    void forced(long nanos);
}
