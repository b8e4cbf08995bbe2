package io.saucr.services.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Bytes;
import io.saucr.services.TypeName;
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
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What is written is read again, what does not fit is refused with its place, and types grow. */
class CodecTest {

    enum Colour {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "green";
            }
        }
    }

    sealed interface Shape permits Circle, Square, Colour2 {}

    record Circle(double radius) implements Shape {}

    @TypeName("box")
    record Square(int side, List<Shape> within) implements Shape {}

    enum Colour2 implements Shape {
        NONE
    }

    record Everything(
            boolean flag,
            byte small,
            short shorter,
            int whole,
            long longer,
            float single,
            double twice,
            char letter,
            String text,
            Colour colour,
            Shape shape,
            BigInteger big,
            BigDecimal decimal,
            UUID id,
            Bytes bytes,
            Optional<String> perhaps,
            List<Optional<Integer>> list,
            Set<String> set,
            Map<Circle, List<Set<Long>>> map) {}

    record Times(
            Instant instant,
            Duration duration,
            LocalDate date,
            LocalTime time,
            LocalDateTime dateTime,
            OffsetTime offsetTime,
            OffsetDateTime offsetDateTime,
            ZonedDateTime zoned,
            Period period,
            Year year,
            YearMonth month,
            MonthDay day,
            ZoneOffset offset,
            ZoneId zone) {}

    record Tree(String name, List<Tree> below) {}

    record Forest(Set<Forest> trees, int number) {}

    private final Codec codec = new Codec();

    private <T> T again(Class<T> type, T value) {
        return codec.decode(type, codec.encode(value));
    }

    @Test
    void everyKindOfValueIsReadAsItWasWritten() {
        Everything value =
                new Everything(
                        true,
                        Byte.MIN_VALUE,
                        Short.MAX_VALUE,
                        Integer.MIN_VALUE,
                        Long.MIN_VALUE,
                        Float.MIN_VALUE,
                        Double.NaN,
                        '\ud800',
                        "zwölf \ud83d\ude00",
                        Colour.GREEN,
                        new Square(2, List.of(new Circle(-0.0), Colour2.NONE)),
                        BigInteger.ONE.shiftLeft(200).negate(),
                        new BigDecimal("1.00"),
                        new UUID(1, -1),
                        Bytes.of((byte) 0, (byte) -1),
                        Optional.of(""),
                        List.of(Optional.empty(), Optional.of(1)),
                        Set.of("b", "a"),
                        Map.of(new Circle(1), List.of(Set.of(3L, 2L), Set.of())));
        assertThat(again(Everything.class, value)).isEqualTo(value);
    }

    @Test
    void extremesOfTimesAreReadAsTheyWereWritten() {
        for (Times value :
                List.of(
                        new Times(
                                Instant.MIN,
                                Duration.ofSeconds(Long.MIN_VALUE, 1),
                                LocalDate.MIN,
                                LocalTime.MIN,
                                LocalDateTime.MIN,
                                OffsetTime.MIN,
                                OffsetDateTime.MIN,
                                ZonedDateTime.of(
                                        LocalDateTime.of(-1, 2, 3, 4, 5), ZoneId.of("GMT0")),
                                Period.of(Integer.MIN_VALUE, -1, Integer.MIN_VALUE),
                                Year.of(Year.MIN_VALUE),
                                YearMonth.of(Year.MIN_VALUE, 1),
                                MonthDay.of(2, 29),
                                ZoneOffset.MIN,
                                ZoneId.of("UTC+01:00")),
                        new Times(
                                Instant.MAX,
                                Duration.ofSeconds(Long.MAX_VALUE, 999_999_999),
                                LocalDate.MAX,
                                LocalTime.MAX,
                                LocalDateTime.MAX,
                                OffsetTime.MAX,
                                OffsetDateTime.MAX,
                                ZonedDateTime.ofLocal(
                                        LocalDateTime.of(2023, 10, 29, 2, 30),
                                        ZoneId.of("Europe/Berlin"),
                                        ZoneOffset.ofHours(1)),
                                Period.of(Integer.MAX_VALUE, 1, Integer.MAX_VALUE),
                                Year.of(Year.MAX_VALUE),
                                YearMonth.of(Year.MAX_VALUE, 12),
                                MonthDay.of(12, 31),
                                ZoneOffset.ofHoursMinutesSeconds(1, 2, 3),
                                ZoneId.of("Europe/Berlin")))) {
            assertThat(again(Times.class, value)).isEqualTo(value);
        }
    }

    @Test
    void everyZoneIsReadAsItWasWritten() {
        record Zoned(ZonedDateTime time, ZoneId zone) {}
        for (String id : ZoneId.getAvailableZoneIds()) {
            ZoneId zone = ZoneId.of(id);
            Zoned value = new Zoned(Instant.ofEpochSecond(1_700_000_000).atZone(zone), zone);
            assertThat(again(Zoned.class, value)).isEqualTo(value);
        }
    }

    @Test
    void longTextsAndNumbersAreReadAgain() {
        record Large(String text, BigInteger number, Bytes bytes) {}
        Large value =
                new Large(
                        "x".repeat(25_000_000),
                        BigInteger.ONE.shiftLeft(100_000),
                        Bytes.of(new byte[3_000_000]));
        assertThat(again(Large.class, value)).isEqualTo(value);
    }

    @Test
    void nullIsReadWhereItMayBe() {
        record Loose(String text, Integer number, Colour colour, Shape shape, Tree tree) {}
        Loose value = new Loose(null, null, null, null, null);
        assertThat(again(Loose.class, value)).isEqualTo(value);
    }

    @Test
    void nullIsRefusedWhereItMayNotBe() {
        record Strict(Optional<String> perhaps, List<String> list, Map<String, String> map) {}
        Map<String, String> withNull = new LinkedHashMap<>();
        withNull.put("k", null);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.encode(new Strict(null, List.of(), Map.of())))
                .withMessage("Strict.perhaps: null where Optional<String> is declared");
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () ->
                                codec.encode(
                                        new Strict(
                                                Optional.empty(),
                                                Collections.singletonList(null),
                                                Map.of())))
                .withMessage("Strict.list[0]: null where String is declared");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.encode(new Strict(Optional.empty(), List.of(), withNull)))
                .withMessage("Strict.map[k]: null where String is declared");
    }

    @Test
    void halfASurrogatePairIsRefusedBeforeItIsStored() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.encode(new Tree("\ud800", List.of())))
                .withMessageStartingWith("Tree cannot become bytes");
    }

    @Test
    void whatLiesTooDeepIsRefused() {
        Tree tree = new Tree("leaf", List.of());
        while (again(Tree.class, tree).equals(tree) && depth(tree) < 32) {
            tree = new Tree("t", List.of(tree));
        }
        Tree deeper = new Tree("t", List.of(new Tree("t", List.of(tree))));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.encode(deeper))
                .withMessageContaining("more than 64 values lie within each other");
        Tree deepest = tree;
        for (int count = 0; count < 100_000; count++) {
            deepest = new Tree("t", List.of(deepest));
        }
        Tree far = deepest;
        assertThatIllegalArgumentException().isThrownBy(() -> codec.encode(far));
    }

    private static int depth(Tree tree) {
        return tree.below().isEmpty() ? 1 : 1 + depth(tree.below().get(0));
    }

    @Test
    void setsWithinSetsTakeNoMoreTimeThanTheirSize() {
        Forest forest = new Forest(Set.of(), 0);
        for (int count = 1; count < 30; count++) {
            forest = new Forest(Set.of(forest, new Forest(Set.of(), -count)), count);
        }
        assertThat(again(Forest.class, forest)).isEqualTo(forest);
    }

    @Test
    void bytesThatNestTooDeepAreRefused() {
        byte[] deep = new byte[10_000_000];
        Arrays.fill(deep, (byte) 0x81);
        assertThatIllegalArgumentException().isThrownBy(() -> codec.decode(Tree.class, deep));
        // Also within what is ignored.
        byte[] ignored = new byte[1_000_000];
        Arrays.fill(ignored, (byte) 0x81);
        ignored[0] = (byte) 0xa1;
        ignored[1] = 0x61;
        ignored[2] = 'x';
        assertThatIllegalArgumentException().isThrownBy(() -> codec.decode(Tree.class, ignored));
    }

    @Test
    void sameValuesHaveTheSameBytesInWhateverOrderTheyWereMade() {
        record Sets(Set<Integer> set, Map<String, Set<String>> map) {}
        Random random = new Random(7);
        List<Integer> numbers = new ArrayList<>(List.of(1, 20, 300, -4, 70_000));
        List<String> texts = new ArrayList<>(List.of("a", "bb", "c", "", "zz"));
        byte[] first = null;
        for (int run = 0; run < 50; run++) {
            Collections.shuffle(numbers, random);
            Collections.shuffle(texts, random);
            Map<String, Set<String>> map = new LinkedHashMap<>();
            texts.forEach(text -> map.put(text, new LinkedHashSet<>(texts)));
            byte[] bytes = codec.encode(new Sets(new LinkedHashSet<>(numbers), map));
            first = first == null ? bytes : first;
            assertThat(bytes).isEqualTo(first);
        }
    }

    @Test
    void elementsThatCannotBeToldApartAsBytesAreRefused() {
        record Odd(int number) {
            @Override
            public boolean equals(Object other) {
                return this == other;
            }

            @Override
            public int hashCode() {
                return number;
            }
        }
        record Odds(Set<Odd> set) {}
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () ->
                                codec.encode(
                                        new Odds(
                                                new LinkedHashSet<>(
                                                        List.of(new Odd(1), new Odd(1))))))
                .withMessageContaining("the same once they are bytes");
    }

    @Test
    void collectionsWithinAreCopiedAndCannotBeChanged() {
        record Holder(List<Map<String, Set<String>>> list) {}
        ValueType type = codec.type(Holder.class, "test");
        Set<String> set = new TreeSet<>(List.of("a"));
        Map<String, Set<String>> map = new LinkedHashMap<>(Map.of("k", set));
        List<Map<String, Set<String>>> list = new ArrayList<>(List.of(map));
        Holder frozen = (Holder) type.freeze(new Holder(list), 0);
        set.add("b");
        map.clear();
        list.clear();
        assertThat(frozen).isEqualTo(new Holder(List.of(Map.of("k", Set.of("a")))));
        assertThatThrownBy(() -> frozen.list().clear())
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> frozen.list().get(0).clear())
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> frozen.list().get(0).get("k").clear())
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void aValueWithoutCollectionsIsNotCopied() {
        ValueType type = codec.type(Tree.class, "test");
        Tree tree = new Tree("a", List.of(new Tree("b", List.of())));
        assertThat(type.freeze(tree, 0)).isSameAs(tree);
    }

    /** Release 1 and release 2 of one record. */
    private static final class Releases {

        private Releases() {}

        record Old(String name, int count, String gone) {}

        record New(
                String name,
                long count,
                String text,
                int number,
                boolean flag,
                Optional<String> perhaps,
                List<String> list,
                Set<String> set,
                Map<String, String> map) {}

        record Defaulting(String name, String text) {
            Defaulting {
                text = text == null ? "default" : text;
            }
        }
    }

    @Test
    void componentsThatTheBytesLackAreAbsentAndUnknownOnesIgnored() {
        byte[] old = codec.encode(new Releases.Old("n", 5, "gone"));
        assertThat(codec.decode(Releases.New.class, old))
                .isEqualTo(
                        new Releases.New(
                                "n",
                                5,
                                null,
                                0,
                                false,
                                Optional.empty(),
                                List.of(),
                                Set.of(),
                                Map.of()));
        assertThat(codec.decode(Releases.Defaulting.class, old))
                .isEqualTo(new Releases.Defaulting("n", "default"));
    }

    @Test
    void anEarlierReleaseReadsWhatALaterOneWrote() {
        byte[] later =
                codec.encode(
                        new Releases.New(
                                "n",
                                7,
                                "t",
                                1,
                                true,
                                Optional.of("p"),
                                List.of("l"),
                                Set.of("s"),
                                Map.of("m", "m")));
        assertThat(codec.decode(Releases.Old.class, later))
                .isEqualTo(new Releases.Old("n", 7, null));
    }

    @Test
    void aComponentMayBecomeOptional() {
        record Plain(String name) {}
        record Perhaps(Optional<String> name) {}
        assertThat(codec.decode(Perhaps.class, codec.encode(new Plain("x"))))
                .isEqualTo(new Perhaps(Optional.of("x")));
        assertThat(codec.decode(Perhaps.class, codec.encode(new Plain(null))))
                .isEqualTo(new Perhaps(Optional.empty()));
        assertThat(codec.decode(Plain.class, codec.encode(new Perhaps(Optional.of("x")))))
                .isEqualTo(new Plain("x"));
    }

    @Test
    void bytesOfAnotherTypeAreRefusedWithTheirPlace() {
        record Inner(long cents) {}
        record Outer(List<Inner> all) {}
        record InnerText(String cents) {}
        record OuterText(List<InnerText> all) {}
        byte[] bytes = codec.encode(new OuterText(List.of(new InnerText("12"))));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.decode(Outer.class, bytes))
                .withMessageStartingWith("Outer.all[0].cents: ")
                .withMessageContaining("Long is declared");
    }

    @Test
    void numbersThatDoNotFitAreRefused() {
        record Wide(long number) {}
        record Narrow(short number) {}
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.decode(Narrow.class, codec.encode(new Wide(1L << 40))))
                .withMessageContaining("Narrow.number: 1099511627776 is not from -32768 to 32767");
    }

    @Test
    void constantsAndOptionsThatAreGoneAreRefused() {
        record Text(String colour) {}
        record Coloured(Colour colour) {}
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.decode(Coloured.class, codec.encode(new Text("BLUE"))))
                .withMessageContaining("has no constant BLUE");
        record Texts(List<String> shape) {}
        record Shaped(Shape shape) {}
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () ->
                                codec.decode(
                                        Shaped.class,
                                        codec.encode(new Texts(List.of("java.io.File", "x")))))
                .withMessageContaining("permits nothing of the name java.io.File");
    }

    @Test
    void aConstructorThatRefusesIsNamed() {
        record Loose(int number) {}
        record Positive(int number) {
            Positive {
                if (number <= 0) {
                    throw new IllegalStateException("not positive");
                }
            }
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.decode(Positive.class, codec.encode(new Loose(-1))))
                .withMessageContaining("not positive");
    }

    @Test
    void everyCutIsRefused() {
        byte[] bytes =
                codec.encode(new Square(2, List.of(new Circle(1), new Square(3, List.of()))));
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThatIllegalArgumentException()
                    .as("%d bytes", length)
                    .isThrownBy(() -> codec.decode(Square.class, cut));
        }
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.decode(Square.class, longer))
                .withMessageContaining("something follows the end");
    }

    @Test
    void damagedBytesAreReadOrRefusedAndNothingElse() {
        Random random = new Random(11);
        byte[] tree = codec.encode(new Tree("a", List.of(new Tree("b", List.of()))));
        byte[] everything =
                codec.encode(
                        new Times(
                                Instant.EPOCH,
                                Duration.ZERO,
                                LocalDate.EPOCH,
                                LocalTime.NOON,
                                LocalDateTime.MIN,
                                OffsetTime.MIN,
                                OffsetDateTime.MIN,
                                ZonedDateTime.of(LocalDateTime.MIN, ZoneOffset.UTC),
                                Period.ZERO,
                                Year.of(1),
                                YearMonth.of(1, 1),
                                MonthDay.of(1, 1),
                                ZoneOffset.UTC,
                                ZoneOffset.UTC));
        for (int run = 0; run < 8_000; run++) {
            boolean small = random.nextBoolean();
            byte[] damaged = (small ? tree : everything).clone();
            for (int flips = random.nextInt(4); flips >= 0; flips--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            try {
                Class<? extends Record> type = small ? Tree.class : Times.class;
                codec.decode(type, damaged);
            } catch (IllegalArgumentException refused) {
                assertThat(refused).hasMessageNotContaining("NullPointer");
            }
        }
    }

    /** Bytes outlive releases of this library: these must never change. */
    @Test
    void theBytesAreThoseOfTheFirstRelease() {
        record Fixed(
                String name,
                int number,
                long big,
                boolean flag,
                double real,
                Optional<String> none,
                List<Integer> list,
                Set<String> set,
                Map<String, Integer> map,
                Shape shape,
                Bytes bytes,
                BigDecimal decimal,
                Instant instant,
                Colour colour) {}
        Fixed value =
                new Fixed(
                        "a",
                        -1,
                        1L << 40,
                        true,
                        1.5,
                        Optional.empty(),
                        List.of(1, 500),
                        Set.of("y", "x"),
                        Map.of("k", 7),
                        new Circle(2),
                        Bytes.of((byte) 1, (byte) 2),
                        new BigDecimal("-1.5"),
                        Instant.ofEpochSecond(5, 6),
                        Colour.GREEN);
        assertThat(HexFormat.of().formatHex(codec.encode(value)))
                .isEqualTo(
                        "ae646e616d656161666e756d62657220636269671b000001000000000064666c6167f5"
                                + "647265616cfb3ff8000000000000646e6f6e65f6646c69737482011901f463736574"
                                + "9f61786179ff636d61709f616b07ff6573686170658266436972636c65a166726164"
                                + "697573fb400000000000000065627974657342010267646563696d616c8241f10167"
                                + "696e7374616e7482050666636f6c6f757265475245454e");
    }

    @Test
    void namesAreSimpleUnlessTheyAreGiven() {
        assertThat(codec.name(Circle.class)).isEqualTo("Circle");
        assertThat(codec.name(Square.class)).isEqualTo("box");
    }

    record Note(String text, List<Integer> numbers) {}

    /** As an error shows an answer whose type nobody here knows. */
    @Test
    void bytesOfAnyTypeAreShown() {
        assertThat(Codec.shownBytes(new Codec().encode(new Note("it's", List.of(1, -2)))))
                .isEqualTo("{\"text\":\"it's\",\"numbers\":[1,-2]}");
        assertThat(Codec.shownBytes(new Codec().encode(new Note("x".repeat(1000), List.of()))))
                .startsWith("{\"text\":\"xxx")
                .endsWith("xxx...")
                .hasSizeLessThan(120);
        assertThat(Codec.shownBytes(new byte[] {(byte) 0xa1, 1}))
                .startsWith("2 bytes that cannot be read: byte ");
        assertThat(Codec.shownBytes(new byte[0])).contains("the bytes end early");
    }
}
