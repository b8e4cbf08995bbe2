package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** A constant of an enum, by its name, so that constants may be added and moved. */
final class EnumType extends ValueType {

    private final Class<?> type;
    private final Map<String, Object> byName = new HashMap<>();

    EnumType(Class<?> type) {
        this.type = type;
        for (Object constant : type.getEnumConstants()) {
            byName.put(((Enum<?>) constant).name(), constant);
        }
    }

    @Override
    Object freeze(Object value, int depth) {
        return value;
    }

    @Override
    void write(JsonGenerator out, Object value, int depth) throws IOException {
        if (!type.isInstance(value)) {
            throw refused(value);
        }
        out.writeString(((Enum<?>) value).name());
    }

    @Override
    Object read(JsonParser in) throws IOException {
        if (in.currentToken() != JsonToken.VALUE_STRING) {
            throw refused(in);
        }
        Object constant = byName.get(in.getText());
        if (constant == null) {
            throw new MismatchException(
                    type.getName()
                            + " has no constant "
                            + Codec.shown(in.getText())
                            + ": keep constants that were written");
        }
        return constant;
    }

    @Override
    boolean same(Object one, Object other) {
        return one == other;
    }

    @Override
    long hash(Object value, long seed) {
        // Its own hash code is another one in each process.
        return mix(seed, ((Enum<?>) value).name());
    }

    @Override
    String described() {
        return type.getSimpleName();
    }
}
