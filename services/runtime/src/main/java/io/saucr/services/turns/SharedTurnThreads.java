package io.saucr.services.turns;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A few threads for the turn loops of many partitions. A loop that has something to run waits in a
 * queue, and one thread at a time runs it; so an fsync that makes turns of many partitions final
 * wakes a few threads, not one for each.
 *
 * <p>A handler may compute for long, or hang. A thread that is in one loop for {@link #LONG_MILLIS}
 * is not counted any more while other loops wait: another thread runs those, and one thread ends
 * when there are more than enough again. So no loop waits for another one for longer than about
 * twice that time, and there are never more threads than loops.
 *
 * <p>The threads keep the process alive, and end with the last loop. Any thread.
 */
public final class SharedTurnThreads implements TurnThreads {

    /** After so long in one loop a thread is not counted any more. */
    static final long LONG_MILLIS = 20;

    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(LONG_MILLIS);

    /** After so long a loop that has more to run lets others run that wait for a thread. */
    private static final long TURN_OF_ONE_NANOS = 1_000_000;

    private final String name;
    private final int enough;
    private final ScheduledThreadPoolExecutor timer;

    /** Guards all below; held for a few steps only. */
    private final ReentrantLock lock = new ReentrantLock();

    /** Loops that have something to run. */
    private final Queue<Shared> ready = new ArrayDeque<>();

    private final Set<Worker> workers = new HashSet<>();

    /** Those of them that have nothing to run. */
    private final Deque<Worker> idle = new ArrayDeque<>();

    private int loops;
    private int made;
    private long wakeUps;
    private boolean watched;

    /**
     * No threads yet.
     *
     * @param name of the threads, for people
     * @param enough so many threads run loops while none of them takes long; 1 or more
     */
    public SharedTurnThreads(String name, int enough) {
        if (enough < 1) {
            throw new IllegalArgumentException("turns need 1 thread or more, not " + enough);
        }
        this.name = name;
        this.enough = enough;
        timer =
                new ScheduledThreadPoolExecutor(
                        1,
                        task -> {
                            Thread thread = new Thread(task, "timers of turns " + name);
                            thread.setDaemon(true);
                            return thread;
                        });
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(1, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
    }

    @Override
    public Runner of(Loop loop) {
        return new Shared(loop);
    }

    /** How many threads there are. */
    int threads() {
        lock.lock();
        try {
            return workers.size();
        } finally {
            lock.unlock();
        }
    }

    /** How often a thread was woken to run a loop. */
    long wakeUps() {
        lock.lock();
        try {
            return wakeUps;
        } finally {
            lock.unlock();
        }
    }

    private void began(Shared loop) {
        lock.lock();
        try {
            loops++;
            if (workers.size() < wanted()) {
                makeWorker();
            }
        } finally {
            lock.unlock();
        }
        loop.wake();
    }

    private void ended() {
        List<Worker> woken = new ArrayList<>();
        lock.lock();
        try {
            loops--;
            while (!idle.isEmpty() && workers.size() - woken.size() > wanted()) {
                woken.add(idle.pop());
            }
        } finally {
            lock.unlock();
        }
        woken.forEach(Worker::wake);
    }

    private void add(Shared loop) {
        Worker free;
        lock.lock();
        try {
            ready.add(loop);
            free = idle.poll();
            if (free == null) {
                watch();
            } else {
                wakeUps++;
            }
        } finally {
            lock.unlock();
        }
        if (free != null) {
            free.wake();
        }
    }

    private boolean othersWait() {
        lock.lock();
        try {
            return !ready.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /**
     * The loop waits behind the others. Each of those has a woken thread, or there is no idle one;
     * the thread that calls this runs one more.
     */
    private void yieldToOthers(Shared loop) {
        lock.lock();
        try {
            ready.add(loop);
            if (idle.isEmpty()) {
                watch();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Looks after a while whether those that wait are run. Holds the lock. */
    private void watch() {
        if (!watched) {
            watched = true;
            Future<?> unused = timer.schedule(this::look, LONG_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void look() {
        lock.lock();
        try {
            watched = false;
            if (ready.isEmpty()) {
                return;
            }
            watch();
            for (long more = wanted() - prompt(); more > 0; more--) {
                makeWorker();
            }
        } finally {
            lock.unlock();
        }
    }

    private int wanted() {
        return Math.min(enough, loops);
    }

    /** How many threads are not in one loop for long. Holds the lock. */
    private long prompt() {
        long now = System.nanoTime();
        return workers.stream().filter(it -> !it.isLong(now)).count();
    }

    private void makeWorker() {
        Worker made = new Worker("turns " + name + " " + ++this.made);
        made.thread.start();
        workers.add(made);
    }

    /** Runs the loops that are ready, one after the other. */
    private final class Worker {

        private final Thread thread;
        private volatile boolean sleeps;

        /** Since when it has not looked whether others wait; 0 where it runs no loop. */
        private volatile long sinceNanos;

        Worker(String name) {
            thread = new Thread(this::run, name);
            thread.setDaemon(false);
        }

        boolean isLong(long now) {
            long since = sinceNanos;
            return since != 0 && now - since >= LONG_NANOS;
        }

        void looks(long now) {
            sinceNanos = now | 1;
        }

        void wake() {
            sleeps = false;
            LockSupport.unpark(thread);
        }

        private void run() {
            boolean over = false;
            while (!over) {
                Shared next = null;
                lock.lock();
                try {
                    over = workers.size() > wanted() && prompt() > wanted();
                    next = over ? null : ready.poll();
                    if (over) {
                        workers.remove(this);
                    } else if (next == null) {
                        sleeps = true;
                        idle.push(this);
                    }
                } finally {
                    lock.unlock();
                }
                if (next != null) {
                    next.run(this);
                    sinceNanos = 0;
                } else if (!over) {
                    sleep();
                }
            }
        }

        private void sleep() {
            while (sleeps) {
                LockSupport.park(SharedTurnThreads.this);
            }
        }
    }

    private enum State {
        /** Has not begun, or is over. */
        NOWHERE,
        /** Waits for something to run. */
        IDLE,
        /** Waits for a thread. */
        READY,
        RUNS
    }

    /** A loop among others. */
    private final class Shared implements Runner {

        private final Loop loop;
        private final AtomicReference<State> state = new AtomicReference<>(State.NOWHERE);
        private final CountDownLatch end = new CountDownLatch(1);
        private volatile boolean begun;
        private volatile Thread thread;

        /** Whether its timer has come, which is not looked at yet. */
        private volatile boolean due;

        // Of the thread that runs it.
        private Future<?> pending;
        private long pendingNanos;

        Shared(Loop loop) {
            this.loop = loop;
        }

        @Override
        public void begin() {
            begun = true;
            state.set(State.IDLE);
            began(this);
        }

        @Override
        public void wake() {
            if (state.get() == State.IDLE && state.compareAndSet(State.IDLE, State.READY)) {
                add(this);
            }
        }

        @Override
        public boolean isCurrent() {
            return Thread.currentThread() == thread;
        }

        @Override
        public boolean await(Duration patience) throws InterruptedException {
            return !begun || end.await(patience.toNanos(), TimeUnit.NANOSECONDS);
        }

        private void run(Worker by) {
            state.set(State.RUNS);
            thread = Thread.currentThread();
            if (due) {
                due = false;
                pending = null;
            }
            long wait = Loop.OVER;
            try {
                do {
                    long begin = System.nanoTime();
                    by.looks(begin);
                    do {
                        wait = runOnce();
                    } while (wait == 0 && System.nanoTime() - begin < TURN_OF_ONE_NANOS);
                } while (wait == 0 && !othersWait());
            } finally {
                thread = null;
                leave(wait);
            }
        }

        /** As the loop says; 0 where it says how long to wait, and something has come meanwhile. */
        private long runOnce() {
            long wait = loop.run();
            return wait != Loop.OVER && loop.isReady() ? 0 : wait;
        }

        private void leave(long wait) {
            if (wait == Loop.OVER) {
                if (pending != null) {
                    pending.cancel(false);
                }
                state.set(State.NOWHERE);
                end.countDown();
                ended();
            } else if (wait == 0) {
                state.set(State.READY);
                yieldToOthers(this);
            } else {
                schedule(wait);
                state.set(State.IDLE);
                // What came before this was said to a loop that runs.
                if (due || loop.isReady()) {
                    wake();
                }
            }
        }

        private void schedule(long millis) {
            long at = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
            if (pending != null) {
                if (at - pendingNanos >= 0) {
                    return;
                }
                pending.cancel(false);
            }
            pendingNanos = at;
            pending = timer.schedule(this::isDue, millis, TimeUnit.MILLISECONDS);
        }

        private void isDue() {
            due = true;
            wake();
        }
    }
}
