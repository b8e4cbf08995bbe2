package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;

/**
 * How values of one type become CBOR and back. Immutable once resolved, any thread.
 *
 * <p>What {@link #write} takes, {@link #read} gives back, for ever: a state that cannot be read
 * again is lost. The same value always gives the same bytes.
 */
abstract sealed class ValueType
        permits ScalarType,
                EnumType,
                RecordType,
                ChoiceType,
                OptionalType,
                ListType,
                SetType,
                MapType {

    /** So many values at most lie within each other. */
    static final int DEEPEST = 64;

    /**
     * The value with all collections copied, so that nobody can change it in place; itself where
     * there is nothing to copy. What does not fit the type is left for {@link #write} to refuse.
     */
    abstract Object freeze(Object value, int depth);

    /**
     * Writes a value.
     *
     * @throws MismatchException where it does not fit the type
     */
    abstract void write(JsonGenerator out, Object value, int depth) throws IOException;

    /**
     * Reads the value at whose first token the parser stands, and stops at its last.
     *
     * @throws MismatchException where it does not fit the type
     */
    abstract Object read(JsonParser in) throws IOException;

    /** Whether two values have the same bytes, whatever their {@code equals} says. */
    abstract boolean same(Object one, Object other);

    /** A hash of the value's bytes, from a seed that those who choose keys do not know. */
    abstract long hash(Object value, long seed);

    /** What a component is that the bytes lack; null where it may be null. */
    Object absent() {
        return null;
    }

    /** The type in words, for messages. */
    abstract String described();

    /** What is wrong with a value that does not fit. */
    final MismatchException refused(Object value) {
        return new MismatchException(
                (value == null ? "null" : value.getClass().getName())
                        + " where "
                        + described()
                        + " is declared");
    }

    /** What is wrong with bytes that do not fit. */
    final MismatchException refused(JsonParser in) {
        return new MismatchException(
                (in.currentToken() == null ? "the end" : in.currentToken().name())
                        + " where "
                        + described()
                        + " is declared");
    }

    static void checkDepth(int depth) {
        if (depth > DEEPEST) {
            throw new MismatchException(
                    "more than "
                            + DEEPEST
                            + " values lie within each other: keep them as entries that name each"
                            + " other");
        }
    }

    static long mix(long hash, long part) {
        return Long.rotateLeft((hash ^ part) * 0x9E3779B97F4A7C15L, 29);
    }

    /** As a plain hash of a text can be chosen by the one that chooses the text. */
    static long mix(long hash, String text) {
        long mixed = mix(hash, text.length());
        for (int index = 0; index < text.length(); index++) {
            mixed = mix(mixed, text.charAt(index));
        }
        return mixed;
    }
}
