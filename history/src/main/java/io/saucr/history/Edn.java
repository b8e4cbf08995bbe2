package io.saucr.history;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Values of EDN, the notation of Clojure's data. As Java values: null, Boolean, Long, BigInteger,
 * Double, BigDecimal, Ratio, Character, String, List (of vectors as well), Set, Map, and the
 * records here. Equal values of EDN are equal in Java. Stateless.
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

    /** A fraction in lowest terms that is no integer. */
    record Ratio(BigInteger numerator, BigInteger denominator) {
        @Override
        public String toString() {
            return numerator + "/" + denominator;
        }
    }

    /** A value with a tag, such as a record that was printed, an object or an exception. */
    record Tagged(String tag, Object value) {}

    /** The value as EDN, on one line. {@link EdnReader} makes an equal one of it. */
    static String print(Object value) {
        if (value == null) {
            return "nil";
        }
        if (value instanceof String text) {
            return text.codePoints()
                    .mapToObj(Edn::inString)
                    .collect(Collectors.joining("", "\"", "\""));
        }
        if (value instanceof Character character) {
            return "\\" + name(character);
        }
        if (value instanceof Double number && !Double.isFinite(number)) {
            return "##" + (number.isNaN() ? "NaN" : number > 0 ? "Inf" : "-Inf");
        }
        if (value instanceof BigDecimal number) {
            return number + "M";
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

    private static String inString(int character) {
        return switch (character) {
            case '"' -> "\\\"";
            case '\\' -> "\\\\";
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default ->
                    isPrinted(character)
                            ? Character.toString(character)
                            : String.format("\\u%04x", character);
        };
    }

    private static String name(char character) {
        return switch (character) {
            case '\n' -> "newline";
            case ' ' -> "space";
            case '\t' -> "tab";
            case '\r' -> "return";
            case '\b' -> "backspace";
            case '\f' -> "formfeed";
            default ->
                    isPrinted(character) && !Character.isWhitespace(character)
                            ? Character.toString(character)
                            : String.format("u%04x", (int) character);
        };
    }

    /** Half a surrogate pair cannot be written in UTF-8. */
    private static boolean isPrinted(int character) {
        return !Character.isISOControl(character)
                && Character.getType(character) != Character.SURROGATE;
    }
}
