package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A set: an array, in the order of its elements' bytes, as sets of the JDK have another order in
 * each process.
 */
final class SetType extends ValueType {

    private final ValueType element;

    SetType(ValueType element) {
        this.element = element;
    }

    ValueType element() {
        return element;
    }

    @Override
    Object freeze(Object value, int depth) {
        if (!(value instanceof Set<?> set) || depth > DEEPEST) {
            return value;
        }
        Set<Object> frozen = new LinkedHashSet<>();
        for (Object part : set.toArray()) {
            if (part == null) {
                return value;
            }
            frozen.add(element.freeze(part, depth + 1));
        }
        return Collections.unmodifiableSet(frozen);
    }

    @Override
    void write(JsonGenerator out, Object value, int depth) throws IOException {
        checkDepth(depth);
        if (!(value instanceof Set<?> set)) {
            throw refused(value);
        }
        // Without its length, as the elements are bytes already.
        out.writeStartArray();
        for (ByteOrder.Element one : ByteOrder.sorted(element, set.toArray(), depth + 1)) {
            one.writeTo(out);
        }
        out.writeEndArray();
    }

    @Override
    Object read(JsonParser in) throws IOException {
        if (in.currentToken() != JsonToken.START_ARRAY) {
            throw refused(in);
        }
        List<Object> elements = ListType.readElements(in, element);
        Set<Object> set = new LinkedHashSet<>(elements);
        if (set.size() < elements.size()) {
            throw new MismatchException("an element of a set is there twice");
        }
        return Collections.unmodifiableSet(set);
    }

    @Override
    boolean same(Object one, Object other) {
        throw new UnsupportedOperationException("no part of a key");
    }

    @Override
    long hash(Object value, long seed) {
        throw new UnsupportedOperationException("no part of a key");
    }

    @Override
    Object absent() {
        return Set.of();
    }

    @Override
    String described() {
        return "Set<" + element.described() + ">";
    }
}
