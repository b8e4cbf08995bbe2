package io.saucr.services.bench;

import io.saucr.services.Bytes;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The key/value store of section 5.2: in state that survives, or in a plain map, with all else the
 * same.
 */
final class KvService implements Service {

    /** Its name. */
    static final String NAME = "kv";

    private final BiConsumer<String, Bytes> put;
    private final Function<String, Bytes> get;

    /** Answered by {@link Done}. */
    public record Put(String key, Bytes value) {}

    /** The value is there. */
    public record Done() {}

    /** A query, answered by {@link Value}. */
    public record Get(String key) {}

    /** Empty where there is none. */
    public record Value(Bytes value) {}

    private KvService(BiConsumer<String, Bytes> put, Function<String, Bytes> get) {
        this.put = put;
        this.get = get;
    }

    /** One that survives as its service does. */
    static KvService in(State state) {
        MapState<String, Bytes> values = state.map("values", String.class, Bytes.class);
        return new KvService(values::put, key -> values.getOrDefault(key, Bytes.of()));
    }

    /** One that ends with its process. */
    static KvService in(Map<String, Bytes> values) {
        return new KvService(values::put, key -> values.getOrDefault(key, Bytes.of()));
    }

    /** The same, with the map locked for each call. */
    static KvService locked(Map<String, Bytes> values) {
        return new KvService(
                (key, value) -> {
                    synchronized (values) {
                        values.put(key, value);
                    }
                },
                key -> {
                    synchronized (values) {
                        return values.getOrDefault(key, Bytes.of());
                    }
                });
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Put.class,
                (message, turn) -> {
                    put.accept(message.key(), message.value());
                    turn.reply(new Done());
                });
        on.query(Get.class, (query, turn) -> new Value(get.apply(query.key())));
    }
}
