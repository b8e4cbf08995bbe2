package io.saucr.services.replay;

import io.saucr.services.core.replay.LaneEvent;
import io.saucr.services.core.replay.LaneEvent.Kind;
import io.saucr.services.core.replay.Resource;
import java.util.ArrayDeque;
import java.util.Date;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock, or a read-write lock, that lanes really hold. A lane records or replays each acquisition
 * and each release while it holds the lock (X2). A thread of a query holds it without events (X15).
 */
final class LaneLock {

    /** After so long a lane looks whether it waits in a circle (X11). */
    private static final long CIRCLE_MILLIS = 10;

    /** So long a query waits: it could wait for a lane that waits for it. */
    private static final long QUERY_MILLIS = 10_000;

    private static final long NOT_TIMED = Long.MAX_VALUE;

    /** A lane that awaits a condition. */
    private static final class Waiter {
        boolean signalled;
    }

    private final String name;
    private final Resource resource;

    // Guarded by this. A lane or a thread of a query.
    private Thread owner;
    private int depth;
    private final Map<Thread, Integer> readers = new HashMap<>();

    LaneLock(String name, Resource resource) {
        this.name = name;
        this.resource = resource;
    }

    String name() {
        return name;
    }

    Lock exclusive() {
        return new View(false);
    }

    Lock shared() {
        return new View(true);
    }

    /** Lanes that hold it. Any thread. */
    synchronized Set<Integer> holders() {
        Set<Integer> holders = new HashSet<>();
        if (owner instanceof Lane lane) {
            holders.add(lane.number());
        }
        for (Thread each : readers.keySet()) {
            if (each instanceof Lane lane) {
                holders.add(lane.number());
            }
        }
        return holders;
    }

    /** Lanes that wait look again. Any thread. */
    synchronized void wake() {
        notifyAll();
    }

    private boolean isFree(boolean shared) {
        return owner == null && (shared || readers.isEmpty());
    }

    private LaneEvent event(Kind exclusive, Kind sharing, boolean shared) {
        return new LaneEvent(shared ? sharing : exclusive, resource);
    }

    // ---- acquisition

    /** Acquires it once more, if this thread holds it: no event. */
    private synchronized boolean isNested(boolean shared) {
        Thread self = Thread.currentThread();
        Integer reads = readers.get(self);
        if (shared ? owner == self : reads != null) {
            throw new IllegalStateException(
                    "read-write lock "
                            + name
                            + " is held to "
                            + (shared ? "write" : "read")
                            + ": release it first");
        }
        if (shared && reads != null) {
            readers.put(self, reads + 1);
            return true;
        }
        if (!shared && owner == self) {
            depth++;
            return true;
        }
        return false;
    }

    private void take(Thread self, boolean shared, int times) {
        if (shared) {
            readers.put(self, times);
        } else {
            owner = self;
            depth = times;
        }
        if (self instanceof Lane lane) {
            lane.holds(this, shared);
        }
    }

    private void lock(boolean shared) {
        if (isNested(shared)) {
            return;
        }
        Lane lane = Lane.current();
        if (lane == null) {
            if (!acquireForQuery(shared, QUERY_MILLIS)) {
                throw new IllegalStateException(
                        "a query waited %d ms for lock %s".formatted(QUERY_MILLIS, name));
            }
            return;
        }
        LaneEvent event = event(Kind.ACQUIRE, Kind.ACQUIRE_SHARED, shared);
        boolean records = lane.before(event) == Lane.RECORDS;
        acquire(lane, event, 0, records, false, 1);
        lane.after();
    }

    /**
     * Waits for the lock, takes it, and the event happens.
     *
     * @param records whether the lane may be killed while it waits
     */
    private void acquire(
            Lane lane,
            LaneEvent event,
            int choice,
            boolean records,
            boolean reacquires,
            int times) {
        boolean shared = event.kind() == Kind.ACQUIRE_SHARED || event.kind() == Kind.TRY_SHARED;
        for (; ; ) {
            synchronized (this) {
                if (isFree(shared)) {
                    lane.waitsNoMore();
                    take(lane, shared, times);
                    lane.happened(event, choice);
                    return;
                }
                lane.checkOver();
                if (records) {
                    lane.dieIfChosen();
                    lane.waitsFor(this, reacquires);
                }
                pause(CIRCLE_MILLIS);
            }
            if (records) {
                lane.findCircle();
            }
        }
    }

    /** With the monitor: until something changes, or for so long. Callers look again. */
    @SuppressWarnings("WaitNotInLoop")
    private void pause(long millis) {
        try {
            wait(millis);
        } catch (InterruptedException e) {
            // An interrupt is no event of a lane; it would differ from member to member.
            return;
        }
    }

