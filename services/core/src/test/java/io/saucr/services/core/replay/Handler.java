package io.saucr.services.core.replay;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** A handler that runs in a lane of a modelled member. */
final class Handler {

    /** The process of the handler dies. */
    static final class PoisonException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** What handlers of a member share. */
    static final class Shared {
        final List<Resource> resources = new ArrayList<>();
        final long[] values = new long[Op.RESOURCES];

        /** What no lock protects. */
        /** No lock protects it. */
        int raced;

        final boolean[] flags = new boolean[Op.RESOURCES];
        final int[] owners = new int[Op.RESOURCES];
        final List<Set<Integer>> readers = new ArrayList<>();

        /** Lanes that await and were not woken, by lock. Not part of a replay. */
        final List<Set<Integer>> waiters = new ArrayList<>();

        Shared(int lanes) {
            for (int number = 0; number < Op.RESOURCES; number++) {
                resources.add(
                        number == Op.READ_WRITE
                                ? Resource.readWriteLock(number, lanes)
                                : Resource.lock(number));
                readers.add(new TreeSet<>());
                waiters.add(new TreeSet<>());
            }
        }

        String text() {
            return Arrays.toString(values) + Arrays.toString(flags);
        }

        String locks() {
            return Arrays.toString(owners) + readers + waiters;
        }

        boolean isFree(LaneEvent event, int lane) {
            int number = event.resource().number();
            return owners[number] == 0 && (event.shares() || readers.get(number).isEmpty());
        }

        Set<Integer> holders(int number) {
            Set<Integer> holders = new TreeSet<>(readers.get(number));
            if (owners[number] != 0) {
                holders.add(owners[number]);
            }
            return holders;
        }
    }

    final long sender;
    final long number;
    final int lane;
    private final long nowMillis;
    private final List<Op> lines;
    private final Shared shared;
    private boolean waits;
    private boolean recordsWaiters;

    /** What it stored since its last event, and its answer before the end. */
    private final List<Long> stored = new ArrayList<>();

    private final Map<Integer, Long> before = new TreeMap<>();
    private final List<LaneEvent> held = new ArrayList<>();
    private int at;
    private boolean unwinds;
    private LaneEvent event;
    boolean threw;
    boolean over;
    boolean recordedEarly;
    boolean undoes;
    long sum;

    Handler(TurnRecord.Begin begin, List<Op> lines, Shared shared, boolean recordsWaiters) {
        sender = begin.sender();
        number = begin.number();
        lane = begin.lane();
        nowMillis = begin.nowMillis();
        this.lines = lines;
        this.shared = shared;
        this.recordsWaiters = recordsWaiters;
    }

    /** The event that it is about to do; null while it is inside the one before. */
    LaneEvent event() {
        return event;
    }

    /** Whether the event is the end of a wait for a condition. */
    boolean reacquires() {
        return event != null && waits;
    }

    /** The member is the primary from now on: it registers at conditions. */
    void records() {
        recordsWaiters = true;
    }

    void die() {
        threw = true;
        unwinds = true;
        event = null;
    }

    /** Whether it may kill the process behind its next event. */
    boolean isPoisoned() {
        return lines.stream().anyMatch(it -> it.kind() == Op.Kind.POISON);
    }

    /** Runs code up to the next event; returns what it stores, and at its end its answer. */
    byte[] run() {
        stored.clear();
        while (event == null) {
            event = unwinds ? unwound() : line();
        }
        if (event.kind() == LaneEvent.Kind.END) {
            stored.add(sum);
        }
        ByteBuffer bytes = ByteBuffer.allocate(8 * stored.size());
        stored.forEach(bytes::putLong);
        return bytes.array();
    }

    private LaneEvent unwound() {
        return held.isEmpty()
                ? new LaneEvent(LaneEvent.Kind.END, null)
                : release(held.get(held.size() - 1));
    }

    private static LaneEvent release(LaneEvent acquired) {
        return new LaneEvent(
                acquired.shares() ? LaneEvent.Kind.RELEASE_SHARED : LaneEvent.Kind.RELEASE,
                acquired.resource());
    }

