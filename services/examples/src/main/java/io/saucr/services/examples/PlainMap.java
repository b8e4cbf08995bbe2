package io.saucr.services.examples;

import io.saucr.services.MapState;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BinaryOperator;

/** A map of a service that nothing protects, for comparison: one of the JDK. One thread. */
public class PlainMap<K, V> implements MapState<K, V> {

    /** In the order in which keys came. */
    protected final Map<K, V> entries = new LinkedHashMap<>();

    @Override
    public V get(K key) {
        return entries.get(key);
    }

    @Override
    public V getOrDefault(K key, V otherwise) {
        return entries.getOrDefault(key, otherwise);
    }

    @Override
    public boolean contains(K key) {
        return entries.containsKey(key);
    }

    @Override
    public void put(K key, V value) {
        entries.put(key, value);
    }

    @Override
    public V putIfAbsent(K key, V value) {
        return entries.putIfAbsent(key, value);
    }

    @Override
    public V merge(K key, V value, BinaryOperator<V> join) {
        return entries.merge(key, value, join);
    }

    @Override
    public V remove(K key) {
        return entries.remove(key);
    }

    @Override
    public void clear() {
        entries.clear();
    }

    @Override
    public int size() {
        return entries.size();
    }

    @Override
    public boolean isEmpty() {
        return entries.isEmpty();
    }

    @Override
    public Iterable<Map.Entry<K, V>> entries() {
        return entries.entrySet();
    }

    @Override
    public Iterable<K> keys() {
        return entries.keySet();
    }

    @Override
    public Iterable<V> values() {
        return entries.values();
    }
}
