package io.saucr.services.turns;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Gives turn loops their threads: {@link #own} one to each, {@link SharedTurnThreads} a few to
 * many.
 */
public interface TurnThreads {

    /** What a thread runs, one at a time. */
    interface Loop {

        /** Never again: the loop has come to its end. */
        long OVER = -1;

        /** Its name, for people. */
        String name();

        /**
         * Runs some steps; they do not wait.
         *
         * @return after how many milliseconds it is to run again though nothing woke it: 0 for at
         *     once, {@link #OVER} for never
         */
        long run();

        /** Whether there is something to run, though the last run found nothing. Any thread. */
        boolean isReady();
    }

    /** The thread of one loop. Any thread. */
    interface Runner {

        /** The loop runs from now on. Once. */
        void begin();

        /** There may be something to run. Cheap where the loop runs already. */
        void wake();

        /** Whether the caller is the loop's thread now. */
        boolean isCurrent();

        /**
         * Waits until the loop has come to its end.
         *
         * @return whether it has, or has never begun
         */
        boolean await(Duration patience) throws InterruptedException;
    }

    Runner of(Loop loop);

    /** A thread for each loop alone, which ends with it. */
    static TurnThreads own() {
        return Own::new;
    }

    /** The thread of one loop. */
    final class Own implements Runner {

        private final Loop loop;
        private final Thread thread;
        private final CountDownLatch ended = new CountDownLatch(1);
        private volatile boolean begun;
        private volatile boolean parked;

        private Own(Loop loop) {
            this.loop = loop;
            thread = new Thread(this::run, "turns " + loop.name());
        }

        @Override
        public void begin() {
            begun = true;
            thread.start();
        }

        private void run() {
            try {
                for (long wait = loop.run(); wait != Loop.OVER; wait = loop.run()) {
                    if (wait > 0) {
                        park(wait);
                    }
                }
            } finally {
                ended.countDown();
            }
        }

        private void park(long millis) {
            parked = true;
            // Whatever comes after this look sees that the thread is parked, and wakes it.
            if (!loop.isReady()) {
                LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(millis));
            }
            parked = false;
        }

        @Override
        public void wake() {
            if (parked) {
                LockSupport.unpark(thread);
            }
        }

        @Override
        public boolean isCurrent() {
            return Thread.currentThread() == thread;
        }

        @Override
        public boolean await(Duration patience) throws InterruptedException {
            return !begun || ended.await(patience.toNanos(), TimeUnit.NANOSECONDS);
        }
    }
}
