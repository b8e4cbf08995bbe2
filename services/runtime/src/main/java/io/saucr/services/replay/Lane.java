package io.saucr.services.replay;

import io.saucr.services.core.replay.DeposedException;
import io.saucr.services.core.replay.LaneEvent;
import io.saucr.services.core.replay.LaneEvent.Kind;
import io.saucr.services.core.replay.LockWaits;
import io.saucr.services.core.replay.LockWaits.Waiting;
import io.saucr.services.core.replay.RecordedLane;
import io.saucr.services.core.replay.TurnRecord.Begin;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lane: its thread runs one handler after the other. Each event is replayed or recorded; which of
 * both is decided before the event, and stays until it has happened. Methods that say nothing else
 * are for the lane's thread.
 */
final class Lane extends Thread {

    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

    /** Said by {@link #before}: the event is to be recorded, and its result found here. */
    static final int RECORDS = -1;

    private static final LaneEvent END = new LaneEvent(Kind.END, null);
    private static final LaneEvent CHOOSE = new LaneEvent(Kind.CHOOSE, null);

    /** A lock that the handler holds. */
    private record Held(LaneLock lock, boolean shared) {}

    /** A lock that the lane waits for. Another wait is another object. */
    static final class Wait {

        private final LaneLock lock;
        private final long request;
        private final boolean reacquires;

        Wait(LaneLock lock, long request, boolean reacquires) {
            this.lock = lock;
            this.request = request;
            this.reacquires = reacquires;
        }

        /** As {@link LockWaits} takes it. Any thread. */
        Waiting waiting() {
            return new Waiting(lock.holders(), request, reacquires);
        }
    }

    private final ReplayedLanes all;
    private final int lane;
    private final List<Held> held = new ArrayList<>();

    /** Since the lane records: the rest of its request. */
    private RecordedLane recorded;

    /** The call of a map that it is inside, or null. */
    private String inside;

    private boolean killed;
    private long request;

    /** The lock that it waits for, or null; others read it. */
    private volatile Wait waits;

    /** The wait in which it is to be killed. */
    private volatile Wait kill;

    // Guarded by all.
    private Begin begin;
    private boolean ended;
    private boolean threw;
    private byte[] reply;

    Lane(ReplayedLanes all, int lane, String name) {
        super(name);
        this.all = all;
        this.lane = lane;
        setDaemon(true);
    }

    /** The lane of this thread, or null: of a query. */
    static Lane current() {
        return Thread.currentThread() instanceof Lane lane ? lane : null;
    }

    int number() {
        return lane;
    }

    // ---- the request, guarded by all

    /** A request begins here. */
    void begin(Begin request) {
        begin = request;
        ended = false;
        threw = false;
        reply = null;
    }

    /** Whether the handler has ended, and its request is not consumed yet. */
    boolean hasEnded() {
        return begin != null && ended;
    }

    boolean threw() {
        return threw;
    }

    /** The reply of the handler that ended; empty if it threw. */
    byte[] reply() {
        return threw ? new byte[0] : reply;
    }

    /** The request that runs here, or null. */
    Begin request() {
        return begin;
    }

    /** The request is consumed. */
    void consumed() {
        begin = null;
    }

    // ---- the thread

    @Override
    public void run() {
        try {
            for (; ; ) {
                runHandler(all.nextRequest(this));
            }
        } catch (LifeOverError | DeposedException e) {
            LOG.debug("{}: {}", getName(), e.getMessage());
        } catch (Throwable e) {
            all.failed(e);
        }
    }

    private void runHandler(Begin request) {
        recorded = null;
        killed = false;
        this.request = request.request();
        byte[] answer = new byte[0];
        boolean failed = false;
        try {
            after();
            answer =
                    all.handler()
                            .handle(
                                    request.body(),
                                    new LaneTurn(this, request.nowMillis(), request.seed()));
            if (answer == null) {
                throw new IllegalStateException("the handler returned null");
            }
            if (!held.isEmpty()) {
                throw new IllegalStateException(
                        "the handler returned, and still holds lock " + held.get(0).lock().name());
            }
        } catch (LifeOverError | DeposedException | VirtualMachineError e) {
            // Memory and stack are no order of events: the process ends (X12).
            throw e;
        } catch (Throwable e) {
            failed = true;
            all.threw(request, e);
        }
        open();
        failed |= killed;
        if (!failed) {
            saw(answer);
        }
        boolean records = before(END) == RECORDS;
        synchronized (all) {
            threw = failed;
            reply = answer;
            ended = true;
            happened(END, 0);
            if (records) {
                all.consume(this);
            }
        }
    }

