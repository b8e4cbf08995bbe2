package io.saucr.services.bench;

import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.examples.PlainMap;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** State of a service that nothing protects: collections of the JDK. One thread. */
final class MemoryState implements State {

    @Override
    public <K, V> MapState<K, V> map(String name, Class<K> key, Class<V> value) {
        return new PlainMap<>();
    }

    @Override
    public <V> ListState<V> list(String name, Class<V> value) {
        return new MemoryList<>();
    }

    @Override
    public <V> ValueState<V> value(String name, Class<V> value) {
        return new MemoryValue<>();
    }

    @Override
    public void drop(String name) {
        // There is nothing from before.
    }

    private static final class MemoryList<V> implements ListState<V> {

        private final List<V> values = new ArrayList<>();

        @Override
        public void add(V value) {
            values.add(value);
        }

        @Override
        public V get(int index) {
            return values.get(index);
        }

        @Override
        public void set(int index, V value) {
            values.set(index, value);
        }

        @Override
        public V removeFirst() {
            return values.remove(0);
        }

        @Override
        public void clear() {
            values.clear();
        }

        @Override
        public int size() {
            return values.size();
        }

        @Override
        public boolean isEmpty() {
            return values.isEmpty();
        }

        @Override
        public Iterator<V> iterator() {
            return values.iterator();
        }
    }

    private static final class MemoryValue<V> implements ValueState<V> {

        private V value;

        @Override
        public V value() {
            return value;
        }

        @Override
        public V orElse(V otherwise) {
            return value == null ? otherwise : value;
        }

        @Override
        public void update(V it) {
            value = it;
        }

        @Override
        public void clear() {
            value = null;
        }
    }
}
