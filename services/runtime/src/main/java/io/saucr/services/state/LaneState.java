package io.saucr.services.state;

import io.saucr.services.core.lanes.Seen;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What a service remembers, as one lane sees it: with a service of its own, whose collections are
 * declared here once more. A run reads the version that was the newest at its first access, and
 * what it changes is seen by it alone (P1). The state itself makes the changes at the commit.
 *
 * <p>Its lane's thread, after the service's constructor.
 */
public final class LaneState extends StateStore {

    private final List<LaneTable> tables = new ArrayList<>();
    private Map<String, Integer> places;
    private Supplier<StateSnapshot> newest;
    private Seen<Object> seen;
    private List<Consumer<StateStore>> changes;

    /** What a run changed. Immutable, any thread. */
    public static final class Written {

        private final List<Consumer<StateStore>> changes;

        private Written(List<Consumer<StateStore>> changes) {
            this.changes = changes;
        }

        /**
         * Makes the changes in a turn of the state itself, which is as the run saw it.
         *
         * @throws IllegalArgumentException where they are too many for one turn
         */
        public void makeIn(StateStore state) {
            changes.forEach(it -> it.accept(state));
        }
    }

    /** A lane of this state, without collections yet. */
    public LaneState(StateStore of) {
        super(of);
    }

    @Override
    Table newTable(String name, Kind kind, Coding keys, Coding values, boolean checking) {
        LaneTable table = new LaneTable(name, kind, keys, values, checking);
        tables.add(table);
        return table;
    }

    /**
     * Begins a run on this thread.
     *
     * @param version the newest one when it is asked for
     */
    public void begin(Supplier<StateSnapshot> version) {
        begin();
        newest = version;
        seen = new Seen<>();
        changes = new ArrayList<>();
    }

    @Override
    long throwUnlessUsable(Table table) {
        long turn = super.throwUnlessUsable(table);
        if (newest != null) {
            StateSnapshot version = newest.get();
            newest = null;
            tables.forEach(it -> begin(it, version.parts()));
        }
        return turn;
    }

    private void begin(LaneTable table, List<StateSnapshot.Part> parts) {
        if (places == null) {
            places = new HashMap<>();
            for (int place = 0; place < parts.size(); place++) {
                places.put(parts.get(place).table().name(), place);
            }
        }
        Integer place = places.get(table.name());
        if (place == null) {
            throw new IllegalStateException(
                    table.described()
                            + " is declared by one object of the service and not by another:"
                            + " declare the same collections in each");
        }
        StateSnapshot.Part part = parts.get(place);
        table.begin(part.table(), part.version(), seen, changes);
    }

    /** What the run saw so far. */
    public Seen<Object> seen() {
        return seen;
    }

    /**
     * Ends the run. Nothing of it is in here afterwards.
     *
     * @throws IllegalStateException where values are checked and one was changed in place (C12); it
     *     is ended all the same
     */
    public Written end() {
        newest = null;
        Written written = new Written(changes);
        changes = null;
        rollback();
        return written;
    }
}
