package io.saucr.services.examples.travel;

import io.saucr.services.Caller;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.Turn;
import java.util.List;

/**
 * Books trips: reserves at one store after the other. Where a store is sold out, the stores before
 * it get theirs back in reverse order (a saga). A client is answered once all of that is final; the
 * messages between these services do not wait for it where they are a group.
 */
public final class Trips implements Service {

    private final List<String> stores;
    private final MapState<String, Progress> open;
    private final MapState<String, Caller> callers;
    private final MapState<String, Outcome> outcomes;

    /** A client wants a trip; answered with its {@link Outcome}, the same one each time. */
    public record Book(String trip) {}

    /**
     * How a trip ended.
     *
     * @param refusal why it is not booked; empty where it is
     */
    public record Outcome(String trip, String refusal) {
        /** Whether all stores have reserved. */
        public boolean isBooked() {
            return refusal.isEmpty();
        }
    }

    /** A query: how many trips there are; answered with {@link Count}. */
    public record Ask() {}

    /** How many trips are under way, booked and refused. */
    public record Count(int open, int booked, int refused) {}

    /**
     * How far a trip is.
     *
     * @param reserved at so many stores, the first ones
     * @param refusal why it is being cancelled; empty where it is not
     */
    public record Progress(int reserved, String refusal) {}

    /**
     * Trips that reserve at these stores.
     *
     * @param stores names of services, in this order
     * @throws IllegalArgumentException where there is none
     */
    public Trips(State state, List<String> stores) {
        if (stores.isEmpty()) {
            throw new IllegalArgumentException("a trip reserves at one store or more");
        }
        this.stores = List.copyOf(stores);
        open = state.map("open", String.class, Progress.class);
        callers = state.map("callers", String.class, Caller.class);
        outcomes = state.map("outcomes", String.class, Outcome.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Book.class,
                (book, turn) -> {
                    String trip = book.trip();
                    if (outcomes.contains(trip)) {
                        turn.reply(outcomes.get(trip));
                    } else if (open.contains(trip)) {
                        turn.reply(new Outcome(trip, "another client books it"));
                    } else {
                        callers.put(trip, turn.detach());
                        reserve(trip, 0, turn);
                    }
                });
        on.message(
                Store.Reserved.class,
                (it, turn) -> reserve(it.trip(), open.get(it.trip()).reserved() + 1, turn));
        on.message(
                Store.SoldOut.class,
                (it, turn) -> {
                    int reserved = open.get(it.trip()).reserved();
                    cancel(it.trip(), reserved, stores.get(reserved) + " is sold out", turn);
                });
        on.message(
                Store.Cancelled.class,
                (it, turn) -> {
                    Progress now = open.get(it.trip());
                    cancel(it.trip(), now.reserved() - 1, now.refusal(), turn);
                });
        on.query(Ask.class, (ask, turn) -> count());
    }

    private void reserve(String trip, int reserved, Turn turn) {
        if (reserved == stores.size()) {
            end(new Outcome(trip, ""), turn);
        } else {
            open.put(trip, new Progress(reserved, ""));
            turn.send(stores.get(reserved), new Store.Reserve(trip));
        }
    }

    private void cancel(String trip, int reserved, String refusal, Turn turn) {
        if (reserved == 0) {
            end(new Outcome(trip, refusal), turn);
        } else {
            open.put(trip, new Progress(reserved, refusal));
            turn.send(stores.get(reserved - 1), new Store.Cancel(trip));
        }
    }

    private void end(Outcome outcome, Turn turn) {
        open.remove(outcome.trip());
        outcomes.put(outcome.trip(), outcome);
        turn.reply(callers.remove(outcome.trip()), outcome);
    }

    private Count count() {
        int booked = 0;
        for (Outcome each : outcomes.values()) {
            booked += each.isBooked() ? 1 : 0;
        }
        return new Count(open.size(), booked, outcomes.size() - booked);
    }
}
