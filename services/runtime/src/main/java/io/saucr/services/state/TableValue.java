package io.saucr.services.state;

import io.saucr.services.ValueState;

/** One value: a table of one key. Turn thread. */
@SuppressWarnings("unchecked") // The table holds what was checked against the declared type.
final class TableValue<V> implements ValueState<V> {

    private static final Long KEY = 0L;

    private final StateStore store;
    private final Table table;

    TableValue(StateStore store, Table table) {
        this.store = store;
        this.table = table;
    }

    @Override
    public V value() {
        return orElse(null);
    }

    @Override
    public V orElse(V otherwise) {
        store.throwUnlessUsable(table);
        Trie.Entry entry = table.get(KEY);
        if (entry == null) {
            return otherwise;
        }
        store.handOut(table, entry);
        return (V) entry.value();
    }

    @Override
    public void update(V value) {
        store.throwUnlessUsable(table);
        Table.Checked checked = table.check(KEY, value);
        store.touch(table, table.bytes(checked));
        table.put(checked);
        store.handOut(table, checked.entry());
    }

    @Override
    public void clear() {
        store.touch(table, 0);
        table.clear();
    }
}
