package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.dataformat.cbor.CBORGenerator;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** Puts the elements of sets and the keys of maps into the order of their bytes. */
final class ByteOrder {

    /** A value that is bytes already, so that what lies deep is not written again and again. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared as a record.
    record Element(byte[] bytes, Object value) {

        void writeTo(JsonGenerator out) throws IOException {
            ((CBORGenerator) out).writeBytes(bytes, 0, bytes.length);
        }
    }

    private ByteOrder() {}

    /**
     * The same, in order.
     *
     * @throws MismatchException where two have the same bytes or are equal: they could not be told
     *     apart when they are read
     */
    static Element[] sorted(ValueType type, Object[] values, int depth) throws IOException {
        Element[] elements = new Element[values.length];
        Set<Object> distinct = new HashSet<>();
        for (int index = 0; index < values.length; index++) {
            elements[index] = new Element(Codec.bytes(type, values[index], depth), values[index]);
            if (!distinct.add(values[index])) {
                throw twice(values[index]);
            }
        }
        Arrays.sort(elements, (one, other) -> Arrays.compareUnsigned(one.bytes(), other.bytes()));
        for (int index = 1; index < elements.length; index++) {
            if (Arrays.equals(elements[index - 1].bytes(), elements[index].bytes())) {
                throw twice(elements[index].value());
            }
        }
        return elements;
    }

    private static MismatchException twice(Object value) {
        return new MismatchException(
                "two elements of a set or keys of a map are the same once they are bytes, as their"
                        + " type's equals differs from its components: "
                        + Codec.shown(value));
    }
}
