package io.saucr.services.speculative;

import io.saucr.services.journal.ForwardingDisk;
import io.saucr.services.journal.SimulatedDisk;

/** A simulated disk whose fsyncs can be held up. Any thread. */
final class HeldDisk extends ForwardingDisk {

    final SimulatedDisk simulated;
    private boolean held;
    private int waiting;

    HeldDisk(long seed) {
        this(new SimulatedDisk(seed));
    }

    private HeldDisk(SimulatedDisk simulated) {
        super(simulated);
        this.simulated = simulated;
    }

    /** No fsync of a file succeeds before {@link #release}. */
    synchronized void hold() {
        held = true;
    }

    synchronized void release() {
        held = false;
        notifyAll();
    }

    /** Whether an fsync waits now. */
    synchronized boolean isWaitedFor() {
        return waiting > 0;
    }

    /** The process of this disk dies: nothing of it reaches the disk any more. */
    void halt() {
        simulated.halt();
        release();
    }

    @Override
    protected synchronized void beforeForce() {
        waiting++;
        try {
            while (held) {
                wait();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            waiting--;
        }
    }
}
