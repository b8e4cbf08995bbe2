package io.saucr.services.examples.travel;

import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;

/** Has rooms, seats or cars, of which each trip reserves one. */
public final class Store implements Service {

    private final int capacity;
    private final MapState<String, Integer> reserved;

    /** A trip wants one; answered with {@link Reserved} or {@link SoldOut}. */
    public record Reserve(String trip) {}

    /** One is reserved for it. */
    public record Reserved(String trip) {}

    /** None is left. */
    public record SoldOut(String trip) {}

    /** A trip gives back what it reserved; answered with {@link Cancelled}. */
    public record Cancel(String trip) {}

    /** It is free again. */
    public record Cancelled(String trip) {}

    /** A query: for which trips something is reserved; answered with {@link Trip}. */
    public record Ask(String trip) {}

    /**
     * What is reserved.
     *
     * @param times how often for the trip that was asked about
     * @param all for how many trips
     */
    public record Trip(int times, int all) {}

    /**
     * A store.
     *
     * @param capacity for how many trips it has one, from 0
     * @throws IllegalArgumentException where it is less
     */
    public Store(State state, int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException(
                    "a store has room for 0 trips or more, not " + capacity);
        }
        this.capacity = capacity;
        reserved = state.map("reserved", String.class, Integer.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Reserve.class,
                (reserve, turn) -> {
                    if (reserved.size() >= capacity) {
                        turn.reply(new SoldOut(reserve.trip()));
                    } else {
                        reserved.merge(reserve.trip(), 1, Integer::sum);
                        turn.reply(new Reserved(reserve.trip()));
                    }
                });
        on.message(
                Cancel.class,
                (cancel, turn) -> {
                    reserved.remove(cancel.trip());
                    turn.reply(new Cancelled(cancel.trip()));
                });
        on.query(
                Ask.class,
                (ask, turn) -> new Trip(reserved.getOrDefault(ask.trip(), 0), reserved.size()));
    }
}
