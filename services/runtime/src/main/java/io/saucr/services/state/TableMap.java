package io.saucr.services.state;

import io.saucr.services.MapState;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/** A map over its table. Turn thread. */
@SuppressWarnings("unchecked") // The table holds what was checked against the declared types.
final class TableMap<K, V> implements MapState<K, V> {

    private final StateStore store;
    private final Table table;

    TableMap(StateStore store, Table table) {
        this.store = store;
        this.table = table;
    }

    private Trie.Entry entry(K key) {
        store.throwUnlessUsable(table);
        Trie.Entry entry = table.get(key);
        if (entry != null) {
            store.handOut(table, entry);
        }
        return entry;
    }

    @Override
    public V get(K key) {
        return getOrDefault(key, null);
    }

    @Override
    public V getOrDefault(K key, V otherwise) {
        Trie.Entry entry = entry(key);
        return entry == null ? otherwise : (V) entry.value();
    }

    @Override
    public boolean contains(K key) {
        return entry(key) != null;
    }

    @Override
    public void put(K key, V value) {
        store.throwUnlessUsable(table);
        Table.Checked checked = table.check(key, value);
        store.touch(table, table.bytes(checked));
        table.put(checked);
        store.handOut(table, checked.entry());
    }

    @Override
    public V putIfAbsent(K key, V value) {
        V there = get(key);
        if (there == null) {
            put(key, value);
        }
        return there;
    }

    @Override
    public V merge(K key, V value, BinaryOperator<V> join) {
        V there = get(key);
        V joined = there == null ? value : join.apply(there, value);
        if (joined == null && there != null) {
            remove(key);
        } else {
            put(key, joined);
        }
        return joined == null ? null : get(key);
    }

    @Override
    public V remove(K key) {
        Trie.Entry entry = entry(key);
        if (entry == null) {
            store.touch(table, 0);
            return null;
        }
        ByteBuffer bytes = table.key(entry);
        store.touch(table, table.bytes(bytes));
        table.remove(entry, bytes);
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
        return table.whole().entries().size();
    }

    @Override
    public boolean isEmpty() {
        return size() == 0;
    }

    @Override
    public Iterable<Map.Entry<K, V>> entries() {
        return iterate(entry -> Map.entry((K) entry.key(), (V) entry.value()));
    }

    @Override
    public Iterable<K> keys() {
        return iterate(entry -> (K) entry.key());
    }

    @Override
    public Iterable<V> values() {
        return iterate(entry -> (V) entry.value());
    }

    private <T> Iterable<T> iterate(Function<Trie.Entry, T> seen) {
        store.throwUnlessUsable(table);
        return () -> {
            store.throwUnlessUsable(table);
            return new TableIterator<>(store, table, table.whole().entries().iterator(), seen);
        };
    }
}
