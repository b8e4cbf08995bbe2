package io.saucr.services;

/**
 * Where a service declares what it remembers, in its constructor and nowhere else; it is recovered
 * by name. What a turn changes in it becomes final with the turn or never happened (K3). A
 * collection that is not declared any more is kept until it is declared again, or dropped by {@link
 * #drop}.
 *
 * <p>Collections are of use in turns and queries alone, on their thread; anywhere else, the
 * constructor included, each of their methods throws {@link IllegalStateException}. In a query
 * those that change something throw it, too.
 *
 * <p>Values are immutable. Allowed are: the boxes of primitives, {@link String}, enums, {@link
 * java.math.BigInteger}, {@link java.math.BigDecimal}, {@link java.util.UUID}, the values of {@link
 * java.time}, {@link Bytes}; records of these, of primitives, of further records, and of {@link
 * java.util.Optional}, {@link java.util.List}, {@link java.util.Set} and {@link java.util.Map} of
 * them; and sealed interfaces of such records. Collections within records are copied when they are
 * stored. A component may be null unless it is an Optional or a collection. Up to 64 parts may lie
 * within each other, a key has at most 64 KiB, another value at most 16 MiB of bytes.
 *
 * <p>Types may grow: a component that stored bytes lack is read as null, zero, false, or an empty
 * Optional or collection (the record's constructor may put something else in place of null); one
 * that the type no longer has is ignored, so that an earlier release reads what a later one wrote,
 * and loses it where it writes the value again. An int may become a long, a float a double. Any
 * other change of types, and renaming a component, an enum's constant or a record of a sealed
 * interface without {@link TypeName}, is the service's work.
 *
 * <p>All methods throw {@link IllegalArgumentException} where the name is not of 1 to 200
 * characters, begins with '#' or is taken already, or where a type is not allowed, saying which
 * part of which record it is and what to use instead; and {@link IllegalStateException} once the
 * service was constructed.
 */
public interface State {

    /**
     * Declares values by key.
     *
     * @param key its type, without Set or Map within; two keys are the same where their bytes are,
     *     whatever {@code equals} says
     */
    <K, V> MapState<K, V> map(String name, Class<K> key, Class<V> value);

    /** Declares values in order. */
    <V> ListState<V> list(String name, Class<V> value);

    /** Declares one value, absent at first. */
    <V> ValueState<V> value(String name, Class<V> value);

    /** Lets go of a collection that an earlier release declared; nothing happens without one. */
    void drop(String name);
}
