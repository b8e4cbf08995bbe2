package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.saucr.services.Bytes;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.DateTimeException;
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
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;

/** A value without parts. */
final class ScalarType extends ValueType {

    private interface Writer<T> {
        void write(JsonGenerator out, T value) throws IOException;
    }

    private interface Reader<T> {
        T read(JsonParser in) throws IOException;
    }

    private static final int UUID_BYTES = 16;

    private static final Map<Class<?>, ScalarType> ALL = new HashMap<>();

    static {
        integer(Byte.class, Byte.MIN_VALUE, Byte.MAX_VALUE, Long::byteValue);
        integer(Short.class, Short.MIN_VALUE, Short.MAX_VALUE, Long::shortValue);
        integer(Integer.class, Integer.MIN_VALUE, Integer.MAX_VALUE, Long::intValue);
        integer(Long.class, Long.MIN_VALUE, Long.MAX_VALUE, Function.identity());
        // A number, as half of a surrogate pair is no text.
        add(
                Character.class,
                (out, value) -> out.writeNumber((int) value),
                in -> (char) integer(in, Character.MIN_VALUE, Character.MAX_VALUE));
        add(
                Boolean.class,
                JsonGenerator::writeBoolean,
                in -> {
                    expect(
                            in,
                            in.currentToken() == JsonToken.VALUE_TRUE
                                    || in.currentToken() == JsonToken.VALUE_FALSE);
                    return in.getBooleanValue();
                });
        // Through bits, as one value has many NaNs.
        add(
                Float.class,
                (out, value) -> out.writeNumber(Float.intBitsToFloat(Float.floatToIntBits(value))),
                in -> {
                    expect(in, in.currentToken() == JsonToken.VALUE_NUMBER_FLOAT);
                    double read = in.getDoubleValue();
                    expect(in, Double.isNaN(read) || (float) read == read);
                    return (float) read;
                });
        add(
                Double.class,
                (out, value) ->
                        out.writeNumber(Double.longBitsToDouble(Double.doubleToLongBits(value))),
                in -> {
                    expect(in, in.currentToken() == JsonToken.VALUE_NUMBER_FLOAT);
                    return in.getDoubleValue();
                });
        add(String.class, JsonGenerator::writeString, ScalarType::text);
        // As bytes: what Jackson makes of CBOR's own large negative numbers has changed.
        add(
                BigInteger.class,
                (out, value) -> out.writeBinary(value.toByteArray()),
                in -> new BigInteger(bytes(in)));
        add(
                BigDecimal.class,
                (out, value) -> {
                    out.writeStartArray(null, 2);
                    out.writeBinary(value.unscaledValue().toByteArray());
                    out.writeNumber(value.scale());
                    out.writeEndArray();
                },
                in -> {
                    begin(in);
                    BigInteger unscaled = new BigInteger(bytes(next(in)));
                    int scale = (int) integer(next(in), Integer.MIN_VALUE, Integer.MAX_VALUE);
                    end(in);
                    return new BigDecimal(unscaled, scale);
                });
        add(
                UUID.class,
                (out, value) ->
                        out.writeBinary(
                                ByteBuffer.allocate(UUID_BYTES)
                                        .putLong(value.getMostSignificantBits())
                                        .putLong(value.getLeastSignificantBits())
                                        .array()),
                in -> {
                    ByteBuffer read = ByteBuffer.wrap(bytes(in));
                    expect(in, read.remaining() == UUID_BYTES);
                    return new UUID(read.getLong(), read.getLong());
                });
        add(
                Bytes.class,
                (out, value) -> out.writeBinary(value.toArray()),
                in -> Bytes.of(bytes(in)));
        seconds(Instant.class, Instant::getEpochSecond, Instant::getNano, Instant::ofEpochSecond);
        seconds(Duration.class, Duration::getSeconds, Duration::getNano, Duration::ofSeconds);
        text(LocalDate.class, LocalDate::parse);
        text(LocalTime.class, LocalTime::parse);
        text(LocalDateTime.class, LocalDateTime::parse);
        text(OffsetTime.class, OffsetTime::parse);
        text(OffsetDateTime.class, OffsetDateTime::parse);
        text(Period.class, Period::parse);
        integer(Year.class, Year.MIN_VALUE, Year.MAX_VALUE, year -> Year.of(year.intValue()));
        // With a day, as years beyond 9999 are not read from a month's own text.
        add(
                YearMonth.class,
                (out, value) -> out.writeString(value.atDay(1).toString()),
                in -> YearMonth.from(LocalDate.parse(text(in))));
        text(MonthDay.class, MonthDay::parse);
        text(ZoneOffset.class, ZoneOffset::of);
        text(ZoneId.class, ZoneId::of);
        // In parts: a zone's rules change, and then the time stays, not the wall clock's reading.
        add(
                ZonedDateTime.class,
                (out, value) -> {
                    out.writeStartArray(null, 3);
                    out.writeString(value.toLocalDateTime().toString());
                    out.writeString(value.getOffset().getId());
                    out.writeString(value.getZone().getId());
                    out.writeEndArray();
                },
                in -> {
                    begin(in);
                    LocalDateTime local = LocalDateTime.parse(text(next(in)));
                    ZoneOffset offset = ZoneOffset.of(text(next(in)));
                    ZoneId zone = ZoneId.of(text(next(in)));
                    end(in);
                    return ZonedDateTime.ofInstant(local, offset, zone);
                });
    }

