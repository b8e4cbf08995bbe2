package io.saucr.services;

import java.util.Map;
import java.util.function.BinaryOperator;

/**
 * Values by key, part of a service's {@link State}. Turn thread, in turns and queries; each method
 * throws {@link IllegalStateException} elsewhere, and {@link IllegalArgumentException}, changing
 * nothing, where a key or value is null or not allowed.
 *
 * <p>What iterates sees the map as it was when the iteration began: it may be changed meanwhile. It
 * ends with its turn. The order says nothing.
 */
public interface MapState<K, V> {

    /** The value of a key, or null where there is none. */
    V get(K key);

    /** The value of a key, or another one where there is none. */
    V getOrDefault(K key, V otherwise);

    /** Whether there is a value of this key. */
    boolean contains(K key);

    /** Sets the value of a key. */
    void put(K key, V value);

    /**
     * Sets the value of a key that has none.
     *
     * @return the value that there is, or null where there was none
     */
    V putIfAbsent(K key, V value);

    /**
     * Sets the value of a key, joined with the one that there is, if any.
     *
     * @param join takes the value that there is, and the new one; null removes the key
     * @return the value that there is now, or null where the key was removed
     */
    V merge(K key, V value, BinaryOperator<V> join);

    /**
     * Removes a key.
     *
     * @return the value that there was, or null where there was none
     */
    V remove(K key);

    /** Removes all keys, in the time of one. */
    void clear();

    /** How many keys have a value. */
    int size();

    /** Whether no key has a value. */
    boolean isEmpty();

    /** All keys with their values. */
    Iterable<Map.Entry<K, V>> entries();

    /** All keys. */
    Iterable<K> keys();

    /** The values of all keys. */
    Iterable<V> values();
}
