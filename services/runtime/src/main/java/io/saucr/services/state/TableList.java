package io.saucr.services.state;

import io.saucr.services.ListState;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;

/**
 * A list over its table, whose keys are numbers that rise and are never given twice. Turn thread.
 */
@SuppressWarnings("unchecked") // The table holds what was checked against the declared type.
final class TableList<V> implements ListState<V> {

    private final StateStore store;
    private final Table table;

    TableList(StateStore store, Table table) {
        this.store = store;
        this.table = table;
    }

    @Override
    public void add(V value) {
        store.throwUnlessUsable(table);
        // Without a look at the size: turns that only add do not meet each other (P2).
        if (table.now().next() - table.now().first() == Integer.MAX_VALUE) {
            throw new IllegalStateException(table.described() + " is full");
        }
        Table.Checked checked = table.check(table.now().next(), value);
        store.touch(table, table.bytes(checked));
        table.add(checked);
        store.handOut(table, checked.entry());
    }

    @Override
    public V get(int index) {
        Objects.checkIndex(index, size());
        Trie.Entry entry = table.get(table.now().first() + index);
        store.handOut(table, entry);
        return (V) entry.value();
    }

    @Override
    public void set(int index, V value) {
        Objects.checkIndex(index, size());
        Table.Checked checked = table.check(table.now().first() + index, value);
        store.touch(table, table.bytes(checked));
        table.put(checked);
        store.handOut(table, checked.entry());
    }

    @Override
    public V removeFirst() {
        if (isEmpty()) {
            throw new NoSuchElementException(table.described() + " is empty");
        }
        Trie.Entry entry = table.get(table.now().first());
        store.handOut(table, entry);
        store.touch(table, 0);
        table.removeFirst(entry);
        return (V) entry.value();
    }

    @Override
    public void clear() {
        store.touch(table, 0);
        table.clear();
    }

    @Override
    public int size() {
        store.throwUnlessUsable(table);
        Table.Version all = table.whole();
        return (int) (all.next() - all.first());
    }

    @Override
    public boolean isEmpty() {
        return size() == 0;
    }

    @Override
    public Iterator<V> iterator() {
        store.throwUnlessUsable(table);
        return new TableIterator<>(store, table, table.inOrder(), entry -> (V) entry.value());
    }
}