    private LaneEvent line() {
        if (at == lines.size()) {
            return new LaneEvent(LaneEvent.Kind.END, null);
        }
        Op line = lines.get(at);
        Resource resource = shared.resources.get(line.at());
        switch (line.kind()) {
            case LOCK:
                return new LaneEvent(LaneEvent.Kind.ACQUIRE, resource);
            case READ_LOCK:
                return new LaneEvent(LaneEvent.Kind.ACQUIRE_SHARED, resource);
            case UNLOCK:
                return new LaneEvent(LaneEvent.Kind.RELEASE, resource);
            case READ_UNLOCK:
                return new LaneEvent(LaneEvent.Kind.RELEASE_SHARED, resource);
            case CALL:
                return new LaneEvent(LaneEvent.Kind.CALL, resource);
            case TRY:
                return new LaneEvent(LaneEvent.Kind.TRY, resource);
            case AWAIT:
                if (!shared.flags[line.at()]) {
                    return new LaneEvent(LaneEvent.Kind.AWAIT, resource);
                }
                break;
            case AWAIT_TIMED:
                return new LaneEvent(LaneEvent.Kind.AWAIT, resource);
            case CHOOSE:
                return new LaneEvent(LaneEvent.Kind.CHOOSE, null);
            case READ:
                sum = 31 * sum + shared.values[line.at()];
                break;
            case WRITE:
                before.putIfAbsent(line.at(), shared.values[line.at()]);
                shared.values[line.at()] = 31 * shared.values[line.at()] + sum + sender + 1;
                stored.add(shared.values[line.at()]);
                break;
            case SIGNAL:
                shared.flags[line.at()] = true;
                shared.waiters.get(line.at()).clear();
                break;
            case NOW:
                sum = 31 * sum + nowMillis;
                break;
            case RACE:
                sum = 31 * sum + shared.raced++;
                break;
            case THROW:
                if (undoes) {
                    before.forEach((value, old) -> shared.values[value] = old);
                }
                threw = true;
                unwinds = true;
                return null;
            case POISON:
                throw new PoisonException();
        }
        at++;
        return null;
    }

    /** The event happens: its effects, those on real locks included. */
    void happened(int choice) {
        LaneEvent done = event;
        int number = done.resource() == null ? -1 : done.resource().number();
        event = null;
        switch (done.kind()) {
            case ACQUIRE, ACQUIRE_SHARED, WAKE -> {
                acquire(done, number);
                waited(choice, done.kind() == LaneEvent.Kind.WAKE);
            }
            case TRY, TRY_SHARED -> {
                if (choice == 1) {
                    acquire(done, number);
                } else {
                    at += lines.get(at).more();
                }
                sum = 31 * sum + choice;
                at++;
            }
            case RELEASE, RELEASE_SHARED -> {
                release(number, done.shares());
                if (!unwinds) {
                    at++;
                }
            }
            case AWAIT -> {
                release(number, false);
                if (recordsWaiters) {
                    shared.waiters.get(number).add(lane);
                }
                waits = true;
                boolean timed = lines.get(at).kind() == Op.Kind.AWAIT_TIMED;
                event =
                        new LaneEvent(
                                timed ? LaneEvent.Kind.WAKE : LaneEvent.Kind.ACQUIRE,
                                done.resource());
            }
            case CALL -> {
                sum = 31 * sum + shared.values[number];
                shared.values[number] = 31 * shared.values[number] + sum + sender;
                at++;
            }
            case CHOOSE -> {
                sum = 31 * sum + choice;
                at++;
            }
            case END -> over = true;
        }
    }

    private void waited(int choice, boolean timed) {
        if (!waits) {
            at++;
            return;
        }
        waits = false;
        if (timed) {
            sum = 31 * sum + choice;
            at++;
        }
    }

    private void acquire(LaneEvent done, int number) {
        if (done.shares()) {
            shared.readers.get(number).add(lane);
        } else {
            shared.owners[number] = lane;
        }
        held.add(done);
        shared.waiters.get(number).remove(lane);
    }

    private void release(int number, boolean sharing) {
        if (sharing) {
            shared.readers.get(number).remove(lane);
        } else {
            shared.owners[number] = 0;
        }
        held.removeIf(it -> it.resource().number() == number);
    }

    @Override
    public String toString() {
        return sender
                + "#"
                + number
                + ":"
                + at
                + (unwinds ? "u" : "")
                + waits
                + threw
                + over
                + recordedEarly
                + event
                + sum;
    }
}
