package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A record: a map from the names of its components to their values. A component that the bytes lack
 * is absent, one that the record lacks is ignored.
 */
final class RecordType extends ValueType {

    /**
     * A component.
     *
     * @param accessor of Objects
     * @param missing its value where the bytes lack it
     * @param nullable whether it may be null
     */
    record Component(
            String name, ValueType type, MethodHandle accessor, Object missing, boolean nullable) {}

    private final Class<?> type;
    private List<Component> components = List.of();
    private MethodHandle constructor;
    private Map<String, Integer> places = Map.of();

    RecordType(Class<?> type) {
        this.type = type;
    }

    /** Sets the parts, once: they may contain this type. */
    void complete(List<Component> components, MethodHandle constructor) {
        this.components = List.copyOf(components);
        this.constructor = constructor;
        places = new HashMap<>();
        for (Component component : components) {
            places.put(component.name(), places.size());
        }
    }

    List<Component> components() {
        return components;
    }

    private static Object get(Component component, Object value) {
        try {
            return component.accessor().invokeExact(value);
        } catch (Throwable e) {
            throw rethrown(component.name() + "() threw " + e, e);
        }
    }

    private Object make(Object[] values) {
        try {
            return constructor.invokeExact(values);
        } catch (Throwable e) {
            throw rethrown("the constructor of " + type.getName() + " threw " + e, e);
        }
    }

    private static MismatchException rethrown(String what, Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return new MismatchException(what, e);
    }

    @Override
    Object freeze(Object value, int depth) {
        if (!type.isInstance(value) || depth > DEEPEST) {
            return value;
        }
        Object[] frozen = new Object[components.size()];
        boolean copied = false;
        for (int index = 0; index < frozen.length; index++) {
            Component component = components.get(index);
            Object part = get(component, value);
            frozen[index] = part == null ? null : component.type().freeze(part, depth + 1);
            copied |= frozen[index] != part;
        }
        return copied ? make(frozen) : value;
    }

    @Override
    void write(JsonGenerator out, Object value, int depth) throws IOException {
        checkDepth(depth);
        if (!type.isInstance(value)) {
            throw refused(value);
        }
        out.writeStartObject(value, components.size());
        for (Component component : components) {
            out.writeFieldName(component.name());
            Object part = get(component, value);
            try {
                if (part == null && component.nullable()) {
                    out.writeNull();
                } else {
                    component.type().write(out, part, depth + 1);
                }
            } catch (MismatchException e) {
                throw e.within(component.name());
            }
        }
        out.writeEndObject();
    }

    @Override
    Object read(JsonParser in) throws IOException {
        if (in.currentToken() != JsonToken.START_OBJECT) {
            throw refused(in);
        }
        Object[] values = new Object[components.size()];
        boolean[] read = new boolean[values.length];
        for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
            Integer place = places.get(name);
            JsonToken token = in.nextToken();
            if (place == null) {
                in.skipChildren();
                continue;
            }
            Component component = components.get(place);
            try {
                if (read[place]) {
                    throw new MismatchException("it is there twice");
                }
                read[place] = true;
                values[place] =
                        token == JsonToken.VALUE_NULL && component.nullable()
                                ? null
                                : component.type().read(in);
            } catch (MismatchException e) {
                throw e.within(component.name());
            }
        }
        if (in.currentToken() != JsonToken.END_OBJECT) {
            throw refused(in);
        }
        for (int index = 0; index < values.length; index++) {
            if (!read[index]) {
                values[index] = components.get(index).missing();
            }
        }
        return make(values);
    }

    @Override
    boolean same(Object one, Object other) {
        if (one == other) {
            return true;
        }
        for (Component component : components) {
            Object mine = get(component, one);
            Object its = get(component, other);
            boolean same =
                    (mine == null || its == null) ? mine == its : component.type().same(mine, its);
            if (!same) {
                return false;
            }
        }
        return true;
    }

    @Override
    long hash(Object value, long seed) {
        long hash = seed;
        for (Component component : components) {
            Object part = get(component, value);
            hash = part == null ? mix(hash, 0) : component.type().hash(part, mix(hash, 1));
        }
        return hash;
    }

    @Override
    String described() {
        return type.getSimpleName();
    }
}