    private synchronized boolean acquireForQuery(boolean shared, long millis) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (!isFree(shared)) {
            long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
            if (left <= 0) {
                return false;
            }
            pause(left);
        }
        take(Thread.currentThread(), shared, 1);
        return true;
    }

    private boolean tryLock(boolean shared, long nanos) {
        if (isNested(shared)) {
            return true;
        }
        Lane lane = Lane.current();
        if (lane == null) {
            return acquireForQuery(shared, TimeUnit.NANOSECONDS.toMillis(nanos));
        }
        LaneEvent event = event(Kind.TRY, Kind.TRY_SHARED, shared);
        int choice = lane.before(event);
        if (choice == Lane.RECORDS) {
            choice = tries(lane, event, shared, nanos);
        } else if (choice == 1) {
            acquire(lane, event, 1, false, false, 1);
        } else {
            lane.happened(event, 0);
        }
        lane.after();
        return choice == 1;
    }

    private synchronized int tries(Lane lane, LaneEvent event, boolean shared, long nanos) {
        long from = System.nanoTime();
        while (!isFree(shared)) {
            lane.checkOver();
            long left = nanos - (System.nanoTime() - from);
            if (left <= 0) {
                lane.happened(event, 0);
                return 0;
            }
            pause(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
        }
        take(lane, shared, 1);
        lane.happened(event, 1);
        return 1;
    }

    // ---- release

    private void unlock(boolean shared) {
        Thread self = Thread.currentThread();
        synchronized (this) {
            int times = shared ? readers.getOrDefault(self, 0) : owner == self ? depth : 0;
            if (times == 0) {
                throw notHeld();
            }
            if (times > 1) {
                if (shared) {
                    readers.put(self, times - 1);
                } else {
                    depth--;
                }
                return;
            }
        }
        if (self instanceof Lane lane) {
            open(lane, shared);
        } else {
            synchronized (this) {
                letGo(self, shared);
            }
        }
    }

    /** Releases it, however often the lane acquired it. */
    void open(Lane lane, boolean shared) {
        LaneEvent event = event(Kind.RELEASE, Kind.RELEASE_SHARED, shared);
        int unused = lane.before(event);
        synchronized (this) {
            lane.happened(event, 0);
            letGo(lane, shared);
        }
        lane.after();
    }

    private void letGo(Thread self, boolean shared) {
        if (shared) {
            readers.remove(self);
        } else {
            owner = null;
            depth = 0;
        }
        if (self instanceof Lane lane) {
            lane.holdsNoMore(this, shared);
        }
        notifyAll();
    }

    private IllegalMonitorStateException notHeld() {
        return new IllegalMonitorStateException("lock " + name + " is not held by this handler");
    }

    // ---- condition

    /** What a handler waits for while it lets the lock go. As with any condition, callers loop. */
    @SuppressWarnings("WaitNotInLoop")
    private final class Waiting implements Condition {

        // Guarded by the lock. Empty in a replay: the order of acquisitions is in the trace.
        private final Deque<Waiter> waiters = new ArrayDeque<>();

        @Override
        public void await() {
            boolean unused = await(NOT_TIMED);
        }

        @Override
        public void awaitUninterruptibly() {
            await();
        }

        @Override
        public boolean await(long time, TimeUnit unit) {
            return await(unit.toNanos(time));
        }

        @Override
        public long awaitNanos(long nanos) {
            throw new UnsupportedOperationException(
                    "what is left of the time differs from member to member: use"
                            + " await(time, unit)");
        }

        @Override
        public boolean awaitUntil(Date deadline) {
            throw new UnsupportedOperationException(
                    "clocks differ from member to member: use await(time, unit)");
        }

        private boolean await(long nanos) {
            Lane lane = Lane.current();
            if (lane == null) {
                throw new IllegalStateException(
                        "a query can not await a condition of lock " + name);
            }
            int times;
            synchronized (LaneLock.this) {
                if (owner != lane) {
                    throw notHeld();
                }
                times = depth;
            }
            LaneEvent awaits = new LaneEvent(Kind.AWAIT, resource);
            boolean records = lane.before(awaits) == Lane.RECORDS;
            Waiter waiter = new Waiter();
            synchronized (LaneLock.this) {
                lane.happened(awaits, 0);
                letGo(lane, false);
                if (records) {
                    waiters.add(waiter);
                }
            }
            boolean woken = true;
            if (records) {
                woken = isSignalled(lane, waiter, nanos);
            }
            boolean timed = nanos != NOT_TIMED;
            LaneEvent wakes = new LaneEvent(timed ? Kind.WAKE : Kind.ACQUIRE, resource);
            // A lane that awaited in a replay wakes if it records now, and looks again (X9).
            int choice = lane.before(wakes);
            boolean recordsWake = choice == Lane.RECORDS;
            if (recordsWake) {
                choice = timed && woken ? 1 : 0;
            }
            acquire(lane, wakes, choice, recordsWake, true, times);
            lane.after();
            return choice == 1;
        }

        private boolean isSignalled(Lane lane, Waiter waiter, long nanos) {
            long from = System.nanoTime();
            synchronized (LaneLock.this) {
                while (!waiter.signalled) {
                    lane.checkOver();
                    if (nanos == NOT_TIMED) {
                        pause(0);
                        continue;
                    }
                    long left = nanos - (System.nanoTime() - from);
                    if (left <= 0) {
                        waiters.remove(waiter);
                        return false;
                    }
                    pause(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
                }
                return true;
            }
        }

        @Override
        public void signal() {
            signal(1);
        }

        @Override
        public void signalAll() {
            signal(Integer.MAX_VALUE);
        }

        private void signal(int most) {
            synchronized (LaneLock.this) {
                if (owner != Thread.currentThread()) {
                    throw notHeld();
                }
                for (int woken = 0; woken < most && !waiters.isEmpty(); woken++) {
                    waiters.remove().signalled = true;
                }
                LaneLock.this.notifyAll();
            }
        }
    }

    /** The lock as handlers see it. */
    private final class View implements Lock {
        private final boolean sharing;

        View(boolean sharing) {
            this.sharing = sharing;
        }

        @Override
        public void lock() {
            LaneLock.this.lock(sharing);
        }

        @Override
        public void lockInterruptibly() {
            LaneLock.this.lock(sharing);
        }

        @Override
        public boolean tryLock() {
            return LaneLock.this.tryLock(sharing, 0);
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) {
            return LaneLock.this.tryLock(sharing, unit.toNanos(time));
        }

        @Override
        public void unlock() {
            LaneLock.this.unlock(sharing);
        }

        @Override
        public Condition newCondition() {
            if (sharing) {
                throw new UnsupportedOperationException(
                        "a lock that is held to read has no condition");
            }
            return new Waiting();
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
