package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Optional;

/** A value or none: itself or null, so that a component may become optional. */
final class OptionalType extends ValueType {

    private final ValueType content;

    OptionalType(ValueType content) {
        this.content = content;
    }

    ValueType content() {
        return content;
    }

    @Override
    Object freeze(Object value, int depth) {
        if (!(value instanceof Optional<?> optional) || optional.isEmpty()) {
            return value;
        }
        Object frozen = content.freeze(optional.get(), depth + 1);
        return frozen == optional.get() ? value : Optional.of(frozen);
    }

    @Override
    void write(JsonGenerator out, Object value, int depth) throws IOException {
        if (!(value instanceof Optional<?> optional)) {
            throw refused(value);
        }
        if (optional.isEmpty()) {
            out.writeNull();
        } else {
            content.write(out, optional.get(), depth + 1);
        }
    }

    @Override
    Object read(JsonParser in) throws IOException {
        return in.currentToken() == JsonToken.VALUE_NULL
                ? Optional.empty()
                : Optional.of(content.read(in));
    }

    @Override
    boolean same(Object one, Object other) {
        Optional<?> mine = (Optional<?>) one;
        Optional<?> its = (Optional<?>) other;
        return mine.isPresent() == its.isPresent()
                && (mine.isEmpty() || content.same(mine.get(), its.get()));
    }

    @Override
    long hash(Object value, long seed) {
        Optional<?> optional = (Optional<?>) value;
        return optional.isEmpty() ? mix(seed, 0) : content.hash(optional.get(), mix(seed, 1));
    }

    @Override
    Object absent() {
        return Optional.empty();
    }

    @Override
    String described() {
        return "Optional<" + content.described() + ">";
    }
}