    private final Class<?> type;
    private final Writer<Object> writer;
    private final Reader<?> reader;

    private ScalarType(Class<?> type, Writer<Object> writer, Reader<?> reader) {
        this.type = type;
        this.writer = writer;
        this.reader = reader;
    }

    /** The scalar of a class, or null. */
    static ScalarType of(Class<?> type) {
        return ALL.get(type);
    }

    private static <T> void add(Class<T> type, Writer<T> writer, Reader<T> reader) {
        ALL.put(
                type,
                new ScalarType(type, (out, value) -> writer.write(out, type.cast(value)), reader));
    }

    private static <T> void integer(Class<T> type, long least, long most, Function<Long, T> from) {
        add(
                type,
                (out, value) ->
                        out.writeNumber(
                                value instanceof Year year
                                        ? year.getValue()
                                        : ((Number) value).longValue()),
                in -> from.apply(integer(in, least, most)));
    }

    private static <T> void text(Class<T> type, Function<String, T> parse) {
        add(type, (out, value) -> out.writeString(value.toString()), in -> parse.apply(text(in)));
    }

    private interface OfSeconds<T> {
        T of(long seconds, long nanos);
    }

    private static <T> void seconds(
            Class<T> type,
            Function<T, Long> seconds,
            Function<T, Integer> nanos,
            OfSeconds<T> from) {
        add(
                type,
                (out, value) -> {
                    out.writeStartArray(null, 2);
                    out.writeNumber(seconds.apply(value));
                    out.writeNumber(nanos.apply(value));
                    out.writeEndArray();
                },
                in -> {
                    begin(in);
                    long whole = integer(next(in), Long.MIN_VALUE, Long.MAX_VALUE);
                    long rest = integer(next(in), 0, 999_999_999);
                    end(in);
                    return from.of(whole, rest);
                });
    }

    private static void expect(JsonParser in, boolean fits) {
        if (!fits) {
            throw new MismatchException(in.currentToken() + " does not fit");
        }
    }

    private static JsonParser next(JsonParser in) throws IOException {
        if (in.nextToken() == null) {
            throw new MismatchException("the bytes end within it");
        }
        return in;
    }

    private static void begin(JsonParser in) {
        expect(in, in.currentToken() == JsonToken.START_ARRAY);
    }

    private static void end(JsonParser in) throws IOException {
        expect(in, next(in).currentToken() == JsonToken.END_ARRAY);
    }

    private static long integer(JsonParser in, long least, long most) throws IOException {
        expect(in, in.currentToken() == JsonToken.VALUE_NUMBER_INT);
        long value = in.getLongValue();
        if (value < least || value > most) {
            throw new MismatchException(value + " is not from " + least + " to " + most);
        }
        return value;
    }

    private static String text(JsonParser in) throws IOException {
        expect(in, in.currentToken() == JsonToken.VALUE_STRING);
        return in.getText();
    }

    private static byte[] bytes(JsonParser in) throws IOException {
        expect(in, in.currentToken() == JsonToken.VALUE_EMBEDDED_OBJECT);
        return in.getBinaryValue();
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
        writer.write(out, value);
    }

    @Override
    Object read(JsonParser in) throws IOException {
        try {
            return reader.read(in);
        } catch (MismatchException
                | DateTimeException
                | ArithmeticException
                | NumberFormatException e) {
            throw new MismatchException(
                    e.getMessage() + ", where " + described() + " is declared", e);
        }
    }

    @Override
    boolean same(Object one, Object other) {
        return one.equals(other);
    }

    @Override
    long hash(Object value, long seed) {
        return value instanceof String text ? mix(seed, text) : mix(seed, value.hashCode());
    }

    @Override
    String described() {
        return type.getSimpleName();
    }
}
