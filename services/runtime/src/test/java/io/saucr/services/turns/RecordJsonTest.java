package io.saucr.services.turns;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Bytes;
import io.saucr.services.TypeName;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.Year;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every kind of value there and back, and what is refused. */
class RecordJsonTest {

    sealed interface Shape {}

    @TypeName("circle")
    record Circle(int radius) implements Shape {}

    record Box(int width, int height) implements Shape {}

    enum Point implements Shape {
        ORIGIN
    }

    record All(
            boolean yes,
            byte b,
            short s,
            int i,
            long l,
            float f,
            double d,
            char c,
            String text,
            Long box,
            BigInteger big,
            BigDecimal decimal,
            UUID uuid,
            Bytes bytes,
            Instant at,
            Duration lasts,
            LocalDate day,
            Year year,
            ZonedDateTime there,
            DayOfWeek weekday,
            Optional<String> maybe,
            Optional<Box> none,
            List<Box> boxes,
            Set<Integer> numbers,
            Map<String, List<Integer>> byName,
            Map<Long, Integer> byNumber,
            Map<Box, String> byBox,
            Shape shape,
            Shape point) {}

    record Small(int number, String text, Optional<String> maybe, List<Integer> numbers) {
        Small {
            if (number < 0) {
                throw new IllegalArgumentException("number is not negative");
            }
        }
    }

    private static Object read(Class<?> type, String json) {
        return RecordJson.read(type, json.getBytes(UTF_8));
    }

    @Test
    void everyKindOfValueIsReadAsItWasWritten() {
        All all =
                new All(
                        true,
                        (byte) -1,
                        (short) 300,
                        -70_000,
                        Long.MIN_VALUE,
                        0.1f,
                        Double.NaN,
                        '\u00e9',
                        "\"quoted\" \n \ud83d\ude00",
                        7L,
                        BigInteger.TEN.pow(40),
                        new BigDecimal("1.500"),
                        new UUID(1, 2),
                        Bytes.of((byte) 1, (byte) 255),
                        Instant.parse("2026-01-01T00:00:00.000000001Z"),
                        Duration.ofMillis(1500),
                        LocalDate.of(2026, 2, 28),
                        Year.of(1999),
                        ZonedDateTime.parse("2026-01-01T00:00+01:00[Europe/Berlin]"),
                        DayOfWeek.MONDAY,
                        Optional.of("it"),
                        Optional.empty(),
                        List.of(new Box(1, 2), new Box(3, 4)),
                        Set.of(1, 2, 3),
                        Map.of("a", List.of(1), "b", List.of()),
                        Map.of(5L, 6),
                        Map.of(new Box(1, 1), "one"),
                        new Circle(4),
                        Point.ORIGIN);
        DoorRequest.Answer written = RecordJson.write(all);
        assertThat(written.type()).isEqualTo("All");
        assertThat(read(All.class, written.json())).isEqualTo(all);
        assertThat(written.json())
                .contains("\"at\":\"2026-01-01T00:00:00.000000001Z\"")
                .contains("\"decimal\":1.500")
                .contains("\"shape\":{\"circle\":{\"radius\":4}}")
                .contains("\"point\":{\"Point\":\"ORIGIN\"}")
                .contains("\"byNumber\":{\"5\":6}")
                .contains("\"byBox\":[[{\"width\":1,\"height\":1},\"one\"]]");
    }

    @Test
    void whatIsMissingIsAbsent() {
        assertThat(read(Small.class, "{}"))
                .isEqualTo(new Small(0, null, Optional.empty(), List.of()));
        assertThat(read(Small.class, "{\"text\":null,\"maybe\":null}"))
                .isEqualTo(new Small(0, null, Optional.empty(), List.of()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "{\"numbr\":1} | Small: there is no numbr; there are number, text, maybe, numbers",
                "{\"number\":1.5} | Small.number: Integer, not 1.5",
                "{\"number\":\"1\"} | Small.number: Integer, not \"1\"",
                "{\"number\":3000000000} | Small.number: from -2147483648 to 2147483647, not 3",
                "{\"number\":null} | Small.number: Integer, not null",
                "{\"number\":-1} | Small: number is not negative",
                "{\"number\":1,\"number\":2} | no JSON: Duplicate field",
                "{\"numbers\":[1,null]} | Small.numbers[1]: Integer, not null",
                "{\"numbers\":{}} | Small.numbers: an array, not {}",
                "{\"text\":5} | Small.text: String, not 5",
                "{} {} | no JSON: Trailing token",
                "[] | Small: an object, not []",
                "{ | no JSON: Unexpected end-of-input",
                "nonsense | no JSON: Unrecognized token",
                "'' | Small: an object, not"
            })
    void whatDoesNotFitIsRefusedWithItsPlace(String json, String message) {
        assertThatThrownBy(() -> read(Small.class, json))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void choicesAndTextsAreChecked() {
        record Odd(Shape shape, UUID id, LocalDate day, double number, Set<Integer> set) {}
        assertThatThrownBy(() -> read(Odd.class, "{\"shape\":{\"Box\":{},\"circle\":{}}}"))
                .hasMessage(
                        "Odd.shape: an object of one field, which is one of [circle, Box, Point]");
        assertThatThrownBy(() -> read(Odd.class, "{\"shape\":{\"Point\":\"X\"}}"))
                .hasMessage("Odd.shape.Point: one of [ORIGIN], not \"X\"");
        assertThatThrownBy(() -> read(Odd.class, "{\"id\":\"1-1-1-1-1\"}"))
                .hasMessage("Odd.id: a UUID has 8-4-4-4-12 hexadecimal digits");
        assertThatThrownBy(() -> read(Odd.class, "{\"day\":\"2026-02-30\"}"))
                .hasMessageStartingWith("Odd.day: Text '2026-02-30' could not be parsed");
        assertThatThrownBy(() -> read(Odd.class, "{\"number\":1e999}"))
                .hasMessageStartingWith("Odd.number: Double, not ");
        assertThatThrownBy(() -> read(Odd.class, "{\"set\":[1,1]}"))
                .hasMessage("Odd.set: a value is there twice");
    }
}
