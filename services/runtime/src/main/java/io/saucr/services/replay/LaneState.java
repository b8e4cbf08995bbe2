package io.saucr.services.replay;

import io.saucr.services.core.replay.Resource;
import io.saucr.services.core.replay.TraceFormat;
import io.saucr.services.state.Codec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.stream.IntStream;

/**
 * Where a service declares its locks and collections, in its constructor. Resources are numbered as
 * they are declared (X19), so each member has to declare the same ones in the same order.
 *
 * <p>All methods throw {@link IllegalArgumentException} if the name is not of 1 to 200 characters
 * or is taken, or if there would be more than 65,536 resources, and {@link IllegalStateException}
 * after the constructor.
 */
public final class LaneState {

    private static final int LONGEST_NAME = 200;

    /** Stripes of a map, if its service does not say how many. */
    private static final int STRIPES = 64;

    private final int lanes;
    private final Codec codec = new Codec();
    private final List<Resource> resources = new ArrayList<>();
    private final List<LaneLock> locks = new ArrayList<>();
    private final Map<String, LaneMap<?, ?>> maps = new LinkedHashMap<>();
    private final List<String> names = new ArrayList<>();
    private boolean sealed;

    LaneState(int lanes) {
        this.lanes = lanes;
    }

    /** Declares a lock, which the lane that holds it can acquire again. */
    public Lock lock(String name) {
        return newLock(name, false).exclusive();
    }

    /** Declares locks, such as one for each slice of what they protect. */
    public List<Lock> locks(String name, int count) {
        if (count < 1) {
            throw new IllegalArgumentException(count + " locks of " + name + ": at least 1");
        }
        return IntStream.range(0, count).mapToObj(it -> lock(name + "-" + it)).toList();
    }

    /**
     * Declares a lock that many lanes can hold to read. A lane that holds it to read can not
     * acquire it to write, and the other way round.
     */
    public ReadWriteLock readWriteLock(String name) {
        LaneLock lock = newLock(name, true);
        Lock read = lock.shared();
        Lock write = lock.exclusive();
        return new ReadWriteLock() {
            @Override
            public Lock readLock() {
                return read;
            }

            @Override
            public Lock writeLock() {
                return write;
            }
        };
    }

    /** Declares a map of 64 stripes. */
    public <K, V> LaneMap<K, V> map(String name, Class<K> key, Class<V> value) {
        return map(name, key, value, STRIPES);
    }

    /**
     * Declares a map.
     *
     * @param key its type; two keys are the same if their bytes are
     * @param stripes parts of the map that lanes can use at the same time, from 1
     * @throws IllegalArgumentException if a type can not become bytes; says which part
     */
    public <K, V> LaneMap<K, V> map(String name, Class<K> key, Class<V> value, int stripes) {
        if (stripes < 1) {
            throw new IllegalArgumentException(stripes + " stripes of " + name + ": at least 1");
        }
        codec.check(key);
        codec.check(value);
        declare(name, stripes);
        List<Resource> each = new ArrayList<>();
        for (int stripe = 0; stripe < stripes; stripe++) {
            each.add(Resource.lock(resources.size()));
            resources.add(each.get(stripe));
        }
        LaneMap<K, V> map = new LaneMap<>(name, codec, key, value, each);
        maps.put(name, map);
        return map;
    }

    private LaneLock newLock(String name, boolean readWrite) {
        declare(name, 1);
        int number = resources.size();
        Resource resource =
                readWrite ? Resource.readWriteLock(number, lanes) : Resource.lock(number);
        LaneLock lock = new LaneLock(name, resource);
        resources.add(resource);
        locks.add(lock);
        return lock;
    }

    private void declare(String name, int more) {
        if (sealed) {
            throw new IllegalStateException(name + " is to be declared in the constructor");
        }
        if (name.isEmpty() || name.length() > LONGEST_NAME) {
            throw new IllegalArgumentException(
                    "a name has 1 to " + LONGEST_NAME + " characters, not " + name.length());
        }
        if (names.contains(name)) {
            throw new IllegalArgumentException(name + " is declared already");
        }
        if (resources.size() + more > TraceFormat.MOST_RESOURCES) {
            throw new IllegalArgumentException(
                    "%s: there are %d locks and stripes, and at most %d"
                            .formatted(name, resources.size() + more, TraceFormat.MOST_RESOURCES));
        }
        names.add(name);
    }

    /** The service was constructed. */
    void seal() {
        sealed = true;
    }

    List<Resource> resources() {
        return resources;
    }

    List<LaneLock> locks() {
        return locks;
    }

    /** All entries as bytes, by the name of the map; while no handler runs. */
    Map<String, Map<ByteBuffer, byte[]>> content() {
        Map<String, Map<ByteBuffer, byte[]>> content = new LinkedHashMap<>();
        maps.forEach((name, map) -> content.put(name, map.content()));
        return content;
    }

    /**
     * Fills a map with entries of a snapshot; before any handler runs.
     *
     * @throws IllegalArgumentException if there is no such map, or it has other types
     */
    void restore(String name, Map<ByteBuffer, byte[]> entries) {
        LaneMap<?, ?> map = maps.get(name);
        if (map == null) {
            throw new IllegalArgumentException(
                    "the snapshot has map "
                            + name
                            + ", and this service declares "
                            + maps.keySet()
                            + ": declare it, too");
        }
        entries.forEach((key, value) -> restore(map, name, key, value));
    }

    private static void restore(LaneMap<?, ?> map, String name, ByteBuffer key, byte[] value) {
        try {
            map.restore(LaneMap.bytesOf(key), value);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "the snapshot has an entry of map "
                            + name
                            + " that can not be read: "
                            + e.getMessage(),
                    e);
        }
    }
}
