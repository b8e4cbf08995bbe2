package io.saucr.services.turns;

import io.saucr.services.Bytes;
import io.saucr.services.MapState;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.core.Birth;
import io.saucr.services.once.OnceRecords;
import io.saucr.services.once.OnceRecords.Accepted;
import io.saucr.services.once.OnceRecords.Decided;
import io.saucr.services.once.OnceRecords.Entry;
import io.saucr.services.once.OnceRecords.MarkerMade;
import io.saucr.services.once.Operation;
import io.saucr.services.state.StateStore;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * What a once client has to know after a takeover, as a part of its service's state: which
 * operations have a number (E1), what became of those that may be asked for (E4, E10), whether
 * there is a marker, and how far it was (E9). Of one birth: another one begins anew (K11). Turn
 * thread, in turns and queries.
 */
public final class OnceNotes {

    private static final String NAME = "#once";

    private static final String STAND = NAME + "/stand";

    private static final Bytes NOTHING = Bytes.of(new byte[0]);

    /** How a once client comes to the state. */
    public interface Turns {

        /** Looks at the state, between two turns; turn thread. */
        void look(Runnable look);

        /**
         * Changes the state by a turn of its own, the changes in the order in which one thread
         * asked for them. Any thread; dropped once the term is over.
         *
         * @param change is told which keys may be asked for again
         * @param isFinal runs once that turn is final
         */
        void note(Consumer<Predicate<String>> change, Runnable isFinal);
    }

    /**
     * An operation, from its number on until nobody can ask for it.
     *
     * @param operation empty once it is decided
     * @param code 0 where it happened, else of the error
     * @param created path of the child of a sequential create, or empty
     */
    record Write(String key, Bytes operation, boolean decided, int code, String created) {}

    /**
     * How far the client of a birth is.
     *
     * @param oldest no operation before this one is kept
     */
    record Stand(
            String birth, boolean markerMade, long oldest, long lastNumber, long highestDecided) {

        static Stand none(Birth birth) {
            return new Stand(birth.toString(), false, 1, 0, 0);
        }
    }

    private final MapState<Long, Write> writes;
    private final ValueState<Stand> stand;

    private OnceNotes(State state) {
        writes = state.map(NAME, Long.class, Write.class);
        stand = state.value(STAND, Stand.class);
    }

    /**
     * Declares the notes.
     *
     * @param state that permits reserved names
     */
    public static OnceNotes of(State state) {
        return new OnceNotes(state);
    }

    /** Leaves out what was noted: for a snapshot that another kind of client continues from. */
    public static void dropFrom(StateStore store) {
        State unused =
                store.reserve(
                        state -> {
                            state.drop(NAME);
                            state.drop(STAND);
                            return state;
                        });
    }

    /** How many operations are kept. */
    public int size() {
        return writes.size();
    }

    private boolean isOf(Birth birth) {
        return stand.value() != null && stand.value().birth().equals(birth.toString());
    }

    /** What earlier starts of this birth noted. */
    OnceRecords records(Birth birth) {
        OnceRecords all = new OnceRecords();
        if (!isOf(birth)) {
            return all;
        }
        Stand now = stand.value();
        for (long number = now.oldest(); number <= now.lastNumber(); number++) {
            Write write = writes.get(number);
            if (write == null) {
                continue;
            }
            if (write.decided()) {
                all.remembered.put(write.key(), new Decided(number, write.code(), write.created()));
            } else {
                Operation operation = Operation.decode(write.operation().toArray());
                all.take(new Accepted(number, write.key(), operation));
            }
        }
        all.markerMade = now.markerMade();
        all.lastNumber = now.lastNumber();
        all.highestDecided = now.highestDecided();
        return all;
    }

    /**
     * Takes what the client of a birth wrote.
     *
     * @param asks whether a key may be asked for again; else it is forgotten once it is decided
     */
    void take(List<Entry> entries, Birth birth, Predicate<String> asks) {
        if (!isOf(birth)) {
            writes.clear();
            stand.update(Stand.none(birth));
        }
        entries.forEach(this::take);
        forget(asks);
    }

    private void take(Entry entry) {
        Stand now = stand.value();
        if (entry instanceof Accepted it) {
            Bytes operation = Bytes.of(it.operation().encoded());
            writes.put(it.number(), new Write(it.key(), operation, false, 0, ""));
            stand.update(
                    new Stand(
                            now.birth(),
                            now.markerMade(),
                            now.oldest(),
                            it.number(),
                            now.highestDecided()));
        } else if (entry instanceof Decided it) {
            String key = writes.get(it.number()).key();
            writes.put(it.number(), new Write(key, NOTHING, true, it.code(), it.created()));
            stand.update(
                    new Stand(
                            now.birth(),
                            now.markerMade(),
                            now.oldest(),
                            now.lastNumber(),
                            Math.max(now.highestDecided(), it.number())));
        } else if (entry instanceof MarkerMade) {
            stand.update(
                    new Stand(
                            now.birth(),
                            true,
                            now.oldest(),
                            now.lastNumber(),
                            now.highestDecided()));
        } else {
            throw new IllegalStateException("a service declares no ephemerals: " + entry);
        }
    }

    private void forget(Predicate<String> asks) {
        Stand now = stand.value();
        long oldest = now.oldest();
        for (; oldest <= now.lastNumber(); oldest++) {
            Write write = writes.get(oldest);
            if (write != null && (!write.decided() || asks.test(write.key()))) {
                break;
            }
            if (write != null) {
                writes.remove(oldest);
            }
        }
        if (oldest > now.oldest()) {
            stand.update(
                    new Stand(
                            now.birth(),
                            now.markerMade(),
                            oldest,
                            now.lastNumber(),
                            now.highestDecided()));
        }
    }
}
