package io.saucr.history;

import io.saucr.history.Edn.Keyword;
import io.saucr.history.Edn.Ratio;
import io.saucr.history.Edn.Symbol;
import io.saucr.history.Edn.Tagged;
import java.io.IOException;
import java.io.Reader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reads EDN value by value, and knows the line. Also what Clojure prints beyond EDN is read,
 * because histories carry it: records, objects and exceptions (as tagged values), ratios, regular
 * expressions, metadata (dropped). Used by one thread.
 */
final class EdnReader {
    /** What {@link #next} returns after the last value. */
    static final Object END = new Object();

    /** Deeper nesting would exhaust the stack. */
    static final int DEEPEST = 200;

    /** In digits; to read a much longer one would take minutes. */
    private static final int LONGEST_NUMBER = 1000;

    private static final int NOTHING = -2;
    private static final Pattern INTEGER = Pattern.compile("[+-]?(0|[1-9]\\d*)N?");
    private static final Pattern HEXADECIMAL = Pattern.compile("[+-]?0[xX][0-9a-fA-F]+N?");
    private static final Pattern RATIO = Pattern.compile("[+-]?\\d+/\\d+");
    private static final Pattern DECIMAL =
            Pattern.compile("[+-]?(0|[1-9]\\d*)(\\.\\d*)?([eE][+-]?\\d+)?M?");

    private static final Map<String, Character> CHARACTERS =
            Map.of(
                    "newline", '\n',
                    "space", ' ',
                    "tab", '\t',
                    "return", '\r',
                    "backspace", '\b',
                    "formfeed", '\f');

    private final Reader source;
    private int ahead = NOTHING;
    private int second = NOTHING;
    private int line = 1;
    private int begin = 1;

    /** What closes the vector or list whose items are read; 0 outside. */
    private char closing;

    private int item;

    /** What is no EDN. */
    static final class SyntaxException extends IOException {
        SyntaxException(String message) {
            super(message);
        }
    }

    /**
     * @param source should be buffered
     */
    EdnReader(Reader source) {
        this.source = source;
    }

    /** The line, from 1, in which the value that was read last begins. */
    int line() {
        return begin;
    }

    /**
     * @return the next value, or {@link #END}
     * @throws SyntaxException if there is none; {@link #line} is the one in which it begins
     */
    Object next() throws IOException {
        int c = skip(0);
        begin = line;
        return c < 0 ? END : value(0);
    }

    /**
     * As {@link #next}, but the items of a vector or list come one by one, each with its line.
     *
     * @throws SyntaxException as there
     */
    Object nextItem() throws IOException {
        while (true) {
            int c = skip(0);
            begin = line;
            if (closing != 0 && c < 0) {
                throw new SyntaxException("the file ends within the vector");
            } else if (closing != 0 && c == closing) {
                take();
                closing = 0;
                item = 0;
            } else if (closing != 0) {
                item++;
                return value(1);
            } else if (c == '[' || c == '(') {
                closing = closing(take());
            } else {
                return c < 0 ? END : value(0);
            }
        }
    }

    /** Which item of a vector or list {@link #nextItem} read last, from 1; 0 outside. */
    int item() {
        return item;
    }

    private static char closing(int opening) {
        return opening == '[' ? ']' : ')';
    }

    private int peek() throws IOException {
        if (ahead == NOTHING) {
            ahead = source.read();
        }
        return ahead;
    }

    private int peekSecond() throws IOException {
        peek();
        if (second == NOTHING) {
            second = source.read();
        }
        return second;
    }

    private int take() throws IOException {
        int c = peek();
        ahead = second;
        second = NOTHING;
        if (c == '\n') {
            line++;
        }
        return c;
    }

    /** Continues to the next value; returns its first character, or -1 at the end. */
    private int skip(int depth) throws IOException {
        while (true) {
            int c = peek();
            if (c == ';') {
                while (c >= 0 && c != '\n') {
                    c = take();
                }
            } else if (c == '#' && peekSecond() == '_') {
                take();
                take();
                value(depth + 1);
            } else if (c == ',' || c == '\uFEFF' || Character.isWhitespace(c)) {
                take();
            } else {
                return c;
            }
        }
    }

    private Object value(int depth) throws IOException {
        if (depth > DEEPEST) {
            throw new SyntaxException("nested deeper than " + DEEPEST);
        }
        int c = skip(depth);
        switch (c) {
            case -1:
                throw new SyntaxException("the file ends within it");
            case '[':
            case '(':
                take();
                return list(closing(c), depth);
            case '{':
                take();
                return map("", depth);
            case '"':
                take();
                return string(true);
            case ':':
                take();
                return new Keyword(token());
            case '\\':
                take();
                return character();
            case '^':
                take();
                value(depth + 1);
                return value(depth + 1);
            case '#':
                take();
                return dispatch(depth);
            case ']':
            case ')':
            case '}':
                throw new SyntaxException("'" + (char) c + "' closes nothing");
            default:
                return atom(token());
        }
    }

    private Object dispatch(int depth) throws IOException {
        int c = peek();
        switch (c) {
            case '{':
                take();
                return set(depth);
            case '"':
                take();
                return new Tagged("regex", string(false));
            case '#':
                take();
                return special(token());
            case '^':
                return value(depth);
            case '\'':
                take();
                return new Tagged("var", value(depth + 1));
            case ':':
                take();
                String namespace = token();
                if (skip(depth) != '{') {
                    throw new SyntaxException("no map after #:" + namespace);
                }
                take();
                return map(namespace + "/", depth);
            default:
                String tag = token();
                if (tag.isEmpty()) {
                    throw new SyntaxException("nothing that could be read after #");
                }
                return new Tagged(tag, value(depth + 1));
        }
    }

