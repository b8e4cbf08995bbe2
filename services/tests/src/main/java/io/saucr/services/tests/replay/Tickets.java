package io.saucr.services.tests.replay;

import io.saucr.services.Asks;
import io.saucr.services.replay.LaneHandlers;
import io.saucr.services.replay.LaneMap;
import io.saucr.services.replay.LaneService;
import io.saucr.services.replay.LaneState;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/** Gives tickets, one after the other, and remembers which request has which. */
public final class Tickets implements LaneService {

    /** Takes a ticket. */
    public record Take(String id) implements Asks<Ticket> {}

    /**
     * A ticket.
     *
     * @param number from 1
     */
    public record Ticket(long number) {}

    /** Asks how often a request was handled. */
    public record Look(String id) implements Asks<Seen> {}

    /**
     * How often a request was handled.
     *
     * @param number of its ticket; 0 if it has none
     * @param all tickets that were given
     */
    public record Seen(long times, long number, long all) {}

    private static final String NEXT = "next";

    private final Lock lock;
    private final LaneMap<String, Long> counts;
    private final LaneMap<String, Long> times;
    private final LaneMap<String, Long> numbers;

    /** Declares the state. */
    public Tickets(LaneState state) {
        lock = state.lock("tickets");
        counts = state.map("counts", String.class, Long.class, 1);
        times = state.map("times", String.class, Long.class);
        numbers = state.map("numbers", String.class, Long.class);
    }

    @Override
    public void handlers(LaneHandlers on) {
        on.message(Take.class, (take, turn) -> new Ticket(take(take.id())));
        on.message(
                Look.class,
                (look, turn) ->
                        new Seen(
                                times.getOrDefault(look.id(), 0L),
                                numbers.getOrDefault(look.id(), 0L),
                                counts.getOrDefault(NEXT, 0L)));
    }

    /** Requests are half-run for long, and wait for each other. */
    private long take(String id) throws InterruptedException {
        long handled = times.merge(id, 1L, Long::sum);
        TimeUnit.MILLISECONDS.sleep(2);
        lock.lock();
        try {
            long number = counts.getOrDefault(NEXT, 0L) + 1;
            TimeUnit.MICROSECONDS.sleep(500);
            counts.put(NEXT, number);
            if (handled == 1) {
                numbers.put(id, number);
            }
            return number;
        } finally {
            lock.unlock();
        }
    }
}
