package io.saucr.services.turns;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.services.Bytes;
import io.saucr.services.state.Codec;
import io.saucr.services.turns.DoorRequest.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Messages as JSON and back, for every type that a message may have. A record is an object of its
 * components. One that is missing is what {@link io.saucr.services.State} says of stored bytes; a
 * field that no component has is refused. Times, UUIDs and the like are texts as their {@code
 * toString} gives them, {@link Bytes} is Base64, an Optional is its content or null, a map whose
 * keys are such texts, numbers or enums an object, any other map an array of pairs, and a value of
 * a sealed interface an object of one field: the name of its type. Any thread.
 */
public final class RecordJson {

    private static final int DEEPEST = 64;

    private static final ObjectMapper JSON =
            JsonMapper.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
                    .build();

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final Codec NAMES = new Codec();

    private static final Map<Class<?>, Function<String, Object>> TEXTS =
            Map.ofEntries(
                    Map.entry(String.class, text -> text),
                    Map.entry(UUID.class, RecordJson::uuid),
                    Map.entry(Instant.class, Instant::parse),
                    Map.entry(Duration.class, Duration::parse),
                    Map.entry(LocalDate.class, LocalDate::parse),
                    Map.entry(LocalTime.class, LocalTime::parse),
                    Map.entry(LocalDateTime.class, LocalDateTime::parse),
                    Map.entry(OffsetTime.class, OffsetTime::parse),
                    Map.entry(OffsetDateTime.class, OffsetDateTime::parse),
                    Map.entry(ZonedDateTime.class, ZonedDateTime::parse),
                    Map.entry(Period.class, Period::parse),
                    Map.entry(YearMonth.class, YearMonth::parse),
                    Map.entry(MonthDay.class, MonthDay::parse),
                    Map.entry(ZoneOffset.class, ZoneOffset::of),
                    Map.entry(ZoneId.class, ZoneId::of));

    private static final Map<Class<?>, long[]> INTEGERS =
            Map.of(
                    Byte.class, new long[] {Byte.MIN_VALUE, Byte.MAX_VALUE},
                    Short.class, new long[] {Short.MIN_VALUE, Short.MAX_VALUE},
                    Integer.class, new long[] {Integer.MIN_VALUE, Integer.MAX_VALUE},
                    Long.class, new long[] {Long.MIN_VALUE, Long.MAX_VALUE},
                    Year.class, new long[] {Year.MIN_VALUE, Year.MAX_VALUE});

    private RecordJson() {}