    private static Object special(String name) throws SyntaxException {
        return switch (name) {
            case "Inf" -> Double.POSITIVE_INFINITY;
            case "-Inf" -> Double.NEGATIVE_INFINITY;
            case "NaN" -> Double.NaN;
            default -> throw new SyntaxException("##" + name + " is no number");
        };
    }

    /** Reads up to a closing bracket. */
    private List<Object> list(char end, int depth) throws IOException {
        List<Object> items = new ArrayList<>();
        while (skip(depth) != end) {
            items.add(value(depth + 1));
        }
        take();
        return items;
    }

    private Set<Object> set(int depth) throws IOException {
        return new LinkedHashSet<>(list('}', depth));
    }

    private Map<Object, Object> map(String namespace, int depth) throws IOException {
        List<Object> items = list('}', depth);
        if (items.size() % 2 != 0) {
            throw new SyntaxException("a map with a key that has no value");
        }
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < items.size(); i += 2) {
            Object key = items.get(i);
            if (key instanceof Keyword keyword && !keyword.name().contains("/")) {
                key = new Keyword(namespace + keyword.name());
            }
            if (map.containsKey(key)) {
                throw new SyntaxException("a map with the key " + Edn.print(key) + " twice");
            }
            map.put(key, items.get(i + 1));
        }
        return map;
    }

    private String string(boolean escapes) throws IOException {
        StringBuilder text = new StringBuilder();
        while (true) {
            int c = take();
            if (c < 0) {
                throw new SyntaxException("the file ends within a string");
            }
            if (c == '"') {
                return text.toString();
            }
            if (c != '\\') {
                text.append((char) c);
            } else if (escapes) {
                text.append(escaped(take()));
            } else {
                text.append('\\').append((char) take());
            }
        }
    }

    private char escaped(int c) throws IOException {
        switch (c) {
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'n':
                return '\n';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case '"':
            case '\\':
                return (char) c;
            case 'u':
                StringBuilder digits = new StringBuilder();
                for (int i = 0; i < 4; i++) {
                    digits.append((char) take());
                }
                return code(digits.toString(), 16);
            default:
                throw new SyntaxException("a string with the escape \\" + (char) c);
        }
    }

    private static char code(String digits, int radix) throws SyntaxException {
        try {
            return (char) Integer.parseInt(digits, radix);
        } catch (NumberFormatException e) {
            throw new SyntaxException("a character with the code " + digits);
        }
    }

    private Object character() throws IOException {
        // The first character may be one that ends tokens.
        String name = (char) take() + token();
        if (name.length() == 1) {
            return name.charAt(0);
        }
        if (CHARACTERS.containsKey(name)) {
            return CHARACTERS.get(name);
        }
        if (name.charAt(0) == 'u' && name.length() == 5) {
            return code(name.substring(1), 16);
        }
        if (name.charAt(0) == 'o') {
            return code(name.substring(1), 8);
        }
        throw new SyntaxException("a character \\" + name);
    }

    /** Up to the next blank or bracket. */
    private String token() throws IOException {
        StringBuilder text = new StringBuilder();
        while (true) {
            int c = peek();
            if (c < 0 || c == ',' || Character.isWhitespace(c) || "()[]{}\";".indexOf(c) >= 0) {
                return text.toString();
            }
            text.append((char) take());
        }
    }

    private static Object atom(String token) throws SyntaxException {
        switch (token) {
            case "nil":
                return null;
            case "true":
                return true;
            case "false":
                return false;
            default:
                break;
        }
        char first = token.charAt(0);
        boolean signed = (first == '+' || first == '-') && token.length() > 1;
        if (!Character.isDigit(signed ? token.charAt(1) : first)) {
            return new Symbol(token);
        }
        if (token.length() > LONGEST_NUMBER) {
            throw new SyntaxException("a number of more than " + LONGEST_NUMBER + " digits");
        }
        if (INTEGER.matcher(token).matches()) {
            return integer(token.replace("N", ""), 10);
        }
        if (HEXADECIMAL.matcher(token).matches()) {
            return integer(token.replaceFirst("0[xX]", "").replace("N", ""), 16);
        }
        if (DECIMAL.matcher(token).matches()) {
            return token.endsWith("M") ? decimal(token) : (Object) (Double.valueOf(token) + 0.0);
        }
        if (RATIO.matcher(token).matches()) {
            return ratio(token);
        }
        throw new SyntaxException("'" + token + "' is no number");
    }

    private static Object integer(String digits, int radix) {
        return integer(new BigInteger(digits, radix));
    }

    private static Object integer(BigInteger number) {
        return number.bitLength() < Long.SIZE ? (Object) number.longValue() : number;
    }

    /**
     * To Clojure 1.0M and 1.00M are equal, and so are 0.0 and -0.0: as a sum with 0.0 both are 0.0.
     */
    private static BigDecimal decimal(String token) {
        BigDecimal number = new BigDecimal(token.substring(0, token.length() - 1));
        BigDecimal shortest = number.stripTrailingZeros();
        // 100M, not 1E+2M.
        return shortest.scale() < 0 && shortest.scale() > -LONGEST_NUMBER
                ? shortest.setScale(0)
                : shortest;
    }

    private static Object ratio(String token) throws SyntaxException {
        int slash = token.indexOf('/');
        BigInteger numerator = new BigInteger(token.substring(0, slash));
        BigInteger denominator = new BigInteger(token.substring(slash + 1));
        if (denominator.signum() == 0) {
            throw new SyntaxException("'" + token + "' divides by zero");
        }
        BigInteger common = numerator.gcd(denominator);
        return denominator.equals(common)
                ? integer(numerator.divide(common))
                : new Ratio(numerator.divide(common), denominator.divide(common));
    }
}
