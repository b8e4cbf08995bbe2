package io.saucr.services.replay;

import io.saucr.services.core.replay.LaneEvent;
import io.saucr.services.core.replay.Resource;
import io.saucr.services.state.Codec;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * Values by key, in stripes: each call is one event of the key's stripe. Lanes, and threads of
 * queries, which only read. A key or value that is not allowed throws {@link
 * IllegalArgumentException} and changes nothing.
 */
public final class LaneMap<K, V> {

    /** Its monitor is held for one call. */
    private static final class Stripe<V> {
        final LaneEvent call;
        final Map<ByteBuffer, V> values = new HashMap<>();

        Stripe(Resource resource) {
            call = new LaneEvent(LaneEvent.Kind.CALL, resource);
        }
    }

    private final String name;
    private final Codec codec;
    private final Class<K> keys;
    private final Class<V> type;
    private final List<Stripe<V>> stripes;

    LaneMap(String name, Codec codec, Class<K> keys, Class<V> type, List<Resource> stripes) {
        this.name = name;
        this.codec = codec;
        this.keys = keys;
        this.type = type;
        this.stripes = stripes.stream().map(Stripe<V>::new).toList();
    }

    /** The value of a key, or null. */
    public V get(K key) {
        ByteBuffer bytes = bytes(key);
        return call(bytes, values -> values.get(bytes));
    }

    /** The value of a key, or another one if there is none. */
    public V getOrDefault(K key, V otherwise) {
        V value = get(key);
        return value == null ? otherwise : value;
    }

    /** Whether there is a value of this key. */
    public boolean contains(K key) {
        return get(key) != null;
    }

    /** Sets the value of a key. */
    public void put(K key, V value) {
        ByteBuffer bytes = bytes(key);
        V kept = kept(value);
        Lane lane = writer("put");
        boolean unused =
                call(
                        bytes,
                        values -> {
                            saw(lane, bytes, kept);
                            return values.put(bytes, kept) == null;
                        });
    }

    /**
     * Sets the value of a key that has none.
     *
     * @return the value that there is, or null if there was none
     */
    public V putIfAbsent(K key, V value) {
        ByteBuffer bytes = bytes(key);
        V kept = kept(value);
        Lane lane = writer("putIfAbsent");
        return call(
                bytes,
                values -> {
                    saw(lane, bytes, kept);
                    return values.putIfAbsent(bytes, kept);
                });
    }

    /**
     * Joins a value with the one of the key, if there is one.
     *
     * @param join must not use locks or collections; null removes the key
     * @return the value that there is now, or null
     */
    public V merge(K key, V value, BinaryOperator<V> join) {
        ByteBuffer bytes = bytes(key);
        V kept = kept(value);
        Lane lane = writer("merge");
        return call(
                bytes,
                values -> {
                    V there = values.get(bytes);
                    V result = there == null ? kept : join.apply(there, kept);
                    V joined = result == null || result == kept ? result : kept(result);
                    saw(lane, bytes, joined);
                    if (joined == null) {
                        values.remove(bytes);
                    } else {
                        values.put(bytes, joined);
                    }
                    return joined;
                });
    }

    /**
     * Removes a key.
     *
     * @return the value that there was, or null
     */
    public V remove(K key) {
        ByteBuffer bytes = bytes(key);
        Lane lane = writer("remove");
        return call(
                bytes,
                values -> {
                    saw(lane, bytes, null);
                    return values.remove(bytes);
                });
    }

    /** How many keys have a value: stripe by stripe, while others are being changed. */
    public int size() {
        int size = 0;
        for (Stripe<V> stripe : stripes) {
            size += call(stripe, Map::size);
        }
        return size;
    }

    private ByteBuffer bytes(K key) {
        if (key == null) {
            throw new IllegalArgumentException("a key of map " + name + " is null");
        }
        return ByteBuffer.wrap(codec.encode(keys.cast(key)));
    }

    /** The value as its bytes say (X19). */
    private V kept(V value) {
        if (value == null) {
            throw new IllegalArgumentException("a value of map " + name + " is null");
        }
        return codec.decode(type, codec.encode(type.cast(value)));
    }

    private Lane writer(String what) {
        Lane lane = Lane.current();
        if (lane == null) {
            throw new IllegalStateException(
                    what + " of map " + name + " in a query, which only reads");
        }
        return lane;
    }

    /** The bytes of a key, which is a whole array that was wrapped. */
    @SuppressWarnings("ByteBufferBackingArray")
    static byte[] bytesOf(ByteBuffer key) {
        return key.array();
    }

    private void saw(Lane lane, ByteBuffer key, V value) {
        lane.saw(bytesOf(key));
        lane.saw(value == null ? new byte[0] : codec.encode(value));
    }

    private <R> R call(ByteBuffer key, Function<Map<ByteBuffer, V>, R> does) {
        return call(
                stripes.get(Math.floorMod(Arrays.hashCode(bytesOf(key)), stripes.size())), does);
    }

    private <R> R call(Stripe<V> stripe, Function<Map<ByteBuffer, V>, R> does) {
        Lane lane = Lane.current();
        if (lane == null) {
            synchronized (stripe) {
                return does.apply(stripe.values);
            }
        }
        R result;
        lane.before(stripe.call);
        synchronized (stripe) {
            lane.inside(name);
            try {
                result = does.apply(stripe.values);
            } finally {
                lane.outside();
                // Also if it threw: it was the lane's next event on each member.
                lane.happened(stripe.call, 0);
            }
        }
        lane.after();
        return result;
    }

    /** All entries as bytes, in the order of keys; while no handler runs. */
    Map<ByteBuffer, byte[]> content() {
        Map<ByteBuffer, byte[]> content = new TreeMap<>();
        for (Stripe<V> stripe : stripes) {
            synchronized (stripe) {
                stripe.values.forEach((key, value) -> content.put(key, codec.encode(value)));
            }
        }
        return content;
    }

    /**
     * Puts an entry of a snapshot; before any handler runs.
     *
     * @throws IllegalArgumentException if the bytes are not of the declared types; says why
     */
    void restore(byte[] key, byte[] value) {
        K unused = codec.decode(keys, key);
        Stripe<V> stripe = stripes.get(Math.floorMod(Arrays.hashCode(key), stripes.size()));
        synchronized (stripe) {
            stripe.values.put(ByteBuffer.wrap(key), codec.decode(type, value));
        }
    }
}
