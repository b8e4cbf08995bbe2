package io.saucr.crash.history;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Values of EDN, the notation of Clojure's data. As Java values: null, Boolean, Long, BigInteger,
 * Double, BigDecimal, Character, String, List (of vectors as well), Set, Map, and the records here.
 * Equal values of EDN are equal in Java. Stateless.
 */
final class Edn {
    private Edn() {}

    /**
     * @param name without the colon, with its namespace if it has one
     */
    record Keyword(String name) {
        @Override
        public String toString() {
            return ":" + name;
        }
    }

    record Symbol(String name) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** A value with a tag, such as a record that was printed, an object or an exception. */
    record Tagged(String tag, Object value) {}

    /** The value as EDN. */
    static String print(Object value) {
        if (value == null) {
            return "nil";
        }
        if (value instanceof String text) {
            return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
        }
        if (value instanceof Character character) {
            return "\\" + character;
        }
        if (value instanceof List<?> list) {
            return list.stream().map(Edn::print).collect(Collectors.joining(" ", "[", "]"));
        }
        if (value instanceof Set<?> set) {
            return set.stream().map(Edn::print).collect(Collectors.joining(" ", "#{", "}"));
        }
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> print(entry.getKey()) + " " + print(entry.getValue()))
                    .collect(Collectors.joining(", ", "{", "}"));
        }
        if (value instanceof Tagged tagged) {
            return "#" + tagged.tag() + " " + print(tagged.value());
        }
        return value.toString();
    }
}
