package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A map: an array of keys, each followed by its value, in the order of the keys' bytes. */
final class MapType extends ValueType {

    private final ValueType key;
    private final ValueType value;

    MapType(ValueType key, ValueType value) {
        this.key = key;
        this.value = value;
    }

    ValueType key() {
        return key;
    }

    ValueType value() {
        return value;
    }

    @Override
    Object freeze(Object map, int depth) {
        if (!(map instanceof Map<?, ?> entries) || depth > DEEPEST) {
            return map;
        }
        Map<Object, Object> frozen = new LinkedHashMap<>();
        for (Map.Entry<?, ?> entry : entries.entrySet()) {
            if (entry.getKey() == null || entry.getValue() == null) {
                return map;
            }
            frozen.put(
                    key.freeze(entry.getKey(), depth + 1),
                    value.freeze(entry.getValue(), depth + 1));
        }
        return Collections.unmodifiableMap(frozen);
    }

    @Override
    void write(JsonGenerator out, Object map, int depth) throws IOException {
        checkDepth(depth);
        if (!(map instanceof Map<?, ?> entries)) {
            throw refused(map);
        }
        ByteOrder.Element[] keys = ByteOrder.sorted(key, entries.keySet().toArray(), depth + 1);
        // Without its length, as the keys are bytes already.
        out.writeStartArray();
        for (ByteOrder.Element one : keys) {
            one.writeTo(out);
            try {
                value.write(out, entries.get(one.value()), depth + 1);
            } catch (MismatchException e) {
                throw e.within("[" + Codec.shown(one.value()) + "]");
            }
        }
        out.writeEndArray();
    }

    @Override
    Object read(JsonParser in) throws IOException {
        if (in.currentToken() != JsonToken.START_ARRAY) {
            throw refused(in);
        }
        Map<Object, Object> map = new LinkedHashMap<>();
        while (in.nextToken() != JsonToken.END_ARRAY) {
            if (in.currentToken() == null) {
                throw refused(in);
            }
            Object one = key.read(in);
            try {
                if (in.nextToken() == null || in.currentToken() == JsonToken.END_ARRAY) {
                    throw new MismatchException("a key without a value");
                }
                if (map.put(one, value.read(in)) != null) {
                    throw new MismatchException("the key is there twice");
                }
            } catch (MismatchException e) {
                throw e.within("[" + Codec.shown(one) + "]");
            }
        }
        return Collections.unmodifiableMap(map);
    }

    @Override
    boolean same(Object one, Object other) {
        throw new UnsupportedOperationException("no part of a key");
    }

    @Override
    long hash(Object map, long seed) {
        throw new UnsupportedOperationException("no part of a key");
    }

    @Override
    Object absent() {
        return Map.of();
    }

    @Override
    String described() {
        return "Map<" + key.described() + ", " + value.described() + ">";
    }
}
