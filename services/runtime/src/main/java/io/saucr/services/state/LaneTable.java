package io.saucr.services.state;

import io.saucr.services.core.lanes.Seen;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The entries of one collection as a run ahead of its turn sees them: a version of the state, and
 * above it what the run itself changed. Notes what the run saw of that version, and each change,
 * for the commit (P1, P2). Its lane's thread.
 */
final class LaneTable extends Table {

    private final Coding keys;
    private Table origin;
    private Version base;
    private Seen<Object> seen;
    private List<Consumer<StateStore>> changes = new ArrayList<>();

    LaneTable(String name, Kind kind, Coding keys, Coding values, boolean checking) {
        super(name, kind, keys, values, checking);
        this.keys = keys;
    }

    /** Begins a run on this version of a table of the state. */
    void begin(Table of, Version version, Seen<Object> sees, List<Consumer<StateStore>> does) {
        origin = of;
        base = version;
        seen = sees;
        changes = does;
        restore(this, version);
    }

    @Override
    Version whole() {
        seen.whole(origin, base);
        return super.whole();
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // Each change of an entry is another object.
    Trie.Entry get(Object key) {
        Trie.Entry entry = super.get(key);
        // What the run itself put or removed, it does not see of the version.
        if (entry == get(key, base)) {
            seen.entry(origin, entry == null ? keys.freeze(key) : entry.key(), entry);
        }
        return entry;
    }

    @Override
    void put(Checked checked) {
        super.put(checked);
        Table to = origin;
        changes.add(
                state -> {
                    state.touch(to, to.bytes(checked));
                    to.put(checked);
                });
    }

    @Override
    void remove(Trie.Entry entry, ByteBuffer key) {
        super.remove(entry, key);
        Table to = origin;
        changes.add(
                state -> {
                    state.touch(to, to.bytes(key));
                    to.remove(entry, key);
                });
    }

    @Override
    void add(Checked checked) {
        super.add(checked);
        Table to = origin;
        changes.add(
                state -> {
                    // Others may have added since.
                    Long number = to.now().next();
                    Checked now =
                            number.equals(checked.entry().key())
                                    ? checked
                                    : to.check(number, checked.entry().value());
                    state.touch(to, to.bytes(now));
                    to.add(now);
                });
    }

    @Override
    void removeFirst(Trie.Entry entry) {
        super.removeFirst(entry);
        Table to = origin;
        changes.add(
                state -> {
                    state.touch(to, 0);
                    to.removeFirst(entry);
                });
    }

    @Override
    void clear() {
        super.clear();
        Table to = origin;
        changes.add(
                state -> {
                    state.touch(to, 0);
                    to.clear();
                });
    }
}
