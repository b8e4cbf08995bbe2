package io.saucr.services.testkit;

import io.saucr.services.turns.Guard;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * What a node's turns survive in: one disk, or the members of a service with standbys. It outlives
 * the starts of its node; one start uses it at a time. Thread of the test.
 */
interface Storage {

    /** Begins the next start, on what survived. */
    Guard start();

    /** The process that runs turns dies. */
    void crash();

    /** The newest turn that was taken. */
    long newest();

    /** What may happen in it. */
    void steps(List<BooleanSupplier> possible);

    /** The disk, where there is one. */
    MemoryDisk disk();

    /** Makes all final that was taken, so that another member can continue. */
    void finishAll();
}
