package io.saucr.services.bench;

import java.util.concurrent.locks.LockSupport;

/**
 * How many hops of a pair that counts on its own are durable. One thread waits for it, any thread
 * moves it on.
 */
final class Progress {

    private volatile long durable;
    private volatile Thread waiting;

    void durable(long hop) {
        durable = hop;
        Thread thread = waiting;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    long durable() {
        return durable;
    }

    void await(long hop) throws InterruptedException {
        if (durable >= hop) {
            return;
        }
        waiting = Thread.currentThread();
        while (durable < hop) {
            LockSupport.park(this);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
        waiting = null;
    }
}