    /**
     * A record from JSON.
     *
     * @throws IllegalArgumentException where the bytes are not one of this class; says where in it,
     *     and what is allowed
     */
    public static Object read(Class<?> type, byte[] json) {
        JsonNode node;
        try {
            node = JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("no JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return read(node, type, NAMES.name(type), 0);
    }

    private static IllegalArgumentException refused(String where, String what) {
        return new IllegalArgumentException(where + ": " + what);
    }

    private static Class<?> raw(Type type) {
        Class<?> raw =
                type instanceof ParameterizedType generic
                        ? (Class<?>) generic.getRawType()
                        : (Class<?>) type;
        return raw.isPrimitive() ? MethodType.methodType(raw).wrap().returnType() : raw;
    }

    private static Type part(Type type, int index) {
        return ((ParameterizedType) type).getActualTypeArguments()[index];
    }

    private static Object read(JsonNode node, Type type, String where, int depth) {
        if (depth > DEEPEST) {
            throw refused(where, "more than " + DEEPEST + " values lie within each other");
        }
        Class<?> raw = raw(type);
        if (raw == Optional.class) {
            return node.isNull()
                    ? Optional.empty()
                    : Optional.of(read(node, part(type, 0), where, depth + 1));
        }
        if (raw == List.class) {
            return List.copyOf(elements(node, part(type, 0), where, depth));
        }
        if (raw == Set.class) {
            return set(node, type, where, depth);
        }
        if (raw == Map.class) {
            return map(node, type, where, depth);
        }
        if (raw.isRecord()) {
            return record(node, raw, where, depth);
        }
        if (raw.isSealed() && raw.isInterface()) {
            return choice(node, raw, where, depth);
        }
        return scalar(node, raw, where);
    }

    private static List<Object> elements(JsonNode node, Type element, String where, int depth) {
        if (!node.isArray()) {
            throw refused(where, "an array, not " + shown(node));
        }
        List<Object> elements = new ArrayList<>();
        for (JsonNode each : node) {
            elements.add(read(each, element, where + "[" + elements.size() + "]", depth + 1));
        }
        return elements;
    }

    private static Set<Object> set(JsonNode node, Type type, String where, int depth) {
        List<Object> elements = elements(node, part(type, 0), where, depth);
        Set<Object> set = new LinkedHashSet<>(elements);
        if (set.size() < elements.size()) {
            throw refused(where, "a value is there twice");
        }
        return set;
    }

    private static Map<Object, Object> map(JsonNode node, Type type, String where, int depth) {
        Type keyType = part(type, 0);
        Map<Object, Object> map = new LinkedHashMap<>();
        if (isText(raw(keyType))) {
            if (!node.isObject()) {
                throw refused(where, "an object, not " + shown(node));
            }
            for (Map.Entry<String, JsonNode> field : node.properties()) {
                String at = where + "." + field.getKey();
                Object value = read(field.getValue(), part(type, 1), at, depth + 1);
                put(map, key(field.getKey(), raw(keyType), at), value, at);
            }
            return map;
        }
        if (!node.isArray()) {
            throw refused(where, "an array of pairs, not " + shown(node));
        }
        int index = 0;
        for (JsonNode pair : node) {
            String at = where + "[" + index++ + "]";
            if (!pair.isArray() || pair.size() != 2) {
                throw refused(at, "an array of a key and its value, not " + shown(pair));
            }
            Object value = read(pair.get(1), part(type, 1), at, depth + 1);
            put(map, read(pair.get(0), keyType, at, depth + 1), value, at);
        }
        return map;
    }

    private static void put(Map<Object, Object> map, Object key, Object value, String where) {
        if (map.put(key, value) != null) {
            throw refused(where, "the key is there twice");
        }
    }

    private static boolean isText(Class<?> type) {
        return TEXTS.containsKey(type) || INTEGERS.containsKey(type) || type.isEnum();
    }

    private static Object key(String text, Class<?> type, String where) {
        if (!INTEGERS.containsKey(type)) {
            return scalar(NODES.textNode(text), type, where);
        }
        try {
            return integer(Long.parseLong(text), type, where);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(where + ": the key is an integer", e);
        }
    }

    private static Object record(JsonNode node, Class<?> type, String where, int depth) {
        if (!node.isObject()) {
            throw refused(where, "an object, not " + shown(node));
        }
        RecordComponent[] components = type.getRecordComponents();
        Object[] values = new Object[components.length];
        Set<String> left = new HashSet<>();
        node.fieldNames().forEachRemaining(left::add);
        for (int index = 0; index < values.length; index++) {
            RecordComponent component = components[index];
            JsonNode its = node.get(component.getName());
            if (its == null || (its.isNull() && isNullable(component.getType()))) {
                values[index] = absent(component.getType());
            } else {
                String at = where + "." + component.getName();
                values[index] = read(its, component.getGenericType(), at, depth + 1);
            }
            left.remove(component.getName());
        }
        if (!left.isEmpty()) {
            throw refused(
                    where,
                    "there is no "
                            + shorter(left.iterator().next())
                            + "; there are "
                            + Arrays.stream(components)
                                    .map(RecordComponent::getName)
                                    .collect(Collectors.joining(", ")));
        }
        return make(type, components, values, where);
    }

    private static boolean isNullable(Class<?> type) {
        return !type.isPrimitive() && absent(type) == null;
    }

    private static Object absent(Class<?> type) {
        if (type.isPrimitive()) {
            return Array.get(Array.newInstance(type, 1), 0);
        }
        if (type == Optional.class) {
            return Optional.empty();
        }
        if (type == List.class) {
            return List.of();
        }
        if (type == Set.class) {
            return Set.of();
        }
        return type == Map.class ? Map.of() : null;
    }

    private static Object make(
            Class<?> type, RecordComponent[] components, Object[] values, String where) {
        try {
            Constructor<?> constructor =
                    type.getDeclaredConstructor(
                            Arrays.stream(components)
                                    .map(RecordComponent::getType)
                                    .toArray(Class<?>[]::new));
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalArgumentException(where + ": " + e.getCause().getMessage(), e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(type + " was checked when it was declared", e);
        }
    }

    private static Map<String, Class<?>> options(Class<?> type) {
        Map<String, Class<?>> options = new LinkedHashMap<>();
        for (Class<?> option : type.getPermittedSubclasses()) {
            if (option.isSealed() && option.isInterface()) {
                options.putAll(options(option));
            } else {
                options.put(NAMES.name(option), option);
            }
        }
        return options;
    }

    private static Object choice(JsonNode node, Class<?> type, String where, int depth) {
        Map<String, Class<?>> options = options(type);
        Iterator<String> names = node.fieldNames();
        String name = node.isObject() && node.size() == 1 ? names.next() : "";
        Class<?> option = options.get(name);
        if (option == null) {
            throw refused(where, "an object of one field, which is one of " + options.keySet());
        }
        return read(node.get(name), option, where + "." + name, depth + 1);
    }

    private static Object scalar(JsonNode node, Class<?> type, String where) {
        try {
            Object read = scalarOrNull(node, type, where);
            if (read != null) {
                return read;
            }
        } catch (RuntimeException e) {
            // Such as a date that is none, or Base64.
            String reason = e.getMessage();
            throw new IllegalArgumentException(
                    reason != null && reason.startsWith(where) ? reason : where + ": " + reason, e);
        }
        String allowed =
                type.isEnum()
                        ? "one of " + Arrays.toString(type.getEnumConstants())
                        : type.getSimpleName();
        throw refused(where, allowed + ", not " + shown(node));
    }

    /** Null where it is of another kind. */
    private static Object scalarOrNull(JsonNode node, Class<?> type, String where) {
        if (INTEGERS.containsKey(type)) {
            return node.isIntegralNumber() && node.canConvertToLong()
                    ? integer(node.longValue(), type, where)
                    : null;
        }
        if (type == Boolean.class) {
            return node.isBoolean() ? node.booleanValue() : null;
        }
        if (type == Double.class || type == Float.class) {
            return floating(node, type);
        }
        if (type == BigInteger.class) {
            return node.isIntegralNumber() ? node.bigIntegerValue() : null;
        }
        if (type == BigDecimal.class) {
            return node.isNumber() ? node.decimalValue() : null;
        }
        if (!node.isTextual()) {
            return null;
        }
        String text = node.textValue();
        if (type == Character.class) {
            return text.length() == 1 ? text.charAt(0) : null;
        }
        if (type == Bytes.class) {
            return Bytes.of(java.util.Base64.getDecoder().decode(text));
        }
        if (type.isEnum()) {
            for (Object constant : type.getEnumConstants()) {
                if (((Enum<?>) constant).name().equals(text)) {
                    return constant;
                }
            }
            return null;
        }
        return TEXTS.get(type).apply(text);
    }

    private static Object integer(long value, Class<?> type, String where) {
        long[] range = INTEGERS.get(type);
        if (value < range[0] || value > range[1]) {
            throw refused(where, "from " + range[0] + " to " + range[1] + ", not " + value);
        }
        if (type == Byte.class) {
            return (byte) value;
        }
        if (type == Short.class) {
            return (short) value;
        }
        if (type == Integer.class) {
            return (int) value;
        }
        if (type == Year.class) {
            return Year.of((int) value);
        }
        return value;
    }

    private static Object floating(JsonNode node, Class<?> type) {
        if (node.isTextual()
                && !Set.of("NaN", "Infinity", "-Infinity").contains(node.textValue())) {
            return null;
        }
        if (!node.isTextual() && !node.isNumber()) {
            return null;
        }
        String text = node.asText();
        double value = Double.parseDouble(text);
        Object read = type == Float.class ? (Object) (float) value : (Object) value;
        boolean tooLarge = node.isNumber() && Double.isInfinite(((Number) read).doubleValue());
        return tooLarge ? null : read;
    }

    private static UUID uuid(String text) {
        UUID read = UUID.fromString(text);
        if (!read.toString().equalsIgnoreCase(text)) {
            throw new IllegalArgumentException("a UUID has 8-4-4-4-12 hexadecimal digits");
        }
        return read;
    }

    private static String shown(JsonNode node) {
        return shorter(node.toString());
    }

    private static String shorter(String text) {
        return text.length() > 50 ? text.substring(0, 50) + "..." : text;
    }

    /** A record as JSON, under the name of its type. */
    public static Answer write(Object message) {
        Class<?> type = message.getClass();
        return new Answer(NAMES.name(type), node(message, type).toString());
    }

    private static JsonNode node(Object value, Type type) {
        Class<?> raw = raw(type);
        if (value == null) {
            return NODES.nullNode();
        }
        if (value instanceof Optional<?> optional) {
            return optional.isEmpty() ? NODES.nullNode() : node(optional.get(), part(type, 0));
        }
        if (value instanceof List<?> || value instanceof Set<?>) {
            ArrayNode array = NODES.arrayNode();
            ((Iterable<?>) value).forEach(each -> array.add(node(each, part(type, 0))));
            return array;
        }
        if (value instanceof Map<?, ?> map) {
            return mapNode(map, type);
        }
        if (raw.isSealed() && raw.isInterface()) {
            Class<?> option =
                    value instanceof Enum<?> constant
                            ? constant.getDeclaringClass()
                            : value.getClass();
            ObjectNode tagged = NODES.objectNode();
            tagged.set(NAMES.name(option), node(value, option));
            return tagged;
        }
        if (value instanceof Record) {
            return recordNode(value);
        }
        return scalarNode(value);
    }

    private static JsonNode mapNode(Map<?, ?> map, Type type) {
        if (isText(raw(part(type, 0)))) {
            ObjectNode object = NODES.objectNode();
            map.forEach((key, value) -> object.set(text(key), node(value, part(type, 1))));
            return object;
        }
        ArrayNode pairs = NODES.arrayNode();
        map.forEach(
                (key, value) ->
                        pairs.add(
                                NODES.arrayNode()
                                        .add(node(key, part(type, 0)))
                                        .add(node(value, part(type, 1)))));
        return pairs;
    }

    private static String text(Object key) {
        return key instanceof Enum<?> constant ? constant.name() : key.toString();
    }

    private static JsonNode recordNode(Object value) {
        ObjectNode object = NODES.objectNode();
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            Method accessor = component.getAccessor();
            accessor.setAccessible(true);
            try {
                object.set(
                        component.getName(),
                        node(accessor.invoke(value), component.getGenericType()));
            } catch (ReflectiveOperationException e) {
                throw new IllegalArgumentException(
                        component.getName() + "() of " + value.getClass().getName() + " threw", e);
            }
        }
        return object;
    }

    private static JsonNode scalarNode(Object value) {
        if (value instanceof Boolean it) {
            return NODES.booleanNode(it);
        }
        if (value instanceof BigInteger it) {
            return NODES.numberNode(it);
        }
        if (value instanceof BigDecimal it) {
            return NODES.numberNode(it);
        }
        if (value instanceof Float || value instanceof Double) {
            double it = ((Number) value).doubleValue();
            if (!Double.isFinite(it)) {
                return NODES.textNode(value.toString());
            }
            return value instanceof Float single ? NODES.numberNode(single) : NODES.numberNode(it);
        }
        if (value instanceof Number it) {
            return NODES.numberNode(it.longValue());
        }
        if (value instanceof Year it) {
            return NODES.numberNode(it.getValue());
        }
        if (value instanceof Bytes it) {
            return NODES.textNode(java.util.Base64.getEncoder().encodeToString(it.toArray()));
        }
        return NODES.textNode(text(value));
    }
}