    /** Releases what the handler still holds (X12). */
    private void open() {
        while (!held.isEmpty()) {
            Held last = held.get(held.size() - 1);
            try {
                last.lock().open(this, last.shared());
            } catch (HandlerKilledError e) {
                // Released all the same.
                killed = true;
            }
        }
    }

    void holds(LaneLock lock, boolean shared) {
        held.add(new Held(lock, shared));
    }

    void holdsNoMore(LaneLock lock, boolean shared) {
        held.remove(new Held(lock, shared));
    }

    // ---- events

    /**
     * Waits until an event may happen. Holds no monitor.
     *
     * @return the result of the event on the primary; or {@link #RECORDS}
     * @throws HandlerKilledError if the handler dies before it
     */
    int before(LaneEvent event) {
        if (inside != null) {
            throw new IllegalStateException(
                    event + " within a call of map " + inside + ": do it before or after the call");
        }
        if (killed && !allowedOnceKilled(event)) {
            throw dead();
        }
        all.pace(lane);
        if (recorded != null) {
            all.checkOver();
            return RECORDS;
        }
        int choice = all.before(this, event);
        if (choice == ReplayedLanes.DIES) {
            killed = true;
            throw dead();
        }
        return choice;
    }

    private static boolean allowedOnceKilled(LaneEvent event) {
        return switch (event.kind()) {
            case RELEASE, RELEASE_SHARED, END -> true;
            default -> false;
        };
    }

    /** The lane records from now on. With the monitor of all. */
    void records(RecordedLane with) {
        recorded = with;
    }

    /** An event happens; the lane holds its resource. */
    void happened(LaneEvent event, int choice) {
        if (recorded != null) {
            recorded.happened(event, choice);
        } else {
            all.done(lane, event, choice);
        }
    }

    /**
     * Before the lane returns to its handler: waits for the trace (X6). Holds no monitor.
     *
     * @throws HandlerKilledError if the handler dies here
     */
    void after() {
        boolean dies = recorded == null && all.diesOnReturn(this);
        if (recorded != null && recorded.isDoomed()) {
            recorded.killed(true);
            dies = true;
        }
        if (dies) {
            killed = true;
            throw dead();
        }
    }

    private HandlerKilledError dead() {
        return new HandlerKilledError(
                "the handler in lane "
                        + lane
                        + " was killed: its request has no attempts left, or it waited in a circle of"
                        + " locks");
    }

    int choose(IntSupplier question) {
        int choice = before(CHOOSE);
        if (choice == RECORDS) {
            choice = question.getAsInt();
        }
        happened(CHOOSE, choice);
        after();
        return choice;
    }

    /** The handler stored or sent bytes (X14). */
    void saw(byte[] bytes) {
        if (recorded != null) {
            recorded.saw(bytes);
        } else {
            all.saw(this, bytes);
        }
    }

    void inside(String map) {
        inside = map;
    }

    void outside() {
        inside = null;
    }

    /** Checks that the life of the member is not over. */
    void checkOver() {
        all.checkOver();
    }

    // ---- waits for locks

    /** It waits for a lock; with the lock's monitor. */
    void waitsFor(LaneLock lock, boolean reacquires) {
        if (waits == null) {
            waits = new Wait(lock, request, reacquires);
        }
    }

    /** It waits no more; with the lock's monitor. */
    void waitsNoMore() {
        waits = null;
    }

    /** What it waits for, or null. Any thread. */
    Wait waits() {
        return waits;
    }

    /** It is to die if it still waits so. Any thread. */
    void kill(Wait in) {
        kill = in;
        in.lock.wake();
    }

    /**
     * Dies if it was chosen; with the lock's monitor, and without the lock.
     *
     * @throws HandlerKilledError if so
     */
    void dieIfChosen() {
        if (waits != null && kill == waits) {
            waits = null;
            recorded.killed(false);
            killed = true;
            throw dead();
        }
    }

    /** Looks for a circle of lock waits. Holds no monitor. */
    void findCircle() {
        all.killOneInCircle();
    }
}
