package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Turns values and messages into CBOR and back. Which types are allowed, and how they may grow, is
 * said at {@link io.saucr.services.State}. Records are maps from the names of their components;
 * bytes never name a class. The same value gives the same bytes. Any thread.
 */
public final class Codec {

    private static final int SHOWN_CHARACTERS = 100;

    /** Arrays and maps within each other: a value's, and those around it in what a turn changed. */
    private static final int DEEPEST = ValueType.DEEPEST + 4;

    // Whatever could be written must be read again: the limits are those of writing.
    private static final JsonFactory FACTORY =
            CBORFactory.builder()
                    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                    .streamReadConstraints(
                            StreamReadConstraints.builder()
                                    .maxStringLength(Integer.MAX_VALUE)
                                    .maxNumberLength(Integer.MAX_VALUE)
                                    .maxNestingDepth(DEEPEST)
                                    .build())
                    .build();

    private static final JsonFactory TEXTS = new JsonFactory();

    private final Map<Class<?>, ValueType> types = new ConcurrentHashMap<>();

    /** A codec that knows no records yet. */
    public Codec() {}

    /**
     * The name under which messages of a type travel: that of {@link io.saucr.services.TypeName},
     * else the simple name.
     *
     * @throws IllegalArgumentException where it has none
     */
    public String name(Class<?> type) {
        String name = TypeResolver.name(type);
        if (name.isEmpty()) {
            throw new IllegalArgumentException(type.getName() + " has no name: declare the record");
        }
        return name;
    }

    /**
     * Says whether values of a type can become bytes.
     *
     * @throws IllegalArgumentException where they cannot: which part, and what to use instead
     */
    public void check(Class<?> type) {
        type(type, type.getName());
    }

    /**
     * The bytes of a value.
     *
     * @throws IllegalArgumentException where its type is not allowed or one of its parts does not
     *     fit, such as null within a list; says which
     */
    public byte[] encode(Object value) {
        Class<?> of = value instanceof Enum<?> e ? e.getDeclaringClass() : value.getClass();
        ValueType type = type(of, of.getName());
        return encode(type, type.freeze(value, 0));
    }

    /**
     * A value from its bytes.
     *
     * @throws IllegalArgumentException where the bytes are not one value of this type, or it is not
     *     allowed; says why
     */
    public <T> T decode(Class<T> type, byte[] bytes) {
        return type.cast(decode(type(type, type.getName()), bytes));
    }

    /** How values of a class become bytes. */
    ValueType type(Class<?> type, String where) {
        ValueType resolved = types.get(type);
        if (resolved == null) {
            TypeResolver resolver = new TypeResolver(types);
            resolved = resolver.resolve(type, where);
            // All or nothing: none is seen before all its parts are there.
            types.putAll(resolver.found());
        }
        return resolved;
    }

    /** The bytes of a value that was frozen. */
    static byte[] encode(ValueType type, Object value) {
        try {
            return bytes(type, value, 0);
        } catch (MismatchException e) {
            throw e.within(type.described());
        } catch (JsonProcessingException e) {
            // Such as half of a surrogate pair in a text.
            throw new IllegalArgumentException(
                    type.described() + " cannot become bytes: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static byte[] bytes(ValueType type, Object value, int depth) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator out = FACTORY.createGenerator(bytes)) {
            // Else an exception is followed by another one, of what is not closed.
            out.disable(JsonGenerator.Feature.AUTO_CLOSE_JSON_CONTENT);
            type.write(out, value, depth);
        }
        return bytes.toByteArray();
    }

    /** A value from its bytes. */
    static Object decode(ValueType type, byte[] bytes) {
        try (JsonParser in = parser(bytes)) {
            in.nextToken();
            Object value = type.read(in);
            return value;
        } catch (MismatchException e) {
            throw e.within(type.described());
        } catch (JsonProcessingException e) {
            // Such as bytes that are no UTF-8.
            throw new IllegalArgumentException(
                    type.described() + " cannot be read: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static JsonGenerator generator(OutputStream out) throws IOException {
        return FACTORY.createGenerator(out).disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
    }

    static JsonParser parser(InputStream in) throws IOException {
        return FACTORY.createParser(in).disable(JsonParser.Feature.AUTO_CLOSE_SOURCE);
    }

    /**
     * A parser of one item.
     *
     * @throws MismatchException where the bytes are not one
     */
    static JsonParser parser(byte[] in) throws IOException {
        CborShape.check(in, DEEPEST);
        return FACTORY.createParser(in);
    }

    /** What a value of any type is, from its bytes, as JSON for a message; cut where it is long. */
    public static String shownBytes(byte[] bytes) {
        StringWriter text = new StringWriter();
        try (JsonParser in = parser(bytes);
                JsonGenerator out = TEXTS.createGenerator(text)) {
            in.nextToken();
            out.copyCurrentStructure(in);
        } catch (MismatchException | JsonProcessingException e) {
            return bytes.length + " bytes that cannot be read: " + e.getMessage();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return shown(text);
    }

    /** A value for a message, cut where it is long. */
    static String shown(Object value) {
        String text = String.valueOf(value);
        return text.length() <= SHOWN_CHARACTERS
                ? text
                : text.substring(0, SHOWN_CHARACTERS) + "...";
    }
}
