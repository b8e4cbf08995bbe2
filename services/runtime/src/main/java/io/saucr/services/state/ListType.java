package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A list: an array. */
final class ListType extends ValueType {

    private final ValueType element;

    ListType(ValueType element) {
        this.element = element;
    }

    ValueType element() {
        return element;
    }

    @Override
    Object freeze(Object value, int depth) {
        if (!(value instanceof List<?> list) || depth > DEEPEST) {
            return value;
        }
        Object[] copy = list.toArray();
        boolean changed = false;
        for (int index = 0; index < copy.length; index++) {
            if (copy[index] == null) {
                return value;
            }
            Object frozen = element.freeze(copy[index], depth + 1);
            changed |= frozen != copy[index];
            copy[index] = frozen;
        }
        // Copying a list that cannot be changed gives itself.
        return !changed && List.copyOf(list) == list ? list : List.of(copy);
    }

    @Override
    void write(JsonGenerator out, Object value, int depth) throws IOException {
        checkDepth(depth);
        if (!(value instanceof List<?> list)) {
            throw refused(value);
        }
        Object[] elements = list.toArray();
        writeElements(out, element, elements, depth);
    }

    static void writeElements(JsonGenerator out, ValueType element, Object[] elements, int depth)
            throws IOException {
        out.writeStartArray(null, elements.length);
        for (int index = 0; index < elements.length; index++) {
            try {
                element.write(out, elements[index], depth + 1);
            } catch (MismatchException e) {
                throw e.within("[" + index + "]");
            }
        }
        out.writeEndArray();
    }

    @Override
    Object read(JsonParser in) throws IOException {
        if (in.currentToken() != JsonToken.START_ARRAY) {
            throw refused(in);
        }
        return List.copyOf(readElements(in, element));
    }

    static List<Object> readElements(JsonParser in, ValueType element) throws IOException {
        List<Object> elements = new ArrayList<>();
        for (JsonToken token = in.nextToken();
                token != JsonToken.END_ARRAY;
                token = in.nextToken()) {
            try {
                if (token == null) {
                    throw new MismatchException("the bytes end within it");
                }
                elements.add(element.read(in));
            } catch (MismatchException e) {
                throw e.within("[" + elements.size() + "]");
            }
        }
        return elements;
    }

    @Override
    boolean same(Object one, Object other) {
        Object[] mine = ((List<?>) one).toArray();
        Object[] its = ((List<?>) other).toArray();
        return Arrays.equals(mine, its, (a, b) -> element.same(a, b) ? 0 : 1);
    }

    @Override
    long hash(Object value, long seed) {
        long hash = mix(seed, ((List<?>) value).size());
        for (Object part : (List<?>) value) {
            hash = element.hash(part, hash);
        }
        return hash;
    }

    @Override
    Object absent() {
        return List.of();
    }

    @Override
    String described() {
        return "List<" + element.described() + ">";
    }
}
