package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * One of the records and enums of a sealed interface: an array of its name and itself. Bytes choose
 * among those that the interface permits, never among classes at large.
 */
final class ChoiceType extends ValueType {

    private record Option(String name, ValueType type) {}

    private final Class<?> type;
    private final Map<Class<?>, Option> byClass = new HashMap<>();
    private final Map<String, Option> byName = new HashMap<>();

    ChoiceType(Class<?> type) {
        this.type = type;
    }

    /**
     * Adds an option; before the first use.
     *
     * @return whether the name was free
     */
    boolean add(Class<?> option, String name, ValueType its) {
        Option added = new Option(name, its);
        byClass.put(option, added);
        return byName.put(name, added) == null;
    }

    Collection<ValueType> options() {
        return byName.values().stream().map(Option::type).toList();
    }

    private Option of(Object value) {
        return byClass.get(value instanceof Enum<?> e ? e.getDeclaringClass() : value.getClass());
    }

    @Override
    Object freeze(Object value, int depth) {
        Option option = of(value);
        return option == null ? value : option.type().freeze(value, depth + 1);
    }

    @Override
    void write(JsonGenerator out, Object value, int depth) throws IOException {
        checkDepth(depth);
        Option option = value == null ? null : of(value);
        if (option == null) {
            throw refused(value);
        }
        out.writeStartArray(value, 2);
        out.writeString(option.name());
        option.type().write(out, value, depth + 1);
        out.writeEndArray();
    }

    @Override
    Object read(JsonParser in) throws IOException {
        if (in.currentToken() != JsonToken.START_ARRAY) {
            throw refused(in);
        }
        if (in.nextToken() != JsonToken.VALUE_STRING) {
            throw refused(in);
        }
        Option option = byName.get(in.getText());
        if (option == null) {
            throw new MismatchException(
                    type.getName()
                            + " permits nothing of the name "
                            + Codec.shown(in.getText())
                            + ": keep the names that were written, by @TypeName");
        }
        in.nextToken();
        Object value = option.type().read(in);
        if (in.nextToken() != JsonToken.END_ARRAY) {
            throw refused(in);
        }
        return value;
    }

    @Override
    boolean same(Object one, Object other) {
        Option option = of(one);
        return option.equals(of(other)) && option.type().same(one, other);
    }

    @Override
    long hash(Object value, long seed) {
        Option option = of(value);
        return option.type().hash(value, mix(seed, option.name()));
    }

    @Override
    String described() {
        return type.getSimpleName();
    }
}
