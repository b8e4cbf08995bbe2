package io.saucr.services;

import java.util.Iterator;

/**
 * Values in order, part of a service's {@link State}. Turn thread, in turns and queries; each
 * method throws {@link IllegalStateException} elsewhere, and {@link IllegalArgumentException},
 * changing nothing, where a value is null or not allowed. The time of each method hardly depends on
 * the size.
 */
public interface ListState<V> extends Iterable<V> {

    /** Adds a value at the end. */
    void add(V value);

    /**
     * The value at a place.
     *
     * @param index from 0 to one less than the size
     * @throws IndexOutOfBoundsException where it is not
     */
    V get(int index);

    /**
     * Sets the value at a place.
     *
     * @param index from 0 to one less than the size
     * @throws IndexOutOfBoundsException where it is not
     */
    void set(int index, V value);

    /**
     * Removes the first value.
     *
     * @return what was removed
     * @throws java.util.NoSuchElementException where the list is empty
     */
    V removeFirst();

    /** Removes all values. */
    void clear();

    /** How many values there are. */
    int size();

    /** Whether there is no value. */
    boolean isEmpty();

    /** The values as they are when the iteration begins; it ends with its turn. */
    @Override
    Iterator<V> iterator();
}
